"""What there is to do: the runs of a plan that are not recorded yet, in the order in which they are to be done."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from math import inf
from typing import Any, NamedTuple

from attnlib.experiments.ledger import Ledger
from attnlib.experiments.measure import grouped
from attnlib.experiments.plan import Row
from attnlib.experiments.probe import probe
from attnlib.experiments.runs import development_loss, measure, shortened
from attnlib.experiments.shares import Share


class Job(NamedTuple):
    """A run to do: of which file, under which key; what gives it and what its file begins with; its size in steps."""

    name: str
    key: str
    run: Callable[[], dict[str, Any]]
    head: Callable[[], dict[str, Any]]
    size: float


def chosen_rate(ledger: Ledger, family: str) -> float | None:
    """Give the learning rate with the least loss, if known: all runs are there, and the best is neither first nor last.

    Raises
    ------
    ValueError
        If training failed under every rate, so that none can be chosen.
    """
    rates, losses = _tried(ledger, family)
    if None in losses:
        return None
    if min(losses) == inf:
        raise ValueError(f"no learning rate of {rates} trains the family {family}")
    return rates[losses.index(min(losses))]


def missing(ledger: Ledger, share: Share | None = None) -> Iterator[Job]:
    """List the runs that can be done now, in the order in which they are to be."""
    yield from _rates_missing(ledger)
    again = [(row, seed) for row in lost_rows(ledger) for seed in row.variant.seeds]
    rates = {family: chosen_rate(ledger, family) for family in ledger.plan.families}
    for row, seed in [*_dealt(ledger, share), *again]:
        name, rate = row.variant.name, rates[row.family]
        if rate is not None and str(seed) not in ledger.runs(name):
            run = partial(_row_run, row, seed, rate)
            yield Job(name, str(seed), run, partial(_row_head, row), _size(row))


def waiting(ledger: Ledger, share: Share | None = None) -> float:
    """Add up the sizes of the runs that wait until their learning rate is chosen."""
    later = {family for family in ledger.plan.families if chosen_rate(ledger, family) is None}
    return float(sum(_size(row) for row, _ in _dealt(ledger, share) if row.family in later))


def lost_rows(ledger: Ledger) -> list[Row]:
    """List the rows whose runs are all recorded, at least one of them lost, as they are to be trained again."""
    rule, found = ledger.plan.contents["lost"], []
    for row in ledger.plan.may_be_lost():
        runs = ledger.column(row.variant.name, "exact", "within") if ledger.read(row.variant.name) else {}
        if runs.keys() >= {*row.variant.seeds} and min(runs.values()) < rule["below"]:
            found.append(row.longer(rule["times"], 5))
    return found


def _tried(ledger: Ledger, family: str) -> tuple[list[float], list[float | None]]:
    """List the rates to try, and the mean loss of each; None where a run is missing, infinite where training failed.

    While the best is the first or the last, another rate comes before or after it.
    """
    rule = ledger.plan.contents["learning_rates"]
    runs, rates = ledger.runs(f"rate-{family}"), list(rule["rates"])
    while True:
        losses = [_mean([runs.get(f"{rate:g}/{seed}") for seed in rule["seeds"]]) for rate in rates]
        if None in losses or min(losses) == inf:
            return rates, losses
        best = losses.index(min(losses))
        if 0 < best < len(rates) - 1:
            return rates, losses
        rates = [rates[0] / 2, *rates] if best == 0 else [*rates, rates[-1] * 2]


def _mean(runs: Sequence[dict[str, Any] | None]) -> float | None:
    if None in runs:
        return None
    losses = [inf if run["loss"] is None else run["loss"] for run in runs]
    return sum(losses) / len(losses)


def _rates_missing(ledger: Ledger) -> Iterator[Job]:
    plan, rule = ledger.plan, ledger.plan.contents["learning_rates"]
    for family, name in plan.families.items():
        row, recorded = shortened(plan.rows[name], plan), ledger.runs(f"rate-{family}")
        for seed in rule["seeds"]:
            for rate in _tried(ledger, family)[0]:
                key = f"{rate:g}/{seed}"
                if key not in recorded:
                    run = partial(_rate_run, row, seed, rate, tuple(rule["clauses"]))
                    yield Job(f"rate-{family}", key, run, partial(_rate_head, row, family), _size(row, 0))


def _dealt(ledger: Ledger, share: Share | None) -> list[tuple[Row, int]]:
    rows = [(row, seed) for row in ledger.plan.rows.values() for seed in row.variant.seeds]
    rows.sort(key=lambda run: (run[0].phase, run[1]))
    return rows if share is None else share.of(rows)


def _size(row: Row, evaluation: int = 400) -> float:
    """Estimate how long a run takes, in steps of the usual width; the evaluation takes as long as so many."""
    return (row.budget.steps + evaluation) * row.budget.hid / 96


def _rate_run(row: Row, seed: int, rate: float, clauses: tuple[int, ...]) -> dict[str, Any]:
    return {"loss": development_loss(row, seed, rate, clauses)}


def _row_run(row: Row, seed: int, rate: float) -> dict[str, Any]:
    return {"learning_rate": rate, **measure(row, seed, rate)}


def _rate_head(row: Row, family: str) -> dict[str, Any]:
    return {"family": family, "settings": _settings(row)}


def _row_head(row: Row) -> dict[str, Any]:
    return {
        "settings": _settings(row),
        "probe": probe(row.variant),
        "groups": [*grouped(row.variant, row.budget)],
    }


def _settings(row: Row) -> dict[str, Any]:
    variant = row.variant
    return {
        "model": variant.model.__name__,
        "options": dict(variant.options),
        "clauses": list(variant.clauses),
        "language": variant.language,
        "budget": {name: value for name, value in asdict(row.budget).items() if name != "learning_rate"},
    }
