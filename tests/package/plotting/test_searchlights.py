"""Searchlights, watched in a real browser: what was recorded, from station to station, and lights that are moved."""

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnbook import load_pretrained
from attnbook.cards import Question, learning_film
from attnbook.cards.card import Card, two_decimals
from attnbook.cards.french import glosses
from attnbook.experiments import read_learning
from attnbook.language.sentences import vocabularies
from attnlib import encode_batch, greedy_search

QUESTION = Question("Where?", ["here", "there"], 1, "So.", {"step": 200})
STILL = {"reduced_motion": "reduce"}


@pytest.fixture(scope="module")
def learned() -> dict:
    return read_learning("bahdanau")


@pytest.fixture(scope="module")
def card(learned) -> Card:
    return learning_film(load_pretrained("bahdanau"), learned, question=QUESTION)


def words(page: Page) -> list[str]:
    return page.locator(".at-french [role=option] b").all_inner_texts()


def back(page: Page, times: int) -> None:
    for _ in range(times):
        page.get_by_role("button", name="one station back").click()


def test_every_french_word_has_a_gloss():
    assert {*vocabularies()[1].words} <= {*glosses()}
    assert [glosses()[word] for word in ("ours", "attendent", "voit", "près")] == ["bear", "wait for", "sees", "near"]


def test_each_station_is_shown_as_recorded_said_and_explained(learned, card, opened):
    page = opened(card, **STILL)
    for step, says in reversed(learned["stations"][:-1]):
        back(page, 1)
        recorded = learned["words"][learned["steps"].index(step)].split()
        assert [word.removesuffix(" …") for word in words(page)] == recorded
        expect(page.locator(".at-aloud[role=status]")).to_have_text(says.replace("*", "").replace("_", ""))
    back(page, 1)
    assert page.get_by_role("slider").get_attribute("aria-valuetext").startswith("step 0: "), "the first is the first"


def test_the_film_goes_through_all_stations_and_what_is_watched_does_not_move(learned, card, opened):
    page = opened(card, **STILL)
    page.clock.install()
    before = page.locator(".at-scene").bounding_box()
    page.get_by_role("button", name="Watch it learn this").click()
    seen = {page.locator(".at-said").inner_text()}
    for _ in range(120):
        page.clock.run_for(500)
        seen.add(page.locator(".at-said").inner_text())
    assert {says.replace("*", "").replace("_", "") for _, says in learned["stations"]} <= seen
    expect(page.get_by_role("button", name="Watch it learn this")).to_be_visible()
    expect(page.locator(".at-verdict")).to_have_text("You have seen it. What is your answer?")
    assert page.locator(".at-scene").bounding_box() == before


def test_the_model_opens_with_its_own_weights_and_writes_anew_by_the_readers_light(card, opened):
    page, model = opened(card, **STILL), load_pretrained("bahdanau")
    source = ["in", "the", "garden", "the", "black", "cat", "sees", "the", "dog"]
    weights = greedy_search(model, *encode_batch([source], model.source_vocabulary), 20).weights[0]
    option = page.get_by_role("option")
    for t, row in enumerate(weights.tolist()):
        said = option.nth(t).get_attribute("aria-label")
        assert f"on {[*source, '(end)'][int(np.argmax(row))]}" in said
        assert abs(float(said.split(": ")[1].split()[0]) - max(row)) < 0.011, two_decimals(max(row))
    option.nth(6).focus()
    option.nth(6).press("Enter")
    for _ in range(4):  # from in to black
        option.nth(6).press("ArrowUp")
    expect(option.nth(6)).to_have_attribute("aria-label", "noir, black: 0.99 of its light on black")
    assert (
        "By your light it writes the cat black sees the dog black in the garden"
        in page.locator(".at-said").inner_text()
    )
    page.get_by_role("button", name="Its own lights").click()
    assert words(page)[6] == "dans"


def test_a_light_is_dragged_to_the_word_that_the_ray_meets(card, opened):
    page = opened(card, **STILL)
    lamp, black = (
        page.get_by_role("option").nth(6).bounding_box(),
        page.get_by_text("black", exact=True).first.bounding_box(),
    )
    page.mouse.move(lamp["x"] + lamp["width"] / 2, lamp["y"] + 10)
    page.mouse.down()
    page.mouse.move(black["x"] + black["width"] / 2, black["y"] + black["height"] / 2, steps=4)
    page.mouse.up()
    expect(page.get_by_role("option").nth(6).locator("b")).to_have_text("noir")


def test_before_an_audience_it_fills_the_screen_and_goes_by_a_presenters_keys(card, opened):
    page = opened(card, **STILL)
    page.get_by_role("button", name="Present").click()
    page.wait_for_function("document.fullscreenElement")
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".at-stamp")).to_contain_text("step 300")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".at-stamp")).to_contain_text("step 335")
    night = page.locator(".at-night").bounding_box()
    assert night["width"] > 900
    assert night["height"] <= 800
