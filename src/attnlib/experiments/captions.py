"""Sixty captions of our own in English, German and French, whose words were linked by hand.

They hold what the papers show, and what real text has: adjectives after their nouns, compounds, verbs whose particle
stands apart, verbs at the end of their clause, negation in two words, rare words, numbers, and one sentence of 40
words. The file itself, ``captions.txt``, says by which rules they were linked.
"""

import re
from collections import Counter
from functools import cache
from math import exp
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from attnlib.checks import check_choice
from attnlib.data import SentencePair
from attnlib.experiments.plan import read_plan
from attnlib.experiments.runs import RECORDED, read_details, read_table
from attnlib.text.files import GoldAlignment, Words, split_words
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
    gold : GoldAlignment
        The sure links, and all that are possible.
    phenomena : set of str
        What it was written for: "adjective" after its noun in French, "compound" in German, "separable" verb in
        German, "verb last" in German, "negation" in two words in French, "rare" words, "number", "long".
    """

    pair: SentencePair
    gold: GoldAlignment
    phenomena: frozenset[str]


class CaptionOutput(NamedTuple):
    """Recorded output of a model for a caption.

    Attributes
    ----------
    translation : Translation, or None
        Of beam search, with its weights if the model has attention. None if it is not recorded.
    forced_attention : array, shape (tgt, src), or None
        The weights for the true translation. None if they are not recorded, or the model has no attention.
    """

    translation: Translation | None
    forced_attention: Float[np.ndarray, "tgt src"] | None


@cache
def load_captions(language: str) -> tuple[Caption, ...]:
    """Load the captions in English and another language; the same English ones, in the same order, for both.

    Raises
    ------
    ValueError
        If `language` is neither "german" nor "french".
    """
    check_choice(LANGUAGES, language=language)
    lines = [line for line in _FILE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    target = 2 + 2 * list(LANGUAGES).index(language)
    return tuple(_caption(*block[:2], *block[target : target + 2]) for block in zip(*[iter(lines)] * 6, strict=True))


def load_caption_outputs(model: str, folder: Path = RECORDED) -> list[CaptionOutput]:
    """Load how a model of the plan "sentences", trained with seed 0, translates the captions.

    Raises
    ------
    ValueError
        If no such run is recorded.
    """
    runs = [run for run in read_details("sentences", folder) if (run["model"], run["seed"]) == (model, 0)]
    if not runs:
        raise ValueError(f"model is {model!r}; expected one with a recorded run of seed 0")
    (run,), outputs = runs, []
    for n, caption in enumerate(load_captions(read_plan("sentences").configs[model].language)):
        weights, forced = (run[name][n] if run[name] else None for name in ("weights", "forced_attention"))
        translation = None
        if run["translations"]:
            words, probability = split_words(run["translations"][n]), exp(run["log_probabilities"][n])
            cells = _weights(weights, words, caption.pair.source)
            translation = Translation(caption.pair.source, words, cells, probability)
        outputs.append(CaptionOutput(translation, _weights(forced, caption.pair.target, caption.pair.source)))
    return outputs


def load_word_counts(language: str, folder: Path = RECORDED) -> tuple[Counter[str], Counter[str]]:
    """Load how often the words of the captions, English and the language's, occur in the training text."""
    counts = read_table("sentences.word_counts", folder).query("target == @language")
    sides = ("english", language)
    return tuple(Counter(counts[counts["side"] == side].set_index("word")["count"].to_dict()) for side in sides)


def _weights(cells: list[list[int]] | None, target: Words, source: Words) -> Float[np.ndarray, "tgt src"] | None:
    """Turn recorded hundredths into weights."""
    return None if cells is None else np.array(cells, dtype=float).reshape(len(target), len(source)) / 100


def _caption(shows: str, source: str, target: str, links: str) -> Caption:
    parsed = [(kind, (int(i), int(t))) for i, kind, t in re.findall(r"(\d+)([-?])(\d+)", links)]
    sure = frozenset(link for kind, link in parsed if kind == "-")
    gold = GoldAlignment(sure, frozenset(link for _, link in parsed))
    return Caption(SentencePair(split_words(source), split_words(target)), gold, frozenset(shows.split(", ")))
