"""Training throughput of one process and of several, each on one thread and with 64 sentences of its own.

The text is made up: 8,000 words on each side, sentences of 5 to 25 words. The model is Luong's with the general score
and input feeding, of 256 features. One process and several take turns, so that whatever else the machine does meets
both. It means something only on a machine that has a core for each process and nothing else to do.

    python benchmarks/processes.py [processes]
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median

import torch
from torch import distributed, multiprocessing

from attnlib.data import Batch, SentencePair, Vocabulary, batch
from attnlib.training import train
from attnlib.translator import luong

SENTENCES, WORDS, FEATURES, STEPS, ROUNDS = 64, 8000, 256, 12, 5


def made_up(vocabulary: Vocabulary, rng: Random) -> Iterator[Batch]:
    while True:
        length = rng.randint(5, 25)
        sides = ([f"w{rng.randrange(WORDS)}" for _ in range(length)] for _ in range(2 * SENTENCES))
        yield batch([SentencePair(*pair) for pair in zip(sides, sides, strict=True)], vocabulary, vocabulary)


def measure(k: int, n: int, folder: str) -> None:
    torch.set_num_threads(1)
    if n > 1:
        distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=k, world_size=n)
    vocabulary = Vocabulary.of([[f"w{word}" for word in range(WORDS)]])
    translator = luong(vocabulary, vocabulary, emb=FEATURES, hid=FEATURES, seed=0)
    pace = train(translator, made_up(vocabulary, Random(0)), steps=STEPS).words_per_second
    if k == 0:
        Path(folder, "pace").write_text(str(pace))
    if n > 1:
        distributed.destroy_process_group()


def words_a_second(n: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(measure, (n, folder), n)
        return float(Path(folder, "pace").read_text())


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    paces = {n: [] for n in (1, many)}
    for _ in range(ROUNDS):
        for n, measured in paces.items():
            measured.append(words_a_second(n))
    print(f"one thread and {SENTENCES} sentences for each process; median of {ROUNDS} rounds of {STEPS} steps")
    for n, measured in paces.items():
        print(f"{n} process{'es' * (n > 1):2} {median(measured):8,.0f} target words a second")
    ratio = median(together / alone for alone, together in zip(*paces.values(), strict=True))
    print(f"{many} processes: {ratio:.2f} times one")


if __name__ == "__main__":
    main()
