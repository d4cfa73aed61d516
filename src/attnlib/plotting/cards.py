"""What a cell shows of itself: tables, and figures of HTML that a reader can touch, with what these have in common.

A card is HTML, a still picture, and a script that puts something to touch in its place. It asks nothing of the network
or of a kernel, and is light or dark as the page is. What a notebook stores of it has neither script nor weights: the
book's pages bring them, and where nothing does, on GitHub or on paper, the picture stays. Nothing in a card has an id,
so that any number of them share a page, and the same data give the same bytes.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

_LETTER = 8.4  # pixels that a letter needs at 14 pixels' height; the wide letters of East Asia need two such

_FOLDER = Path(__file__).parent
_BEGIN, _END = "<!-- carried -->", "<!-- /carried -->"


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


def card(kind: str, body: str, data: Mapping[str, Any], text: str, models: Sequence[Mapping[str, Any]] = ()) -> Card:
    """Make a card of its still version and of the data from which its script makes what a reader can touch.

    Parameters
    ----------
    kind : str
        Its style and its script are ``kind.css`` and ``kind.js`` beside this module.
    body : str
        HTML, in which words from outside have been escaped; the script replaces what is of the class ``at-still``.
    data : mapping
        What the script reads.
    text : str
        What is said where HTML is not shown.
    models : packed models
        Those that it runs.
    """
    # the last two keep MathJax from reading a user's words as mathematics
    classes = f"attnlib-card attnlib-{kind} tex2jax_ignore mathjax_ignore"
    opening = f'<div class="{classes}" data-lm-suppress-shortcuts="true">'  # JupyterLab leaves the keys to the card
    weights = "".join(
        f'<script type="application/json" data-model="{digest(model)}">{embedded(model)}</script>\n' for model in models
    )
    names = files(kind, bool(models))
    carried = f"<style>\n{read(names, 'css')}</style>\n{weights}<script>\n{read(names, 'js')}</script>"
    inside = f'{opening}\n{body}<script type="application/json">{embedded(data)}</script></div>'
    return Card(f"{inside}\n{_BEGIN}{carried}{_END}", text)


def files(kind: str, models: bool) -> tuple[str, ...]:
    """Name the scripts and styles that a card of this kind needs, in their order."""
    return ("recurrent", "cards", kind) if models else ("cards", kind)


def read(names: Iterable[str], ending: str) -> str:
    """Read scripts, or styles where there are some, one after the other."""
    paths = (_FOLDER / f"{name}.{ending}" for name in names)
    return "".join(path.read_text("utf-8") for path in paths if path.exists())


def without_carried(html: str) -> str:
    """Take out what cards carry for a kernel's reader, style, scripts and weights: stored outputs have none."""
    return re.sub(f"{_BEGIN}.*?{_END}", _BEGIN + _END, html, flags=re.DOTALL)


def digest(packed: Mapping[str, Any]) -> str:
    """Name a packed model by its weights, parts and words: the same on every machine."""
    return sha256(json.dumps(packed, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Question:
    """What a card asks before it is touched, and explains when the reader has tried it.

    In its texts, words between asterisks are emphasized, and words between underscores are French.

    Attributes
    ----------
    text : str
        What is asked.
    choices : words
        The answers to choose from.
    right : int
        The place of the right one among them.
    answer : str
        Why; an empty line begins a paragraph.
    tried : mapping
        What the reader has to do until the answer has come out: the functions that take questions say how it is said.
    """

    text: str
    choices: Sequence[str]
    right: int
    answer: str
    tried: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not 0 <= self.right < len(self.choices):
            raise ValueError(f"right is {self.right}; expected the place of one of {len(self.choices)} choices")

    def around(self, still: str) -> str:
        """Write the question above a still picture, and its answer below."""
        labels = "\n".join(f'<label><input type="radio">{styled(choice)}</label>' for choice in self.choices)
        paragraphs = "".join(f"<p>{styled(part)}</p>" for part in self.answer.split("\n\n"))
        return (
            f'<fieldset class="at-ask"><legend>{styled(self.text)} <b>Guess first.</b></legend>\n'
            f'<div class="at-line">{labels}</div><div class="at-verdict" role="status"></div></fieldset>\n{still}'
            f'<details class="at-answer"><summary>What happens, and why</summary>{paragraphs}</details>\n'
        )


def styled(text: str) -> str:
    """Escape a text, and write what is between asterisks, or underscores, in italics."""
    return re.sub(r"_(.+?)_", r'<i lang="fr">\1</i>', re.sub(r"\*(.+?)\*", r"<i>\1</i>", escape(text)))


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


def letters(words: Iterable[str]) -> int:
    """Count the letters of the longest word; Chinese, Japanese and Korean ones are as wide as two."""
    return max(sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in word) for word in words)


def width(words: Iterable[str]) -> int:
    """Estimate how many pixels the longest word takes, rather too many than too few."""
    return ceil(letters(words) * _LETTER)


def two_decimals(number: int | float) -> str:
    """Print a number to two decimals, a half always up, as the scripts do; Python's own rounding differs in that."""
    return f"{floor(100 * number + 0.5) / 100:.2f}"


def _unbroken(cell: str) -> str:
    """Escape a cell, and keep what stands to both sides of a ± on one line."""
    return escape(cell).replace(" ± ", "\u00a0±\u00a0")
