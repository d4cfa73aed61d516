"""Verdicts: each of the four by hand, the same as ever for all recorded runs, and corrected together."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attnlib.experiments.runs import Recording
from attnlib.experiments.verdicts import compare_by_metrics, compare_models, holm_correction

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


@pytest.mark.parametrize("plan", ["comparison", "places", "sentences", "successors"])
def test_the_recorded_runs_give_the_verdicts_that_they_gave_when_recorded(plan):
    golden = pd.read_csv(Path(__file__).with_name("verdicts.csv")).query("plan == @plan")
    recording = Recording(plan)
    runs = pd.concat([recording.runs(by) for by in recording.plan.groupings if by != "words"])
    for (table, metric), wanted in golden.fillna({"judged_by": ""}).groupby(["table", "judged_by"]):
        compared = compare_models(runs, recording.plan.claims(table), metric or None)
        names = ["first", "second", "test_set", "verdict"]
        assert compared[names].to_numpy().tolist() == wanted[names].to_numpy().tolist()
        assert np.allclose(compared[NUMBERS], wanted[NUMBERS], rtol=1e-9, atol=1e-12)


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
