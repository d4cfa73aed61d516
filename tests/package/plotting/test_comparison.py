"""The comparison: the French that the page computes, and one sentence in several models."""

import re

import pytest
from playwright.sync_api import Page, expect

from attnbook import load_pretrained
from attnbook.cards import model_comparison
from attnbook.cards.card import Card, read
from attnbook.cards.comparison import growing_sentences, joined
from attnbook.cards.french import grammar_tables
from attnbook.language.sentences import part_of, sample
from attnlib.translation import translate_all

from .conftest import three_models

READ = """([tables, sentences]) => {
    const { read, turned } = attnlibFrench(tables);
    return sentences.map(sentence => {
        const words = sentence.split(" "), { french, groups, clauses } = read(words);
        const { may } = read(words.slice(0, -1));
        const other = [0, 0.5, 1].map(share => read(turned(groups ?? [], share)).french?.join(" "));
        return [french?.join(" "), clauses, may.has(words.at(-1)), ...other];
    });
}"""


@pytest.mark.parametrize("reordering", [0, 0.5, 1])
def test_the_french_of_the_page_is_that_of_the_grammar_in_any_order(reordering, browser):
    pairs = [(n, pair) for n in range(1, 9) for pair in sample(20, 50 + n, [n], reordering=reordering)]
    page = browser.new_page()
    page.evaluate(f"() => {{{read(['french'], 'js')}}}")
    outputs = page.evaluate(READ, [grammar_tables(), [" ".join(pair.source) for _, pair in pairs]])
    page.close()
    for (clauses, pair), output in zip(pairs, outputs, strict=True):
        right = " ".join(pair.target)
        assert output == [right, clauses, True, right, right, right], " ".join(pair.source)


def test_what_is_no_sentence_has_no_french(browser):
    page = browser.new_page()
    page.evaluate(f"() => {{{read(['french'], 'js')}}}")
    wrong = ["the cat sleep", "a cats sleep", "an cat sleeps", "the cat sleeps and", "the cat"]
    assert [output[0] for output in page.evaluate(READ, [grammar_tables(), wrong])] == [None] * len(wrong)
    page.close()


@pytest.fixture(scope="module")
def card() -> Card:
    return model_comparison(three_models())


def test_a_sentence_grows_turns_and_is_typed(card, page: Page):
    field = page.get_by_role("textbox", name="English sentence")
    before = field.input_value()
    field.focus()
    expect(page.locator(".at-stale")).to_have_count(0)
    right = page.locator(".at-right").inner_text()
    page.get_by_role("slider").fill("1")
    assert field.input_value() != before
    expect(page.locator(".at-right")).to_have_text(right)
    field.fill("the cat sees the black ")
    expect(page.locator(".at-right")).to_contain_text("no whole sentence")
    page.get_by_role("button", name="dog", exact=True).click()
    expect(page.locator(".at-right")).to_have_text("Right: le chat voit le chien noir")
    expect(page.locator(".at-stale")).to_have_count(0)
    first = page.get_by_role("listbox").first.get_by_role("option").first
    first.focus()
    page.keyboard.press("End")
    expect(page.get_by_role("listbox").first.get_by_role("option").last).to_be_focused()


def test_it_grows_by_itself_until_it_is_stopped(page: Page):
    grow, count = page.get_by_role("button", name="Let it grow"), page.get_by_text(re.compile(r"^\d clauses?$"))
    page.get_by_role("button", name="+ 1 clause").click()
    expect(count).to_have_text("3 clauses")
    grow.click()
    expect(count).to_have_text("5 clauses")
    page.get_by_role("button", name="Stop").click()
    page.wait_for_timeout(1500)
    expect(count).to_have_text("5 clauses")
    expect(page.locator(".at-panel").first.get_by_role("img")).to_have_attribute("aria-label", re.compile("3 .*4 .*5"))


def test_with_reduced_motion_it_grows_a_clause_at_a_time(card, opened):
    page = opened(card, reduced_motion="reduce")
    for clauses in ("3 clauses", "4 clauses"):
        page.get_by_role("button", name="Let it grow").click()
        expect(page.get_by_text(clauses, exact=True)).to_be_visible()


def test_on_a_telephone_two_models_are_chosen_and_words_are_tapped(card, opened):
    page = opened(card, wide=390, has_touch=True)
    page.get_by_label("model 1").focus()
    page.get_by_label("model 1").select_option("heads")
    panels = page.locator(".at-panel")
    none, luong, heads = (panels.nth(m).bounding_box()["x"] for m in range(3))
    assert heads < luong < 210 < none
    expect(page.locator(".at-stale")).to_have_count(0)
    options = panels.nth(2).get_by_role("option")
    options.last.tap()
    expect(options.last).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="word before").tap()
    expect(options.last).to_have_attribute("aria-selected", "false")


def test_models_fail_one_after_another_as_the_first_sentence_grows():
    for sentence in growing_sentences():
        assert {part_of(joined(sentence[:clauses]).target) for clauses in (1, 2, 3)} == {"test"}
    stages = [joined(growing_sentences()[0][:clauses]) for clauses in range(1, 9)]
    wrong = {}
    for name in ("no-attention", "location", "global", "transformer", "local-m"):
        outputs = translate_all(load_pretrained(name), [pair.source for pair in stages], beam_size=1)
        right = [str(output) == " ".join(pair.target) for output, pair in zip(outputs, stages, strict=True)]
        wrong[name] = [*right, False].index(False) + 1
    assert wrong == {"no-attention": 2, "location": 3, "global": 4, "transformer": 5, "local-m": 9}


def test_lengths_and_steps_that_do_not_exist_are_refused(refused):
    models = three_models()
    refused(lambda: model_comparison(models, length=9), "length is 9; expected a number from 1 to 8")
    refused(lambda: model_comparison(models, step=99), "step is 99; expected a number from 0")
