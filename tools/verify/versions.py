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
from typing import NamedTuple

from packaging.requirements import Requirement

from verify import suites
from verify.record import ROOT, Found

SHOWN = ("numpy", "scipy", "matplotlib", "torch")


class Versions(NamedTuple):
    """A Python, what pip is to install, and the environment of the runs."""

    name: str
    python: str
    install: list[str]
    environment: dict[str, str]


def requirements() -> list[Requirement]:
    """Read what pyproject.toml asks for, with all extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [Requirement(line) for line in sum(project["optional-dependencies"].values(), project["dependencies"])]


def oldest(requirement: Requirement) -> str:
    """Pin a requirement to its lower bound."""
    (bound,) = [part.version for part in requirement.specifier if part.operator == ">="]
    return f"{requirement.name}=={bound}"


def choices() -> list[Versions]:
    """List what is tried. Old packages use what the newest of those that they need have deprecated."""
    forgiving = {"PYTEST_ADDOPTS": "-W ignore::DeprecationWarning"}
    return [
        Versions("the oldest admitted", "3.11", [oldest(requirement) for requirement in requirements()], forgiving),
        Versions("the newest admitted", "3.13", [str(requirement) for requirement in requirements()], {}),
        Versions("those of the lock", "3.12", ["-r", str(ROOT / "requirements.lock")], {}),
    ]


def interpreter(version: str) -> str | None:
    """Find a Python of that version: on the path, or among those that pyenv has installed."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{version}"), *sorted(map(str, pyenv.glob(f"{version}.*/bin/python")))]
    return next((python for python in candidates if python and works(python)), None)


def works(python: str) -> bool:
    """Say whether it starts. A launcher may be there for a Python that is not."""
    return subprocess.run([python, "-V"], capture_output=True, check=False).returncode == 0


@contextmanager
def installed(python: str, install: list[str]) -> Iterator[str]:
    """Make a virtual environment, install into it, and lend its Python."""
    (ROOT / "_build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "_build") as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        inside = str(Path(folder, "bin", "python"))
        pip = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *install], check=True)
        subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)], check=True)
        yield inside


def shown(python: str) -> str:
    """Name the versions that a Python has of the packages that compute."""
    ask = f"from importlib.metadata import version\nfor name in {SHOWN}: print(name, version(name))"
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
    return ", ".join(done.stdout.splitlines())


def verify() -> Found:
    """Run everything with each."""
    rows, said, failures = [], [], []
    for name, version, install, environment in choices():
        python = interpreter(version)
        if python is None:
            failures.append(f"Python {version} is not installed here")
            continue
        with installed(python, install) as inside:
            what = shown(inside)
            counted = suites.run(environment, inside)
        print(name, version, what, *counted.row(), flush=True)
        rows.append([name, version, *counted.row()])
        said.append(f"Among {name} on Python {version}: {what}.")
        failures += [f"{name}, Python {version}: {failure}" for failure in counted.failures]
    return Found(["dependencies", "Python", *suites.HEAD], rows, said, failures)
