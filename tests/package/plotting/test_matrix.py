"""The matrix of a general score, set in a real browser: the weights are those of the package."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from attnbook.cards import Question, score_matrix
from attnbook.cards.card import Card, two_decimals
from attnlib import attention

WORDS, FEATURES = ["cats", "small", "kittens", "play"], ["about cats", "about being small", "for something one does"]
VECTORS = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
BEGUN = np.array([[0, 0, 4], [4, 0, 0], [0, -2, 0]])


@pytest.fixture(scope="module")
def card() -> Card:
    tried = {"query": "play", "key": "kittens", "weight": 0.6}
    return score_matrix(BEGUN, VECTORS, WORDS, FEATURES, question=Question("Which?", ["a", "b"], 1, "So.", tried))


def expect_weights(page, matrix) -> None:
    weights = attention(VECTORS @ matrix, VECTORS, VECTORS).weights
    expect(page.locator("td[style]")).to_have_text([two_decimals(weight) for weight in weights.flat])


def test_weights_follow_the_sliders(page, accessible):
    expect_weights(page, BEGUN)
    page.locator(".at-ask label").first.click()
    last, matrix = page.get_by_role("slider", name=re.compile("^words for something")), BEGUN.copy()
    for b, number in enumerate((4, 4)):
        assert page.locator(".at-came").count() == 0
        last.nth(b).fill(str(number))
        matrix[2, b] = number
        expect_weights(page, matrix)
    expect(page.locator(".at-came")).to_contain_text("b")
    expect(page.locator("[role=status].at-aloud")).to_have_text("play: cats 0.08, small 0.08, kittens 0.83, play 0.01.")
    accessible(page)
    page.get_by_role("button", name="Start again").click()
    expect_weights(page, BEGUN)
