"""Change the equations, one thing at a time, and count the changes that a unit test notices.

See `verify.mutating` for the changes, `verify.hunting` for how the tests run on them.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from verify.hunting import KILLED, MODULES, SURVIVED, TIMED_OUT
from verify.mutating import SURVIVORS, Reason, survivors
from verify.record import ROOT, Found

LEAST = 90  # per cent that must be noticed
Outcome = tuple[str, str, str, str]  # function, what its lines were, what they become, what became of the mutant


def hunt(*options: str) -> list[Outcome]:
    """Hunt mutants in a process of its own, in which the tests' hook comes before the package."""
    tools = os.pathsep.join(filter(None, (str(ROOT / "tools"), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PYTHONPATH": tools, "PYTEST_ADDOPTS": "", "OMP_NUM_THREADS": "1"}
    with TemporaryDirectory() as folder:
        record = Path(folder, "outcomes.json")
        command = [sys.executable, "-m", "verify.hunting", str(record), *options]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        return [tuple(outcome) for outcome in json.loads(record.read_text(encoding="utf-8"))]


def judged(outcomes: Sequence[Outcome], reasons: Mapping[tuple[str, str, str], Reason]) -> Found:
    """Count what became of the mutants, and hold the survivors against those that have a reason."""
    counts = Counter((function.partition(".")[0], outcome) for function, _, _, outcome in outcomes)
    table = {name: [counts[name, outcome] for outcome in (KILLED, TIMED_OUT, SURVIVED)] for name in MODULES}
    table["all"] = [sum(column) for column in zip(*table.values(), strict=True)]
    survived = {outcome[:3] for outcome in outcomes if outcome[3] == SURVIVED}
    share = noticed(*table["all"])
    failures = [] if share >= LEAST else [f"{share:.1f} per cent of the mutants are noticed; expected at least {LEAST}"]
    failures += [f"survives without a reason: {told(key)}" for key in sorted(survived - reasons.keys())]
    failures += [f"has a reason, but does not survive: {told(key)}" for key in sorted(reasons.keys() - survived)]
    same = sum(reason.equivalent for key, reason in reasons.items() if key in survived)
    said = [
        f"Of {len(outcomes)} changes to the equations, the unit tests notice {share:.1f} per cent.",
        f"{same} of the {len(survived)} that survive compute the same at the same cost, the others what is not worth a "
        f"test. Each is listed with its reason in {SURVIVORS.relative_to(ROOT).as_posix()}.",
    ]
    rows = [[name, str(sum(row)), *map(str, row), f"{noticed(*row):.1f}"] for name, row in table.items()]
    return Found(["module", "mutants", "killed", "timed out", "survived", "per cent noticed"], rows, said, failures)


def noticed(killed: int, timed_out: int, survived: int) -> float:
    """Give the share of the mutants that did not survive, in per cent."""
    return 100 * (killed + timed_out) / (killed + timed_out + survived or 1)


def told(key: tuple[str, str, str]) -> str:
    """Name a mutant in one line."""
    return "{}: {!r} becomes {!r}".format(*key)


def verify() -> Found:
    """Hunt all mutants; about ten minutes."""
    return judged(hunt(), survivors())
