"""The runs of a plan that learns from a grammar: one command that does what is not recorded yet.

First come the learning rates, then the runs, by phase and by seed, then again, and for longer, the models of which a
run failed to converge. Each run is written into the tables when it is done: killed at any moment, the command goes on
where it was. With ``--share 2 5`` it does the second fifth of the runs; without, what the others left.
With ``--costs`` it measures what every model costs, in one sitting, with nothing beside it.
"""

import multiprocessing
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import pandas as pd
import torch
import tyro
from measures import measure, measure_costs, measure_rate
from tables import Run, add_run
from tyro.conf import Positional

from attnlib.experiments.plan import Plan, read_plan
from attnlib.experiments.runs import RECORDED, best_learning_rate, failed_configs, load_learning_rates, read_details

Jobs = dict[tuple[Any, ...], Callable[[], Run]]
"""What is to be run, by its name and seed, in this order."""


def rates_to_try(rates: pd.DataFrame, group: str, rule: Mapping[str, Any]) -> list[float]:
    """List the plan's rates, and one more beside the best while that is the first or the last."""
    tried = sorted(rule["rates"])
    losses = pd.Series(dtype=float)
    if len(rates):
        of_group = rates[rates["tuning_group"] == group].fillna({"loss": inf}).groupby("learning_rate")["loss"]
        losses = of_group.mean()[of_group.size() == len(rule["seeds"])]
    while {*tried} <= {*losses.index} and losses[tried].min() < inf:
        best = tried.index(losses[tried].idxmin())
        if 0 < best < len(tried) - 1:
            break
        tried = [tried[0] / 2, *tried] if best == 0 else [*tried, tried[-1] * 2]
    return tried


def list_rate_jobs(plan: Plan, folder: Path) -> Jobs:
    """List the runs that choose learning rates, recorded or not."""
    rule, rates, jobs = plan.contents["learning_rates"], load_learning_rates(plan, folder), {}
    for group, name in plan.tuning_groups.items():
        config = plan.configs[name].longer(rule["share_of_steps"])
        for rate in rates_to_try(rates, group, rule):
            for seed in rule["seeds"]:
                jobs[group, rate, seed] = partial(measure_rate, plan, config.replace(learning_rate=rate), seed)
    return jobs


def list_jobs(plan: Plan, folder: Path) -> Jobs:
    """List the runs of a plan whose learning rates are chosen, recorded or not."""
    rates = {group: best_learning_rate(plan, group, folder) for group in plan.tuning_groups}
    again = [(config, seed) for config in failed_configs(plan, folder) for seed in config.seeds]
    runs = [(config.replace(learning_rate=rates[config.tuning_group]), seed) for config, seed in [*plan.runs(), *again]]
    return {(config.name, seed): partial(measure, plan, config, seed) for config, seed in runs}


def recorded(plan: Plan, folder: Path) -> set[tuple[Any, ...]]:
    """Name the runs that are in the tables."""
    rates = load_learning_rates(plan, folder)
    keys = rates[["tuning_group", "learning_rate", "seed"]].itertuples(index=False, name=None) if len(rates) else ()
    return {*keys, *((run["model"], run["seed"]) for run in read_details(plan, folder))}


def record(plan: Plan, folder: Path, share: tuple[int, int] = (1, 1), log: Callable[[str], Any] = print) -> None:
    """Record the runs of a plan that are not recorded yet, and log each."""
    failed: set[tuple[Any, ...]] = set()
    part, parts = share
    while True:
        jobs = list_rate_jobs(plan, folder)
        if rates_are_known := jobs.keys() <= recorded(plan, folder):
            jobs = list_jobs(plan, folder)
        done = recorded(plan, folder) | failed
        mine = {key: jobs[key] for key in [*jobs][part - 1 :: parts] if key not in done}
        for key, job in mine.items():
            name = " ".join(map(str, key))
            try:
                add_run(job(), plan, folder)
            except FloatingPointError as error:
                failed.add(key)
                log(f"{name}: {error}")
            else:
                log(name)
        if not mine and rates_are_known:
            return
        if not mine:
            time.sleep(2)  # until the other shares have chosen their learning rates


def main(
    plan: Positional[str] = "comparison",
    *,
    folder: Path = RECORDED,
    share: tuple[int, int] = (1, 1),
    costs: bool = False,
) -> None:
    """Record the runs of a plan.

    Parameters
    ----------
    plan
        One of attnlib.experiments.plans.
    folder
        Where the tables are; the default is in the package.
    share
        Which share of the runs to do, such as 2 5, the second fifth.
    costs
        Measure what every model costs, with nothing beside it.
    """
    read, log = read_plan(plan), partial(print, flush=True)
    if not 1 <= share[0] <= share[1]:
        raise ValueError(f"share is {share}; expected two numbers such as 2 5, the first from 1 to the second")
    torch.set_num_threads(1)
    if not costs:
        record(read, folder, share, log)
        return
    for name, config in read.configs.items():
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), torch.set_num_threads, (1,)) as fresh:
            add_run(fresh.submit(measure_costs, read, config).result(), read, folder)
        log(name)


if __name__ == "__main__":
    try:
        tyro.cli(main)
    except (ValueError, OSError) as error:
        sys.exit(f"recording.py: {error}")
