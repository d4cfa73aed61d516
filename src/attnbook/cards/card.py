"""Interactive cards and tables, shown as the value of a cell, in all chapters.

A card is HTML with a table and a script that replaces the table by an interactive figure. It needs neither a network
nor a kernel, and follows the page's light or dark theme. The copy that a notebook stores has neither script nor
weights: the book's pages add them, and elsewhere, as on GitHub or on paper, the table is shown. A card has no HTML
ids, so that a page can have any number of cards, and the same data give the same bytes.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Real

from attnlib.checks import brief, check_words
from attnlib.shapes import Array

_NO_MATHEMATICS = "tex2jax_ignore mathjax_ignore"  # classes in which MathJax leaves a user's words alone

_FOLDER = Path(__file__).parent
_BEGIN, _END = "<!-- carried -->", "<!-- /carried -->"


@dataclass(frozen=True)
class Card:
    """An interactive figure or a table that a notebook, Colab, and the book show as the value of a cell.

    Attributes
    ----------
    html : str
        HTML of the figure or the table.
    text : str
        Text that is shown without HTML.
    """

    html: str
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Card:
    """Build a table of words and numbers.

    Parameters
    ----------
    head : sequence of str
        Column headings.
    rows : iterable of sequences
        Entries of each row; the first one is the row's heading. Floats get two decimals. An entry may have
        ``attributes`` for its cell, as a `Spread` of `attnbook.experiments.ranges` has.
    """
    rows = [list(row) for row in rows]
    cells = [[*map(_entry, row)] for row in rows]
    for n, row in enumerate(cells):
        if len(row) != len(head) or not row:
            raise ValueError(f"rows[{n}] has {len(row)} cells; expected {len(head)}, as many as head, at least one")
    lines = [
        f'<th scope="row">{escape(_entry(first))}</th>'
        + "".join(f"<td{getattr(x, 'attributes', '')}>{escape(_entry(x))}</td>" for x in others)
        for first, *others in rows
    ]
    html = f'<table class="table dataframe {_NO_MATHEMATICS}">\n{_parts(head, lines)}\n</table>'
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    text = "\n".join(
        "  ".join([first.ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(others, widths[1:], strict=True))])
        for first, *others in (head, *cells)
    )
    return Card(html.replace("–", "–\u2060"), text)  # no line break in a range


def _entry(x: object) -> str:
    """Format an entry of a table; numbers of NumPy and torch are shown as Python's, and none as -0.00."""
    x = x.item() if hasattr(x, "item") and getattr(x, "ndim", None) == 0 else x
    return f"{x:z.2f}" if isinstance(x, float) else str(x)


@dataclass(frozen=True)
class Question:
    """A question that a card asks first, and answers after an experiment by the reader.

    In its texts, words between asterisks are emphasized, and words between underscores are French.

    Attributes
    ----------
    text : str
        The question.
    choices : sequence of str
        Answers to choose from.
    right : int
        Index of the right answer, from 0.
    answer : str
        Explanation; an empty line begins a paragraph.
    tried : mapping
        What the reader has to do before the answer is shown. The functions that take questions define its form.
    """

    text: str
    choices: Sequence[str]
    right: int
    answer: str
    tried: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not 0 <= self.right < len(self.choices):
            raise ValueError(f"right is {self.right}; expected the position of one of {len(self.choices)} choices")

    def around(self, still: str, below: bool = False) -> str:
        """Return HTML with the question above the table, or below it, and its answer at the end."""
        labels = "\n".join(f'<label><input type="radio">{styled(choice)}</label>' for choice in self.choices)
        paragraphs = "".join(f"<p>{styled(part)}</p>" for part in self.answer.split("\n\n"))
        form = (
            f'<fieldset class="at-ask"><legend>{styled(self.text)} <b>Guess first.</b></legend>\n'
            f'<div class="at-line">{labels}</div><div class="at-verdict" role="status"></div></fieldset>\n'
        )
        answer = f'<details class="at-answer"><summary>What happens, and why</summary>{paragraphs}</details>\n'
        return f"{still}{form}{answer}" if below else f"{form}{still}{answer}"


def card(
    kind: str,
    body: str,
    data: Mapping[str, Any],
    text: str,
    models: Sequence[Mapping[str, Any]] = (),
    *,
    question: Question | None = None,
    below: bool = False,
) -> Card:
    """Build a card from its table and the data of its script.

    Parameters
    ----------
    kind : str
        Kind of the card; its style and script are ``kind.css`` and ``kind.js`` beside this module.
    body : str
        HTML in which text from outside is escaped. The script replaces elements of the class ``at-still``.
    data : mapping
        Data that the script reads.
    text : str
        Text that is shown without HTML.
    models : sequence of dict, optional
        Packed models that the script runs, as `attnbook.cards.packing.pack` returns them.
    question : Question, optional
        A question that the card asks first.
    below : bool, default False
        Whether the question stands below the table.
    """
    classes = f"attnlib-card attnlib-{kind} {_NO_MATHEMATICS}"
    opening = f'<div class="{classes}" data-lm-suppress-shortcuts="true">'  # JupyterLab leaves the keys to the card
    weights = "".join(
        f'<script type="application/json" data-model="{model_digest(model)}">{embedded(model)}</script>\n'
        for model in models
    )
    names = files(kind, bool(models))
    body = question.around(body, below) if question else body
    assets = f"<style>\n{read_assets(names, 'css')}</style>\n{weights}<script>\n{read_assets(names, 'js')}</script>"
    inside = f'{opening}\n{body}<script type="application/json">{embedded(data)}</script></div>'
    return Card(f"{inside}\n{_BEGIN}{assets}{_END}", text)


def sortable_table(head: Sequence[str], rows: Iterable[str], text: str, above: str = "") -> Card:
    """Build a table that is sorted by the column whose heading is pressed.

    A cell's attribute ``data-size`` is the number that it is sorted by. `text` is shown without HTML, `above` above the
    table.
    """
    region = f'class="at-scroll" tabindex="0" role="region" aria-label="{escape(text)}"'
    return card("sorter", f"{above}<div {region}><table>{_parts(head, rows)}</table></div>\n", {}, text)


def still_table(above: str, head: Sequence[str], rows: Iterable[str]) -> str:
    """Return the table that replaces a card where there are no scripts, with HTML `above` it.

    The rows are the HTML of their cells.
    """
    return f'<div class="at-still"><p>{above}</p>{_wide(head, rows)}</div>\n'


def weight_table(head: Sequence[str], names: Sequence[str], weights: Float[np.ndarray, "rows columns"]) -> str:
    """Return a table of weights with the names of its rows; the ground of a cell is as strong as its weight."""
    rows = [
        f'<th scope="row">{escape(word)}</th>'
        + "".join(f'<td style="--w: {weight:.2f}">{two_decimals(weight)}</td>' for weight in row)
        for word, row in zip(names, weights, strict=True)
    ]
    return _wide(["", *head], rows)


def _wide(head: Sequence[str], rows: Iterable[str]) -> str:
    """Return a table that is scrolled where it is wider than the card."""
    return f'<div class="at-scroll"><table>{_parts(head, rows)}</table></div>'


def _parts(head: Sequence[str], rows: Iterable[str]) -> str:
    """Return the head and the body of a table of rows of HTML."""
    columns = "".join(f'<th scope="col">{escape(name)}</th>' if name else "<td></td>" for name in head)
    lines = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f"<thead><tr>{columns}</tr></thead>\n<tbody>{lines}</tbody>"


def files(kind: str, models: bool) -> tuple[str, ...]:
    """Return the names of the scripts and styles of a card, in loading order."""
    french, light = kind in ("comparison", "demo"), kind in ("comparison", "differences", "searchlights")
    return *["models"] * models, "cards", *["french"] * (french and models), *["light"] * light, kind


def read_assets(names: Iterable[str], ending: str, folder: Path = _FOLDER) -> str:
    """Read scripts or styles and join them."""
    paths = (folder / f"{name}.{ending}" for name in names)
    return "".join(path.read_text("utf-8") for path in paths if path.exists())


def without_assets(html: str) -> str:
    """Remove styles, scripts and weights from cards, as in stored outputs."""
    return re.sub(f"{_BEGIN}.*?{_END}", _BEGIN + _END, html, flags=re.DOTALL)


def model_digest(packed: Mapping[str, Any]) -> str:
    """Compute a short digest of a packed model, the same on every machine."""
    return sha256(json.dumps(packed, sort_keys=True).encode()).hexdigest()[:12]


def styled(text: str) -> str:
    """Escape a text, and set words between asterisks or underscores in italics."""
    return re.sub(r"_(.+?)_", r'<i lang="fr">\1</i>', re.sub(r"\*(.+?)\*", r"<i>\1</i>", escape(text)))


def embedded(data: Mapping[str, Any]) -> str:
    """Encode data as JSON that is safe inside a script element."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c").replace("&", "\\u0026")


def checked_weights(
    name: str, weights: Real[Array, "tgt src"], target: Sequence[str], source: Sequence[str]
) -> Float[np.ndarray, "tgt src"]:
    """Return weights as a NumPy array, or raise an error if they do not fit their words."""
    check_words("target", target)
    check_words("source", source)
    return checked_numbers(name, weights, (len(target), len(source)), "(target words, source words)")


def checked_numbers(name: str, x: Real[Array, "..."], shape: tuple[int, ...], of: str) -> Float[np.ndarray, "..."]:
    """Return numbers as a NumPy array, or raise an error if their shape is another, or one of them is not finite.

    The error calls the numbers `name`, and says what their shape is `of`.
    """
    try:
        numbers = to_numpy(x)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {brief(x)}; expected numbers") from None
    if numbers.shape != shape or not numbers.size:
        raise ValueError(f"{name} has shape {numbers.shape}; expected {shape}, {of}, none of them 0")
    check_all(np.isfinite(numbers), numbers, name, "finite numbers")
    return numbers


def to_numpy(x: Real[Array, "..."]) -> Float[np.ndarray, "..."]:
    """Return numbers, of a tensor of any type and device too, as a NumPy array in float64."""
    return np.asarray(x.detach().cpu().double() if hasattr(x, "detach") else x, dtype=float)


def check_all(fits: Bool[np.ndarray, "..."], x: Float[np.ndarray, "..."], name: str, expected: str) -> None:
    """Raise a ValueError that names the first number out of its range."""
    if not fits.all():
        raise ValueError(f"{name} holds {x[~fits][0]:g}; expected {expected}")


def two_decimals(number: int | float) -> str:
    """Format a number with two decimals, rounding a half up as the scripts do."""
    return f"{floor(100 * number + 0.5) / 100:.2f}"
