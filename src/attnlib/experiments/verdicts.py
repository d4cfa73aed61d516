"""The verdicts of a plan: each claim holds, or does not, or cannot be told, by the rule that the plan's file states."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from attnlib.checks import check_choice
from attnlib.experiments.measures import grouped
from attnlib.experiments.plan import Claim
from attnlib.experiments.records import Ledger
from attnlib.experiments.statistics import Interval, holm, mean_interval, paired_p, ruled_out_p

HOLDS, DOES_NOT, CANNOT_BE_TOLD = "holds", "does not hold", "cannot be told"


class Quality(NamedTuple):
    """A measure of translations, taken so that more is better.

    Attributes
    ----------
    unit : str
        What a difference of two rows is counted in.
    margin : float
        A difference that counts as large.
    of : callable
        The quality, of what is recorded.
    """

    unit: str
    margin: float
    of: Callable[[Float[np.ndarray, "seeds"]], Float[np.ndarray, "seeds"]]


QUALITIES: Mapping[str, Quality] = {
    "exact": Quality("share of sentences", 0.05, np.asarray),
    "beam_bleu": Quality("points of BLEU", 5.0, np.asarray),
    "perplexity": Quality("nats per word", 0.05, lambda perplexity: -np.log(perplexity)),
}
"""The measures that a claim about translations may be judged by: perplexity by its logarithm, so that ratios count."""


class Verdict(NamedTuple):
    """What the recorded runs say of a claim.

    Attributes
    ----------
    difference : Interval
        Of the measure, the first row less the second: the mean over the seeds that both have, and its 95 per cent
        interval, as if it were the only claim.
    p : float
        Of no difference, corrected for all claims of the table.
    ruled_out : float
        Of a difference by the plan's margin, in the direction of the claim, corrected likewise.
    says : str
        "holds", "does not hold" or "cannot be told".
    """

    claim: Claim
    difference: Interval
    p: float
    ruled_out: float
    says: str


def judge(ledger: Ledger, table: str, by: str | None = None) -> list[Verdict]:
    """Judge the claims of a table of the plan.

    Parameters
    ----------
    by : str, optional
        One of `QUALITIES`, to judge the claims about exact match by: "more" is then better, the margin is its own, and
        the correction is for these claims. None: as the plan has it.

    Raises
    ------
    ValueError
        If a row has fewer than 2 runs, or no such measure.
    """
    rule, claims = ledger.plan.contents["verdicts"], ledger.plan.claims(table)
    if by is None:
        margin = rule["margin"]
        differences = [ledger.differences(*claim[:2], claim.measure, claim.group) for claim in claims]
    else:
        check_choice(QUALITIES, by=by)
        _, margin, quality = QUALITIES[by]
        claims = [claim for claim in claims if claim.measure == "exact"]
        differences = [np.subtract(*map(quality, ledger.pairs(*claim[:2], by, claim.group))) for claim in claims]
    p_values = holm([paired_p(x) for x in differences])
    against = holm([_ruled_out(x, claim, margin) for x, claim in zip(differences, claims, strict=True)])
    return [
        Verdict(claim, mean_interval(x), p, out, _verdict(claim, float(x.mean()), (p, out), rule["level"]))
        for claim, x, p, out in zip(claims, differences, p_values, against, strict=True)
    ]


def right(ledger: Ledger, name: str, group: str = "within") -> Bool[np.ndarray, "seeds sentences"]:
    """Read which test sentences of a group each run of a row translates right, the seeds in order."""
    runs, row = ledger.runs(name), ledger.plan.rows[name]
    if not runs:
        raise ValueError(f"nothing is recorded of {name!r}")
    bits = [np.unpackbits(np.frombuffer(bytes.fromhex(run["right"]), np.uint8)) for run in runs.values()]
    return np.array(bits, dtype=bool)[:, grouped(row.variant, row.budget)[group]]


def misses_of(ledger: Ledger, name: str, group: str = "within") -> Float[np.ndarray, "offsets"]:
    """Compute the share of links by how far they miss: see `attnlib.experiments.measures.miss_counts`."""
    runs = ledger.runs(name).values()
    if not runs or None in [run["misses"] for run in runs]:
        raise ValueError(f"no links are recorded of {name!r}")
    counts = np.sum([run["misses"][group] for run in runs], axis=0)
    return counts / counts.sum()


def _ruled_out(differences: Float[np.ndarray, "seeds"], claim: Claim, margin: float) -> float:
    """Compute how probable such differences are if the claim is true by the margin, or more."""
    more, less = ruled_out_p(differences, margin), ruled_out_p(-differences, margin)
    return {"more": more, "less": less, "differs": max(more, less)}[claim.says]


def _verdict(claim: Claim, mean: float, p_values: tuple[float, float], level: float) -> str:
    p, ruled_out = p_values
    as_said = {"more": mean > 0, "less": mean < 0, "differs": True}[claim.says]
    if p < level and as_said:
        return HOLDS
    return DOES_NOT if ruled_out < level else CANNOT_BE_TOLD
