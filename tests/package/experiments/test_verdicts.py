"""Verdicts: each of the four by hand, and corrected together."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from attnlib.experiments.verdicts import compare_by_metrics, compare_models, holm_correction, judge_claims

WAVE = np.array([0.0, 0.01, -0.01, 0.02, -0.02, 0.005, 0.03])
EXACT = {"good": 0.8 + WAVE, "poor": 0.4 - WAVE, "same": 0.801 + WAVE[::-1] / 20, "wild": 20 * WAVE}
RUNS = pd.concat(
    pd.DataFrame({"model": name, "test_set": "longer", "seed": range(10, 17), "exact_match": exact})
    for name, exact in EXACT.items()
)
RUNS = RUNS.assign(bleu_beam=-100 * RUNS.exact_match, perplexity=np.exp(-RUNS.exact_match), error=-RUNS.exact_match)
NUMBERS = ["difference", "ci_low", "ci_high", "p_value", "p_margin"]


def claims(*claims, margin=0.05, test_set="longer"):
    """Make claims of four words each: first, second, direction, metric."""
    frame = pd.DataFrame(claims, columns=["first", "second", "direction", "metric"])
    return frame.assign(test_set=test_set, margin=margin)


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (("good", "poor", "more", "exact_match"), "supported"),
        (("good", "poor", "differs", "exact_match"), "supported"),
        (("good", "poor", "less", "exact_match"), "reversed"),
        (("poor", "good", "more", "exact_match"), "reversed"),
        (("good", "poor", "less", "error"), "supported"),
        (("same", "good", "more", "exact_match"), "ruled out"),
        (("same", "good", "differs", "exact_match"), "ruled out"),
        (("wild", "poor", "less", "exact_match"), "inconclusive"),
        (("wild", "wild", "differs", "exact_match"), "ruled out"),
    ],
)
def test_a_claim_alone(claim, verdict):
    assert [*compare_models(RUNS, claims(claim))["verdict"]] == [verdict]


def test_a_claim_that_holds_by_less_than_the_margin_holds():
    compared = compare_models(RUNS, claims(("good", "poor", "more", "exact_match"), margin=0.9)).iloc[0]
    assert (compared.verdict, compared.p_margin < 0.05) == ("supported", True)


def test_claims_are_corrected_together_and_paired_by_seed():
    many = [("good", "poor", "more", "exact_match"), ("same", "good", "more", "exact_match")]
    many += [("wild", "good", "differs", "exact_match")] * 3
    shuffled = RUNS.sample(frac=1, random_state=0).query("model != 'wild' or seed < 15")
    together = compare_models(shuffled, claims(*many))
    alone = pd.concat([compare_models(shuffled, claims(claim)) for claim in many])
    for name in ("p_value", "p_margin"):
        assert together[name].to_numpy() == pytest.approx(holm_correction(alone[name]))
    assert together["difference"].tolist() == alone["difference"].tolist()
    assert together["difference"][2] == pytest.approx((EXACT["wild"] - EXACT["good"])[:5].mean())


def test_all_metrics_are_corrected_each_by_itself_or_jointly():
    asked = claims(("same", "good", "more", "exact_match"), ("wild", "poor", "less", "error"))
    each, jointly = (compare_by_metrics(RUNS, asked, jointly=jointly) for jointly in (False, True))
    alone = [compare_models(RUNS, asked), *(compare_models(RUNS, asked, m) for m in ("bleu_beam", "perplexity"))]
    columns = ["metric", *NUMBERS, "verdict"]
    assert each[columns].equals(pd.concat(alone, ignore_index=True)[columns])
    assert [*each["metric"]] == ["exact_match", "error", "bleu_beam", "perplexity"]
    tests = (0, None), (1, None), (0, "bleu_beam"), (0, "perplexity")
    one_by_one = pd.concat(compare_models(RUNS, asked[k : k + 1], metric) for k, metric in tests)
    for name in ("p_value", "p_margin"):
        assert jointly[name].to_numpy() == pytest.approx(holm_correction(one_by_one[name]))
    assert jointly["difference"].equals(each["difference"])


@pytest.mark.parametrize(
    ("second", "metric", "says"),
    [
        ("nobody", None, "runs lacks .*nobody.*; expected runs of good and nobody"),
        ("poor", "bleu", "metric is 'bleu'"),
    ],
)
def test_what_is_not_recorded_is_refused(refused, second, metric, says):
    refused(lambda: compare_models(RUNS, claims(("good", second, "more", "exact_match")), metric), says)


def lengths(**models):
    """Make runs at 3 clauses, with as many seeds as there are numbers; perplexity is their exponential."""
    parts = [pd.DataFrame({"model": name, "clauses": 3, "exact_match": x}) for name, x in models.items()]
    return pd.concat(parts).assign(perplexity=lambda runs: np.exp(runs.exact_match))


@pytest.mark.parametrize("metric", ["exact_match", "perplexity"])
def test_welch_s_test_takes_all_runs_of_both_and_the_logarithm_of_perplexity(metric):
    good, poor = [0.83, 0.86, 0.8, 0.84, 0.9], [0.79, 0.84, 0.81]
    runs = lengths(good=good, poor=poor, once=[0.5])
    asked = [("good", "poor", direction, metric) for direction in ("more", "less", "differs")]
    judged = judge_claims(runs, claims(*asked, ("good", "once", "more", metric), margin=0.02, test_set="3 clauses"))
    assert [*judged["direction"]] == ["more", "less", "differs"]
    test = stats.ttest_ind(good, poor, equal_var=False)
    assert judged["p_value"].to_numpy() == pytest.approx(holm_correction([test.pvalue] * 3))
    low, high = test.confidence_interval(0.95)
    expected = [np.mean(good) - np.mean(poor), low, high]
    assert judged[NUMBERS[:3]].to_numpy() == pytest.approx(np.array([expected] * 3))
    more = stats.ttest_ind(np.array(good) - 0.02, poor, equal_var=False, alternative="less").pvalue
    less = stats.ttest_ind(np.array(good) + 0.02, poor, equal_var=False, alternative="greater").pvalue
    assert judged["p_margin"].to_numpy() == pytest.approx(holm_correction([more, less, max(more, less)]))


@pytest.mark.parametrize(
    ("first", "second", "direction", "verdict"),
    [
        ([1.0, 1.0, 1.0], [0.5, 0.6, 0.7, 0.5], "more", "supported"),
        ([1.0, 1.0, 1.0], [0.5, 0.6, 0.7, 0.5], "less", "reversed"),
        ([1.0, 1.0, 1.0], [1.0, 1.0], "more", "ruled out"),
        ([0.1, 0.9, 0.5], [0.5, 0.6, 0.7, 0.5], "more", "inconclusive"),
    ],
)
def test_a_claim_of_runs_without_pairs(first, second, direction, verdict):
    asked = claims(("one", "other", direction, "exact_match"), margin=0.02, test_set="3 clauses")
    assert [*judge_claims(lengths(one=first, other=second), asked)["verdict"]] == [verdict]
