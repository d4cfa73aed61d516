"""A model as a page, in a real browser: it translates as the package does, and what cannot be gets a sentence."""

import pytest
from playwright.sync_api import Page, expect

from attnbook import load_pretrained
from attnlib import EncoderDecoder, Vocabulary, luong, translate
from attntext import page as page_module
from attntext.files import split_words
from attntext.page import page_of


@pytest.fixture(scope="module")
def subwords() -> EncoderDecoder:
    return load_pretrained("enfr-subwords")


@pytest.fixture(scope="module")
def words() -> EncoderDecoder:
    return load_pretrained("bahdanau")


def written(network: EncoderDecoder, title: str = "enfr", *, beam_size: int = 5, max_length: int = 1000) -> str:
    return page_of(network, title, beam_size=beam_size, max_length=max_length)


def field(page: Page):
    return page.get_by_role("textbox", name="source sentence")


def status(page: Page):
    return page.locator("[role=status]")


def test_a_sentence_is_translated_as_the_command_does(subwords, opened):
    page = opened(written(subwords))
    field(page).press_sequentially("the european cat sleeps")
    translation = translate(subwords, "the european cat sleeps")
    expect(page.locator(".at-text")).to_have_text(str(translation))
    expect(status(page)).to_have_text(f"enfr: {translation}.")
    pieces = page.get_by_role("group", name="source pieces").get_by_role("slider")
    assert pieces.count() == len(subwords.source_vocabulary.encode(split_words("the european cat sleeps")))


def test_the_other_search_is_one_choice_away_if_there_is_another(opened):
    half_way, sentence = load_pretrained("bahdanau-after-200"), "the dogs see the red doors"
    translations = {width: str(translate(half_way, sentence, beam_size=width, max_length=9)) for width in (3, 1)}
    assert translations[1] != translations[3]
    page, greedy = (opened(written(half_way, beam_size=width, max_length=9)) for width in (3, 1))
    page.get_by_role("radio", name="greedy").check(force=True)
    assert page.locator(".at-col").count() == 0, "nothing is written yet"
    field(page).fill(sentence)
    for label, width in (("greedy", 1), ("beam of 3", 3), ("greedy", 1)):
        page.get_by_role("radio", name=label).check(force=True)
        expect(page.locator(".at-text")).to_have_text(translations[width])
    field(greedy).fill(sentence)
    expect(greedy.locator(".at-text")).to_have_text(translations[1])
    assert greedy.get_by_role("radio").count() == 0


# --- What may go wrong ---


def test_what_is_written_wrongly_gets_a_sentence(words, opened):
    page = opened(written(words))
    field(page).fill("the <b>dog</b> qwe sings")
    with pytest.warns(UserWarning, match="unknown words: <b>dog</b> qwe"):
        translation = translate(words, "the <b>dog</b> qwe sings")
    expect(status(page)).to_have_text(f"enfr: {translation}. The model does not know “<b>dog</b>”, “qwe”.")
    for text, says in (
        (" ", "Write a sentence."),
        ("the " * 100, "These are 100 words; write at most 99."),
        ("x" * 1001, "These are 1001 letters; write at most 1000."),
    ):
        field(page).fill(text)
        expect(status(page)).to_have_text(says)
        assert page.get_by_text(says).count() == 2, "it is seen, and said"
    expect(page.locator(".at-text")).to_have_text(str(translation))
    field(page).fill("the <b>dog</b> qwe sings")
    expect(status(page)).to_contain_text(f"enfr: {translation}. ")


CAT, SINGS = "\u05d7\u05ea\u05d5\u05dc", "\u05e9\u05e8"


def test_a_sentence_from_right_to_left_stands_from_right_to_left(words, opened):
    """Its words, its keys, and those of the translation, which here is written from left to right."""
    page = opened(written(words))
    source, target = page.locator(".at-source .at-word"), page.locator(".at-target .at-word")
    lefts = "all => all.map(one => one.getBoundingClientRect().left)"
    field(page).fill(f"{CAT} the {SINGS}")
    expect(source).to_have_text([CAT, "the", SINGS, "(end)"])
    assert source.evaluate_all(lefts) == sorted(source.evaluate_all(lefts), reverse=True)
    assert target.evaluate_all(lefts) == sorted(target.evaluate_all(lefts))
    page.get_by_role("slider", name=CAT).press("ArrowLeft")
    expect(page.get_by_role("slider", name="the")).to_be_focused()
    field(page).fill(f"the {CAT}")
    expect(source).to_have_text(["the", CAT, "(end)"])
    assert source.evaluate_all(lefts) == sorted(source.evaluate_all(lefts))


def test_a_model_without_attention_is_not_said_to_look():
    assert "then change where the model looks" not in written(load_pretrained("no-attention"))


def test_a_location_score_has_only_so_many_positions(subwords, opened):
    pieces = subwords.source_vocabulary
    page = opened(written(luong(pieces, pieces, score="location", embedding_dim=2, hidden_size=2), max_length=5))
    field(page).fill("economics " * 50)
    taken = len(pieces.encode(["economics"] * 50)) - 1
    expect(status(page)).to_have_text(f"The sentence takes {taken} positions; the model's location score has 99.")


def test_of_half_a_file_and_without_scripts_there_is_a_sentence(words, opened):
    html = written(words)
    for page in (opened(html[: len(html) // 2]), opened(html, script=False)):
        expect(page.get_by_text("scripts are switched off, or the file is damaged")).to_be_visible()


def test_words_from_outside_are_no_html(opened):
    script = "<script>alert(1)</script>"
    hostile = Vocabulary(("&amp;", f"</script>{script}", "<!--"))
    page = opened(written(luong(hostile, hostile, embedding_dim=2, hidden_size=2), script, max_length=9))
    assert page.get_by_role("heading").inner_text() == script
    field(page).fill(" ".join(hostile.words))
    expect(page.locator(".at-source .at-word")).to_have_text([*hostile.words, "(end)"], use_inner_text=False)


def test_what_is_too_large_is_refused(refused, monkeypatch, words):
    size = len(written(words).encode())
    monkeypatch.setattr(page_module, "LARGEST", size - 1)
    refused(lambda: written(words), f"would take {size / 1e6:.0f} MB; expected at most .* MB: train a")
    monkeypatch.setattr(page_module, "LARGEST", size)
    assert len(written(words).encode()) == size
