"""Checks of arguments for all modules: each kind of wrong argument is refused in one place.

A check raises an error that names the argument, says what it was and what was expected.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from math import isfinite
from typing import Any

from jaxtyping import Int

from attnlib.shapes import Array, FloatLike, IntLike

NUMBERS, BOOLEANS, INTEGERS = "an array of numbers", "an array of True and False", "a tensor of integers"
"""What an array may be, for `check_arrays`."""

_KINDS = {NUMBERS: {"int", "uint", "float", "bfloat"}, BOOLEANS: {"bool"}, INTEGERS: {"int", "uint"}}
_SHOWN = 60  # letters of a value in an error; what is longer is named by its type


def brief(x: Any) -> str:
    """Describe a value in an error: as Python writes it if that is short, else by its type."""
    libraries, dtype = _libraries(type(x)), getattr(x, "dtype", None)
    if dtype is not None and libraries & {"numpy", "torch"} and len(x.shape):
        return f"{'a tensor' if 'torch' in libraries else 'an array'} of {str(dtype).removeprefix('torch.')}"
    text = "" if dtype is None and not isinstance(x, str | int | float | list | tuple | None) else repr(x)
    if 0 < len(text) <= _SHOWN and "\n" not in text:
        return text
    name = type(x).__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def check_arrays(**given: tuple[Any, str, str] | None) -> None:
    """Raise an error for what is no array of its kind, or for shapes that do not go together.

    Parameters
    ----------
    **given
        By the names that the error gives them: each array, its kind, and its axes as in a signature, see
        `attnlib.shapes`; or None, for an argument that was left out.

    Raises
    ------
    TypeError
        If something is no array of NumPy or torch, or holds other numbers.
    ValueError
        If an array has another number of axes, or an axis another size than in an array before.
    """
    sizes: dict[str, Any] = {}
    for name, (x, kind, axes) in ((name, one) for name, one in given.items() if one):
        if not _is_of(x.__class__, getattr(x, "dtype", None), kind):
            raise TypeError(f"{name} is {brief(x)}; expected {kind}")
        names, found = _names(axes), tuple(x.shape)
        if names[0][0][0] == "*":  # any number of axes, as one
            leading = len(found) - len(names) + 1
            found = (found[:leading], *found[leading:]) if leading >= 0 else ()
        pairs = zip(names, found, strict=False)
        fits = [_fits(size, sizes.get(axis, size), broadcast) for (axis, broadcast), size in pairs]
        if len(found) != len(names) or not all(fits):
            raise ValueError(f"{name} has shape {tuple(x.shape)}; expected {_expected(axes, sizes)}")
        for (axis, _), size in zip(names, found, strict=True):
            sizes.setdefault(axis, size)


@cache
def _names(axes: str) -> list[tuple[str, bool]]:
    """Return the names of axes, and whether each, marked by `#`, may be broadcast."""
    return [(axis.removeprefix("#"), axis[0] == "#") for axis in axes.split()]


def _fits(size: Any, known: Any, broadcast: bool) -> bool:
    """Return whether an axis, or leading axes, have the size that they should have, or are broadcast to it."""
    if size == known or not broadcast:
        return size == known
    if isinstance(size, int):
        return size == 1
    pairs = zip(reversed(size), reversed(known), strict=False)
    return len(size) <= len(known) and all(one in {1, other} for one, other in pairs)


def _expected(axes: str, sizes: dict[str, Any]) -> str:
    """Write the axes that were expected, with their sizes where they are known."""
    parts = []
    for axis, broadcast in _names(axes):
        size = sizes.get(axis, ("...",) if axis[0] == "*" else axis)
        known = map(str, size) if isinstance(size, tuple) else [f"{axis}={size}" if isinstance(size, int) else axis]
        parts += [f"{each}{' or 1' * broadcast}" for each in known]
    return f"({', '.join(parts)})"


@cache
def _is_of(array_type: type, dtype: Any, kind: str) -> bool:
    """Return whether arrays of a type and dtype are of a kind."""
    libraries = {"torch"} if kind == INTEGERS else {"numpy", "torch"}
    number = getattr(dtype, "name", str(dtype)).removeprefix("torch.").rstrip("0123456789")
    return bool(libraries & _libraries(array_type)) and number in _KINDS[kind]


def _libraries(kind: type) -> set[str]:
    """Return the libraries that a type comes from."""
    return {base.__module__.partition(".")[0] for base in kind.__mro__}


def check_type(kind: type, expected: str, /, **given: Any) -> None:
    """Raise a TypeError for what is not of a type, with words for what was expected."""
    for name, x in given.items():
        if not isinstance(x, kind):
            raise TypeError(f"{name} is {brief(x)}; expected {expected}")


def check_whole(at_least: int = 1, at_most: int = 2**31 - 1, /, **numbers: Any) -> list[int]:
    """Return whole numbers as Python's, or raise an error if one is not a whole number, or is too small.

    Parameters
    ----------
    at_least, at_most : int, default 1 and 2**31 - 1
        The least and the greatest number that is valid.
    **numbers
        The numbers of Python, NumPy or torch, by the names that the error gives them.

    Raises
    ------
    TypeError
        If a number is not an integer. True and False are none.
    ValueError
        If a number is below `at_least` or above `at_most`.
    """
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, IntLike):
            raise TypeError(f"{name} is {brief(number)}; expected a whole number")
        if int(number) < at_least:
            raise ValueError(f"{name} is {int(number)}; expected at least {at_least}")
        if int(number) > at_most:
            raise ValueError(f"{name} is {int(number)}; expected a number from {at_least} to {at_most}")
    return [int(number) for number in numbers.values()]


def check_seed(seed: Any) -> int:
    """Return a seed as Python's number, or raise an error if it is not a whole number of 63 bits."""
    return check_whole(0, 2**63 - 1, seed=seed)[0]


def is_out_of_memory(error: Exception) -> bool:
    """Return whether an error of Python, NumPy or torch means that there is not enough memory."""
    says = re.search("alloc|out of memory|not enough memory|overflow", str(error), re.IGNORECASE)
    return isinstance(error, MemoryError) or bool(isinstance(error, RuntimeError) and says)


def check_finite(**numbers: Any) -> None:
    """Raise a ValueError for anything but a finite number."""
    _check_numbers(isfinite, "a finite number", numbers)


def check_positive(**numbers: Any) -> None:
    """Raise a ValueError for anything but a number above 0."""
    _check_numbers(lambda number: number > 0, "a number above 0", numbers)


def _check_numbers(fits: Callable[[Any], Any], expected: str, numbers: Mapping[str, Any]) -> None:
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, FloatLike) or not fits(number):
            raise ValueError(f"{name} is {brief(number)}; expected {expected}")


def check_share(**numbers: Any) -> None:
    """Raise a ValueError for anything but a number from 0 to below 1."""
    check_finite(**numbers)
    for name, number in numbers.items():
        if not 0 <= number < 1:
            raise ValueError(f"{name} is {number}; expected a share from 0 to below 1")


def check_choice(choices: Collection[Any], /, **given: Any) -> None:
    """Raise a ValueError if an argument is none of the choices."""
    for name, choice in given.items():
        if choice not in [*choices]:
            raise ValueError(f"{name} is {choice!r}; expected one of {', '.join(map(str, choices))}")


def check_range(least: int, greatest: int | float, /, **numbers: Int[Array, "..."]) -> None:
    """Raise a ValueError for an empty tensor, and for numbers that are not from `least` to `greatest`.

    The numbers of a tensor on a GPU are not checked, since that would make the program wait.
    """
    for name, x in numbers.items():
        if not x.numel():
            raise ValueError(f"{name} has shape {tuple(x.shape)}; expected at least one number")
        if x.device.type != "cpu":
            continue
        low, high = int(x.min()), int(x.max())
        extreme = low if low < least else high
        if not least <= extreme <= greatest:
            raise ValueError(f"{name} holds {extreme}; expected numbers from {least} to {greatest}")


def check_number(number: int, vocab: int) -> None:
    """Raise a ValueError if an id is out of a vocabulary's range."""
    if not 0 <= number < vocab:
        raise ValueError(f"ids holds {number}; expected ids from 0 to {vocab - 1}")


def check_words(name: str, words: Sequence[str]) -> None:
    """Raise a TypeError for anything but a sequence of words: a string's letters would be taken for words."""
    if isinstance(words, str) or not hasattr(words, "__len__"):
        given = f"the string {words!r}" if isinstance(words, str) else brief(words)
        raise TypeError(f"{name} is {given}; expected a sequence of words, as from split()")
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{name} holds {brief(word)}; expected words")


def check_sentence(words: Sequence[str]) -> Sequence[str]:
    """Return a sentence, or raise an error if it has no words."""
    check_words("words", words)
    if not len(words):
        raise ValueError("words is empty; expected at least one word")
    return words
