"""The plane, told as a story in a real browser: attention is that of the package wherever the points are."""

import math
import re

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from attnbook.cards import Question, query_plane
from attnbook.cards.card import Card, two_decimals
from attnlib import attention

WINDS = ["east", "north", "west", "south"]
WIND_KEYS = 2 * np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]])
BRINGS = np.array([[8, 35], [2, 55], [9, 85], [25, 60]])
ASKED = 0.5 * np.array([math.cos(math.pi / 6), math.sin(math.pi / 6)])
NAMES = [("temperature", "°C"), ("humidity", "%")]


@pytest.fixture(scope="module")
def card() -> Card:
    question = Question("Where?", ["straight", "by a bend"], 1, "So.", {"length": 2.7})
    return query_plane(ASKED, WIND_KEYS, BRINGS, WINDS, names=NAMES, question=question)


def point(page, name: str) -> np.ndarray:
    text = page.get_by_role("slider", name=name).get_attribute("aria-valuetext")
    steps = re.findall(r"(\d+\.\d+) (?:to the )?(\w+)", text)
    return np.array([-float(x) if way in ("left", "down") else float(x) for x, way in steps])


def said(page) -> Locator:
    return page.locator("[role=status].at-aloud")


def computed(query, keys, scale=None) -> str:
    output = attention(query[None], keys, BRINGS, scale=scale)
    weights = ", ".join(f"{w} {two_decimals(x)}" for w, x in zip(WINDS, output.weights[0], strict=True))
    return f"{weights}. The answer: {output.context[0, 0]:.1f} °C, {output.context[0, 1]:.1f} %."


def test_weights_and_answer_are_those_of_the_package(page):
    expect(said(page)).to_have_text(computed(ASKED, WIND_KEYS))
    query = page.get_by_role("slider", name="query")
    for key in ("ArrowRight", "ArrowUp", "ArrowUp", "Shift+ArrowLeft"):
        query.press(key)
    moved = ASKED + np.array([0.1 - 0.02, 0.2])
    np.testing.assert_allclose(point(page, "query"), moved, atol=0.0051)
    expect(said(page)).to_have_text(computed(moved, WIND_KEYS))
    page.get_by_role("slider", name="key of north").press("ArrowLeft")
    keys = WIND_KEYS + np.array([[0, 0], [-0.1, 0], [0, 0], [0, 0]])
    expect(said(page)).to_have_text(computed(moved, keys))
    scale = page.get_by_label("scale of the scores")
    scale.press("End")
    assert scale.get_attribute("aria-valuetext") == "10.00", "not its logarithm"
    expect(said(page)).to_have_text(computed(moved, keys, scale=10.0))
    page.get_by_role("button", name="Start again").click()
    expect(said(page)).to_have_text(computed(ASKED, WIND_KEYS))


def test_a_point_follows_the_mouse_and_stays_in_the_plane(page):
    knob, box = page.locator(".at-knob").last.bounding_box(), page.locator(".at-plane").bounding_box()
    page.mouse.move(knob["x"] + 5, knob["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 2, box["y"] + 2, steps=5)
    page.wait_for_timeout(600)
    held = said(page).inner_text()
    page.mouse.up()
    assert held == computed(ASKED, WIND_KEYS), "nothing is said before the hand lets go"
    np.testing.assert_allclose(point(page, "query"), 3 * np.array([-1, 1]) / math.sqrt(2), atol=0.1)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.locator(".at-handle").count() == 5


def test_plus_with_shift_moves_as_far_as_minus(page):
    query = page.get_by_role("slider", name="query")
    query.press("Shift++")
    np.testing.assert_allclose(np.linalg.norm(point(page, "query")), 0.6, atol=0.0051)
    query.press("-")
    np.testing.assert_allclose(point(page, "query"), ASKED, atol=0.0051)


def test_many_features_without_the_root_saturate_the_softmax_and_the_root_helps(page):

    def response() -> float:
        text = page.locator("p", has_text="responds by").inner_text()
        return float(re.search(r"p\(1 − p\) = (\d\.\d\d)", text)[1])

    features, root = page.get_by_label("number of features"), page.get_by_role("checkbox")
    for _ in range(7):
        features.press("ArrowRight")
    assert features.get_attribute("aria-valuetext") == "256", "not the power of two"
    assert page.get_by_text("The plane shows 2 of 256 features.").is_visible()
    with_root = response()
    root.uncheck()
    assert response() == 0
    assert with_root > 0.1
