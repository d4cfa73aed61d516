"""Plans of comparisons: models, metrics, seeds, and claims, fixed before the first run.

Each run is recorded with the hash of its plan's file, so that the question cannot be changed once the answer is known.
Each chapter that compares models has a plan.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from hashlib import sha256
from inspect import signature
from pathlib import Path
from typing import Any

import pandas as pd

from attnlib.checks import check_choice
from attnlib.data import SentencePair, Vocabulary
from attnlib.experiments.models import hybrid, luong_with_identity, luong_without_attention
from attnlib.language import german, grammar
from attnlib.seq2seq import EncoderDecoder
from attnlib.text.folder import PRESETS

PLANS = Path(__file__).parent / "plans"
"""Folder of the plans."""

MODELS: Mapping[str, Callable[..., EncoderDecoder]] = PRESETS | {
    "hybrid": hybrid,
    "luong_without_attention": luong_without_attention,
    "luong_with_identity": luong_with_identity,
}
"""Functions that build the models of a plan, by name."""

LANGUAGES = {"french": grammar.sample, "german": german.sample}
"""Functions that sample sentence pairs of a grammar, by target language."""

_SIZES = {"emb": "embedding_dim", "hid": "hidden_size"}
NAMES: Mapping[str, Mapping[str, str]] = {
    "budget": _SIZES
    | {"pairs": "num_pairs", "words": "max_tokens", "steps": "max_steps", "width": "beam_size"}
    | {"test_sentences": "num_test_sentences"},
    "effort": {"steps": "max_steps", "score_every": "eval_every", "beam": "beam_size"},
    "row": _SIZES
    | {"preset": "model", "family": "tuning_group", "pairs": "num_pairs"}
    | {"asks_before": "queries_before", "reader": "encoder", "width": "encoder_ratio", "projected": "bridge"},
    "claim": {"says": "direction", "measure": "metric", "group": "test_set"},
}
"""Names in the plans' files that differ from this package's, for each part of a file."""

VALUES: Mapping[str, Mapping[str, str]] = {
    "model": {"between": "hybrid"},
    "encoder": {"both": "bidirectional", "reversed": "backward", "forwards": "forward"},
    "window": {"everywhere": "global", "monotonic": "local-m", "predictive": "local-p"},
    "metric": {
        "exact": "exact_match",
        "beam_bleu": "bleu_beam",
        "bleu": "bleu_beam",
        "alignment_error": "alignment_error_rate",
    },
    "test_set": {"within": "seen lengths", "beyond": "longer"},
}
"""Values in the plans' files that differ from this package's names, for each option."""


@dataclass(frozen=True)
class ExperimentConfig:
    """A model, its training sentences, and its test sentences.

    Attributes
    ----------
    name : str
        Name of the model in its plan.
    model : str or callable
        One of `MODELS`, or another function from vocabularies, sizes and a seed to a model.
    options : mapping
        Further arguments of that function.
    language : {"french", "german"}, default "french"
        Target language. The source language is English.
    seeds : tuple of int
        Seeds of the runs: of initial weights, training sentences and batches.
    embedding_dim, hidden_size : int
        Sizes of an embedding, and of a state in one direction.
    clauses : tuple of int
        Numbers of clauses of the training sentences, as the grammars count them.
    num_pairs : int, optional
        Number of training pairs. If None, all pairs of a text.
    max_tokens : int
        Most words of a batch on one side, padding counted.
    max_steps : int
        Number of training steps.
    learning_rate : float, optional
        Adam's highest learning rate. If None, the best recorded one of the tuning group.
    test_clauses : tuple of int
        Numbers of clauses of the test sentences.
    num_test_sentences : int
        Number of test sentences for each number of clauses.
    test_seed : int
        Seed of the test sentences, which are the same for all models and runs.
    beam_size : int
        Hypotheses of the beam search. With 1, test sentences are only translated greedily.
    plan, table : str
        Names of the plan and of its table.
    phase : int
        Phase of the plan; configurations of phase 1 run first.
    tuning_group : str
        Group of models that share a learning rate.
    subwords : bool
        Whether words are split into subwords, in a plan that learns from a text.
    eval_every : int, optional
        Steps between two dev scores, in a plan that learns from a text.
    max_length : int, optional
        Greatest length of a translation, in a plan that learns from a text.
    """

    name: str
    model: str | Callable[..., EncoderDecoder]
    options: Mapping[str, Any] = field(default_factory=dict)
    language: str = "french"
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    embedding_dim: int = 48
    hidden_size: int = 96
    clauses: tuple[int, ...] = (1, 2, 3)
    num_pairs: int | None = 20_000
    max_tokens: int = 800
    max_steps: int = 700
    learning_rate: float | None = None
    test_clauses: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8)
    num_test_sentences: int = 100
    test_seed: int = 0
    beam_size: int = 5
    plan: str = ""
    table: str = ""
    phase: int = 1
    tuning_group: str = ""
    subwords: bool = False
    eval_every: int | None = None
    max_length: int | None = None

    def replace(self, **changes: Any) -> "ExperimentConfig":
        """Return a copy with changed attributes."""
        return replace(self, **changes)

    def longer(self, times: int | float) -> "ExperimentConfig":
        """Return a copy with a multiple of the steps and pairs.

        Parameters
        ----------
        times : float
            Factor of the numbers of steps and pairs.

        Returns
        -------
        ExperimentConfig
            The copy, with the factor in its name.
        """
        steps, pairs = round(self.max_steps * times), round(self.num_pairs * times)
        return self.replace(name=f"{self.name}-times{times:g}", max_steps=steps, num_pairs=pairs)

    @property
    def build(self) -> Callable[..., EncoderDecoder]:
        """Function that builds the model."""
        return MODELS[self.model] if isinstance(self.model, str) else self.model

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the model, by the argument names of its function."""
        of_transformer = "d_model" in signature(self.build).parameters
        names = ("d_model", "dim_feedforward") if of_transformer else ("embedding_dim", "hidden_size")
        return dict(zip(names, (self.embedding_dim, self.hidden_size), strict=True))

    def build_model(self, seed: int) -> EncoderDecoder:
        """Build the model, untrained."""
        return self.build(*build_vocabularies(self.language), **self.options, **self.sizes, seed=seed)

    def training_sentences(self, seed: int) -> list[SentencePair]:
        """Return the training pairs of a run."""
        return [*_training_sentences(self.language, self.num_pairs, seed, self.clauses)]

    def test_sentences(self, clauses: int | Sequence[int] | None = None) -> list[SentencePair]:
        """Return the test sentences, which are disjoint from all training sentences.

        Parameters
        ----------
        clauses : int or sequence of int, optional
            Numbers of clauses. If None, all of `test_clauses`.

        Returns
        -------
        list of SentencePair
            The sentences, ordered by number of clauses.
        """
        wanted = self.test_clauses if clauses is None else (clauses,) if isinstance(clauses, int) else clauses
        n, seed = self.num_test_sentences, self.test_seed
        return [pair for c in wanted for pair in _test_sentences(self.language, n, seed + c, c)]


@dataclass(frozen=True)
class Plan:
    """A plan of a comparison.

    Attributes
    ----------
    name : str
        Name of the plan.
    digest : str
        SHA-256 of the file.
    contents : mapping
        Contents of the file, in its own terms.
    configs : mapping
        Configurations by name, in the file's order.
    """

    name: str
    digest: str
    contents: Mapping[str, Any]
    configs: Mapping[str, ExperimentConfig]

    @property
    def learns_from_text(self) -> bool:
        """Whether the models are trained on a text, not on grammar sentences."""
        return "effort" in self.contents

    @property
    def tuning_groups(self) -> Mapping[str, str]:
        """Model that the learning rate of each tuning group is chosen with."""
        return {} if self.learns_from_text else self.contents["learning_rates"]["families"]

    def claims(self, table: str) -> pd.DataFrame:
        """Return the claims of a table.

        Parameters
        ----------
        table : str
            Name of the table.

        Returns
        -------
        DataFrame
            A row for each ``claim``, in words: that model ``first`` has "more" or "less" (``direction``) of a
            ``metric`` on a ``test_set`` than model ``second``, or that it "differs"; and the ``margin`` of a large
            difference.
        """
        claims = self.contents["tables"][table].get("claims", ())
        columns = ["claim", "first", "second", *NAMES["claim"].values()]
        rows = [{"claim": _wording(claim), **rename_terms("claim", claim)} for claim in claims]
        return pd.DataFrame(rows, columns=columns).assign(margin=self.contents["verdicts"]["margin"])

    def runs(self) -> list[tuple[ExperimentConfig, int]]:
        """Return each configuration with each of its seeds, in running order."""
        runs = [(config, seed) for config in self.configs.values() for seed in config.seeds]
        return sorted(runs, key=lambda run: (run[0].phase, run[1]))


def read_plan(plan: str | Path | Plan) -> Plan:
    """Read a plan.

    Parameters
    ----------
    plan : str, Path or Plan
        Name of one of `PLANS`, or a file. A plan that has been read is returned as it is.

    Returns
    -------
    Plan
        The plan.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If there is no plan of this name, or a name in it occurs twice.
    """
    if isinstance(plan, Plan):
        return plan
    path = plan
    if isinstance(plan, str):
        check_choice(sorted(path.stem for path in PLANS.glob("*.toml")), plan=plan)
        path = PLANS / f"{plan}.toml"
    text = path.read_bytes()
    contents = tomllib.loads(text.decode())
    configs: dict[str, ExperimentConfig] = {}
    for table, part in contents["tables"].items():
        for entry in part["rows"]:
            if entry["name"] in configs:
                raise ValueError(f"name is {entry['name']!r} twice in the plan {path.stem}; expected different names")
            where = {"plan": path.stem, "table": table, "phase": part["phase"]}
            configs[entry["name"]] = (_of_text if "effort" in contents else _of_grammar)(entry, where, contents)
    return Plan(path.stem, sha256(text).hexdigest(), contents, configs)


def rename_terms(part: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Convert entries of a plan's file to this package's names and values, and lists to tuples.

    Parameters
    ----------
    part : str
        Part of the file, one of `NAMES`.
    entry : mapping
        The entries.

    Returns
    -------
    dict
        The converted entries.
    """
    named = {NAMES[part].get(name, name): tuple(x) if isinstance(x, list) else x for name, x in entry.items()}
    return {name: VALUES.get(name, {}).get(x, x) for name, x in named.items()}


@cache
def build_vocabularies(language: str = "french") -> tuple[Vocabulary, Vocabulary]:
    """Build the vocabularies of a grammar, of English and of the target language."""
    sources, targets = zip(*(pair[:2] for pair in LANGUAGES[language](2_000, seed=0)), strict=True)
    return Vocabulary.from_sentences(sources), Vocabulary.from_sentences(targets)


@lru_cache(maxsize=2)
def _training_sentences(language: str, n: int, seed: int, clauses: tuple[int, ...]) -> tuple[SentencePair, ...]:
    return tuple(LANGUAGES[language](n, seed=seed, clauses=clauses))


@cache
def _test_sentences(language: str, n: int, seed: int, clauses: int) -> tuple[SentencePair, ...]:
    return tuple(LANGUAGES[language](n, seed=seed, clauses=(clauses,), part="test"))


def _of_grammar(entry: Mapping[str, Any], where: dict[str, Any], contents: Mapping[str, Any]) -> ExperimentConfig:
    given = rename_terms("budget", contents["budget"]) | rename_terms("row", entry) | where
    times, beam, first = given.pop("times", 1), given.pop("beam", True), contents["seeds"]["first"]
    given["seeds"] = tuple(range(first, first + entry["seeds"]))
    if not beam:
        given["beam_size"] = 1
    return _config(given).longer(times).replace(name=entry["name"])


def _of_text(entry: Mapping[str, Any], where: dict[str, Any], contents: Mapping[str, Any]) -> ExperimentConfig:
    effort = rename_terms("effort", contents["effort"])
    size = effort.pop("features")
    given = {"language": "german", "embedding_dim": size, "hidden_size": size, "num_pairs": None}
    given |= {"dropout": 0.3, "embedding_dropout": 0.2} | effort | rename_terms("row", entry) | where
    return _config(given | {"seeds": tuple(range(entry["seeds"]))})


def _config(given: Mapping[str, Any]) -> ExperimentConfig:
    """Build a configuration; entries that it lacks are model options."""
    named = {name: value for name, value in given.items() if name in ExperimentConfig.__dataclass_fields__}
    return ExperimentConfig(**named, options={name: value for name, value in given.items() if name not in named})


def _wording(claim: Mapping[str, str]) -> str:
    """Return a claim in words, without its test set and the metric exact match."""
    words = {"more": "more than", "less": "less than", "differs": "differs from"}[claim["says"]]
    metric = "" if claim["measure"] == "exact" else f", {claim['measure'].replace('_', ' ')}"
    return f"{claim['first']} {words} {claim['second']}{metric}"
