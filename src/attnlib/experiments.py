"""Every variant, several seeds, one command; the recorded results, and whether they are stale.

``python -m attnlib.experiments`` does what is not done yet, two rows side by side, each on one thread, and writes each
row when it is done. Killed at any moment, it goes on where it was. At last, with nothing beside it, it measures what
each variant costs.
"""

import json
import multiprocessing
import os
import platform
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib import metadata
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Real
from scipy import stats
from tqdm import tqdm

from attnlib.fingerprints import essence
from attnlib.measurements import cost, run
from attnlib.variants import BUDGET, VARIANTS, Budget, Variant

RESULTS = Path(__file__).parent / "results"
"""Where the recorded results are: one JSON file a variant."""

MODULES = (
    "attention",
    "parameters",
    "scores",
    "windows",
    "alignment",
    "cells",
    "encoders",
    "decoders",
    "corpus",
    "translator",
    "hybrids",
    "search",
    "lexicon",
    "phrases",
    "grammar",
    "training",
    "metrics",
    "costs",
    "variants",
    "measurements",
)
"""The modules on which a result depends."""

_FORMAT = 1
_KEYS = {"format", "variant", "fingerprint", "settings", "environment", "rows", "cost"}


class Interval(NamedTuple):
    """A mean, and the ends of an interval around it."""

    mean: float
    low: float
    high: float


def read(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    """Read what is recorded of a variant.

    Parameters
    ----------
    name : str
        One of `attnlib.variants.VARIANTS`.
    folder : Path
        Where the results are.

    Returns
    -------
    dict
        ``variant``, its name; ``settings``; ``environment``: versions, processor and date; ``rows``: for each seed, as
        a string, what `attnlib.measurements.run` gave; ``cost``: what `attnlib.measurements.cost` gave, or None;
        ``fingerprint``: of the settings and modules that these came from.

    Raises
    ------
    FileNotFoundError
        If nothing is recorded.
    ValueError
        If the file is cut short, or is not of this format, or of another variant, or lacks a part.

    Notes
    -----
    JSON is data: whatever is in the file, reading it runs nothing.
    """
    path = _file(name, folder)
    if not path.is_file():
        raise FileNotFoundError(f"name is {name!r}; expected a variant with results, but there is no {path.name}")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} is no whole JSON file ({error}); run `make experiments` again") from error
    if not isinstance(record, dict) or record.get("format") != _FORMAT or not record.keys() >= _KEYS:
        raise ValueError(f"{path.name} is not of format {_FORMAT}; run `make experiments` again")
    for complaint in _complaints(record, name):
        raise ValueError(f"{path.name}: {complaint}; run `make experiments` again")
    return record


def values(name: str, measure: str, group: str = "within", folder: Path = RESULTS) -> Float[np.ndarray, "seeds"]:
    """Take one measure of one group of test sentences, for every seed of a variant.

    Parameters
    ----------
    name : str
        The variant.
    measure, group : str
        See `attnlib.measurements`.
    folder : Path
        Where the results are.

    Returns
    -------
    ``"seeds"``
        NaN where the variant has no such measure.

    Raises
    ------
    ValueError
        If there is no such group or measure. For other errors see `read`.
    """
    rows = read(name, folder)["rows"].values()
    for known, asked in (({g for row in rows for g in row["groups"]}, group), (_measures(rows), measure)):
        if asked not in known:
            raise ValueError(f"{asked!r} is not recorded of {name}; expected one of {', '.join(sorted(known))}")
    return np.array([row["groups"][group][measure] for row in rows], dtype=float)


def mean_interval(runs: Sequence[float] | Real[np.ndarray, "seeds"], level: float = 0.95) -> Interval:
    r"""Give the mean of several runs, and where the mean of ever more runs probably lies.

    :math:`\bar{x} \pm t\,s / \sqrt{n}`, with Student's t for `level`.

    Raises
    ------
    ValueError
        If there are fewer than 2 runs, or `runs` is no list of numbers, or `level` is not between 0 and 1.
    """
    return _interval(runs, level, 0)


def prediction_interval(runs: Sequence[float] | Real[np.ndarray, "seeds"], level: float = 0.95) -> Interval:
    r"""Give the mean of several runs, and where one more run probably lies.

    :math:`\bar{x} \pm t\,s \sqrt{1 + 1/n}`, with Student's t for `level`. It is wider than the interval of the mean,
    and does not shrink to nothing with more runs.

    Raises
    ------
    ValueError
        If there are fewer than 2 runs, or `runs` is no list of numbers, or `level` is not between 0 and 1.
    """
    return _interval(runs, level, 1)


def fingerprint(variant: Variant, budget: Budget = BUDGET) -> str:
    """Sum up all that determines a variant's results: its settings, and of the modules the lines that compute."""
    settings = json.dumps(variant.settings(budget) | {"name": variant.name}, sort_keys=True)
    return sha256("\n".join([settings, *map(_code, MODULES)]).encode()).hexdigest()[:16]


def stale(names: Iterable[str] = VARIANTS, budget: Budget = BUDGET, folder: Path = RESULTS) -> list[str]:
    """List the variants whose recorded results are missing, not complete, or from other settings or modules.

    Raises
    ------
    ValueError
        If a name is not a variant's. For a file that is spoilt, see `read`.
    """
    variants = _variants(names)
    return [v.name for v in variants if _todo(v, budget, folder) or not _costed(v, folder)]


def record_all(
    names: Iterable[str] = VARIANTS,
    *,
    budget: Budget = BUDGET,
    folder: Path = RESULTS,
    workers: int = 2,
    progress: bool | None = None,
) -> None:
    """Run what is missing, or was recorded from other settings or modules, and write each row when it is done.

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

    Raises
    ------
    ValueError
        If a name is not a variant's, or `workers` is below 1. For a file that is spoilt, see `read`.
    """
    if workers < 1:
        raise ValueError(f"workers is {workers}; expected at least 1")
    variants = _variants(names)
    jobs = [(variant, seed) for variant in variants for seed in _todo(variant, budget, folder)]
    jobs.sort(key=lambda job: job[1])  # the first seed of all, then the second: an early look sees every row
    hidden = None if progress is None else not progress
    with tqdm(total=len(jobs) + len(variants), unit="row", disable=hidden) as bar:
        with _pool(workers) as pool:
            running = {pool.submit(_run, variant.name, seed, budget): (variant, seed) for variant, seed in jobs}
            for done in _results(running):
                variant, seed = running[done]
                _write_row(variant, budget, folder, seed, done.result())
                bar.update()
        for variant in variants:
            if not _costed(variant, folder):
                with _pool(1) as pool:
                    record = read(variant.name, folder)
                    _write(record | {"cost": pool.submit(_cost, variant.name, budget).result()}, folder)
            bar.update()


def processor() -> str:
    """Name this machine's processor: Linux keeps its name in a file, other systems tell it themselves."""
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    parser = ArgumentParser(prog="python -m attnlib.experiments", description="Record the results of every variant.")
    parser.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS), metavar="VARIANT")
    parser.add_argument("--workers", type=int, default=2, help="rows that run side by side (2)")
    parser.add_argument("--list", action="store_true", help="only list the variants, and which are stale")
    chosen = parser.parse_args(arguments)
    if chosen.list:
        waiting = set(stale(chosen.only))
        print("\n".join(f"{name:30} {'stale' if name in waiting else 'recorded'}" for name in chosen.only))
    else:
        record_all(chosen.only, workers=chosen.workers)


def _interval(runs: Sequence[float] | Real[np.ndarray, "seeds"], level: float, of_one_run: int) -> Interval:
    runs = np.asarray(runs)
    if runs.ndim != 1 or (runs.size and runs.dtype.kind not in "iuf"):
        raise ValueError(f"runs has shape {runs.shape} and holds {runs.dtype}; expected (runs,), a number each")
    n = len(runs)
    if n < 2:
        raise ValueError(f"runs holds {n}; expected at least 2")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; expected a share between 0 and 1")
    mean, deviation = float(np.mean(runs)), float(np.std(runs, ddof=1))
    half = float(stats.t.ppf((1 + level) / 2, n - 1)) * deviation * sqrt(of_one_run + 1 / n)
    return Interval(mean, mean - half, mean + half)


def _file(name: str, folder: Path) -> Path:
    if not isinstance(folder, Path):
        raise TypeError(f"folder is {folder!r}; expected a Path")
    return folder / f"{name}.json"


def _variants(names: Iterable[str]) -> list[Variant]:
    if isinstance(names, str):
        raise TypeError(f"names is the string {names!r}; expected names of variants")
    names = list(names)
    unknown = [name for name in names if name not in VARIANTS]
    if unknown:
        raise ValueError(f"names holds {unknown[0]!r}; expected names of variants: {', '.join(VARIANTS)}")
    return [VARIANTS[name] for name in names]


def _complaints(record: dict[str, Any], name: str) -> Iterator[str]:
    """Say what is wrong with a record that is of the right format. Each complaint supposes that none came before."""
    rows, costs = record["rows"], record["cost"]
    if record["variant"] != name:
        yield f"variant is {record['variant']!r}, expected {name!r}"
    if costs is not None and not (isinstance(costs, dict) and all(map(_is_number, costs.values()))):
        yield "cost holds what is no number"
    if not isinstance(rows, dict) or not all(seed.isdecimal() for seed in rows):
        yield "rows is not one row a seed"
    for seed, row in rows.items():
        if not isinstance(row, dict) or not row.keys() >= {"losses", "groups"}:
            yield f"row {seed} lacks losses or groups"
        if not isinstance(row["losses"], list) or not all(map(_is_number, row["losses"])):
            yield f"row {seed} has losses that are no numbers"
        if not isinstance(row["groups"], dict) or not all(isinstance(group, dict) for group in row["groups"].values()):
            yield f"row {seed} has groups without measures"
        if not all(number is None or _is_number(number) for g in row["groups"].values() for number in g.values()):
            yield f"row {seed} has a measure that is no number"
    if len({frozenset(row["groups"]) for row in rows.values()}) > 1:
        yield "the rows have not the same groups"
    if len({frozenset(group) for row in rows.values() for group in row["groups"].values()}) > 1:
        yield "the groups have not the same measures"


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool)


def _measures(rows: Iterable[dict]) -> set[str]:
    return {measure for row in rows for group in row["groups"].values() for measure in group}


@cache
def _code(module: str) -> str:
    """Read the lines of a module of this package on which results depend."""
    return essence(Path(find_spec(f"attnlib.{module}").origin).read_text(encoding="utf-8"))


def _todo(variant: Variant, budget: Budget, folder: Path) -> list[int]:
    """List the seeds that are not recorded, or from other settings or modules."""
    rows = _current(variant, budget, folder)["rows"]
    return [seed for seed in variant.seeds if str(seed) not in rows]


def _costed(variant: Variant, folder: Path) -> bool:
    return _file(variant.name, folder).is_file() and read(variant.name, folder)["cost"] is not None


def _current(variant: Variant, budget: Budget, folder: Path) -> dict[str, Any]:
    """Read what is recorded from the present settings and modules, or begin anew."""
    begun = {
        "format": _FORMAT,
        "variant": variant.name,
        "fingerprint": fingerprint(variant, budget),
        "settings": variant.settings(budget),
        "environment": _environment(),
        "cost": None,
        "rows": {},
    }
    if not _file(variant.name, folder).is_file():
        return begun
    recorded = read(variant.name, folder)
    return recorded if recorded["fingerprint"] == begun["fingerprint"] else begun


def _write_row(variant: Variant, budget: Budget, folder: Path, seed: int, row: dict[str, Any]) -> None:
    record = _current(variant, budget, folder)
    rows = sorted((record["rows"] | {str(seed): row}).items(), key=lambda item: int(item[0]))
    _write(record | {"rows": dict(rows)}, folder)


def _write(record: dict[str, Any], folder: Path) -> None:
    """Write beside the old file, then put it in its place: a reader sees the old one or the new one, both whole."""
    folder.mkdir(parents=True, exist_ok=True)
    path = _file(record["variant"], folder)
    beside = path.with_suffix(".json.tmp")
    with beside.open("w", encoding="utf-8", newline="\n") as file:
        json.dump(record, file, ensure_ascii=False, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def _environment() -> dict[str, str]:
    packages = {name: metadata.version(name) for name in ("numpy", "scipy", "torch", "sacrebleu")}
    today = datetime.now(UTC).date().isoformat()
    return {"date": today, "processor": processor(), "python": platform.python_version(), **packages}


def _pool(workers: int) -> ProcessPoolExecutor:
    """Begin processes that start clean, use one thread each, and end when this one does, however it ends."""
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"), initializer=_begin)


def _run(name: str, seed: int, budget: Budget) -> dict[str, Any]:
    return run(VARIANTS[name], seed, budget)


def _cost(name: str, budget: Budget) -> dict[str, float | int]:
    return cost(VARIANTS[name], budget)


def _begin() -> None:
    torch.set_num_threads(1)
    Thread(target=lambda: (multiprocessing.parent_process().join(), os._exit(1)), daemon=True).start()


def _results(running: dict[Future, Any]) -> Iterator[Future]:
    """Give the jobs as they end. After the first error no other begins."""
    try:
        yield from as_completed(running)
    except BaseException:
        for job in running:
            job.cancel()
        raise


if __name__ == "__main__":
    sys.exit(main())
