"""A table of verdicts that sorts, in a real browser: by words, by size, and complete without scripts."""

import pandas as pd
import pytest
from playwright.sync_api import expect

from attnbook.cards.card import Card, without_assets
from attnbook.experiments.verdicts import verdict_table

VERDICTS = [
    ("b beats c", "exact_match", 10, 0.01, "inconclusive"),
    ("a beats b", "exact_match", 8, -0.3, "reversed"),
    ("a beats b", "exact_match", 10, 0.2, "supported"),
    ("c beats d", "bleu_beam", 8, 2.0, "ruled out"),
    ("c beats d", "bleu_beam", 10, 0.1, "inconclusive"),
]
JUDGED = pd.DataFrame(VERDICTS, columns=["claim", "metric", "test_set", "difference", "verdict"])


@pytest.fixture
def card() -> Card:
    return verdict_table(JUDGED)


def first_column(page):
    return page.locator("tbody th").all_inner_texts()


def test_a_heading_sorts_and_pressed_again_reverses(page):
    assert first_column(page) == ["b beats c", "a beats b", "c beats d"]
    for heading, order, direction in [
        ("claim", "abc", "ascending"),
        ("claim", "cba", "descending"),
        ("metric", "cba", "ascending"),
        ("10", "acb", "descending"),
        ("8", "cab", "descending"),  # where one of the claims is not judged: it comes last in both orders
        ("8", "acb", "ascending"),
    ]:
        button = page.get_by_role("button", name=heading)
        button.focus()
        page.keyboard.press("Enter")
        assert [text[0] for text in first_column(page)] == [*order], heading
        assert page.locator("th[aria-sort]").get_attribute("aria-sort") == direction
        expect(page.get_by_role("status")).to_have_text(f"Sorted by {heading}, {direction}.")


def test_verdicts_differ_in_color_and_need_none(card, opened, page):
    cells = page.locator("tbody td[class]")
    colors = cells.evaluate_all("cells => cells.map(cell => getComputedStyle(cell).backgroundColor)")
    assert len(set(colors)) == 4
    stored = opened(Card(without_assets(card.html), ""), script=False)
    assert stored.locator("tbody tr").count() == 3
    assert stored.get_by_text("-0.30reversed").is_visible()
    assert not stored.get_by_role("button").count()
