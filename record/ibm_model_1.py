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
from attnlib.data import SentencePair
from attnlib.metrics import alignment_error_rate
from package import TABLES, load_captions, read_text

NONE = "(none)"
"""The source word of a target word that translates none."""

ITERATIONS = 10
"""Of expectation maximization, from even probabilities."""

LEAST = 0.001
"""Smaller probabilities are not in the table, and align as if they were 0."""

LANGUAGES = "german", "french"
COLUMNS = ["language", "english", "translation", "translation_given_english", "english_given_translation"]

Words = Sequence[str]
Links = set[tuple[int, int]]
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


def align(t: Probabilities, source: Words, target: Words) -> Links:
    """Link each target word to its likeliest source word; one whose likeliest is `NONE`, or unknown, has no link."""
    links = set()
    for j, f in enumerate(target):
        chances = [t.get((e, f), 0.0) for e in (NONE, *source)]
        best = int(np.argmax(chances))
        if best:
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
    return table.fillna(0).round(5).loc[lambda t: t.max(axis=1) >= LEAST].reset_index().assign(language=language)[COLUMNS]


def alignments(table: pd.DataFrame, language: str) -> dict[str, list[Links]]:
    """Align our captions in both directions, and by the links that both or either of them have."""
    words = table[table.language == language].set_index(["english", "translation"])
    there = words[COLUMNS[3]].to_dict()
    back = {(f, e): p for (e, f), p in words[COLUMNS[4]].items()}
    pairs = [caption.pair[:2] for caption in load_captions(language)]
    one = [align(there, *sides) for sides in pairs]
    other = [{(i, j) for j, i in align(back, target, source)} for source, target in pairs]
    both = list(zip(one, other, strict=True))
    return {
        "one per translated word": one,
        "one per English word": other,
        "intersection": [a & b for a, b in both],
        "union": [a | b for a, b in both],
    }


def results(table: pd.DataFrame) -> pd.DataFrame:
    """Score the alignments, with 95 percent intervals over draws of as many captions, and what they find.

    Columns ``moved`` and ``stayed``: sure links found, of those more than three words off the diagonal and the rest.
    """
    lines = []
    for language in LANGUAGES:
        captions = load_captions(language)
        gold = [caption.gold for caption in captions]
        diagonal = _score([_diagonal(*caption.pair[:2]) for caption in captions], gold)
        drawn = np.random.default_rng(0).integers(len(gold), size=(10_000, len(gold)))
        for links, predicted in alignments(table, language).items():
            score = _score(predicted, gold)
            draws = 1 - np.divide(*score[:, drawn].sum(-1))
            low, high = np.quantile(draws, [0.025, 0.975])
            less = draws - (1 - np.divide(*diagonal[:, drawn].sum(-1)))
            rate = alignment_error_rate(predicted, *zip(*gold, strict=True))
            found = _found(predicted, captions)
            lines.append([language, links, rate, low, high, *np.quantile(less, [0.025, 0.975]), *found])
    columns = ["language", "links", "alignment_error_rate", "low", "high", "less_diagonal_low", "less_diagonal_high"]
    return pd.DataFrame(lines, columns=[*columns, "moved", "all_moved", "stayed", "all_stayed"]).round(4)


def _cells(pairs: Sequence[tuple[Words, Words]]) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield for each pair its source words and its target words, each with each, and the number of the target word."""
    first = 0
    for source, target in pairs:
        every = np.array([NONE, *source], dtype=object)
        numbers = np.arange(first, first := first + len(target))
        yield np.tile(every, len(target)), np.repeat(np.array(target, dtype=object), len(every)), np.repeat(numbers, len(every))


def _possible(pair: SentencePair) -> set[tuple[str, str]]:
    return {*product((NONE, *pair.source), pair.target)} | {*product(pair.source, (NONE,))}


def _diagonal(source: Words, target: Words) -> Links:
    return {(round(t * (len(source) - 1) / (len(target) - 1)), t) for t in range(len(target))}


def _score(predicted, gold) -> np.ndarray:
    """Count for each caption what is right and what is counted, as the alignment error rate does."""
    both = zip(predicted, gold, strict=True)
    return np.transpose([(len(A & S) + len(A & P), len(A) + len(S)) for A, (S, P) in both])


def _found(predicted, captions) -> list[int]:
    marks = []
    for links, caption in zip(predicted, captions, strict=True):
        source, target, _ = caption.pair
        for i, t in caption.gold.sure:
            off = abs(i - t * (len(source) - 1) / (len(target) - 1))
            marks.append((off > 3, (i, t) in links))
    moved, found = np.transpose(marks)
    return [sum(found & moved), sum(moved), sum(found & ~moved), sum(~moved)]


if __name__ == "__main__":
    data = Path(argv[1])
    table = pd.concat([probabilities(language, read_text(data, language)) for language in LANGUAGES])
    table.to_csv(TABLES / "ibm_model_1.probabilities.csv", index=False)
    results(table).to_csv(TABLES / "ibm_model_1.csv", index=False)
