"""Statistics of several runs, and verdicts on the claims of a plan.

The verdict on a claim is "supported" if the claimed difference is found, "reversed" if the opposite is, "ruled out" if
a difference of the margin is, and otherwise "inconclusive". The plans' texts have no term of their own for "reversed".
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Real
from scipy import stats

from attnlib.checks import check_choice
from attnlib.experiments.plan import name_test_set

Runs = Sequence[float] | Real[np.ndarray, "runs"] | pd.Series
"""A number for each run of a model, such as its exact match."""


METRICS = {"exact_match": 0.05, "bleu_beam": 5.0, "perplexity": 0.05}
"""Metrics of translations that claims can be judged by, with the margin: the smallest difference that counts as large.

They are shares of sentences, points of BLEU, and nats per word: perplexity is judged by its logarithm, so that ratios
count.
"""


class Interval(NamedTuple):
    """Mean of several numbers, with an interval around it.

    Attributes
    ----------
    mean : float
        Mean.
    low, high : float
        Ends of the interval.
    """

    mean: float
    low: float
    high: float


def confidence_interval(runs: Runs, level: float = 0.95) -> Interval:
    r"""Compute the mean of several runs and its confidence interval.

    Parameters
    ----------
    runs : array, shape (runs,)
        A number for each run.
    level : float, default 0.95
        Confidence level, between 0 and 1.

    Returns
    -------
    Interval
        :math:`\bar{x} \pm t\,s / \sqrt{n}`, with Student's t.

    Raises
    ------
    ValueError
        If there are fewer than 2 runs, or `level` is not between 0 and 1.
    """
    return _interval(runs, level, 0)


def prediction_interval(runs: Runs, level: float = 0.95) -> Interval:
    r"""Compute the mean of several runs and its prediction interval.

    Parameters
    ----------
    runs : array, shape (runs,)
        A number for each run.
    level : float, default 0.95
        Probability that the interval contains one more run, between 0 and 1.

    Returns
    -------
    Interval
        :math:`\bar{x} \pm t\,s \sqrt{1 + 1/n}`, with Student's t. With more runs it does not shrink to 0.

    Raises
    ------
    ValueError
        If there are fewer than 2 runs, or `level` is not between 0 and 1.
    """
    return _interval(runs, level, 1)


def paired_t_test(differences: Runs) -> float:
    """Compute the two-sided p-value of Student's paired t-test.

    The null hypothesis is a mean difference of 0. If all differences are equal, the p-value is 1 if they are 0, and 0
    otherwise.

    Parameters
    ----------
    differences : array, shape (runs,)
        Difference of each pair of runs.

    Returns
    -------
    float
        The p-value.

    Raises
    ------
    ValueError
        If there are fewer than 2 differences, or one is NaN.
    """
    return 2 * min(margin_test(differences, 0.0), margin_test(-np.asarray(differences), 0.0))


def margin_test(differences: Runs, margin: float) -> float:
    """Compute the one-sided p-value of a mean difference of at least the margin.

    Parameters
    ----------
    differences : array, shape (runs,)
        Difference of each pair of runs.
    margin : float
        Smallest mean difference under the null hypothesis.

    Returns
    -------
    float
        The p-value, by Student's t-test.

    Raises
    ------
    ValueError
        If there are fewer than 2 differences, or one is NaN.
    """
    x = np.asarray(differences, dtype=float)
    if len(x) < 2 or np.isnan(x).any():
        raise ValueError(f"differences is {x}; expected at least 2 numbers")
    error = max(stats.sem(x), 1e-12)  # not 0, if they are all the same
    return float(stats.t.cdf((x.mean() - margin) / error, len(x) - 1))


def holm_correction(p_values: Runs) -> Float[np.ndarray, "tests"]:
    """Correct the p-values of several tests by Holm's method (Holm 1979)."""
    p = pd.Series(np.asarray(p_values, dtype=float)).sort_values()
    return (p * np.arange(len(p), 0, -1)).cummax().clip(upper=1).sort_index().to_numpy()


def paired_bootstrap(
    correct: Bool[np.ndarray, "runs sentences"], other: Bool[np.ndarray, "runs sentences"]
) -> Interval:
    """Compute the difference in exact match and its bootstrap interval.

    Parameters
    ----------
    correct, other : bool array, shape (runs, sentences)
        Correct translations of two models, for the same sentences.

    Returns
    -------
    Interval
        Difference of the two shares of correct translations, with its 95 percent interval.

    Notes
    -----
    Test sentences are resampled 2,000 times with replacement; runs are not resampled.
    """
    by_sentence = correct.mean(0) - other.mean(0)
    drawn = np.random.default_rng(0).integers(len(by_sentence), size=(2000, len(by_sentence)))
    low, high = np.quantile(by_sentence[drawn].mean(1), [0.025, 0.975])
    return Interval(float(by_sentence.mean()), float(low), float(high))


def _interval(runs: Runs, level: float, of_one_run: int) -> Interval:
    x = np.asarray(runs, dtype=float)
    if len(x) < 2:
        raise ValueError(f"runs has length {len(x)}; expected at least 2 numbers")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; expected a share between 0 and 1")
    half = stats.t.ppf((1 + level) / 2, len(x) - 1) * x.std(ddof=1) * sqrt(of_one_run + 1 / len(x))
    return Interval(float(x.mean()), float(x.mean() - half), float(x.mean() + half))


def compare_models(runs: pd.DataFrame, claims: pd.DataFrame, metric: str | None = None) -> pd.DataFrame:
    """Judge claims about the metrics of two models, with runs paired by seed, at a significance level of 0.05.

    Parameters
    ----------
    runs : DataFrame
        Metrics of the runs, as `attnlib.experiments.runs.Recording.runs` returns them.
    claims : DataFrame
        Claims, as `attnlib.experiments.plan.Plan.claims` returns them. A ``test_set`` may be a length, such as
        "8 clauses", if `runs` contains it.
    metric : str, optional
        One of `METRICS`, by which the claims about exact match are judged instead: "more" is then better, with the
        metric's own margin. If None, each claim is judged by its own metric and margin.

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
    return _judge(_test(runs, claims, metric))


def compare_by_metrics(runs: pd.DataFrame, claims: pd.DataFrame, *, jointly: bool = False) -> pd.DataFrame:
    """Judge claims as planned, and those about exact match by all other metrics.

    Parameters
    ----------
    runs : DataFrame
        Metrics of the runs, as `attnlib.experiments.runs.Recording.runs` returns them.
    claims : DataFrame
        Claims, as `attnlib.experiments.plan.Plan.claims` returns them.
    jointly : bool, default False
        Whether p-values are corrected for the tests of all metrics together. If False, for each metric by itself.

    Returns
    -------
    DataFrame
        Verdicts, as `compare_models` returns them: first the planned ones, then those of the other metrics.
    """
    others = [metric for metric in METRICS if metric != "exact_match" and "exact_match" in {*claims["metric"]}]
    tested = [_test(runs, claims, metric) for metric in (None, *others)]
    if jointly:
        return _judge(pd.concat(tested, ignore_index=True))
    return pd.concat(map(_judge, tested), ignore_index=True)


def judge_claims(runs: pd.DataFrame, claims: pd.DataFrame) -> pd.DataFrame:
    """Judge claims by Welch's test on all runs of two models, at a significance level of 0.05.

    Parameters
    ----------
    runs : DataFrame
        Metrics of the runs by number of clauses, as `attnlib.experiments.runs.Recording.runs` returns them.
    claims : DataFrame
        Claims about numbers of clauses, as `attnlib.experiments.plan.Plan.claims` returns them. A margin of perplexity
        is one of its logarithm. Those about models of which fewer than 2 runs are recorded are left out.

    Returns
    -------
    DataFrame
        The claims, with columns ``difference``, the mean of the first model minus that of the second; ``ci_low`` and
        ``ci_high``, its 95 percent interval; ``p_value``, of no difference, and ``p_margin``, of a difference of the
        margin in the claimed direction, both corrected for all claims here (Holm 1979); and ``verdict``.
    """
    runs = runs.assign(test_set=_name_test_sets(runs), perplexity=np.log(runs["perplexity"]))
    by_model = {key: part for key, part in runs.groupby(["model", "test_set"]) if len(part) > 1}
    rows, tests = [], []
    for n, claim in enumerate(claims.itertuples()):
        of_both = [by_model.get((name, claim.test_set)) for name in (claim.first, claim.second)]
        if any(part is None for part in of_both):
            continue
        rows.append(n)
        tests.append(_welch_test(*(part[claim.metric] for part in of_both), claim.direction, claim.margin))
    columns = ["difference", "ci_low", "ci_high", "p_value", "p_margin"]
    return _judge(claims.iloc[rows].reset_index(drop=True).join(pd.DataFrame(tests, columns=columns)))


def _welch_test(first: Runs, second: Runs, direction: str, margin: float) -> list[float]:
    """Return the difference of the means, its interval, and the p-values of no difference and of the margin."""
    errors = [max(np.var(runs, ddof=1) / len(runs), 1e-24) for runs in (first, second)]  # not 0, if all are the same
    error = sqrt(sum(errors))
    free = sum(errors) ** 2 / sum(e**2 / (len(runs) - 1) for e, runs in zip(errors, (first, second), strict=True))
    difference = float(np.mean(first) - np.mean(second))
    half = stats.t.ppf(0.975, free) * error
    as_large = {"more": (difference - margin) / error, "less": (-difference - margin) / error}
    as_large["differs"] = max(as_large.values())
    p_value = 2 * stats.t.sf(abs(difference) / error, free)
    return [difference, difference - half, difference + half, p_value, stats.t.cdf(as_large[direction], free)]


def _test(runs: pd.DataFrame, claims: pd.DataFrame, metric: str | None) -> pd.DataFrame:
    """Return the claims with differences and uncorrected p-values."""
    if metric is not None:
        check_choice(METRICS, metric=metric)
        of_exact_match = claims[claims["metric"] == "exact_match"]
        claims = of_exact_match.assign(metric=metric, margin=METRICS[metric])
        runs = runs.assign(perplexity=-np.log(runs["perplexity"]))
    values = runs.assign(test_set=_name_test_sets(runs)).set_index(["model", "test_set", "seed"]).sort_index()
    tests = []
    for claim in claims.itertuples():
        try:
            first, second = (values[claim.metric].loc[name, claim.test_set] for name in (claim.first, claim.second))
        except KeyError as missing:
            raise ValueError(f"runs lacks {missing}; expected runs of {claim.first} and {claim.second}") from None
        differences = (first - second).dropna()
        of_margin = {"more": margin_test(differences, claim.margin), "less": margin_test(-differences, claim.margin)}
        of_margin["differs"] = max(of_margin.values())
        interval, p_value = confidence_interval(differences), paired_t_test(differences)
        tests.append([*interval, p_value, of_margin[claim.direction]])
    columns = ["difference", "ci_low", "ci_high", "p_value", "p_margin"]
    return claims.reset_index(drop=True).join(pd.DataFrame(tests, columns=columns))


def _name_test_sets(runs: pd.DataFrame) -> pd.Series:
    """Return the test set of each row, or its length as a name, such as "8 clauses"."""
    names = runs["test_set"] if "test_set" in runs else pd.Series(index=runs.index, dtype=object)
    return names.fillna(runs["clauses"].dropna().astype(int).map(name_test_set)) if "clauses" in runs else names


def _judge(tested: pd.DataFrame) -> pd.DataFrame:
    """Correct the p-values of tests, and add the verdict on each claim."""
    p_value, p_margin = (holm_correction(tested[name]) for name in ("p_value", "p_margin"))
    positive, direction = tested["difference"] > 0, tested["direction"]
    as_claimed = (direction == "differs") | np.where(direction == "more", positive, ~positive)
    outcomes = [(p_value < 0.05) & as_claimed, p_value < 0.05, p_margin < 0.05]
    verdict = np.select(outcomes, ["supported", "reversed", "ruled out"], "inconclusive")
    return tested.assign(p_value=p_value, p_margin=p_margin, verdict=verdict)
