"""What the runs of the plan decide: claims that one row is better than another."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Real

from attnlib.experiments.significance import holm, paired_p, ruled_out_p

LEVEL, MARGIN = 0.05, 0.5
"""How often a verdict may be wrong by chance, and how many BLEU are too few to be worth a claim."""


class Decision(NamedTuple):
    """What the runs say of the claim that `more` has more BLEU than `less`.

    Attributes
    ----------
    more, less : str
        The rows.
    difference : float
        Of their mean BLEU.
    p : float
        Of a difference as large as this, in either direction, by chance: corrected for all claims.
    says : str
        "holds", "does not hold" or "cannot be told".
    """

    more: str
    less: str
    difference: float
    p: float
    says: str


def decide(
    claims: Sequence[tuple[str, str]], scores: Mapping[str, Sequence[float] | Real[np.ndarray, "seeds"]]
) -> list[Decision]:
    """Decide claims together. Runs with the same seed share their batches, and are compared in pairs.

    A claim holds if the corrected two-sided p of a paired t-test is below `LEVEL` and the difference has its sign. It
    does not hold if such a test, one-sided, against a difference of `MARGIN` and corrected as well, rules out a
    difference that large. Otherwise it cannot be told. The corrections are Holm's.

    Parameters
    ----------
    claims : pairs of rows
        Each claims that the first has more than the second.
    scores : for each row, ``"seeds"``
        A claim about a row that is not among them counts in the corrections, as if its p were 1, and is left out.

    Returns
    -------
    list of Decision

    Raises
    ------
    ValueError
        If a row has fewer than two seeds, or two that are compared do not have equally many.
    """
    decided = [claim for claim in claims if scores.keys() >= {*claim}]
    left_out = [1.0] * (len(claims) - len(decided))
    differences = [np.subtract(_checked(scores, more), _checked(scores, less)) for more, less in decided]
    apart = holm([*map(paired_p, differences), *left_out])
    too_few = holm([*(ruled_out_p(runs, MARGIN) for runs in differences), *left_out])
    return [
        Decision(*claim, float(runs.mean()), p, _says(float(runs.mean()), p, small))
        for claim, runs, p, small in zip(decided, differences, apart, too_few, strict=False)
    ]


def _checked(scores: Mapping[str, Sequence[float] | Real[np.ndarray, "seeds"]], row: str) -> np.ndarray:
    runs = np.asarray(scores[row], dtype=float)
    if runs.ndim != 1 or len(runs) < 2:
        raise ValueError(f"scores of {row} has shape {runs.shape}; expected (seeds,), at least 2")
    return runs


def _says(difference: float, p: float, small: float) -> str:
    if p < LEVEL and difference > 0:
        return "holds"
    return "does not hold" if small < LEVEL else "cannot be told"
