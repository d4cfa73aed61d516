"""Try what the book promises, harder than its tests do, and keep what was found for the page that shows it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Found(NamedTuple):
    """What a part found: a table, its head first, and what is not as it should be; if all is well, nothing."""

    rows: list[list[str]]
    failures: list[str]


def notebooks() -> list[Path]:
    """List the chapters."""
    return sorted(ROOT.glob("notebooks/*.ipynb"))


def unit_tests() -> list[Path]:
    """List the tests of the package: those named as a module of it, and those of known bugs."""
    names = {f"test_{path.stem}.py" for path in ROOT.glob("src/attnlib/**/*.py")} | {"test_bugs.py"}
    return [path for path in sorted(ROOT.glob("tests/**/test_*.py")) if path.name in names]


def everything(environment: dict[str, str], python: str = sys.executable) -> tuple[str, bool]:
    """Run the chapters, strictly, and the unit tests. Give what pytest counts, and whether all is well."""
    options = ["-q", "-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile", "--nbval"]
    command = [python, "-m", "pytest", *options, *notebooks(), *unit_tests()]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        print(done.stdout)
    last = (done.stdout.splitlines() or ["nothing"])[-1]
    return last.partition(" in ")[0], done.returncode == 0
