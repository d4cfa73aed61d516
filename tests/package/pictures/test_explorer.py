"""The attention explorer, touched in a real browser: what it shows, says, weighs and asks for."""

import json
import re

import numpy as np
import pytest
import torch
from lxml import html
from playwright.sync_api import Page, expect

from attnlib.attention import masked_softmax
from attnlib.pictures.cards import LARGEST, Card, two_decimals
from attnlib.pictures.figures import explore

SOURCE = ["the", "small", "cat", "that", "sleeps", "sees", "Mary"]
TARGET = ["le", "petit", "chat", "qui", "dort", "voit", "Marie"]
FEWER = TARGET[:5]
AWAY = np.arange(7) - np.arange(7)[:, None]
GLOBAL = masked_softmax(np.random.default_rng(0).normal(size=(7, 7)) - AWAY**2)
GLOBAL[6] = 0.125, 0.285, 0.005, 0.015, 0.57, 0, 0  # halves, which Python's own rounding would not always round up
NEAR = (GLOBAL * np.exp(-(AWAY**2)) * (abs(AWAY) < 3))[:5]  # these do not sum to 1
NASTY = ["<b>&\"'</b>", "</script><script>boom()</script>", "日本語日本語", "$x$", "\\(x\\)", "a b", "é"]


@pytest.fixture(scope="module")
def card() -> Card:
    return explore({"global": GLOBAL, "local-p": NEAR}, SOURCE, {"global": TARGET, "local-p": FEWER})


def status(page: Page) -> str:
    return page.locator("[role=status]").inner_text()


def word(page: Page, name: str):
    return page.get_by_role("option", name=name, exact=True)


def shown(page: Page) -> list[str]:
    """Read the numbers that stand beside the source words."""
    return page.locator(".attnlib-behind text").all_text_contents()


def body(page: Page) -> list[list[str]]:
    rows = page.locator("tbody tr").all()
    return [row.locator("th, td").all_text_contents() for row in rows]


def printed(weights) -> list[str]:
    return [f"{w:.2f}" if w else "0" for w in weights]


def test_it_is_small_asks_for_nothing_has_no_id_and_is_the_same_every_time(card):
    assert len(card.html.encode()) < LARGEST
    assert not re.search(r"\sid=|url\(|@import|(src|href)=", card.html)
    assert set(re.findall(r"https?://[^\"'\s]+", card.html)) <= {"http://www.w3.org/2000/svg"}
    weights = torch.tensor(GLOBAL)
    assert explore({"a": GLOBAL}, SOURCE, TARGET).html == explore({"a": weights}, SOURCE, TARGET).html
    assert torch.equal(weights, torch.tensor(GLOBAL)), "nothing is written into what is given"


def test_the_data_are_the_weights_to_four_decimals(card):
    (data,) = html.fromstring(card.html).xpath("//script[@type='application/json']/text()")
    for variant, weights in zip(json.loads(data)["variants"], (GLOBAL, NEAR), strict=True):
        np.testing.assert_allclose(np.array(variant["weights"]) / 10_000, weights, rtol=0, atol=0.5001e-4)


def test_the_script_draws_what_stood_there_before_it(card, opened):
    drawn = [opened(card, script=script) for script in (False, True)]
    for where in (".attnlib-links", "table"):
        before, after = (re.sub(r"\s*\n\s*", "", page.locator(where).inner_html()) for page in drawn)
        assert before == after
    words = [page.locator(".attnlib-target text").all() for page in drawn]
    places = [[(w.text_content(), w.get_attribute("x"), w.get_attribute("y")) for w in page] for page in words]
    assert places[0] == places[1]


def test_keys_step_through_the_words(card, opened):
    page = opened(card)
    word(page, "le").focus()
    for key, expected in [
        ("ArrowDown", "petit"),
        ("ArrowRight", "chat"),
        ("ArrowUp", "petit"),
        ("ArrowLeft", "le"),
        ("ArrowUp", "le"),
        ("End", "Marie"),
        ("ArrowDown", "Marie"),
        ("Home", "le"),
    ]:
        page.keyboard.press(key)
        expect(word(page, expected)).to_be_focused()
        assert page.locator("[aria-selected=true]").get_attribute("aria-label") == expected
        assert page.locator("[role=option][tabindex='0']").count() == 1
        assert f"“{expected}”" in status(page)
    page.keyboard.press("x")
    assert "“le”" in status(page)
    page.keyboard.press("Escape")
    assert "Choose a word" in status(page)


def test_variants_switch_and_keep_the_word(card, opened):
    page = opened(card)
    word(page, "chat").click()
    page.mouse.move(2, 2)
    for name, weights, target in [("local-p", NEAR, FEWER), ("global", GLOBAL, TARGET)]:
        page.get_by_role("button", name=name).click()
        assert page.locator("[aria-pressed=true]").all_text_contents() == [name]
        assert shown(page) == printed(weights[2].round(4))
        assert [row[1:] for row in body(page)] == [[two_decimals(w) for w in row] for row in weights.round(4)]
        assert [row[0] for row in body(page)] == target
        assert page.locator("caption").text_content().startswith(name)
        total = f"The weights sum to {two_decimals(weights[2].round(4).sum())}."
        assert (total in status(page)) == (name == "local-p")
    word(page, "Marie").click()
    page.get_by_role("button", name="local-p").click()
    assert f"Word 5 of 5, “{FEWER[-1]}”" in status(page), "where there is no seventh"


def test_words_are_words_whatever_is_in_them(opened):
    page = opened(explore({NASTY[1]: GLOBAL, NASTY[0]: GLOBAL}, NASTY, NASTY))
    for where in (".attnlib-source text", ".attnlib-target text"):
        assert page.locator(where).all_text_contents() == NASTY
    assert page.locator("thead th").all_text_contents()[1:] == NASTY
    assert [button.text_content() for button in page.locator("[aria-pressed]").all()] == [NASTY[1], NASTY[0]]


def pale_texts(page: Page) -> list[str]:
    """Find words in pictures whose contrast with white, or with the dark blue of a chosen word, is below 4.5 to 1."""
    return page.evaluate("""() => {
        const light = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(c => c / 255)
            .map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
            .reduce((sum, c, n) => sum + c * [.2126, .7152, .0722][n], 0);
        const contrast = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        return [...document.querySelectorAll("svg text")].filter(text => {
            const box = text.closest("[aria-selected=true]")?.querySelector("rect");
            return contrast(light(getComputedStyle(text).fill), box ? light(getComputedStyle(box).fill) : 1) < 4.5;
        }).map(text => text.textContent);
    }""")


@pytest.mark.parametrize("hostile", [False, True])
@pytest.mark.parametrize("wide", [1280, 390])
def test_it_is_accessible_and_nothing_is_cut_off(card, opened, accessible, hostile, wide):
    page = opened(card, hostile=hostile, wide=wide)
    page.locator("summary").click()
    page.get_by_role("button", name="local-p").click()
    word(page, "chat").click()
    assert pale_texts(page) == []
    accessible(page)
    outside = page.evaluate("""() => [...document.querySelectorAll("svg text")].filter(text => {
        const box = text.getBBox(), view = text.ownerSVGElement.viewBox.baseVal;
        return box.x < 0 || box.y < 0 || box.x + box.width > view.width || box.y + box.height > view.height;
    }).map(text => text.textContent)""")
    assert outside == []


def test_it_starts_when_put_into_a_page_as_jupyterlab_does(card, opened):
    page = opened(card, later=True)
    word(page, "chat").hover()
    assert "“chat”" in status(page)
    keys = page.locator("button, input, summary, [tabindex]").all()
    assert {one.get_attribute("data-lm-suppress-shortcuts") for one in keys if one.is_visible()} == {"true"}


ONE = {"a": GLOBAL}


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: explore(GLOBAL, SOURCE, TARGET), TypeError, "weights is a ndarray; expected for each title its numb"),
        (lambda: explore({1: GLOBAL}, SOURCE, TARGET), TypeError, "a title of weights is 1; expected a str"),
        (lambda: explore(ONE, SOURCE, {"b": TARGET}), ValueError, "target has no words for 'a'"),
        (lambda: explore(ONE, SOURCE, TARGET[:3]), ValueError, r"a'\] has shape \(7, 7\); expected \(3, 7\), \(target"),
        (lambda: explore({"a": -GLOBAL}, SOURCE, TARGET), ValueError, r"weights\['a'\] holds -.*from 0 to 1"),
        (lambda: explore({"a": GLOBAL * np.nan}, SOURCE, TARGET), ValueError, "holds nan"),
        (lambda: explore(ONE, SOURCE, TARGET, largest=99), ValueError, "expected at most 99: show fewer words"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, says, refused):
    refused(call, error, says)
