"""Intervals and tests of significance: by hand, against scipy, and how often they err."""

import numpy as np
import pytest
from scipy import stats

from attnlib.experiments.statistics import (
    correlation_within,
    holm,
    mean_interval,
    paired_p,
    prediction_interval,
    ruled_out_p,
    sentence_interval,
)


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


@pytest.mark.parametrize("n", [2, 5, 10])
def test_pairs_against_scipy(n):
    rng = np.random.default_rng(n)
    first, second = rng.normal(0.3, 1, n), rng.normal(0, 1, n)
    x = first - second
    assert paired_p(x) == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert ruled_out_p(x, 0.7) == pytest.approx(stats.ttest_1samp(x, 0.7, alternative="less").pvalue)


def test_differences_that_are_all_alike():
    assert paired_p([0.0, 0.0, 0.0]) == 1.0
    assert paired_p([0.1, 0.1, 0.1]) == 0.0
    assert paired_p([-0.1, -0.1, -0.1]) == 0.0
    assert ruled_out_p([0.0, 0.0], 0.05) == 0.0
    assert ruled_out_p([0.05, 0.05], 0.05) == 0.5
    assert ruled_out_p([0.1, 0.1], 0.05) == 1.0


def test_holm_by_hand():
    """Holm 1979: the least times 4, the next times 3, but not less than the one before, ..."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.5, 0.01]) == pytest.approx([1.0, 1.0, 0.03])
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


def test_sentences_against_scipy():
    rng = np.random.default_rng(0)
    right, other = rng.random((5, 60)) < 0.7, rng.random((5, 60)) < 0.5
    interval = sentence_interval(right, other)
    x = (right.mean(0) - other.mean(0),)
    theirs = stats.bootstrap(x, np.mean, method="percentile", n_resamples=4000, rng=1).confidence_interval
    assert interval.mean == pytest.approx(right.mean() - other.mean())
    assert interval[1:] == pytest.approx(theirs, abs=0.01)


def test_of_one_row_it_is_spearmans_rho():
    rng = np.random.default_rng(3)
    x = rng.normal(size=12)
    y = x + rng.normal(size=12)
    theirs = stats.spearmanr(x, y)
    correlation = correlation_within([x], [y])
    assert correlation.rho == pytest.approx(theirs.statistic)
    assert correlation.p == pytest.approx(theirs.pvalue, abs=0.01)


def test_what_differs_between_rows_does_not_count():
    """Two rows, far apart in both measures; within each, the one falls as the other rises."""
    first = [np.array([1.0, 2.0, 3.0]), np.array([101.0, 102.0, 103.0])]
    second = [np.array([3.0, 2.0, 1.0]), np.array([103.0, 102.0, 101.0])]
    assert stats.spearmanr(np.concatenate(first), np.concatenate(second)).statistic > 0.5
    correlation = correlation_within(first, second)
    assert correlation.rho == pytest.approx(-1)
    assert correlation.p == pytest.approx(2 / 36, abs=0.01), "of 36 orders, two are as far from 0"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: paired_p([0.1]), "runs holds 1; expected at least 2"),
        (lambda: paired_p([0.1, float("nan")]), "differences is .*; expected numbers"),
        (lambda: sentence_interval(*np.ones((2, 0, 3), dtype=bool)), r"right has shape \(0, 3\)"),
        (lambda: correlation_within([np.arange(3.0)], [np.arange(2.0)]), "have not the same seeds"),
        (lambda: correlation_within([np.ones(3)], [np.arange(3.0)]), "the same for all seeds"),
    ],
)
def test_what_cannot_be_tested_is_refused(refused, call, says):
    refused(call, ValueError, says)
