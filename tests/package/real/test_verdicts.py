"""Verdicts: what a claim needs to hold, and that several together need more."""

import numpy as np
import pytest

from attnlib.real.plan import CLAIMS, ROWS
from attnlib.real.verdicts import MARGIN, decide

BASE = np.array([30.0, 31.0, 29.0])
SCORES = {
    "base": BASE,
    "better": BASE + np.array([2.0, 2.1, 2.05]),
    "same": BASE + np.array([0.01, -0.01, 0.0]),
    "loose": BASE + np.array([3.0, -1.0, 2.0]),
    "barely": BASE + np.array([0.3, 0.31, 0.29]),
}


def says(*claims):
    return [verdict.says for verdict in decide(claims, SCORES)]


@pytest.mark.parametrize(
    ("more", "expected"),
    [("better", "holds"), ("same", "does not hold"), ("loose", "cannot be told"), ("barely", "holds")],
)
def test_a_claim_holds_does_not_or_cannot_be_told(more, expected):
    assert says((more, "base")) == [expected]


def test_a_claim_the_wrong_way_round_does_not_hold():
    assert says(("base", "better")) == ["does not hold"]


def test_a_claim_whose_rows_are_missing_counts_in_the_correction_and_is_left_out():
    claims = [("better", "base"), ("barely", "base")]
    found, alone = decide([*claims, ("better", "missing")], SCORES), decide(claims, SCORES)
    assert [verdict[:3] for verdict in found] == [verdict[:3] for verdict in alone]
    assert min(v.p for v in found) == pytest.approx(3 / 2 * min(v.p for v in alone))


def test_runs_are_compared_in_pairs():
    """The seeds differ by more than the rows do."""
    (verdict,) = decide([("barely", "base")], SCORES)
    assert verdict.difference == pytest.approx(0.3)
    assert BASE.std() > 2 * verdict.difference
    assert verdict.difference < MARGIN


def test_the_claims_are_of_rows_with_the_same_seeds_and_language():
    for pair in CLAIMS:
        one, other = (ROWS[name] for name in pair)
        assert one.seeds == other.seeds == (0, 1, 2)
        assert (one.language, one.pairs) == (other.language, other.pairs)


def test_rows_without_several_runs_are_refused():
    with pytest.raises(ValueError, match=r"^scores of one has shape \(1,\); expected \(seeds,\), at least 2"):
        decide([("base", "one")], SCORES | {"one": [1.0]})
    with pytest.raises(ValueError, match="could not be broadcast"):
        decide([("base", "two")], SCORES | {"two": [1.0, 2.0]})
