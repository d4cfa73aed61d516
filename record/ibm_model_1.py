"""IBM Model 1, a word aligner without a network, trained on the text of chapter 5 and tried on our captions.

Brown et al. 1993, "The Mathematics of Statistical Machine Translation", section 4.1. The probability that a word e is
translated by f, t(f | e), does not depend on where the words stand. Each target word comes from one word of its
sentence's source or from none, all of them equally likely beforehand.

``python record/ibm_model_1.py DATA`` trains it in both directions on the files of chapter 5 in the folder DATA, and
writes two tables:

- ``ibm_model_1.probabilities.csv``, t of word pairs that one of our captions holds, both ways, where one of the two is
  at least `LEAST`. It holds nothing else of the text.
- ``ibm_model_1.csv``, how well the probabilities of that table align our captions.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from sys import argv

import numpy as np
import pandas as pd
from caption_alignments import Links, Words, score
from sentences import read_data

from attnlib.data import SentencePair
from attnlib.experiments.captions import LANGUAGES, load_captions
from attnlib.experiments.runs import RECORDED

NONE = "(none)"
"""The source word of a target word that translates none."""

ITERATIONS = 10
"""Of expectation maximization, from even probabilities."""

LEAST = 0.001
"""Smaller probabilities are not in the table, and align as if they were 0."""

COLUMNS = ["language", "english", "translation", "translation_given_english", "english_given_translation"]

Probabilities = Mapping[tuple[str, str], float]


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


def align(t: Probabilities, source: Words, target: Words, *, always: bool = False) -> Links:
    """Link each target word to its likeliest source word, unless that is `NONE` or all of them have probability 0.

    With `always`, `NONE` is no choice, as for the weights of attention.
    """
    links = set()
    for j, f in enumerate(target):
        chances = [0.0 if always else t.get((NONE, f), 0.0), *(t.get((e, f), 0.0) for e in source)]
        if best := int(np.argmax(chances)):
            links.add((best - 1, j))
    return links


def probabilities(language: str, text: Sequence[SentencePair]) -> pd.DataFrame:
    """Return the table of t for one language, both ways, from the text it is estimated on."""
    sides = [(pair.source, pair.target) for pair in text]
    there, back = train(sides), train([(target, source) for source, target in sides])
    ours = {cell for caption in load_captions(language) for cell in _possible(caption.pair)}
    cells = pd.MultiIndex.from_tuples(sorted(ours))
    swapped = cells.swaplevel()
    table = pd.DataFrame(
        {COLUMNS[3]: there.reindex(cells).to_numpy(), COLUMNS[4]: back.reindex(swapped).to_numpy()},
        index=cells.set_names(COLUMNS[1:3]),
    )
    return (
        table.fillna(0).round(5).loc[lambda t: t.max(axis=1) >= LEAST].reset_index().assign(language=language)[COLUMNS]
    )


def alignments(table: pd.DataFrame, language: str) -> dict[str, list[Links]]:
    """Align our captions in both directions, and by the links that both or either of them have.

    Those that are always there, one for each translated word that has any probability, compare with attention's.
    """
    words = table[table.language == language].set_index(["english", "translation"])
    there = words[COLUMNS[3]].to_dict()
    back = {(f, e): p for (e, f), p in words[COLUMNS[4]].items()}
    pairs = [caption.pair[:2] for caption in load_captions(language)]
    one = [align(there, *sides) for sides in pairs]
    other = [{(i, j) for j, i in align(back, target, source)} for source, target in pairs]
    both = list(zip(one, other, strict=True))
    return {
        "always one per translated word": [align(there, *sides, always=True) for sides in pairs],
        "one per translated word": one,
        "one per English word": other,
        "intersection": [a & b for a, b in both],
        "union": [a | b for a, b in both],
    }


def results(table: pd.DataFrame) -> pd.DataFrame:
    """Score the alignments of both languages."""
    lines = [
        {"language": language, "links": links, **score(predicted, language)}
        for language in LANGUAGES
        for links, predicted in alignments(table, language).items()
    ]
    return pd.DataFrame(lines).round(4)


def _cells(pairs: Sequence[tuple[Words, Words]]) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield for each pair its source words and its target words, each with each, and the number of the target word."""
    first = 0
    for source, target in pairs:
        every, words = np.array([NONE, *source], dtype=object), np.array(target, dtype=object)
        numbers = np.arange(first, first := first + len(target))
        yield np.tile(every, len(words)), np.repeat(words, len(every)), np.repeat(numbers, len(every))


def _possible(pair: SentencePair) -> set[tuple[str, str]]:
    return {*product((NONE, *pair.source), pair.target)} | {*product(pair.source, (NONE,))}


if __name__ == "__main__":
    data = Path(argv[1])
    table = pd.concat([probabilities(language, read_data(data, language).train) for language in LANGUAGES])
    table.to_csv(RECORDED / "ibm_model_1.probabilities.csv", index=False)
    results(table).to_csv(RECORDED / "ibm_model_1.csv", index=False)
