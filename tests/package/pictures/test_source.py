"""The source that a reader sees beside an equation."""

import functools

import pytest

from attnlib.decoders import BahdanauDecoder
from attnlib.pictures.source import source_of
from attnlib.scores import additive


def documented(x: int, *rest: str, sign: float = 1.0, **named: int) -> "list[int]":
    """Say nothing.

    At some length.
    """
    # why
    total = x * sign  # what

    return [total, *rest, named]


def plain(
    x: int,
    y: int = 2,
) -> int:
    # why
    return x + y


class Holder:
    """Has methods."""

    def method(self, x: int) -> int:
        """Double."""
        return 2 * x

    @staticmethod
    @functools.cache
    def decorated(x: int) -> int:
        """Double."""
        return 2 * x


def test_annotations_and_docstring_go_and_comments_stay():
    assert source_of(documented) == (
        "def documented(x, *rest, sign=1.0, **named):\n"
        "    # why\n    total = x * sign  # what\n\n    return [total, *rest, named]"
    )


def test_a_function_without_a_docstring_keeps_its_first_comment():
    assert source_of(plain) == "def plain(x, y=2):\n    # why\n    return x + y"


def test_a_method_begins_at_the_margin_and_a_decorator_is_not_shown():
    assert source_of(Holder.method) == "def method(self, x):\n    return 2 * x"
    assert source_of(Holder.decorated) == "def decorated(x):\n    return 2 * x"


def test_what_is_shown_computes_the_same():
    shown = source_of(BahdanauDecoder.step).splitlines()
    assert shown[0] == "def step(self, words, state):"
    assert shown[1] == "    (s_before,) = state.recurrent"
    compile(source_of(additive), "shown", "exec")


@pytest.mark.parametrize(
    "wrong", [len, 3, "def f(): pass", Holder, lambda x: x], ids=["builtin", "number", "text", "class", "lambda"]
)
def test_what_is_no_function_is_refused(wrong, refused):
    refused(lambda: source_of(wrong), TypeError, "function is .*; expected a function or a method")
