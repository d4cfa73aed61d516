"""The runs of the papers' plans that are not recorded yet, several at once, on processors or a GPU.

``python record/papers.py --data FOLDER --processes 16 --device cuda --minutes 9`` does one seed of every row of a
phase, then the next seed, and writes each run into the tables when it is done: killed at any moment, the same command
does what is left. With ``--minutes`` it begins no run that would not end in time, going by how long such a row took
before. An ensemble is measured as soon as all of its members are trained, while their models are in ``--models``. Where
a plan has a second round, its runs come when all runs of the first are recorded.

Everything is computed in float32: on a GPU, TF32 is off.
"""

import multiprocessing
import time
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import torch
from measures import measure
from sentences import describe, measure_model, read_data, train_and_measure
from tables import Run, add_run, run_command

from attnbook.experiments.ledger import PLANS, judge_plan, second_round
from attnbook.experiments.plan import GRAMMAR, ExperimentConfig, Plan, read_plan
from attnbook.experiments.runs import RECORDED, Recording
from attnbook.pretrained.folder import TRAINING, WEIGHTS, load
from attnlib.ensembles import ensemble
from attntext.processes import resolve_device


class Job(NamedTuple):
    """A run to do."""

    config: ExperimentConfig
    seed: int

    def __str__(self) -> str:
        return f"{self.config.plan} {self.config.name} {self.seed}"

    def folder(self, models: Path) -> Path:
        """Return the folder of its model."""
        return models / f"{self.config.plan}.{self.config.name}.{self.seed}"

    def is_trained(self, models: Path) -> bool:
        """Whether its model is complete."""
        return (self.folder(models) / WEIGHTS).exists() and not (self.folder(models) / TRAINING).exists()


def list_jobs(plans: Mapping[str, Plan], folder: Path) -> list[Job]:
    """List what is not recorded: by phase, in the order of the plans, then by seed."""
    missing = []
    for plan in plans.values():
        done = Recording(plan, folder).recorded
        missing += [Job(config, seed) for config, seed in plan.runs() if (config.name, seed) not in done]
    return sorted(missing, key=lambda job: job.config.phase)


def members_of(job: Job, plan: Plan) -> list[Job]:
    """List the runs that an ensemble is made of; none for another row."""
    row = plan.configs.get(job.config.members)
    return [Job(row, seed) for seed in row.seeds] if row else []


def run_job(job: Job, members: list[Job], data: Path, models: Path, device: torch.device) -> Run:
    """Train and measure, in a process of its own."""
    if job.config.language == GRAMMAR:
        return measure(job.config, job.seed, device)
    text = read_data(data, job.config.language)
    if members:
        together = ensemble([load(member.folder(models), device) for member in members])
        run = measure_model(together, job.config, job.seed, text)
    else:
        how = {"device": device, "progress": False, "save_seconds": inf}
        run = train_and_measure(job.config, job.seed, text, job.folder(models), **how)
    return Run(run.tables, run.details | describe(job.config, job.seed, data))


def begin_process() -> None:
    """Compute with one thread, and in float32: on a GPU PyTorch's RNNs would round to TF32."""
    torch.set_num_threads(1)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False


def record(
    plans: Mapping[str, Plan], folder: Path, *, processes: int, minutes: float | None, run: Any, models: Path
) -> list[Job]:
    """Do the runs that are missing and can end in time, and return those that are left."""
    end, left = time.monotonic() + 60 * (minutes or inf), list_jobs(plans, folder)
    seconds: dict[tuple[str, str], float] = {}  # of each row, the longest run so far
    under_way: dict[Any, tuple[Job, float]] = {}
    failed: list[Job] = []

    def may_begin(job: Job) -> bool:
        needed = seconds.get((job.config.plan, job.config.name), max(seconds.values(), default=0.0))
        ready = all(member.is_trained(models) for member in members_of(job, plans[job.config.plan]))
        return ready and time.monotonic() + 1.15 * needed < end

    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, spawn, begin_process) as pool:
        while True:
            while len(under_way) < processes and (job := next(filter(may_begin, left), None)):
                left.remove(job)
                under_way[pool.submit(run, job, members_of(job, plans[job.config.plan]))] = job, time.monotonic()
            if not under_way:
                return failed + left
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                job, began = under_way.pop(future)
                took, key = time.monotonic() - began, (job.config.plan, job.config.name)
                if error := future.exception():
                    failed.append(job)
                    print(f"{job}: {type(error).__name__}: {error}", flush=True)
                    continue
                add_run(future.result(), plans[job.config.plan], folder)
                seconds[key] = max(took, seconds.get(key, 0.0))
                print(f"{job} {took:.0f} s", flush=True)


def main(
    data: Path,
    *,
    folder: Path = RECORDED,
    models: Path = Path("_build/papers"),
    plans: tuple[str, ...] = tuple(PLANS),
    processes: int = 1,
    device: str = "cpu",
    minutes: float | None = None,
) -> None:
    """Record the runs of the papers' plans.

    Parameters
    ----------
    data
        The folder with the text.
    folder
        Where the tables are; the default is in the package.
    models
        Where the models of captions go.
    plans
        Which plans, in this order within a phase.
    processes
        How many runs at once.
    device
        Where they are trained: cpu, cuda, or cuda:1 and so on.
    minutes
        After how long nothing may be running any more. If None, there is no limit.
    """
    read = {name: read_plan(name) for name in plans}
    for recording in [Recording(plan, folder) for plan in read.values()]:
        again = second_round(recording, judge_plan(recording)).plan
        read[again.name] = again
    run = partial(run_job, data=data.resolve(), models=models, device=resolve_device(device))
    left = record(read, folder, processes=processes, minutes=minutes, run=run, models=models)
    print(f"{len(left)} runs are left", flush=True)


if __name__ == "__main__":
    run_command(main)
