"""A plan: what is compared, by which measure, with which seeds, and what would count as an answer.

A plan is a file, written before the first run. Each run is recorded with the hash of its plan, so that nobody, not even
its authors, changes the question when the answer is known. Each chapter that compares models has one.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from attnlib.checks import check_choice
from attnlib.data import SentencePair, Vocabulary
from attnlib.experiments.models import between, luong_with_identity, luong_without_attention
from attnlib.language import german, grammar
from attnlib.text.config import TrainingConfig
from attnlib.text.folder import PRESETS
from attnlib.translator import Translator

PLANS = Path(__file__).parent / "plans"
"""Where the plans are."""

MODELS: Mapping[str, Callable[..., Translator]] = PRESETS | {
    model.__name__: model for model in (between, luong_without_attention, luong_with_identity)
}
"""What a row of a plan may train, by name."""

LANGUAGES = {"french": grammar.sample, "german": german.sample}
"""What English is translated into, and what draws the sentence pairs."""

_OF_ROW = {"name", "model", "family", "seeds", "clauses", "language", "times", "emb", "hid", "beam"}


@dataclass(frozen=True)
class Budget:
    """What every variant gets alike.

    Attributes
    ----------
    emb, hid : int
        Features of an embedding, and of a state in one direction.
    pairs, words, steps : int
        Sentence pairs to learn from, drawn by each seed for itself; the most words of a batch on one side; batches.
    learning_rate : float
        Adam's, at its highest.
    test_clauses, test_sentences, test_seed
        How many clauses the test sentences have, and how many there are of each, alike for all variants and seeds.
    width : int
        Hypotheses of the beam search.
    """

    emb: int = 48
    hid: int = 96
    pairs: int = 20_000
    words: int = 800
    steps: int = 700
    learning_rate: float = 5e-3
    test_clauses: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8)
    test_sentences: int = 100
    width: int = 5
    test_seed: int = 0


BUDGET = Budget()


@dataclass(frozen=True)
class Variant:
    """A model of the comparison, and what it learns from.

    Attributes
    ----------
    model, options
        One of `MODELS`, from vocabularies, sizes and a seed to a translator, and what else it is told.
    clauses : numbers
        How many clauses the sentences that it learns from have at least, as the grammars count.
    seeds : numbers
        Each is a run: other weights to begin with, other sentences, in another order.
    language : str
        One of `LANGUAGES`.
    """

    name: str
    model: Callable[..., Translator]
    options: Mapping[str, Any] = field(default_factory=dict)
    clauses: tuple[int, ...] = (1, 2, 3)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    language: str = "french"

    def translator(self, seed: int, budget: Budget = BUDGET) -> Translator:
        """Make the model, untrained."""
        return self.model(*vocabularies(self.language), **self.options, emb=budget.emb, hid=budget.hid, seed=seed)

    def training_pairs(self, seed: int, budget: Budget = BUDGET) -> list[SentencePair]:
        """Draw the sentence pairs of one run."""
        return [*_drawn(self.language, budget.pairs, seed, self.clauses)]


class Row(NamedTuple):
    """A row of a plan: a model, its budget, and how it is run.

    Attributes
    ----------
    budget : Budget
        Its learning rate is that of the family, once it is chosen.
    family : str
        The rows that share a learning rate.
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

    @property
    def name(self) -> str:
        """Name the variant, and so the file of its runs."""
        return self.variant.name

    @property
    def seeds(self) -> tuple[int, ...]:
        """List the seeds of its runs."""
        return self.variant.seeds

    def longer(self, times: int | float, seeds: int) -> "Row":
        """Take so many times the steps and the sentences, and at most so many seeds."""
        variant = replace(self.variant, name=f"{self.variant.name}-times{times:g}", seeds=self.variant.seeds[:seeds])
        return self._replace(variant=variant, budget=_scaled(self.budget, times))


class TextRow(NamedTuple):
    """A row of a plan that learns from a text.

    Attributes
    ----------
    effort : mapping
        What all rows get alike: ``features`` of an embedding and of a state; ``steps``, and from one score of the dev
        part to the next ``score_every``; ``beam``, the hypotheses of the search, and ``max_length`` of a translation,
        in words or pieces of words.
    preset, options, subwords, learning_rate
        As `attnlib.text.config.TrainingConfig` has them.
    seeds : numbers
        Each is a run: weights to begin with, order of the batches, what dropout sets to 0.
    language : str
        What the English is translated to.
    pairs : int, optional
        How many pairs, from the start of the text, are learnt from. None: all.
    """

    table: str
    phase: int
    effort: Mapping[str, int]
    seeds: tuple[int, ...]
    options: Mapping[str, Any]
    name: str
    preset: str
    language: str = "german"
    pairs: int | None = None
    subwords: bool = False
    learning_rate: float = TrainingConfig.learning_rate

    def settings(self, seed: int) -> TrainingConfig:
        """Collect what `attnlib.text.training.train_model` is told; the rest is as it is by default."""
        size = self.effort["features"]
        sizes = {"emb": size, "hid": size, "dropout": 0.3, "embedding_dropout": 0.2}
        return TrainingConfig(
            preset=self.preset,
            options=sizes | dict(self.options) | {"seed": seed},
            words=not self.subwords,
            steps=self.effort["steps"],
            eval_every=self.effort["score_every"],
            learning_rate=self.learning_rate,
            seed=seed,
        )


class Claim(NamedTuple):
    """What needs a verdict: that the first row has more or less of a measure than the second, or differs."""

    first: str
    second: str
    says: str
    measure: str
    group: str

    @property
    def wording(self) -> str:
        """Put it in words, without the group, and without the measure if that is exact match."""
        between = {"more": "more than", "less": "less than", "differs": "differs from"}[self.says]
        measure = "" if self.measure == "exact" else f", {self.measure.replace('_', ' ')}"
        return f"{self.first} {between} {self.second}{measure}"


@dataclass(frozen=True)
class Plan:
    """A plan, as its file has it.

    Attributes
    ----------
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
    rows: Mapping[str, Row] | Mapping[str, TextRow]

    @property
    def learns_from_text(self) -> bool:
        """Tell a plan of real sentences from one of the grammar's."""
        return "effort" in self.contents

    @property
    def families(self) -> Mapping[str, str]:
        """Name the row that each family's learning rate is chosen with; a text's rows have theirs."""
        return {} if self.learns_from_text else self.contents["learning_rates"]["families"]

    def claims(self, table: str) -> list[Claim]:
        """List the claims of a table."""
        return [Claim(**claim) for claim in self.contents["tables"][table]["claims"]]

    def runs(self) -> list[tuple[Row, int]] | list[tuple[TextRow, int]]:
        """List each row with each of its seeds, in the order in which they are to be run: by phase and seed."""
        runs = [(row, seed) for row in self.rows.values() for seed in row.seeds]
        return sorted(runs, key=lambda run: (run[0].phase, run[1]))

    def shortened(self, row: Row) -> Row:
        """Give a row as many steps, and sentences in proportion, as learning rates are chosen with."""
        return row.longer(self.contents["learning_rates"]["share_of_steps"], len(row.seeds))


def read_plan(plan: str | Path) -> Plan:
    """Read a plan: one of `PLANS` by its name, or a file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If there is no plan of this name; or a row is there twice, or its model or its family is not, or a claim is of a
        row that is not there.
    """
    path = plan
    if isinstance(plan, str):
        check_choice(sorted(path.stem for path in PLANS.glob("*.toml")), plan=plan)
        path = PLANS / f"{plan}.toml"
    text = path.read_bytes()
    contents = tomllib.loads(text.decode())
    rows: dict[str, Any] = {}
    for name, table in contents["tables"].items():
        for entry in table["rows"]:
            if entry["name"] in rows:
                raise ValueError(f"the plan {path.stem} has the row {entry['name']!r} twice")
            rows[entry["name"]] = (_text_row if "effort" in contents else _row)(entry, name, contents)
    _check(read := Plan(path.stem, sha256(text).hexdigest(), contents, rows))
    return read


def held_out(clauses: int, budget: Budget = BUDGET, language: str = "french") -> list[SentencePair]:
    """Draw the test sentences with so many clauses, as the grammars count; no run learns from any of them."""
    return [*_test_sentences(budget.test_sentences, budget.test_seed + clauses, clauses, language)]


def development(clauses: int, budget: Budget = BUDGET, language: str = "french") -> list[SentencePair]:
    """Draw sentences to choose learning rates by: neither a test sentence nor one that any run learns from."""
    tested = {pair.source for pair in held_out(clauses, budget, language)}
    drawn = LANGUAGES[language](2 * budget.test_sentences, seed=1000 + clauses, clauses=(clauses,), part="test")
    return [pair for pair in drawn if pair.source not in tested][: budget.test_sentences]


@cache
def vocabularies(language: str = "french") -> tuple[Vocabulary, Vocabulary]:
    """Collect the words of a grammar, English and the other language's."""
    pairs = LANGUAGES[language](2_000, seed=0)
    return Vocabulary.of(pair.source for pair in pairs), Vocabulary.of(pair.target for pair in pairs)


@lru_cache(maxsize=2)
def _drawn(language: str, pairs: int, seed: int, clauses: tuple[int, ...]) -> tuple[SentencePair, ...]:
    return tuple(LANGUAGES[language](pairs, seed=seed, clauses=clauses))


@cache
def _test_sentences(n: int, seed: int, clauses: int, language: str) -> tuple[SentencePair, ...]:
    return tuple(LANGUAGES[language](n, seed=seed, clauses=(clauses,), part="test"))


def _row(entry: Mapping[str, Any], table: str, contents: Mapping[str, Any]) -> Row:
    check_choice(MODELS, model=entry["model"])
    options = {name: value for name, value in entry.items() if name not in _OF_ROW}
    some = {name: value for name, value in _tuples(entry).items() if name in ("clauses", "language")}
    first = contents["seeds"]["first"]
    seeds = tuple(range(first, first + entry["seeds"]))
    variant = Variant(entry["name"], MODELS[entry["model"]], options, seeds=seeds, **some)
    sizes = {name: size for name, size in entry.items() if name in ("emb", "hid")}
    budget = _scaled(Budget(**_tuples(contents["budget"]) | sizes), entry.get("times", 1))
    return Row(variant, budget, entry["family"], table, contents["tables"][table]["phase"], entry.get("beam", True))


def _text_row(entry: Mapping[str, Any], table: str, contents: Mapping[str, Any]) -> TextRow:
    check_choice(PRESETS, preset=entry["preset"])
    options = {name: value for name, value in entry.items() if name not in TextRow._fields}
    rest = {name: value for name, value in entry.items() if name not in options}
    rest["seeds"] = tuple(range(entry["seeds"]))
    return TextRow(table, contents["tables"][table]["phase"], contents["effort"], options=options, **rest)


def _scaled(budget: Budget, times: int | float) -> Budget:
    return replace(budget, steps=round(budget.steps * times), pairs=round(budget.pairs * times))


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}


def _check(plan: Plan) -> None:
    claimed = [name for table in plan.contents["tables"] for claim in plan.claims(table) for name in claim[:2]]
    for name in [*plan.families.values(), *claimed]:
        if name not in plan.rows:
            raise ValueError(f"the plan {plan.name} speaks of {name!r}, but has no such row")
    for name, row in plan.rows.items():
        if isinstance(row, Row) and row.family not in plan.families:
            raise ValueError(f"family of {name} is {row.family!r}; expected one of those with a rate")
