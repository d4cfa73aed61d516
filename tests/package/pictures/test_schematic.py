"""What a schematic shows can be read back from it: each part and each arrow has a name."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from attnlib.pictures.schematic import (
    BAHDANAU,
    BAHDANAU_APPENDIX,
    LUONG,
    LUONG_FEEDING,
    LUONG_LOCAL,
    NO_ATTENTION,
    NO_ATTENTION_APPENDIX,
    schematic,
)

MODELS = [NO_ATTENTION, BAHDANAU, LUONG, LUONG_LOCAL, LUONG_FEEDING, BAHDANAU_APPENDIX, NO_ATTENTION_APPENDIX]
FAN = {f"h{i}-c{t}" for i in range(1, 5) for t in (1, 2)}


def names(ax) -> set[str]:
    return {text.get_gid() for text in ax.texts if text.get_gid()}


def arrow(ax, name):
    (found,) = (text.arrow_patch for text in ax.texts if text.get_gid() == name)
    return found


def new(ax) -> set[str]:
    """Name what is drawn in the colour that the legend calls new."""
    texts = ax.get_legend().get_texts()
    (line,) = (line for line, text in zip(ax.get_legend().get_lines(), texts, strict=True) if text.get_text() == "new")
    ink = plt.matplotlib.colors.to_rgba(line.get_color())
    inks = {
        t.get_gid(): t.arrow_patch.get_edgecolor() if "-" in t.get_gid() else t.get_color()
        for t in ax.texts
        if t.get_gid()
    }
    return {name for name, found in inks.items() if plt.matplotlib.colors.to_rgba(found) == ink}


def test_each_model_has_its_own_parts_and_arrows():
    without, bahdanau, luong, local, feeding, appendix, fixed = (names(schematic(model)) for model in MODELS)
    assert {"h1-c", "h4-c", "c-s1", "c-s2", "h1-s0"} <= without
    assert not FAN & without
    assert FAN | {"s0-c1", "c1-s1", "s1-c2", "c2-s2", "h1-h2", "h2-h1"} <= bahdanau
    assert FAN | {"s1-c1", "c1-~1", "s1-~1", "~1-y1", "y1-s2"} <= luong
    assert not {"s0-c1", "c1-s1", "s1-y1", "h1-h2"} & luong
    assert luong - local == {"h3-c1", "h4-c1", "h1-c2"}, "outside of the windows"
    assert feeding - luong == {"~1-s2"}
    assert appendix - bahdanau == {"s0-y1", "c1-y1", "s1-y2", "c2-y2"}
    assert bahdanau - appendix == without - fixed == {"s1-y1", "s2-y2"}
    assert fixed - without == {"s0-y1", "c-y1", "s1-y2", "c-y2"}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("since", MODELS)
def test_what_the_other_model_lacks_is_marked_as_new(model, since):
    assert new(schematic(model, since=since)) == names(schematic(model)) - names(schematic(since))


def test_arrows_are_as_thick_as_the_weights():
    weights = np.random.default_rng(0).dirichlet(np.ones(5), size=2)
    ax = schematic(BAHDANAU, weights, list("abcde"), ["A", "B"])
    widths = [[arrow(ax, f"h{i}-c{t}").get_linewidth() for i in range(1, 6)] for t in (1, 2)]
    slope, least = np.polyfit(weights.ravel(), np.ravel(widths), 1)
    assert slope > 1 > least > 0
    np.testing.assert_allclose(widths, slope * weights + least)
    shown = [
        text.get_text()
        for text in ax.texts
        if text.get_gid() and text.get_gid()[0] in "xy" and "-" not in text.get_gid()
    ]
    assert shown == [*"abcde", "BOS", "A", "B"]


def test_a_window_reaches_as_far_as_it_says():
    ax = schematic(replace(LUONG_LOCAL, half_width=2), np.full((2, 6), 0.1) + 0.4 * np.eye(6)[[1, 3]], list("abcdef"))
    seen = {name for name in names(ax) if name[0] == "h" and "-c" in name}
    assert seen == {"h1-c1", "h2-c1", "h3-c1", "h4-c1", "h2-c2", "h3-c2", "h4-c2", "h5-c2", "h6-c2"}
    bars = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2]
    columns = np.linspace(0, 4.8, 6)
    np.testing.assert_allclose(bars, columns[[[0, 3], [1, 5]]] + [-0.3, 0.3])


@pytest.mark.parametrize("model", MODELS)
def test_nothing_is_cut_off(model):
    ax = schematic(model, since=NO_ATTENTION)
    ax.figure.draw_without_rendering()
    whole = ax.figure.bbox
    for text in [*ax.texts, *ax.get_legend().get_texts()]:
        box = text.get_window_extent()
        assert whole.x0 <= box.x0 <= box.x1 <= whole.x1, text
        assert whole.y0 <= box.y0 <= box.y1 <= whole.y1, text
    assert not ax.axison


def test_it_draws_where_it_is_told():
    given = plt.subplots()[1]
    assert schematic(BAHDANAU, ax=given) is given
    assert schematic(NO_ATTENTION).get_legend() is None, "nothing to explain"


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (
            lambda: schematic(LUONG, np.eye(4)),
            ValueError,
            r"weights has shape \(4, 4\); expected \(2, 4\), numbers from 0",
        ),
        (lambda: schematic(LUONG, np.full((2, 4), np.nan)), ValueError, "numbers from 0 to 1"),
        (lambda: schematic(LUONG, np.full((2, 4), 1.1)), ValueError, "numbers from 0 to 1"),
        (lambda: schematic(LUONG, target=["le"]), ValueError, "target has 1 words; expected 2"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, says, refused):
    refused(call, error, says)
