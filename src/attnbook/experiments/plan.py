"""Plans of comparisons (laboratory 5): models, metrics, seeds, and claims, fixed before the first run.

A plan is a TOML file. ``[defaults]`` and the ``rows`` of its tables hold fields of `ExperimentConfig`; their other
entries are options of the model. A row has ``num_seeds`` seeds from the plan's first. A claim about several metrics and
numbers of ``clauses`` or test sets is a claim about each; ``[verdicts.claims]`` holds what all claims share.

Each run is recorded with a digest of its configuration, so that the question cannot be changed once the answer is
known. A plan may gain rows, and `ExperimentConfig` fields: fields at their default are not in the digest.
"""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from hashlib import sha256
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from attnbook.experiments.transformers import transformer_alibi, transformer_norm_first
from attnbook.experiments.variants import hybrid
from attnbook.language.sentences import sample, vocabularies
from attnbook.pretrained.folder import PRESETS
from attnlib.checks import check_choice
from attnlib.data import SentencePair
from attnlib.seq2seq import EncoderDecoder

PLANS = Path(__file__).parent / "plans"
"""Folder of the plans."""

MODELS: Mapping[str, Callable[..., EncoderDecoder]] = {
    **PRESETS,
    "hybrid": hybrid,
    "transformer_norm_first": transformer_norm_first,
    "transformer_alibi": transformer_alibi,
}
"""Functions that build the models of a plan, by name."""

GRAMMAR = "reordered"
"""Language of the rows that learn from `attnbook.language.sentences`; the digests of their runs rest on it."""


class Metric(NamedTuple):
    """What a metric is called, whether a better model has more or less of it, and its decimals in tables."""

    name: str
    better: str = "more"
    digits: int = 2


METRICS = {
    "exact_match": Metric("exact match"),
    "bleu_beam": Metric("BLEU", digits=1),
    "bleu_beam_copied": Metric("BLEU, unknown words replaced", digits=1),
    "bleu_beam_known": Metric("BLEU, no unknown words", digits=1),
    "copied_gain": Metric("gain by replacing unknown words"),
    "perplexity": Metric("perplexity", "less"),
    "alignment_error_rate": Metric("alignment error", "less"),
    "missed_left": Metric("missed to the left", "less"),
    "missed_right": Metric("missed to the right", "less"),
    "unfinished": Metric("unfinished", "less"),
}
"""The metrics that claims are about."""


@dataclass(frozen=True)
class ExperimentConfig:
    """A model, its training sentences, and its test sentences.

    Attributes
    ----------
    name : str
        Name of the model in its plan.
    model : str
        One of `MODELS`.
    options : mapping
        Further arguments of that function.
    language : str, default "reordered"
        `GRAMMAR`, or the target language of a text.
    seeds : tuple of int
        Seeds of the runs: of initial weights, training sentences and batches.
    embedding_dim, hidden_size : int
        Sizes of an embedding, and of a state in one direction.
    clauses : tuple of int
        Numbers of clauses of the training sentences.
    reordering : float, default 0.5
        How often English puts first what French puts last, in training and test sentences.
    num_pairs : int
        Number of training pairs.
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
    label : str
        Name of the model in plots and tables.
    plan : str
        Name of the plan.
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
    max_input_length : int, optional
        Most words of a side of a pair that is learned from, in a plan that learns from a text.
    members : str
        Name of the model whose runs translate together. If empty, the model is trained by itself.
    """

    name: str
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    language: str = GRAMMAR
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    embedding_dim: int = 48
    hidden_size: int = 96
    clauses: tuple[int, ...] = (1, 2, 3)
    reordering: float = 0.5
    num_pairs: int = 20_000
    max_tokens: int = 800
    max_steps: int = 700
    learning_rate: float | None = None
    test_clauses: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8)
    num_test_sentences: int = 100
    test_seed: int = 0
    beam_size: int = 5
    label: str = ""
    plan: str = ""
    phase: int = 1
    tuning_group: str = ""
    subwords: bool = False
    eval_every: int | None = None
    max_length: int | None = None
    max_input_length: int | None = None
    members: str = ""

    def replace(self, **changes: Any) -> "ExperimentConfig":
        """Return a copy with changed attributes."""
        return replace(self, **changes)

    @property
    def build(self) -> Callable[..., EncoderDecoder]:
        """Function that builds the model."""
        return MODELS[self.model]

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the model, by the argument names of its function."""
        of_transformer = "d_model" in signature(self.build).parameters
        names = ("d_model", "dim_feedforward") if of_transformer else ("embedding_dim", "hidden_size")
        return dict(zip(names, (self.embedding_dim, self.hidden_size), strict=True))

    @property
    def digest(self) -> str:
        """Digest of what a run depends on, except its seed and learning rate, and fields at their default."""
        usual, given = asdict(type(self)("", "")), asdict(self)
        described = {name: x for name, x in given.items() if name not in _NOT_OF_RUN and x != usual[name]}
        return sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:16]

    def build_model(self, seed: int) -> EncoderDecoder:
        """Build the model, untrained."""
        return self.build(*vocabularies(), **self.options, **self.sizes, seed=seed)

    def training_sentences(self, seed: int) -> list[SentencePair]:
        """Return the training pairs of a run."""
        drawn = {"n": self.num_pairs, "seed": seed, "clauses": self.clauses, "part": "train"}
        return [*_sample_training(self.language, reordering=self.reordering, **drawn)]

    def test_sentences(self, clauses: int | Sequence[int] | None = None) -> list[SentencePair]:
        """Return the test sentences, which are disjoint from all training sentences.

        Without `clauses`, those of all numbers of `test_clauses`.
        """
        wanted = self.test_clauses if clauses is None else (clauses,) if isinstance(clauses, int) else clauses
        drawn = {"n": self.num_test_sentences, "part": "test", "reordering": self.reordering}
        of = [_sample_test(self.language, seed=self.test_seed + c, clauses=(c,), **drawn) for c in wanted]
        return [pair for pairs in of for pair in pairs]


_NOT_OF_RUN = {"name", "seeds", "learning_rate", "label", "plan", "phase", "tuning_group"}


@dataclass(frozen=True)
class Plan:
    """A plan of a comparison.

    Attributes
    ----------
    name : str
        Name of the plan.
    contents : mapping
        Contents of the file.
    configs : mapping
        Configurations by name, in the file's order.
    """

    name: str
    contents: Mapping[str, Any]
    configs: Mapping[str, ExperimentConfig]

    @property
    def tuning_groups(self) -> Mapping[str, str]:
        """Model that the learning rate of each tuning group is chosen with."""
        return self.contents.get("tuning", {}).get("groups", {})

    def tuning_config(self, group: str) -> ExperimentConfig:
        """Return the configuration that the learning rate of a tuning group is chosen with."""
        return self.configs[self.tuning_groups[group]]

    @property
    def groupings(self) -> Sequence[str]:
        """Groupings of the test sentences, with a table of metrics each."""
        return self.contents.get("metrics", {}).get("groupings", ("test_set", "words"))

    def claims(self, table: str) -> pd.DataFrame:
        """Return the claims of a table.

        Returns
        -------
        DataFrame
            A row for each ``claim``, in words: that model ``first`` has "more" or "less" (``direction``) of a
            ``metric`` on a ``test_set``, or a number of clauses, than model ``second``, or that it "differs"; the
            ``margin`` of a large difference; and the ``entry`` of the table that claims it, from 0.
        """
        rule, rows = self.contents["verdicts"], []
        for n, entry in enumerate(self.contents["tables"][table].get("claims", ())):
            claim = rule["claims"] | entry
            first, second, direction = claim["first"], claim["second"], claim["direction"]
            words = "differs from" if direction == "differs" else f"{direction} than"
            wording = f"{self.configs[first].label} {words} {self.configs[second].label}"
            for metric, test_set in product(claim["metric"], claim[self.groupings[0]]):
                margin = rule.get("margin") or rule["margins"][metric][str(test_set)]
                sign = METRICS[metric].better if direction == "better" else direction
                rows.append([wording, first, second, sign, metric, test_set, margin, n])
        columns = ["claim", "first", "second", "direction", "metric", "test_set", "margin", "entry"]
        return pd.DataFrame(rows, columns=columns)

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

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If there is no plan of this name, or a name in it occurs twice.
    """
    if isinstance(plan, Plan):
        return plan
    if isinstance(plan, str):
        check_choice(sorted(path.stem for path in PLANS.glob("*.toml")), plan=plan)
        plan = PLANS / f"{plan}.toml"
    contents = tomllib.loads(plan.read_text("utf-8"))
    first = contents.get("seeds", {}).get("first", 0)
    configs: dict[str, ExperimentConfig] = {}
    for part in contents["tables"].values():
        for row in part["rows"]:
            given: dict[str, Any] = {
                name: tuple(x) if isinstance(x, list) else x for name, x in (contents["defaults"] | row).items()
            }
            name, num_seeds = given["name"], given.pop("num_seeds")
            if name in configs:
                raise ValueError(f"name is {name!r} twice in the plan {plan.stem}; expected different names")
            where = {"plan": plan.stem, "phase": part["phase"]}
            fields = {"label": name} | where | {x: given.pop(x) for x in _FIELDS & given.keys()}
            configs[name] = ExperimentConfig(**fields, seeds=tuple(range(first, first + num_seeds)), options=given)
    return Plan(plan.stem, contents, configs)


_FIELDS = ExperimentConfig.__dataclass_fields__.keys()


def _sample(language: str, **drawn: Any) -> tuple[SentencePair, ...]:
    check_choice((GRAMMAR,), language=language)
    return tuple(sample(**drawn))


_sample_training, _sample_test = lru_cache(maxsize=2)(_sample), cache(_sample)
