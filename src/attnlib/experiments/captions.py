"""Sixty captions of our own in English, German and French, whose words were linked by hand.

They hold what the papers show, and what real text has: adjectives after their nouns, compounds, verbs whose particle
stands apart, verbs at the end of their clause, negation in two words, rare words, numbers, and one sentence of 40
words. The file itself, ``captions.txt``, says by which rules they were linked.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from attnlib.checks import check_choice
from attnlib.data import SentencePair
from attnlib.experiments.records import Ledger
from attnlib.text.files import Gold, Words, split_words
from attnlib.text.model import Translation

LANGUAGES = {"german": "de", "french": "fr"}
"""What the English is translated to, with the endings of files in these languages."""

_FILE = Path(__file__).with_name("captions.txt")


class Caption(NamedTuple):
    """A caption, its translation, and their links.

    Attributes
    ----------
    pair : SentencePair
        English and translation, without links.
    gold : Gold
        The sure links, and all that are possible.
    shows : set of str
        What it was written for: "adjective" after its noun in French, "compound" in German, "separable" verb in
        German, "verb last" in German, "negation" in two words in French, "rare" words, "number", "long".
    """

    pair: SentencePair
    gold: Gold
    shows: frozenset[str]


@cache
def captions(language: str) -> tuple[Caption, ...]:
    """Read the captions in English and another language; the same English ones, in the same order, for both.

    Raises
    ------
    ValueError
        If `language` is neither "german" nor "french".
    """
    check_choice(LANGUAGES, language=language)
    lines = [line for line in _FILE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    target = 2 + 2 * list(LANGUAGES).index(language)
    return tuple(_caption(*block[:2], *block[target : target + 2]) for block in zip(*[iter(lines)] * 6, strict=True))


def translations(ledger: Ledger, row: str) -> list[Translation]:
    """Read how the run with seed 0 of a row translated the captions, and what its words looked at."""
    record = _of_seed_0(ledger, row)
    sources = [caption.pair.source for caption in captions(ledger.plan.rows[row].language)]
    words = [split_words(line) for line in record["translations"]]
    weights = _weights(record, "weights", sources, words)
    sides = zip(sources, words, weights, record["probabilities"], strict=True)
    return [Translation(source, target, cells, exp(log_p)) for source, target, cells, log_p in sides]


def forced_weights(ledger: Ledger, row: str) -> list[Float[np.ndarray, "tgt src"] | None]:
    """Read what the words of the true translations looked at, in the run with seed 0. None: a row without attention."""
    sources, targets, _ = zip(*(caption.pair for caption in captions(ledger.plan.rows[row].language)), strict=True)
    return _weights(_of_seed_0(ledger, row), "forced", sources, targets)


def word_counts(ledger: Ledger, language: str) -> tuple[Counter[str], Counter[str]]:
    """Read how often the words of the captions, English and the language's, occur in the text that was learnt from."""
    counts = json.loads((ledger.folder / f"{language}.words.json").read_text("utf-8"))
    return Counter(counts["english"]), Counter(counts[language])


def _of_seed_0(ledger: Ledger, row: str) -> dict[str, Any]:
    runs = ledger.runs(row)
    if "0" not in runs:
        raise ValueError(f"seed 0 of {row} is not recorded")
    return runs["0"]["captions"]


def _weights(
    record: dict[str, Any], name: str, sources: Sequence[Words], targets: Sequence[Words]
) -> list[Float[np.ndarray, "tgt src"] | None]:
    if name not in record:
        return [None] * len(sources)
    sides = zip(record[name], targets, sources, strict=True)
    return [np.array(cells, dtype=float).reshape(len(target), len(source)) / 100 for cells, target, source in sides]


def _caption(shows: str, source: str, target: str, links: str) -> Caption:
    parsed = [(kind, (int(i), int(t))) for i, kind, t in re.findall(r"(\d+)([-?])(\d+)", links)]
    sure = frozenset(link for kind, link in parsed if kind == "-")
    gold = Gold(sure, frozenset(link for _, link in parsed))
    return Caption(SentencePair(split_words(source), split_words(target)), gold, frozenset(shows.split(", ")))
