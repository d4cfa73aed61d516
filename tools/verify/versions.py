"""The same values with other versions: the oldest dependencies that pyproject.toml admits, the newest, each Python.

Each gets a virtual environment of its own, made from the package index and removed afterwards.
"""

import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packaging.requirements import Requirement

from verify import ROOT, Found, everything

SHOWN = ("numpy", "scipy", "matplotlib", "torch")


def requirements() -> list[Requirement]:
    """Read what pyproject.toml asks for, with all extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [Requirement(line) for line in sum(project["optional-dependencies"].values(), project["dependencies"])]


def oldest(requirement: Requirement) -> str:
    """Pin a requirement to its lower bound."""
    (bound,) = [part.version for part in requirement.specifier if part.operator == ">="]
    return f"{requirement.name}=={bound}"


def interpreter(version: str) -> str:
    """Find a Python of that version: on the path, or among those that pyenv has installed."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for python in (shutil.which(f"python{version}"), *pyenv.glob(f"{version}.*/bin/python")):
        if python and subprocess.run([python, "-V"], capture_output=True, check=False).returncode == 0:
            return str(python)  # a launcher may be there for a Python that is not
    raise FileNotFoundError(f"Python {version} is not installed here")


@contextmanager
def installed(python: str, *install: str) -> Iterator[str]:
    """Make a virtual environment, install into it, and lend its Python."""
    (ROOT / "_build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "_build") as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        inside = str(Path(folder, "bin", "python"))
        subprocess.run([inside, "-m", "pip", "install", "--quiet", *install], check=True)
        yield inside


def shown(python: str) -> str:
    """Name the versions that a Python has of the packages that compute."""
    ask = f"from importlib.metadata import version\nfor name in {SHOWN}: print(name, version(name))"
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
    return ", ".join(done.stdout.splitlines())


def verify() -> Found:
    """Run everything with each. Old packages use what the newest of those that they need have deprecated."""
    every, forgiving = requirements(), {"PYTEST_ADDOPTS": "-W ignore::DeprecationWarning"}
    choices = [
        ("the oldest admitted", "3.11", [oldest(requirement) for requirement in every], forgiving),
        ("the newest admitted", "3.13", [str(requirement) for requirement in every], {}),
        ("those of the lock", "3.12", ["-r", str(ROOT / "requirements.lock")], {}),
    ]
    rows, failures = [["dependencies", "Python", "among them", "cells and tests"]], []
    for name, version, install, environment in choices:
        with installed(interpreter(version), *install) as inside:
            editable = ["--quiet", "--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
            subprocess.run([inside, "-m", "pip", "install", *editable], check=True)
            counted, well = everything(environment, inside)
            rows.append([name, version, shown(inside), counted])
        print(*rows[-1], flush=True)
        failures += [] if well else [f"{name}, Python {version}: {counted}"]
    return Found(rows, failures)
