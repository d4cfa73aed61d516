"""Every variant, several seeds, one command.

``python -m attnlib.experiments`` does what is not done yet, two rows side by side, each on one thread, and writes each
row when it is done. Killed at any moment, it goes on where it was. At last, with nothing beside it, it measures what
each variant costs.

With ``--share 2/5`` it does the second fifth of the rows, beside other runs that do the others, here or on machines
that see the same folder. A run without a share then joins what they wrote, does what they left, and measures the costs.
"""

import multiprocessing
import os
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from threading import Thread
from typing import Any

import torch
from tqdm import tqdm

from attnlib.checks import check_whole
from attnlib.experiments import record
from attnlib.experiments.measure import benchmark, train_and_measure
from attnlib.experiments.probe import agree, probe
from attnlib.experiments.shares import Share, file_of, shares_of
from attnlib.experiments.variants import BUDGET, VARIANTS, Budget, Variant


def stale(names: Iterable[str] = VARIANTS, budget: Budget = BUDGET, folder: Path = record.RESULTS) -> list[str]:
    """List the variants whose recorded results are missing, or not complete, or not those of this code.

    They are those of this code if they were recorded under the same settings, and the recorded probe agrees with that
    of this code: see `attnlib.experiments.probe`.

    Raises
    ------
    ValueError
        If a name is not a variant's. For a file that is spoilt, see `attnlib.experiments.record.read`.
    """
    found = ((variant, _recorded(variant, budget, folder)) for variant in _variants(names))
    return [v.name for v, current in found if not current or _missing(v, current) or current["cost"] is None]


def record_all(
    names: Iterable[str] = VARIANTS,
    *,
    budget: Budget = BUDGET,
    folder: Path = record.RESULTS,
    workers: int = 2,
    progress: bool | None = None,
    share: Share | None = None,
) -> None:
    """Run what is missing, or was recorded under other settings or with other code, and write each row when it is done.

    Parameters
    ----------
    names : names of variants
    budget : Budget
    folder : Path
        Where the results go.
    workers : int
        How many rows run side by side, each on one thread.
    progress : bool, optional
        Whether a bar shows how many rows are done, and the time left. None: only on a terminal.
    share : Share, optional
        Run only what falls to this share, into files of its own. None: run all that is missing, and join all files.

    Raises
    ------
    ValueError
        If a name is not a variant's, or `workers` is below 1. For a file that is spoilt, see
        `attnlib.experiments.record.read`.
    """
    check_whole(workers=workers)
    variants = _variants(names)
    found = {v.name: _joined(v, budget, folder) for v in variants}
    rows = [(v.name, seed) for v in variants for seed in v.seeds]
    rows.sort(key=lambda row: row[1])  # the first seed of all, then the second: an early look sees every variant
    mine = rows if share is None else share.of(rows)
    jobs = [(name, seed) for name, seed in mine if not found[name] or str(seed) not in found[name]["rows"]]
    asked = {name for name, _ in jobs} if share else found
    records = {v.name: found[v.name] or _begun(v, budget) for v in variants if v.name in asked}
    costs = [] if share else records
    hidden = None if progress is None else not progress
    with tqdm(total=len(jobs) + len(costs), unit="row", disable=hidden) as bar:
        with _pool(workers) as pool:
            running = {pool.submit(_row, name, seed, budget): (name, seed) for name, seed in jobs}
            for done in _results(running):
                name, seed = running[done]
                records[name]["rows"][str(seed)] = done.result()
                record.write(records[name], folder, share)
                bar.update()
        for name in costs:
            parts = [file_of(name, folder, part) for part in shares_of(name, folder)]
            if records[name]["cost"] is None:
                with _pool(1) as pool:
                    records[name]["cost"] = pool.submit(_cost, name, budget).result()
                record.write(records[name], folder)
            elif parts:
                record.write(records[name], folder)
            for part in parts:
                part.unlink()
            bar.update()


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    parser = ArgumentParser(prog="python -m attnlib.experiments", description="Record the results of every variant.")
    parser.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS), metavar="VARIANT")
    parser.add_argument("--workers", type=int, default=2, help="rows that run side by side (2)")
    parser.add_argument("--share", type=_share, metavar="K/N", help="do the k-th of n shares, beside other runs")
    parser.add_argument("--list", action="store_true", help="only list the variants, and which are stale")
    chosen = parser.parse_args(arguments)
    if chosen.list:
        waiting = set(stale(chosen.only))
        print("\n".join(f"{name:30} {'stale' if name in waiting else 'recorded'}" for name in chosen.only))
    else:
        record_all(chosen.only, workers=chosen.workers, share=chosen.share)


def _share(text: str) -> Share:
    try:
        return Share.written(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def _variants(names: Iterable[str]) -> list[Variant]:
    names = list(names)
    unknown = [name for name in names if name not in VARIANTS]
    if unknown:
        raise ValueError(f"names holds {unknown[0]!r}; expected names of variants: {', '.join(VARIANTS)}")
    return [VARIANTS[name] for name in names]


def _joined(variant: Variant, budget: Budget, folder: Path) -> dict[str, Any] | None:
    """Read what is recorded, also by shares, under the present settings and with code that did what this does."""
    parts = (_recorded(variant, budget, folder, share) for share in (None, *shares_of(variant.name, folder)))
    found = [part for part in parts if part]
    rows = {seed: row for part in reversed(found) for seed, row in part["rows"].items()}
    cost = next((part["cost"] for part in found if part["cost"]), None)
    return found[0] | {"rows": rows, "cost": cost} if found else None


def _recorded(variant: Variant, budget: Budget, folder: Path, share: Share | None = None) -> dict[str, Any] | None:
    """Read one file, if it is of the present settings and of code that did what the present code does."""
    try:
        found = record.read(variant.name, folder, share)
    except FileNotFoundError:
        return None
    same_settings = found["settings"] == variant.settings(budget)
    return found if same_settings and agree(found["probe"], probe(variant, found["probe"]["sentences"])) else None


def _begun(variant: Variant, budget: Budget) -> dict[str, Any]:
    return record.empty(variant.name, variant.settings(budget), probe(variant))


def _missing(variant: Variant, found: dict[str, Any]) -> list[int]:
    """List the seeds that are not recorded."""
    return [seed for seed in variant.seeds if str(seed) not in found["rows"]]


def _pool(workers: int) -> ProcessPoolExecutor:
    """Begin processes that start clean, use one thread each, and end when this one does, however it ends."""
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"), initializer=_begin)


def _begin() -> None:
    torch.set_num_threads(1)
    Thread(target=lambda: (multiprocessing.parent_process().join(), os._exit(1)), daemon=True).start()


def _row(name: str, seed: int, budget: Budget) -> dict[str, Any]:
    return train_and_measure(VARIANTS[name], seed, budget)


def _cost(name: str, budget: Budget) -> dict[str, float | int]:
    return benchmark(VARIANTS[name], budget)


def _results(running: dict[Future, Any]) -> Iterator[Future]:
    """Give the jobs as they end. After the first error no other begins."""
    try:
        yield from as_completed(running)
    except BaseException:
        for job in running:
            job.cancel()
        raise
