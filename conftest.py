"""What `pytest --nbval` does with the notebooks, from whatever folder it is called."""

from collections.abc import Generator
from pathlib import Path

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Configure which parts of a cell's output are not compared."""
    config.option.nbval_sanitize_with = config.rootpath / "tests" / "carried.cfg"


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
    """Run each cell twice, as a reader does, and compare what it prints each time; claims run once, of the second."""
    if item.path.suffix == ".ipynb" and "claims" not in item.cell.metadata:
        item.runtest()
    return (yield)
