"""The comparison: the French that the page computes, and one sentence in several models."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from attnlib.language.sentences import sample, vocabularies
from attnlib.plotting import model_comparison
from attnlib.plotting.cards import Card, read
from attnlib.plotting.comparison import grammar_tables
from attnlib.seq2seq import luong, rnn_encdec
from attnlib.transformer import transformer

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
    wrong = [
        "the cat sleep",
        "a cats sleep",
        "an cat sleeps",
        "the cat does not see a dog",
        "the cat sleeps and",
        "the cat",
    ]
    assert [output[0] for output in page.evaluate(READ, [grammar_tables(), wrong])] == [None] * len(wrong)
    page.close()


@pytest.fixture(scope="module")
def card() -> Card:
    sizes = {"embedding_dim": 6, "hidden_size": 8}
    models = {
        "none": rnn_encdec(*vocabularies(), **sizes),
        "global": luong(*vocabularies(), **sizes),
        "heads": transformer(*vocabularies(), d_model=8, dim_feedforward=8, num_heads=2),
    }
    return model_comparison({title: model.double() for title, model in models.items()}, notes={"none": "one vector"})


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


@pytest.mark.parametrize(("wide", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_is_accessible_and_not_too_wide(
    wide: int, scheme: str, card: Card, opened: Callable[..., Page], accessible: Callable[[Page], None]
):
    page = opened(card, wide=wide, color_scheme=scheme)
    page.get_by_role("textbox", name="English sentence").focus()
    expect(page.locator(".at-stale")).to_have_count(0)
    accessible(page)


def test_without_scripts_it_is_a_picture_of_all_models(card, opened):
    page = opened(card, script=False)
    assert page.locator(".at-panel").count() == page.locator(".at-row").count() == 3
    expect(page.locator(".at-right")).to_contain_text("Right: ")
    expect(page.get_by_role("textbox")).to_have_count(0)


def test_lengths_and_steps_that_do_not_exist_are_refused(refused):
    models = {"a": luong(*vocabularies(), embedding_dim=2, hidden_size=2).double()}
    refused(lambda: model_comparison(models, length=9), "length is 9; expected the number of some of the 8 clauses")
    refused(lambda: model_comparison(models, step=99), "step is 99; expected the position of a word")
