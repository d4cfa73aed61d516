"""What more than one function refuses: each kind of wrong argument in one place.

A check returns nothing. It raises an error that names the argument, says what it was and what was expected.
"""

from collections.abc import Sequence
from math import isfinite
from numbers import Integral, Real
from typing import Any

from array_api_compat import array_namespace, is_array_api_obj

from attnlib.shapes import Array


def check_whole(least: int = 1, /, **numbers: Any) -> None:
    """Refuse what is not a whole number, and what is below `least`."""
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, Integral):
            raise TypeError(f"{name} is {number!r}; expected a whole number")
        if number < least:
            raise ValueError(f"{name} is {number}; expected at least {least}")


def check_finite(**numbers: Any) -> None:
    """Refuse what is not a number, and NaN and infinity."""
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, Real) or not isfinite(number):
            raise ValueError(f"{name} is {number!r}; expected a finite number")


def check_floating(**arrays: Any) -> None:
    """Refuse what is not an array of floating-point numbers: whole numbers of few bits would wrap around."""
    for name, x in arrays.items():
        if not is_array_api_obj(x):
            raise TypeError(f"{name} is a {type(x).__name__}; expected a NumPy array or a torch tensor")
        if not array_namespace(x).isdtype(x.dtype, "real floating"):
            raise TypeError(f"{name} has shape {tuple(x.shape)} and holds {x.dtype}; expected floating-point numbers")


def check_integers(**arrays: Any) -> None:
    """Refuse what is not an array of whole numbers."""
    for name, x in arrays.items():
        if not is_array_api_obj(x):
            raise TypeError(f"{name} is a {type(x).__name__}; expected a NumPy array or a torch tensor")
        if not array_namespace(x).isdtype(x.dtype, "integral"):
            raise TypeError(f"{name} has shape {tuple(x.shape)} and holds {x.dtype}; expected whole numbers")


def check_shape(name: str, x: Array, *expected: int | str) -> None:
    """Refuse an array of another shape. A word among the sizes stands for an axis of any size."""
    shape = tuple(x.shape)
    if len(shape) != len(expected) or any(
        size != asked and not isinstance(asked, str) for size, asked in zip(shape, expected, strict=True)
    ):
        raise ValueError(f"{name} has shape {shape}; expected {_written(expected)}")


def check_leading(own: int, /, **arrays: Array) -> None:
    """Refuse arrays whose axes differ, but for the last `own` of each: an axis of size 1 would be repeated."""
    if len({tuple(x.shape[:-own]) for x in arrays.values()}) > 1:
        found = ", ".join(f"{name} has shape {tuple(x.shape)}" for name, x in arrays.items())
        raise ValueError(f"{found}; expected the same leading axes, all but the last {own}")


def check_ids(name: str, ids: Array, vocab: int) -> None:
    """Refuse word numbers that a vocabulary of `vocab` words does not have."""
    check_integers(**{name: ids})
    low, high = int(ids.min()), int(ids.max())
    if low < 0 or high >= vocab:
        raise ValueError(f"{name} holds {low if low < 0 else high}; expected word numbers from 0 to {vocab - 1}")


def check_lengths(lengths: Array, shape: tuple[int, ...]) -> None:
    """Refuse lengths that are not one for each sentence of the padded `shape`, ``(batch, src)``, from 1 to `src`."""
    if len(shape) != 2 or not shape[0]:
        raise ValueError(f"source has shape {tuple(shape)}; expected (batch, src), at least one sentence")
    check_integers(lengths=lengths)
    batch, src = shape
    if tuple(lengths.shape) != (batch,):
        raise ValueError(f"lengths has shape {tuple(lengths.shape)}; expected ({batch},), one for each sentence")
    low, high = int(lengths.min()), int(lengths.max())
    if low < 1 or high > src:
        raise ValueError(f"lengths holds {low if low < 1 else high}; expected 1 to {src}, the padded length")


def check_words(name: str, words: Sequence[str]) -> None:
    """Refuse one string, whose letters would be taken for words, and what is no word."""
    if isinstance(words, str):
        raise TypeError(f"{name} is the string {words!r}; expected a sequence of words, as from split()")
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{name} holds {word!r}; expected words")


def check_sentences(name: str, sentences: Sequence[Sequence[str]]) -> None:
    """Refuse a string in place of sentences, and in place of a sentence."""
    if isinstance(sentences, str):
        raise TypeError(f"{name} is the string {sentences!r}; expected a sequence of sentences")
    for n, words in enumerate(sentences):
        check_words(f"{name}[{n}]", words)


def check_vocabularies(translator: Any) -> None:
    """Refuse a translator that does not know which number is which word."""
    if translator.source_vocabulary is None or translator.target_vocabulary is None:
        raise ValueError("translator has no vocabularies; expected one made with both")


def _written(sizes: tuple[int | str, ...]) -> str:
    return f"({', '.join(map(str, sizes))}{',' * (len(sizes) == 1)})"
