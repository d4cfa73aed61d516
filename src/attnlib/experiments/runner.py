"""The runs of a plan: one command, as many processes as one likes, on one folder.

``python -m attnlib.experiments`` does what is not recorded yet. First come the learning rates, family by family, then
the rows, by phase and by seed, then again, and longer, those of which a run was lost. Each run is written when it is
done. Killed at any moment, the command goes on where it was. Started a second time, in another shell or on another
machine that sees the folder, it shares the work: no process does a run that another has claimed.

With ``--share 2/5`` it does the second fifth of the rows only; a run without a share does what the others left.
With ``--costs`` it measures what every row costs, in one sitting, with nothing beside it.
"""

import json
import multiprocessing
import os
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import torch

from attnlib.experiments.jobs import Job, chosen_rate, lost_rows, missing, waiting
from attnlib.experiments.ledger import Ledger, environment
from attnlib.experiments.measure import benchmark
from attnlib.experiments.plan import read_plan
from attnlib.experiments.shares import Share
from attnlib.writing import write_atomically


def work(
    plan: str | Path, folder: Path | None = None, share: Share | None = None, say: Callable[[str], Any] = print
) -> None:
    """Do one run after another, on one thread, until none is missing; wait for those that others have claimed.

    Parameters
    ----------
    plan : str or Path
        As for `attnlib.experiments.plan.read_plan`.
    folder : Path, optional
        Where the runs are recorded. None: in the package.
    share : Share, optional
        Do only this share of the rows. Learning rates, and rows that were lost, are not dealt out.
    say : function
        Told after each run what was done, and how long the rest takes at that pace.
    """
    torch.set_num_threads(1)
    ledger, failed = Ledger(read_plan(plan), folder), set()
    began, done, last = time.perf_counter(), 0.0, 0.0
    while jobs := [job for job in missing(ledger, share) if (job.name, job.key) not in failed]:
        left = sum(job.size for job in jobs) + waiting(ledger, share)
        done, last = done + max(0.0, last - left), left
        job = next((job for job in jobs if _done(ledger, job, failed, say)), None)
        if job is None:
            time.sleep(2)  # all that can be done now is being done by others
        else:
            rest = (left - job.size) * (time.perf_counter() - began) / (done + job.size)
            say(f"{len(jobs) - 1} runs can be begun now; all are done in {_clock(rest)}")


def _done(ledger: Ledger, job: Job, failed: set[tuple[str, str]], say: Callable[[str], Any]) -> bool:
    """Do a job, if nobody else does it."""
    with ledger.claimed(job.name, job.key) as mine:
        if mine:
            began = time.perf_counter()
            try:
                run = job.run()
            except FloatingPointError as error:
                failed.add((job.name, job.key))
                say(f"{job.name} {job.key}: {error}")
                return True
            seconds = round(time.perf_counter() - began, 1)
            ledger.add(job.name, job.key, run | {"seconds": seconds, "environment": environment()}, job.head)
            say(f"{job.name} {job.key}: {seconds} seconds")
        return mine


def measure_costs(plan: str | Path, folder: Path | None = None, say: Callable[[str], Any] = print) -> None:
    """Measure what every row costs, each in a process of its own, one after the other, and write all at the end."""
    ledger, costs = Ledger(read_plan(plan), folder), {}
    for name, row in ledger.plan.rows.items():
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"), initializer=_begin) as pool:
            costs[name] = pool.submit(benchmark, row.variant, row.budget).result()
        say(f"{name}: {costs[name]['words_per_second']} words a second")
    found = {"plan": ledger.plan.digest, "environment": environment(), "costs": costs}
    ledger.folder.mkdir(parents=True, exist_ok=True)
    write_atomically(ledger.folder / "costs.json", f"{json.dumps(found, indent=1)}\n".encode())


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    parser = ArgumentParser(prog="python -m attnlib.experiments", description="Record the runs of a plan.")
    parser.add_argument("plan", nargs="?", default="comparison", help="one of attnlib.experiments.plans (comparison)")
    parser.add_argument("--folder", type=Path, help="where the runs are recorded (in the package)")
    parser.add_argument("--workers", type=int, default=2, help="runs side by side (2)")
    parser.add_argument("--share", type=Share.argument, metavar="K/N", help="do the k-th of n shares of the rows only")
    parser.add_argument("--costs", action="store_true", help="measure what every row costs, with nothing beside it")
    parser.add_argument("--list", action="store_true", help="only list what is recorded, and what can be run now")
    chosen = parser.parse_args(arguments)
    say = partial(print, flush=True)
    if chosen.list:
        _list(Ledger(read_plan(chosen.plan), chosen.folder))
    elif chosen.costs:
        measure_costs(chosen.plan, chosen.folder, say)
    elif chosen.workers == 1:
        work(chosen.plan, chosen.folder, chosen.share, say)
    else:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(chosen.workers, mp_context=context, initializer=_begin) as pool:
            job = partial(pool.submit, work, chosen.plan, chosen.folder, chosen.share, say)
            for done in [job() for _ in range(chosen.workers)]:
                done.result()


def _list(ledger: Ledger) -> None:
    for family in ledger.plan.families:
        rate = chosen_rate(ledger, family)
        print(f"rate-{family:27} {'not chosen yet' if rate is None else f'{rate:g}'}")
    for row in [*ledger.plan.rows.values(), *lost_rows(ledger)]:
        done = len(ledger.runs(row.variant.name))
        print(f"{row.variant.name:32} {done} of {len(row.variant.seeds)}")


def _clock(seconds: float) -> str:
    return f"about {seconds // 3600:.0f}:{seconds % 3600 // 60:02.0f} hours"


def _begin() -> None:
    """Use one thread, and end when the process that began this one does, however it ends."""
    torch.set_num_threads(1)
    Thread(target=lambda: (multiprocessing.parent_process().join(), os._exit(1)), daemon=True).start()
