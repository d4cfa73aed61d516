"""Speed: attention beside torch's; training and decoding in bfloat16 and float32; threads and processes.

What is compared takes turns, and the ratios of each round are printed: between rounds a machine may get faster or
slower. Sentences are made up of 8,000 words, as often as in real text (Zipf), 8 to 20 of them. Models that have learnt
nothing end no sentence: decoding writes fifteen words.

    python benchmarks/speed.py [attention] [training] [decoding] [processes]
"""

import sys
import tempfile
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from timeit import timeit

import numpy as np
import torch
from torch import distributed, multiprocessing, nn
from torch.nn.functional import scaled_dot_product_attention

from attnlib.attention import attention
from attnlib.data import EOS, PAD, Batch, Vocabulary
from attnlib.losses import linear_cross_entropy
from attnlib.processes import bfloat16_autocast
from attnlib.search import beam_search, greedy_search
from attnlib.seq2seq import luong, rnn_search
from attnlib.training import init_training, train

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


def compare_attention():
    rng = np.random.default_rng(0)
    for kind in (np.float32, np.float64):
        q, k, v = (rng.normal(size=(4, 512, 64)).astype(kind) for _ in range(3))
        Q, K, V = map(torch.from_numpy, (q, k, v))
        works = {
            "attnlib, torch": lambda: attention(Q, K, V).context,  # noqa: B023
            "attnlib, NumPy": lambda: attention(q, k, v).context,  # noqa: B023
            "torch, plain": lambda: torch.softmax(Q @ K.mT / 8, -1) @ V,  # noqa: B023
            "torch, fused": lambda: scaled_dot_product_attention(Q, K, V),  # noqa: B023
        }
        works = {name: partial(timeit, work, number=9) for name, work in works.items()}
        compare(f"attention, {kind.__name__}, {q.shape}", 9 * q[..., 0].size, "queries", works)


def in_bfloat16(work):
    with bfloat16_autocast(torch.device("cpu")):
        return work()


def learning(model, batches):
    """Make a function that learns from all batches and gives the seconds."""
    optimizer = init_training(model).optimizer

    def learn():
        for source, lengths, target in batches:
            optimizer.zero_grad()
            features = model.extract_features(source, lengths, target)
            linear_cross_entropy(features, model.decoder.output_weight, target).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

    model.train()
    return partial(timeit, learn, number=1)


def default(**options):
    return luong(KNOWN, KNOWN, encoder="bidirectional", score="dot", embedding_dim=SIZE, hidden_size=SIZE, **options)


def compare_training():
    batches = list(made_up(BATCHES))
    words = sum(batch.target.numel() for batch in batches)
    bahdanau = rnn_search(KNOWN, KNOWN, embedding_dim=SIZE, hidden_size=SIZE, **DROPOUT)
    unfed = default(**DROPOUT, input_feeding=False)
    for title, model in (("the default", default(**DROPOUT)), ("unfed", unfed), ("Bahdanau's", bahdanau)):
        learn = learning(model, batches)
        works = {"attnlib": partial(in_bfloat16, learn), "attnlib --float32": learn}
        compare(f"training, {title}", words, "target words", works)


def compare_decoding():
    batch, model = next(made_up(1)), default().eval()
    for title, search, width in (("greedy", greedy_search, ()), ("beam of five", beam_search, (5,))):
        write = partial(timeit, partial(search, model, batch.source, batch.lengths, WRITTEN, *width), number=1)
        works = {"attnlib": partial(in_bfloat16, write), "attnlib --float32": write}
        compare(f"decoding, {title}", SENTENCES, f"sentences of {WRITTEN} words", works)


def train_together(k, processes, threads, sentences, folder):
    torch.set_num_threads(threads)
    if processes > 1:
        distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=k, world_size=processes)
    batches = cycle(made_up(BATCHES, sentences))
    with bfloat16_autocast(torch.device("cpu")):
        pace = train(default(**DROPOUT), batches, steps=2 * BATCHES, progress=False).words_per_second
    if k == 0:
        Path(folder, "pace").write_text(str(pace))
    if processes > 1:
        distributed.destroy_process_group()


def seconds_of_a_word(processes, threads, sentences):
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(train_together, (processes, threads, sentences, folder), processes)
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


if __name__ == "__main__":
    torch.set_num_threads(1)
    for part in sys.argv[1:] or ["attention", "training", "decoding", "processes"]:
        globals()[f"compare_{part}"]()
