"""Speed: training and decoding as `attnlib` ships them, and in float32; one process and two.

What is compared takes turns, and the ratios of each round are printed: between rounds a machine may get faster or
slower. Training and decoding are compared in one thread, by the time of the processor. Sentences are made up of 8,000
words, as often as in real text (Zipf), 8 to 20 of them. Models that have learnt nothing end no sentence: decoding
writes fifteen words.

    python benchmarks/speed.py [training] [decoding] [processes]
"""

import os
import sys
import tempfile
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from time import process_time
from timeit import timeit

import numpy as np
import torch
from torch import distributed, multiprocessing

from attnlib.batching import Batch
from attnlib.data import EOS, PAD, Vocabulary
from attnlib.presets import luong, rnn_search
from attnlib.search import beam_search, greedy_search
from attnlib.training import train
from attntext.loss import fused_backward
from attntext.processes import bfloat16_autocast, cast_weights_once, compute_with, fastest_settings

SIZE, SENTENCES, WORDS, WRITTEN, ROUNDS, BATCHES = 256, 64, 8000, 15, 5, 8
DROPOUT = {"dropout": 0.3, "embedding_dropout": 0.2}
KNOWN = Vocabulary(tuple(f"w{n}" for n in range(4, WORDS)))


def made_up(batches, sentences=SENTENCES):
    """Write batches of sentence pairs whose targets are equally long, and their sources nearly so, longest first."""
    rng = np.random.default_rng(0)
    share = np.r_[[0] * 4, 1 / (10 + np.arange(WORDS - 4))]
    drawn = partial(rng.choice, WORDS, p=share / share.sum())
    for size in rng.integers(8, 20, batches):
        lengths = np.sort(rng.integers(size - 2, size + 2, sentences))[::-1].copy()
        source, target = drawn((sentences, lengths[0])), drawn((sentences, size))
        source[np.arange(lengths[0]) >= lengths[:, None]] = PAD
        source[np.arange(sentences), lengths - 1] = target[:, -1] = EOS
        yield Batch(*map(torch.from_numpy, (source, lengths, target)))


def compare(title, amount, unit, works, rounds=ROUNDS):
    """Time functions in turns, and print the first one's relative speed."""
    taken = {name: [] for name in works}
    for n in range(rounds + 1):
        for name in list(works)[:: 1 if n % 2 else -1]:
            taken[name].append(works[name]())
    print(title)
    first, *_ = (times[1:] for times in taken.values())  # the round before was to warm up
    for name, (_, *times) in taken.items():
        line = f"    {name:22}{amount / median(times):12,.0f} {unit} a second"
        if times != first:
            ratios = [theirs / ours for ours, theirs in zip(first, times, strict=True)]
            line += f"; the first is {', '.join(f'{r:.2f}' for r in ratios)} times as fast, median {median(ratios):.2f}"
        print(line, flush=True)


def as_shipped(settings, work):
    with bfloat16_autocast(torch.device("cpu")), compute_with(settings):
        return work()


def compare_with_float32(title, amount, unit, work):
    """Compare the command's choice with float32."""
    with bfloat16_autocast(torch.device("cpu")):
        settings = fastest_settings(work, torch.device("cpu"))
    timed = partial(timeit, work, number=1, timer=process_time)
    works = {"attnlib": partial(as_shipped, settings, timed), "attnlib --float32": timed}
    compare(f"{title}: {settings}", amount, unit, works)


def default(**options):
    return luong(KNOWN, KNOWN, encoder="bidirectional", score="dot", embedding_dim=SIZE, hidden_size=SIZE, **options)


def compare_training():
    batches = [*made_up(BATCHES)]
    words = sum(batch.target.numel() for batch in batches)
    for title, model in (
        ("the default", default(**DROPOUT)),
        ("unfed", default(**DROPOUT, input_feeding=False)),
        ("Bahdanau's", rnn_search(KNOWN, KNOWN, embedding_dim=SIZE, hidden_size=SIZE, **DROPOUT)),
    ):
        learn = partial(train, model, batches, steps=BATCHES, backward=fused_backward)
        compare_with_float32(f"training, {title}", words, "target words", learn)


def compare_decoding():
    batch, model = next(made_up(1)), default().eval()
    for title, search, width in (("greedy", greedy_search, ()), ("beam of five", beam_search, (5,))):
        write = partial(cast_weights_once()(search), model, batch.source, batch.lengths, WRITTEN, *width)
        compare_with_float32(f"decoding, {title}", SENTENCES, f"sentences of {WRITTEN} words", write)


def train_together(k, processes, threads, sentences, folder):
    torch.set_num_threads(threads)
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=k, world_size=processes)
    batches = cycle(made_up(BATCHES, sentences))
    with bfloat16_autocast(torch.device("cpu")):
        pace = train(default(**DROPOUT), batches, steps=2 * BATCHES, backward=fused_backward).words_per_second
    if k == 0:
        Path(folder, "pace").write_text(str(pace))
    distributed.destroy_process_group()


def seconds_of_a_word(*how):
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(train_together, (*how, folder), nprocs=how[0])
        return 1 / float(Path(folder, "pace").read_text())


def compare_processes():
    works = {
        "two threads": (1, 2, SENTENCES),
        "one thread": (1, 1, SENTENCES),
        "two processes": (2, 1, SENTENCES // 2),
        "two, batches of 128": (2, 1, SENTENCES),
    }
    works = {name: partial(seconds_of_a_word, *how) for name, how in works.items()}
    compare("training, the default", 1, "target words", works, rounds=3)


def describe_machine():
    """Name the processor, its units for bfloat16, and how busy it is."""
    able = torch.cpu.get_capabilities()
    units = [name for name in ("avx512_bf16", "amx_bf16") if able.get(name)]
    print(f"{able.get('cpu_name')}; {', '.join(units) or 'no bfloat16'}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    describe_machine()
    for part in sys.argv[1:] or ["training", "decoding", "processes"]:
        globals()[f"compare_{part}"]()
