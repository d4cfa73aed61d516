"""What several tests stand on: where the book is, which pages it has, and the files that a clone of it would have."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import yaml

torch.set_num_threads(1)  # the tests' tensors are too small to share out
ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
GIT = ["git", "-c", "user.name=Tests", "-c", "user.email=tests@localhost", "-c", "init.defaultBranch=main"]


def pages() -> list[str]:
    """Name the pages of the table of contents, in reading order, without their endings."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text())
    return [contents["root"], *(chapter["file"] for part in contents["parts"] for chapter in part["chapters"])]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for a path to a notebook, or for a page, once for each."""
    if "notebook_path" in metafunc.fixturenames:
        metafunc.parametrize("notebook_path", NOTEBOOKS, ids=lambda path: path.stem)
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", pages())


@pytest.fixture(scope="session")
def root() -> Path:
    """Where the repository is."""
    return ROOT


@pytest.fixture(scope="session")
def notebook_paths() -> list[Path]:
    """All notebooks, in reading order."""
    return NOTEBOOKS


@pytest.fixture(scope="session")
def page_names() -> list[str]:
    """All pages of the table of contents, in reading order, without their endings."""
    return pages()


@pytest.fixture(scope="session")
def clone() -> Callable[[Path], Path]:
    """Return a function that lays a repository of this working tree out in a folder: all but what git ignores."""
    listed = [*GIT, "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split("\0")
    files = [ROOT / name for name in names if (ROOT / name).is_file()]

    def into(folder: Path) -> Path:
        for file in files:
            copy = folder / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
        for step in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "The working tree"]):
            subprocess.run([*GIT, "-C", folder, *step], check=True)
        return folder

    return into
