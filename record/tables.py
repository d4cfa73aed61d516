"""Tables of recorded numbers, whose lines are written here, whole; one command at a time writes into a folder."""

import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import torch
import tyro

import attnlib
from attnbook.experiments.plan import Plan
from attnbook.experiments.runs import RECORDED, Recording, read_table
from attntext.atomic_files import write_atomically

KEYS = (
    "id",
    "text",
    "options",
    "tuning_group",
    "target",
    "side",
    "word",
    "model",
    "test_set",
    "clauses",
    "words",
    "learning_rate",
    "seed",
    "step",
)
"""Columns that tell the lines of a plan's table apart, where it has them; all others are what was measured."""

CODE = (
    "attnlib/*.py",
    "attnbook/language/*.*",
    "attnbook/experiments/variants.py",
    "attnbook/experiments/transformers.py",
    "attnbook/experiments/predictions.py",
    "attnbook/experiments/fitting.py",
    "attntext/loss.py",
)
"""Files of the packages that decide what a run gives."""

PACKAGES = ("numpy", "scipy", "torch", "sacrebleu", "sentencepiece")
"""Packages that decide it, too."""


class Run(NamedTuple):
    """What is recorded of a run.

    Attributes
    ----------
    tables : mapping
        Lines for tables, each by its name after the plan's: "" for ``world.csv``, "costs" for
        ``world.costs.csv``.
    details : mapping, optional
        What is no table, with ``model`` and ``seed``.
    """

    tables: dict[str, list[dict[str, Any]]]
    details: dict[str, Any] | None = None


def write_lines(
    lines: Sequence[dict[str, Any]],
    name: str,
    folder: Path = RECORDED,
    order: Sequence[str] = (),
) -> None:
    """Write lines into a table, in place of those with the same values in `KEYS`.

    Parameters
    ----------
    lines : sequence of dict
        A value for each column, None where there is none.
    name : str
        The table, such as "world.costs".
    order : sequence of str, optional
        How names in the key columns are sorted. If empty, by the alphabet.
    """
    folder.mkdir(parents=True, exist_ok=True)
    new = pd.DataFrame([{column: float("nan") if x is None else x for column, x in line.items()} for line in lines])
    table, rank = read_table(name, folder), {name: n for n, name in enumerate(order)}
    key = [column for column in KEYS if column in new]
    if len(table):
        written = pd.MultiIndex.from_frame(table[key]).isin(pd.MultiIndex.from_frame(new[key]))
        new = pd.concat([table[~written], new])
    new = new.sort_values(key, key=lambda column: column.map(lambda x: rank.get(x, x)), kind="stable")
    text = new.convert_dtypes().to_csv(index=False, lineterminator="\n")
    write_atomically(folder / f"{name}.csv", text.encode())


def add_run(run: Run, plan: Plan, folder: Path = RECORDED) -> None:
    """Write what is recorded of a run of a plan, its details last: a run that has them is done."""
    order = [*dict.fromkeys([*plan.configs, *plan.tuning_groups, "test", "captions"])]
    for part, lines in run.tables.items():
        write_lines(lines, f"{plan.name}.{part}".removesuffix("."), folder, order=order)
    if run.details:
        runs = {(each["model"], each["seed"]): each for each in Recording(plan, folder).details}
        runs[run.details["model"], run.details["seed"]] = run.details
        as_json = partial(json.dumps, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        ranked = sorted(runs, key=lambda key: (order.index(key[0]), key[1]))
        text = "".join(as_json(runs[key]) + "\n" for key in ranked)
        write_atomically(folder / f"{plan.name}.jsonl", text.encode())


@cache
def environment() -> dict[str, Any]:
    """Describe what this process runs on: digests of this description and of the code, processor, GPU, versions."""
    on_gpu = {"gpu": torch.cuda.get_device_name()} if torch.cuda.is_initialized() else {}
    packages = {package: metadata.version(package) for package in PACKAGES}
    described = {
        "code": code_digest(),
        "processor": processor(),
        "python": platform.python_version(),
        **packages,
        **on_gpu,
    }
    return {"id": _digest(described)[:8], **described}


def code_digest() -> str:
    """Return a digest of `CODE` and of what measures."""
    package = Path(attnlib.__file__).parents[1]
    files = [
        *sorted(path for pattern in CODE for path in package.glob(pattern)),
        Path(__file__).with_name("measures.py"),
    ]
    return _digest({path.name: path.read_text("utf-8") for path in files})[:16]


def _digest(described: dict[str, Any]) -> str:
    return sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def run_command(main: Callable[..., None]) -> None:
    """Run a script's function with the words of the command line, and say in one line what it refuses."""
    try:
        tyro.cli(main)
    except (ValueError, OSError) as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")


def processor() -> str:
    """Return the name of this machine's processor, which Linux keeps in a file."""
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor() or platform.machine()}, {os.cpu_count()} cores"
