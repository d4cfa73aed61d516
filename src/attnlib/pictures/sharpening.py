"""The sliding picture: sharpen or flatten a softmax, and watch its weights and the answer move.

Each thing that can be looked at has a row: a bar shows its weight, and on the axis of values beside it a disc, sized by
its weight, stands at its value. The answer, the average of the values with these weights, is a line across the axis.
"""

from collections.abc import Sequence
from html import escape
from math import sqrt
from typing import Any

import numpy as np
from jaxtyping import Real

from attnlib.attention import masked_softmax
from attnlib.pictures.cards import (
    KEYS,
    Card,
    card,
    check_all,
    checked_numbers,
    checked_text,
    checked_words,
    details,
    framed,
    two_decimals,
    width,
)
from attnlib.shapes import Array

_TOP, _PITCH = 44, 32  # pixels: the middle of the first row, and from row to row
_BAR, _AXIS, _ROOM = 80, 110, 42  # pixels: a bar of weight 1, the axis of values, and what a number beside it needs
_DISC = 11  # pixels: the radius of a disc of weight 1
_STOPS = np.array([0, *(float(f"{stop:.1e}") for stop in np.geomspace(0.1, 100, 31))])  # where the slider can stop
_START = _STOPS.tolist().index(1)


def sharpen(scores: Real[Array, "src"], values: Real[Array, "src"], words: Sequence[str], *, unit: str = "") -> Card:
    """Show the softmax of scores times a sharpness that the reader moves, and the average that follows from it.

    Parameters
    ----------
    scores : ``"src"``
        How well the query matches each key, at sharpness 1.
    values : ``"src"``
        What each has to say, in `unit`.
    words : words
        What they are.
    unit : str
        The unit of the values.

    Returns
    -------
    Card
        As the value of a cell it shows itself.

    Notes
    -----
    ``figures.sharpen(compass @ asked, degrees[:, 0], winds, unit="degrees")``
    """
    words = checked_words(words, "words")
    scores = _numbers(scores, "scores", len(words), _STOPS[-1])
    values = _numbers(values, "values", len(words))
    checked_text(unit, "unit")
    weights = masked_softmax(_STOPS[:, None] * scores)
    weights, answers = weights.round(4), (weights @ values).round(4)
    head = ["sharpness", *words, f"answer ({unit})" if unit else "answer"]
    rows = [
        [f"{stop:g}", *(f"{weight:.4f}" for weight in row), f"{answer:.4f}"]
        for stop, row, answer in zip(_STOPS, weights, answers, strict=True)
    ]
    body = [
        '<div class="attnlib-controls" hidden><label>sharpness '
        f'<input {KEYS} type="range" min="0" max="{len(_STOPS) - 1}" step="1" value="{_START}"><b></b></label></div>',
        f'<p class="attnlib-shown">sharpness {_STOPS[_START]:g}</p>',
        framed(_picture(words, values, weights[_START], float(answers[_START]), unit)),
        details("The weights and the answer at each sharpness", head, rows),
    ]
    return card("sharpening", "\n".join(body), f"Softmax of {len(words)} scores, sharpness 0 to {_STOPS[-1]:g}")


def _numbers(x: Any, name: str, src: int, factor: float = 1.0) -> Real[np.ndarray, "src"]:
    x = checked_numbers(x, name, (src,), "one number per word")
    most = np.finfo(float).max / 4 / factor
    check_all(np.abs(x) <= most, x, name, f"numbers of at most {most:g}")
    return x


def _picture(
    words: list[str], values: Real[np.ndarray, "src"], weights: Real[np.ndarray, "src"], answer: float, unit: str
) -> str:
    """Draw one stop of the slider. The script moves what is drawn here, by the axis that it finds in the picture."""
    left = 12 + width(words)
    axis, bottom = left + _BAR + _ROOM + 18, _TOP + _PITCH * len(words)
    low, high = float(values.min()), float(values.max())
    span = high - low or 1.0
    size = axis + _AXIS + 18 + _ROOM, bottom + 30
    rows = []
    for n, (word, value, weight) in enumerate(zip(words, values, weights, strict=True)):
        y = _TOP + _PITCH * n
        x = axis + _AXIS * (value - low) / span
        rows.append(
            f'<g><text x="{left - 6}" y="{y + 5}" text-anchor="end">{escape(word)}</text>'
            f'<rect class="attnlib-track" x="{left}" y="{y - 8}" width="{_BAR}" height="16"></rect>'
            f'<rect class="attnlib-bar" x="{left}" y="{y - 8}" width="{_BAR * weight:.2f}" height="16"></rect>'
            f'<text class="attnlib-weight" x="{left + _BAR + 6}" y="{y + 5}">{two_decimals(weight)}</text>'
            f'<circle class="attnlib-dot" cx="{x:.1f}" cy="{y}" r="{2 + _DISC * sqrt(weight):.2f}"></circle>'
            f'<text x="{axis + _AXIS + 18}" y="{y + 5}">{value:g}</text></g>'
        )
    x = f"{axis + _AXIS * (answer - low) / span:.1f}"
    description = "; ".join(f"{word} {two_decimals(weight)}" for word, weight in zip(words, weights, strict=True))
    axis_name = f"value ({unit})" if unit else "value"
    return (
        f'<svg role="img" width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}" '
        f'data-axis="{axis} {_AXIS} {low:g} {span:g} {_BAR} {_DISC}" data-unit="{escape(unit)}">'
        f"<title>Weights and answer</title><desc>{escape(description)}. The answer is {two_decimals(answer)}.</desc>"
        f'<text class="muted" x="{left}" y="14">weight</text>'
        f'<text class="muted" x="{axis + _AXIS / 2:g}" y="14" text-anchor="middle">{escape(axis_name)}</text>'
        f'<line class="attnlib-grid" x1="{axis}" x2="{axis + _AXIS}" y1="{bottom}" y2="{bottom}"></line>'
        f'<line class="attnlib-context" x1="{x}" x2="{x}" y1="22" y2="{bottom + 6}"></line>'
        f'<text class="attnlib-answer" x="{x}" y="{bottom + 22}" text-anchor="middle">{two_decimals(answer)}</text>'
        f"{''.join(rows)}</svg>"
    )
