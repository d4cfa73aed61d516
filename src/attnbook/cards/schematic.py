"""Schematics of models (chapters 1 to 3): source words, annotations, contexts, decoder states, and target words.

One drawing serves every model of the book, over two decoder steps. Parts that another model lacks can be marked as new.
"""

from collections.abc import Set
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from attnbook.cards.card import Card, card

_ROWS = {"x": 0.0, "h": 1.0, "c": 2.6, "s": 3.8, "~": 4.9, "y": 5.9}  # heights of the rows of parts
_WIDE = 4.8  # from the first to the last column
_SOURCE, _TARGET = ("the", "black", "cat", "sleeps"), ("(start)", "le", "chat")
_WEIGHTS = (0.84, 0.06, 0.06, 0.04), (0.06, 0.18, 0.7, 0.06)  # of the source words, at the steps of "le" and "chat"
_NAMES = {"x": "source words", "h": "annotations", "c": "contexts", "s": "decoder states"}
_NAMES |= {"~": "attentional states", "y": "target words"}
COLUMN, ROW = 52, 46  # pixels of the units
_LEFT, _RIGHT, _TOP, _BELOW, _KEYS = 142, 26, 14, 12, 28  # pixels around the drawing, and of the line of keys


@dataclass(frozen=True)
class ModelDiagram:
    """Parts of a model that a schematic shows.

    Attributes
    ----------
    attends : bool, default True
        Whether each step has its own context. Otherwise one vector serves all steps.
    forwards : bool, default True
        Whether the encoder is bidirectional. Otherwise it reads from the last word to the first.
    steps_first : bool, default False
        Whether the new state is the query, and an attentional state is computed from it and the context. Otherwise the
        previous state is the query, and the new one is computed with the context.
    feeds : bool, default False
        Whether the attentional state is fed to the next step.
    writes_first : bool, default False
        Whether a word is predicted from the previous state and the context. Otherwise from the new state.
    """

    attends: bool = True
    forwards: bool = True
    steps_first: bool = False
    feeds: bool = False
    writes_first: bool = False


NO_ATTENTION = ModelDiagram(attends=False)
"""RNNencdec of Bahdanau et al. 2015, section 2.1, with a bidirectional encoder, as their RNNsearch has."""

BAHDANAU = ModelDiagram()
"""RNNsearch of Bahdanau et al. 2015, section 3."""

BAHDANAU_APPENDIX = ModelDiagram(writes_first=True)
"""RNNsearch as in appendix A.2.2 and its authors' code, and as in `attnlib.decoders.BahdanauDecoder`."""

NO_ATTENTION_APPENDIX = replace(NO_ATTENTION, writes_first=True)
"""No attention, and words predicted from the previous state, as in `attnlib.decoders.FixedContextDecoder`."""

LUONG_FEEDING = ModelDiagram(forwards=False, steps_first=True, feeds=True)
"""Global attention with input feeding of Luong et al. 2015, sections 3.1 and 3.3, with a backward encoder."""


class Part(NamedTuple):
    """Word or vector at its position."""

    x: float
    y: float
    text: str


class Arrow(NamedTuple):
    """Arrow from one part to another: its width, dashes and bend."""

    width: float = 1.2
    dashed: bool = False
    bend: float = 0.0
    weighs: bool = False


def draw_model(model: ModelDiagram, *, compare_to: ModelDiagram | None = None) -> Card:
    """Draw a model over two decoder steps.

    The widths of the arrows illustrate weights; they come from no trained model.

    Parameters
    ----------
    model : ModelDiagram
        The model.
    compare_to : ModelDiagram, optional
        A second model; what it lacks is marked as new.

    Notes
    -----
    After Bahdanau et al. 2015, figure 1, and Luong et al. 2015, figures 2 to 4. Further inputs of the output layer,
    such as the context in Bahdanau's readout, are left out.
    """
    parts, arrows, old = parts_of(model), arrows_of(model), compare_to or model
    new_parts, new_arrows = parts.keys() - parts_of(old).keys(), arrows.keys() - arrows_of(old).keys()
    names = _NAMES if model.attends else _NAMES | {"c": "summary"}
    rows = {name[0]: part.y for name, part in parts.items()}
    kinds = {ends: "at-weight" if arrow.weighs else "at-old" for ends, arrow in arrows.items()}
    kinds |= dict.fromkeys(new_arrows, "at-new")
    drawn = [
        *(draw_arrow(parts, ends, arrow, kinds[ends]) for ends, arrow in arrows.items()),
        *(draw_part(name, part, "at-new" if name in new_parts else "at-old") for name, part in parts.items()),
        *(draw_label(-28, -ROW * y, names[row], "end") for row, y in rows.items()),
    ]
    keys = _draw_keys(model, old)
    summary = " ".join([*describe(model), *_describe_new(new_parts, new_arrows)])
    svg = open_svg(summary, parts["y1"].y, below=_KEYS * bool(keys))
    return card("schematic", f"{svg}{''.join(drawn + keys)}</svg>\n", {}, summary)


def open_svg(label: str, top: float, *, right: int = _RIGHT, below: int = 0) -> str:
    """Open a drawing up to a row, with so many pixels on its right and so many more below it."""
    width, height = _LEFT + COLUMN * _WIDE + right, _TOP + ROW * top + _BELOW
    view = f"{-_LEFT} {_BELOW - height:.0f} {width:.0f} {height + below:.0f}"
    return f'<svg role="img" aria-label="{escape(label)}" viewBox="{view}" fill="currentColor" style="width: 100%">'


def parts_of(model: ModelDiagram) -> dict[str, Part]:
    """Return words and vectors by name: the letter of their row and a number."""
    heights = _ROWS if model.steps_first else _ROWS | {"y": _ROWS["~"]}
    columns = np.linspace(0, _WIDE, len(_SOURCE)).tolist()
    parts: dict[str, Any] = {}
    for i, (x, word) in enumerate(zip(columns, _SOURCE, strict=True), 1):
        parts |= {f"x{i}": Part(x, heights["x"], word), f"h{i}": Part(x, heights["h"], f"h_{i}")}
    if not model.attends:
        parts["c"] = Part(_WIDE / 2, heights["c"], "c")
    for t, word in enumerate(_TARGET):
        x = _WIDE * t / 2
        parts |= {f"s{t}": Part(x, heights["s"], f"s_{t}"), f"y{t}": Part(x, heights["y"], word)}
        if t and model.attends:
            parts[f"c{t}"] = Part(x - _WIDE / 4, heights["c"], f"c_{t}")
        if t and model.steps_first:
            parts[f"~{t}"] = Part(x, heights["~"], f"s\N{COMBINING TILDE}_{t}")
    return parts


def arrows_of(model: ModelDiagram) -> dict[tuple[str, str], Arrow]:
    """Return the arrows between parts, by the names of the parts."""
    src = len(_SOURCE)
    arrows = {(f"x{i}", f"h{i}"): Arrow() for i in range(1, src + 1)}
    for i, j in pairwise(range(1, src + 1)):
        arrows[f"h{j}", f"h{i}"] = Arrow(bend=0.3 * model.forwards)
        if model.forwards:
            arrows[f"h{i}", f"h{j}"] = Arrow(bend=0.3)
    arrows["h1", "s0"] = Arrow()
    if not model.attends:
        arrows |= {("h1", "c"): Arrow(2.5), (f"h{src}", "c"): Arrow(2.5)}
    for t in (1, 2):
        before, state, word, context = f"s{t - 1}", f"s{t}", f"y{t}", f"c{t}" if model.attends else "c"
        writer = f"~{t}" if model.steps_first else state
        arrows |= {(before, state): Arrow(), (f"y{t - 1}", state): Arrow()}
        if model.writes_first:
            arrows |= {(before, word): Arrow(), (context, word): Arrow(2.5)}
        else:
            arrows[writer, word] = Arrow()
        if model.attends:
            for i, weight in enumerate(_WEIGHTS[t - 1], 1):
                arrows[f"h{i}", context] = Arrow(0.4 + 7 * weight, weighs=True)
            arrows[state if model.steps_first else before, context] = Arrow(1.6, dashed=True)
        arrows[context, writer] = Arrow(2.5, bend=-0.25 * model.steps_first)
        if model.steps_first:
            arrows[state, writer] = Arrow()
    if model.feeds:
        arrows["~1", "s2"] = Arrow(2.5)
    return arrows


def draw_part(name: str, part: Part, kind: str) -> str:
    """Draw a word, or a vector or a computation in its shape: a circle where words are averaged or added."""
    x, y = COLUMN * part.x, -ROW * part.y
    outline = 'fill="none" stroke="currentColor"'
    shape = ""
    if name[0] in "hs~fgk":
        shape = f'<rect x="{x - 15:.1f}" y="{y - 12:.1f}" width="30" height="24" rx="6" {outline}></rect>'
    elif name[0] in "capqz":
        shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{9 if name[0] in "pq" else 14}" {outline}></circle>'
    return f'<g data-part="{name}" class="{kind}">{shape}{draw_label(x, y, part.text)}</g>'


def draw_arrow(parts: dict[str, Part], ends: tuple[str, str], arrow: Arrow, kind: str) -> str:
    """Draw an arrow that ends where its parts begin; a bend moves the middle sideways, by a share of the length."""
    start, end = (complex(COLUMN * parts[name].x, -ROW * parts[name].y) for name in ends)
    middle = (start + end) / 2 + 1j * arrow.bend * (end - start)
    ahead = (end - middle) / abs(end - middle)
    width, tip = 0.85 * arrow.width, end - 16 * ahead
    base, side = tip - (5 + 0.75 * width) * ahead, (2.4 + 0.6 * width) * 1j * ahead
    begin = start + 16 * (middle - start) / abs(middle - start)
    path = f"M{_point(begin)}Q{_point(middle)} {_point(base)}"
    dashes = ' stroke-dasharray="5 3.5"' if arrow.dashed else ""
    return (
        f'<g data-part="{"-".join(ends)}" class="{kind}">'
        f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="{width:.2f}"{dashes}></path>'
        f'<polygon points="{" ".join(map(_point, (tip, base - side, base + side)))}"></polygon></g>'
    )


def _point(z: complex) -> str:
    return f"{z.real:.1f} {z.imag:.1f}"


def draw_label(x: int | float, y: int | float, text: str, anchor: str = "middle") -> str:
    """Write words, or a letter with an index, such as ``h_1``. What is not in the middle explains the drawing."""
    letter, _, index = text.partition("_")
    if len(letter) < 3 and letter not in _TARGET:
        text = f'<tspan font-style="italic">{letter}</tspan><tspan dy="4" font-size="10">{index}</tspan>'
    style = 'font-size="13"' if anchor == "middle" else 'font-size="12" class="at-soft"'
    return f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="{anchor}" {style}>{text}</text>'


def _draw_keys(model: ModelDiagram, old: ModelDiagram) -> list[str]:
    """Draw what explains the kinds of arrow."""
    same_query = old.attends and old.steps_first == model.steps_first
    kinds = [("weights: the thicker, the more", "at-weight" if old.attends else "at-new", 4.0, "")] * model.attends
    kinds += [("query", "at-old" if same_query else "at-new", 1.5, "5 3.5")] * model.attends
    kinds += [("new", "at-new", 2.5, "")] * (old != model)
    keys, x = [], 8.0 - _LEFT
    for text, kind, width, dashes in kinds:
        stroke = f'stroke="currentColor" stroke-width="{width}" stroke-dasharray="{dashes}"'
        line = f'<line x1="{x:.0f}" y1="{_KEYS}" x2="{x + 22:.0f}" y2="{_KEYS}" {stroke}></line>'
        keys.append(f'<g class="{kind}">{line}</g>{draw_label(x + 28, _KEYS, text, "start")}')
        x += 46 + 6.4 * len(text)
    return keys


def describe(model: ModelDiagram) -> list[str]:
    """Say what a drawing shows."""
    query = "new" if model.steps_first else "previous"
    written = "previous state and the context" if model.writes_first else "new state"
    linked = "in both directions" if model.forwards else "from right to left"
    context = [
        "The first and the last annotation lead to one vector c, the first also to the state s0.",
        "The vector c leads to each new state.",
    ]
    if model.attends:
        context = [
            "The first annotation leads to the state s0.",
            "For each step, arrows as thick as their weights lead from all annotations to a context, "
            f"and so does a dashed one from the {query} state.",
            "The context leads to the new state."
            if not model.steps_first
            else "The context and the new state lead to an attentional state.",
        ]
    last = "attentional state" if model.steps_first else written
    return [
        f"A model over two steps. Source words lead up to annotations, which are linked {linked}.",
        *context,
        f"Each state leads to the next, and so does the word before. A word is written from the {last}.",
        *["The attentional state leads to the next decoder state."] * model.feeds,
    ]


def _describe_new(parts: Set[str], arrows: Set[tuple[str, str]]) -> list[str]:
    """Say which parts and arrows are marked as new."""
    kinds = [*(_NAMES[row] for row in sorted({name[0] for name in parts}))]
    kinds += [f"arrows from {_NAMES[a]} to {_NAMES[b]}" for a, b in sorted({(a[0], b[0]) for a, b in arrows})]
    return [f"Marked as new: {', '.join(kinds)}."] if kinds else []
