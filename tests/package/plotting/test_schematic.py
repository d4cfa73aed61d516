"""What a schematic shows can be read back from it: each part and each arrow has a name."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import same_color

from attnlib.plotting.schematic import (
    BAHDANAU,
    BAHDANAU_APPENDIX,
    LUONG_FEEDING,
    NEW,
    NO_ATTENTION,
    NO_ATTENTION_APPENDIX,
    draw_model,
)

MODELS = [NO_ATTENTION, BAHDANAU, LUONG_FEEDING, BAHDANAU_APPENDIX, NO_ATTENTION_APPENDIX]
FAN = {f"h{i}-c{t}" for i in range(1, 5) for t in (1, 2)}


def names(ax) -> set[str]:
    return {text.get_gid() for text in ax.texts if text.get_gid()}


def arrow(ax, name):
    (patch,) = (text.arrow_patch for text in ax.texts if text.get_gid() == name)
    return patch


def new(ax) -> set[str]:
    drawn = {text.get_gid(): getattr(text, "arrow_patch", text) for text in ax.texts if text.get_gid()}
    colors = {name: plt.getp(what, "edgecolor" if "-" in name else "color") for name, what in drawn.items()}
    return {name for name, color in colors.items() if same_color(color, NEW)}


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
    ax = draw_model(model, compare_to=since)
    assert new(ax) == names(draw_model(model)) - names(draw_model(since))
    keys = [text.get_text() for text in ax.get_legend().get_texts()] if ax.get_legend() else []
    assert ("new" in keys) == (model != since)


def test_arrows_are_as_thick_as_the_weights_and_those_of_a_step_make_one():
    ax = draw_model(BAHDANAU)
    widths = np.array([[arrow(ax, f"h{i}-c{t}").get_linewidth() for i in range(1, 5)] for t in (1, 2)])
    np.testing.assert_allclose(((widths - 0.4) / 7).sum(axis=1), 1)
    assert widths.argmax(axis=1).tolist() == [0, 2], "the: le, cat: chat"


@pytest.mark.parametrize("model", MODELS)
def test_nothing_is_cut_off(model, inside):
    ax = draw_model(model, compare_to=NO_ATTENTION)
    inside(ax.figure)
    assert not ax.axison


def test_without_attention_there_is_nothing_to_explain():
    assert draw_model(NO_ATTENTION).get_legend() is None
