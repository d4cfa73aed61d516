"""Every equation that a chapter numbers stands in the concordance, and each of its links leads where it says."""

import re
from functools import cache
from itertools import chain
from pathlib import Path
from pydoc import locate

import nbformat
import pytest
from mdit_py_plugins.anchors.index import slugify

BOOK = Path(__file__).parents[2] / "book"
LINK = re.compile(r"\[`?([^]`]+)`?\]\(([^#)]+)#([^)]+)\)")
TABLES = (BOOK / "notation.md").read_text("utf-8").partition("\n## Equations\n")[2].split("\n### ")[1:]
ROWS = [  # the link to the chapter, what each paper has it as, the names of the code
    (
        LINK.search(here).groups(),
        [place if place[0].isupper() else f"{table.splitlines()[0]}, {place}" for place in places.split("; ")],
        [name for _, _, name in LINK.findall(code)],
    )
    for table in TABLES
    for places, here, _, code in (line.strip("| ").split(" | ") for line in table.splitlines() if "](" in line)
]


@cache
def text(notebook: Path) -> str:
    """Read what the Markdown cells of a notebook say."""
    return "\n".join(c.source for c in nbformat.read(notebook, as_version=4).cells if c.cell_type == "markdown")


@cache
def numbers(notebook: Path) -> dict[str, list[str]]:
    """List the numbers of the equations below each heading, by the heading's anchor."""
    by_anchor, anchor = {}, ""
    for heading, number in re.findall(r"^#{1,3} (.+)$|\\tag\{(.+?)\}", text(notebook), re.MULTILINE):
        anchor = slugify(heading) if heading else anchor
        by_anchor.setdefault(anchor, []).extend([number] if number else [])
    return by_anchor


def cites(name: str, citation: str) -> bool:
    """Tell whether the docstring of what has this name cites this equation or section of this paper."""
    paper, kind, number = re.fullmatch(r"(.+), (\w+)\.? (.+)", citation).groups()
    text = " ".join(locate(name).__doc__.split())
    return bool(re.search(rf"{paper}((?!et al\.).)*?\b{kind}s?\.? ([\dA-C.]+,? (and )?)*{number}(?!\.?\w)", text))


def test_equations_are_numbered_in_order_and_every_one_is_listed_once(notebook_paths):
    written = [[number for below in numbers(path).values() for number in below] for path in notebook_paths]
    assert sorted(shown for (shown, *_), *_ in ROWS if shown[0].isdigit()) == sorted(chain(*written))
    for of_chapter in written:
        assert [int(number.split(".")[1]) for number in of_chapter] == [*range(1, len(of_chapter) + 1)]


def test_a_number_in_the_text_is_that_of_an_equation(notebook_path, notebook_paths):
    given = {number for path in notebook_paths for below in numbers(path).values() for number in below}
    assert {*re.findall(r"\(([\dA-Z]\.\d+)\)", re.sub(r"`[^`]*`|\$[^$]*\$", "", text(notebook_path)))} <= given


@pytest.mark.parametrize(("link", "citations", "names"), ROWS, ids=[link[0] for link, *_ in ROWS])
def test_links_lead_where_they_say(link, citations, names):
    shown, page, anchor = link
    below = numbers((BOOK / page).resolve())[anchor]
    assert shown in below or not shown[0].isdigit()
    assert [name for name in names if not locate(name)] == []
    assert [c for c in citations if names and not any(cites(name, c) for name in names)] == []
    assert [name for name in names if not any(cites(name, c) for c in citations)] == []
