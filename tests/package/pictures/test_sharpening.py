"""The sliding picture, touched in a real browser: its numbers at every stop."""

import re

import numpy as np
import pytest
from lxml import html

from attnlib.attention import masked_softmax
from attnlib.pictures.cards import Card, two_decimals
from attnlib.pictures.figures import sharpen

WINDS, TEMPERATURES = ["east", "north", "west", "south"], np.array([8, 2, 9, 25])
WIND_SCORES = np.array([0.75**0.5, 0.5, -(0.75**0.5), -0.5])


@pytest.fixture(scope="module")
def slide() -> Card:
    return sharpen(WIND_SCORES, TEMPERATURES, WINDS, unit="degrees")


def status(page) -> str:
    return page.locator("[role=status]").inner_text()


def test_sliding_moves_weights_and_answer(slide, opened):
    page = opened(slide)
    slider = page.get_by_label("sharpness")
    slider.focus()
    for key, sharpness in [("Home", 0), ("ArrowRight", 0.1), ("End", 100)]:
        page.keyboard.press(key)
        weights = masked_softmax(sharpness * WIND_SCORES).round(4)
        answer = two_decimals(masked_softmax(sharpness * WIND_SCORES) @ TEMPERATURES)
        assert page.locator(".attnlib-weight").all_text_contents() == [two_decimals(w) for w in weights]
        bars = [float(bar.get_attribute("width")) for bar in page.locator(".attnlib-bar").all()]
        np.testing.assert_allclose(bars, 80 * weights, atol=0.006)
        assert page.locator(".attnlib-answer").text_content() == answer
        assert slider.get_attribute("aria-valuetext") == f"{sharpness:g}"
        assert page.locator("tr[aria-current=true] th").text_content() == f"{sharpness:g}"
        assert f"Sharpness {sharpness:g}: east" in status(page)
        assert f"The answer is {answer} degrees." in status(page)


def test_the_static_picture_is_the_one_of_the_start(slide, opened):
    pages = [opened(slide, script=script) for script in (False, True)]
    one = ".attnlib-picture svg"
    drawn = [re.sub(r"<desc>.*?</desc>", "", page.locator(one).inner_html()) for page in pages]
    assert drawn[0] == drawn[1]
    assert pages[0].locator(".attnlib-shown").is_visible()
    assert not pages[1].locator(".attnlib-shown").is_visible()


def test_the_table_holds_every_stop(slide):
    rows = [[*map(float, row.xpath("*/text()"))] for row in html.fromstring(slide.html).xpath("//tbody/tr")]
    assert [row[0] for row in rows[:4]] == [0, 0.1, 0.13, 0.16]
    assert {1, 10, 100} <= {row[0] for row in rows}
    for stop, *weights, answer in rows:
        expected = masked_softmax(stop * WIND_SCORES)
        np.testing.assert_allclose(weights, expected, atol=0.5001e-4)
        assert answer == pytest.approx(expected @ TEMPERATURES, abs=0.5001e-4)


def test_values_may_all_be_equal(opened):
    page = opened(sharpen(np.array([1.0, 2.0]), np.array([3, 3]), ["a", "b"]))
    assert page.locator("label b").inner_text() == "1"
    assert "The answer is 3.00." in status(page)
    assert page.locator("thead th").last.text_content() == "answer"


@pytest.mark.parametrize("wide", [1280, 390])
def test_it_is_accessible_and_says_what_it_is(slide, opened, accessible, wide):
    page = opened(slide, wide=wide)
    page.locator("summary").click()
    accessible(page)
    assert repr(slide) == "Softmax of 4 scores, sharpness 0 to 100"


def slid(scores=(1, 2), values=(1, 2), words=("a", "b"), **options):
    return sharpen(scores, values, words, **options)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: slid([1]), ValueError, r"scores has shape \(1,\); expected \(2,\), one number per word"),
        (lambda: slid([1, 1e307]), ValueError, r"scores holds 1e\+307; expected numbers of at most"),
        (lambda: slid(values=[1, np.inf]), ValueError, "values holds inf; expected numbers of at most"),
        (lambda: slid(values=[-1e308, 1]), ValueError, r"values holds -1e\+308"),
        (lambda: slid(unit=None), TypeError, "unit is None; expected a str"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, says, refused):
    refused(call, error, says)
