"""A table that sorts, in a real browser: by words, by size, and complete without scripts."""

import pytest
from playwright.sync_api import expect

from attnbook.cards.card import Card, sortable_table, without_assets

ROWS = {  # by the size in each column; without one, an empty cell
    "b beats c": ("exact match", None, 0.01),
    "a beats b": ("exact match", -0.3, 0.2),
    "c beats d": ("BLEU", 2.0, 0.1),
}


def cell(size: float | None) -> str:
    return "<td></td>" if size is None else f'<td data-size="{size}">{size:+.2f}</td>'


@pytest.fixture
def card() -> Card:
    rows = [
        f'<th scope="row">{claim}</th><td>{metric}</td>' + "".join(map(cell, sizes))
        for claim, (metric, *sizes) in ROWS.items()
    ]
    return sortable_table(["claim", "metric", "8", "10"], rows, "claims")


def first_column(page):
    return page.locator("tbody th").all_inner_texts()


def test_a_heading_sorts_and_pressed_again_reverses(page):
    assert first_column(page) == ["b beats c", "a beats b", "c beats d"]
    for heading, order, direction in [
        ("claim", "abc", "ascending"),
        ("claim", "cba", "descending"),
        ("metric", "cba", "ascending"),
        ("10", "acb", "descending"),
        ("8", "cab", "descending"),  # where one row has nothing: it comes last in both orders
        ("8", "acb", "ascending"),
    ]:
        button = page.get_by_role("button", name=heading)
        button.focus()
        page.keyboard.press("Enter")
        assert [text[0] for text in first_column(page)] == [*order], heading
        assert page.locator("th[aria-sort]").get_attribute("aria-sort") == direction
        expect(page.get_by_role("status")).to_have_text(f"Sorted by {heading}, {direction}.")


def test_it_is_complete_without_scripts(card, opened, page):
    stored = opened(Card(without_assets(card.html), ""), script=False)
    assert stored.locator("tbody tr").count() == len(ROWS)
    assert stored.get_by_text("-0.30").is_visible()
    assert not stored.get_by_role("button").count()
