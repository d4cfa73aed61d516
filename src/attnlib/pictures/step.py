"""One step of a decoder with attention in four pictures: the state asks, scores become weights, a context, a word.

All four draw the same parts in the same places; what acts is dark, what only stands by is pale.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Real
from matplotlib.axes import Axes

from attnlib.pictures.cards import check_all, checked_numbers, checked_words
from attnlib.pictures.schematic import INK, NEW, WEIGHT, arrow_head
from attnlib.shapes import Array

TITLES = "1. The state asks", "2. Scores become weights", "3. They make a context", "4. A word is written"
"""What stands above the pictures."""

_PALE = "#AAAAAA"
_STATE, _CONTEXT, _BEFORE, _WORD = (0.0, 3.1), (2.2, 2.3), (0.0, 4.1), (2.9, 3.9)
_HIGH = 0.9  # where the annotations are


def one_step(
    scores: Real[Array, "src"],
    weights: Real[Array, "src"],
    context: Real[Array, "enc"],
    source: Sequence[str],
    *,
    before: str,
    chances: Mapping[str, float],
) -> list[Axes]:
    """Draw how a state asks, what the scores and weights are, what context they make, and which word it leads to.

    Parameters
    ----------
    scores, weights : ``"src"``
        One of each for each source word; weights are from 0 to 1.
    context : ``"enc"``
        Its numbers are printed: few.
    source : words
        What is read.
    before : str
        The word that was written last.
    chances : mapping
        The words that may come next, and their probabilities.

    Returns
    -------
    list of Axes
        Four, each without an axis: positions mean nothing here.
    """
    source, words = checked_words(source, "source"), checked_words([before, *chances], "before and chances")
    each = (len(source),), "one for each source word"
    scores, shares = checked_numbers(scores, "scores", *each), checked_numbers(weights, "weights", *each)
    check_all((shares >= 0) & (shares <= 1), shares, "weights", "numbers from 0 to 1")
    axes = plt.subplots(2, 2, figsize=(7.4, 6.2), layout="constrained")[1]
    columns = np.linspace(0.2, 4.2, len(source)).tolist()
    for n, (ax, title) in enumerate(zip(axes.flat, TITLES, strict=True)):
        _draw_parts(ax, n, columns, source, before)
        ax.set(xlim=(-0.5, 4.7), ylim=(-0.2, 4.5))
        ax.set_title(title, fontsize=11)
        ax.axis("off")
    asks, weighs, averages, writes = axes.flat
    for x, score, share in zip(columns, scores, shares, strict=True):
        _arrow(asks, _STATE, (x, _HIGH + 0.75), linestyle=(0, (3, 2)))
        _text(asks, (x, _HIGH + 0.55), f"{score:.2f}", NEW)
        weighs.bar(x, 1.6 * share, 0.5, _HIGH + 0.4, color=WEIGHT)
        _text(weighs, (x, _HIGH + 0.6 + 1.6 * share), f"{share:.2f}", WEIGHT)
        _arrow(averages, (x, _HIGH), _CONTEXT, color=WEIGHT, linewidth=0.4 + 7 * share)
    _text(averages, (_CONTEXT[0], _CONTEXT[1] + 0.6), "  ".join(f"{number:.2f}" for number in context), NEW)
    for start in (_STATE, _CONTEXT, _BEFORE):
        _arrow(writes, start, _WORD)
    for row, word in enumerate(words[1:]):
        writes.text(_WORD[0] + 0.1, _WORD[1] + 0.3 - 0.4 * row, word, color="black", va="center")
        writes.text(4.6, _WORD[1] + 0.3 - 0.4 * row, f"{chances[word]:.2f}", color=NEW, ha="right", va="center")
    return list(axes.flat)


def _draw_parts(ax: Axes, n: int, columns: Sequence[float], source: Sequence[str], before: str) -> None:
    """Draw words, annotations, the state, the word before and, once it is there, the context."""
    reads = n < len(TITLES) - 1
    for i, (x, word) in enumerate(zip(columns, source, strict=True), 1):
        _box(ax, (x, _HIGH), f"$h_{{{i}}}$", acts=reads)
        _text(ax, (x, 0.1), word, "black" if reads else _PALE)
    _box(ax, _STATE, "$s_{t-1}$", acts=n in {0, 3})
    _text(ax, _BEFORE, before, _PALE if reads else "black")
    if n > 1:
        _box(ax, _CONTEXT, "$c_t$", acts=True, shape="circle,pad=0.3")


def _box(ax: Axes, at: tuple[float, float], text: str, *, acts: bool, shape: str = "round,pad=0.35") -> None:
    colour = INK if acts else _PALE
    frame = {"boxstyle": shape, "facecolor": "white", "edgecolor": colour, "linewidth": 1.4 if acts else 1.0}
    ax.text(*at, text, ha="center", va="center", color=colour, fontsize=12, zorder=3, bbox=frame)


def _text(ax: Axes, at: tuple[float, float], text: str, colour: str) -> None:
    ax.text(*at, text, ha="center", va="center", color=colour, fontsize=11, zorder=4)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], color: str = NEW, **ink: object) -> None:
    width = ink.setdefault("linewidth", 1.5)
    style = {"arrowstyle": arrow_head(width), "mutation_scale": 14, "shrinkA": 15}
    style["shrinkB"] = 3 if end != _CONTEXT else 15 + width
    ax.annotate("", xy=end, xytext=start, zorder=1, arrowprops=style | ink | {"color": color})
