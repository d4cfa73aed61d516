"""What `pytest --nbval` does with the notebooks, from whatever folder it is called."""

from collections.abc import Generator

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Configure which parts of a cell's output are not compared."""
    config.option.nbval_sanitize_with = config.rootpath / "tests" / "carried.cfg"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Run each cell twice, as a reader does, and compare what it prints each time."""
    if item.path.suffix == ".ipynb":
        item.runtest()
    return (yield)
