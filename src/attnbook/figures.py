"""Plots with Matplotlib, for chapters 1 to 5 and the laboratory. Each function plots data and returns the axes.

All weights have one sequential color map that is also readable in gray, and curves differ in color, marker, and dash.
Words with letters that Matplotlib's font does not have, as in most languages of Asia, are drawn with an installed font
that has them; Matplotlib warns of letters that no font has. Dollar signs do not begin mathematics: a text is drawn as
it stands. No global setting of Matplotlib is changed. With the same fonts the same data give the same plot, whatever
style the reader has set; axes that the reader gives keep their style.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Real
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

from attnbook.cards.card import checked_weights
from attnlib.shapes import Array

WEIGHTS = LinearSegmentedColormap.from_list("weights", ["#ffffff", "#0072b2"])
"""Color map of all weights: white is 0, and the blue of the cards is 1."""

_FONT = "DejaVu Sans"  # Matplotlib's default, by its own name: "sans-serif" may be another one when a figure is drawn
_CELL = 0.42  # inches per word, wide enough for a weight of two decimals and for words on a slant
_LETTER = 0.09  # inches per letter of the default font
_LINE = 12  # inches side by side, in a column of text, in which words can still be read
_WHITE_INK = 239 / 256  # the least weight on whose color white text is more legible than black (WCAG 2)
CURVES: tuple[dict[str, Any], ...] = (
    {"color": "#0072B2", "marker": "o", "linestyle": "-"},
    {"color": "#D55E00", "marker": "s", "linestyle": "--"},
    {"color": "#009E73", "marker": "^", "linestyle": "-."},
    {"color": "#CC79A7", "marker": "D", "linestyle": ":"},
    {"color": "#000000", "marker": "v", "linestyle": (0, (5, 1, 1, 1, 1, 1))},
    {"color": "#E69F00", "marker": "P", "linestyle": (0, (8, 2))},
    {"color": "#56B4E9", "marker": "X", "linestyle": (0, (3, 1))},
)
"""Styles of curves: colors of Okabe and Ito, distinct under common forms of color blindness, markers and dashes."""


def in_default_style(plot: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function plot in Matplotlib's default style, whatever style is set where it is called."""

    @wraps(plot)
    def styled(*args: Any, **kwargs: Any) -> Any:
        before = set(plt.get_fignums())
        with plt.style.context(["default", {"font.family": _FONT}]):
            axes = plot(*args, **kwargs)
            for number in set(plt.get_fignums()) - before:
                plt.figure(number).draw_without_rendering()  # which makes the ticks that are still to be made
        return axes

    return styled


@in_default_style
def plot_alignment(
    weights: Real[Array, "tgt src"],
    source: Sequence[str],
    target: Sequence[str],
    ax: Axes | None = None,
    *,
    title: str = "",
    xlabel: str = "source",
    ylabel: str = "target",
    annotate: bool | None = None,
    colorbar: bool = True,
) -> Axes:
    """Plot attention weights as a heat map, a column for each source word.

    Parameters
    ----------
    weights
        Weights. The colors always span 0 to 1.
    source, target : sequence of str
        Labels of the columns and of the rows.
    ax : Axes, optional
        Axes to plot on. If None, a new figure, as large as the words need.
    title : str, default ""
        Title of the plot.
    xlabel, ylabel : str, default "source" and "target"
        Labels of the axes.
    annotate : bool, optional
        Whether each cell shows its weight, to two decimals. If None, only with at most 8 words per side.
    colorbar : bool, default True
        Whether there is a color bar.

    Notes
    -----
    The plot of Bahdanau et al. 2015, figure 3.
    """
    cells = checked_weights("weights", weights, target, source)
    ax = plt.subplots(figsize=_room(source, target), layout="constrained")[1] if ax is None else ax
    font: dict[str, Any] = {"fontfamily": _families([*source, *target, title, xlabel, ylabel]), "parse_math": False}
    image = ax.imshow(cells, cmap=WEIGHTS, vmin=0, vmax=1, aspect="equal", origin="upper", interpolation="nearest")
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.set_xticks(range(len(source)), source, rotation=45, rotation_mode="anchor", ha="left", va="center", **font)
    ax.set_yticks(range(len(target)), target, **font)
    ax.set_xlabel(xlabel, **font)
    ax.set_ylabel(ylabel, **font)
    ax.set_title(title, **font)
    ax.set_xticks(np.arange(1, len(source)) - 0.5, minor=True)
    ax.set_yticks(np.arange(1, len(target)) - 0.5, minor=True)
    ax.grid(False)
    ax.grid(which="minor", color="0.85", linewidth=0.5, linestyle="-", alpha=1)
    ax.tick_params(which="both", length=0)
    if annotate or (annotate is None and max(cells.shape) <= 8):
        for (t, i), weight in np.ndenumerate(cells):
            ink = "white" if weight >= _WHITE_INK else "black"
            ax.text(i, t, f"{weight:.2f}", ha="center", va="center", color=ink, fontsize="small")
    if colorbar:
        ax.figure.colorbar(image, ax=ax, label="weight", fraction=0.05, pad=0.02)
    return ax


@in_default_style
def plot_alignments(
    weights: Mapping[str, Real[Array, "tgt src"]],
    source: Sequence[str],
    target: Sequence[str],
    *,
    annotate: bool | None = None,
) -> list[Axes]:
    """Plot several alignments of one sentence pair, on one color scale.

    The plots are side by side, the target words on the left, if they fit; otherwise one below the other.

    Parameters
    ----------
    weights : mapping of str to array, shape (tgt, src)
        Weights by title. The colors always span 0 to 1.
    source, target : sequence of str
        Labels of the columns and of the rows of all plots.
    annotate : bool, optional
        Whether each cell shows its weight, to two decimals. If None, only with at most 8 words per side.
    """
    if not weights:
        raise ValueError("weights is empty; expected at least one alignment")
    width, height = _room(source, target)
    more = (len(weights) - 1) * (1.1 * len(source) * _CELL + 0.7 * _longest(source))  # without target words
    beside = width + more <= _LINE
    down, across = (1, len(weights)) if beside else (len(weights), 1)
    size = width + more * beside, down * height
    figure, axes = plt.subplots(down, across, figsize=size, layout="constrained", squeeze=False)
    for n, (ax, (title, picture)) in enumerate(zip(axes.flat, weights.items(), strict=True)):
        plot_alignment(picture, source, target, ax, title=title, annotate=annotate, colorbar=False)
        if beside and n:
            ax.tick_params(labelleft=False)
            ax.set_ylabel("")
    figure.colorbar(axes.flat[0].images[0], ax=axes, label="weight", fraction=0.05, pad=0.02)
    return list(axes.flat)


def circle_links(ax: Axes, links: Iterable[tuple[int, int]]) -> Axes:
    """Circle word links, such as gold links, in the plot of an alignment."""
    i, t = zip(*links, strict=True)
    ax.scatter(i, t, s=200, facecolors="none", edgecolors="#D55E00", linewidth=2)
    return ax


def _families(words: Iterable[str]) -> list[str]:
    """Return the font families of ``rcParams``, then as few others as have the remaining letters of some words."""
    families = list(rcParams["font.family"])
    missing = {*"".join(words)} - {"\n"}
    for family in families:
        missing -= _known(missing, findfont(FontProperties(family=[family])))
    fonts = ((font.name, font.fname) for font in fontManager.ttflist if (font.style, font.weight) == ("normal", 400))
    return families + _enough(frozenset(missing), tuple(sorted(fonts))) if missing else families


@cache
def _enough(wanted: frozenset[str], fonts: tuple[tuple[str, str], ...]) -> list[str]:
    """Return the font families that have most of some letters."""
    usable = [(name, path) for name, path in fonts if not name.startswith("Last Resort")]  # a sign for every letter
    chosen, left = [], {*wanted}
    while left:
        name, path = max(usable, key=lambda font: len(_known(left, font[1])))
        if not (known := _known(left, path)):
            break
        chosen.append(name)
        left -= known
    return chosen


def _known(wanted: Iterable[str], path: str) -> set[str]:
    font = get_font(path)
    return {letter for letter in wanted if font.get_char_index(ord(letter))}


def _room(source: Sequence[str], target: Sequence[str]) -> tuple[float, float]:
    """Return the width and height of an alignment plot, in inches."""
    across, down = _longest(source), _longest(target)
    return 1.1 * len(source) * _CELL + down + 0.7 * across + 1.5, len(target) * _CELL + 0.8 * across + 0.9


def _longest(words: Iterable[str]) -> float:
    """Estimate the width of the longest word in inches; wide letters of East Asia count twice."""
    return _LETTER * max(sum(1 + (unicodedata.east_asian_width(x) in "WF") for x in word) for word in words)
