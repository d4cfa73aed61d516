"""Every equation that a chapter numbers is in the table of notation, and each of its links leads where it says."""

import re
from functools import cache
from itertools import chain
from pathlib import Path
from pydoc import locate

import nbformat
import pytest
from mdit_py_plugins.anchors.index import slugify

from bookext.letters import table

CHAPTERS = Path(__file__).parents[2] / "notebooks"
ROWS = table()["equations"]


@cache
def text(notebook: Path) -> str:
    """Read what the Markdown cells of a notebook say."""
    return "\n".join(c.source for c in nbformat.read(notebook, as_version=4).cells if c.cell_type == "markdown")


def numbers(notebook: Path) -> list[str]:
    """List the numbers of the equations of a notebook."""
    return re.findall(r"\\tag\{(.+?)\}", text(notebook))


def cites(name: str, citation: str) -> bool:
    """Tell whether the docstring of what has this name cites this equation or section of this paper."""
    paper, kind, number = re.fullmatch(r"(.+), (\w+)\.? (.+)", citation).groups()
    text = " ".join(locate(name).__doc__.split())
    return bool(re.search(rf"{paper}((?!et al\.).)*?\b{kind}s?\.? ([\dA-C.]+,? (and )?)*{number}(?!\.?\w)", text))


def test_equations_are_numbered_in_order_and_every_one_is_listed_once(notebook_paths):
    written = [numbers(path) for path in notebook_paths]
    assert sorted(row["number"] for row in ROWS if "number" in row) == sorted(chain(*written))
    for of_chapter in written:
        assert [int(number.split(".")[1]) for number in of_chapter] == [*range(1, len(of_chapter) + 1)]


def test_a_number_in_the_text_is_that_of_an_equation(notebook_path, notebook_paths):
    given = {*chain(*map(numbers, notebook_paths))}
    assert {*re.findall(r"\(([\dA-Z]\.\d+)\)", re.sub(r"`[^`]*`|\$[^$]*\$", "", text(notebook_path)))} <= given


@pytest.mark.parametrize("row", ROWS, ids=[row.get("number", row.get("section")) for row in ROWS])
def test_links_lead_where_they_say(row):
    assert ("number" in row) != ("section" in row)
    if "section" in row:
        page, anchor = row["section"].split("#")
        assert anchor in map(slugify, re.findall("^#{1,3} (.+)$", text(CHAPTERS / page), re.MULTILINE))
    names, citations = [f"attnlib.{name}" for name in row.get("code", [])], row.get("paper", [])
    assert [name for name in names if not locate(name)] == []
    assert [c for c in citations if names and not any(cites(name, c) for name in names)] == []
    assert [name for name in names if not any(cites(name, c) for c in citations)] == []
