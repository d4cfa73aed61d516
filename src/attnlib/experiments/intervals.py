"""What several runs tell of the mean, and of one more run."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from jaxtyping import Real
from scipy import stats


class Interval(NamedTuple):
    """A mean, and the ends of an interval around it."""

    mean: float
    low: float
    high: float


def mean_interval(runs: Sequence[float] | Real[np.ndarray, "seeds"], level: float = 0.95) -> Interval:
    r"""Give the mean of several runs, and where the mean of ever more runs probably lies.

    :math:`\bar{x} \pm t\,s / \sqrt{n}`, with Student's t for `level`.

    Raises
    ------
    ValueError
        If there are fewer than 2 runs, or `runs` is no list of numbers, or `level` is not between 0 and 1.
    """
    return _interval(runs, level, 0)


def prediction_interval(runs: Sequence[float] | Real[np.ndarray, "seeds"], level: float = 0.95) -> Interval:
    r"""Give the mean of several runs, and where one more run probably lies.

    :math:`\bar{x} \pm t\,s \sqrt{1 + 1/n}`, with Student's t for `level`. It is wider than the interval of the mean,
    and does not shrink to nothing with more runs.

    Raises
    ------
    ValueError
        If there are fewer than 2 runs, or `runs` is no list of numbers, or `level` is not between 0 and 1.
    """
    return _interval(runs, level, 1)


def _interval(runs: Sequence[float] | Real[np.ndarray, "seeds"], level: float, of_one_run: int) -> Interval:
    runs = np.asarray(runs)
    if runs.ndim != 1 or (runs.size and runs.dtype.kind not in "iuf"):
        raise ValueError(f"runs has shape {runs.shape} and holds {runs.dtype}; expected (runs,), a number each")
    n = len(runs)
    if n < 2:
        raise ValueError(f"runs holds {n}; expected at least 2")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; expected a share between 0 and 1")
    mean, deviation = float(np.mean(runs)), float(np.std(runs, ddof=1))
    half = float(stats.t.ppf((1 + level) / 2, n - 1)) * deviation * sqrt(of_one_run + 1 / n)
    return Interval(mean, mean - half, mean + half)
