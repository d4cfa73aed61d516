"""Bahdanau's and Luong's models side by side: five numbered differences, and Luong's window as a second idea.

Buttons light up one difference at a time. They are radio buttons, so the card has no script; without them, as on
GitHub, all five are shown.
"""

import re
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from attnbook.cards import schematic
from attnbook.cards.card import Card, card
from attnbook.cards.schematic import COLUMN, ROW, ModelDiagram, Part


class _Side(NamedTuple):
    """What a difference is in one model: in words, its arrows as pairs of rows, and where its number stands."""

    words: str
    arrows: set[str]
    x: float
    y: float


def _side(words: str, arrows: str, x: float, y: float) -> _Side:
    return _Side(re.sub(r"\b(\w\u0303?)_(\w(−1)?)", r"<i>\1</i><sub>\2</sub>", words), {*arrows.split()}, x, y)


_DIFFERENCES = {
    "Query": (_side("the old state, s_t−1", "sc", 0.6, 3.2), _side("the new state, s_t", "sc", 2.02, 3.2)),
    "Encoder": (_side("bidirectional", "hh", 2.4, 0.52), _side("backward", "hh", 2.4, 0.6)),
    "Score": (
        _side("a network: vᵀ tanh(W s + U h)", "hc", 0.42, 1.9),
        _side("a product: sᵀ W h, or sᵀ h", "hc", 0.42, 1.9),
    ),
    "Context enters": (
        _side("the state s_t", "cs", 1.72, 3.2),
        _side("a layer above the state, s\u0303_t", "c~ s~ ~y", 1.42, 4.12),
    ),
    "Input feeding": (
        _side("none: s_t already depends on c_t", "cs ss", 3.6, 3.8),
        _side("s\u0303_t enters the next state (optional)", "~s", 3.55, 4.45),
    ),
}
_MODELS = {"Bahdanau et al. 2015": schematic.BAHDANAU, "Luong et al. 2015": schematic.LUONG_FEEDING}
_ROWS = {"x": "source", "h": "annotations", "c": "contexts", "s": "states", "~": "attentional", "y": "target"}
_SCORES = "vᵀ tanh(Ws+Uh)", "sᵀ W h"
_LEFT = 114  # pixels on the left of a drawing
_WINDOW = (
    "Luong’s second idea is a window: only the annotations from <i>p</i><sub>t</sub> − <i>D</i> to "
    "<i>p</i><sub>t</sub> + <i>D</i> have weights. Local-m sets <i>p</i><sub>t</sub> = <i>t</i>. Local-p computes "
    "<i>p</i><sub>t</sub> from <i>s</i><sub>t</sub>, and lowers the weights of annotations far from it."
)


def draw_differences(code: Sequence[tuple[str, str]] = ()) -> Card:
    """Draw Bahdanau's and Luong's models side by side, with five numbered differences and Luong's window.

    The reader chooses a number; what differs is marked in both drawings and in the table below them.

    Parameters
    ----------
    code : sequence of pairs of str, optional
        For each of the five differences, a line of code of Bahdanau's model and one of Luong's, for the table.

    Returns
    -------
    Card
        The drawings and the table, as the value of a cell. It has no script.

    Raises
    ------
    ValueError
        If `code` has another number of pairs than none or five.
    """
    if len(code) not in (0, len(_DIFFERENCES)):
        raise ValueError(f"code has {len(code)} pairs; expected {len(_DIFFERENCES)}, one for each difference")
    buttons = "".join(
        f'<input type="radio" name="attnlib-difference" class="at-n{n}" aria-label="{name}"{" checked" * (not n)}>'
        for n, name in enumerate(["All five", *(f"{n} {name}" for n, name in enumerate(_DIFFERENCES, 1))])
    )
    figures = "".join(
        f"<figure><figcaption>{title}</figcaption>{_draw(model, side)}</figure>"
        for side, (title, model) in enumerate(_MODELS.items())
    )
    rows = "".join(
        f'<tr class="at-k{n}"><th scope="row"><b>{n}</b> {name}</th>'
        + "".join(
            f"<td>{side.words}{''.join(f'<code>{escape(line[m])}</code>' for line in code[n - 1 : n])}</td>"
            for m, side in enumerate(sides)
        )
        + "</tr>"
        for n, (name, sides) in enumerate(_DIFFERENCES.items(), 1)
    )
    body = (
        f'{buttons}\n<div class="at-two">{figures}</div>\n'
        '<table><thead><tr><td></td><th scope="col">Bahdanau</th><th scope="col">Luong</th></tr></thead>'
        f'<tbody>{rows}</tbody></table>\n<div class="at-two">{_draw_window()}<p>{_WINDOW}</p></div>\n'
    )
    told = "; ".join(
        f"{name}: {_plain(sides[0].words)}, against {_plain(sides[1].words)}" for name, sides in _DIFFERENCES.items()
    )
    return card("schematic", body, {}, f"Bahdanau and Luong side by side. {told}. {_plain(_WINDOW)}")


def _plain(text: str) -> str:
    return re.sub("<.*?>", "", text)


def _draw(model: ModelDiagram, side: int) -> str:
    """Draw a model with the numbers of the differences; what belongs to a difference has its class."""
    parts, arrows = schematic.parts_of(model), schematic.arrows_of(model)
    sides = [each[side] for each in _DIFFERENCES.values()]
    classes = {ends: {n for n, one in enumerate(sides, 1) if ends[0][0] + ends[1][0] in one.arrows} for ends in arrows}
    touched = {name: set().union(*(ns for ends, ns in classes.items() if name in ends)) for name in parts}
    rows = {name[0]: part.y for name, part in parts.items()}
    drawn = [
        *(
            schematic.draw_arrow(parts, ends, arrow, _kind("at-weight" if arrow.weighs else "at-old", classes[ends]))
            for ends, arrow in arrows.items()
        ),
        *(schematic.draw_part(name, part, _kind("at-old", touched[name])) for name, part in parts.items()),
        *(schematic.draw_label(-28, -ROW * y, _ROWS[row], "end") for row, y in rows.items()),
        f'<g class="{_kind("at-old", {3})}">{schematic.draw_label(-8, -1.9 * ROW, _SCORES[side], "end")}</g>',
        *(_badge(n, one.x, one.y) for n, one in enumerate(sides, 1)),
    ]
    told = " ".join([*schematic.describe(model), *(f"{n}: {_plain(one.words)}." for n, one in enumerate(sides, 1))])
    return f"{schematic.open_svg(told, parts['y1'].y, left=_LEFT)}{''.join(drawn)}</svg>"


def _kind(kind: str, numbers: set[int]) -> str:
    return " ".join([kind, "at-k", *(f"at-k{n}" for n in sorted(numbers))])


def _badge(n: int, x: float, y: float) -> str:
    at = f'="{COLUMN * x:.1f}" ', f'="{-ROW * y:.1f}"'
    circle = f'<circle cx{at[0]}cy{at[1]} r="9" fill="#a84300"></circle>'
    text = f'<text x{at[0]}y="{4 - ROW * y:.1f}" text-anchor="middle" font-size="12" fill="#fff">{n}</text>'
    return f'<g class="{_kind("at-badge", {n})}">{circle}{text}</g>'


def _draw_window() -> str:
    """Draw a context over a window of five of seven annotations."""
    weights = {2: 0.08, 3: 0.22, 4: 0.45, 5: 0.18, 6: 0.07}
    parts = {f"h{i}": Part(0.8 * (i - 1), 0.9, f"h_{i}") for i in range(1, 8)} | {"c": Part(2.4, 2.4, "c_t")}
    frame = f'x="{0.42 * COLUMN:.1f}" y="{-1.3 * ROW:.1f}" width="{3.96 * COLUMN:.1f}" height="{0.8 * ROW:.1f}"'
    drawn = [
        f'<rect {frame} rx="8" class="at-frame" fill="none" stroke="currentColor" stroke-dasharray="4 3"></rect>',
        *(
            schematic.draw_arrow(parts, (f"h{i}", "c"), schematic.Arrow(0.4 + 7 * weight, weighs=True), "at-weight")
            for i, weight in weights.items()
        ),
        *(
            schematic.draw_part(name, part, "at-old" if name == "c" or int(name[1]) in weights else "at-old at-far")
            for name, part in parts.items()
        ),
        *(
            schematic.draw_label(COLUMN * x, -0.1 * ROW, text)
            for x, text in ((1.2, "D words"), (2.4, "p_t"), (3.6, "D words"))
        ),
    ]
    return f"{schematic.open_svg(_plain(_WINDOW), 2.5, left=26)}{''.join(drawn)}</svg>"
