"""The book where its readers open it: on Binder, on Colab, and built without make.

Slow: the first two tests install for real, from the package index. They execute the first chapter, and of the others,
which train models for minutes, the first cell with all that they import.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
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
    path = f"{Path(command[0]).parent}{os.pathsep}{outside['PATH']}"
    done = subprocess.run(
        command, cwd=cwd, env=outside | {"PATH": path} | variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
    return done.stdout


def environment(folder: Path) -> Path:
    """Make an empty virtual environment and return the folder of its commands."""
    run(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    return folder / "bin"


def install(bin: Path, *what: str) -> None:
    """Install from the index. An index of wheels that does not answer is asked once, not five times a package."""
    try:
        run(bin / "pip", "install", "--quiet", *what, cwd=bin, PIP_RETRIES="0")
    except AssertionError as failure:
        raise AssertionError("pip cannot install. This test needs a package index that can be reached.") from failure


def installed(bin: Path) -> dict[str, str]:
    return dict(line.split("==") for line in run(bin / "pip", "freeze", "--exclude", "attnlib", cwd=bin).split())


def said(cell: dict) -> str:
    """Join what a cell prints and the text of the value that it shows."""
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell["outputs"]]
    return "".join("".join(text) for text in texts)


def differences(folder: Path, skipped: int = 0) -> list[tuple[str, str, str]]:
    """Find the cells of the first chapter, after those that are skipped, that do not say what is stored of them."""
    found = []
    for name in CHAPTERS[:1]:
        stored, new = (json.loads((where / name).read_text("utf-8"))["cells"] for where in (ROOT / "notebooks", folder))
        pairs = [pair for pair in zip(stored, new, strict=True) if pair[0]["cell_type"] == "code"][skipped:]
        assert any(said(before) for before, _ in pairs)
        for before, after in pairs:
            if "nbval-ignore-output" not in before["metadata"].get("tags", []) and said(before) != said(after):
                found.append((name, said(before), said(after)))
    return found


def test_binder(clone: Callable[[Path], Path], tmp_path: Path):
    """The first chapter prints on Binder what is stored of it, and the others find all that they import.

    A virtual environment with the pip section of environment.yml stands in for the conda environment that Binder
    makes of that file, and this Python for its Python. postBuild runs as it is, in a clone, as there.
    """
    home = clone(tmp_path / "home")
    parts = yaml.safe_load((home / "environment.yml").read_text("utf-8"))["dependencies"]
    (tmp_path / "pip.txt").write_text("\n".join(parts[-1]["pip"]), encoding="utf-8")
    bin = environment(tmp_path / "conda")
    install(bin, "-r", str(tmp_path / "pip.txt"))
    run(home / "postBuild", cwd=home, PATH=f"{bin}{os.pathsep}{os.environ['PATH']}")
    run(bin / "python", "-c", EXECUTE, *CHAPTERS, cwd=home / "notebooks")
    assert differences(home / "notebooks") == []
    run(bin / "jupyter", "lab", "--version", cwd=home)


def test_colab(clone: Callable[[Path], Path], tmp_path: Path):
    """A chapter, alone in an empty folder, runs from its own first cell and replaces nothing that Colab has.

    A virtual environment with Colab's releases of NumPy, SciPy and Matplotlib stands in for Colab, this Python for its
    Python 3.12, and the torch of the lock, built for the processor, for its torch 2.11. A repository of this
    working tree stands in for the one on GitHub: git is told to fetch it from there. The cell runs as it is; pip really
    clones, builds and installs.
    """
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    index = re.search(r"^CPU_WHEELS := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)[1]
    bin = environment(tmp_path / "colab")
    install(bin, "--extra-index-url", index, "--no-deps", re.search("^torch==.*$", lock, re.MULTILINE)[0])
    install(bin, "torch", "numpy==2.0.*", "scipy==1.16.*", "matplotlib==3.10.*", "ipykernel", "nbclient")
    before = installed(bin)
    assert {"numpy", "scipy", "matplotlib", "torch"} <= set(before)

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    address = settings["project"]["urls"]["Repository"]
    remote = clone(tmp_path / "remote").as_uri()
    git = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{remote}.insteadOf", "GIT_CONFIG_VALUE_0": address}
    alone = tmp_path / "content"
    alone.mkdir()
    for name in CHAPTERS:
        (alone / name).write_bytes((ROOT / "notebooks" / name).read_bytes())
        run(bin / "python", "-c", EXECUTE, name, cwd=alone, **git)
        assert "Repository" in run(bin / "pip", "show", "--verbose", "attnlib", cwd=alone)
        run(bin / "pip", "uninstall", "--quiet", "--yes", "attnlib", cwd=alone)
    assert differences(alone, skipped=1) == []
    after = installed(bin)
    assert {name: after[name] for name in before} == before


def test_without_make(clone: Callable[[Path], Path], tmp_path: Path):
    """The plain command gives the pages that make gives, also where an environment's folder lies in the way.

    The environment that runs the tests stands in for the one that a reader without make has installed.
    """
    jupyter_book = Path(sys.executable).parent / "jupyter-book"
    flags = re.search(r"jupyter-book build \. (.*)", (ROOT / "Makefile").read_text("utf-8"))[1].split()
    plain, made = clone(tmp_path / "plain"), clone(tmp_path / "made")
    for home in (plain, made):  # the chapters that train for minutes keep their stored outputs
        config = (home / "_config.yml").read_text("utf-8")
        kept = "".join(f"\n    - notebooks/{name}" for name in CHAPTERS[1:])
        (home / "_config.yml").write_text(
            config.replace("\nexecute:\n", f"\nexecute:\n  exclude_patterns:{kept}\n"),
            "utf-8",
        )
    decoy = plain / ".venv" / "lib" / "decoy"
    decoy.mkdir(parents=True)
    (decoy / "decoy.md").write_text("```{nothing-of-that-name}\n", encoding="utf-8")
    (decoy / "decoy.ipynb").write_text("{", encoding="utf-8")
    run(jupyter_book, "build", ".", cwd=plain)
    run(jupyter_book, "build", ".", *flags, cwd=made)
    pages, expected = (
        {path.relative_to(html): path.read_text("utf-8") for path in html.rglob("*.html")}
        for html in (plain / "_build" / "html", made / "_build" / "html")
    )
    assert Path("notebooks", CHAPTERS[0]).with_suffix(".html") in expected
    assert sorted(pages) == sorted(expected)
    timed = Path("book", "evidence.html")  # says when and how long
    assert [page for page in expected if pages[page] != expected[page]] == [timed]
    assert list((plain / "_build").rglob("*decoy*")) == []
