"""What `pytest --nbval` does with the notebooks, from whatever folder it is called."""

from collections.abc import Generator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add an option: a reader may run a cell again, and so do we."""
    parser.addoption("--twice", action="store_true", help="run each cell of a notebook twice, and compare both outputs")


def pytest_configure(config: pytest.Config) -> None:
    """Configure which parts of a cell's output are not compared."""
    config.option.nbval_sanitize_with = config.rootpath / "tests" / "carried.cfg"


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say what a run without nbval leaves out."""
    return [] if config.getoption("nbval", default=False) else ["not checked: the notebooks; pytest --nbval notebooks"]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, list, list]:
    """Collect the claims of a notebook, too."""
    collected = yield
    if collected and file_path.suffix == ".ipynb":
        from collector import Page  # noqa: PLC0415, most tests need no notebooks

        return [Page.from_parent(parent, path=file_path)]
    return collected


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """With --twice, run each cell once more beforehand; claims run once, of the second run."""
    if item.config.option.twice and item.path.suffix == ".ipynb" and "claims" not in item.cell.metadata:
        item.runtest()
    return (yield)
