"""The book where its readers open it, on Binder and on Colab: everything is installed for real.

The first chapter is executed, and must print what it stores. The others train models for minutes, so only their first
cell, with all that they import, is executed. What is tried is the last commit.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from verify import ROOT, Found, notebooks
from verify.versions import installed

CHAPTERS = [path.name for path in notebooks()]
EXECUTE = """
import sys, nbformat, nbclient
for name in sys.argv[1:]:
    chapter = nbformat.read(name, as_version=4)
    if not name.startswith("01-"):
        first = [cell.cell_type for cell in chapter.cells].index("code")
        chapter.cells = [chapter.cells[first]]
    nbclient.NotebookClient(chapter, timeout=600).execute()
    nbformat.write(chapter, name)
"""


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    """Run a command as somebody would who has activated the virtual environment that it is of."""
    outside = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    path = {"PATH": f"{Path(command[0]).parent}{os.pathsep}{outside['PATH']}"}
    return subprocess.run(command, cwd=cwd, env=outside | path | variables, stdout=-1, text=True, check=True).stdout


def clone(folder: Path) -> Path:
    """Clone this repository."""
    run("git", "clone", "--quiet", ROOT, folder, cwd=ROOT)
    return folder


def said(path: Path) -> list[str]:
    """Read what the cells after the first print, and the text of the values that they show."""
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"][1:]
    compared = [cell for cell in cells if "nbval-ignore-output" not in cell["metadata"].get("tags", [])]
    shown = ([out.get("text") or out.get("data", {}).get("text/plain", "") for out in c["outputs"]] for c in compared)
    return ["".join(map("".join, texts)) for texts in shown]


def differences(folder: Path) -> list[str]:
    """Find where the first chapter, executed in that folder, does not say what is stored of it."""
    pairs = zip(said(ROOT / "notebooks" / CHAPTERS[0]), said(folder / CHAPTERS[0]), strict=True)
    return [f"expected {before!r}, got {after!r}" for before, after in pairs if before != after]


def binder(scratch: Path) -> list[str]:
    """Install the pip section of environment.yml, for the conda environment that Binder makes of it, and postBuild."""
    home = clone(scratch / "home")
    parts = yaml.safe_load((home / "environment.yml").read_text("utf-8"))["dependencies"]
    (scratch / "pip.txt").write_text("\n".join(parts[-1]["pip"]), encoding="utf-8")
    with installed(sys.executable, "-r", str(scratch / "pip.txt")) as python:
        run(home / "postBuild", cwd=home, PATH=f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}")
        run(python, "-c", EXECUTE, *CHAPTERS, cwd=home / "notebooks")
        run(python, "-m", "jupyter", "lab", "--version", cwd=home)
    return differences(home / "notebooks")


def colab(scratch: Path) -> list[str]:
    """Run each chapter, alone in a folder, from its own first cell, which is to replace nothing that Colab has.

    Colab's releases of NumPy, SciPy and Matplotlib stand in for Colab, and the torch of the lock, built for the
    processor, for its torch. Git is told to fetch this repository in the place of the one on GitHub.
    """
    lock, makefile = ((ROOT / name).read_text("utf-8") for name in ("requirements.lock", "Makefile"))
    torch = re.search(r"^torch==.*$", lock, re.MULTILINE)[0]
    wheels = re.search(r"^CPU_WHEELS := (.*)$", makefile, re.MULTILINE)[1]
    address = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]
    remote = f"url.{ROOT.as_uri()}.insteadOf"
    git = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": remote, "GIT_CONFIG_VALUE_0": address}
    of_colab = ["numpy==2.0.*", "scipy==1.16.*", "matplotlib==3.10.*", "ipykernel", "nbclient"]
    with installed(sys.executable, "--extra-index-url", wheels, torch, *of_colab) as python:
        pip = [python, "-m", "pip"]
        before = run(*pip, "freeze", cwd=scratch).splitlines()
        for name in CHAPTERS:
            (scratch / name).write_bytes((ROOT / "notebooks" / name).read_bytes())
            run(python, "-c", EXECUTE, name, cwd=scratch, **git)
            run(*pip, "uninstall", "--quiet", "--yes", "attnlib", cwd=scratch)
        replaced = set(before) - set(run(*pip, "freeze", cwd=scratch).splitlines())
    return differences(scratch) + [f"replaced: {line}" for line in sorted(replaced)]


def verify() -> Found:
    """Try each in a folder of its own."""
    rows, failures = [["where", "differences"]], []
    for name, attempt in {"Binder": binder, "Colab": colab}.items():
        with TemporaryDirectory() as scratch:
            found = attempt(Path(scratch))
        print(name, *found, sep="\n", flush=True)
        rows.append([name, str(len(found))])
        failures += [f"{name}: {what}" for what in found]
    return Found(rows, failures)
