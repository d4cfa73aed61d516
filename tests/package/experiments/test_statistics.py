"""Intervals, tests and corrections: against scipy, and where scipy has none, by hand."""

import numpy as np
import pytest
from scipy import stats

from attnlib.experiments.verdicts import (
    confidence_interval,
    holm_correction,
    margin_test,
    paired_bootstrap,
    paired_t_test,
    prediction_interval,
)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_against_scipy(level):
    rng = np.random.default_rng(0)
    x, new = rng.normal(7, 2, size=(2000, 5)), rng.normal(7, 2, size=2000)
    interval = confidence_interval(x[0], level)
    assert interval.mean == pytest.approx(x[0].mean())
    assert interval[1:] == pytest.approx(stats.ttest_1samp(x[0], 0).confidence_interval(level))
    predicted = [prediction_interval(runs, level) for runs in x]
    inside = [low <= run <= high for run, (_, low, high) in zip(new, predicted, strict=True)]
    assert np.mean(inside) == pytest.approx(level, abs=0.03)


@pytest.mark.parametrize("n", [2, 5, 10])
def test_paired_tests_against_scipy(n):
    rng = np.random.default_rng(n)
    first, second = rng.normal(0.3, 1, n), rng.normal(0, 1, n)
    assert paired_t_test(first - second) == pytest.approx(stats.ttest_rel(first, second).pvalue)
    theirs = stats.ttest_1samp(first - second, 0.7, alternative="less").pvalue
    assert margin_test(first - second, 0.7) == pytest.approx(theirs)


def test_differences_that_are_all_the_same():
    assert paired_t_test([0.0, 0.0, 0.0]) == 1
    assert paired_t_test([-0.1, -0.1, -0.1]) == pytest.approx(0, abs=1e-9)
    assert [round(margin_test([x, x], 0.05), 9) for x in (0.0, 0.05, 0.1)] == [0, 0.5, 1]


def test_holm_by_hand():
    """Holm 1979: the least times 4, the next times 3, but not less than the one before, ..."""
    assert holm_correction([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm_correction([0.5, 0.5, 0.01]) == pytest.approx([1.0, 1.0, 0.03])
    assert holm_correction([]).size == 0


def test_bootstrap_against_scipy():
    rng = np.random.default_rng(0)
    correct, other = rng.random((5, 60)) < 0.7, rng.random((5, 60)) < 0.5
    interval, by_sentence = paired_bootstrap(correct, other), correct.mean(0) - other.mean(0)
    theirs = stats.bootstrap((by_sentence,), np.mean, method="percentile", n_resamples=4000, rng=1)
    assert interval.mean == pytest.approx(by_sentence.mean())
    assert interval[1:] == pytest.approx(theirs.confidence_interval, abs=0.01)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: confidence_interval([1.0]), "runs has length 1; expected at least 2 numbers"),
        (lambda: prediction_interval([1.0, 2.0], 95.0), r"level is 95\.0; expected a share between 0 and 1"),
        (lambda: paired_t_test([0.1, float("nan")]), "differences is .*; expected at least 2 numbers"),
    ],
)
def test_what_cannot_be_tested_is_refused(refused, call, says):
    refused(call, says)
