"""Schematics of models: source words, annotations, contexts, decoder states, and target words.

One drawing serves every model of the book, over two decoder steps. Parts that another model lacks can be marked as new.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

INK, WEIGHT, NEW = "#444444", "#0072B2", "#C44500"
"""Colors of ordinary parts, of weights, and of new parts."""

_ROWS = {"x": 0.0, "h": 1.0, "c": 2.6, "s": 3.8, "~": 4.9, "y": 5.9}  # heights of the rows of parts
_WIDE = 4.8  # from the first to the last column
_SOURCE, _TARGET = ("the", "black", "cat", "sleeps"), ("BOS", "le", "chat")
_WEIGHTS = (0.84, 0.06, 0.06, 0.04), (0.06, 0.18, 0.7, 0.06)  # of the source words, at the steps of "le" and "chat"
_NAMES = {"x": "source words", "h": "annotations", "c": "contexts", "s": "decoder states"}
_NAMES |= {"~": "attentional states", "y": "target words"}
_SHAPES = {"h": "round,pad=0.35", "s": "round,pad=0.35", "~": "round,pad=0.35", "c": "circle,pad=0.3"}


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


class _Part(NamedTuple):
    """Word or vector at its position."""

    x: float
    y: float
    text: str


class _Arrow(NamedTuple):
    """Arrow from one part to another: its width, style and bend."""

    width: float = 1.2
    style: str = "-"
    bend: float = 0.0
    color: str = INK


def draw_model(model: ModelDiagram, *, compare_to: ModelDiagram | None = None) -> Axes:
    """Draw a model over two decoder steps.

    The widths of the arrows illustrate weights; they come from no trained model.

    Parameters
    ----------
    model : ModelDiagram
        The model.
    compare_to : ModelDiagram, optional
        A second model; what it lacks is marked as new.

    Returns
    -------
    Axes
        Axes of a new figure, without ticks or frame.

    Notes
    -----
    After Bahdanau et al. 2015, figure 1, and Luong et al. 2015, figures 2 to 4. Further inputs of the output layer,
    such as the context in Bahdanau's readout, are left out.
    """
    parts, arrows, old = _parts(model), _arrows(model), compare_to or model
    old_parts, old_arrows = _parts(old), _arrows(old)
    low, high = -0.4, parts["y1"].y + 0.4
    ax = plt.subplots(figsize=(5.5, 0.5 + 0.66 * (high - low)), dpi=120, layout="constrained")[1]
    for name, part in parts.items():
        _draw_part(ax, name, part, new=name not in old_parts)
    for ends, arrow in arrows.items():
        _draw_arrow(ax, *(parts[end] for end in ends), arrow, "-".join(ends), new=ends not in old_arrows)
    names = _NAMES if model.attends else _NAMES | {"c": "summary"}
    for row, y in {name[0]: part.y for name, part in parts.items()}.items():
        ax.text(-0.65, y, names[row], ha="right", va="center", color=INK)
    ax.set(xlim=(-3.0, _WIDE + 0.55), ylim=(low, high))
    ax.axis("off")
    if keys := _keys(model, old):
        ax.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=len(keys), frameon=False)
    return ax


def _parts(model: ModelDiagram) -> dict[str, _Part]:
    """Return words and vectors by name: the letter of their row and a number."""
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
    """Return the arrows between parts, by the names of the parts."""
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
                arrows[f"h{i}", context] = _Arrow(0.4 + 7 * weight, color=WEIGHT)
            arrows[state if model.steps_first else before, context] = _Arrow(1.6, (0, (3, 2)))
        arrows[context, told] = _Arrow(2.5, bend=-0.25 * model.steps_first)
        if model.steps_first:
            arrows[state, told] = _Arrow()
    if model.feeds:
        arrows["~1", "s2"] = _Arrow(2.5)
    return arrows


def _draw_part(ax: Axes, name: str, part: _Part, *, new: bool) -> None:
    color = NEW if new else INK
    frame = {"facecolor": "white", "edgecolor": color, "linewidth": 2.2 if new else 1.2}
    box = {"bbox": frame | {"boxstyle": _SHAPES[name[0]]}} if name[0] in _SHAPES else {}
    ink, size = (INK, 9) if name == "y0" else (NEW if new else "black", 12)
    ax.text(part.x, part.y, part.text, ha="center", va="center", color=ink, fontsize=size, zorder=3, gid=name, **box)


def _draw_arrow(ax: Axes, start: _Part, end: _Part, arrow: _Arrow, name: str, *, new: bool) -> None:
    ink = {"color": NEW if new else arrow.color, "linewidth": arrow.width + new, "linestyle": arrow.style}
    head = f"-|>,head_width={0.12 + arrow.width / 25},head_length={0.22 + arrow.width / 20}"
    style = {"arrowstyle": head, "mutation_scale": 14, "connectionstyle": f"arc3,rad={arrow.bend}"}
    shrink = {"shrinkA": 13, "shrinkB": 13 + arrow.width}
    ax.annotate("", xy=end[:2], xytext=start[:2], zorder=1, gid=name, arrowprops=ink | style | shrink)


def _keys(model: ModelDiagram, old: ModelDiagram) -> list[Line2D]:
    """Return the legend handles of the kinds of arrow."""
    same_query = old.attends and old.steps_first == model.steps_first
    color, query = WEIGHT if old.attends else NEW, INK if same_query else NEW
    kinds = [("weights: the thicker, the more", color, 4.0, "-"), ("query", query, 1.6, (0, (3, 2)))]
    kinds = kinds * model.attends + [("new", NEW, 2.5, "-")] * (old != model)
    return [
        Line2D([], [], color=ink, linewidth=width, linestyle=style, label=text) for text, ink, width, style in kinds
    ]
