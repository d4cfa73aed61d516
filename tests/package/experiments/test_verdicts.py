"""Verdicts: each by hand and against scipy, corrected together, and read back from the table."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from attnbook.experiments.verdicts import holm_correction, judge_claims

GOOD, POOR = [0.83, 0.86, 0.8, 0.84, 0.9], [0.79, 0.84, 0.81]


def runs_of(by="clauses", **models):
    """Make runs of one test set, as many as there are numbers; perplexity is their exponential."""
    parts = [
        pd.DataFrame({"model": name, by: 3, "seed": range(10, 10 + len(x)), "exact_match": x})
        for name, x in models.items()
    ]
    return pd.concat(parts).assign(perplexity=lambda runs: np.exp(runs.exact_match))


def claims(*claims, margin=0.02):
    """Make claims of four words each: first, second, direction, metric."""
    frame = pd.DataFrame(claims, columns=["first", "second", "direction", "metric"])
    return frame.assign(claim="a claim", test_set=3, margin=margin)


def test_holm_by_hand():
    """Holm 1979: the least times 4, the next times 3, but not less than the one before, ..."""
    assert holm_correction([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm_correction([0.5, np.nan, 0.5, 0.01]) == pytest.approx([1.0, np.nan, 1.0, 0.03], nan_ok=True)
    assert holm_correction([]).size == 0


@pytest.mark.parametrize("metric", ["exact_match", "perplexity"])
def test_welch_s_test_takes_all_runs_of_both_and_the_logarithm_of_perplexity(metric):
    asked = [("good", "poor", direction, metric) for direction in ("more", "less", "differs")]
    judged = judge_claims(runs_of(good=GOOD, poor=POOR), claims(*asked))
    test = stats.ttest_ind(GOOD, POOR, equal_var=False)
    low, high = test.confidence_interval(0.95)
    expected = [np.mean(GOOD) - np.mean(POOR), low, high, test.pvalue]
    columns = ["difference", "ci_low", "ci_high", "p_value"]
    assert judged[columns].to_numpy() == pytest.approx(np.array([expected] * 3))
    more = stats.ttest_ind(np.array(GOOD) - 0.02, POOR, equal_var=False, alternative="less").pvalue
    less = stats.ttest_ind(np.array(GOOD) + 0.02, POOR, equal_var=False, alternative="greater").pvalue
    assert judged["margin_p_value"].to_numpy() == pytest.approx([more, less, max(more, less)])


def test_paired_it_is_the_t_test_of_the_differences_of_common_seeds():
    runs = runs_of("test_set", good=GOOD, poor=POOR).sample(frac=1, random_state=0)
    [judged] = judge_claims(runs, claims(("good", "poor", "more", "exact_match")), paired=True).itertuples()
    test = stats.ttest_rel(GOOD[:3], POOR)
    expected = [np.mean(GOOD[:3]) - np.mean(POOR), *test.confidence_interval(0.95), test.pvalue]
    assert [judged.difference, judged.ci_low, judged.ci_high, judged.p_value] == pytest.approx(expected)
    least = stats.ttest_rel(np.array(GOOD[:3]) - 0.02, POOR, alternative="less").pvalue
    assert judged.margin_p_value == pytest.approx(least)


@pytest.mark.parametrize(
    ("first", "second", "direction", "verdict"),
    [
        ([1.0, 1.0, 1.0], [0.5, 0.6, 0.7, 0.5], "more", "supported"),
        ([1.0, 1.0, 1.0], [0.5, 0.6, 0.7, 0.5], "differs", "supported"),
        ([1.0, 1.0, 1.0], [0.5, 0.6, 0.7, 0.5], "less", "reversed"),
        ([0.5, 0.6, 0.7, 0.5], [1.0, 1.0, 1.0], "less", "supported"),
        ([1.0, 1.0, 1.0], [1.0, 1.0], "more", "ruled out"),
        ([1.0, 1.0, 1.0], [1.0, 1.0], "differs", "ruled out"),
        ([0.1, 0.9, 0.5], [0.5, 0.6, 0.7, 0.5], "more", "inconclusive"),
        ([1.0], [0.5, 0.6, 0.7, 0.5], "more", "not recorded"),
    ],
)
def test_a_claim_alone(first, second, direction, verdict):
    asked = claims(("one", "other", direction, "exact_match"))
    assert [*judge_claims(runs_of(one=first, other=second), asked)["verdict"]] == [verdict]


def test_claims_are_corrected_together_but_for_those_not_recorded():
    runs = runs_of(good=GOOD, poor=POOR, same=GOOD[::-1], once=[0.5])
    asked = [("good", "poor", "more"), ("once", "good", "more"), ("same", "good", "less"), ("poor", "same", "differs")]
    together = judge_claims(runs, claims(*((*claim, "exact_match") for claim in asked)))
    for name in ("p", "margin_p"):
        corrected = holm_correction(together[f"{name}_value"].dropna())
        assert together[f"{name}_corrected"].dropna().to_numpy() == pytest.approx(corrected)
    assert together["verdict"].tolist() == ["inconclusive", "not recorded", "inconclusive", "inconclusive"]
