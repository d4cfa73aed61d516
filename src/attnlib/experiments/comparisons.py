"""Pictures and tables of a comparison: every run of every row, and what the runs say of each claim."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from attnlib.experiments.statistics import mean_interval
from attnlib.experiments.verdicts import CANNOT_BE_TOLD, DOES_NOT, HOLDS, QUALITIES, Verdict
from attnlib.pictures.cards import Table, checked_numbers, table
from attnlib.pictures.figures import CURVES

_LOOKS = [look | {"linestyle": ""} for look in CURVES[:4]]
_APART = 0.32  # from the first series of a row to its last, in rows
_FILLED = {HOLDS: "full", DOES_NOT: "none", CANNOT_BE_TOLD: "left"}


def spread(runs: Mapping[str, Mapping[str, Sequence[float]]], ax: Axes | None = None, *, across: str = "") -> Axes:
    """Draw each run of each row as a dot, and the mean of a row's runs with its 95 per cent interval.

    Parameters
    ----------
    runs : for each series, for each row, numbers
        The rows stand one below the other, in the order of the first series; the series of a row close together. A row
        with one run has no interval, and a row that a series lacks has a gap there.
    ax : Axes, optional
        Where to draw. None: a new figure, as high as the rows need.
    across : str
        What the numbers are.
    """
    if not 0 < len(runs) <= len(_LOOKS):
        raise ValueError(f"runs has {len(runs)} series; expected 1 to {len(_LOOKS)}")
    names = list(dict.fromkeys(name for rows in runs.values() for name in rows))
    ax = _rows(names, ax, "runs")
    for (series, rows), away, look in zip(runs.items(), _offsets(runs), _LOOKS, strict=False):
        for name, row in rows.items():
            y, numbers = names.index(name) + away, checked_numbers(row, f"runs[{series!r}][{name!r}]")
            if numbers.ndim != 1 or not len(numbers):
                raise ValueError(f"runs[{series!r}][{name!r}] has shape {numbers.shape}; expected (seeds,), not 0")
            if len(numbers) > 1:
                ax.plot(mean_interval(numbers)[1:], [y, y], color=look["color"], linewidth=1.8)
            ax.plot(numbers, [y] * len(numbers), ".", color="white", markeredgecolor=look["color"], markersize=6)
            ax.plot(numbers.mean(), y, **look, markersize=6, markeredgecolor="white")
    ax.set_xlabel(across)
    if len(runs) > 1:
        handles = [Line2D([], [], **look, label=name) for name, look in zip(runs, _LOOKS, strict=False)]
        above = {"loc": "lower right", "bbox_to_anchor": (1, 1), "ncols": len(handles)}
        ax.legend(handles=handles, frameon=False, fontsize="small", columnspacing=1, handletextpad=0.4, **above)
    return ax


def claims_by_measure(by_measure: Mapping[str, Sequence[Verdict]]) -> list[Axes]:
    """Draw the same claims as several measures judge them, side by side.

    Parameters
    ----------
    by_measure : for each measure, verdicts
        Of `attnlib.experiments.verdicts.QUALITIES`; each with verdicts on the same claims. Right of zero, the first
        row is better.

    Returns
    -------
    list of Axes
        One a measure. Each claim has a line with its difference and the 95 per cent interval, one colour a group of
        test sentences, and a marker: full if the claim holds, empty if it does not, half if it cannot be told. Dotted
        to both sides of zero is the measure's margin.
    """
    if not by_measure:
        raise ValueError("by_measure is empty; expected at least one measure")
    claims, *others = ([verdict.claim for verdict in verdicts] for verdicts in by_measure.values())
    if any(other != claims for other in others):
        raise ValueError("the measures judge other claims; expected the same of each")
    lines = list(dict.fromkeys(claim.wording for claim in claims))
    shape = {"figsize": (1.9 + 2.4 * len(by_measure), 1.1 + 0.42 * len(lines)), "dpi": 120, "layout": "constrained"}
    figure, axes = plt.subplots(1, len(by_measure), sharey=True, squeeze=False, **shape)
    handles = []
    for ax, (measure, verdicts) in zip(axes[0], by_measure.items(), strict=True):
        _rows([line.replace(" than ", " than\n").replace(" from ", " from\n") for line in lines], ax, "by_measure")
        handles = _draw_claims(verdicts, ax, lines, QUALITIES[measure].margin)
        ax.set_xlabel(f"{measure.replace('_', ' ')},\n{QUALITIES[measure].unit}", fontsize="small")
    figure.legend(handles=handles, loc="outside upper right", frameon=False, fontsize="small", ncols=len(handles))
    return [*axes[0]]


def verdict_table(verdicts: Sequence[Verdict]) -> Table:
    """Lay out what the runs say of each claim: its own difference and interval, and two p-values, which are corrected.

    The first is that of no difference, the second that of one as large as the plan's margin.
    """
    rows = []
    for claim, (mean, low, high), p, ruled_out, says in verdicts:
        interval = f"[{low:+z.3f}, {high:+z.3f}]"
        rows.append([claim.wording, claim.group, says, f"{mean:+z.3f}", interval, _p_value(p), _p_value(ruled_out)])
    return table(["claim", "group", "verdict", "difference", "interval", "p", "p, as large"], rows)


def _draw_claims(verdicts: Sequence[Verdict], ax: Axes, lines: Sequence[str], margin: float) -> list[Line2D]:
    """Draw verdicts on axes that have a line for each wording, and return what a legend needs."""
    groups = list(dict.fromkeys(verdict.claim.group for verdict in verdicts))
    if not 0 < len(groups) <= len(_LOOKS):
        raise ValueError(f"verdicts has {len(groups)} groups; expected 1 to {len(_LOOKS)}")
    for x in (-margin, 0, margin):
        ax.axvline(x, color="0.5", linewidth=0.9, linestyle=":" if x else "-", zorder=0)
    looks = dict(zip(groups, _LOOKS, strict=False))
    away = dict(zip(groups, _offsets(groups), strict=True))
    for verdict in verdicts:
        look, (mean, low, high) = looks[verdict.claim.group], verdict.difference
        y = lines.index(verdict.claim.wording) + away[verdict.claim.group]
        ax.plot([low, high], [y, y], color=look["color"], linewidth=1.8)
        ax.plot(mean, y, **look, markersize=7, fillstyle=_FILLED[verdict.says], markerfacecoloralt="white")
    colours = [Line2D([], [], **look, label=group) for group, look in looks.items()]
    grey = {"color": "0.4", "marker": "o", "linestyle": "", "markersize": 7, "markerfacecoloralt": "white"}
    return colours + [Line2D([], [], **grey, fillstyle=fill, label=says) for says, fill in _FILLED.items()]


def _p_value(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _offsets(series: Sequence[str] | Mapping[str, object]) -> list[float]:
    return [_APART * (n / (len(series) - 1) - 0.5) if len(series) > 1 else 0.0 for n in range(len(series))]


def _rows(names: Sequence[str], ax: Axes | None, what: str) -> Axes:
    """Find or make axes with a line for each name, the first at the top."""
    if not names:
        raise ValueError(f"{what} is empty; expected at least one row")
    if ax is None:
        ax = plt.subplots(figsize=(7.2, 1.1 + 0.33 * len(names)), dpi=120, layout="constrained")[1]
    ax.set_yticks(range(len(names)), names, fontsize="small")
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax
