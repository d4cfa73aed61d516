"""What a schematic shows can be read back from it: each part and each arrow has a name."""

import numpy as np
import pytest
from lxml import html

from attnbook.cards import draw_transformer
from attnbook.cards.card import Card
from attnbook.cards.schematic import (
    BAHDANAU,
    BAHDANAU_APPENDIX,
    LUONG_FEEDING,
    NO_ATTENTION,
    NO_ATTENTION_APPENDIX,
    draw_model,
)

MODELS = [NO_ATTENTION, BAHDANAU, LUONG_FEEDING, BAHDANAU_APPENDIX, NO_ATTENTION_APPENDIX]
FAN = {f"h{i}-c{t}" for i in range(1, 5) for t in (1, 2)}


def names(card: Card, kind: str = "") -> set[str]:
    return {*html.fromstring(card.html).xpath(f"//*[@data-part and contains(@class, '{kind}')]/@data-part")}


def keys(card: Card) -> list[str]:
    return html.fromstring(card.html).xpath("//*[@text-anchor='start']/text()")


def width(card: Card, name: str) -> float:
    (stroke,) = html.fromstring(card.html).xpath(f"//*[@data-part='{name}']/path/@stroke-width")
    return float(stroke)


def test_each_model_has_its_own_parts_and_arrows():
    without, bahdanau, luong, appendix, fixed = (names(draw_model(model)) for model in MODELS)
    assert {"h1-c", "h4-c", "c-s1", "c-s2", "h1-s0"} <= without
    assert not FAN & without
    assert FAN | {"s0-c1", "c1-s1", "s1-c2", "c2-s2", "h1-h2", "h2-h1"} <= bahdanau
    assert FAN | {"s1-c1", "c1-~1", "s1-~1", "~1-y1", "y1-s2", "~1-s2"} <= luong
    assert not {"s0-c1", "c1-s1", "s1-y1", "h1-h2"} & luong
    assert appendix - bahdanau == {"s0-y1", "c1-y1", "s1-y2", "c2-y2"}
    assert bahdanau - appendix == without - fixed == {"s1-y1", "s2-y2"}
    assert fixed - without == {"s0-y1", "c-y1", "s1-y2", "c-y2"}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("since", MODELS)
def test_what_the_other_model_lacks_is_marked_as_new(model, since):
    card = draw_model(model, compare_to=since)
    assert names(card, "at-new") == names(draw_model(model)) - names(draw_model(since))
    assert ("new" in keys(card)) == (model != since)
    assert ("Marked as new" in card.text) == bool(names(card, "at-new"))


def test_arrows_are_as_thick_as_the_weights_and_those_of_a_step_make_one():
    card = draw_model(BAHDANAU)
    widths = np.array([[width(card, f"h{i}-c{t}") for i in range(1, 5)] for t in (1, 2)]) / width(card, "h1-s0") * 1.2
    np.testing.assert_allclose(((widths - 0.4) / 7).sum(axis=1), 1, atol=0.02)
    assert widths.argmax(axis=1).tolist() == [0, 2], "the: le, cat: chat"


def test_a_drawing_is_told_in_words():
    told = draw_model(LUONG_FEEDING, compare_to=BAHDANAU).text
    assert "linked from right to left" in told
    assert "a dashed one from the new state" in told
    assert "The attentional state leads to the next decoder state." in told
    assert "Marked as new: attentional states, arrows from contexts to attentional states" in told
    assert "weights" not in draw_model(NO_ATTENTION).text


@pytest.mark.parametrize("wide", [1280, 390])
def test_nothing_is_cut_off(wide, opened, accessible):
    page = opened(draw_transformer(), *(draw_model(model, compare_to=NO_ATTENTION) for model in MODELS), wide=wide)
    beyond = page.evaluate("""() => [...document.querySelectorAll("svg :is(text, path, rect, circle)")].filter(part => {
        const [a, b] = [part, part.ownerSVGElement].map(node => node.getBoundingClientRect());
        return a.left < b.left || a.right > b.right || a.top < b.top || a.bottom > b.bottom;
    }).map(part => part.textContent || part.outerHTML)""")
    assert beyond == []
    accessible(page)


def test_without_attention_there_is_nothing_to_explain():
    assert keys(draw_model(NO_ATTENTION)) == []


def test_luongs_model_fades_into_the_transformer_without_scripts(opened):
    page = opened(draw_transformer(), script=False)
    visible = "parts => parts.filter(part => getComputedStyle(part).opacity === '1').map(part => part.dataset.part)"
    parts = page.locator("[data-part]")
    luong = {*parts.evaluate_all(visible)}
    page.get_by_role("radio", name="Transformer").click()
    page.wait_for_timeout(900)
    transformer = {*parts.evaluate_all(visible)}
    assert luong == names(draw_model(LUONG_FEEDING))
    assert {"h4-h3", "h1-s0", "s0-s1", "s1-s2", "~1-s2"} <= luong - transformer
    assert FAN | {"h1", "c1", "s1-c1", "c1-~1"} <= luong & transformer
    assert {"p1-a4", "a1-f1", "f4-h4", "q0-z2"} <= transformer
    assert "q1-z1" not in transformer, "later words are hidden"
