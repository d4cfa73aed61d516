"""The runs of a plan: one command, as many processes as one likes, on one folder.

``python -m attnlib.experiments`` does what is not recorded yet. First come the learning rates, family by family, then
the rows, by phase and by seed, then again, and longer, those of which a run was lost. Each run is written when it is
done. Killed at any moment, the command goes on where it was. Started a second time, in another shell or on another
machine that sees the folder, it shares the work: no process does a run that another has claimed.

With ``--share 2/5`` it does the second fifth of the runs only; a run without a share does what the others left.
With ``--costs`` it measures what every row costs, in one sitting, with nothing beside it.
The plan "sentences" learns from a text, which ``--data`` names; an interrupted training goes on where it was.
"""

import json
import multiprocessing
import os
import re
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from math import inf
from pathlib import Path
from threading import Thread
from typing import Any

import torch

from attnlib.checks import check_choice, check_whole
from attnlib.devices import resolve_device
from attnlib.experiments.measures import benchmark, grouped, measure, measure_rate
from attnlib.experiments.plan import Row, read_plan
from attnlib.experiments.probe import probe
from attnlib.experiments.records import Job, Ledger, environment
from attnlib.experiments.sentences import missing_runs
from attnlib.writing import write_atomically

ALL = slice(None)
"""Every run, for one who does not share them out."""


def chosen_rate(ledger: Ledger, family: str) -> float | None:
    """Find the learning rate with the least loss, if known: all runs are there, and the best is neither first nor last.

    Raises
    ------
    ValueError
        If training failed under every rate, so that none can be chosen.
    """
    rates, losses = _tried(ledger, family)
    if None in losses:
        return None
    if min(losses) == inf:
        raise ValueError(f"no learning rate of {rates} trains the family {family}")
    return rates[losses.index(min(losses))]


def lost_rows(ledger: Ledger) -> list[Row]:
    """List the rows whose runs are all recorded, at least one of them lost, as they are to be trained again."""
    rule, lost = ledger.plan.contents.get("lost", {"tables": ()}), []
    for row in (row for row in ledger.plan.rows.values() if row.table in rule["tables"]):
        runs = ledger.column(row.name, "exact", "within") if ledger.read(row.name) else {}
        if runs.keys() >= {*row.seeds} and min(runs.values()) < rule["below"]:
            lost.append(row.longer(rule["times"], 5))
    return lost


def missing(ledger: Ledger, share: slice = ALL) -> Iterator[Job]:
    """List the runs that can be done now, in the order in which they are to be."""
    yield from _rates_missing(ledger)
    again = [(row, seed) for row in lost_rows(ledger) for seed in row.seeds]
    rates = {family: chosen_rate(ledger, family) for family in ledger.plan.families}
    for row, seed in [*ledger.plan.runs()[share], *again]:
        name, rate = row.name, rates[row.family]
        if rate is not None and str(seed) not in ledger.runs(name):
            yield Job(name, str(seed), partial(measure, row, seed, rate), partial(_row_head, row))


def work(ledger: Ledger, list_missing: Callable[[Ledger], Iterable[Job]], say: Callable[[str], Any] = print) -> None:
    """Do one run after another, on one thread, until none is missing; wait for those that others have claimed.

    `say` is told after each run what was done.
    """
    torch.set_num_threads(1)
    failed: set[tuple[str, str]] = set()
    while jobs := [job for job in list_missing(ledger) if job[:2] not in failed]:
        if not any(_done(ledger, job, failed, say) for job in jobs):
            time.sleep(2)  # all that can be done now is being done by others


def _done(ledger: Ledger, job: Job, failed: set[tuple[str, str]], say: Callable[[str], Any]) -> bool:
    """Do a job, if nobody else does it."""
    with ledger.claimed(job.name, job.key) as mine:
        if mine:
            began = time.perf_counter()
            try:
                run = job.run()
            except FloatingPointError as error:
                failed.add(job[:2])
                say(f"{job.name} {job.key}: {error}")
                return True
            seconds = round(time.perf_counter() - began, 1)
            where = {"seconds": seconds, "environment": environment() | run.get("environment", {})}
            ledger.add(job.name, job.key, run | where, job.head)
            say(f"{job.name} {job.key}: {seconds} seconds")
        return mine


def measure_costs(ledger: Ledger, say: Callable[[str], Any] = print) -> None:
    """Measure what every row costs, each in a process of its own, one after the other, and write all at the end."""
    costs = {}
    for name, row in ledger.plan.rows.items():
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"), initializer=_begin) as pool:
            costs[name] = pool.submit(benchmark, row.variant, row.budget).result()
        say(f"{name}: {costs[name]['words_per_second']} words a second")
    record = {"plan": ledger.plan.digest, "environment": environment(), "costs": costs}
    ledger.folder.mkdir(parents=True, exist_ok=True)
    write_atomically(ledger.folder / "costs.json", f"{json.dumps(record, indent=1)}\n".encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; return the exit status, 2 for what is wrong with what was asked."""
    parser = ArgumentParser(prog="python -m attnlib.experiments", description="Record the runs of a plan.")
    parser.add_argument("plan", nargs="?", default="comparison", help="one of attnlib.experiments.plans (comparison)")
    parser.add_argument("--folder", type=Path, help="where the runs are recorded (in the package)")
    parser.add_argument("--workers", type=int, help="runs side by side (2; of a plan that learns from a text 1)")
    parser.add_argument("--share", type=_share, default=ALL, metavar="K/N", help="do the k-th of n shares of the runs")
    parser.add_argument("--only", nargs="+", metavar="ROW", help="only these rows, of a plan that learns from a text")
    parser.add_argument("--costs", action="store_true", help="measure what every row costs, with nothing beside it")
    parser.add_argument("--data", type=Path, help="the folder with the text: see attnlib.experiments.sentences")
    parser.add_argument("--models", type=Path, default=Path("_build/real"), help="where its models go (%(default)s)")
    parser.add_argument("--device", help="where it is trained: cpu, cuda, or cuda:1 and so on; default: a GPU if any")
    try:
        _do(parser.parse_args(arguments))
    except KeyboardInterrupt:
        return 130
    except (ValueError, OSError) as error:
        print(f"attnlib.experiments: {error}", file=sys.stderr)
        return 2
    return 0


def _do(chosen: Namespace) -> None:
    ledger, say = Ledger(read_plan(chosen.plan), chosen.folder), partial(print, flush=True)
    if chosen.costs:
        return measure_costs(ledger, say)
    if ledger.plan.learns_from_text:
        list_missing, usual = _of_text(ledger, chosen), 1
    else:
        if chosen.only or chosen.data or chosen.device:
            raise ValueError(f"the plan {ledger.plan.name} learns from no text; expected no --only, --data or --device")
        list_missing, usual = partial(missing, share=chosen.share), 2
    workers = usual if chosen.workers is None else chosen.workers
    check_whole(workers=workers)
    if workers == 1:
        return work(ledger, list_missing, say)
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"), initializer=_begin) as pool:
        for done in [pool.submit(work, ledger, list_missing, say) for _ in range(workers)]:
            done.result()
    return None


def _of_text(ledger: Ledger, chosen: Namespace) -> Callable[[Ledger], Iterator[Job]]:
    """Find out what a plan that learns from a text is told, and which of its runs are wanted."""
    if chosen.data is None:
        raise ValueError(f"the plan {ledger.plan.name} learns from a text; expected --data, its folder")
    for name in chosen.only or ():
        check_choice(ledger.plan.rows, only=name)
    runs = [run for run in ledger.plan.runs() if not chosen.only or run[0].name in chosen.only][chosen.share]
    how = {"device": resolve_device(chosen.device), "progress": True}
    return partial(missing_runs, runs=runs, data=chosen.data, models=chosen.models, **how)


def _share(text: str) -> slice:
    """Read which of several shares of the rows to do, as one writes it: "2/5"."""
    numbers = re.fullmatch(r"(\d+)/(\d+)", text)
    if not numbers or not 1 <= int(numbers[1]) <= int(numbers[2]):
        raise ArgumentTypeError(f"share is {text!r}; expected one as 2/5, the first number from 1 to the second")
    return slice(int(numbers[1]) - 1, None, int(numbers[2]))


def _begin() -> None:
    """Use one thread, and end when the process that began this one does, however it ends."""
    torch.set_num_threads(1)
    Thread(target=lambda: (multiprocessing.parent_process().join(), os._exit(1)), daemon=True).start()


def _tried(ledger: Ledger, family: str) -> tuple[list[float], list[float | None]]:
    """List the rates to try, and the mean loss of each; None where a run is missing, infinite where training failed.

    While the best is the first or the last, another rate comes before or after it.
    """
    rule = ledger.plan.contents["learning_rates"]
    runs, rates = ledger.runs(f"rate-{family}"), list(rule["rates"])
    while True:
        losses = [_mean([runs.get(f"{rate:g}/{seed}") for seed in rule["seeds"]]) for rate in rates]
        if None in losses or min(losses) == inf:
            return rates, losses
        best = losses.index(min(losses))
        if 0 < best < len(rates) - 1:
            return rates, losses
        rates = [rates[0] / 2, *rates] if best == 0 else [*rates, rates[-1] * 2]


def _mean(runs: Sequence[dict[str, Any] | None]) -> float | None:
    if None in runs:
        return None
    losses = [inf if run["loss"] is None else run["loss"] for run in runs]
    return sum(losses) / len(losses)


def _rates_missing(ledger: Ledger) -> Iterator[Job]:
    plan, rule = ledger.plan, ledger.plan.contents["learning_rates"]
    for family, name in plan.families.items():
        row, recorded = plan.shortened(plan.rows[name]), ledger.runs(f"rate-{family}")
        head = partial(_rate_head, row, family)
        for seed in rule["seeds"]:
            for rate in _tried(ledger, family)[0]:
                if (key := f"{rate:g}/{seed}") not in recorded:
                    yield Job(f"rate-{family}", key, partial(measure_rate, row, seed, rate, rule["clauses"]), head)


def _rate_head(row: Row, family: str) -> dict[str, Any]:
    return {"family": family, "settings": _settings(row)}


def _row_head(row: Row) -> dict[str, Any]:
    return {"settings": _settings(row), "probe": probe(row.variant), "groups": [*grouped(row.variant, row.budget)]}


def _settings(row: Row) -> dict[str, Any]:
    variant = row.variant
    return {
        "model": variant.model.__name__,
        "options": dict(variant.options),
        "clauses": list(variant.clauses),
        "language": variant.language,
        "budget": {name: value for name, value in asdict(row.budget).items() if name != "learning_rate"},
    }
