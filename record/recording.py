"""The runs of a plan: one command that does what is not recorded yet.

First come the learning rates, then the runs, by phase and by seed, then again, and for longer, the models of which a
run failed to converge. Each run is written into the tables when it is done: killed at any moment, the command goes on
where it was. With ``--share 2/5`` it does the second fifth of the runs; without, what the others left.
With ``--costs`` it measures what every model costs, in one sitting, with nothing beside it.
The plan "sentences" learns from a text, which ``--data`` names; an interrupted training goes on where it was.
"""

import multiprocessing
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from math import inf
from pathlib import Path
from threading import Thread
from typing import Any

import pandas as pd
import torch
import tyro
from measures import measure, measure_costs, measure_rate
from sentences import list_text_jobs
from tables import Run, add_run
from tyro.conf import Positional

from attnlib.checks import check_choice, check_whole
from attnlib.experiments.plan import Plan, read_plan
from attnlib.experiments.runs import RECORDED, best_learning_rate, failed_configs, load_learning_rates, read_details
from attnlib.processes import resolve_device

Jobs = Mapping[tuple[Any, ...], Callable[[], Run]]
"""What is to be run, by its name and seed, in this order."""

ALL = slice(None)
"""Every run, for one who does not share them out."""


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


def list_rate_jobs(plan: Plan, folder: Path) -> dict[tuple[Any, ...], Callable[[], Run]]:
    """List the runs that choose learning rates, recorded or not."""
    rule, rates, jobs = plan.contents["learning_rates"], load_learning_rates(plan, folder), {}
    for group, name in plan.tuning_groups.items():
        config = plan.shortened(plan.configs[name])
        for rate in rates_to_try(rates, group, rule):
            for seed in rule["seeds"]:
                with_rate = config.replace(learning_rate=rate)
                jobs[group, rate, seed] = partial(measure_rate, plan, group, with_rate, seed, rule["clauses"])
    return jobs


def list_jobs(plan: Plan, folder: Path) -> dict[tuple[Any, ...], Callable[[], Run]]:
    """List the runs of a plan whose learning rates are chosen, recorded or not."""
    rates = {group: best_learning_rate(plan, group, folder) for group in plan.tuning_groups}
    again = [(config, seed) for config in failed_configs(plan, folder) for seed in config.seeds]
    runs = [(config.replace(learning_rate=rates[config.tuning_group]), seed) for config, seed in [*plan.runs(), *again]]
    return {(config.name, seed): partial(measure, plan, config, seed) for config, seed in runs}


def recorded(plan: Plan, folder: Path) -> set[tuple[Any, ...]]:
    """Name the runs that are in the tables."""
    rates = load_learning_rates(plan, folder) if plan.tuning_groups else []
    keys = rates[["tuning_group", "learning_rate", "seed"]].itertuples(index=False, name=None) if len(rates) else ()
    return {*keys, *((run["model"], run["seed"]) for run in read_details(plan, folder))}


def record(plan: Plan, folder: Path, workers: int = 2, share: slice = ALL, log: Callable[[str], Any] = print) -> None:
    """Record the runs of a plan that are not recorded yet, `workers` side by side, and log each."""
    failed: set[tuple[Any, ...]] = set()
    while True:
        jobs = list_rate_jobs(plan, folder)
        if rates_are_known := jobs.keys() <= recorded(plan, folder):
            jobs = list_jobs(plan, folder)
        mine = {key: jobs[key] for key in [*jobs][share] if key not in recorded(plan, folder) | failed}
        if mine:
            failed |= do(mine, plan, folder, workers, log)
        elif rates_are_known:
            return
        else:
            time.sleep(2)  # until the other shares have chosen their learning rates


def do(jobs: Jobs, plan: Plan, folder: Path, workers: int, log: Callable[[str], Any]) -> set[tuple[Any, ...]]:
    """Run jobs and write each result when it is done; return those that failed."""
    failed = set()
    for key, result in _results(jobs, workers):
        began = time.perf_counter()
        try:
            run = result()
        except FloatingPointError as error:
            failed.add(key)
            log(f"{' '.join(map(str, key))}: {error}")
        else:
            add_run(run, plan, folder)
            seconds = (run.details or next(iter(run.tables.values()))[0]).get("seconds", time.perf_counter() - began)
            log(f"{' '.join(map(str, key))}: {seconds:.1f} seconds")
    return failed


def main(
    plan: Positional[str] = "comparison",
    *,
    folder: Path = RECORDED,
    workers: int | None = None,
    share: str = "1/1",
    only: tuple[str, ...] = (),
    costs: bool = False,
    data: Path | None = None,
    models: Path = Path("_build/real"),
    device: str | None = None,
) -> None:
    """Record the runs of a plan.

    Parameters
    ----------
    plan
        One of attnlib.experiments.plans.
    folder
        Where the tables are; the default is in the package.
    workers
        Runs side by side. If None, 2; of a plan that learns from a text 1.
    share
        Which share of the runs to do, such as 2/5, the second fifth.
    only
        Only these models, of a plan that learns from a text.
    costs
        Measure what every model costs, with nothing beside it.
    data
        The folder with the text: see sentences.py.
    models
        Where the models that learn from a text go.
    device
        Where these are trained: cpu, cuda, or cuda:1 and so on. If None, on a GPU if there is one.
    """
    read, part, log = read_plan(plan), _slice(share), partial(print, flush=True)
    workers = (1 if read.learns_from_text else 2) if workers is None else workers
    check_whole(workers=workers)
    if costs:
        for name, config in read.configs.items():
            with _pool(1) as fresh:
                add_run(fresh.submit(measure_costs, read, config).result(), read, folder)
            log(name)
    elif read.learns_from_text:
        if data is None:
            raise ValueError(f"plan is {read.name}, which learns from a text; expected --data, the folder of the text")
        for name in only:
            check_choice(read.configs, only=name)
        runs = [run for run in read.runs() if not only or run[0].name in only][part]
        how = {"device": resolve_device(device), "progress": True}
        do(list_text_jobs(read, runs, data, models, folder, **how), read, folder, workers, log)
    else:
        if only or data or device:
            raise ValueError(f"plan is {read.name}, which learns from no text; expected no --only, --data or --device")
        record(read, folder, workers, part, log)


def _results(jobs: Jobs, workers: int) -> Iterator[tuple[tuple[Any, ...], Callable[[], Run]]]:
    """Yield each run that is done, and what gives its result or its error; each in a process, if there are several."""
    if workers == 1:
        _begin()
        yield from jobs.items()
        return
    pool = _pool(workers)
    try:
        keys = {pool.submit(job): key for key, job in jobs.items()}
        for done in as_completed(keys):
            yield keys[done], done.result
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"), initializer=_begin)


def _slice(share: str) -> slice:
    """Read which of several shares of the runs to do, as one writes it: "2/5"."""
    numbers = re.fullmatch(r"(\d+)/(\d+)", share)
    if not numbers or not 1 <= int(numbers[1]) <= int(numbers[2]):
        raise ValueError(f"share is {share!r}; expected two whole numbers such as 2/5, the first from 1 to the second")
    return slice(int(numbers[1]) - 1, None, int(numbers[2]))


def _begin() -> None:
    """Use one thread; in a worker, end when the process that began it does, however it ends."""
    torch.set_num_threads(1)
    if parent := multiprocessing.parent_process():
        Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


if __name__ == "__main__":
    try:
        tyro.cli(main)
    except (ValueError, OSError) as error:
        sys.exit(f"recording.py: {error}")
