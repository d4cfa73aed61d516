"""A plan: what is compared, by which measure, with which seeds, and what would count as an answer.

A plan is a file, written before the first run. Each run is recorded with the hash of its plan, so that nobody, not even
its authors, changes the question when the answer is known. Each chapter that compares models has one.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from attnlib.checks import check_choice
from attnlib.experiments.mixtures import between, luong_with_identity, luong_without_attention
from attnlib.experiments.variants import Budget, Variant
from attnlib.transformer import transformer
from attnlib.translator import Translator, luong, rnn_encdec, rnn_search

PLANS = Path(__file__).parent / "plans"
"""Where the plans are."""

MODELS: Mapping[str, Callable[..., Translator]] = {
    model.__name__: model
    for model in (rnn_encdec, rnn_search, luong, between, luong_without_attention, luong_with_identity, transformer)
}
"""What a row of a plan may train, by name."""

_OF_ROW = {"name", "model", "family", "seeds", "clauses", "language", "times", "emb", "hid", "beam"}


class Row(NamedTuple):
    """A row of a plan: a model, its budget, and how it is run.

    Attributes
    ----------
    variant : Variant
        Its name, its model, its seeds.
    budget : Budget
        Its learning rate is that of the family, once it is chosen.
    family : str
        The rows that share a learning rate.
    table : str
    phase : int
        Rows of phase 1 run first.
    beam : bool
        Whether the test sentences are translated by beam search too.
    """

    variant: Variant
    budget: Budget
    family: str
    table: str
    phase: int
    beam: bool

    def longer(self, times: int | float, seeds: int) -> "Row":
        """Give the row with so many times the steps and the sentences, and at most so many seeds."""
        variant = replace(self.variant, name=f"{self.variant.name}-times{times:g}", seeds=self.variant.seeds[:seeds])
        return self._replace(variant=variant, budget=_scaled(self.budget, times))


class Claim(NamedTuple):
    """What needs a verdict: that the first row has more or less of a measure than the second, or differs."""

    first: str
    second: str
    says: str
    measure: str
    group: str

    @property
    def wording(self) -> str:
        """Say it in words, without the group, and without the measure if that is exact match."""
        between = {"more": "more than", "less": "less than", "differs": "differs from"}[self.says]
        measure = "" if self.measure == "exact" else f", {self.measure.replace('_', ' ')}"
        return f"{self.first} {between} {self.second}{measure}"


@dataclass(frozen=True)
class Plan:
    """A plan, as its file has it.

    Attributes
    ----------
    name : str
    digest : str
        The SHA-256 of the file.
    contents : mapping
        The file.
    rows : mapping
        Each row, by its name, in the file's order.
    """

    name: str
    digest: str
    contents: Mapping[str, Any]
    rows: Mapping[str, Row]

    @property
    def families(self) -> Mapping[str, str]:
        """Say which row each family's learning rate is chosen with."""
        return self.contents["learning_rates"]["families"]

    def claims(self, table: str) -> list[Claim]:
        """List the claims of a table."""
        return [Claim(**claim) for claim in self.contents["tables"][table]["claims"]]

    def may_be_lost(self) -> list[Row]:
        """List the rows that are trained again, and longer, if one of their runs is lost."""
        return [row for row in self.rows.values() if row.table in self.contents["lost"]["tables"]]


def read_plan(plan: str | Path) -> Plan:
    """Read a plan: one of `PLANS` by its name, or a file.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If a row is there twice, or its model or its family is not, or a claim is of a row that is not there.
    """
    path = PLANS / f"{plan}.toml" if isinstance(plan, str) else plan
    text = path.read_bytes()
    contents = tomllib.loads(text.decode())
    budget = Budget(**_tuples(contents["budget"]))
    rows = [
        _row(given, budget, name, contents) for name, table in contents["tables"].items() for given in table["rows"]
    ]
    found = Plan(path.stem, sha256(text).hexdigest(), contents, {row.variant.name: row for row in rows})
    _check(found, rows)
    return found


def _row(given: Mapping[str, Any], budget: Budget, table: str, contents: Mapping[str, Any]) -> Row:
    check_choice(MODELS, model=given["model"])
    options = {name: value for name, value in given.items() if name not in _OF_ROW}
    some = {name: value for name, value in _tuples(given).items() if name in ("clauses", "language")}
    first = contents["seeds"]["first"]
    seeds = tuple(range(first, first + given["seeds"]))
    variant = Variant(given["name"], MODELS[given["model"]], options, seeds=seeds, **some)
    sizes = {name: size for name, size in given.items() if name in ("emb", "hid")}
    budget = _scaled(replace(budget, **sizes), given.get("times", 1))
    return Row(variant, budget, given["family"], table, contents["tables"][table]["phase"], given.get("beam", True))


def _scaled(budget: Budget, times: int | float) -> Budget:
    return replace(budget, steps=round(budget.steps * times), pairs=round(budget.pairs * times))


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}


def _check(plan: Plan, rows: Sequence[Row]) -> None:
    names = [row.variant.name for row in rows]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the plan {plan.name} has the row {name!r} twice")
    asked = [name for table in plan.contents["tables"] for claim in plan.claims(table) for name in claim[:2]]
    for name in [*plan.families.values(), *asked]:
        if name not in plan.rows:
            raise ValueError(f"the plan {plan.name} speaks of {name!r}, but has no such row")
    for row in rows:
        if row.family not in plan.families:
            raise ValueError(f"family of {row.variant.name} is {row.family!r}; expected one of those with a rate")
