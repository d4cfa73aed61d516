"""What more than one function refuses: each kind of wrong argument in one place.

A check raises an error that names the argument, says what it was and what was expected.
"""

from collections.abc import Collection, Sequence
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any

from array_api_compat import array_namespace, is_array_api_obj, is_torch_array

from attnlib.shapes import Array


def check_whole(at_least: int = 1, /, **numbers: Any) -> None:
    """Refuse what is not a whole number, and what is below `at_least`."""
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, Integral):
            raise TypeError(f"{name} is {number!r}; expected a whole number")
        if number < at_least:
            raise ValueError(f"{name} is {number}; expected at least {at_least}")


def check_finite(**numbers: Any) -> None:
    """Refuse what is not a number, and NaN and infinity."""
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, Real) or not isfinite(number):
            raise ValueError(f"{name} is {number!r}; expected a finite number")


def check_share(**numbers: Any) -> None:
    """Refuse what is not a number from 0 to below 1."""
    check_finite(**numbers)
    for name, number in numbers.items():
        if not 0 <= number < 1:
            raise ValueError(f"{name} is {number}; expected a share from 0 to below 1")


def check_choice(choices: Collection[Any], /, **given: Any) -> None:
    """Refuse what is none of the choices."""
    for name, choice in given.items():
        if choice not in choices:
            raise ValueError(f"{name} is {choice!r}; expected one of {', '.join(map(str, choices))}")


def as_floating(**arrays: Any) -> tuple[Any, ...]:
    """Return the arrays, all of one library, in one floating-point precision.

    NumPy's integers become float64; a tensor of integers is refused, as torch's own matrix product would refuse it.
    """
    _check_array(**arrays)
    if len({is_torch_array(x) for x in arrays.values()}) > 1:
        kinds = ", ".join(f"{name} is a {type(x).__module__}.{type(x).__name__}" for name, x in arrays.items())
        raise TypeError(f"{kinds}; expected all of one library")
    xp = array_namespace(*arrays.values())
    for name, x in arrays.items():
        if not xp.isdtype(x.dtype, "real floating" if is_torch_array(x) else ("real floating", "integral")):
            raise TypeError(f"{name} has shape {tuple(x.shape)} and holds {x.dtype}; expected floating-point numbers")
    dtype = xp.result_type(*(x.dtype if xp.isdtype(x.dtype, "real floating") else xp.float64 for x in arrays.values()))
    return tuple(xp.astype(x, dtype, copy=False) for x in arrays.values())


def check_mask(mask: Any, shape: tuple[int, ...], like: Array) -> None:
    """Refuse a mask that is not Boolean, is not of the library of `like`, or does not broadcast to the shape."""
    if not is_array_api_obj(mask) or is_torch_array(mask) != is_torch_array(like):
        raise TypeError(f"mask is a {type(mask).__name__}; expected a {type(like).__name__}, as the scores are")
    if mask.dtype != array_namespace(mask).bool:
        raise TypeError(f"mask has shape {tuple(mask.shape)} and holds {mask.dtype}; expected bool, True: a real word")
    ends = zip(reversed(mask.shape), reversed(shape), strict=False)
    if mask.ndim > len(shape) or any(size not in (1, whole) for size, whole in ends):
        raise ValueError(f"mask has shape {tuple(mask.shape)}; expected one that broadcasts to {shape}")


def check_shape(name: str, x: Array, *expected: int | str) -> None:
    """Refuse an array of another shape. A word among the sizes stands for an axis of any size."""
    shape = tuple(x.shape)
    if len(shape) != len(expected) or any(
        size != asked and not isinstance(asked, str) for size, asked in zip(shape, expected, strict=True)
    ):
        sizes = f"({', '.join(map(str, expected))}{',' * (len(expected) == 1)})"
        raise ValueError(f"{name} has shape {shape}; expected {sizes}")


def check_ids(name: str, ids: Array, vocab: int) -> None:
    """Refuse word numbers that a vocabulary of `vocab` words lacks."""
    _check_range(name, ids, 0, vocab - 1, "word numbers from 0 to {}")


def check_lengths(lengths: Array, shape: tuple[int, ...]) -> None:
    """Refuse lengths unless there is one, from 1 to `src`, for each sentence of the `shape`, ``(batch, src)``."""
    if len(shape) != 2 or not shape[0]:
        raise ValueError(f"source has shape {tuple(shape)}; expected (batch, src), at least one sentence")
    _check_array(lengths=lengths)
    if tuple(lengths.shape) != shape[:1]:
        raise ValueError(f"lengths has shape {tuple(lengths.shape)}; expected ({shape[0]},), one for each sentence")
    _check_range("lengths", lengths, 1, shape[1], "1 to {}, the padded length")


def check_limits(max_length: Array, sentences: int) -> None:
    """Refuse greatest lengths unless there is one, a whole number from 1 on, for each sentence."""
    check_shape("max_length", max_length, sentences)
    _check_range("max_length", max_length, 1, inf, "whole numbers from 1 on")


def check_number(number: int, vocab: int) -> None:
    """Refuse a number that no word of a vocabulary has."""
    if not 0 <= number < vocab:
        raise ValueError(f"ids holds {number}; expected numbers from 0 to {vocab - 1}")


def check_words(name: str, words: Sequence[str]) -> None:
    """Refuse one string, whose letters would be taken for words, and what is no word."""
    if isinstance(words, str):
        raise TypeError(f"{name} is the string {words!r}; expected a sequence of words, as from split()")
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{name} holds {word!r}; expected words")


def check_sentence(words: Sequence[str]) -> Sequence[str]:
    """Refuse a sentence without words; any other is returned."""
    check_words("words", words)
    if not len(words):
        raise ValueError("words is empty; expected at least one word")
    return words


def check_vocabularies(translator: Any) -> None:
    """Refuse a translator that does not know which number is which word."""
    if translator.source_vocabulary is None or translator.target_vocabulary is None:
        raise ValueError("translator has no vocabularies; expected one made with both")


def _check_array(**arrays: Any) -> None:
    for name, x in arrays.items():
        if not is_array_api_obj(x):
            raise TypeError(f"{name} is a {type(x).__name__}; expected a NumPy array or a torch tensor")


def _check_range(name: str, x: Array, least: int, most: int | float, expected: str) -> None:
    """Refuse other numbers than whole ones in a range, except on a GPU, where a look would wait for all before."""
    _check_array(**{name: x})
    if not array_namespace(x).isdtype(x.dtype, "integral"):
        raise TypeError(f"{name} has shape {tuple(x.shape)} and holds {x.dtype}; expected whole numbers")
    if is_torch_array(x) and x.device.type != "cpu":
        return
    low, high = int(x.min()), int(x.max())
    if low < least or high > most:
        raise ValueError(f"{name} holds {low if low < least else high}; expected {expected.format(most)}")
