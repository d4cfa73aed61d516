"""What is translated and linked (chapter 5): the words of a sentence, and in scripts without spaces its letters.

A model may read pieces of words; the weights between pieces become weights between words or letters here.
"""

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain

import numpy as np
from jaxtyping import Bool, Float

from attnlib.checks import check_type

Words = tuple[str, ...]

_HAN = "\u2e80-\u303f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff65\U00020000-\U0003ffff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_OTHERS = _KANA + "\u0e00-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaa7f"
_UNSPACED = re.compile(f"[{_HAN}{_OTHERS}]")


def split_words(line: str) -> Words:
    """Split a line at its spaces and tabs, after Unicode normalization (NFC).

    As in fast_align and Moses, other white space is part of a word: links would count other words than those do. Byte
    order marks are left out, which stand inside a file if several were joined. So are carriage returns at the end of a
    word.
    """
    check_type(str, "a string, with spaces between words", sentence=line)
    if re.search("[\ud800-\udfff]", line):
        raise ValueError(f"sentence is {line!r}; expected no lone surrogate")
    line = unicodedata.normalize("NFC", line.replace("\ufeff", ""))
    return tuple(filter(None, (word.rstrip("\r") for word in re.split("[ \n\t]", line))))


def lacks_spaces(sentences: Sequence[Sequence[str]]) -> bool:
    """Return whether a text has no spaces between words, as in Chinese or Thai.

    A text in such a script that was split into words has several short words per sentence, and does not lack spaces.
    """
    words = [*chain.from_iterable(sentences)]
    unspaced = [found for word in words if (found := _UNSPACED.findall(word))]
    letters = sum(map(len, unspaced))
    if 2 * letters <= sum(map(len, words)):
        return False
    return len(words) < 2 * len(sentences) or letters > 4 * len(unspaced)


def split_units(words: Sequence[str]) -> tuple[str, ...]:
    """Split words of scripts without spaces into letters, each with its marks.

    Other words stay whole.
    """
    units: list[str] = []
    for word in words:
        kinds = "".join(map(_kind, word))
        units += (word[unit.start() : unit.end()] for unit in re.finditer("um*|[^u]+", kinds))
    return tuple(units)


def _kind(letter: str) -> str:
    """Tell marks, "m", from letters of scripts without spaces, "u", and all others, "."."""
    if unicodedata.category(letter).startswith("M"):
        return "m"
    return "u" if _UNSPACED.match(letter) else "."


def units_of(source: Words, target: Words, unspaced: tuple[bool, bool]) -> tuple[Words, Words]:
    """Return what links join on each side of a sentence pair: words, or letters where a text is `unspaced`."""
    return split_units(source) if unspaced[0] else source, split_units(target) if unspaced[1] else target


def unit_weights(
    weights: Float[np.ndarray, "tgt src"],
    source: tuple[Sequence[str], Sequence[str]],
    target: tuple[Sequence[str], Sequence[str]],
) -> Float[np.ndarray, "target_units source_units"]:
    """Convert attention weights of subwords to weights of units.

    A source unit has the sum of its subwords' weights, and a subword of several units divides its weight among them. A
    target unit has the mean of its subwords' weights.

    Parameters
    ----------
    weights
        Weights of subwords. Rows and columns after the last subword, of EOS and padding, are ignored.
    source, target : (units, subwords)
        Two splits of each side into strings, with the same letters. A subword may have no letter.
    """
    if not source[0] or not target[0]:
        return np.zeros((len(target[0]), len(source[0])))
    in_source, in_target = _overlap(*source), _overlap(*target)
    inside = np.asarray(weights)[: len(in_target), : len(in_source)]
    shared = in_source / in_source.sum(1, keepdims=True)
    # Columns of the first factor sum to 1, a mean over a target unit's subwords; rows of the last sum to 1, so that the
    # weight of a source subword is shared out, and a source unit adds up the shares that it gets.
    return np.minimum((in_target / in_target.sum(0)).T @ inside @ shared, 1)  # whatever rounding adds


def bleu_tokenizer(references: Sequence[Sequence[str]]) -> str | None:
    """Return sacrebleu's tokenizer for a text without spaces, "zh" or "char"; None if the text has spaces."""
    if not lacks_spaces(references):
        return None
    return "char" if re.search(f"[{_OTHERS}]", "".join(chain.from_iterable(references))) else "zh"


def _overlap(units: Sequence[str], pieces: Sequence[str]) -> Bool[np.ndarray, "pieces units"]:
    """Return which subwords share letters with which units.

    A subword without letters belongs to the next letter, or to the last one.
    """
    last = sum(map(len, units)) - 1
    unit_ends, piece_ends = (np.cumsum([*map(len, parts)]) for parts in (units, pieces))
    begins = np.minimum(piece_ends - [*map(len, pieces)], last)
    ends = np.maximum(np.minimum(piece_ends, last + 1), begins + 1)
    return (begins[:, None] < unit_ends) & (ends[:, None] > unit_ends - [*map(len, units)])
