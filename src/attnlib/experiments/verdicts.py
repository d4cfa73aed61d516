"""Verdicts on the claims of a plan: supported, reversed, ruled out, or inconclusive."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from attnlib.checks import check_choice
from attnlib.experiments.statistics import confidence_interval, holm_correction, margin_test, paired_t_test

SUPPORTED, REVERSED, RULED_OUT, INCONCLUSIVE = "supported", "reversed", "ruled out", "inconclusive"
VERDICTS = (SUPPORTED, REVERSED, RULED_OUT, INCONCLUSIVE)
"""Verdicts on a claim: the claimed difference is found, the opposite is, or one of the margin is ruled out; or none.

The plans' files have no term of their own for "reversed".
"""


class Metric(NamedTuple):
    """A metric of translations that claims can be judged by.

    Attributes
    ----------
    label : str
        Label on a plot.
    unit : str
        Unit on a plot.
    margin : float
        Smallest difference that counts as large.
    """

    label: str
    unit: str
    margin: float


METRICS = {
    "exact_match": Metric("exact", "share of sentences", 0.05),
    "bleu_beam": Metric("beam bleu", "points of BLEU", 5.0),
    "perplexity": Metric("perplexity", "nats per word", 0.05),
}
"""Metrics of translations that claims can be judged by; perplexity by its logarithm, so that ratios count."""


def compare_models(
    runs: pd.DataFrame, claims: pd.DataFrame, metric: str | None = None, level: float = 0.05
) -> pd.DataFrame:
    """Judge claims about the metrics of two models, with runs paired by seed.

    Parameters
    ----------
    runs : DataFrame
        Metrics of the runs, as `attnlib.experiments.runs.load_runs` returns them.
    claims : DataFrame
        Claims, as `attnlib.experiments.plan.Plan.claims` returns them. A ``test_set`` may be a length, such as
        "8 clauses", if `runs` contains it.
    metric : str, optional
        One of `METRICS`, by which the claims about exact match are judged instead: "more" is then better, with the
        metric's own margin. If None, each claim is judged by its own metric and margin.
    level : float, default 0.05
        Significance level.

    Returns
    -------
    DataFrame
        The claims, with columns ``difference``, the mean of the first model minus the second over their common seeds;
        ``ci_low`` and ``ci_high``, its 95 percent interval; ``p_value``, of no difference, and ``p_margin``, of a
        difference of the margin in the claimed direction, both corrected for all claims here (Holm 1979); and
        ``verdict``.

    Raises
    ------
    ValueError
        If two models of a claim have fewer than 2 seeds in common, or there is no such metric.
    """
    return _judge(_test(runs, claims, metric), level)


def compare_by_metrics(
    runs: pd.DataFrame, claims: pd.DataFrame, level: float = 0.05, *, jointly: bool = False
) -> pd.DataFrame:
    """Judge claims as planned, and those about exact match by all other metrics.

    Parameters
    ----------
    runs : DataFrame
        Metrics of the runs, as `attnlib.experiments.runs.load_runs` returns them.
    claims : DataFrame
        Claims, as `attnlib.experiments.plan.Plan.claims` returns them.
    level : float, default 0.05
        Significance level.
    jointly : bool, default False
        Whether p-values are corrected for the tests of all metrics together. If False, for each metric by itself.

    Returns
    -------
    DataFrame
        Verdicts, as `compare_models` returns them: first the planned ones, then those of the other metrics.
    """
    tested = [_test(runs, claims, metric) for metric in (None, *METRICS) if metric != "exact_match"]
    if jointly:
        return _judge(pd.concat(tested, ignore_index=True), level)
    return pd.concat([_judge(part, level) for part in tested], ignore_index=True)


def name_test_sets(frame: pd.DataFrame) -> pd.Series:
    """Return the test set of each row, or its length as a name."""
    names = pd.Series(index=frame.index, dtype=object)
    if "test_set" in frame:
        names = names.fillna(frame["test_set"])
    if "clauses" in frame:
        clauses = frame["clauses"].astype("Int64").astype(str)
        names = names.fillna(clauses + np.where(frame["clauses"] == 1, " clause", " clauses"))
    return names.fillna(frame["words"] + " words") if "words" in frame else names


def _test(runs: pd.DataFrame, claims: pd.DataFrame, metric: str | None) -> pd.DataFrame:
    """Return the claims with differences and uncorrected p-values."""
    if metric is not None:
        check_choice(METRICS, metric=metric)
        of_exact_match = claims[claims["metric"] == "exact_match"]
        claims = of_exact_match.assign(metric=metric, margin=METRICS[metric].margin)
        runs = runs.assign(perplexity=-np.log(runs["perplexity"]))
    claims = claims.reset_index(drop=True)
    values = runs.assign(test_set=name_test_sets(runs)).set_index(["model", "test_set", "seed"]).sort_index()
    differences = [_differences(values, claim) for claim in claims.itertuples()]
    intervals = pd.DataFrame(map(confidence_interval, differences), columns=["difference", "ci_low", "ci_high"])
    against = [_against(x, claim) for x, claim in zip(differences, claims.itertuples(), strict=True)]
    return claims.join(intervals).assign(p_value=[paired_t_test(x) for x in differences], p_margin=against)


def _judge(tested: pd.DataFrame, level: float) -> pd.DataFrame:
    """Correct the p-values of tests, and add the verdict on each claim."""
    p_value, p_margin = (holm_correction(tested[name]) for name in ("p_value", "p_margin"))
    positive, direction = tested["difference"] > 0, tested["direction"]
    as_claimed = (direction == "differs") | np.where(direction == "more", positive, ~positive)
    outcomes = [(p_value < level) & as_claimed, p_value < level, p_margin < level]
    verdict = np.select(outcomes, VERDICTS[:3], INCONCLUSIVE)
    return tested.assign(p_value=p_value, p_margin=p_margin, verdict=verdict)


def _differences(values: pd.DataFrame, claim: tuple) -> pd.Series:
    try:
        first, second = (values[claim.metric].loc[name, claim.test_set] for name in (claim.first, claim.second))
    except KeyError as missing:
        raise ValueError(
            f"{missing} is not among the runs; expected those of {claim.first} and {claim.second}"
        ) from None
    return (first - second).dropna()


def _against(differences: pd.Series, claim: tuple) -> float:
    """Return the p-value of the differences if the claim is true by its margin."""
    more, less = (margin_test(sign * differences, claim.margin) for sign in (1, -1))
    return {"more": more, "less": less, "differs": max(more, less)}[claim.direction]
