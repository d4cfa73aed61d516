"""All runs of the plan, one command: ``python -m attnlib.real DATA``, or ``make real DATA=folder``.

It does what is not done yet, run by run, on one thread, and writes each run when it is done. Killed at any moment, it
goes on where it was, even in the middle of a training. With ``--share 2/3`` it does every third run, while others do
the rest, here or on machines that see the same folders.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import torch

from attnlib.devices import device_named
from attnlib.experiments.shares import Share
from attnlib.real.data import Data, read_data
from attnlib.real.measures import train_and_measure
from attnlib.real.plan import EFFORT, ROWS, RUNS, Effort
from attnlib.real.records import RESULTS, environment, read_run, run_file, write_counts, write_run
from attnlib.text.files import digest


def record_runs(
    data: Callable[[str], Data],
    models: Path,
    runs: Iterable[tuple[str, int]] = RUNS,
    *,
    effort: Effort = EFFORT,
    folder: Path = RESULTS,
    device: torch.device | None = None,
    say: Callable[[str], Any] = lambda said: None,
    **how: Any,
) -> None:
    """Train and measure what is not recorded yet with these settings, this text and this effort.

    Parameters
    ----------
    data : function
        From a language to the text.
    models : Path
        The folder in which each run has the folder of its model.
    runs : pairs of row and seed
    effort : Effort
    folder : Path
        Where the records go.
    device : torch.device, optional
        None: the processor.
    say : function
        What to do with a sentence on what comes next.
    **how
        As for `attnlib.text.learning.learn`.

    Raises
    ------
    ValueError
        If there is no such row, or a file is damaged, or `models` holds something else under a name that is needed.
    """
    runs, device, counted = list(runs), device or torch.device("cpu"), set()
    for number, (name, seed) in enumerate(runs, 1):
        if name not in ROWS:
            raise ValueError(f"runs holds {name!r}; expected rows: {', '.join(ROWS)}")
        row = ROWS[name]
        text = data(row.language)
        if row.language not in counted:
            write_counts(row.language, text.train, folder)
            counted.add(row.language)
        settings = asdict(row.settings(seed, effort))
        about = {"settings": settings, "effort": asdict(effort), "text": _digests(text, row.pairs)}
        if _recorded(name, seed, about, folder):
            say(f"run {number} of {len(runs)}: {name}, seed {seed}, is recorded")
            continue
        say(f"run {number} of {len(runs)}: {name}, seed {seed}")
        found = train_and_measure(row, seed, text, models / f"{name}.{seed}", effort, say=say, device=device, **how)
        write_run({"row": name, "seed": seed, **about, "environment": environment(device), **found}, folder)


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says, and give the exit status: 0, or 2 for what is wrong with what was asked."""
    parser = ArgumentParser(prog="python -m attnlib.real", description="Train every row of the plan on real sentences.")
    parser.add_argument("data", type=Path, help="the folder with the text: see attnlib.real.data")
    parser.add_argument("--only", nargs="+", choices=ROWS, metavar="ROW", help="only these rows")
    parser.add_argument("--share", type=Share.argument, metavar="K/N", help="do the k-th of n shares of the runs")
    parser.add_argument("--models", type=Path, default=Path("_build/real"), help="where the models go (%(default)s)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the records go")
    parser.add_argument("--device", help="cpu, cuda, or cuda:1 and so on; default: a GPU if there is one")
    parser.add_argument("--list", action="store_true", help="only list the runs, and which are recorded")
    given = parser.parse_args(arguments)
    runs = [run for run in RUNS if not given.only or run[0] in given.only]
    runs = given.share.of(runs) if given.share else runs
    if given.list:
        for name, seed in runs:
            print(f"{name:20} {seed}  {'recorded' if run_file(name, seed, given.results).is_file() else 'missing'}")
        return 0
    torch.set_num_threads(1)
    how = {"progress": True if sys.stderr.isatty() else "lines", "say": _say}
    try:
        device = device_named(given.device)
        data = cache(lambda language: read_data(given.data, language))
        record_runs(data, given.models, runs, folder=given.results, device=device, **how)
    except KeyboardInterrupt:
        return 130
    except (ValueError, OSError) as error:
        _say(f"attnlib.real: {error}")
        return 2
    return 0


def _recorded(name: str, seed: int, about: dict[str, Any], folder: Path) -> bool:
    try:
        record = read_run(name, seed, folder)
    except FileNotFoundError:
        return False
    return {part: record[part] for part in about} == about


def _digests(data: Data, pairs: int | None) -> dict[str, str]:
    return {"train": digest(data.train[:pairs]), "dev": digest(data.dev), "test": digest(data.test)}


def _say(said: str) -> None:
    print(said, file=sys.stderr, flush=True)
