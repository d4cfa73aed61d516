"""Sixty captions written for this book in English, German and French (chapter 5), with hand-drawn word links.

They contain the phenomena that the papers show and that real text has: adjectives after their nouns, compounds,
separable verbs, verbs at the end of their clause, negation in two words, rare words, numbers, and one sentence of 40
words. The file ``captions.txt`` states the rules of the links.
"""

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from attnbook.experiments.runs import RECORDED, Recording, read_table
from attnlib.data import GoldAlignment, SentencePair
from attnlib.translation import Translation
from attnlib.units import Words, split_words

LANGUAGES = {"german": "de", "french": "fr"}
"""Target languages, with the ending of their files."""

_FILE = Path(__file__).with_name("captions.txt")


class Caption(NamedTuple):
    """A caption, its translation, and their gold links.

    Attributes
    ----------
    pair : SentencePair
        English and translation, without links.
    gold : GoldAlignment
        Sure and possible links.
    phenomena : set of str
        Phenomena that it was written for: "adjective" after its noun in French, "compound" in German, "separable" verb
        in German, "verb last" in German, "negation" in two words in French, "rare" words, "number", "long". For a
        caption without any of them, "nothing special".
    """

    pair: SentencePair
    gold: GoldAlignment
    phenomena: frozenset[str]


class CaptionOutput(NamedTuple):
    """Recorded output of a model for a caption.

    Attributes
    ----------
    translation : Translation, or None
        Translation of beam search, with its weights if the model has attention. None if it is not recorded.
    forced_attention
        Attention weights for the reference translation. None if they are not recorded, or the model has no attention.
    """

    translation: Translation | None
    forced_attention: Float[np.ndarray, "tgt src"] | None


@cache
def load_captions(language: str) -> tuple[Caption, ...]:
    """Load the captions in English and another language, "german" or "french".

    The English captions and their order are the same for both.
    """
    lines = [line for line in _FILE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    target = 2 + 2 * list(LANGUAGES).index(language)
    return tuple(_caption(*block[:2], *block[target : target + 2]) for block in zip(*[iter(lines)] * 6, strict=True))


def load_caption_outputs(model: str, folder: Path = RECORDED) -> list[CaptionOutput]:
    """Load the recorded outputs for the captions of a model with seed 0."""
    recording, outputs = Recording("sentences", folder), []
    run = next(run for run in recording.details if (run["model"], run["seed"]) == (model, 0))
    for n, caption in enumerate(load_captions(recording.plan.configs[model].language)):
        weights, forced = (run[name][n] if run[name] else None for name in ("weights", "forced_attention"))
        translation = None
        if run["translations"]:
            words, log_probability = split_words(run["translations"][n]), run["log_probabilities"][n]
            cells = _weights(weights, words, caption.pair.source)
            translation = Translation(caption.pair.source, words, cells, log_probability)
        outputs.append(CaptionOutput(translation, _weights(forced, caption.pair.target, caption.pair.source)))
    return outputs


def load_word_counts(language: str, folder: Path = RECORDED) -> tuple[Counter[str], Counter[str]]:
    """Load the training-text counts of the words of the captions."""
    counts = read_table("sentences.word_counts", folder).query("target == @language")
    sides = ("english", language)
    first, second = (counts[counts["side"] == side].set_index("word")["count"] for side in sides)
    return Counter(first.to_dict()), Counter(second.to_dict())


def _weights(cells: list[list[int]] | None, target: Words, source: Words) -> Float[np.ndarray, "tgt src"] | None:
    """Convert recorded hundredths to weights."""
    return None if cells is None else np.array(cells, dtype=float).reshape(len(target), len(source)) / 100


def _caption(shows: str, source: str, target: str, links: str) -> Caption:
    parsed = [(kind, (int(i), int(t))) for i, kind, t in re.findall(r"(\d+)([-?])(\d+)", links)]
    sure = frozenset(link for kind, link in parsed if kind == "-")
    gold = GoldAlignment(sure, frozenset(link for _, link in parsed))
    return Caption(SentencePair(split_words(source), split_words(target)), gold, frozenset(shows.split(", ")))
