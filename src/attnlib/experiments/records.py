"""The recorded runs of a plan: one JSON file a row, a line a run; of a plan that learns from a text, one file a run.

Several processes, on one machine or on machines that see one folder, write into it. Who runs what is settled by claims:
locks that the system takes back from a process that ends, however it ends.
"""

import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from filelock import FileLock, Timeout
from jaxtyping import Float

from attnlib.experiments.plan import Plan, TextRow
from attnlib.writing import write_atomically

RECORDED = Path(__file__).parent / "recorded"
"""Where the recorded runs are, in a folder for each plan."""

FORMAT = 3
"""The version of the files of rows; what is of another is refused."""

PARTS = ("training", "test", "captions")
"""What is recorded of a run that learns from a text, each part a group of measures."""

_OF_TEXT_RUN = {"row", "seed", "settings", "effort", "text", "environment", *PARTS}


class Job(NamedTuple):
    """A run to do: of which row, under which key; what gives it, and what the file of a row begins with."""

    name: str
    key: str
    run: Callable[[], dict[str, Any]]
    head: Callable[[], dict[str, Any]] = dict


class Ledger:
    """What is recorded of a plan.

    Parameters
    ----------
    plan : Plan
    folder : Path, optional
        Where the files are. None: the plan's own in `RECORDED`.
    """

    def __init__(self, plan: Plan, folder: Path | None = None):
        self.plan, self.folder = plan, RECORDED / plan.name if folder is None else folder
        self.group = "test" if plan.learns_from_text else "within"

    def read(self, name: str) -> dict[str, Any] | None:
        """Read what is recorded of a row, or of the learning rates of a family; None if nothing is.

        Raises
        ------
        ValueError
            If the file is not whole, or of another format, or of another plan: it has another hash.
        """
        if isinstance(row := self.plan.rows.get(name), TextRow):
            paths = {str(seed): self.folder / f"{name}.{seed}.json" for seed in row.seeds}
            runs = {seed: _read_text_run(path, name, seed) for seed, path in paths.items() if path.is_file()}
            return {"groups": [*PARTS], "runs": runs} if runs else None
        path = self.folder / f"{name}.json"
        if not path.is_file():
            return None
        record = _read(path)
        if record.get("format") != FORMAT or not isinstance(record.get("runs"), dict):
            raise ValueError(f"{path.name} is not of format {FORMAT}")
        if (record.get("plan"), record.get("name")) != (self.plan.digest, name):
            raise ValueError(f"{path.name} was recorded under another plan than {self.plan.name}, or another name")
        return record

    def runs(self, name: str) -> dict[str, dict[str, Any]]:
        """Read the runs that are recorded of a row, by seed."""
        return (self.read(name) or {"runs": {}})["runs"]

    def add(self, name: str, key: str, run: dict[str, Any], head: Callable[[], dict[str, Any]] = dict) -> None:
        """Write one more run of a row; with the first of them goes what they share, which `head` gives."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.plan.learns_from_text:
            lines = lines_of({"row": name, "seed": int(key), **run})
            write_atomically(self.folder / f"{name}.{key}.json", f"{{\n{lines}\n}}\n".encode())
            return
        with FileLock(self.folder / ".writing"):
            record = self.read(name) or {"format": FORMAT, "plan": self.plan.digest, "name": name, **head(), "runs": {}}
            runs = sorted((record["runs"] | {key: run}).items(), key=lambda item: [*map(float, item[0].split("/"))])
            write_atomically(self.folder / f"{name}.json", _written(record, dict(runs)).encode())

    @contextmanager
    def claimed(self, name: str, key: str) -> Iterator[bool]:
        """Claim a run while the block lasts, and say whether it was free: not recorded, and claimed by nobody else."""
        folder = self.folder / ".claims"
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f"{name}.{key.replace('/', '-')}", blocking=False)
        with suppress(Timeout):
            lock.acquire()
        try:
            yield lock.is_locked and key not in self.runs(name)
        finally:
            lock.release()

    def costs(self) -> dict[str, dict[str, float]]:
        """Read what each row costs, measured in one sitting: see `attnlib.experiments.measures.benchmark`.

        Raises
        ------
        FileNotFoundError, ValueError
            If nothing is recorded, or it is of another plan.
        """
        record = _read(path := self.folder / "costs.json")
        if record["plan"] != self.plan.digest:
            raise ValueError(f"{path.name} was recorded under another plan than {self.plan.name}")
        return record["costs"]

    def column(self, name: str, measure: str, group: str | None = None) -> dict[int, float]:
        """Take one measure of one group of test sentences, by seed; NaN where the row has none.

        Without a group it is "within" the lengths learnt from, or the "test" part of a text.

        Raises
        ------
        ValueError
            If nothing is recorded of the row, or it has no such group or measure.
        """
        record = self.read(name)
        if record is None:
            raise ValueError(f"nothing is recorded of {name!r}")
        group, measures = group or self.group, {m for run in record["runs"].values() for m in run["measures"]}
        for one, names in ((group, record["groups"]), (measure, measures)):
            if one not in names:
                raise ValueError(f"{one!r} is not recorded of {name}; expected one of {', '.join(sorted(names))}")
        at = record["groups"].index(group)
        figures = {int(seed): run["measures"][measure][at] for seed, run in record["runs"].items()}
        return {seed: float("nan") if figure is None else float(figure) for seed, figure in figures.items()}

    def numbers(self, name: str, measure: str, group: str | None = None) -> Float[np.ndarray, "seeds"]:
        """Take one measure of a row, of all its runs. Errors as for `column`."""
        return np.array([*self.column(name, measure, group).values()])

    def pairs(
        self, first: str, second: str, measure: str, group: str | None = None
    ) -> tuple[Float[np.ndarray, "seeds"], Float[np.ndarray, "seeds"]]:
        """Take one measure of two rows, for the seeds that both have, in the same order. Errors as for `column`."""
        one, other = (self.column(name, measure, group) for name in (first, second))
        seeds = sorted(one.keys() & other.keys())
        return np.array([one[seed] for seed in seeds]), np.array([other[seed] for seed in seeds])

    def differences(
        self, first: str, second: str, measure: str, group: str | None = None
    ) -> Float[np.ndarray, "seeds"]:
        """Take one measure of one row less that of another, seed by seed. Errors as for `column`."""
        return np.subtract(*self.pairs(first, second, measure, group))

    def by_row(self, names: Iterable[str], measure: str, group: str | None = None) -> dict[str, list[float]]:
        """Take one measure of several rows: of each, all its runs. Errors as for `column`."""
        return {name: [*self.column(name, measure, group).values()] for name in names}


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
    """Name this machine's processor: Linux keeps its name in a file, other systems tell it themselves."""
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


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} is no whole JSON file ({error})") from error
    return record if isinstance(record, dict) else {}


def lines_of(parts: Mapping[str, Any]) -> str:
    """Write the parts of a record, each on a line of its own."""
    return ",\n".join(f"{_json(name)}: {_json(part)}" for name, part in parts.items())


def _read_text_run(path: Path, name: str, seed: str) -> dict[str, Any]:
    """Read the file of a run, and gather its figures by measure: one for each of `PARTS`."""
    run = _read(path)
    if not run.keys() >= _OF_TEXT_RUN or (run["row"], run["seed"]) != (name, int(seed)):
        raise ValueError(f"{path.name} is damaged, or of another run; remove it to record it again")
    run["settings"].pop("precision", None)  # which could be chosen when this was recorded, and was not
    single = (int, float, type(None))
    names = {measure for part in PARTS for measure, figure in run[part].items() if isinstance(figure, single)}
    return run | {"measures": {measure: [run[part].get(measure) for part in PARTS] for measure in sorted(names)}}


def _written(record: dict[str, Any], runs: dict[str, Any]) -> str:
    """Write a record, each run on a line of its own."""
    head = {name: value for name, value in record.items() if name != "runs"}
    return f'{_json(head)[:-1]}, "runs": {{\n{lines_of(runs)}\n}}}}\n'


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
