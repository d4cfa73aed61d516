"""What a drawing shows can be read back from it: each part and each arrow has a name."""

import pytest
from lxml import html

from attnbook.cards import draw_model
from attnbook.cards.card import Card

MODELS = ["no-attention", "bahdanau", "bahdanau-appendix", "luong", "transformer"]
FAN = {f"h{i}-c{t}" for i in range(1, 5) for t in (1, 2)}


def names(card: Card, kind: str = "") -> set[str]:
    return {*html.fromstring(card.html).xpath(f"//*[@data-part and contains(@class, '{kind}')]/@data-part")}


def test_each_model_has_its_own_parts_and_arrows():
    without, bahdanau, appendix, luong, _ = (names(draw_model(model)) for model in MODELS)
    assert {"h1-c", "h4-c", "c-s1", "c-s2", "h1-s0"} <= without
    assert not FAN & without
    assert FAN | {"s0-c1", "c1-s1", "s1-c2", "c2-s2", "h1-h2", "h2-h1"} <= bahdanau
    assert FAN | {"s1-c1", "c1-~1", "s1-~1", "~1-y1", "y1-s2", "~1-s2"} <= luong
    assert not {"s0-c1", "c1-s1", "s1-y1", "h1-h2"} & luong
    assert (appendix - bahdanau, bahdanau - appendix) == ({"s0-y1", "c1-y1", "s1-y2", "c2-y2"}, {"s1-y1", "s2-y2"})


def test_what_the_model_before_lacks_is_marked_as_new():
    cards = [draw_model(model) for model in MODELS[:-1]]
    for before, card in ((cards[0], cards[1]), (cards[2], cards[3])):
        assert names(card, "at-new") == names(card) - names(before)
        assert "Marked as new: " in card.text
    assert not names(cards[0], "at-new")


@pytest.mark.parametrize("wide", [1280, 390])
def test_nothing_is_cut_off(wide, opened, accessible):
    page = opened(*map(draw_model, MODELS), wide=wide)
    beyond = page.evaluate("""() => [...document.querySelectorAll("svg :is(text, path, rect, circle)")].filter(part => {
        const [a, b] = [part, part.ownerSVGElement].map(node => node.getBoundingClientRect());
        return a.left < b.left || a.right > b.right || a.top < b.top || a.bottom > b.bottom;
    }).map(part => part.textContent || part.outerHTML)""")
    assert beyond == []
    accessible(page)


def test_luongs_model_fades_into_the_transformer_without_scripts(opened):
    page = opened(draw_model("transformer"), script=False, reduced_motion="reduce")
    visible = "parts => parts.filter(part => getComputedStyle(part).opacity === '1').map(part => part.dataset.part)"
    parts = page.locator("[data-part]")
    luong = {*parts.evaluate_all(visible)}
    page.get_by_role("radio", name="Transformer").click()
    transformer = {*parts.evaluate_all(visible)}
    assert luong == names(draw_model("luong"))
    assert {"h4-h3", "h1-s0", "s0-s1", "s1-s2", "~1-s2"} <= luong - transformer
    assert FAN | {"h1", "c1", "s1-c1", "c1-~1"} <= luong & transformer
    assert {"p1-a4", "a1-f1", "f4-h4", "q0-z2"} <= transformer
    assert "q1-z1" not in transformer, "later words are hidden"
