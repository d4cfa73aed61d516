"""Tables of the recorded runs, for chapters 2 and 5 and for `attnbook.experiments.ranges`.

The plan ``world``, for example, has ``world.csv``, the metrics of each run on test sentences of each number of clauses;
``world.learning_rates.csv``; ``world.jsonl``, with further details of each run; and ``world.environments.csv``, the
code, machines and versions that these name. The metrics are described in `attnbook.experiments.predictions`.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool

from attnbook.experiments.plan import ExperimentConfig, Plan, read_plan
from attnlib.checks import check_choice

RECORDED = Path(__file__).parent / "recorded"
"""Folder of the tables."""


def read_table(name: str, folder: Path = RECORDED) -> pd.DataFrame:
    """Read a recorded table; one that does not exist yet is empty."""
    path = folder / f"{name}.csv"
    digests = dict.fromkeys(("config", "environment", "id"), str)  # some look like numbers
    return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=digests) if path.exists() else pd.DataFrame()


def mean_losses(learning_rates: pd.DataFrame, num_seeds: int = 1) -> pd.Series:
    """Compute the mean dev loss of each learning rate over its seeds, infinite if a training failed.

    Learning rates with fewer than `num_seeds` seeds are left out.
    """
    losses = learning_rates["loss"].astype(float).fillna(np.inf).groupby(learning_rates["learning_rate"])
    return losses.mean()[losses.size() >= num_seeds]


class Recording:
    """The recorded runs of a plan. Each file is read once; a new recording reads it again.

    Parameters
    ----------
    plan : str, Path or Plan
        The plan, its name, or its file.
    folder : Path, optional
        Folder of the recorded runs.
    """

    def __init__(self, plan: str | Path | Plan, folder: Path = RECORDED):
        self.plan, self.folder = read_plan(plan), folder

    @cached_property
    def details(self) -> list[dict[str, Any]]:
        """Details of each run, from the lines of JSON."""
        path = self.folder / f"{self.plan.name}.jsonl"
        details = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
        self._check(path.name, self.plan.configs, [(run["model"], run["config"]) for run in details if "config" in run])
        return details

    @cached_property
    def learning_rates(self) -> pd.DataFrame:
        """Dev losses of the learning-rate search.

        A row for each ``tuning_group``, ``learning_rate`` and ``seed``; the ``loss`` is NaN if training failed.
        """
        table = self._table("learning_rates")
        if table.empty:
            return pd.DataFrame(columns=["tuning_group", "learning_rate", "seed", "loss"])
        configs = {group: self.plan.tuning_config(group) for group in self.plan.tuning_groups}
        found = zip(table["tuning_group"], table["config"], strict=True)
        self._check(f"{self.plan.name}.learning_rates.csv", configs, found)
        return table.drop(columns=["config", "environment"])

    @cached_property
    def costs(self) -> pd.DataFrame:
        """Costs of the models.

        With an index ``model``: ``parameters``; ``macs``, the multiply-adds of a decoder step; ``words_per_second`` of
        training, and ``seconds``.
        """
        return self._table("costs").drop(columns="environment").set_index("model")

    @property
    def recorded(self) -> set[tuple[str, int]]:
        """Model and seed of each recorded run."""
        return {(run["model"], run["seed"]) for run in self.details}

    def runs(self, by: str | None = None) -> pd.DataFrame:
        """Return the metrics of all recorded runs.

        Parameters
        ----------
        by : {"test_set", "clauses", "words"}, optional
            Grouping of the test sentences, one of the plan's: by number of clauses; or, of a plan that learns from a
            text, by test set, "test" or "captions", or by number of words, in tens. If None, the plan's first grouping.

        Returns
        -------
        DataFrame
            A row for each model, group of test sentences and seed; a column for each metric.
        """
        first, *_ = self.plan.groupings
        by = by or first
        check_choice(self.plan.groupings, by=by)
        table = self._table("" if by == first else by)
        if table.empty:
            return pd.DataFrame(columns=["model", by, "seed"])
        return table[pd.MultiIndex.from_frame(table[["model", "seed"]]).isin(self.recorded)]

    def losses_by_position(self) -> pd.DataFrame:
        """Return the mean loss of each run by target position.

        The means are over five positions, in nats per word; ``position`` is their middle, from 1.
        """
        configs = self.plan.configs
        rows = [
            (run["model"], run["seed"], clauses, 5 * n + 3, loss)
            for run in self.details
            for clauses, losses in zip(configs[run["model"]].test_clauses, run["losses_by_position"], strict=True)
            for n, loss in enumerate(losses)
        ]
        return pd.DataFrame(rows, columns=["model", "seed", "clauses", "position", "loss"])

    def correct(self, model: str, clauses: int | None = None) -> Bool[np.ndarray, "runs sentences"]:
        """Return which test sentences each run of a model translates correctly.

        Runs are ordered by seed. Without `clauses`, all sentences of lengths seen in training.
        """
        config = self.plan.configs[model]
        of = np.repeat(config.test_clauses, config.num_test_sentences)
        runs = [bytes.fromhex(run["correct"]) for run in self.details if run["model"] == model]
        bits = [np.unpackbits(np.frombuffer(run, np.uint8), count=len(of)) for run in runs]
        return np.array(bits, dtype=bool)[:, np.isin(of, config.clauses if clauses is None else clauses)]

    def best_learning_rate(self, group: str) -> float:
        """Return the learning rate of a tuning group with the least mean loss."""
        rates = self.learning_rates
        losses = mean_losses(rates[rates["tuning_group"] == group])
        if not np.isfinite(losses).any():
            raise ValueError(f"group is {group!r}; expected a tuning group with a finite loss")
        return float(losses.idxmin())

    def _table(self, name: str) -> pd.DataFrame:
        return read_table(f"{self.plan.name}.{name}".removesuffix("."), self.folder)

    def _check(self, file: str, configs: Mapping[str, ExperimentConfig], found: Iterable[tuple[str, str]]) -> None:
        """Check that what was found is of the plan's configurations."""
        digests = {name: config.digest for name, config in configs.items()}
        others = sorted({name for name, digest in found if digests.get(name) != digest})
        if others:
            raise ValueError(f"{file} has {', '.join(others)} by another configuration; expected those of the plan")
