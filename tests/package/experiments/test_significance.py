"""Tests of significance: against scipy, by hand, and how often they err."""

import numpy as np
import pytest
from scipy import stats

from attnlib.experiments.intervals import mean_interval
from attnlib.experiments.significance import correlation_within, holm, paired_p, ruled_out_p, sentence_interval


@pytest.mark.parametrize("n", [2, 5, 10])
def test_pairs_against_scipy(n):
    rng = np.random.default_rng(n)
    first, second = rng.normal(0.3, 1, n), rng.normal(0, 1, n)
    x = first - second
    assert paired_p(x) == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert paired_p(x, 0.7) == pytest.approx(stats.ttest_1samp(x, 0.7).pvalue)
    assert ruled_out_p(x, 0.7) == pytest.approx(stats.ttest_1samp(x, 0.7, alternative="less").pvalue)


def test_the_p_value_is_that_of_the_interval():
    """At the end of the 95 per cent interval, p is 0.05."""
    x = [0.1, 0.4, 0.2, 0.3, 0.35]
    for end in mean_interval(x)[1:]:
        assert paired_p(x, end) == pytest.approx(0.05)


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


@pytest.mark.parametrize("seed", range(5))
def test_the_correction_is_that_of_testing_one_after_another(seed):
    """Go from the smallest up; the first that fails its share of the level fails all after it."""
    p = np.random.default_rng(seed).beta(0.3, 3, size=7)
    passed, level = set(), 0.05
    for rank, n in enumerate(np.argsort(p)):
        if p[n] >= level / (len(p) - rank):
            break
        passed.add(int(n))
    assert {n for n, corrected in enumerate(holm(p.tolist())) if corrected < level} == passed


def test_holm_lets_at_most_one_in_twenty_families_err():
    rng = np.random.default_rng(0)
    erred = [min(holm(rng.uniform(size=8).tolist())) < 0.05 for _ in range(4000)]
    assert np.mean(erred) == pytest.approx(0.05, abs=0.012)


def test_holm_is_between_no_correction_and_bonferroni():
    p = np.random.default_rng(1).uniform(0, 0.1, 7)
    corrected = np.array(holm(p.tolist()))
    assert (corrected >= p).all()
    assert (corrected <= np.minimum(1, 7 * p)).all()
    assert (np.diff(corrected[np.argsort(p)]) >= 0).all()


def test_sentences_against_scipy():
    rng = np.random.default_rng(0)
    right, other = rng.random((5, 60)) < 0.7, rng.random((5, 60)) < 0.5
    found = sentence_interval(right, other)
    x = (right.mean(0) - other.mean(0),)
    theirs = stats.bootstrap(x, np.mean, method="percentile", n_resamples=4000, rng=1).confidence_interval
    assert found.mean == pytest.approx(right.mean() - other.mean())
    assert found[1:] == pytest.approx(theirs, abs=0.01)


def test_the_interval_of_sentences_by_hand():
    """One seed: a share of k of n has a standard error of sqrt(p (1 - p) / n)."""
    right = np.arange(400)[None] < 100
    mean, low, high = sentence_interval(right, samples=4000)
    error = np.sqrt(0.25 * 0.75 / 400)
    assert (mean, low, high) == pytest.approx((0.25, 0.25 - 1.96 * error, 0.25 + 1.96 * error), abs=0.004)
    assert sentence_interval(np.ones((3, 7), dtype=bool)) == (1.0, 1.0, 1.0)
    same = sentence_interval(right, right)
    assert same == (0.0, 0.0, 0.0)


def test_of_one_row_it_is_spearmans_rho():
    rng = np.random.default_rng(3)
    x = rng.normal(size=12)
    y = x + rng.normal(size=12)
    theirs = stats.spearmanr(x, y)
    found = correlation_within([x], [y])
    assert found.rho == pytest.approx(theirs.statistic)
    assert found.p == pytest.approx(theirs.pvalue, abs=0.01)


def test_what_differs_between_rows_does_not_count():
    """Two rows, far apart in both measures; within each, the one falls as the other rises."""
    first = [np.array([1.0, 2.0, 3.0]), np.array([101.0, 102.0, 103.0])]
    second = [np.array([3.0, 2.0, 1.0]), np.array([103.0, 102.0, 101.0])]
    assert stats.spearmanr(np.concatenate(first), np.concatenate(second)).statistic > 0.5
    found = correlation_within(first, second)
    assert found.rho == pytest.approx(-1)
    assert found.p == pytest.approx(2 / 36, abs=0.01), "of 36 orders, two are as far from 0"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: paired_p([0.1]), "runs holds 1; expected at least 2"),
        (lambda: paired_p([0.1, float("nan")]), "differences is .*; expected numbers"),
        (lambda: holm([0.5, 1.5]), r"p_values is \[0\.5, 1\.5\]; expected numbers from 0 to 1"),
        (lambda: holm([float("nan")]), "expected numbers from 0 to 1"),
        (lambda: sentence_interval(np.ones((0, 3), dtype=bool)), r"right has shape \(0, 3\)"),
        (lambda: sentence_interval(np.ones((2, 3), dtype=bool), level=95.0), r"level is 95\.0"),
        (lambda: sentence_interval(np.ones((2, 3), dtype=bool), samples=0), "samples is 0"),
        (lambda: correlation_within([np.arange(3.0)], [np.arange(2.0)]), "have not the same seeds"),
        (lambda: correlation_within([np.ones(3)], [np.arange(3.0)]), "the same for all seeds"),
    ],
)
def test_what_cannot_be_tested_is_refused(refused, call, says):
    refused(call, ValueError, says)
