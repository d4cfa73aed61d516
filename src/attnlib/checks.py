"""What more than one function refuses: each kind of wrong argument in one place.

A check raises an error that names the argument, says what it was and what was expected.
"""

from collections.abc import Collection, Sequence
from math import isfinite
from numbers import Integral, Real
from typing import Any

from jaxtyping import Int

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


def check_range(least: int, most: int | float, /, **numbers: Int[Array, "..."]) -> None:
    """Refuse an empty tensor, and one whose numbers are out of a range; on a GPU, where a look would wait, none."""
    for name, x in numbers.items():
        if not x.numel():
            raise ValueError(f"{name} has shape {tuple(x.shape)}; expected at least one number")
        if x.device.type != "cpu":
            continue
        low, high = int(x.min()), int(x.max())
        if low < least or high > most:
            raise ValueError(f"{name} holds {low if low < least else high}; expected numbers from {least} to {most}")


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


def check_vocabularies(model: Any) -> None:
    """Refuse a model that does not know which number is which word."""
    if model.source_vocabulary is None or model.target_vocabulary is None:
        raise ValueError("model has no vocabularies; expected a model with both")
