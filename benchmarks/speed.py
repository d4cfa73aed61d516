"""Speed of training and decoding in one thread: as the command computes, and in float32.

The two take turns, since a machine may get faster or slower between rounds, and the processor's time is what counts.
Sentences are made up of 8,000 words, as often as in real text (Zipf), 8 to 20 of them. Models that have learned nothing
end no sentence: decoding writes fifteen words.

    python benchmarks/speed.py
"""

from functools import partial
from statistics import median
from time import process_time
from timeit import timeit

import numpy as np
import torch

from attnlib.batching import Batch
from attnlib.data import EOS, PAD, Vocabulary
from attnlib.presets import luong, rnn_search
from attnlib.search import beam_search, greedy_search
from attnlib.training import train
from attntext.loss import fused_backward
from attntext.processes import bfloat16_autocast, cast_weights_once, compute_with, fastest_settings

SIZES = {"embedding_dim": 256, "hidden_size": 256, "dropout": 0.3, "embedding_dropout": 0.2}
SENTENCES, WORDS, WRITTEN, ROUNDS, BATCHES = 64, 8000, 15, 5, 8
KNOWN, CPU = Vocabulary(tuple(f"w{n}" for n in range(4, WORDS))), torch.device("cpu")


def made_up(batches):
    """Write batches of sentence pairs whose targets are equally long, and their sources nearly so, longest first."""
    rng = np.random.default_rng(0)
    share = np.r_[[0] * 4, 1 / (10 + np.arange(WORDS - 4))]
    drawn = partial(rng.choice, WORDS, p=share / share.sum())
    for size in rng.integers(8, 20, batches):
        lengths = np.sort(rng.integers(size - 2, size + 2, SENTENCES))[::-1].copy()
        source, target = drawn((SENTENCES, lengths[0])), drawn((SENTENCES, size))
        source[np.arange(lengths[0]) >= lengths[:, None]] = PAD
        source[np.arange(SENTENCES), lengths - 1] = target[:, -1] = EOS
        yield Batch(*map(torch.from_numpy, (source, lengths, target)))


def compare(title, amount, unit, work):
    """Time the command's choice and float32 in turns; the first round of each is to warm up."""
    chosen, float32 = [], []
    with bfloat16_autocast(CPU):
        settings = fastest_settings(work, CPU)
    for _ in range(ROUNDS + 1):
        with bfloat16_autocast(CPU), compute_with(settings):
            chosen.append(timeit(work, number=1, timer=process_time))
        float32.append(timeit(work, number=1, timer=process_time))
    for name, times in (("attnlib", chosen), ("attnlib --float32", float32)):
        print(f"{title}, {name:18}{amount / median(times[1:]):12,.0f} {unit} a second", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    batches, default = [*made_up(BATCHES)], partial(luong, KNOWN, KNOWN, encoder="bidirectional", score="dot", **SIZES)
    words = sum(batch.target.numel() for batch in batches)
    models = {
        "default": default(),
        "unfed": default(input_feeding=False),
        "Bahdanau": rnn_search(KNOWN, KNOWN, **SIZES),
    }
    for title, model in models.items():
        learn = partial(train, model, batches, steps=BATCHES, backward=fused_backward)
        compare(f"training, {title}", words, "target words", learn)
    batch, model = batches[0], default().eval()
    for title, search, width in (("greedy", greedy_search, ()), ("beam of five", beam_search, (5,))):
        write = partial(cast_weights_once()(search), model, batch.source, batch.lengths, WRITTEN, *width)
        compare(f"decoding, {title}", SENTENCES, f"sentences of {WRITTEN} words", write)
