"""What is linked and counted where a script puts no spaces between words: its letters, each by itself."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain

import numpy as np
from jaxtyping import Bool, Float

Words = tuple[str, ...]

_HAN = "\u2e80-\u303f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff65\U00020000-\U0003ffff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_OTHERS = _KANA + "\u0e00-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaa7f"
_UNSPACED = re.compile(f"[{_HAN}{_OTHERS}]")


def lacks_spaces(sentences: Sequence[Sequence[str]]) -> bool:
    """Tell whether a text is written without spaces between words, as Chinese, Japanese and Thai are.

    A text in such a script that was cut into words has several short words a sentence, and so does not lack spaces.
    """
    words = [*chain.from_iterable(sentences)]
    unspaced = [found for word in words if (found := _UNSPACED.findall(word))]
    letters = sum(map(len, unspaced))
    if 2 * letters <= sum(map(len, words)):
        return False
    return len(words) < 2 * len(sentences) or letters > 4 * len(unspaced)


def split_units(words: Sequence[str]) -> Words:
    """Split words where their script puts no spaces: each letter with its marks is a unit; other words stay whole."""
    units: list[str] = []
    for word in words:
        begins, alone = True, False
        for letter in word if _UNSPACED.search(word) else [word]:
            unspaced, mark = bool(_UNSPACED.match(letter)), unicodedata.category(letter[0]).startswith("M")
            if begins or ((unspaced or alone) and not mark):
                units.append("")
                alone = unspaced
            units[-1] += letter
            begins = False
    return tuple(units)


def unit_weights(
    weights: Float[np.ndarray, "tgt src"],
    source: tuple[Sequence[str], Sequence[str]],
    target: tuple[Sequence[str], Sequence[str]],
) -> Float[np.ndarray, "target_units source_units"]:
    """Turn the weights of pieces into weights of units: the units of a source piece share, a target unit's average.

    Parameters
    ----------
    weights : ``"tgt src"``
        What comes after the last piece, the row and the column of EOS and padding, does not count.
    source, target : (units, pieces)
        Of each side the same letters, cut in two ways. A piece may have no letter.
    """
    read, written = _overlap(*source), _overlap(*target)
    inside = np.asarray(weights)[: len(written), : len(read)]
    shared = read / read.sum(1, keepdims=True)
    return (written / written.sum(0)).T @ inside @ shared


def bleu_tokenizer(references: Sequence[Sequence[str]]) -> str | None:
    """Name sacrebleu's way to cut a text that lacks spaces into what BLEU counts; None: it has spaces."""
    if not lacks_spaces(references):
        return None
    return "char" if re.search(f"[{_OTHERS}]", "".join(chain.from_iterable(references))) else "zh"


def _overlap(units: Sequence[str], pieces: Sequence[str]) -> Bool[np.ndarray, "pieces units"]:
    """Tell which pieces have letters of which units; one without letters goes with the letter after it, or before."""
    last = sum(map(len, units)) - 1
    unit_ends, piece_ends = (np.cumsum([*map(len, parts)]) for parts in (units, pieces))
    begins = np.minimum(piece_ends - [*map(len, pieces)], last)
    ends = np.maximum(np.minimum(piece_ends, last + 1), begins + 1)
    return (begins[:, None] < unit_ends) & (ends[:, None] > unit_ends - [*map(len, units)])
