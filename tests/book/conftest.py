"""The pages of the package, as the table of contents has them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

CONTENTS = yaml.safe_load((Path(__file__).parents[2] / "_toc.yml").read_text("utf-8"))


def below(entries: list[dict]) -> Iterator[str]:
    """Name the pages of some entries and of all below them."""
    for entry in entries:
        yield entry["file"]
        yield from below(entry.get("sections", []))


MODULES = [page for part in CONTENTS["parts"] for page in below(part["chapters"]) if page.startswith("src/")]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for the page of a module once for each."""
    if "module_page" in metafunc.fixturenames:
        metafunc.parametrize("module_page", MODULES)


@pytest.fixture(scope="session")
def module_pages() -> list[str]:
    """All pages of modules, in reading order, without their endings."""
    return MODULES
