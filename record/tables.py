"""Tables of recorded numbers: each line is written once, by whichever process has it."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from filelock import FileLock

from attnlib.experiments.plan import Plan
from attnlib.experiments.runs import RECORDED, read_details, read_table
from attnlib.text.writing import write_atomically

KEYS = ("tuning_group", "target", "side", "word", "model", "test_set", "clauses", "words", "learning_rate", "seed")
"""Columns that tell the lines of a table apart, where it has them; all others are what was measured."""


class Run(NamedTuple):
    """What is recorded of a run.

    Attributes
    ----------
    tables : mapping
        Lines for tables, each by its name after the plan's: "" for ``comparison.csv``, "words" for
        ``comparison.words.csv``.
    details : mapping, optional
        What is no table, with ``model`` and ``seed``.
    """

    tables: dict[str, list[dict[str, Any]]]
    details: dict[str, Any] | None = None


def add_lines(lines: Sequence[dict[str, Any]], name: str, folder: Path = RECORDED, order: Sequence[str] = ()) -> None:
    """Write lines into a table, in place of those with the same `KEYS`.

    Parameters
    ----------
    lines : sequence of dict
        A value for each column, None where there is none.
    name : str
        The table, such as "comparison.words".
    order : sequence of str, optional
        How names in the key columns are sorted. If empty, by the alphabet.
    """
    given = [{column: float("nan") if x is None else x for column, x in line.items()} for line in lines]
    with FileLock(_hidden(folder, name)):
        table = pd.concat([part for part in (read_table(name, folder), pd.DataFrame(given)) if len(part)])
        key, rank = [column for column in KEYS if column in table], {name: n for n, name in enumerate(order)}
        table = table.drop_duplicates(key, keep="last")
        table = table.sort_values(key, key=lambda column: column.map(lambda x: rank.get(x, x)), ignore_index=True)
        text = table.convert_dtypes().to_csv(index=False, lineterminator="\n")
        write_atomically(folder / f"{name}.csv", text.encode())


def add_run(run: Run, plan: Plan, folder: Path = RECORDED) -> None:
    """Write what is recorded of a run, its details last: a run that has them is done."""
    again = plan.contents.get("lost", {}).get("times", 1)
    order = [*plan.configs, *(f"{name}-times{again:g}" for name in plan.configs), *plan.tuning_groups]
    order += ["seen lengths", "longer", "test", "captions"]
    for name, lines in run.tables.items():
        add_lines(lines, f"{plan.name}.{name}".removesuffix("."), folder, [*dict.fromkeys(order)])
    if run.details:
        with FileLock(_hidden(folder, plan.name)):
            key = {name: run.details[name] for name in ("model", "seed")}
            others = [each for each in read_details(plan, folder) if any(each[name] != key[name] for name in key)]
            details = sorted([*others, run.details], key=lambda each: (order.index(each["model"]), each["seed"]))
            as_json = partial(json.dumps, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            text = "".join(as_json(each) + "\n" for each in details)
            write_atomically(folder / f"{plan.name}.jsonl", text.encode())


def is_recorded(name: str, folder: Path = RECORDED, **key: Any) -> bool:
    """Return whether a table has a line with these values."""
    path = folder / f"{name}.csv"
    return path.exists() and bool((pd.read_csv(path)[[*key]] == pd.Series(key)).all(axis=1).any())


def replace_lines(
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    name: str,
    folder: Path = RECORDED,
    decimals: int = 4,
    **key: Any,
) -> None:
    """Write a run's lines at the end of its tables, in place of earlier ones with its key.

    The main table is written last: a run that it has is complete.

    Parameters
    ----------
    tables : mapping
        Lines for tables, as in `Run`.
    name : str
        Name of the main table.
    folder : Path, optional
        Folder of the tables.
    decimals : int, default 4
        Decimals that numbers are rounded to.
    **key
        The columns that tell the run apart, which come first.
    """
    for part in sorted(tables, reverse=True):
        path, lines = folder / f"{name}.{part}.csv".replace("..", "."), pd.DataFrame(tables[part]).round(decimals)
        table = lines.assign(**key)[[*key, *lines]]
        if path.exists():
            old = pd.read_csv(path)
            table = pd.concat([old[(old[[*key]] != pd.Series(key)).any(axis=1)], table])
        write_atomically(path, table.to_csv(index=False, lineterminator="\n").encode())


@cache
def environment() -> dict[str, str]:
    """Describe what this process runs on: the code's revision, a + if files were changed, date, processor, versions."""
    packages = {package: metadata.version(package) for package in ("numpy", "scipy", "torch", "sacrebleu")}
    return {
        "revision": _revision(),
        "date": datetime.now(UTC).date().isoformat(),
        "processor": processor(),
        "python": platform.python_version(),
        **packages,
    }


def processor() -> str:
    """Return the name of this machine's processor, which Linux keeps in a file."""
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def _revision() -> str:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(Path(__file__).parent), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    try:
        return git("rev-parse", "HEAD") + "+" * bool(git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _hidden(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f".{name}.lock"
