"""What several runs tell: of their mean, of one more run, of a difference, of many claims, and of other sentences."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Real
from scipy import stats
from scipy.special import stdtr, stdtrit

Runs = Sequence[float] | Real[np.ndarray, "seeds"]


class Interval(NamedTuple):
    """A mean, and the ends of an interval around it."""

    mean: float
    low: float
    high: float


class Correlation(NamedTuple):
    """A rank correlation, from -1 to 1, and how probable one as far from 0 is if there is none."""

    rho: float
    p: float


def mean_interval(runs: Runs, level: float = 0.95) -> Interval:
    r"""Take the mean of several runs, and where the mean of ever more runs probably lies.

    :math:`\bar{x} \pm t\,s / \sqrt{n}`, with Student's t for `level`.

    Raises
    ------
    ValueError
        If there are fewer than 2 runs, or `runs` is no list of numbers, or `level` is not between 0 and 1.
    """
    return _interval(runs, level, 0)


def prediction_interval(runs: Runs, level: float = 0.95) -> Interval:
    r"""Take the mean of several runs, and where one more run probably lies. Errors as for `mean_interval`.

    :math:`\bar{x} \pm t\,s \sqrt{1 + 1/n}`. It does not shrink to nothing with more runs.
    """
    return _interval(runs, level, 1)


def paired_p(differences: Runs) -> float:
    """Compute how probable a mean difference this far from 0, to either side, would be if the true one were 0.

    Student's t-test of the differences. If they are all alike, the answer is 1 if they are 0, otherwise 0.

    Raises
    ------
    ValueError
        If there are fewer than 2 differences, or one is NaN.
    """
    return 2 * min(ruled_out_p(differences, 0.0), ruled_out_p(-np.asarray(differences), 0.0))


def ruled_out_p(differences: Runs, margin: float) -> float:
    """Compute how probable a mean difference this low is, if the true one is `margin`. Errors as for `paired_p`."""
    x = np.asarray(differences, dtype=float)
    mean = mean_interval(x).mean
    if not np.isfinite(mean):
        raise ValueError(f"differences is {x}; expected numbers")
    error = float(np.std(x, ddof=1)) / sqrt(len(x))
    if error < 1e-12:  # all alike, but for rounding
        return 0.5 if abs(mean - margin) < 1e-12 else float(mean > margin)
    return float(stdtr(len(x) - 1, (mean - margin) / error))  # stats.ttest_1samp takes ten times as long


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct several p-values that are judged together, by the method of Holm 1979.

    The least is multiplied by how many there are, the next by one less, and so on; none is less than the one before
    it, or more than 1.
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.maximum.accumulate(np.arange(len(p), 0, -1) * p[order]).clip(max=1)
    return corrected.tolist()


def sentence_interval(
    right: Bool[np.ndarray, "seeds sentences"], other: Bool[np.ndarray, "seeds sentences"]
) -> Interval:
    """Tell how many more translations a row would have right than another, with the same seeds and other sentences.

    Given which they have right, take the mean difference of the shares, and 95 per cent of those that 2,000 draws from
    the test sentences give, with replacement.

    Raises
    ------
    ValueError
        If there is no sentence.
    """
    if not right.size:
        raise ValueError(f"right has shape {right.shape}; expected a seed and a sentence or more")
    by_sentence = right.mean(0) - other.mean(0)
    drawn = np.random.default_rng(0).integers(len(by_sentence), size=(2000, len(by_sentence)))
    low, high = np.quantile(by_sentence[drawn].mean(1), [0.025, 0.975])
    return Interval(float(by_sentence.mean()), float(low), float(high))


def correlation_within(
    first: Sequence[Float[np.ndarray, "_"]], second: Sequence[Float[np.ndarray, "_"]]
) -> Correlation:
    """Correlate the ranks of two measures of each row's seeds within the row, over all rows together.

    Each row is ranked by itself, so that what differs between rows does not count. Of a single row it is Spearman's
    rho. The p-value is the share of 10,000 random orders within the rows whose rho is as far from 0.

    Raises
    ------
    ValueError
        If the rows are not as many, or as long, or a measure is the same for all seeds of every row.
    """
    if [len(row) for row in first] != [len(row) for row in second]:
        raise ValueError("first and second have not the same seeds")
    x, y = ([stats.rankdata(row) - (len(row) + 1) / 2 for row in rows] for rows in (first, second))
    scale = sqrt(sum((row @ row) for row in x) * sum((row @ row) for row in y))
    if not scale:
        raise ValueError("first or second is the same for all seeds; expected a measure that differs")
    rng, samples = np.random.default_rng(0), 10_000
    chance = sum(rng.permuted(np.tile(row, (samples, 1)), axis=1) @ other for row, other in zip(x, y, strict=True))
    rho = sum(row @ other for row, other in zip(x, y, strict=True)) / scale
    as_far = np.abs(chance / scale) >= abs(rho) - 1e-12
    return Correlation(float(rho), float((1 + as_far.sum()) / (1 + samples)))


def _interval(runs: Runs, level: float, of_one_run: int) -> Interval:
    runs = np.asarray(runs)
    if runs.ndim != 1 or (runs.size and runs.dtype.kind not in "iuf"):
        raise ValueError(f"runs has shape {runs.shape} and holds {runs.dtype}; expected (runs,), a number each")
    n = len(runs)
    if n < 2:
        raise ValueError(f"runs holds {n}; expected at least 2")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; expected a share between 0 and 1")
    mean, deviation = float(np.mean(runs)), float(np.std(runs, ddof=1))
    half = float(stdtrit(n - 1, (1 + level) / 2)) * deviation * sqrt(of_one_run + 1 / n)
    return Interval(mean, mean - half, mean + half)
