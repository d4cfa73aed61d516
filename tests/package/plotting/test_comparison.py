"""The comparison: the French that the page computes, and one sentence in several models."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from attnbook import load_pretrained
from attnbook.cards import model_comparison
from attnbook.cards.card import Card, read_assets
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


@pytest.fixture
def scripts(browser) -> Iterator[Page]:
    """Open a page that has the scripts, and no card."""
    page = browser.new_page()
    page.evaluate(f"() => {{{read_assets(['cards', 'french'], 'js')}}}")
    yield page
    page.close()


@pytest.mark.parametrize("reordering", [0, 0.5, 1])
def test_the_french_of_the_page_is_that_of_the_grammar_in_any_order(reordering, scripts):
    pairs = [(n, pair) for n in range(1, 9) for pair in sample(20, 50 + n, [n], reordering=reordering)]
    outputs = scripts.evaluate(READ, [grammar_tables(), [" ".join(pair.source) for _, pair in pairs]])
    for (clauses, pair), output in zip(pairs, outputs, strict=True):
        right = " ".join(pair.target)
        assert output == [right, clauses, True, right, right, right], " ".join(pair.source)


def test_what_is_no_sentence_has_no_french(scripts):
    wrong = ["the cat sleep", "a cats sleep", "an cat sleeps", "the cat sleeps and", "the cat"]
    assert [output[0] for output in scripts.evaluate(READ, [grammar_tables(), wrong])] == [None] * len(wrong)


@pytest.fixture(scope="module")
def card() -> Card:
    return model_comparison(three_models())


def test_what_is_wrong_is_found_clause_by_clause(scripts):
    right = ["le", "chat", "voit", "un", "chien", "et", "la", "chèvre", "dort", "(end)"]
    found = {
        tuple(right): [*range(10)],
        ("le", "chat", "dort", "et", "la", "chèvre", "dort", "(end)"): [0, 1, -1, 5, 6, 7, 8, 9],
        ("la", "chèvre", "dort", "(end)"): [6, 7, 8, 9],
        ("le", "chat", "voit", "un", "chien", "et", "la", "chèvre"): [0, 1, 2, 3, 4, 5, 6, 7],
        (*right[:-1], "et", "la", "chèvre", "(end)"): [0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -1, -1, 9],
    }
    script = "([all, right]) => all.map(ours => attnlibAlign(ours, right).fits)"
    assert scripts.evaluate(script, [[*map(list, found)], right]) == [*found.values()]


def test_a_sentence_grows_turns_and_is_typed(card, page: Page):
    field, said = page.get_by_role("textbox", name="English sentence"), page.locator(".at-said")
    before, right = field.input_value(), page.locator(".at-reference").inner_text()
    page.get_by_role("slider").fill("1")
    expect(page.locator(".at-stale")).to_have_count(0)
    assert field.input_value() != before
    assert page.locator(".at-reference").inner_text() == right
    field.fill("the cat sees the black ")
    expect(said).to_contain_text("no whole sentence")
    page.get_by_role("button", name="dog", exact=True).click()
    expect(page.locator(".at-reference")).to_have_text(re.compile(r"^le\s+chat\s+voit\s+le\s+chien\s+noir\s*$"))
    field.fill("the pink ")
    expect(said).to_contain_text("“pink” is no word")


def test_a_french_word_is_shown_in_all_rows_and_an_english_one_names_who_looks(card, page: Page):
    first, second = (page.get_by_role("listbox", name=f"{title}: French words") for title in ("none", "global"))
    word = second.get_by_role("option").first
    word.click()
    expect(word).to_have_attribute("aria-selected", "true")
    expect(page.locator(".at-said")).to_contain_text(f"For {page.locator('.at-reference span').first.inner_text()}")
    page.keyboard.press("End")
    expect(second.get_by_role("option").last).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(first.locator("[aria-selected=true]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("[aria-selected=true]")).to_have_count(0)
    page.get_by_role("listbox", name="English words").get_by_role("option").nth(1).click()
    expect(page.locator(".at-said")).to_contain_text("Who looks at")
    page.get_by_role("button", name="next word, in all models").click()
    expect(page.locator(".at-reference .at-now")).to_have_count(1)


def test_it_grows_by_itself_until_it_is_stopped(card, page: Page):
    lengths = page.get_by_role("radiogroup", name="clauses").get_by_role("radio")
    lengths.nth(0).check(force=True)
    expect(page.locator(".at-stale")).to_have_count(0)
    page.get_by_role("button", name="Grow").click()
    expect(lengths.nth(2)).to_be_checked()
    page.get_by_role("button", name="Stop").click()
    page.wait_for_timeout(2200)
    expect(lengths.nth(2)).to_be_checked()
    expect(page.get_by_role("img").first).to_have_attribute("aria-label", re.compile("1 .*2 .*3"))


def test_on_paper_and_without_scripts_it_is_a_table(card, opened):
    page = opened(card)
    expect(page.locator("table")).not_to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator("table")).to_be_visible()
    expect(page.locator(".at-night")).not_to_be_visible()
    assert opened(card, script=False).locator("tbody tr").count() == 3


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


def test_a_length_that_does_not_exist_is_refused(refused):
    refused(lambda: model_comparison(three_models(), length=9), "length is 9; expected a number from 1 to 8")
