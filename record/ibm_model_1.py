"""IBM Model 1, a word aligner without a network, trained on the text of chapter 5.

Brown et al. 1993, "The Mathematics of Statistical Machine Translation", section 4.1. The probability that a word e is
translated by f, t(f | e), does not depend on where the words stand. Each target word comes from one word of its
sentence's source or from none, all of them equally likely beforehand.

``python record/ibm_model_1.py DATA`` trains it on the files of chapter 5 in the folder DATA, and writes the table
``ibm_model_1.csv``: t of word pairs that one of our captions holds, where it is at least `LEAST`; and
``sentences.word_counts.csv``: how often each word of our captions stands in the text. They hold nothing else of it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from sys import argv
from typing import Any

import numpy as np
import pandas as pd
from sentences import read_data
from tables import write_lines

from attnbook.experiments.captions import LANGUAGES, load_captions
from attnbook.experiments.runs import RECORDED
from attnlib.data import SentencePair
from attnlib.units import Words

NONE = "(none)"
"""The source word of a target word that translates none."""

ITERATIONS = 10
"""Of expectation maximization, from even probabilities."""

LEAST = 0.001
"""Smaller probabilities are not in the table, and count as 0 in the chapter."""


def train(pairs: Sequence[tuple[Words, Words]], iterations: int = ITERATIONS) -> pd.Series:
    """Estimate t(f | e) for each source word e, or `NONE`, and each target word f that some pair holds together.

    Parameters
    ----------
    pairs : sequence of (source, target)
    iterations : int
        How often expected counts are taken, and probabilities from them.

    Returns
    -------
    Series
        Indexed by source word and target word.
    """
    e, f, token = (np.concatenate(part) for part in zip(*_cells(pairs), strict=True))
    (e, sources), (f, targets), (token, _) = map(pd.factorize, (e, f, token))
    cell, keys = pd.factorize(e * len(targets) + f)
    e = keys // len(targets)
    t = np.ones(len(keys))
    for _ in range(iterations):
        share = t[cell] / np.bincount(token, t[cell])[token]
        counts = np.bincount(cell, share)
        t = counts / np.bincount(e, counts)[e]
    return pd.Series(t, pd.MultiIndex.from_arrays([sources[e], targets[keys % len(targets)]]))


def probabilities(language: str, text: Sequence[SentencePair]) -> pd.DataFrame:
    """Return the table of t for one language, from the text that it is estimated on."""
    t = train([(pair.source, pair.target) for pair in text])
    ours = {cell for caption in load_captions(language) for cell in product(*caption.pair[:2])}
    t = t.reindex(pd.MultiIndex.from_tuples(sorted(ours), names=["english", "translation"])).round(5)
    table = t[t >= LEAST].rename("probability").reset_index()
    table.insert(0, "language", language)
    return table


def count_words(language: str, train: Sequence[SentencePair]) -> list[dict[str, Any]]:
    """Count how often each word of our captions stands in the text that is learned from."""
    lines = []
    for side, name in enumerate(("english", language)):
        ours = {word for caption in load_captions(language) for word in caption.pair[side]}
        theirs = Counter(word for pair in train for word in pair[side])
        lines += [{"target": language, "side": name, "word": word, "count": theirs[word]} for word in sorted(ours)]
    return lines


def _cells(pairs: Sequence[tuple[Words, Words]]) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield for each pair its source words and its target words, each with each, and the number of the target word."""
    first = 0
    for source, target in pairs:
        every, words = np.array([NONE, *source], dtype=object), np.array(target, dtype=object)
        numbers = np.arange(first, first := first + len(target))
        yield np.tile(every, len(words)), np.repeat(words, len(every)), np.repeat(numbers, len(every))


if __name__ == "__main__":
    data = Path(argv[1])
    trained_on = {language: read_data(data, language).train for language in LANGUAGES}
    table = pd.concat([probabilities(*each) for each in trained_on.items()])
    table.to_csv(RECORDED / "ibm_model_1.csv", index=False)
    write_lines([line for each in trained_on.items() for line in count_words(*each)], "sentences.word_counts")
