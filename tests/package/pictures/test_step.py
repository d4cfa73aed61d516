"""The four pictures of one step show what they are given, and nothing is cut off."""

import numpy as np
import pytest

from attnlib.pictures.step import TITLES, one_step

SCORES, WEIGHTS = np.array([-1.25, 0.5, 2.0]), np.array([0.125, 0.25, 0.625])


def drawn(scores=SCORES, weights=WEIGHTS, source=("a", "b", "c"), before="X", **chances):
    chances = chances or {"Y": 0.8, "Z": 0.2}
    return one_step(scores, weights, np.array([0.31, 0.47]), list(source), before=before, chances=chances)


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_each_picture_says_what_it_adds():
    asks, weighs, averages, writes = axes = drawn()
    assert [ax.get_title() for ax in axes] == list(TITLES)
    assert all({"a", "b", "c", "X", "$h_{1}$", "$h_{3}$", "$s_{t-1}$"} <= {*texts(ax)} for ax in axes)
    assert {"-1.25", "0.50", "2.00"} <= {*texts(asks)}
    assert [bar.get_height() / 1.6 for bar in weighs.patches] == pytest.approx(WEIGHTS.tolist())
    assert "0.31  0.47" in texts(averages)
    assert {"Y", "0.80", "Z", "0.20"} <= {*texts(writes)}
    assert ["$c_t$" in texts(ax) for ax in axes] == [False, False, True, True]


def test_arrows_are_as_thick_as_the_weights():
    averages = drawn()[2]
    arrows = [text.arrow_patch for text in averages.texts if getattr(text, "arrow_patch", None)]
    widths = [arrow.get_linewidth() for arrow in arrows]
    np.testing.assert_allclose(np.diff(widths) / np.diff(WEIGHTS), 7)


def test_nothing_is_cut_off(inside):
    axes = drawn(source=("the", "european", "area"), before="européenne", voiture=0.7, économique=0.3)
    inside(axes[0].figure)


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"scores": np.ones(2)}, ValueError, r"scores has shape \(2,\); expected \(3,\), one for each source word"),
        ({"weights": np.eye(3)}, ValueError, r"weights has shape \(3, 3\); expected \(3,\)"),
        ({"weights": np.array([0.5, 0.6, -0.1])}, ValueError, "weights holds -0.1; expected numbers from 0 to 1"),
        ({"weights": np.array(["a", "b", "c"])}, TypeError, "weights"),
        ({"source": ("a", 2, "c")}, TypeError, r"source\[1\] is 2; expected a word"),
    ],
)
def test_what_does_not_fit_is_refused(given, error, says, refused):
    refused(lambda: drawn(**given), error, says)
