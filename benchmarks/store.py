"""What a text costs that is kept in numbers on disk: its encoding, the memory of a training, the making of batches.

The text is one of made-up words, 8,000 of them, as often as in real text (Zipf), 4 to 30 words a sentence; or your own.
Each measurement is a process of its own, because a process's peak never falls. Memory is what the process itself holds
(Linux's RssAnon, looked at each hundredth of a second). Pages of the store are not in it: the system shares them, and
takes them back when it needs the room.

    python benchmarks/store.py [pairs, by default 100_000] [source target]
"""

import json
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from time import perf_counter

import numpy as np
import torch

from attnlib.data import Vocabulary
from attnlib.text.files import PairFiles, digest
from attnlib.text.store import open_store
from attnlib.training import begin, train
from attnlib.translator import luong

FEW, STEPS = 20_000, 20
SIZES = {"max_tokens": 8000, "max_sentences": 64}


def write_text(folder, pairs):
    """Write made-up pairs, a few at a time."""
    rng = np.random.default_rng(0)
    words = np.array([f"{a}{b}{c}" for a in "bdfgklmnprstvz" for b in LETTERS for c in LETTERS][:8000])
    share = 1 / (10 + np.arange(8000))
    share = np.cumsum(share / share.sum())
    for side in ("source", "target"):
        with (folder / side).open("w") as file:
            for first in range(0, pairs, 10_000):
                sizes = rng.integers(4, 31, min(10_000, pairs - first))
                drawn = np.split(words[np.searchsorted(share, rng.random(sizes.sum()))], sizes.cumsum()[:-1])
                file.writelines(" ".join(sentence) + "\n" for sentence in drawn)


LETTERS = [a + b for a in "aeiou" for b in "bdgklmnrst"]


def watched(work):
    """Give what some work gives, and the most MiB that the process had for itself meanwhile."""
    most, done = [0], Event()

    def look():
        while not done.wait(0.01):
            status = Path("/proc/self/status").read_text()
            most[0] = max(most[0], int(status.split("RssAnon:")[1].split()[0]) // 1024)

    looking = Thread(target=look)
    looking.start()
    try:
        return work(), most[0]
    finally:
        done.set()
        looking.join()


def vocabularies(text):
    sides = (pair.source for pair in text), (pair.target for pair in text)
    return tuple(Vocabulary.of(side, min_count=2, max_size=8000) for side in sides)


def encode(folder, *files):
    """Encode the text, once with all that a new training does, and keep the vocabularies for the next processes."""

    def work():
        began = perf_counter()
        text = PairFiles(*files)
        scanned = perf_counter()
        known = vocabularies(text)
        counted = perf_counter()
        open_store(folder, text, digest(text), known, (100, 100))
        encoded = perf_counter()
        steps = (("reading", scanned - began), ("vocabularies", counted - scanned), ("encoding", encoded - counted))
        return text, known, "; ".join(f"{name} {len(text) / s:,.0f} pairs a second" for name, s in steps)

    (text, known, said), peak = watched(work)
    size = sum(path.stat().st_size for path in folder.rglob("text-*/*")) / 2**20
    print(f"{len(text):,} pairs: {said}; at most {peak} MiB of memory, {size:.0f} MiB on disk", flush=True)
    kept = {"text": digest(text), "words": [list(vocabulary.words) for vocabulary in known]}
    (folder / "kept.json").write_text(json.dumps(kept))


def learn(folder, *_):
    """Train some steps from the store, and time how an epoch is cut into batches and up to a thousand are laid."""
    kept = json.loads((folder / "kept.json").read_text())
    known = tuple(Vocabulary(tuple(words)) for words in kept["words"])
    model = luong(*known, encoder="both", emb=256, hid=256, dropout=0.3, seed=0)

    def work():
        encoded = open_store(folder, (), kept["text"], known, (100, 100)).encoded
        training = begin(model)
        train(model, encoded.endless(**SIZES, seed=0), steps=STEPS, training=training, progress=False)
        return encoded, training.seconds / STEPS

    (encoded, step), peak = watched(work)
    epoch, batches = encoded.in_one_epoch(**SIZES), encoded.endless(**SIZES, seed=1)
    began = perf_counter()
    next(batches)
    cut = perf_counter()
    laid = sum(1 for _ in islice(batches, min(epoch, 1000) - 1))
    each = (cut - began) / epoch + (perf_counter() - cut) / laid
    print(
        f"{len(encoded):,} pairs: training takes at most {peak} MiB of memory; a step {step * 1e3:.0f} ms, making its "
        f"batch {each * 1e3:.2f} ms ({each / step:.2%}); to cut an epoch of {epoch:,} batches {cut - began:.2f} s",
        flush=True,
    )


def main():
    if not Path("/proc/self/status").exists():
        print("only Linux tells what memory a process has for itself")
        return
    torch.set_num_threads(1)
    if len(sys.argv) > 1 and sys.argv[1] in ("encode", "learn"):
        globals()[sys.argv[1]](*map(Path, sys.argv[2:]))
        return
    pairs, *files = sys.argv[1:] or ["100_000"]
    with tempfile.TemporaryDirectory() as home:
        whole = [Path(home) / "source", Path(home) / "target"]
        if not files:
            write_text(Path(home), int(pairs))
        for n in sorted({min(FEW, int(pairs)), int(pairs)}):
            folder = Path(home) / str(n)
            folder.mkdir()
            for path, first in zip(files or whole, ("source", "target"), strict=True):
                with Path(path).open() as text, (folder / first).open("w") as file:
                    file.writelines(islice(text, n))
            for part in ("encode", "learn"):
                command = [sys.executable, __file__, part, folder, folder / "source", folder / "target"]
                subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
