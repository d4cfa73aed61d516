"""The recorded runs of the plans, as tables.

Beside each other are, for the plan ``comparison``: ``comparison.csv``, the metrics of each run on each test set, and
``comparison.clauses.csv`` and ``comparison.words.csv``, the same by length of the test sentences;
``comparison.learning_rates.csv`` and ``comparison.costs.csv``; and ``comparison.jsonl``, what is no table: a line for
each run. The metrics are described in `attnlib.experiments.evaluation`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool

from attnlib.checks import check_choice
from attnlib.experiments.plan import ExperimentConfig, Plan, read_plan, rename_settings

RECORDED = Path(__file__).parent / "recorded"
"""Where the tables are."""

BY = ("test_set", "clauses", "words")
"""What test sentences are grouped by, a table each."""


def read_table(name: str, folder: Path = RECORDED) -> pd.DataFrame:
    """Read a table of recorded numbers, each as it was written; a table that does not exist yet has no lines."""
    path = folder / f"{name}.csv"
    return pd.read_csv(path, keep_default_na=False, na_values=[""]) if path.exists() else pd.DataFrame()


def read_details(plan: str | Plan, folder: Path = RECORDED) -> list[dict[str, Any]]:
    """Read what is recorded of each run beside its metrics.

    Raises
    ------
    ValueError
        If a run was recorded under another plan: with another hash.
    """
    plan = read_plan(plan) if isinstance(plan, str) else plan
    path = folder / f"{plan.name}.jsonl"
    details = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    if not plan.learns_from_text and {run["plan"] for run in details} - {plan.digest}:
        raise ValueError(f"{path.name} has runs of another plan than {plan.name}: their hash differs")
    return [{**run, "settings": rename_settings(run["settings"])} if "settings" in run else run for run in details]


def load_runs(plan: str | Plan, by: str = "test_set", folder: Path = RECORDED) -> pd.DataFrame:
    """Load the metrics of all runs of a plan.

    Parameters
    ----------
    plan : str or Plan
    by : {"test_set", "clauses", "words"}
        What the test sentences are grouped by: whether they have as many clauses as the training sentences ("seen
        lengths") or more ("longer"); their number of clauses; or their number of words, in tens. Of a plan that learns
        from a text the test sets are "test" and "captions".

    Returns
    -------
    DataFrame
        A line for each model, group of test sentences and seed; a column for each metric.

    Raises
    ------
    ValueError
        If `by` is another word, or a run was recorded under another plan.
    """
    check_choice(BY, by=by)
    plan = read_plan(plan) if isinstance(plan, str) else plan
    read_details(plan, folder)
    return read_table(plan.name if by == "test_set" else f"{plan.name}.{by}", folder)


def load_learning_rates(plan: str | Plan, folder: Path = RECORDED) -> pd.DataFrame:
    """Load the losses that learning rates were chosen by, NaN where training failed."""
    return _load("learning_rates", plan, folder)


def load_costs(plan: str | Plan, folder: Path = RECORDED) -> pd.DataFrame:
    """Load what models cost.

    Returns
    -------
    DataFrame
        With an index ``model``: ``parameters``; ``macs``, the multiply-adds of a decoder's step; ``words_per_second``
        of training, ``seconds`` and ``peak_memory`` in MiB. Of a plan that learns from a text, a line for each run.
    """
    return _load("costs", plan, folder).set_index("model")


def load_learning_curves(plan: str | Plan, folder: Path = RECORDED) -> pd.DataFrame:
    """Load the training loss of each run, the mean of ten steps, by the step in their middle.

    Of a plan that learns from a text it is the mean up to a ``step``, with the loss and BLEU of the dev part there.
    """
    curves = []
    for run in read_details(plan, folder):
        losses, dev = run["losses"], pd.DataFrame(run.get("dev", []), columns=["step", "dev_loss", "dev_bleu"])
        if dev.empty:
            curve = pd.DataFrame({"step": 10 * np.arange(len(losses)) + 5, "loss": losses})
        else:
            curve = pd.DataFrame(losses, columns=["step", "loss"]).merge(dev, on="step", how="outer")
        curves.append(_of_run(run, curve))
    return pd.concat(curves, ignore_index=True)


def load_losses_by_position(plan: str | Plan, folder: Path = RECORDED) -> pd.DataFrame:
    """Load the mean loss of five target positions after another, by the position in their middle, from 1."""
    plan = read_plan(plan) if isinstance(plan, str) else plan
    parts = []
    for run, config in _with_configs(plan, folder):
        for clauses, losses in zip(config.test_clauses, run["losses_by_position"], strict=True):
            part = {"clauses": clauses, "position": 5 * np.arange(len(losses)) + 3, "loss": losses}
            parts.append(_of_run(run, pd.DataFrame(part)))
    return pd.concat(parts, ignore_index=True)


def load_alignment_offsets(plan: str | Plan, folder: Path = RECORDED) -> pd.DataFrame:
    """Load how many links of each run miss the nearest gold link by how many words.

    A negative ``offset`` is to the left; the first and the last offset count all links that are further away.
    """
    parts = []
    for run in read_details(plan, folder):
        for test_set, links in (run["alignment_offsets"] or {}).items():
            half = len(links) // 2
            part = {"test_set": test_set, "offset": np.arange(-half, half + 1), "links": links}
            parts.append(_of_run(run, pd.DataFrame(part)))
    return pd.concat(parts, ignore_index=True)


def load_correct(
    plan: str | Plan, model: str, test_set: str = "seen lengths", folder: Path = RECORDED
) -> Bool[np.ndarray, "runs sentences"]:
    """Load which test sentences each run of a model translates correctly, the seeds in order.

    Raises
    ------
    ValueError
        If no run of the model is recorded, or `test_set` is neither "seen lengths" nor "longer".
    """
    check_choice(("seen lengths", "longer"), test_set=test_set)
    plan = read_plan(plan) if isinstance(plan, str) else plan
    runs = [(run, config) for run, config in _with_configs(plan, folder) if run["model"] == model]
    if not runs:
        raise ValueError(f"model is {model!r}; expected one with recorded runs")
    config = runs[0][1]
    seen = np.repeat(config.test_clauses, config.num_test_sentences) <= max(config.clauses)
    bits = [np.unpackbits(np.frombuffer(bytes.fromhex(run["correct"]), np.uint8), count=len(seen)) for run, _ in runs]
    return np.array(bits, dtype=bool)[:, seen if test_set == "seen lengths" else ~seen]


def best_learning_rate(plan: str | Plan, group: str, folder: Path = RECORDED) -> float:
    """Return the learning rate of a tuning group with the least mean loss.

    Raises
    ------
    ValueError
        If no loss of the group is recorded, or training failed with every rate.
    """
    rates = load_learning_rates(plan, folder)
    losses = rates[rates["tuning_group"] == group].fillna({"loss": np.inf}).groupby("learning_rate")["loss"].mean()
    if not np.isfinite(losses).any():
        raise ValueError(f"group is {group!r}; expected a tuning group that some learning rate trains")
    return float(losses.idxmin())


def failed_configs(plan: str | Plan, folder: Path = RECORDED) -> list[ExperimentConfig]:
    """List the configurations of which a run failed to converge, as they are trained again: for longer."""
    plan = read_plan(plan) if isinstance(plan, str) else plan
    rule, runs = plan.contents.get("lost", {"tables": ()}), load_runs(plan, folder=folder)
    if runs.empty:
        return []
    least = runs[runs["test_set"] == "seen lengths"].groupby("model")["exact_match"].agg(["min", "size"])
    return [
        config.longer(rule["times"], 5)
        for name, config in plan.configs.items()
        if config.table in rule["tables"] and name in least.index
        if least["size"][name] == len(config.seeds) and least["min"][name] < rule["below"]
    ]


def _load(name: str, plan: str | Plan, folder: Path) -> pd.DataFrame:
    """Read a table of which each line has the hash of its plan and the revision of the code."""
    plan = read_plan(plan) if isinstance(plan, str) else plan
    table = read_table(f"{plan.name}.{name}", folder)
    if "plan" in table and {*table["plan"]} - {plan.digest}:
        raise ValueError(f"{plan.name}.{name}.csv has lines of another plan than {plan.name}: their hash differs")
    return table.drop(columns=["plan", "revision"], errors="ignore")


def _with_configs(plan: Plan, folder: Path) -> Iterator[tuple[dict[str, Any], ExperimentConfig]]:
    """Pair each run with its configuration, which a model that was trained again shares with the first one."""
    for run in read_details(plan, folder):
        yield run, plan.configs[run["model"].partition("-times")[0]]


def _of_run(run: dict[str, Any], table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(model=run["model"], seed=run["seed"])[["model", "seed", *table.columns]]
