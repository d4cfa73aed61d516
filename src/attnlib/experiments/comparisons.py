"""Plots and tables of a comparison: all runs of the models, and the verdict on each claim."""

from html import escape

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from attnlib.experiments.verdicts import confidence_interval
from attnlib.plotting.cards import Card, card
from attnlib.plotting.figures import CURVES

_LOOKS = [look | {"linestyle": ""} for look in CURVES[:4]]
_APART = 0.32  # from the first series of a line to its last, in lines
_DIGITS = {"exact_match": 3, "bleu_beam": 1}
_COLUMNS = {"exact_match": "exact match", "bleu_beam": "BLEU", "perplexity": "perplexity"}


def plot_runs(runs: pd.Series, ax: Axes | None = None, *, xlabel: str = "") -> Axes:
    """Plot each run as a dot, with the mean and 95 percent interval of its line.

    Parameters
    ----------
    runs : Series
        A number for each run. The first level of the index names its line; the lines are ordered as they first occur. A
        second level, if any, names its series within a line, of which there are at most four.
    ax : Axes, optional
        Axes to plot on. If None, a new figure, as high as the lines need.
    xlabel : str, default ""
        Label of the numbers.
    """
    lines = [*runs.index.unique(0)]
    series = [*runs.index.unique(1)] if runs.index.nlevels > 1 else [""]
    looks = _LOOKS[: len(series)]
    if ax is None:
        ax = plt.subplots(figsize=(7.2, 1.1 + 0.33 * len(lines)), dpi=120, layout="constrained")[1]
    ax.set_yticks(range(len(lines)), lines, fontsize="small", parse_math=False)
    ax.set_ylim(len(lines) - 0.5, -0.5)
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    offsets = np.linspace(-_APART / 2, _APART / 2, len(series)) if len(series) > 1 else [0.0]
    for one, away, look in zip(series, offsets, looks, strict=True):
        of_series = runs.xs(one, level=1) if runs.index.nlevels > 1 else runs
        for line, numbers in of_series.groupby(level=0, sort=False):
            y = lines.index(line) + away
            if len(numbers) > 1:
                ax.plot(confidence_interval(numbers)[1:], [y, y], color=look["color"], linewidth=1.8)
            ax.plot(numbers, [y] * len(numbers), ".", color="white", markeredgecolor=look["color"], markersize=6)
            ax.plot(numbers.mean(), y, **look, markersize=6, markeredgecolor="white")
    ax.set_xlabel(xlabel, parse_math=False)
    if len(series) > 1:
        handles = [Line2D([], [], **look, label=name) for name, look in zip(series, looks, strict=True)]
        above = {"loc": "lower right", "bbox_to_anchor": (1, 1), "ncols": len(handles)}
        style = {"frameon": False, "fontsize": "small", "columnspacing": 1, "handletextpad": 0.4}
        for text in ax.legend(handles=handles, **style, **above).get_texts():
            text.set_parse_math(False)
    return ax


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
