"""What installs the book: the Makefile's first steps, the lock file, and Binder's copy of it."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
NOBODY = "http://127.0.0.1:9/"


@pytest.fixture(scope="module")
def lock() -> dict[str, str]:
    lines = [line for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def make(root: Path, *arguments: str) -> subprocess.CompletedProcess:
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", *arguments], cwd=root, env=outside, capture_output=True, text=True, check=False)


def python_that_says(version: str, path: Path) -> Path:
    """Write a Python that is of that version when asked, and fails at anything else, leaving a .venv begun."""
    parts = ", ".join(version.split("."))
    path.write_text(
        f"""#!/bin/sh
case "$1" in
-V) echo "Python {version}" ;;
-c) exec {shlex.quote(sys.executable)} -c "import sys; sys.version_info = ({parts}, 'final', 0)
$2" ;;
*) mkdir .venv; exit 1 ;;
esac
""",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("version", [None, "3.9.25", "3.10.14", "3.14.0"])
def test_an_unfit_python_is_said_in_one_line(clone: Callable[[Path], Path], tmp_path: Path, version: str | None):
    root = clone(tmp_path / "book")
    python = python_that_says(version, tmp_path / "python") if version else "no-such-python"
    run = make(root, ".venv/installed", f"PYTHON={python}")
    ours = [line for line in (run.stdout + run.stderr).splitlines() if not line.startswith("make:")]
    assert run.returncode != 0
    assert ours == [
        f"Python 3.11, 3.12 or 3.13 is needed, but '{python}' is {f'Python {version}' if version else 'missing'}. "
        "Say which: make PYTHON=python3.12"
    ]
    assert not (root / ".venv").exists()


@pytest.mark.parametrize("version", ["3.11.0", "3.12.9", "3.13.5"])
def test_a_fit_python_is_let_through(clone: Callable[[Path], Path], tmp_path: Path, version: str):
    root = clone(tmp_path / "book")
    python = python_that_says(version, tmp_path / "python")
    run = make(root, ".venv/installed", f"PYTHON={python}")
    assert "is needed" not in run.stdout + run.stderr
    assert (root / ".venv").exists()


def test_pyproject_admits_the_pythons_that_make_admits(project: dict):
    assert project["requires-python"] == ">=3.11,<3.14"


def test_an_index_that_nobody_answers_for_is_not_asked_twice(clone: Callable[[Path], Path], tmp_path: Path):
    """A wheel of a few bytes in a folder stands in for torch on the general index; the options are the Makefile's."""
    with ZipFile(tmp_path / "tiny-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        wheel.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("tiny-1.dist-info/RECORD", "")
    recipe = make(clone(tmp_path / "book"), "-n", ".venv/installed", f"CPU_WHEELS={NOBODY}").stdout.splitlines()
    (step,) = [line for line in recipe if NOBODY in line]
    _, *options, torch = shlex.split(step)
    assert torch.startswith("torch==")

    def pip(*more: str) -> subprocess.CompletedProcess:
        alone = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": tmp_path.as_uri(), "PIP_FIND_LINKS": str(tmp_path)}
        command = [sys.executable, "-m", "pip", *options, *more, "--dry-run", "tiny==1"]
        return subprocess.run(command, env=os.environ | alone, capture_output=True, text=True, check=False)

    once = pip()
    assert once.returncode == 0, once.stderr
    assert "Retrying" not in once.stderr
    assert "Retrying" in pip("--retries", "1").stderr


def test_the_lock_is_names_and_versions_only(lock: dict[str, str]):
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert [pin for pin in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9a-z.]*", pin)] == []
    assert len(lock) == len(pins)


def test_the_lock_pins_all_that_pyproject_names_within_its_bounds(lock: dict[str, str], project: dict):
    extras = project["optional-dependencies"]
    named = [Requirement(line) for line in sum(extras.values(), project["dependencies"])]
    assert [str(r) for r in named if not r.specifier.contains(lock.get(canonicalize_name(r.name), "0"))] == []


def test_binder_gets_the_versions_of_the_lock(lock: dict[str, str], project: dict):
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    (pip,) = [part["pip"] for part in environment["dependencies"] if isinstance(part, dict)]
    pins = {canonicalize_name(pin.split("==")[0]): pin.split("==")[1] for pin in pip if not pin.startswith("--")}
    assert pins == {name: lock[name] for name in pins}
    assert {canonicalize_name(Requirement(line).name) for line in project["dependencies"]} <= set(pins)
    assert {"ipykernel", "jupyterlab"} <= set(pins)


@pytest.mark.parametrize("page", ["README.md", "book/how-to-run.md"])
def test_the_commands_without_make_name_the_torch_of_the_lock(lock: dict[str, str], page: str):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert re.findall(r"torch==([\w.]+)", text) == [lock["torch"]]
    assert Version(lock["torch"]).local is None


def test_every_target_is_documented():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split()
    targets = re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE)
    assert sorted(targets) == sorted(phony)
    listed = [line.split()[0] for line in make(ROOT, "help").stdout.splitlines()]
    assert sorted(listed) == sorted(targets)
