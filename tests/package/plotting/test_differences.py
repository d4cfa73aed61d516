"""Both models learn in one card: what it says at each station, and the five differences that it lights."""

from base64 import b64decode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnbook.cards import draw_differences
from attnbook.cards.card import Card
from attnbook.cards.differences import STATIONS
from attnbook.experiments.learning import read_learning

ROWS = {"Luong": "global", "Bahdanau": "bahdanau"}
CODE = [(f"theirs({n}, s < h)", f"ours({n})") for n in range(1, 6)]


@pytest.fixture(scope="module")
def card() -> Card:
    return draw_differences(CODE, read_learning("bahdanau"), read_learning("global"))


def said_at(step: int) -> list[str]:
    """Return what a caption says of each model: how many words it gets right, and its mean greatest weight."""
    parts = []
    for row in ROWS.values():
        learned = read_learning(row)
        lengths = [len(words.split()) for words in learned["words"]]
        rows = np.frombuffer(b64decode(learned["weights"]), np.uint8).reshape(sum(lengths), -1).astype(float)
        k = learned["steps"].index(step)
        begin = sum(lengths[:k])
        beam = (rows / rows.sum(axis=1, keepdims=True))[begin : begin + lengths[k]].max(axis=1).mean()
        parts.append(f"{beam:.2f} of a lamp’s light on one word")
    return parts


def test_each_station_says_what_both_models_write_and_how_sharp_their_light_is(card, page: Page):
    back, said = page.get_by_role("button", name="one station back"), page.locator(".at-said")
    for step in reversed(STATIONS[:-1]):
        back.click()
        expect(page.locator(".at-stamp")).to_have_text(f"step {step}")
        for part in said_at(step):
            expect(said).to_contain_text(part)
    page.get_by_role("button", name="one station on").click()
    expect(page.locator(".at-stamp")).to_have_text(f"step {STATIONS[1]}")


def test_both_end_with_the_right_translation(card, page: Page):
    for title in ROWS:
        words = page.get_by_role("group", name=f"{title}: French words").get_by_role("button")
        expect(words).to_have_count(10)
        expect(words.locator("xpath=self::*[@class='at-right']")).to_have_count(10)


@pytest.mark.parametrize("wide", [1280, 390])
def test_each_difference_is_lit_in_both_halves_with_its_code(wide, card, opened, accessible):
    page = opened(card, wide=wide)
    chips = page.locator(".at-line [aria-pressed]")
    expect(chips).to_have_count(5)
    before = page.locator(".at-ink path").count()
    for n in range(5):
        chips.nth(n).click()
        expect(chips.nth(n)).to_have_attribute("aria-pressed", "true")
        assert page.locator(".at-codes code:visible").all_inner_texts() == [CODE[n][1], CODE[n][0]]
        drawn = page.locator(".at-ink path").count(), page.locator(".at-ink text").count()
        assert drawn[0] >= before + 4 or drawn[1] == 2
    page.get_by_role("group", name="Luong: French words").get_by_role("button").nth(1).click()
    expect(chips.nth(4)).to_have_attribute("aria-pressed", "true")
    accessible(page)


def test_without_scripts_the_five_differences_are_a_table(card, opened, refused):
    page = opened(card, script=False)
    assert page.locator("tbody tr").count() == 5
    assert page.locator("td code").all_inner_texts() == [line for theirs, ours in CODE for line in (ours, theirs)]
    refused(lambda: draw_differences(CODE[:1], {}, {}), "code has 1 pairs; expected 5, one for each difference")
