"""What all cards have in common, and what they refuse."""

import numpy as np
import pytest
import torch
from hatchling.builders.wheel import WheelBuilder

from attnlib.pictures.cards import (
    card,
    checked_mapping,
    checked_numbers,
    checked_text,
    checked_words,
    table,
    two_decimals,
    width,
    words_by_title,
)


@pytest.mark.parametrize(("number", "text"), [(0.125, "0.13"), (0.285, "0.28"), (0.994, "0.99"), (2, "2.00")])
def test_two_decimals_round_as_the_script_does(number, text, browser):
    assert two_decimals(number) == text
    page = browser.new_page()
    assert page.evaluate("n => (Math.floor(100 * n + 0.5) / 100).toFixed(2)", number) == text
    page.close()


def test_wide_letters_get_room():
    assert width(["日本語"]) == width(["ABCDEF"]) > width(["ABC", "A"])


def test_scripts_and_styles_are_in_the_wheel(root):
    packed = {file.distribution_path for file in WheelBuilder(str(root)).recurse_included_files()}
    kinds = ("explorer", "sharpening", "live")
    assert {f"attnlib/pictures/{kind}.{ending}" for kind in kinds for ending in ("css", "js")} <= packed
    assert {"attnlib/pictures/cards.css", "attnlib/pictures/recurrent.js"} <= packed


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (
            lambda: card("clock", "", ""),
            ValueError,
            "kind is 'clock'; expected one with a style and a script, clock.css",
        ),
        (lambda: card("explorer", "x" * 40_000, ""), ValueError, "would take .* bytes; expected at most 40000"),
        (lambda: checked_words("ab", "source"), TypeError, "source is 'ab'; expected a sequence of words"),
        (lambda: checked_words(["a", 1], "source"), TypeError, r"source\[1\] is 1; expected a word"),
        (lambda: checked_numbers([[1], [1, 2]], "x"), TypeError, "x is a list that is no array"),
        (lambda: checked_numbers([1j], "x"), TypeError, "x is a list and holds complex128; expected numbers"),
        (lambda: checked_numbers(torch.ones(2, requires_grad=True), "x"), TypeError, "x is a Tensor that is no array"),
        (lambda: checked_mapping([1], "x", "title"), TypeError, "x is a list; expected for each title its numbers"),
        (lambda: checked_mapping({}, "x", "title"), ValueError, "x is empty; expected at least one title"),
        (lambda: words_by_title({"b": ["a"]}, ["a"]), ValueError, "target has no words for 'a'"),
        (lambda: words_by_title({"a": []}, ["a"]), ValueError, r"target\['a'\] is empty"),
        (lambda: checked_text(3, "unit"), TypeError, "unit is 3; expected a str"),
        (lambda: width([]), ValueError, "words is empty; expected at least one word"),
        (lambda: two_decimals(np.nan), ValueError, "number is nan; expected a finite one"),
        (lambda: table("c", ["a", "b"], [["1"]]), ValueError, r"rows\[0\] has 1 cells; expected 2, as many as head"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, says, refused):
    refused(call, error, says)
