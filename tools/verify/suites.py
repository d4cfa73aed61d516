"""Run the notebooks and the unit tests with one Python in one environment, and count what they say."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, parse

import nbformat

from verify.record import ROOT

EXEMPT = "nbval-ignore-output"
HEAD = ["notebooks", "cells compared", "cells only checked", "unit tests", "failures"]


class Suites(NamedTuple):
    """What a run counted: notebooks, cells compared, cells whose outputs are exempt, unit tests, and what failed."""

    notebooks: int
    compared: int
    exempt: int
    tests: int
    failures: list[str]

    def row(self) -> list[str]:
        """Write the counts as a row of a table."""
        return [*(str(count) for count in self[:4]), str(len(self.failures))]


def notebooks() -> list[Path]:
    """List the chapters."""
    return sorted(ROOT.glob("notebooks/*.ipynb"))


def unit_tests() -> list[Path]:
    """List the tests of the package: those named as a module of it, and those of known bugs."""
    modules = [path.stem for path in sorted(ROOT.glob("src/attnlib/*.py"))]
    files = [ROOT / "tests" / f"test_{name}.py" for name in (*modules, "bugs")]
    return [file for file in files if file.exists()]


def exempt_cells(paths: Iterable[Path]) -> int:
    """Count the cells whose outputs nbval does not compare, since they differ between machines."""
    cells = [cell for path in paths for cell in nbformat.read(path, as_version=4).cells]
    return sum(EXEMPT in cell.metadata.get("tags", []) for cell in cells)


def run(environment: dict[str, str], python: str = sys.executable, chapters: list[Path] | None = None) -> Suites:
    """Run the chapters, strictly, and the unit tests; by default all chapters."""
    chapters = chapters or notebooks()
    cells, wrong_cells = pytest(python, environment, "--nbval", *chapters)
    tests, wrong_tests = pytest(python, environment, "-n", "2", *unit_tests())
    exempt = exempt_cells(chapters)
    return Suites(len(chapters), len(cells) - exempt, exempt, len(tests), wrong_cells + wrong_tests)


def pytest(python: str, environment: dict[str, str], *arguments: str | Path) -> tuple[list[Element], list[str]]:
    """Run pytest. Return the tests that it ran, as its report has them, and the names of those that did not pass."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ["-q", "-p", "no:cacheprovider", f"--junitxml={report}", "-o", "junit_family=legacy"]
        done = subprocess.run(
            [python, "-m", "pytest", *options, *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.exists():
            return [], [f"pytest did not begin: {last_lines(done.stdout + done.stderr)}"]
        cases = list(parse(report).iter("testcase"))
    ill = [case for case in cases if any(case.find(kind) is not None for kind in ("failure", "error", "skipped"))]
    failures = [f"{case.get('classname')}: {case.get('name')}" for case in ill]
    return cases, failures or ([last_lines(done.stdout)] if done.returncode else [])


def last_lines(text: str) -> str:
    """Keep the end of what a command printed, without paths of this machine."""
    return re.sub(re.escape(str(ROOT)), ".", " / ".join(text.strip().splitlines()[-3:]))
