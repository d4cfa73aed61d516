"""Verdicts on the claims of a plan (laboratory 5).

The verdict on a claim is "supported" if the claimed difference is found, "reversed" if the opposite is, "ruled out" if
a difference of the margin is, otherwise "inconclusive", and "not recorded" if a model of it has fewer than two runs.
The plans' texts have no term of their own for the second and the last.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from jaxtyping import Float, Real
from scipy import stats

Numbers: TypeAlias = Sequence[float] | Real[np.ndarray, "tests"] | pd.Series

_TESTED = ["difference", "ci_low", "ci_high", "p_value", "margin_p_value"]


def holm_correction(p_values: Numbers, *, planned: bool = False) -> Float[np.ndarray, "tests"]:
    """Correct the p-values of several tests by Holm's method (Holm 1979); a NaN is no test, or one that is to come."""
    p = pd.Series(np.asarray(p_values, dtype=float)).dropna().sort_values()
    tests = len(p_values) if planned else len(p)
    return (p * np.arange(tests, tests - len(p), -1)).cummax().clip(upper=1).reindex(range(len(p_values))).to_numpy()


def judge_claims(runs: pd.DataFrame, claims: pd.DataFrame, *, paired: bool = False) -> pd.DataFrame:
    """Judge claims by t-tests on the runs of two models, at a significance level of 0.05.

    Parameters
    ----------
    runs : DataFrame
        Metrics of the runs, as `attnbook.experiments.runs.Recording.runs` returns them.
    claims : DataFrame
        Claims, as `attnbook.experiments.plan.Plan.claims` returns them. A margin of perplexity is one of its logarithm.
    paired : bool, default False
        Whether the differences of runs with equal seeds are tested, by Student's t-test. Otherwise all runs of both
        models are, by Welch's.

    Returns
    -------
    DataFrame
        The claims, with columns ``difference``, the mean of the first model minus that of the second; ``ci_low`` and
        ``ci_high``, its 95 percent interval; ``p_value``, of no difference, and ``margin_p_value``, of a difference of
        the margin in the claimed direction; ``p_corrected`` and ``margin_p_corrected``, both corrected for all claims
        here (Holm 1979); and ``verdict``.
    """
    return correct_together(compare(runs, claims, paired=paired))


def compare(runs: pd.DataFrame, claims: pd.DataFrame, *, paired: bool = False) -> pd.DataFrame:
    """Test claims as `judge_claims` does, without a correction and a verdict."""
    [by] = {"clauses", "test_set"} & {*runs}
    runs = runs.assign(perplexity=np.log(runs["perplexity"])).set_index("seed")
    by_model = {key: part for key, part in runs.groupby(["model", by]) if len(part) > 1}
    tested = []
    for claim in claims.itertuples():
        both: list[Any] = [by_model.get((name, claim.test_set)) for name in (claim.first, claim.second)]
        if any(part is None for part in both):
            tested.append([np.nan] * len(_TESTED))
        else:
            first, second = (part[claim.metric] for part in both)
            tested.append(_t_test(first, second, claim.direction, claim.margin, paired=paired))
    return claims.reset_index(drop=True).join(pd.DataFrame(tested, columns=_TESTED, dtype=float))


def correct_together(tested: pd.DataFrame, *, planned: bool = False) -> pd.DataFrame:
    """Correct the tests of a family and give their verdicts; ``planned`` counts those whose runs are not recorded."""
    p_value, p_margin = (holm_correction(tested[name], planned=planned) for name in ("p_value", "margin_p_value"))
    positive, direction = tested["difference"] > 0, tested["direction"]
    as_claimed = (direction == "differs") | np.where(direction == "more", positive, ~positive)
    outcomes = [tested["difference"].isna(), (p_value < 0.05) & as_claimed, p_value < 0.05, p_margin < 0.05]
    verdict = np.select(outcomes, ["not recorded", "supported", "reversed", "ruled out"], "inconclusive")
    return tested.assign(p_corrected=p_value, margin_p_corrected=p_margin, verdict=verdict)


def _t_test(first: pd.Series, second: pd.Series, direction: str, margin: float, *, paired: bool) -> list[float]:
    """Return the difference of the means, its interval, and the p-values of no difference and of the margin."""
    samples = [(first - second).dropna()] if paired else [first, second]
    errors = [max(runs.var() / len(runs), 1e-24) for runs in samples]  # not 0, if all are the same
    free = sum(errors) ** 2 / sum(e**2 / (len(runs) - 1) for e, runs in zip(errors, samples, strict=True))
    difference, error = samples[0].mean() - (0 if paired else second.mean()), sqrt(sum(errors))
    half = stats.t.ppf(0.975, free) * error
    as_large = {"more": (difference - margin) / error, "less": (-difference - margin) / error}
    as_large["differs"] = max(as_large.values())
    p_value = 2 * stats.t.sf(abs(difference) / error, free)
    return [difference, difference - half, difference + half, p_value, stats.t.cdf(as_large[direction], free)]
