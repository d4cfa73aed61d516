"""The letters of the equations and the names of the code explain themselves.

The table of notation, `book/notation.toml`, says what each of them is. In the chapters every letter of an equation is
found in it, or the book is not built.
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from math_core import LatexToMathML

TABLE = Path(__file__).parents[2] / "book" / "notation.toml"
INDICES = frozenset("tijkS0123456789−+,⋅ ")
CONVERTER = LatexToMathML(annotation=True, fancy_error=False, macros={"ldots": "…"})


@cache
def table() -> dict[str, dict[str, dict[str, Any]]]:
    """Read the table: groups of letters, each under its name, and the list of equations."""
    return tomllib.loads(TABLE.read_text("utf-8"))


@cache
def rows() -> dict[str, dict[str, Any]]:
    """Gather the letters of all groups."""
    return {name: row for group in table().values() if isinstance(group, dict) for name, row in group.items()}


def element(tex: str, display: bool = False) -> ElementTree.Element:
    """Convert TeX to MathML that carries the TeX with it."""
    made = CONVERTER.convert_with_local_state(tex, displaystyle=display)
    root = ElementTree.fromstring(made.replace("&ApplyFunction;", "\N{FUNCTION APPLICATION}"))
    for sign in root.iter("mo"):
        if sign.text == "⊙":
            sign.set("largeop", "false")  # Firefox takes it for a sum
    return root


def spelled(node: ElementTree.Element) -> str:
    """Spell the one letter that a node shows, with what stands above it and below: indices are all written `_`.

    Of anything else the spelling is empty.
    """
    if node.tag in {"mi", "mo"}:
        return node.text * (len(node.text) == 1)
    if node.tag in {"mover", "msub", "msubsup"}:
        letter, beside = spelled(node[0]), "".join(node[1].itertext())
        index = "_" + beside * (not INDICES.issuperset(beside))
        return letter and letter + (beside if node.tag == "mover" else index)
    return ""


@cache
def meanings() -> dict[str, list[str]]:
    """Name the rows that a letter may mean, by its spelling."""
    by_letter: dict[str, list[str]] = {}
    for name, row in rows().items():
        for tex in row["letters"]:
            by_letter.setdefault(spelled(element(tex)[0][0]), []).append(name)
    return by_letter


def closest(names: list[str], page: str) -> str | None:
    """Choose the row that holds on a page below `notebooks`, one for this page before one for the book."""
    here = [name for name in names if page.startswith(tuple(rows()[name].get("where", [""])))]
    return max(here, key=lambda name: "where" in rows()[name], default=None)


def mathml(tex: str, display: bool, page: str | None = None) -> str:
    """Convert TeX to MathML; with a page, every letter of it names, in `data-letter`, its row of the table."""
    root = element(tex, display)
    if page is not None:
        mark(root, page)
    return ElementTree.tostring(root, encoding="unicode")


def mark(node: ElementTree.Element, page: str) -> None:
    """Name in every letter, in `data-letter`, the row that it means; a letter that has none is an error."""
    letter = spelled(node)
    if name := closest(meanings().get(letter, []), page):
        node.set("data-letter", name)
    elif letter.isalpha() or (letter[:1].isalpha() and "_" in letter):
        raise LookupError(f"the letter {letter}")
    for below in node[2:] if name else node:
        mark(below, page)
