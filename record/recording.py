"""The runs of plans that are not recorded yet, several at once, on processors or a GPU.

``python record/recording.py PLAN ... --data FOLDER --processes 2`` does one seed of every row of a phase, then the next
seed, and writes each run into the tables when it is done: stopped at any moment, the same command does what is left. A
row whose learning rate the plan wants to be chosen waits for the runs that choose it; an ensemble waits until all of
its members are trained, while their models are in ``--models``; and a plan's second round waits for its first. With
``--costs`` it measures what every model costs instead, one after another, with nothing beside it.

Everything is computed in float32: on a GPU, TF32 is off.
"""

import multiprocessing
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, ProcessPoolExecutor, wait
from functools import partial
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import torch
from measures import measure, measure_costs, measure_rate
from sentences import check_text, describe, measure_model, read_data, train_and_measure
from tables import Run, add_run, run_command
from tyro.conf import Positional

from attnbook.experiments.ledger import judge_plan, second_round
from attnbook.experiments.plan import GRAMMAR, ExperimentConfig, Plan, read_plan
from attnbook.experiments.runs import RECORDED, Recording, mean_losses
from attnbook.pretrained.folder import TRAINING, WEIGHTS, load
from attnlib.checks import check_choice, check_whole
from attnlib.ensembles import ensemble
from attntext.processes import resolve_device


class Job(NamedTuple):
    """A run to do; with `rate`, one that tries a learning rate for the tuning group of its row."""

    config: ExperimentConfig
    seed: int
    rate: float | None = None

    def __str__(self) -> str:
        what = self.config.name if self.rate is None else f"{self.config.tuning_group} {self.rate}"
        return f"{self.config.plan} {what} {self.seed}"

    def folder(self, models: Path) -> Path:
        """Return the folder of its model."""
        return models / f"{self.config.plan}.{self.config.name}.{self.seed}"

    def is_trained(self, models: Path) -> bool:
        """Whether its model is complete."""
        return (self.folder(models) / WEIGHTS).exists() and not (self.folder(models) / TRAINING).exists()


def rates_to_try(losses: pd.Series, rates: Sequence[float]) -> list[float]:
    """List the plan's rates, and one more beside the best of those with a loss while that is the first or the last."""
    tried = sorted(rates)
    while {*tried} <= {*losses.index} and losses[tried].min() < inf:
        best = tried.index(losses[tried].idxmin())
        if 0 < best < len(tried) - 1:
            break
        tried = [tried[0] / 2, *tried] if best == 0 else [*tried, tried[-1] * 2]
    return tried


def list_rate_jobs(recording: Recording, group: str) -> list[Job]:
    """List the runs that are missing before the learning rate of a tuning group is chosen."""
    rule, rates = recording.plan.contents["tuning"], recording.learning_rates
    own = rates[rates["tuning_group"] == group]
    done = {*own[["learning_rate", "seed"]].itertuples(index=False, name=None)}
    tried = rates_to_try(mean_losses(own, len(rule["seeds"])), rule["learning_rates"])
    config = recording.plan.tuning_config(group)
    return [Job(config, seed, rate) for rate, seed in product(tried, rule["seeds"]) if (rate, seed) not in done]


def list_jobs(plan: Plan, folder: Path, only: Collection[str] = ()) -> list[Job]:
    """List what is not recorded, of `only` some rows or of all; for a row whose rate is not chosen, what chooses it."""
    recording, jobs, rates, best = Recording(plan, folder), {}, {}, {}
    done = recording.recorded
    for config, seed in plan.runs():
        if (config.name, seed) in done or (only and config.name not in only):
            continue
        needed, group = [Job(config, seed)], config.tuning_group
        if group and group not in rates:
            rates[group] = list_rate_jobs(recording, group)
            best[group] = None if rates[group] else recording.best_learning_rate(group)
        if group:
            needed = rates[group] or [Job(config.replace(learning_rate=best[group]), seed)]
        jobs.update({str(job): job for job in needed})
    return sorted(jobs.values(), key=lambda job: (job.config.phase, job.rate is None))


def members_of(job: Job, plan: Plan) -> list[Job]:
    """List the runs that an ensemble is made of; none for another row."""
    row = plan.configs.get(job.config.members)
    return [Job(row, seed) for seed in row.seeds] if row else []


def run_job(job: Job, members: list[Job], data: Path, models: Path, device: torch.device) -> Run:
    """Train and measure, in a process of its own."""
    config, seed = job.config, job.seed
    if job.rate is not None:
        return measure_rate(config.replace(learning_rate=job.rate), seed, device)
    if config.language == GRAMMAR:
        return measure(config, seed, device)
    text = read_data(data, config.language)
    if members:
        run = measure_model(ensemble([load(member.folder(models), device) for member in members]), config, seed, text)
    else:
        run = train_and_measure(config, seed, text, job.folder(models), device=device, progress=False)
    return Run(run.tables, run.details | describe(config, seed, data))


def begin_process() -> None:
    """Compute with one thread, and in float32: on a GPU PyTorch's RNNs would round to TF32."""
    torch.set_num_threads(1)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False


def start_processes(number: int) -> ProcessPoolExecutor:
    """Start processes that compute with one thread each."""
    return ProcessPoolExecutor(number, multiprocessing.get_context("spawn"), begin_process)


def record(
    plans: Iterable[Plan],
    folder: Path,
    models: Path,
    run: Callable[[Job, list[Job]], Run],
    *,
    processes: int = 1,
    only: Collection[str] = (),
    log: Callable[[str], Any] = print,
    start: Callable[[int], Executor] = start_processes,
) -> list[Job]:
    """Do the runs that are missing, log each, and return those that are left.

    A run that fails is logged with its error, and left; so is an ensemble whose members have no models.
    """
    of, failed, under_way = {plan.name: plan for plan in plans}, set(), {}
    with start(processes) as pool:
        while True:
            missing = [job for plan in of.values() for job in list_jobs(plan, folder, only)]
            for job in sorted(missing, key=lambda job: job.config.phase):
                members = members_of(job, of[job.config.plan])
                ready = all(member.is_trained(models) for member in members)
                if ready and len(under_way) < processes and str(job) not in failed | {*map(str, under_way.values())}:
                    under_way[pool.submit(run, job, members)] = job
            if not under_way:
                return missing
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                job = under_way.pop(future)
                if error := future.exception():
                    failed.add(str(job))
                    log(f"{job}: {type(error).__name__}: {error}")
                else:
                    add_run(future.result(), of[job.config.plan], folder)
                    log(str(job))


def main(
    plans: Positional[tuple[str, ...]] = ("world",),
    *,
    data: Path = Path("multi30k/data/task1/tok"),
    folder: Path = RECORDED,
    models: Path = Path("_build/models"),
    only: tuple[str, ...] = (),
    processes: int = 1,
    device: str = "cpu",
    costs: bool = False,
) -> None:
    """Record the runs of plans.

    Parameters
    ----------
    plans
        Which of attnbook.experiments.plans, in this order within a phase.
    data
        The folder with the text of a plan that learns from one.
    folder
        Where the tables are; the default is in the package.
    models
        Where models go that are trained on a text.
    only
        Only these models.
    processes
        How many runs at once.
    device
        Where they are trained: cpu, cuda, or cuda:1 and so on.
    costs
        Measure what every model costs, with nothing beside it.
    """
    read = [read_plan(name) for name in plans]
    check_whole(processes=processes)
    for name in only:
        check_choice([name for plan in read for name in plan.configs], only=name)
    if costs:
        rows = [(plan, config) for plan in read for config in plan.configs.values()]
        for of, config in rows:
            if not only or config.name in only:
                with start_processes(1) as fresh:
                    add_run(fresh.submit(measure_costs, config).result(), of, folder)
                print(config.name, flush=True)
        return
    run = partial(run_job, data=data.resolve(), models=models, device=resolve_device(device))

    def do(plans: Sequence[Plan]) -> list[Job]:
        for plan in plans:
            check_text(Recording(plan, folder), list_jobs(plan, folder, only), data)
        log = partial(print, flush=True)
        return record(plans, folder, models, run, processes=processes, only=only, log=log)

    left = do(read)
    first = [Recording(plan, folder) for plan in read if "again" in plan.contents]
    left += do([second_round(recording, judge_plan(recording)).plan for recording in first])
    if left:
        raise ValueError(f"{len(left)} runs are left, {left[0]} among them")


if __name__ == "__main__":
    run_command(main)
