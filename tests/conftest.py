"""What the tests of the notebooks and of the built pages share: where the book is, and which pages it has."""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))


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
