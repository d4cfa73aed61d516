"""What a cell shows of itself: tables, and figures of HTML that a reader can touch, with what these have in common.

A card is HTML, inline SVG and a small script, and asks nothing of the network, of a kernel or of a theme. It stands
on white, in light pages and in dark ones. Without its script it is a plain picture, with its numbers in a table.
Nothing in a card has an id, so that any number of them share a page, and the same data give the same bytes.
"""

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

LARGEST = 40_000
"""What a card may weigh, in bytes, style and script among them."""

_LETTER = 8.4  # pixels that a letter needs at 14 pixels' height; the wide letters of East Asia need two such

KEYS = 'data-lm-suppress-shortcuts="true"'
"""Marks whatever can have the focus: otherwise JupyterLab would take keys pressed there as meant for itself."""

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Card:
    """A figure that a notebook, Colab and the book show where it is the value of a cell.

    Attributes
    ----------
    html : str
        All of it.
    text : str
        What is said of it where HTML is not shown.
    """

    html: str
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Table:
    """A table that a notebook, Colab and the book show where it is the value of a cell.

    Attributes
    ----------
    head : words
        The column headings.
    rows : sequences of str
        The first of each is the row's heading.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __post_init__(self) -> None:
        for n, row in enumerate(self.rows):
            if len(row) != len(self.head) or not row:
                raise ValueError(
                    f"rows[{n}] has {len(row)} cells; expected {len(self.head)}, as many as head, at least one"
                )

    @property
    def body(self) -> str:
        """Write the HTML of head and rows, everything escaped, without the table's own mark."""
        columns = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in self.head)
        lines = "\n".join(
            f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{_unbroken(cell)}</td>" for cell in cells)}</tr>'
            for first, *cells in self.rows
        )
        return f"<thead><tr>{columns}</tr></thead>\n<tbody>{lines}</tbody>"

    def _repr_html_(self) -> str:
        return f'<table class="table dataframe">\n{self.body}\n</table>'

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        lines = [
            "  ".join([first.ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(cells, widths[1:], strict=True))])
            for first, *cells in (self.head, *self.rows)
        ]
        return "\n".join(lines)


def table(head: Sequence[str], rows: Iterable[Sequence[object]], digits: int = 2) -> Table:
    """Lay out words and numbers, to be shown as the value of a cell.

    Parameters
    ----------
    head : words
        The column headings.
    rows : sequences
        What stands in each row; the first entry is its heading.
    digits : int
        The decimals of numbers that are not whole.
    """
    return Table(head, [[f"{x:.{digits}f}" if isinstance(x, float) else str(x) for x in row] for row in rows])


def card(kind: str, body: str, text: str, largest: int = LARGEST) -> Card:
    """Add to a figure's body the style that all cards share, and the style and the script of its kind.

    Parameters
    ----------
    kind : str
        Its style and its script are ``kind.css`` and ``kind.js`` beside this module. They know it by its class,
        ``attnlib-kind``.
    body : str
        HTML, in which words from outside have been escaped.
    text : str
        What is said where HTML is not shown.
    largest : int
        What it may weigh, in bytes.
    """
    names = ("cards.css", f"{kind}.css", f"{kind}.js")
    shared, style, script = ((_FOLDER / name).read_text(encoding="utf-8") for name in names)
    # the last two keep MathJax from reading a user's words as mathematics
    classes = f"attnlib-card attnlib-{kind} tex2jax_ignore mathjax_ignore"
    opening = f'<div class="{classes}">\n<style>\n{shared}{style}</style>'
    html = f'{opening}\n<div class="attnlib-inside">{body}\n</div></div>\n<script>\n{script}</script>'
    size = len(html.encode())
    if size > largest:
        raise ValueError(
            f"the figure would take {size} bytes; expected at most {largest}: show fewer words, variants or steps"
        )
    return Card(html, text)


def embedded(data: Mapping[str, Any]) -> str:
    """Write data as JSON that can stand in a page's script, whatever words it holds."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c").replace("&", "\\u0026")


def checked_words(words: Any, name: str) -> list[str]:
    """Return the words as a list, or raise an error that names the argument."""
    if isinstance(words, str) or not isinstance(words, Sequence):
        raise TypeError(f"{name} is {words!r}; expected a sequence of words")
    if not words:
        raise ValueError(f"{name} is empty; expected at least one word")
    for n, word in enumerate(words):
        if not isinstance(word, str):
            raise TypeError(f"{name}[{n}] is {word!r}; expected a word")
    return list(words)


def checked_numbers(x: Any, name: str, shape: tuple[int, ...] | None = None, of: str = "") -> Float[np.ndarray, "..."]:
    """Return real numbers as an array of floats, or raise an error that names the argument; `of` explains the shape."""
    try:
        numbers = np.asarray(x)
    except (TypeError, ValueError, RuntimeError) as error:  # rows of several lengths; a tensor with a gradient
        raise TypeError(f"{name} is a {type(x).__name__} that is no array: {error}; expected numbers") from error
    if numbers.size and numbers.dtype.kind not in "biuf":
        raise TypeError(f"{name} is a {type(x).__name__} and holds {numbers.dtype}; expected numbers")
    if shape not in (None, numbers.shape):
        raise ValueError(f"{name} has shape {numbers.shape}; expected {shape}, {of}")
    return numbers.astype(float)


def check_all(fits: Bool[np.ndarray, "..."], x: Float[np.ndarray, "..."], name: str, expected: str) -> None:
    """Raise an error that names the argument and the first number that does not fit, if there is one."""
    if not fits.all():
        raise ValueError(f"{name} holds {x[~fits][0]:g}; expected {expected}")


def checked_mapping(x: Any, name: str, kind: str) -> Mapping[str, Any]:
    """Return a mapping from titles that holds something, or raise an error that names the argument."""
    if not isinstance(x, Mapping):
        raise TypeError(f"{name} is a {type(x).__name__}; expected for each {kind} its numbers")
    if not x:
        raise ValueError(f"{name} is empty; expected at least one {kind}")
    return x


def checked_text(text: Any, name: str) -> str:
    """Return a string, or raise an error that names the argument."""
    if not isinstance(text, str):
        raise TypeError(f"{name} is {text!r}; expected a str")
    return text


def width(words: Sequence[str]) -> int:
    """Estimate how many pixels the longest word takes, rather too many than too few."""
    letters = (sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in word) for word in words)
    return ceil(max(letters) * _LETTER)


def two_decimals(number: int | float) -> str:
    """Print a number to two decimals, a half always up, as the scripts do; Python's own rounding differs in that."""
    return f"{floor(100 * number + 0.5) / 100:.2f}"


def framed(picture: str) -> str:
    """Put a picture where it scrolls inside itself, with room below it for what the script says aloud."""
    return f'{_scrolling("the picture", " attnlib-picture")}\n{picture}</div>\n<p role="status"></p>'


def details(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table that stays folded until a reader opens it, and scrolls inside itself.

    Parameters
    ----------
    caption : str
    head : words
        The column headings.
    rows : sequences of str
        The first of each is the row's heading.

    Returns
    -------
    str
        HTML, everything escaped.
    """
    return (
        f"<details><summary {KEYS}>The numbers as a table</summary>\n"
        f"{_scrolling('the numbers as a table')}<table><caption>{escape(caption)}</caption>\n"
        f"{Table(head, rows).body}</table></div></details>"
    )


def _scrolling(label: str, more: str = "") -> str:
    """Open a box that scrolls inside itself, and that keys can reach."""
    return f'<div class="attnlib-scroll{more}" {KEYS} tabindex="0" role="group" aria-label="{label}">'


def _unbroken(cell: str) -> str:
    """Escape a cell, and keep what stands to both sides of a ± on one line."""
    return escape(cell).replace(" ± ", "\u00a0±\u00a0")
