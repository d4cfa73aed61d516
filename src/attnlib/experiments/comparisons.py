"""Plots and tables of a comparison: all runs of the models, and the verdict on each claim."""

from collections.abc import Sequence
from html import escape

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from attnlib.experiments.verdicts import INCONCLUSIVE, METRICS, REVERSED, RULED_OUT, SUPPORTED, confidence_interval
from attnlib.plotting.cards import Card, card
from attnlib.plotting.figures import CURVES

_LOOKS = [look | {"linestyle": ""} for look in CURVES[:4]]
_APART = 0.32  # from the first series of a line to its last, in lines
_FILLED = {SUPPORTED: "full", REVERSED: "none", RULED_OUT: "none", INCONCLUSIVE: "left"}
_DIGITS = {"exact_match": 3, "bleu_beam": 1}
_COLUMNS = {"exact_match": "exact match", "bleu_beam": "BLEU", "perplexity": "perplexity"}


def plot_runs(runs: pd.Series, ax: Axes | None = None, *, xlabel: str = "") -> Axes:
    """Plot each run as a dot, with the mean and 95 percent interval of its line.

    Parameters
    ----------
    runs : Series
        A number for each run. The first level of the index names its line; the lines are ordered as they first occur. A
        second level, if any, names its series within a line.
    ax : Axes, optional
        Axes to plot on. If None, a new figure, as high as the lines need.
    xlabel : str, default ""
        Label of the numbers.

    Returns
    -------
    Axes
        The axes of the plot.
    """
    if runs.empty or runs.isna().any():
        raise ValueError(
            f"runs has {runs.isna().sum()} missing of {len(runs)} numbers; expected at least one number, none missing"
        )
    names = [*runs.index.unique(0)]
    series = [*runs.index.unique(1)] if runs.index.nlevels > 1 else [""]
    _check_few(series, "runs")
    ax = _lines(names, ax)
    for one, away, look in zip(series, _offsets(series), _LOOKS, strict=False):
        of_series = runs.xs(one, level=1) if runs.index.nlevels > 1 else runs
        for name, numbers in of_series.groupby(level=0, sort=False):
            y = names.index(name) + away
            if len(numbers) > 1:
                ax.plot(confidence_interval(numbers)[1:], [y, y], color=look["color"], linewidth=1.8)
            ax.plot(numbers, [y] * len(numbers), ".", color="white", markeredgecolor=look["color"], markersize=6)
            ax.plot(numbers.mean(), y, **look, markersize=6, markeredgecolor="white")
    ax.set_xlabel(xlabel)
    if len(series) > 1:
        handles = [Line2D([], [], **look, label=name) for name, look in zip(series, _LOOKS, strict=False)]
        above = {"loc": "lower right", "bbox_to_anchor": (1, 1), "ncols": len(handles)}
        ax.legend(handles=handles, frameon=False, fontsize="small", columnspacing=1, handletextpad=0.4, **above)
    return ax


def plot_claims(compared: pd.DataFrame) -> list[Axes]:
    r"""Plot each claim that one model beats another, with its verdict.

    Parameters
    ----------
    compared : DataFrame
        Verdicts, as `attnlib.experiments.verdicts.compare_models` returns them, for one or several metrics. To the
        right of zero, the first model is better.

    Returns
    -------
    list of Axes
        One for each metric. Each claim has a line with its difference and the 95 percent interval, in one color for
        each test set, and a marker: full if the claim is supported, crossed if it is reversed, empty if it is ruled
        out, half full if the runs are inconclusive. The dotted lines mark the metric's margin.

    Examples
    --------
    >>> from attnlib import plot_claims
    >>> from attnlib.experiments import compare_models, load_runs, read_plan
    >>> plan = read_plan("comparison")
    >>> [ax.get_xlabel() for ax in plot_claims(compare_models(load_runs(plan), plan.claims("chain")))]
    ['exact,\nshare of sentences']
    """
    if compared.empty:
        raise ValueError("compared is empty; expected at least one claim")
    metrics = [*compared["metric"].unique()]
    lines = [*compared["claim"].unique()]
    shape = {"figsize": (1.9 + 2.4 * len(metrics), 1.1 + 0.42 * len(lines)), "dpi": 120, "layout": "constrained"}
    figure, axes = plt.subplots(1, len(metrics), sharey=True, squeeze=False, **shape)
    handles = []
    for ax, metric in zip(axes[0], metrics, strict=True):
        _lines([line.replace(" than ", " than\n").replace(" from ", " from\n") for line in lines], ax)
        handles = _draw_claims(compared[compared["metric"] == metric], ax, lines)
        ax.set_xlabel(f"{METRICS[metric].label},\n{METRICS[metric].unit}", fontsize="small")
    figure.legend(handles=handles, loc="outside upper right", frameon=False, fontsize="small", ncols=len(handles))
    return [*axes[0]]


def verdict_table(compared: pd.DataFrame, jointly: pd.DataFrame | None = None) -> Card:
    """Build a sortable table of verdicts, a row for each claim and test set.

    Parameters
    ----------
    compared : DataFrame
        Verdicts, as `attnlib.experiments.verdicts.compare_by_metrics` returns them. Each of its metrics is a column,
        with the difference, the verdict and the corrected p-value of no difference; metrics of alignments share the
        last one.
    jointly : DataFrame, optional
        The same claims in the same order, with p-values corrected jointly. A last column then lists the verdicts that
        change.

    Returns
    -------
    Card
        The table, colored by verdict. With scripts, a click on a heading sorts the rows by its column.
    """
    if compared.empty:
        raise ValueError("compared is empty; expected at least one claim")
    names = compared["metric"].map(_COLUMNS).fillna("alignment")
    head = ["claim", "sentences", *names.unique(), *([] if jointly is None else ["corrected together"])]
    rows = []
    for (claim, test_set), part in compared.assign(column=names).groupby(["claim", "test_set"], sort=False):
        cells = {v.column: _cell(v) for v in part.itertuples()}
        row = [f"<td>{escape(test_set)}</td>", *(cells.get(column, "<td></td>") for column in names.unique())]
        if jointly is not None:
            after = jointly.loc[part.index, "verdict"]
            changes = zip(part["column"], part["verdict"], after, strict=True)
            changed = "; ".join(f"{column}: {new}" for column, old, new in changes if old != new)
            row.append(f"<td>{escape(changed)}</td>")
        rows.append(f'<tr><th scope="row">{escape(claim)}</th>{"".join(row)}</tr>')
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    inside = "<thead><tr>{}</tr></thead>\n<tbody>{}</tbody>".format(columns, "\n".join(rows))
    body = f'<div class="at-scroll" tabindex="0" role="region" aria-label="verdicts"><table>{inside}</table></div>\n'
    return card("sorter", body, {}, f"{len(rows)} verdicts: {', '.join(head)}")


def _cell(v: tuple) -> str:
    """Return the table cell of a verdict."""
    p = "<0.001" if v.p_value < 0.001 else f"{v.p_value:.3f}"
    text = f"{v.difference:+z.{_DIGITS.get(v.metric, 2)}f} {v.verdict}, p\N{NO-BREAK SPACE}{p}"
    return f'<td class="at-{v.verdict.replace(" ", "-")}" data-size="{v.difference:.6f}">{escape(text)}</td>'


def _draw_claims(compared: pd.DataFrame, ax: Axes, lines: Sequence[str]) -> list[Line2D]:
    """Draw verdicts, a line for each claim, and return legend handles."""
    test_sets = [*compared["test_set"].unique()]
    _check_few(test_sets, "compared")
    margin = compared["margin"].iloc[0]
    for x in (-margin, 0, margin):
        ax.axvline(x, color="0.5", linewidth=0.9, linestyle=":" if x else "-", zorder=0)
    looks = dict(zip(test_sets, _LOOKS, strict=False))
    away = dict(zip(test_sets, _offsets(test_sets), strict=True))
    for v in compared.itertuples():
        look, y = looks[v.test_set], lines.index(v.claim) + away[v.test_set]
        ax.plot([v.ci_low, v.ci_high], [y, y], color=look["color"], linewidth=1.8)
        ax.plot(v.difference, y, **look, markersize=7, fillstyle=_FILLED[v.verdict], markerfacecoloralt="white")
        if v.verdict == REVERSED:
            ax.plot(v.difference, y, "x", color=look["color"], markersize=4)
    colors = [Line2D([], [], **look, label=test_set) for test_set, look in looks.items()]
    gray = {"color": "0.4", "marker": "o", "linestyle": "", "markersize": 7, "markerfacecoloralt": "white"}
    present = [verdict for verdict in _FILLED if verdict != REVERSED or verdict in {*compared["verdict"]}]
    crossed = {REVERSED: {"marker": "$\\otimes$", "markeredgewidth": 0.5}}
    return colors + [
        Line2D([], [], **gray | crossed.get(verdict, {}), fillstyle=_FILLED[verdict], label=verdict)
        for verdict in present
    ]


def _check_few(series: Sequence[str], what: str) -> None:
    if len(series) > len(_LOOKS):
        raise ValueError(f"{what} has {len(series)} series; expected 1 to {len(_LOOKS)}")


def _offsets(series: Sequence[str]) -> list[float]:
    return [_APART * (n / (len(series) - 1) - 0.5) if len(series) > 1 else 0.0 for n in range(len(series))]


def _lines(names: Sequence[str], ax: Axes | None) -> Axes:
    """Find or make axes with a line for each name, the first at the top."""
    if ax is None:
        ax = plt.subplots(figsize=(7.2, 1.1 + 0.33 * len(names)), dpi=120, layout="constrained")[1]
    ax.set_yticks(range(len(names)), names, fontsize="small")
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax
