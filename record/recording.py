"""The runs of a plan that learns from a grammar: one command that does what is not recorded yet.

In each phase of the plan first come the learning rates, then the runs, by seed. Each run is written into the tables
when it is done: killed at any moment, the command goes on where it was. With ``--share 2 5`` it does the second fifth
of the runs; without, what the others left. With ``--costs`` it measures what every model costs, in one sitting, with
nothing beside it.
"""

import multiprocessing
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from measures import measure, measure_costs, measure_rate
from tables import Run, add_run, run_command
from tyro.conf import Positional

from attnbook.experiments.plan import ExperimentConfig, Plan, read_plan
from attnbook.experiments.runs import RECORDED, Recording, mean_losses

Jobs = dict[tuple[Any, ...], Callable[[], Run]]
"""What is to be run, by its name and seed, in this order."""


def rates_to_try(losses: pd.Series, rates: Sequence[float]) -> list[float]:
    """List the plan's rates, and one more beside the best of those with a loss while that is the first or the last."""
    tried = sorted(rates)
    while {*tried} <= {*losses.index} and losses[tried].min() < inf:
        best = tried.index(losses[tried].idxmin())
        if 0 < best < len(tried) - 1:
            break
        tried = [tried[0] / 2, *tried] if best == 0 else [*tried, tried[-1] * 2]
    return tried


def list_rate_jobs(recording: Recording, groups: Iterable[str]) -> Jobs:
    """List the runs that choose the learning rates of tuning groups, recorded or not."""
    plan, rates, jobs = recording.plan, recording.learning_rates, {}
    rule = plan.contents["tuning"]
    for group in groups:
        losses = mean_losses(rates[rates["tuning_group"] == group], len(rule["seeds"]))
        for rate, seed in product(rates_to_try(losses, rule["learning_rates"]), rule["seeds"]):
            config = plan.tuning_config(group).replace(learning_rate=rate)
            jobs[group, rate, seed] = partial(measure_rate, config, seed)
    return jobs


def list_jobs(recording: Recording, configs: Sequence[ExperimentConfig]) -> Jobs:
    """List the runs of configurations whose learning rates are chosen, by seed, recorded or not."""
    jobs = {}
    for config, seed in sorted(((c, seed) for c in configs for seed in c.seeds), key=lambda run: run[1]):
        chosen = config.replace(learning_rate=recording.best_learning_rate(config.tuning_group))
        jobs[config.name, seed] = partial(measure, chosen, seed)
    return jobs


def recorded(recording: Recording) -> set[tuple[Any, ...]]:
    """Name the runs that are in the tables."""
    keys = recording.learning_rates[["tuning_group", "learning_rate", "seed"]]
    return {*keys.itertuples(index=False, name=None), *recording.recorded}


def record(plan: Plan, folder: Path, share: tuple[int, int] = (1, 1), log: Callable[[str], Any] = print) -> None:
    """Record the runs of a plan that are not recorded yet, phase by phase, and log each."""
    for phase in sorted({config.phase for config in plan.configs.values()}):
        record_phase(plan, phase, folder, share, log)


def record_phase(plan: Plan, phase: int, folder: Path, share: tuple[int, int], log: Callable[[str], Any]) -> None:
    """Record the runs of a phase that are not recorded yet, and log each."""
    failed: set[tuple[Any, ...]] = set()
    configs = [config for config in plan.configs.values() if config.phase == phase]
    groups = dict.fromkeys(config.tuning_group for config in configs)
    part, parts = share
    while True:
        recording = Recording(plan, folder)
        jobs = list_rate_jobs(recording, groups)
        if rates_are_known := jobs.keys() <= recorded(recording):
            jobs = list_jobs(recording, configs)
        done = recorded(recording) | failed
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
    plan: Positional[str] = "world",
    *,
    folder: Path = RECORDED,
    share: tuple[int, int] = (1, 1),
    costs: bool = False,
) -> None:
    """Record the runs of a plan.

    Parameters
    ----------
    plan
        One of attnbook.experiments.plans.
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
            add_run(fresh.submit(measure_costs, config).result(), read, folder)
        log(name)


if __name__ == "__main__":
    run_command(main)
