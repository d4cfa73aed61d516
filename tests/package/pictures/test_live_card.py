"""The live card, touched in a real browser: what is written, translated, shown, changed, and taken back."""

import json
import re

import pytest
from lxml import html
from playwright.sync_api import Locator, Page, expect

from attnlib import pretrained
from attnlib.data import SentencePair, Vocabulary, encode
from attnlib.language.grammar import sample
from attnlib.pictures import live
from attnlib.pictures.cards import LARGEST, Card, two_decimals
from attnlib.pictures.live_card import without_carried
from attnlib.search import greedy, translate
from attnlib.translator import Translator, luong

SENTENCE = "the big dog sees a cat"


@pytest.fixture(scope="module")
def bahdanau() -> Translator:
    return pretrained.load("bahdanau").translator


@pytest.fixture(scope="module")
def one(bahdanau) -> Card:
    return live({"Bahdanau": bahdanau}, SENTENCE)


@pytest.fixture(scope="module")
def both(bahdanau) -> Card:
    return live({"without": pretrained.load("no-attention").translator, "Bahdanau": bahdanau})


def status(page: Page) -> Locator:
    return page.locator("[role=status]")


def field(page: Page) -> Locator:
    return page.get_by_role("textbox", name="English sentence")


def words(page: Page, name: str = "French words, Bahdanau") -> Locator:
    return page.get_by_role("listbox", name=name).get_by_role("option")


def texts(page: Page, name: str = "French words, Bahdanau") -> list[str]:
    """Read the words of a row, without the weights below them."""
    row = words(page, name)
    return row.evaluate_all("all => all.map(one => one.firstChild.textContent)")


def act(page: Page, name: str, **options) -> None:
    page.get_by_role("button", name=name, **options).click()


def write(page: Page, sentence: str) -> None:
    field(page).fill(sentence)
    expect(page.get_by_role("listbox", name="English words").get_by_role("option")).to_have_count(
        len(sentence.split()) + 1
    )


# --- What stands there ---


def test_it_stores_little_has_no_id_and_is_the_same_every_time(both, bahdanau):
    stored = without_carried(both.html)
    assert len(stored.encode()) < LARGEST
    assert without_carried(stored) == stored
    assert "base64" not in stored
    assert not re.search(r"\sid=|url\(|@import|(src|href)=", both.html)
    assert live({"Bahdanau": bahdanau}, SENTENCE).html == live({"Bahdanau": bahdanau}, SENTENCE).html


@pytest.mark.parametrize("stored", [False, True])
def test_without_scripts_it_is_the_sentence_and_a_picture(one, bahdanau, stored, opened):
    card = Card(without_carried(one.html), "") if stored else one
    page = opened(card, script=False)
    assert f"English: {SENTENCE}" in page.locator("main").inner_text()
    assert f"Bahdanau: {translate(bahdanau, SENTENCE)}" in page.locator("main").inner_text()
    assert page.get_by_role("img", name="Weights of Bahdanau: English across, French down").is_visible()
    assert repr(one) == f"{SENTENCE}. Bahdanau: {translate(bahdanau, SENTENCE)}"


def test_it_shows_the_same_before_it_computes_and_after(both, opened):
    page = opened(both)
    before = [texts(page, f"French words, {name}") for name in ("without", "Bahdanau")]
    field(page).focus()
    words(page).first.click()
    expect(page.get_by_role("button", name="look here")).to_be_visible()
    assert before == [texts(page, f"French words, {name}") for name in ("without", "Bahdanau")]


# --- Writing a sentence ---


def test_a_sentence_is_translated_as_it_is_written(one, bahdanau, opened):
    page = opened(one)
    field(page).fill("")
    field(page).press_sequentially("The old queen sings.")
    expect(status(page)).to_have_text(f"Bahdanau: {translate(bahdanau, 'the old queen sings')}. ")
    assert texts(page, "English words") == ["the", "old", "queen", "sings", "(end)"]
    assert texts(page) == [*translate(bahdanau, "the old queen sings").split(), "(end)"]


def test_words_that_may_follow_are_offered_and_can_be_taken(one, opened):
    page = opened(one)
    offers = page.get_by_role("group", name="Words that may follow").get_by_role("button")
    field(page).fill("")
    assert offers.all_inner_texts() == ["a", "an", "the"]
    field(page).fill("a c")
    assert offers.all_inner_texts() == ["car", "cat", "child"]
    offers.nth(1).click()
    assert field(page).input_value() == "a cat "
    expect(field(page)).to_be_focused()
    field(page).press_sequentially("s")
    assert offers.all_inner_texts() == ["see", "sees", "sing", "sings", "sleep", "sleeps", "speak", "speaks"]
    field(page).fill("a big c")
    assert offers.all_inner_texts() == ["car", "cat", "child"]


@pytest.fixture(scope="module")
def data(one) -> dict:
    (text,) = html.fromstring(one.html).xpath("//div[contains(@class, 'attnlib-live')]/script/text()")
    return json.loads(text)


def test_every_word_of_the_grammar_is_offered_where_it_stands(data):
    kinds = dict(zip(data["source"], data["kinds"], strict=True))
    for pair in sample(300, 1, range(1, 9)):
        article = ""
        for before, word in zip(("", *pair.source), pair.source, strict=False):
            article = before if before in ("a", "an", "the") else article
            may = data["follow"][kinds.get(before, "") + "*" * (article in ("a", "an"))]
            assert kinds[word] in may, (before, word)


def test_a_drawn_sentence_has_its_wrong_words_marked(both, bahdanau, opened):
    page = opened(both)
    page.get_by_label("number of clauses").select_option("8 clauses")
    act(page, "Another sentence of")
    (pair, *_) = sample(4, 46, [8], part="test")
    expect(field(page)).to_have_value(" ".join(pair.source))
    expect(words(page, "English words")).to_have_count(len(pair.source) + 1)
    expect(status(page)).to_contain_text("words are wrong")
    for name in ("without", "Bahdanau"):
        section = page.get_by_role("group", name=name)
        marked = section.locator(".attnlib-wrong").count()
        assert f"{marked} of" in section.inner_text() or "Every word is right" in section.inner_text()
        assert marked == section.get_by_role("option", name=", wrong").count()
    assert page.get_by_text("Right: ").inner_text() == f"Right: {' '.join(pair.target)}"


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("the blue cat ", "“blue” is not one of the 62 English words that the model knows."),
        ("the cax", "“cax” is not one of the 62 English words"),
        ("", "Write a sentence: words that may come next are below the line."),
        (" . ", "Write a sentence"),
        ("cat " * 100, "These are 100 words; write at most 99."),
        ("<img src=x onerror=alert(1)> ", "“<img” is not one of the 62 English words"),
        ("</script><b>cat</b> ", "“</script><b>cat</b>” is not one"),
    ],
)
def test_what_cannot_be_translated_gets_a_sentence(written, says, one, opened):
    page = opened(one)
    field(page).fill(written)
    expect(status(page)).to_contain_text(says)
    assert texts(page, "English words") == [*SENTENCE.split(), "(end)"]
    write(page, "a cat sings")
    assert len(texts(page)) == 4


def test_the_longest_sentence_is_translated(one, opened):
    page = opened(one)
    write(page, " ".join(["cat"] * 99))
    expect(words(page)).not_to_have_count(7, timeout=20_000)


# --- One step ---


def test_a_step_shows_who_asks_scores_weights_and_likeliest_words(one, bahdanau, opened):
    page = opened(one)
    field(page).focus()
    words(page).nth(2).click()
    source, lengths = encode([SENTENCE.split()], bahdanau.source_vocabulary)
    hypotheses = greedy(bahdanau, source, lengths, 20)
    word = bahdanau.target_vocabulary.decode(hypotheses.words[0])[2]
    row = [two_decimals(weight) for weight in hypotheses.weights[0, 2].tolist()]
    expect(status(page)).to_contain_text(f"“{word}”, looks at ")
    expect(page.locator("tbody tr")).to_have_count(7)
    cells = [line.locator("th, td").all_inner_texts() for line in page.locator("tbody tr").all()]
    assert [cell[0] for cell in cells] == [*SENTENCE.split(), "(end)"]
    assert [cell[2] for cell in cells] == row
    likely = page.get_by_role("button", name="probability")
    assert likely.count() == 3
    assert likely.first.inner_text().startswith(f"{word} ")
    assert likely.first.get_attribute("aria-pressed") == "true"
    assert page.get_by_role("img", name="the state that asks").is_visible()
    assert page.get_by_role("img", name="the context").is_visible()


def test_a_window_says_its_centre_and_what_it_does_not_see(opened):
    page = opened(live({"local-p": pretrained.load("local-p").translator}))
    field(page).focus()
    words(page, "French words, local-p").first.click()
    expect(page.get_by_text("The window's centre is ")).to_be_visible()
    assert "not seen" in page.locator("tbody").inner_text()


def test_a_model_without_attention_says_so(both, opened):
    page = opened(both)
    field(page).focus()
    words(page, "French words, without").first.click()
    expect(status(page)).to_contain_text("this model has no attention")
    assert page.get_by_role("button", name="probability").count() == 3
    assert not page.get_by_role("button", name="look here").count()


# --- Interfering ---


def interfered(page: Page, step: int = 2, source: int = 5) -> None:
    """Choose a word of the translation and a source word."""
    field(page).focus()
    words(page).nth(step).click()
    words(page, "English words").nth(source).click()
    expect(page.get_by_role("button", name="look here")).to_be_visible()


def test_looking_elsewhere_changes_the_word_and_is_taken_back(one, opened):
    page = opened(one)
    before = texts(page)
    interfered(page)
    act(page, "look here")
    expect(words(page, "English words").nth(5)).to_contain_text("1.00")
    after = texts(page)
    assert ("chat" in before[:3], "chat" in after[:3]) == (False, True)
    marked = page.locator(".attnlib-changed").evaluate_all("all => all.map(one => one.firstChild.textContent)")
    assert set(marked) <= set(after) > set()
    expect(status(page)).to_contain_text("words changed, the first is word ")
    expect(page.get_by_text("Changed: Bahdanau, word 3 looks at “cat” alone.")).to_be_visible()
    act(page, "Take all back")
    expect(page.locator(".attnlib-changed")).to_have_count(0)
    assert texts(page) == before
    assert not page.get_by_role("button", name="Take all back").is_visible()


@pytest.mark.parametrize(
    ("name", "weight", "says"),
    [
        ("look everywhere alike", "0.14", "word 3 looks everywhere alike"),
        ("do not look there", "\u00a0", "nobody looks at “cat”"),
        ("swap its annotation with", None, "annotations of “cat” and “the” swapped"),
    ],
)
def test_other_changes_say_what_they_do(name, weight, says, one, opened):
    page = opened(one)
    interfered(page)
    act(page, name)
    expect(page.get_by_text(says)).to_be_visible()
    if weight is not None:
        expect(words(page, "English words").nth(5)).to_have_text(f"cat{weight}")
    if name == "do not look there":
        assert words(page, "English words").nth(5).get_attribute("aria-label") == "cat, not looked at"
        act(page, "look there again")
        expect(page.get_by_text(says)).to_have_count(0)


def test_a_word_that_is_gone_is_named(bahdanau, opened):
    page = opened(live({"global": pretrained.load("global").translator}, "the queen sees the european economic area"))
    field(page).focus()
    words(page, "French words, global").first.click()
    words(page, "English words").nth(4).click()
    act(page, "do not look there")
    expect(status(page)).to_have_text("global: without “européenne” now.")


def test_sharpness_makes_all_steps_look_everywhere_or_at_one_word(one, opened):
    page = opened(one)
    interfered(page)
    slider = page.get_by_label("sharpness")
    slider.focus()
    page.keyboard.press("Home")
    expect(page.locator("tbody tr td:last-child").first).to_have_text("0.14")
    assert {*page.locator("tbody tr td:last-child").all_inner_texts()} == {"0.14"}
    expect(slider).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_text("Changed: sharpness 4.")).to_be_visible()
    assert max(map(float, page.locator("tbody tr td:last-child").all_inner_texts())) > 0.9


def test_another_word_can_be_written_and_the_decoder_goes_on_from_it(one, opened):
    page = opened(one)
    interfered(page, step=0)
    other = page.get_by_role("button", name="probability").nth(1)
    word = other.inner_text().split()[0]
    other.click()
    expect(words(page).first).to_have_text(word)
    expect(page.get_by_text(f"word 1 is to be “{word}”")).to_be_visible()
    assert words(page).first.get_attribute("aria-label") == f"{word}, changed"


def test_all_of_it_can_be_done_with_keys(one, opened):
    page = opened(one)
    field(page).focus()
    page.keyboard.press("End")
    page.keyboard.type(" that sleeps")
    expect(words(page, "English words")).to_have_count(9)
    words(page).first.focus()
    for key, at in [("ArrowRight", 1), ("ArrowDown", 2), ("ArrowLeft", 1), ("End", -1), ("Home", 0), ("ArrowUp", 0)]:
        page.keyboard.press(key)
        expect(words(page).nth(at)).to_be_focused()
        expect(words(page).nth(at)).to_have_attribute("aria-selected", "true")
    words(page, "English words").first.focus()
    page.keyboard.press("ArrowRight")
    expect(words(page, "English words").nth(1)).to_be_focused()
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "look here":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_text("looks at “big” alone")).to_be_visible()
    expect(page.get_by_role("button", name="look here")).to_be_focused()
    act(page, "Take all back")
    expect(words(page).first).to_be_focused()


def test_a_click_on_the_map_chooses_the_step(one, opened):
    page = opened(one)
    field(page).focus()
    box = page.locator(".attnlib-map").bounding_box()
    page.locator(".attnlib-map").click(position={"x": 3, "y": box["height"] * 3.5 / len(texts(page))})
    expect(words(page).nth(3)).to_have_attribute("aria-selected", "true")


# --- What may go wrong, and who reads it ---


def test_stored_it_says_how_to_bring_the_model(one, opened):
    scripts = re.findall(r"<script>.*?</script>|<style>.*?</style>", one.html, re.DOTALL)
    page = opened(Card(without_carried(one.html) + "".join(scripts), ""))
    field(page).focus()
    expect(status(page)).to_contain_text("This card cannot translate: the model is not in this page: run the cell")
    words(page).first.click()
    expect(status(page)).to_contain_text("looks at ")


def test_damaged_weights_get_a_sentence(one, opened):
    page = opened(Card(re.sub(r'"base64": "....', '"base64": "AAAA', one.html), ""))
    field(page).focus()
    expect(status(page)).to_have_text(
        "This card cannot translate: the weights are damaged. What stands here stays as it was."
    )
    assert len(texts(page)) > 4


@pytest.mark.parametrize("hostile", [False, True])
@pytest.mark.parametrize("wide", [1280, 390])
def test_it_is_accessible_and_fits(both, hostile, wide, opened, accessible):
    page = opened(both, hostile=hostile, wide=wide)
    interfered(page)
    act(page, "look here")
    act(page, "do not look there")
    expect(page.locator(".attnlib-hidden")).to_have_count(1)
    accessible(page)


def test_two_cards_share_a_page(one, both, opened, accessible):
    page = opened(one, both)
    accessible(page)
    assert page.get_by_role("listbox", name="French words, Bahdanau").count() == 2
    field(page).nth(1).fill("a cat sings")
    expect(page.get_by_role("listbox", name="English words").nth(1).get_by_role("option")).to_have_count(4)
    assert page.get_by_role("listbox", name="English words").first.get_by_role("option").count() == 7


SMALL = Vocabulary(("a", "b"))


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda t: live([t]), TypeError, "models is a list; expected for each title a translator"),
        (lambda t: live({}), ValueError, "models holds 0; expected one, or two"),
        (lambda t: live({"a": t, "b": t, "c": t}), ValueError, "models holds 3"),
        (lambda t: live({1: t}), TypeError, "a title is 1; expected a str"),
        (lambda t: live({"a": "b"}), TypeError, r"models\['a'\] is a str; expected a Translator"),
        (lambda t: live({"a": t, "b": luong(SMALL, SMALL)}), ValueError, "different vocabularies"),
        (lambda t: live({"a": t}, "the blue cat"), ValueError, "sentence holds 'blue'; expected words that the models"),
        (lambda t: live({"a": t}, ""), ValueError, "expected at least one word"),
        (lambda t: live({"a": t}, 3), TypeError, "sentence is 3; expected a str"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, says, bahdanau, refused):
    refused(lambda: call(bahdanau), error, says)


def test_a_pair_brings_its_right_translation(bahdanau, opened):
    page = opened(live({"Bahdanau": bahdanau}, SentencePair(("a", "cat", "sings"), ("une", "chat", "chante"))))
    assert "1 of 3 words is wrong." in page.get_by_role("group", name="Bahdanau").inner_text()


def test_it_starts_when_put_into_a_page_as_jupyterlab_does(one, opened):
    page = opened(one, later=True)
    write(page, "a cat sings")
    assert page.locator("[data-lm-suppress-shortcuts]").count() == 1
