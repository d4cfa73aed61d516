"""The step player, told as a story in a real browser: six phases, their order, their numbers, another word before."""

import pytest
from playwright.sync_api import Locator, Page, expect

from attnbook import load_pretrained
from attnbook.cards import Question, step_player
from attnbook.cards.card import Card, two_decimals
from attnlib import EncoderDecoder, encode_batch, greedy_search

SENTENCE = "the black cat sleeps"
QUERY_FIRST = ["query", "scores", "softmax", "context", "word", "state"]
MOVES_FIRST = ["state", *QUERY_FIRST[:-1]]


@pytest.fixture(scope="module")
def models() -> dict[str, EncoderDecoder]:
    return {"Bahdanau": load_pretrained("bahdanau"), "Luong": load_pretrained("global")}


@pytest.fixture(scope="module")
def card(models) -> Card:
    question = Question("Whose?", ["his", "theirs"], 1, "So.", {})
    return step_player(models, SENTENCE, step=2, previous=["beau"], question=question)


def said(page: Page) -> str:
    return page.locator("[role=status].at-aloud").inner_text()


def player(page: Page):
    return page.get_by_role("group", name="The step")


def words(page: Page) -> Locator:
    return page.locator(".at-written").get_by_role("option")


def phases(page: Page) -> list[str]:
    return page.locator(".at-phases li").evaluate_all("all => all.map(one => one.dataset.key)")


def switch(page: Page, title: str) -> None:
    page.get_by_role("radio", name=title).check(force=True)
    first = {"Bahdanau": "query", "Luong": "state"}[title]
    expect(page.locator(".at-phases li").first).to_have_attribute("data-key", first)  # a model takes time to open


def test_the_phases_have_the_models_own_numbers(models, page):
    player(page).press("Home")
    for title, model in models.items():
        switch(page, title)
        ids, lengths = encode_batch([SENTENCE.split()], model.source_vocabulary)
        weights = greedy_search(model, ids, lengths, 20).weights[0, 2].tolist()
        written = model.target_vocabulary.decode(greedy_search(model, ids, lengths, 20).ids[0])
        expect(words(page)).to_have_text([*written, "(end)"])
        expect(page.locator("[data-made=softmax] text")).to_have_text([two_decimals(x) for x in weights])
        likely = page.locator("[data-made=word] .at-start").first
        assert likely.text_content() == written[2]
        frames = page.locator("[data-lit='scores context'] .at-frame").count()
        assert frames == len(weights), "an annotation for each word"


def test_it_goes_through_the_phases_in_each_models_order_and_says_them(page):
    player(page).press("ArrowRight")
    expect(page.locator("[aria-current=step]")).to_have_text("1. The old state is the queryquery")
    assert phases(page) == QUERY_FIRST
    for number in range(2, 7):
        player(page).press("ArrowRight")
        assert said(page).startswith(f"Phase {number} of 6. ")
    assert "s₃ has read chat; it is the query of the next step." in said(page)
    player(page).press("ArrowRight")
    assert said(page).startswith("Phase 6 of 6."), "the last phase is the last"
    switch(page, "Luong")
    assert phases(page) == MOVES_FIRST
    assert said(page).startswith("Phase 1 of 6. The state moves first. Equation 3.2."), "the same phase, elsewhere"
    player(page).press("End")
    made = page.locator(".at-part:not(.at-made):not(.at-wire)")
    assert made.count() == 0
    player(page).press("Home")
    assert made.count() > 0, "what is to come is not there yet"


def test_another_word_before_moves_luongs_weights_and_bahdanaus_only_a_step_later(page):
    player(page).press("Home")
    page.get_by_label("word before").select_option("beau")
    assert "As they were: the query has not read beau." in said(page)
    expect(words(page)).to_have_text(["le", "beau", "noir", "dort", "(end)"])
    assert page.get_by_text("Now the same in the model of Luong.").first.is_visible()
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_timeout(100)
    assert said(page).count("Now the same") == 1, "another size says nothing again"
    words(page).nth(3).click()
    assert "Not as they were (dotted)" in said(page)
    words(page).nth(2).click()
    switch(page, "Luong")
    page.get_by_label("word before").select_option("beau")
    assert "1.00 for cat. Not as they were (dotted): the state has read beau." in said(page)
    page.locator(".at-ask label").first.click()
    expect(page.locator(".at-came")).to_have_count(1)
    page.get_by_label("word before").select_option("chat")
    expect(words(page)).to_have_text(["le", "chat", "noir", "dort", "(end)"])


def test_it_plays_to_the_end_of_the_sentence_and_any_step_stops_it(page):
    page.clock.install()
    play = page.get_by_role("button", name="Play")
    player(page).press("End")
    words(page).nth(3).click()
    play.click()
    for _ in range(4):
        page.clock.run_for(2400)
    expect(words(page).nth(4)).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="back one phase").click()
    expect(play).to_be_visible()
    player(page).press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    for _ in range(9):
        page.clock.run_for(2400)
    expect(play).to_be_visible()
    page.get_by_role("button", name="on one phase").click()
    assert said(page).startswith("Phase 6 of 6."), "the end is the end"
    play.click()
    expect(words(page).first).to_have_attribute("aria-selected", "true")
    assert said(page).startswith("Phase 1 of 6.")


def test_words_are_chosen_by_keys(page):
    words(page).nth(2).press("ArrowDown")
    expect(words(page).nth(3)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(words(page).nth(1)).to_have_attribute("aria-selected", "true")
