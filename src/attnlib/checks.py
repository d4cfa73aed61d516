"""What more than one function refuses: each kind of wrong argument in one place.

A check raises an error that names the argument, says what it was and what was expected.
"""

import re
from collections.abc import Collection, Sequence
from math import isfinite
from typing import Any

from jaxtyping import Int

from attnlib.shapes import Array, FloatLike, IntLike, is_compiling


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
            raise TypeError(f"{name} is {number!r}; expected a whole number")
        if int(number) < at_least:
            raise ValueError(f"{name} is {int(number)}; expected at least {at_least}")
        if int(number) > at_most:
            raise ValueError(f"{name} is {int(number)}; expected a number from {at_least} to {at_most}")
    return [int(number) for number in numbers.values()]


def check_seed(seed: Any) -> int:
    """Return a seed as Python's number, or raise an error if it is not a whole number of 63 bits."""
    return check_whole(0, 2**63 - 1, seed=seed)[0]


def is_out_of_memory(error: Exception) -> bool:
    """Return whether an error of Python, NumPy or torch says that there is not enough memory."""
    says = re.search("alloc|out of memory|not enough memory|overflow", str(error))
    return isinstance(error, MemoryError) or bool(isinstance(error, RuntimeError) and says)


def check_finite(**numbers: Any) -> list[float]:
    """Return finite numbers as Python's, or raise a ValueError."""
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, FloatLike) or not isfinite(number):
            raise ValueError(f"{name} is {number!r}; expected a finite number")
    return [float(number) for number in numbers.values()]


def check_positive(**numbers: Any) -> None:
    """Raise a ValueError for anything but a number above 0."""
    for name, number in numbers.items():
        if not number > 0:
            raise ValueError(f"{name} is {number}; expected a number above 0")


def check_share(**numbers: Any) -> None:
    """Raise a ValueError for anything but a number from 0 to below 1."""
    check_finite(**numbers)
    for name, number in numbers.items():
        if not 0 <= number < 1:
            raise ValueError(f"{name} is {number}; expected a share from 0 to below 1")


def check_choice(choices: Collection[Any], /, **given: Any) -> None:
    """Raise a ValueError if an argument is none of the choices."""
    for name, choice in given.items():
        if choice not in choices:
            raise ValueError(f"{name} is {choice!r}; expected one of {', '.join(map(str, choices))}")


def check_range(least: int, most: int | float, /, **numbers: Int[Array, "..."]) -> None:
    """Raise a ValueError for an empty tensor, and for numbers that are not from `least` to `most`.

    The numbers of a tensor on a GPU are not checked, since that would make the program wait; nor are any while torch
    compiles or exports.
    """
    if is_compiling():
        return
    for name, x in numbers.items():
        if not x.numel():
            raise ValueError(f"{name} has shape {tuple(x.shape)}; expected at least one number")
        if x.device.type != "cpu":
            continue
        low, high = int(x.min()), int(x.max())
        if low < least or high > most:
            raise ValueError(f"{name} holds {low if low < least else high}; expected numbers from {least} to {most}")


def check_number(number: int, vocab: int) -> None:
    """Raise a ValueError if an id is out of a vocabulary's range."""
    if not 0 <= number < vocab:
        raise ValueError(f"ids holds {number}; expected ids from 0 to {vocab - 1}")


def check_words(name: str, words: Sequence[str]) -> None:
    """Raise a TypeError for anything but a sequence of words: a string's letters would be taken for words."""
    if isinstance(words, str):
        raise TypeError(f"{name} is the string {words!r}; expected a sequence of words, as from split()")
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{name} holds {word!r}; expected words")


def check_sentence(words: Sequence[str]) -> Sequence[str]:
    """Return a sentence, or raise an error if it has no words."""
    check_words("words", words)
    if not len(words):
        raise ValueError("words is empty; expected at least one word")
    return words
