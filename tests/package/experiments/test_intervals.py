"""Intervals: one by hand, and how often they hold what they promise."""

import numpy as np
import pytest

from attnlib.experiments.intervals import mean_interval, prediction_interval


def test_intervals_by_hand():
    """Runs 1, 2, 3, 4: mean 2.5, s² = 5/3, and t for 3 degrees of freedom is 3.1824 in every table."""
    t, s = 3.182446, np.sqrt(5 / 3)
    mean, prediction = mean_interval([1.0, 2.0, 3.0, 4.0]), prediction_interval(np.arange(1, 5))
    assert mean == pytest.approx((2.5, 2.5 - t * s / 2, 2.5 + t * s / 2), rel=1e-6)
    wide = t * s * np.sqrt(1.25)
    assert prediction == pytest.approx((2.5, 2.5 - wide, 2.5 + wide), rel=1e-6)


@pytest.mark.parametrize(("interval", "truth"), [(mean_interval, "mean"), (prediction_interval, "run")])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_hold_what_they_say_as_often_as_they_say(interval, truth, level):
    rng = np.random.default_rng(0)
    runs, new = rng.normal(7, 2, size=(2000, 5)), rng.normal(7, 2, size=2000)
    intervals = [interval(row, level) for row in runs]
    aims = np.full(2000, 7.0) if truth == "mean" else new
    share = np.mean([low <= aim <= high for (_, low, high), aim in zip(intervals, aims, strict=True)])
    assert share == pytest.approx(level, abs=0.03)


@pytest.mark.parametrize("interval", [mean_interval, prediction_interval])
@pytest.mark.parametrize(
    ("runs", "level", "says"),
    [
        ([1.0], 0.95, "runs holds 1; expected at least 2"),
        (np.eye(3), 0.95, r"runs has shape \(3, 3\) and holds float64; expected \(runs,\), a number each"),
        (["a", "b"], 0.95, r"runs has shape \(2,\) and holds <U1"),
        ([1.0, 2.0], 95.0, r"level is 95\.0; expected a share between 0 and 1"),
        ([1.0, 2.0], float("nan"), "level is nan"),
    ],
)
def test_intervals_need_runs_and_a_level(refused, interval, runs, level, says):
    refused(lambda: interval(runs, level), ValueError, says)
