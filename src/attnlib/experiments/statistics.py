"""Statistics of several runs: intervals, paired tests, correction for multiple tests, and correlations."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Real
from scipy import stats

Runs = Sequence[float] | Real[np.ndarray, "runs"] | pd.Series


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


class Correlation(NamedTuple):
    """Rank correlation with its p-value.

    Attributes
    ----------
    rho : float
        Correlation, from -1 to 1.
    p_value : float
        Two-sided p-value.
    """

    rho: float
    p_value: float


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

    Raises
    ------
    ValueError
        If there is no sentence.

    Notes
    -----
    Test sentences are resampled 2,000 times with replacement; runs are not resampled.
    """
    if not correct.size:
        raise ValueError(f"correct has shape {correct.shape}; expected at least one run and one sentence")
    by_sentence = correct.mean(0) - other.mean(0)
    drawn = np.random.default_rng(0).integers(len(by_sentence), size=(2000, len(by_sentence)))
    low, high = np.quantile(by_sentence[drawn].mean(1), [0.025, 0.975])
    return Interval(float(by_sentence.mean()), float(low), float(high))


def within_model_correlation(runs: pd.DataFrame, first: str, second: str) -> Correlation:
    """Compute the rank correlation of two metrics within each model.

    Ranks are computed within each model, so that differences between models do not count. For a single model it is
    Spearman's rho.

    Parameters
    ----------
    runs : DataFrame
        A row for each run, with a column ``model``.
    first, second : str
        Columns of the two metrics.

    Returns
    -------
    Correlation
        The correlation. Its p-value is the share of 10,000 permutations within the models whose rho is at least as far
        from 0.

    Raises
    ------
    ValueError
        If a metric is the same for all seeds of every model.
    """
    by_model = runs.groupby("model", sort=False)[[first, second]]
    ranks = by_model.rank() - by_model.transform("size").to_numpy()[:, None] / 2 - 0.5
    models = [part.to_numpy().T for _, part in ranks.groupby(runs["model"], sort=False)]
    scale = sqrt((ranks**2).sum().prod())
    if not scale:
        raise ValueError(f"{first} or {second} is the same for all seeds; expected a metric that differs")
    rng, samples = np.random.default_rng(0), 10_000
    chance = sum(rng.permuted(np.tile(x, (samples, 1)), axis=1) @ y for x, y in models)
    rho = ranks.prod(axis=1).sum() / scale
    as_far = np.abs(chance / scale) >= abs(rho) - 1e-12
    return Correlation(float(rho), float((1 + as_far.sum()) / (1 + samples)))


def _interval(runs: Runs, level: float, of_one_run: int) -> Interval:
    x = np.asarray(runs, dtype=float)
    if len(x) < 2:
        raise ValueError(f"runs has length {len(x)}; expected at least 2 numbers")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; expected a share between 0 and 1")
    half = stats.t.ppf((1 + level) / 2, len(x) - 1) * x.std(ddof=1) * sqrt(of_one_run + 1 / len(x))
    return Interval(float(x.mean()), float(x.mean() - half), float(x.mean() + half))
