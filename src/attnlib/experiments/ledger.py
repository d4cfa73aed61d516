"""The recorded runs of a plan: one JSON file a row, a line a run.

Several processes, on one machine or on machines that see one folder, write into it. Who runs what is settled by claims:
locks that the system takes back from a process that ends, however it ends.
"""

import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from jaxtyping import Float

from attnlib.experiments.plan import Plan
from attnlib.writing import write_atomically

RECORDED = Path(__file__).parent / "recorded"
"""Where the recorded runs are, in a folder for each plan."""

FORMAT = 3
"""The version of the files; what is of another is refused."""


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

    def read(self, name: str) -> dict[str, Any] | None:
        """Read what is recorded of a row, or of the learning rates of a family; None if nothing is.

        Raises
        ------
        ValueError
            If the file is not whole, or of another format, or of another plan: it has another hash.

        Notes
        -----
        JSON is data: whatever is in the file, reading it runs nothing.
        """
        path = self.folder / f"{name}.json"
        if not path.is_file():
            return None
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path.name} is no whole JSON file ({error})") from error
        if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("runs"), dict):
            raise ValueError(f"{path.name} is not of format {FORMAT}")
        if (found.get("plan"), found.get("name")) != (self.plan.digest, name):
            raise ValueError(f"{path.name} was recorded under another plan than {self.plan.name}, or another name")
        return found

    def runs(self, name: str) -> dict[str, dict[str, Any]]:
        """Give what is recorded of a row, by seed; nothing if nothing is."""
        found = self.read(name)
        return found["runs"] if found else {}

    def add(self, name: str, key: str, run: dict[str, Any], head: Callable[[], dict[str, Any]]) -> None:
        """Write one more run of a row; with the first of them goes what they share, which `head` gives."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / ".writing"):
            found = self.read(name) or {"format": FORMAT, "plan": self.plan.digest, "name": name, **head(), "runs": {}}
            runs = dict(sorted((found["runs"] | {key: run}).items(), key=lambda item: _numbers(item[0])))
            write_atomically(self.folder / f"{name}.json", _written(found | {"runs": runs}).encode())

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
        """Give what each row costs, measured in one sitting: see `attnlib.experiments.measure.benchmark`.

        Raises
        ------
        ValueError
            If nothing is recorded, or it is of another plan.
        """
        path = self.folder / "costs.json"
        if not path.is_file():
            raise ValueError(f"no costs are recorded of {self.plan.name}")
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["plan"] != self.plan.digest:
            raise ValueError(f"{path.name} was recorded under another plan than {self.plan.name}")
        return found["costs"]

    def column(self, name: str, measure: str, group: str = "within") -> dict[int, float]:
        """Take one measure of one group of test sentences, by seed; NaN where the row has none.

        Raises
        ------
        ValueError
            If nothing is recorded of the row, or it has no such group or measure.
        """
        found = self.read(name)
        if found is None:
            raise ValueError(f"nothing is recorded of {name!r}")
        known = {m for run in found["runs"].values() for m in run["measures"]}
        for asked, there in ((group, found["groups"]), (measure, known)):
            if asked not in there:
                raise ValueError(f"{asked!r} is not recorded of {name}; expected one of {', '.join(sorted(there))}")
        at = found["groups"].index(group)
        return {int(seed): _number(run["measures"][measure][at]) for seed, run in found["runs"].items()}

    def pairs(
        self, first: str, second: str, measure: str, group: str = "within"
    ) -> tuple[Float[np.ndarray, "seeds"], Float[np.ndarray, "seeds"]]:
        """Take one measure of two rows, for the seeds that both have, in the same order. Errors as for `column`."""
        one, other = (self.column(name, measure, group) for name in (first, second))
        seeds = sorted(one.keys() & other.keys())
        return np.array([one[seed] for seed in seeds]), np.array([other[seed] for seed in seeds])

    def differences(self, first: str, second: str, measure: str, group: str = "within") -> Float[np.ndarray, "seeds"]:
        """Take one measure of one row less that of another, seed by seed. Errors as for `column`."""
        return np.subtract(*self.pairs(first, second, measure, group))

    def by_row(self, names: Iterable[str], measure: str, group: str = "within") -> dict[str, list[float]]:
        """Take one measure of several rows: of each, all its runs. Errors as for `column`."""
        return {name: [*self.column(name, measure, group).values()] for name in names}


@cache
def environment() -> dict[str, str]:
    """Say what this process runs on: the code's revision, with a + if files were changed, date, processor, versions."""
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


def _written(found: dict[str, Any]) -> str:
    """Write a record, each run on a line of its own."""
    head = {name: value for name, value in found.items() if name != "runs"}
    lines = [f"{_json(key)}: {_json(run)}" for key, run in found["runs"].items()]
    return _json(head)[:-1] + ', "runs": {\n' + ",\n".join(lines) + "\n}}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _numbers(key: str) -> list[float]:
    return [float(part) for part in key.split("/")]
