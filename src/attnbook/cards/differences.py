"""Bahdanau's and Luong's models side by side (chapter 4): both learn on one sentence, then five differences are lit.

Without scripts, on paper and in few colors the five differences are a table.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from attnbook.cards.card import Card, card, still_table
from attnbook.cards.french import glosses


class _Difference(NamedTuple):
    """A difference: its name, what Luong's model has, what Bahdanau's has, and its explanation; Luong's is above."""

    name: str
    luong: str
    bahdanau: str
    says: str


_DIFFERENCES = (
    _Difference(
        "The query",
        "the new state, s_t",
        "the old state, s_t−1",
        "A lamp must be told where to look. Above, the state s_t stands at its own lamp; below, s_t−1 stands one step "
        "before it.",
    ),
    _Difference(
        "The encoder",
        "from right to left",
        "in both directions",
        "The English words are read before any lamp shines: above from right to left, below both ways. So Bahdanau’s "
        "lamps light annotations that know both their sides.",
    ),
    _Difference(
        "The score",
        "a product: s_tᵀ W h_i",
        "a network: vᵀ tanh(W s_t−1 + U h_i)",
        "How well does a word fit? Above, a product of two vectors says it; below, a network with weights of its own.",
    ),
    _Difference(
        "The context",
        "into a layer above the state, s\u0303_t",
        "into the state itself, s_t",
        "The light comes back as the context, c_t. Below, it helps to make the new state. Above, that state stands "
        "already, so the light joins it a layer higher.",
    ),
    _Difference(
        "What is fed",
        "s\u0303_t, if one chooses so (input feeding)",
        "nothing more: s_t depends on c_t",
        "Does the next step know where this one looked? Below it does, by way of s_t. Above it does only if s\u0303_t "
        "is fed, which it is not in this model.",
    ),
)
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
        (("Luong", one.luong, lines[1]), ("Bahdanau", one.bahdanau, lines[0]))
        for one, lines in zip(_DIFFERENCES, code, strict=True)
    ]
    codes = "".join(
        "<div hidden>"
        + "".join(f"<p><b>{title}</b> {_typeset(text)}{_code(line)}</p>" for title, text, line in side)
        + "</div>"
        for side in sides
    )
    rows = [
        f'<th scope="row">{one.name}</th>{"".join(f"<td>{_typeset(text)}{_code(line)}</td>" for _, text, line in side)}'
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
