"""Sixty captions of our own in English, German and French, whose words were linked by hand.

They hold what the papers show, and what real text has: adjectives after their nouns, compounds, verbs whose particle
stands apart, verbs at the end of their clause, negation in two words, rare words, numbers, and one sentence of 40
words. The file itself, ``captions.txt``, says by which rules they were linked.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from attnlib.checks import check_choice
from attnlib.data import SentencePair
from attnlib.text.files import Gold, words_of

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
    """Read the captions in English and another language.

    Parameters
    ----------
    language : str
        "german" or "french".

    Returns
    -------
    tuple of Caption
        The same English captions, in the same order, for both.

    Raises
    ------
    ValueError
        If there are no captions in the language.
    """
    check_choice(LANGUAGES, language=language)
    lines = [line for line in _FILE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    target = 2 + 2 * list(LANGUAGES).index(language)
    return tuple(_caption(*block[:2], *block[target : target + 2]) for block in zip(*[iter(lines)] * 6, strict=True))


def _caption(shows: str, source: str, target: str, links: str) -> Caption:
    found = [(kind, (int(i), int(t))) for i, kind, t in re.findall(r"(\d+)([-?])(\d+)", links)]
    sure = frozenset(link for kind, link in found if kind == "-")
    gold = Gold(sure, frozenset(link for _, link in found))
    return Caption(SentencePair(words_of(source), words_of(target)), gold, frozenset(shows.split(", ")))
