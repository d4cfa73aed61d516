"""The attention demo, told as stories in a real browser: what is written, dragged, hidden, chosen, and taken back."""

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from attnbook import load_pretrained, sample
from attnbook.cards import attention_demo, attention_explorer
from attnbook.cards.card import Card, two_decimals
from attnbook.language.dictionary import CONJUNCTIONS, PREPOSITIONS
from attnlib import EncoderDecoder, SentencePair, encode_batch, greedy_search, translate

SENTENCE = "in the garden the black cat sees the dog"
PLAIN = ["le", "chat", "noir", "voit", "le", "chien", "dans", "le", "jardin", "(end)"]
TURNED = [*PLAIN[:6], "noir", *PLAIN[6:]]
STEP, BAR = 6, 4  # dans, black


@pytest.fixture(scope="module")
def bahdanau() -> EncoderDecoder:
    return load_pretrained("bahdanau")


@pytest.fixture(scope="module")
def card(bahdanau) -> Card:
    return attention_demo({"Bahdanau": bahdanau}, SENTENCE, step=STEP)


@pytest.fixture(scope="module")
def both(bahdanau) -> Card:
    return attention_demo({"without": load_pretrained("no-attention"), "Bahdanau": bahdanau})


def status(page: Page) -> Locator:
    return page.locator("[role=status].at-aloud")


def field(page: Page) -> Locator:
    return page.get_by_role("textbox", name="English sentence")


def french(page: Page) -> Locator:
    return page.locator(".at-target").get_by_role("option")


def weights(page: Page) -> list[str]:
    return page.locator(".at-col").evaluate_all("all => all.map(one => one.ariaValueText)")


def bar(page: Page, i: int) -> Locator:
    return page.locator(".at-bar").nth(i)


def undo(page: Page) -> Locator:
    return page.get_by_role("button", name="Undo")


def drag(page: Page, i: int, share: float) -> None:
    """Move bar i with the mouse to the share of its length."""
    box, tall = bar(page, i).bounding_box(), page.locator(".at-tall").count()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    to = (box["x"] + box["width"] * share, middle[1]) if tall else (middle[0], box["y"] + box["height"] * (1 - share))
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(*to, steps=4)
    page.mouse.up()


# --- One sentence, and a bar ---


def test_before_anything_is_touched_it_shows_what_pytorch_computes(card, bahdanau, opened):
    source, lengths = encode_batch([SENTENCE.split()], bahdanau.source_vocabulary)
    best = greedy_search(bahdanau, source, lengths, 20)
    page = opened(card)
    expect(french(page)).to_have_text(PLAIN)
    row = best.weights[0, STEP].tolist()
    assert weights(page) == [f"{two_decimals(weight)} of the weight" for weight in row]
    chips = page.get_by_role("button", name="probability")
    before = chips.all_inner_texts()
    assert before[0].startswith("dans")
    field(page).focus()
    expect(status(page)).to_have_text("")
    assert (weights(page), chips.all_inner_texts()) == ([f"{two_decimals(x)} of the weight" for x in row], before)
    assert repr(card) == f"{SENTENCE}. Bahdanau: {translate(bahdanau, SENTENCE, beam_size=1)}"


@pytest.mark.parametrize("wide", [1280, 390])
def test_a_dragged_bar_takes_weight_from_the_others_and_the_rest_is_written_anew(wide, card, opened):
    page = opened(card, wide=wide)
    before = np.array([float(weight[:4]) for weight in weights(page)])
    drag(page, BAR, 0.5)
    expect(french(page)).to_have_text(PLAIN)
    after = np.array([float(weight[:4]) for weight in weights(page)])
    others = np.arange(len(before)) != BAR
    assert after[BAR] == pytest.approx(0.5, abs=0.021)
    np.testing.assert_allclose(after[others], before[others] * (1 - after[BAR]) / (1 - before[BAR]), atol=0.011)
    drag(page, BAR, 1)
    expect(french(page)).to_have_text(TURNED)
    expect(status(page)).to_have_text(f"Now: {' '.join(TURNED[:-1])}.")
    assert page.locator(".at-changed").all_inner_texts() == ["noir"]
    expect(page.get_by_text("By itself: ")).to_have_text(f"By itself: {' '.join(PLAIN[:-1])} ")
    expect(undo(page)).to_have_text("Undo (2)")
    undo(page).click()
    expect(french(page)).to_have_text(PLAIN)
    undo(page).click()
    expect(undo(page)).to_be_disabled()
    assert [float(weight[:4]) for weight in weights(page)] == before.tolist()


def test_a_finger_that_scrolls_changes_nothing(card, opened):
    page = opened(card, wide=390)
    before = weights(page)
    field(page).focus()
    cancelled = """node => {
        const { left, top } = node.getBoundingClientRect();
        const at = x => ({ clientX: left + x, clientY: top, pointerId: 1 });
        node.setPointerCapture = () => {};
        node.dispatchEvent(new PointerEvent("pointerdown", at(5)));
        node.dispatchEvent(new PointerEvent("pointermove", at(60)));
        node.dispatchEvent(new PointerEvent("pointercancel", at(60)));
    }"""
    bar(page, BAR).evaluate(cancelled)
    expect(undo(page)).to_be_disabled()
    assert weights(page) == before


def test_all_of_it_can_be_done_with_keys(page):
    slider = page.get_by_role("slider", name="black")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    expect(slider).to_have_attribute("aria-valuetext", "0.15 of the weight")
    expect(undo(page)).to_have_text("Undo (1)")
    page.keyboard.press("End")
    expect(french(page)).to_have_text(TURNED)
    expect(slider).to_be_focused()
    page.keyboard.press("Control+z")
    expect(undo(page)).to_be_disabled()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    hidden = page.get_by_role("slider", name="the").nth(1)
    expect(hidden).to_be_focused()
    expect(hidden).to_have_attribute("aria-valuetext", "hidden at every step")
    page.keyboard.press(" ")
    expect(page.locator(".at-hidden")).to_have_count(0)
    french(page).nth(STEP).focus()
    for key, at in [("ArrowRight", 7), ("ArrowDown", 8), ("ArrowLeft", 7), ("Home", 0), ("ArrowUp", 0), ("End", 9)]:
        page.keyboard.press(key)
        expect(french(page).nth(at)).to_be_focused()
        expect(french(page).nth(at)).to_have_attribute("aria-selected", "true")
    expect(status(page)).to_contain_text("Word 10: attends to ")
    page.keyboard.press("Control+Home")
    expect(french(page).nth(9)).to_have_attribute("aria-selected", "true")
    slider.press("Control+End")
    expect(undo(page)).to_have_text("Undo (2)")
    slider.locator(".at-word").click()
    page.keyboard.press("Enter")
    expect(slider).to_be_focused()
    page.keyboard.press("Enter")
    assert page.locator(".at-hidden").all_inner_texts() == ["black"], "hidden with the mouse, shown, hidden again"


def test_another_word_can_be_written_and_the_decoder_goes_on_from_it(page):
    chip = page.get_by_role("button", name="probability").nth(1)
    word = chip.inner_text().split()[0]
    chip.click()
    expect(french(page).nth(STEP)).to_have_attribute("aria-label", f"{word}, changed, chosen")
    expect(page.get_by_role("button", name=f"write {word},")).to_have_attribute("aria-pressed", "true")
    assert french(page).all_inner_texts()[:STEP] == PLAIN[:STEP]


def test_sharpness_levels_the_weights_or_gives_all_to_one_word(page):
    slider = page.get_by_label("sharpness")
    slider.press("Home")
    expect(page.get_by_role("slider", name="cat")).to_have_attribute("aria-valuetext", "0.10 of the weight")
    slider.press("End")
    expect(page.locator(".at-col[aria-valuenow='99'], .at-col[aria-valuenow='100']")).to_have_count(1)
    expect(undo(page)).to_have_text("Undo (1)")


# --- Two models ---


def test_a_word_is_hidden_from_both_models_and_the_other_one_is_marked(opened):
    models = {name: load_pretrained(name) for name in ("global", "local-m")}
    words = ("the", "queen", "sees", "the", "european", "economic", "area")
    page = opened(attention_demo(models, SentencePair(words, ("la", "reine", "aime")), step=5))
    expect(page.get_by_text("Right: ")).to_have_text("Right: la reine aime ")
    alone = page.get_by_text("local-m writes: ").inner_text()
    page.locator(".at-col", has_text="european").get_by_text("european").click()
    expect(page.locator(".at-hidden")).to_have_count(1)
    expect(page.get_by_text("local-m writes: ")).not_to_have_text(alone)
    expect(page.locator(".at-switch .at-moved")).to_have_text("local-m")
    page.get_by_role("radio", name="local-m").check(force=True)
    expect(page.locator(".at-target")).to_have_attribute("aria-label", "French words, local-m")
    expect(page.locator(".at-hidden")).to_have_count(1)
    assert page.locator(".at-center").count() == 1
    unseen, center = page.locator(".at-unseen").count(), page.get_by_text("The triangle is the center of the window")
    assert 0 < unseen < 8
    assert center.is_visible()


def test_a_model_without_attention_says_so(both, opened):
    page = opened(both)
    french(page).nth(1).click()
    expect(status(page)).to_contain_text("this model has no attention")
    assert not page.locator(".at-bar").first.is_visible()
    assert page.locator(".at-knot").count() == 1
    assert page.locator(".at-col").first.get_attribute("aria-valuetext") == "no weight"
    assert page.get_by_role("button", name="probability").count() == 3


# --- Writing ---


def test_a_sentence_is_translated_as_it_is_written(bahdanau, page):
    field(page).fill("")
    field(page).press_sequentially("The old queen sings.")
    expect(status(page)).to_have_text(f"Bahdanau: {translate(bahdanau, 'the old queen sings', beam_size=1)}.")
    expect(french(page)).to_have_text([*translate(bahdanau, "the old queen sings", beam_size=1).words, "(end)"])


def test_words_that_may_follow_are_offered_and_can_be_taken(page):
    offers = page.get_by_role("group", name="Words that may follow").get_by_role("button")
    field(page).fill("")
    assert offers.all_inner_texts() == [*PREPOSITIONS, *CONJUNCTIONS, "the", "a", "an"]
    field(page).fill("a big c")
    assert offers.all_inner_texts() == ["cat", "cow", "child", "chinese"]
    offers.first.click()
    assert field(page).input_value() == "a big cat "
    expect(field(page)).to_be_focused()
    page.get_by_role("button", name="New sentence").click()
    drawn = field(page).input_value()
    offered = page.get_by_role("group", name="Words that may follow").get_by_role("button").first
    follows = offered.inner_text()
    offered.click()
    expect(field(page)).to_have_value(f"{drawn} {follows} ")


def test_a_drawn_sentence_has_its_wrong_words_marked(both, opened):
    page = opened(both)
    page.get_by_label("length").select_option("8 clauses")
    page.get_by_role("button", name="New sentence").click()
    pair = sample(4, 46, [8], part="test")[1]
    expect(field(page)).to_have_value(" ".join(pair.source))
    expect(page.get_by_text("Right: ")).to_have_text(f"Right: {' '.join(pair.target)} ")
    assert page.locator(".at-wrong").count() == page.get_by_role("option", name=", wrong").count() > 3


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("the pink cat ", "“pink” is not one of the 194 English words that the model knows."),
        ("the cax", "“cax” is not one of the 194 English words"),
        ("", "Write a sentence: words that may come next are below the line."),
        ("cat " * 100, "These are 100 words; write at most 99."),
        ("<img src=x onerror=alert(1)> ", "“<img” is not one of the 194 English words"),
    ],
)
def test_what_cannot_be_translated_gets_a_sentence(written, says, page):
    field(page).fill(written)
    expect(status(page)).to_contain_text(says)
    expect(page.locator(".at-complaint")).to_contain_text(says)
    expect(french(page)).to_have_text(PLAIN)
    field(page).fill("a cat sings")
    expect(french(page)).to_have_count(4)
    assert page.locator(".at-complaint").count() == 0


def test_a_long_sentence_stands_in_two_columns_with_the_likeliest_words_below_the_chosen_one(page):
    field(page).fill(" ".join(["cat"] * 99))
    expect(page.locator(".at-tall")).to_have_count(1, timeout=20_000)
    expect(page.locator(".at-col")).to_have_count(100, timeout=20_000)
    french(page).nth(3).click()
    word, chips = french(page).nth(3).bounding_box(), page.locator(".at-chips").bounding_box()
    assert 0 <= chips["y"] - word["y"] - word["height"] < 20
    assert french(page).nth(4).bounding_box()["y"] > chips["y"] + chips["height"] - 1


# --- Without a model ---


WEIGHTS = np.array([[0.5, 0.285, 0.215], [0.125, 0.875, 0]])
NEAR = np.array([[0.25, 0.25, 0], [0, 1, 0], [0.1, 0.2, 0.3]])  # the rows do not sum to 1


def test_an_explorer_shows_weights_that_were_computed_before(opened):
    words = {"global": ["le", "chat"], "local-p": ["un", "chat", "dort"]}
    page = opened(attention_explorer({"global": WEIGHTS, "local-p": NEAR}, ["the", "cat", "sleeps"], words))
    shares = page.locator(".at-share")
    assert shares.all_inner_texts() == ["0.50", "0.28", "0.22"]
    french(page).nth(1).click()
    assert shares.all_inner_texts() == ["0.13", "0.88", "0.00"]
    expect(status(page)).to_have_text("Word 2: attends to cat 0.88, the 0.13.")
    page.get_by_role("radio", name="local-p").check(force=True)
    expect(french(page)).to_have_text(words["local-p"])
    french(page).nth(1).press("ArrowRight")
    expect(french(page).nth(2)).to_be_focused()
    assert shares.all_inner_texts() == ["0.10", "0.20", "0.30"]
    expect(page.locator(".at-caption")).to_contain_text("Together they are 0.60: the window has lowered")
    french(page).nth(1).click()
    expect(page.locator(".at-caption")).not_to_contain_text("Together")
    assert page.locator("input[type=text], button, [role=slider]").count() == 0, "nothing to change"
