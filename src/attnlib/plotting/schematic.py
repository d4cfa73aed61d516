"""A schematic of a model: words read, annotations, what the decoder is told of them, its states, words written.

One drawing serves every model of the book, over two steps of its decoder. A model says which parts it has; what
another one lacks can be marked as new.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

INK, WEIGHT, NEW = "#444444", "#0072B2", "#C44500"
"""The colours of what is drawn, of weights, and of what is new or acts."""

_ROWS = {"x": 0.0, "h": 1.0, "c": 2.6, "s": 3.8, "~": 4.9, "y": 5.9}  # heights of the rows of parts
_WIDE = 4.8  # from the first to the last column
_SOURCE, _TARGET = ("the", "black", "cat", "sleeps"), ("BOS", "le", "chat")
_WEIGHTS = (0.84, 0.06, 0.06, 0.04), (0.06, 0.18, 0.7, 0.06)  # of the source words, at the steps of "le" and "chat"
_NAMES = {"x": "source words", "h": "annotations", "c": "contexts", "s": "decoder states"}
_NAMES |= {"~": "attentional states", "y": "target words"}
_SHAPES = {"h": "round,pad=0.35", "s": "round,pad=0.35", "~": "round,pad=0.35", "c": "circle,pad=0.3"}


@dataclass(frozen=True)
class ModelDiagram:
    """What a schematic shows of a model.

    Attributes
    ----------
    attends : bool
        Whether each step has a context of its own. Without attention one summary serves all steps.
    forwards : bool
        Whether the encoder reads from the first word to the last as well as from the last to the first.
    steps_first : bool
        Whether the new state asks, and an attentional state is made of it and the context. Otherwise the state
        before asks, and the new one is made with the context.
    feeds : bool
        Whether an attentional state is fed to the next step.
    writes_first : bool
        Whether a word is written from the state before and the context. Otherwise from the new state.
    """

    attends: bool = True
    forwards: bool = True
    steps_first: bool = False
    feeds: bool = False
    writes_first: bool = False


NO_ATTENTION = ModelDiagram(attends=False)
"""The RNNencdec of Bahdanau et al. 2015, section 2.1, with an encoder that reads both ways, as their RNNsearch has."""

BAHDANAU = ModelDiagram()
"""The RNNsearch of Bahdanau et al. 2015, section 3."""

BAHDANAU_APPENDIX = ModelDiagram(writes_first=True)
"""The same as its appendix A.2.2 and its authors' code have it, and as `attnlib.decoders.BahdanauDecoder` is."""

NO_ATTENTION_APPENDIX = replace(NO_ATTENTION, writes_first=True)
"""Without attention, a word written from the state before: as `attnlib.decoders.FixedContextDecoder` is."""

LUONG_FEEDING = ModelDiagram(forwards=False, steps_first=True, feeds=True)
"""Global attention with the input feeding of Luong et al. 2015, sections 3.1 and 3.3, the source read reversed."""


class _Part(NamedTuple):
    """A word or a vector: where it is, and what stands on it."""

    x: float
    y: float
    text: str


class _Arrow(NamedTuple):
    """What is made from what: how thick, in which style, how much bent."""

    width: float = 1.2
    style: str = "-"
    bend: float = 0.0
    colour: str = INK


def draw_model(model: ModelDiagram, *, compare_to: ModelDiagram | None = None) -> Axes:
    """Draw a model over two steps of its decoder: what is made from what, and which arrows carry a weight.

    Their thickness only illustrates: it comes from no trained model.

    Parameters
    ----------
    model : ModelDiagram
        What it has.
    compare_to : ModelDiagram, optional
        A model that is known already: what it lacks is marked as new.

    Returns
    -------
    Axes
        In a new figure, without an axis: positions mean nothing here.

    Notes
    -----
    After Bahdanau et al. 2015, figure 1, and Luong et al. 2015, figures 2 to 4. What else a word is written from,
    such as the context in Bahdanau's readout, is left out.
    """
    parts, arrows = _parts(model), _arrows(model)
    low, high = -0.4, parts["y1"].y + 0.4
    ax = plt.subplots(figsize=(5.5, 0.5 + 0.66 * (high - low)), dpi=120, layout="constrained")[1]
    old_parts, old_arrows = (_parts(compare_to), _arrows(compare_to)) if compare_to else (parts, arrows)
    for name, part in parts.items():
        _draw_part(ax, name, part, new=name not in old_parts)
    for ends, arrow in arrows.items():
        _draw_arrow(ax, *(parts[end] for end in ends), arrow, "-".join(ends), new=ends not in old_arrows)
    names = _NAMES if model.attends else _NAMES | {"c": "summary"}
    for row, y in {name[0]: part.y for name, part in parts.items()}.items():
        ax.text(-0.65, y, names[row], ha="right", va="center", color=INK)
    ax.set(xlim=(-3.0, _WIDE + 0.55), ylim=(low, high))
    ax.axis("off")
    if keys := _keys(model, compare_to):
        ax.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=len(keys), frameon=False)
    return ax


def _parts(model: ModelDiagram) -> dict[str, _Part]:
    """Lay out words and vectors: the row's letter and the number name each."""
    heights = _ROWS if model.steps_first else _ROWS | {"y": _ROWS["~"]}
    columns = np.linspace(0, _WIDE, len(_SOURCE)).tolist()
    parts = {}
    for i, (x, word) in enumerate(zip(columns, _SOURCE, strict=True), 1):
        parts |= {f"x{i}": _Part(x, heights["x"], word), f"h{i}": _Part(x, heights["h"], f"$h_{{{i}}}$")}
    if not model.attends:
        parts["c"] = _Part(_WIDE / 2, heights["c"], "$c$")
    for t, word in enumerate(_TARGET):
        x = _WIDE * t / 2
        parts |= {f"s{t}": _Part(x, heights["s"], f"$s_{t}$"), f"y{t}": _Part(x, heights["y"], word)}
        if t and model.attends:
            parts[f"c{t}"] = _Part(x - _WIDE / 4, heights["c"], f"$c_{t}$")
        if t and model.steps_first:
            parts[f"~{t}"] = _Part(x, heights["~"], rf"$\tilde{{s}}_{t}$")
    return parts


def _arrows(model: ModelDiagram) -> dict[tuple[str, str], _Arrow]:
    """List what is made from what, by the names of the parts."""
    src = len(_SOURCE)
    arrows = {(f"x{i}", f"h{i}"): _Arrow() for i in range(1, src + 1)}
    for i, j in pairwise(range(1, src + 1)):
        arrows[f"h{j}", f"h{i}"] = _Arrow(bend=0.3 * model.forwards)
        if model.forwards:
            arrows[f"h{i}", f"h{j}"] = _Arrow(bend=0.3)
    arrows["h1", "s0"] = _Arrow()
    if not model.attends:
        arrows |= {("h1", "c"): _Arrow(2.5), (f"h{src}", "c"): _Arrow(2.5)}
    for t in (1, 2):
        before, state, word, context = f"s{t - 1}", f"s{t}", f"y{t}", f"c{t}" if model.attends else "c"
        told = f"~{t}" if model.steps_first else state
        arrows |= {(before, state): _Arrow(), (f"y{t - 1}", state): _Arrow()}
        if model.writes_first:
            arrows |= {(before, word): _Arrow(), (context, word): _Arrow(2.5)}
        else:
            arrows[told, word] = _Arrow()
        if model.attends:
            for i, weight in enumerate(_WEIGHTS[t - 1], 1):
                arrows[f"h{i}", context] = _Arrow(0.4 + 7 * weight, colour=WEIGHT)
            arrows[state if model.steps_first else before, context] = _Arrow(1.6, (0, (3, 2)))
        arrows[context, told] = _Arrow(2.5, bend=-0.25 * model.steps_first)
        if model.steps_first:
            arrows[state, told] = _Arrow()
    if model.feeds:
        arrows["~1", "s2"] = _Arrow(2.5)
    return arrows


def _draw_part(ax: Axes, name: str, part: _Part, *, new: bool) -> None:
    colour = NEW if new else INK
    frame = {"facecolor": "white", "edgecolor": colour, "linewidth": 2.2 if new else 1.2}
    box = {"bbox": frame | {"boxstyle": _SHAPES[name[0]]}} if name[0] in _SHAPES else {}
    ink, size = (INK, 9) if name == "y0" else (NEW if new else "black", 12)
    ax.text(part.x, part.y, part.text, ha="center", va="center", color=ink, fontsize=size, zorder=3, gid=name, **box)


def _draw_arrow(ax: Axes, start: _Part, end: _Part, arrow: _Arrow, name: str, *, new: bool) -> None:
    ink = {"color": NEW if new else arrow.colour, "linewidth": arrow.width + new, "linestyle": arrow.style}
    style = {"arrowstyle": arrow_head(arrow.width), "mutation_scale": 14, "connectionstyle": f"arc3,rad={arrow.bend}"}
    shrink = {"shrinkA": 13, "shrinkB": 13 + arrow.width}
    ax.annotate("", xy=end[:2], xytext=start[:2], zorder=1, gid=name, arrowprops=ink | style | shrink)


def arrow_head(width: float) -> str:
    """Shape the head of an arrow that is so many points wide."""
    return f"-|>,head_width={0.12 + width / 25},head_length={0.22 + width / 20}"


def _keys(model: ModelDiagram, compare_to: ModelDiagram | None) -> list[Line2D]:
    """Explain the kinds of arrow that there are."""
    newly_attends = compare_to is not None and not compare_to.attends
    newly_asked = newly_attends or (compare_to is not None and compare_to.steps_first != model.steps_first)
    colour, asking = NEW if newly_attends else WEIGHT, NEW if newly_asked else INK
    kinds = [("weights: the thicker, the more", colour, 4.0, "-"), ("asks", asking, 1.6, (0, (3, 2)))]
    kinds = kinds * model.attends + [("new", NEW, 2.5, "-")] * (compare_to is not None)
    return [
        Line2D([], [], color=ink, linewidth=width, linestyle=style, label=text) for text, ink, width, style in kinds
    ]
