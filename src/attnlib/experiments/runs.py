"""Tables of the recorded runs.

The plan ``comparison``, for example, has ``comparison.csv``, the metrics of each run on each test set;
``comparison.clauses.csv`` and ``comparison.words.csv``, the same by length of the test sentences;
``comparison.learning_rates.csv`` and ``comparison.costs.csv``; and ``comparison.jsonl``, with further details of each
run. The metrics are described in `attnlib.experiments.evaluation`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool

from attnlib.checks import check_choice
from attnlib.experiments.plan import ExperimentConfig, Plan, read_plan

RECORDED = Path(__file__).parent / "recorded"
"""Folder of the tables."""

BY = ("test_set", "clauses", "words")
"""Groupings of the test sentences, with a table each."""


def read_table(name: str, folder: Path = RECORDED) -> pd.DataFrame:
    """Read a recorded table; one that does not exist yet is empty.

    Parameters
    ----------
    name : str
        Name of the file, without ``.csv``.
    folder : Path, optional
        Folder of the recorded runs.

    Returns
    -------
    DataFrame
        The table.
    """
    path = folder / f"{name}.csv"
    return pd.read_csv(path, keep_default_na=False, na_values=[""]) if path.exists() else pd.DataFrame()


def read_details(plan: str | Plan, folder: Path = RECORDED) -> list[dict[str, Any]]:
    """Read the recorded details of each run of a plan.

    Parameters
    ----------
    plan : str or Plan
        The plan, or its name.
    folder : Path, optional
        Folder of the recorded runs.

    Returns
    -------
    list of dict
        An entry for each run.

    Raises
    ------
    ValueError
        If a run was recorded under another version of the plan.
    """
    plan = read_plan(plan)
    path = folder / f"{plan.name}.jsonl"
    details = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    if not plan.learns_from_text and {run["plan"] for run in details} - {plan.digest}:
        raise ValueError(f"{path.name} has runs of another plan; expected runs with the hash of {plan.name}")
    return details


def load_runs(plan: str | Plan, by: str = "test_set", folder: Path = RECORDED) -> pd.DataFrame:
    """Load the metrics of all runs of a plan.

    Parameters
    ----------
    plan : str or Plan
        The plan, or its name.
    by : {"test_set", "clauses", "words"}, default "test_set"
        Grouping of the test sentences: by as many clauses as in training ("seen lengths") or more ("longer"); by number
        of clauses; or by number of words, in tens. The test sets of a plan that learns from a text are "test" and
        "captions".
    folder : Path, optional
        Folder of the recorded runs.

    Returns
    -------
    DataFrame
        A row for each model, group of test sentences and seed; a column for each metric.

    Raises
    ------
    ValueError
        If `by` has another value, or a run was recorded under another version of the plan.
    """
    check_choice(BY, by=by)
    plan = read_plan(plan)
    read_details(plan, folder)
    return read_table(plan.name if by == "test_set" else f"{plan.name}.{by}", folder)


def load_learning_rates(plan: str | Plan, folder: Path = RECORDED) -> pd.DataFrame:
    """Load the dev losses of the learning-rate search.

    Parameters
    ----------
    plan : str or Plan
        The plan, or its name.
    folder : Path, optional
        Folder of the recorded runs.

    Returns
    -------
    DataFrame
        A row for each ``tuning_group``, ``learning_rate`` and ``seed``; the ``loss`` is NaN if training failed.
    """
    return _load("learning_rates", plan, folder)


def load_costs(plan: str | Plan, folder: Path = RECORDED) -> pd.DataFrame:
    """Load the costs of the models of a plan.

    Parameters
    ----------
    plan : str or Plan
        The plan, or its name.
    folder : Path, optional
        Folder of the recorded runs.

    Returns
    -------
    DataFrame
        With an index ``model``: ``parameters``; ``macs``, the multiply-adds of a decoder step; ``words_per_second`` of
        training, ``seconds`` and ``peak_memory`` in MiB. A plan that learns from a text has a row for each run.
    """
    return _load("costs", plan, folder).set_index("model")


def load_losses_by_position(plan: str | Plan, folder: Path = RECORDED) -> pd.DataFrame:
    """Load the mean loss of each run by target position.

    Parameters
    ----------
    plan : str or Plan
        The plan, or its name.
    folder : Path, optional
        Folder of the recorded runs.

    Returns
    -------
    DataFrame
        Means over five positions, in nats per word, by the ``position`` in their middle, from 1.
    """
    rows = [
        (run["model"], run["seed"], clauses, 5 * n + 3, loss)
        for run, config in _with_configs(plan, folder)
        for clauses, losses in zip(config.test_clauses, run["losses_by_position"], strict=True)
        for n, loss in enumerate(losses)
    ]
    return pd.DataFrame(rows, columns=["model", "seed", "clauses", "position", "loss"])


def load_alignment_offsets(plan: str | Plan, folder: Path = RECORDED) -> pd.DataFrame:
    """Load the distribution of each run's offsets from the gold links.

    Parameters
    ----------
    plan : str or Plan
        The plan, or its name.
    folder : Path, optional
        Folder of the recorded runs.

    Returns
    -------
    DataFrame
        Number of links by ``offset`` from the nearest gold link, in words. A negative offset is to the left. The first
        and the last offset include all links that are further away.
    """
    rows = [
        (run["model"], run["seed"], test_set, offset, count)
        for run in read_details(plan, folder)
        for test_set, links in (run["alignment_offsets"] or {}).items()
        for offset, count in enumerate(links, -(len(links) // 2))
    ]
    return pd.DataFrame(rows, columns=["model", "seed", "test_set", "offset", "links"])


def load_correct(
    plan: str | Plan, model: str, test_set: str = "seen lengths", folder: Path = RECORDED
) -> Bool[np.ndarray, "runs sentences"]:
    """Load which test sentences each run of a model translates correctly.

    Parameters
    ----------
    plan : str or Plan
        The plan, or its name.
    model : str
        Name of the model.
    test_set : {"seen lengths", "longer"}, default "seen lengths"
        Test set.
    folder : Path, optional
        Folder of the recorded runs.

    Returns
    -------
    bool array, shape (runs, sentences)
        True for a correct translation; runs are ordered by seed.
    """
    runs = [(run, config) for run, config in _with_configs(plan, folder) if run["model"] == model]
    config = runs[0][1]
    seen = np.repeat(config.test_clauses, config.num_test_sentences) <= max(config.clauses)
    bits = [np.unpackbits(np.frombuffer(bytes.fromhex(run["correct"]), np.uint8), count=len(seen)) for run, _ in runs]
    return np.array(bits, dtype=bool)[:, {"seen lengths": seen, "longer": ~seen}[test_set]]


def best_learning_rate(plan: str | Plan, group: str, folder: Path = RECORDED) -> float:
    """Return the learning rate of a tuning group with the least mean loss.

    Parameters
    ----------
    plan : str or Plan
        The plan, or its name.
    group : str
        Name of the tuning group.
    folder : Path, optional
        Folder of the recorded runs.

    Returns
    -------
    float
        The learning rate.

    Raises
    ------
    ValueError
        If no loss of the group is recorded, or training failed with every rate.
    """
    rates = load_learning_rates(plan, folder)
    losses = rates[rates["tuning_group"] == group].fillna({"loss": np.inf}).groupby("learning_rate")["loss"].mean()
    if not np.isfinite(losses).any():
        raise ValueError(f"group is {group!r}; expected a tuning group with a finite loss")
    return float(losses.idxmin())


def failed_configs(plan: str | Plan, folder: Path = RECORDED) -> list[ExperimentConfig]:
    """Return longer configurations of models with a run that failed.

    Parameters
    ----------
    plan : str or Plan
        The plan, or its name.
    folder : Path, optional
        Folder of the recorded runs.

    Returns
    -------
    list of ExperimentConfig
        The configurations with which these models are trained again.
    """
    plan = read_plan(plan)
    rule, runs = plan.contents.get("lost", {"tables": ()}), load_runs(plan, folder=folder)
    if runs.empty:
        return []
    least = runs[runs["test_set"] == "seen lengths"].groupby("model")["exact_match"].agg(["min", "size"])
    return [
        config.longer(rule["times"]).replace(seeds=config.seeds[:5])
        for name, config in plan.configs.items()
        if config.table in rule["tables"] and name in least.index
        if least["size"][name] == len(config.seeds) and least["min"][name] < rule["below"]
    ]


def _load(name: str, plan: str | Plan, folder: Path) -> pd.DataFrame:
    """Load a table whose rows have a plan's hash and the code's revision."""
    plan = read_plan(plan)
    whole_name = f"{plan.name}.{name}"
    table = read_table(whole_name, folder)
    if "plan" in table and {*table["plan"]} - {plan.digest}:
        raise ValueError(f"{whole_name}.csv has lines of another plan; expected lines with the hash of {plan.name}")
    return table.drop(columns=["plan", "revision"], errors="ignore")


def _with_configs(plan: str | Plan, folder: Path) -> Iterator[tuple[dict[str, Any], ExperimentConfig]]:
    """Yield each run with its configuration.

    A model that was trained again for longer shares the configuration of the first training.

    Yields
    ------
    tuple of (dict, ExperimentConfig)
        A run and its configuration.
    """
    plan = read_plan(plan)
    for run in read_details(plan, folder):
        yield run, plan.configs[run["model"].partition("-times")[0]]
