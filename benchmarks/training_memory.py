"""Peak memory of training each model, beyond what Python, torch and the sentences take.

Each model trains in a process of its own on the longest batch, because a process's peak never falls.

    python benchmarks/training_memory.py
"""

import resource
import subprocess
import sys

import torch
from training_speed import BATCH, train_once

from attnlib.data import Vocabulary, batch
from attnlib.language.grammar import sample
from attnlib.translator import luong, rnn_encdec, rnn_search

MODELS = {
    "rnn_encdec": rnn_encdec,
    "rnn_search": rnn_search,
    "luong(dot)": lambda *v: luong(*v, score="dot"),
    "luong(general)": luong,
    "luong(general, no feeding)": lambda *v: luong(*v, input_feeding=False),
    "luong(concat)": lambda *v: luong(*v, score="concat"),
    "luong(local-m)": lambda *v: luong(*v, window="monotonic"),
    "luong(local-p)": lambda *v: luong(*v, window="predictive"),
}


def peak():
    """Give the process's peak memory so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)


def measure(name):
    torch.set_num_threads(1)
    pairs = sorted(sample(8 * BATCH, seed=0), key=lambda pair: len(pair.source))
    vocabularies = Vocabulary.of(p.source for p in pairs), Vocabulary.of(p.target for p in pairs)
    longest = batch(pairs[-BATCH:], *vocabularies)
    model = MODELS[name](*vocabularies)
    before = peak()
    train_once(model, torch.optim.Adam(model.parameters()), [longest] * 2)
    sizes = f"source {longest.source.shape[1]}, target {longest.target.shape[1]} words"
    print(f"{name:28} {peak() - before:6.0f} MiB, {sizes}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        for each in MODELS:
            subprocess.run([sys.executable, __file__, each], check=True)
