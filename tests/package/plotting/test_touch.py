"""What all cards promise, in a real browser: what they are made of, who can read them, what stands without scripts."""

import re
from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from attnbook import load_pretrained, sample
from attnbook.cards import (
    Question,
    attention_demo,
    attention_explorer,
    learning_film,
    model_comparison,
    query_plane,
    score_matrix,
    step_player,
)
from attnbook.cards.card import Card, without_assets
from attnbook.experiments import read_learning
from attntext.page import page_of

from .conftest import three_models

STORED = 60_000  # bytes
SENTENCE = "the man sees the european economic area"
CHOICES = ["*one*", "_deux_ & <b>"]


def asks(tried: dict) -> Question:
    return Question("Is *it* _vrai_?", CHOICES, 1, "It *is*.\n\nSo <b>.", tried)


def demo() -> Card:
    model = load_pretrained("bahdanau")
    return attention_demo({"B": model}, SENTENCE, question=asks({"target": "économique", "source": "european"}))


def two_models() -> Card:
    models = {name: load_pretrained(name) for name in ("local-p", "no-attention")}
    return attention_demo(models, SENTENCE, question=asks({"hidden": ["european"]}))


def explorer() -> Card:
    weights = np.random.default_rng(0).dirichlet(np.ones(5), 4)
    return attention_explorer(
        {"a": weights, "<b>": weights[:3]},
        list("vwxyz"),
        {"a": ["$x$", "\\(x\\)", "</script>", "é"], "<b>": ["1", "2", "3"]},
        question=asks({}),
    )


def plane() -> Card:
    keys, values = np.eye(2), np.array([[1.0, 2], [3, -4]])
    return query_plane(np.array([0.5, 0.25]), keys, values, ["<i>", "b"], question=asks({"length": 2.5}))


def matrix() -> Card:
    question = asks({"query": "<i>", "key": "b", "weight": 0.6})
    return score_matrix(np.zeros((2, 2)), np.eye(2), ["<i>", "b"], ["&", "c"], question=question)


def player() -> Card:
    models = {"B": load_pretrained("bahdanau"), "L": load_pretrained("global")}
    return step_player(models, "the black cat sleeps", step=2, previous=["beau"], question=asks({}))


def comparison() -> Card:
    growing = [sample(2, seed, [1], part="test", reordering=0) for seed in (1, 2)]
    return model_comparison(three_models(), growing, length=1)


def lamps() -> Card:
    return learning_film(load_pretrained("bahdanau"), read_learning("bahdanau"), question=asks({"step": 200}))


def page_of_subwords() -> str:
    return page_of(load_pretrained("enfr-subwords"), "enfr", beam_size=5, max_length=20)


def press(page: Page, name: str, key: str, *, role: str = "slider", times: int = 1) -> None:
    for _ in range(times):
        page.get_by_role(role, name=name).press(key)


def choose(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name, exact=True).check(force=True)


def answer_player(page: Page) -> None:
    press(page, "The step", "Home", role="group")
    for model in ("B", "L"):
        choose(page, model)
        page.get_by_label("word before").select_option("beau")


def watch(page: Page) -> None:
    press(page, "one station back", "Enter", role="button", times=5)
    press(page, "one station on", "Enter", role="button")


def use_page(page: Page) -> None:
    page.get_by_role("textbox").fill("the european cat sleeps, xyz")
    press(page, "european", "Enter")
    expect(page.locator(".at-hidden")).to_have_count(1)
    other = page.get_by_role("button", name="probability").nth(1)
    word = other.inner_text().split()[0]
    other.press("Enter")
    expect(page.get_by_role("option", name="chosen")).to_have_text(word)


# Each: the card, how its question is answered, and a row of its table.
CARDS = {
    "demo": (demo, lambda page: press(page, "european", "End"), "économique"),
    "two models": (two_models, lambda page: press(page, "european", "Enter"), "zone"),
    "explorer": (explorer, lambda page: choose(page, "<b>"), "é"),
    "matrix": (matrix, lambda page: press(page, "words & look for words c", "End"), "<i>"),
    "plane": (plane, lambda page: press(page, "query", "+", times=25), "<i>"),
    "player": (player, answer_player, "sleeps"),
    "searchlights": (lamps, watch, "dans"),
}
ALL = CARDS | {
    "page": (page_of_subwords, use_page, None),
    "comparison": (comparison, lambda page: press(page, "next word, in all models", "Enter", role="button"), None),
}


@pytest.fixture(scope="module")
def cards() -> dict[str, Card | str]:
    return {name: make() for name, (make, *_) in ALL.items()}


@pytest.mark.parametrize("name", CARDS)
def test_a_notebook_stores_little_of_it_without_ids_and_the_same_every_time(name, cards):
    card = cards[name]
    stored = without_assets(card.html)
    assert len(stored.encode()) < STORED
    assert without_assets(stored) == stored
    assert not re.search(r"<style|<script>|data-model|base64", stored)
    assert not re.search(r"\sid=|url\(|@import|\s(src|href)=", card.html)
    assert CARDS[name][0]().html == card.html


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("name", CARDS)
def test_without_scripts_it_is_a_table_with_its_question_and_answer(name, stored, cards, opened):
    html = cards[name].html
    page = opened(Card(without_assets(html) if stored else html, ""), script=False)
    assert page.get_by_role("rowheader", name=CARDS[name][2], exact=True).is_visible()
    assert page.get_by_role("radio").count() == len(CHOICES)
    page.get_by_text("What happens, and why").click()
    assert "It is." in page.locator("details").inner_text()


@pytest.mark.parametrize("name", ALL)
def test_in_the_oldest_browsers_it_works_in_color(name, cards, opened):
    page = opened(cards[name], old=True)
    for option in page.locator(".at-ask label").all():
        option.click()
    ALL[name][1](page)
    expect(page.locator(".at-came")).to_have_count(int(name in CARDS))
    expect(page.get_by_role("alert")).to_have_count(0)
    colors = """() => ["--ink", "--paper", "--weight", "--focus"].map(name => {
        document.body.style.color = getComputedStyle(document.querySelector(".attnlib-card")).getPropertyValue(name);
        return getComputedStyle(document.body).color;
    })"""
    assert page.evaluate(colors) == ["rgb(26, 26, 26)", "rgb(255, 255, 255)", "rgb(0, 114, 178)", "rgb(11, 79, 138)"]
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(colors)[0] == "rgb(232, 232, 232)"


@pytest.mark.parametrize(
    ("name", "broken"), [*zip(ALL, ["exp", "exp", "min", "exp", "hypot", "exp", "log1p", "exp", "tanh"], strict=True)]
)
def test_what_fails_while_it_is_touched_gets_a_sentence(name, broken, cards, opened):
    page = opened(cards[name])
    page.evaluate(f"void (Math.{broken} = () => {{ throw new TypeError('made up'); }})")
    first = {
        "page": lambda page: page.get_by_role("textbox").fill("the cat"),
        "player": lambda page: press(page, "The step", "Home", role="group"),
        "comparison": lambda page: press(page, "Grow", "Enter", role="button"),
    }
    first.get(name, ALL[name][1])(page)
    expect(page.get_by_role("alert")).to_have_text(
        "This card cannot compute: made up. What stands here stays as it was."
    )


@pytest.mark.parametrize(("name", "guess"), [*((name, 1) for name in CARDS), ("plane", 0)])
def test_what_was_guessed_is_judged_when_it_has_been_tried_by_keys(name, guess, cards, opened):
    page = opened(cards[name])
    options = page.locator(".at-ask label")
    assert [re.sub(r"\s+", " ", text).strip() for text in options.all_inner_texts()] == ["one", "deux & <b>"]
    options.nth(guess).click()
    assert not page.get_by_text("It is.").is_visible()
    CARDS[name][1](page)
    expect(options.nth(1)).to_contain_text("came out")
    said = "As you guessed." if guess else "Not as you guessed."
    expect(page.locator(".at-verdict")).to_have_text(f"{said} Why: below.")
    assert page.get_by_text("It is.").is_visible()
    assert "came out" not in options.nth(0).inner_text()


def test_who_has_not_guessed_may_still_do_it(cards, opened):
    page = opened(cards["plane"])
    CARDS["plane"][1](page)
    expect(page.locator(".at-verdict")).to_have_text("You have seen it. What is your answer?")
    assert not page.get_by_text("It is.").is_visible()
    page.locator(".at-ask label").nth(0).click()
    expect(page.locator(".at-verdict")).to_have_text("Not as you guessed. Why: below.")
    assert page.get_by_text("It is.").is_visible()


# The words of a row are small, and buttons choose them too.
SMALL = """() => [...document.querySelectorAll("button, input, select, summary, [tabindex], label")].filter(node => {
    const { width, height } = node.getBoundingClientRect();
    return width && Math.min(width, height) < 23.5 && !node.closest("label, .at-aloud, .at-cells");
}).map(node => node.outerHTML.slice(0, 90))"""


DARK = {"color_scheme": "dark"}


@pytest.mark.parametrize("how", [{"hostile": True}, DARK, DARK | {"wide": 390}, {"wide": 320}])
@pytest.mark.parametrize("name", ALL)
def test_it_fits_is_accessible_and_with_reduced_motion_stands_still(name, how, cards, opened, accessible):
    page = opened(cards[name], **how)
    assert page.evaluate(SMALL) == []
    accessible(page)
    page.emulate_media(reduced_motion="reduce")
    for option in page.locator(".at-ask label").all():
        option.click()
    ALL[name][1](page)
    expect(page.locator(".at-came")).to_have_count(int(name in CARDS))
    assert page.evaluate("document.getAnimations().filter(one => one.playState === 'running').length") == 0
    accessible(page)


def brightness(part: Locator) -> float:
    return plt.imread(BytesIO(part.screenshot())).mean()


CHOSEN = ".at-switch label:first-child", ".at-switch label:last-child"
SEEN = dict.fromkeys(ALL, CHOSEN) | {
    "demo": (".at-col:nth-child(5) .at-bar", ".at-col:nth-child(1) .at-bar"),
    "matrix": (".at-both > :last-child tr:first-child td:nth-child(3)", "tr:first-child td[style]:nth-child(2)"),
    "plane": (".at-row:nth-child(1) .at-track", ".at-row:nth-child(2) .at-track"),
    "searchlights": (".at-go", ".at-go + button"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [name for name in ALL if name != "comparison"])  # it is a table there
def test_in_forced_colors_what_has_a_meaning_is_seen(name, scheme, cards, opened, accessible):
    """The browser takes all backgrounds away, but those that a card draws in the reader's own colors."""
    page = opened(cards[name], color_scheme=scheme, forced_colors="active", reduced_motion="reduce")
    if SEEN[name] != CHOSEN:
        CARDS[name][1](page)
    page.evaluate("document.activeElement.blur()")
    much, little = (brightness(page.locator(part)) for part in SEEN[name])
    assert (little - much if scheme == "light" else much - little) > 0.1
    accessible(page)


def test_on_paper_it_is_light_in_a_dark_book_too(cards, opened):
    page = opened(cards["plane"])
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    color = "getComputedStyle(document.querySelector('.attnlib-card')).color"
    assert page.evaluate(color) == "rgb(232, 232, 232)"
    page.emulate_media(media="print")
    assert page.evaluate(color) == "rgb(26, 26, 26)"


@pytest.mark.parametrize("name", CARDS)
def test_two_share_a_page_into_which_jupyterlab_puts_them(name, cards, opened, accessible):
    page = opened(cards[name], cards[name], later=True)
    expect(page.locator("[data-ready][data-lm-suppress-shortcuts]")).to_have_count(2)
    for guess in page.locator(".at-ask label:first-child").all():
        guess.click()
    assert page.locator(".at-ask :checked").count() == 2, "each has its own guess"
    accessible(page)


@pytest.mark.parametrize("name", ["demo", "player"])
def test_what_a_model_needs_and_lacks_gets_a_sentence_and_the_picture_stays(name, cards, opened):
    whole = cards[name].html
    without = re.sub(r'<script type="application/json" data-model.*?</script>', "", whole)
    damaged = re.sub(r'"base64":"....', '"base64":"', whole)
    for html, says in ((without, "the model is not in this page: run the cell"), (damaged, "the weights are damaged")):
        page = opened(Card(html, ""))
        page.get_by_role("radio").first.focus()
        expect(page.get_by_role("alert")).to_contain_text(f"This card cannot compute: {says}")
        assert page.get_by_role("listbox").get_by_role("option").count() > 4
