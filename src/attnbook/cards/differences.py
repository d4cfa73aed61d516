"""Bahdanau's and Luong's models side by side (chapter 4): both learn on one sentence, then five differences are lit.

Without scripts, on paper and in few colors the five differences are a table.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from attnbook.cards.card import Card, card, still_table
from attnbook.cards.french import glosses


class _Difference(NamedTuple):
    """A difference: its name, what Luong's model has, what Bahdanau's has, and its explanation; Luong's is above."""

    name: str
    luong: str
    bahdanau: str
    says: str


_CONTENTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_DIFFERENCES = [_Difference(**each) for each in _CONTENTS["differences"]]
STATIONS = 0, 60, 120, 200, 280, 335, 450, 3000  # steps at which the card stops to say what both models write


def draw_differences(code: Sequence[tuple[str, str]], bahdanau: Mapping[str, Any], luong: Mapping[str, Any]) -> Card:
    """Draw both models' trainings on one sentence, and five differences.

    The English sentence stands in the middle. The French words are lamps; their light falls on the English words as
    the weights say. The reader watches both models learn, chooses a difference and a French word, and sees it drawn in
    both halves.

    Parameters
    ----------
    code : sequence of pairs of str
        For each of the five differences, a line of code of Bahdanau's model and one of Luong's.
    bahdanau, luong : mapping
        What each model wrote and where it looked, as `attnbook.experiments.learning.read_learning` returns it.
    """
    if len(code) != len(_DIFFERENCES):
        raise ValueError(f"code has {len(code)} pairs; expected {len(_DIFFERENCES)}, one for each difference")
    recorded = {"Luong": luong, "Bahdanau": bahdanau}
    written = {word for one in recorded.values() for text in one["words"] for word in text.split()}
    data = {
        "source": luong["source"].split(),
        "right": luong["target"].split(),
        "gloss": {word: gloss for word, gloss in glosses().items() if word in written},
        "rows": [
            {"title": title} | {key: one[key] for key in ("steps", "loss", "light", "words", "weights")}
            for title, one in recorded.items()
        ],
        "stations": STATIONS,
        "names": [one.name for one in _DIFFERENCES],
        "says": [_typeset(one.says) for one in _DIFFERENCES],
    }
    sides = [
        {"Luong": _typeset(one.luong) + _code(lines[1]), "Bahdanau": _typeset(one.bahdanau) + _code(lines[0])}
        for one, lines in zip(_DIFFERENCES, code, strict=True)
    ]
    codes = "".join(
        f"<div hidden>{''.join(f'<p><b>{title}</b> {says}</p>' for title, says in side.items())}</div>"
        for side in sides
    )
    rows = [
        f'<th scope="row">{one.name}</th>{"".join(f"<td>{says}</td>" for says in side.values())}'
        for one, side in zip(_DIFFERENCES, sides, strict=True)
    ]
    still = still_table("Five differences", ("", "Luong", "Bahdanau"), rows)
    summary = "; ".join(f"{one.name}: {one.luong}, against {one.bahdanau}" for one in _DIFFERENCES)
    return card("differences", f'<div class="at-codes">{codes}</div>{still}', data, f"Luong and Bahdanau. {summary}")


def _typeset(text: str) -> str:
    return re.sub(r"\b(\w\u0303?)_(\w(−1)?)", r"<i>\1</i><sub>\2</sub>", escape(text))


def _code(line: str) -> str:
    """Write a line of code that breaks between its parts only."""
    return f"<code>{re.sub(r'(?<=[,(.])', '<wbr>', escape(line))}</code>"
