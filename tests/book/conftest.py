"""The notebooks, the pages of the table of contents, and pages that are made up."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from nbformat import NotebookNode, write
from nbformat.v4 import new_markdown_cell, new_notebook
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from refresh import NOTEBOOKS

ROOT = Path(__file__).parents[2]
CONTENTS = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))


def below(entries: list[dict]) -> Iterator[str]:
    """Name the pages of some entries and of all below them."""
    for entry in entries:
        yield entry["file"]
        yield from below(entry.get("sections", []))


PAGES = [CONTENTS["root"], *(page for part in CONTENTS["parts"] for page in below(part["chapters"]))]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for a path to a notebook, or for a page, once for each."""
    if "notebook_path" in metafunc.fixturenames:
        metafunc.parametrize("notebook_path", NOTEBOOKS, ids=lambda path: path.stem)
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", PAGES)


@pytest.fixture(scope="session")
def notebook_paths() -> list[Path]:
    """All notebooks, in reading order."""
    return NOTEBOOKS


@pytest.fixture(scope="session")
def module_pages() -> list[str]:
    """All pages of modules, in reading order, without their endings."""
    return [page for page in PAGES if page.startswith("src/")]


@pytest.fixture
def chapter(tmp_path) -> Callable[..., tuple[int, bytes]]:
    """Return a function that makes a page of some cells, below ``out``, and gives Sphinx's status and the page."""

    def make(extensions: str, *cells: NotebookNode, **settings: object) -> tuple[int, bytes]:
        write(new_notebook(cells=[new_markdown_cell("# A chapter\n\nIt claims."), *cells]), tmp_path / "index.ipynb")
        settings |= {"extensions": ["myst_nb", *extensions.split()], "nb_execution_mode": "force"}
        folders = tmp_path, None, tmp_path / "out", tmp_path / "trees"
        with patch_docutils(), docutils_namespace():
            app = Sphinx(*folders, "html", settings, status=None, warning=None)
            app.build()
        return app.statuscode, (tmp_path / "out" / "index.html").read_bytes()

    return make
