"""What chapters 3 to 6 show of recorded runs: all of them, as each model's mean, and its lowest and highest run.

No run is left out, so models may have different numbers of runs, and each table and picture says how many. In the
course a model is called better than another of equally many runs if their ranges do not overlap (`apart`). A range
grows with the number of runs; so where the numbers differ, the planned test says which is better
(`attnbook.experiments.verdicts`), or nothing does.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from itertools import takewhile
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from attnbook.cards.card import Card, sortable_table
from attnbook.experiments.plan import METRICS
from attnbook.experiments.runs import Recording
from attnbook.figures import CURVES, in_default_style

SEEN, LONGER = (1, 2, 3), (4, 5, 6)
"""Numbers of clauses: those of the training, and more than these, as far as all models are tested."""

_METRICS = (  # heading, metric, lengths, the largest number, digits
    ("exact match, as in training", "exact_match", SEEN, 1.0, 2),
    ("exact match, longer", "exact_match", LONGER, 1.0, 2),
    ("BLEU, longer", "bleu_beam", LONGER, 100.0, 0),
    ("alignment error, as in training", "alignment_error_rate", SEEN, 1.0, 2),
)
_COSTS = {
    "thousand parameters": "parameters",
    "thousand multiply-adds a word": "macs",
    "thousand words trained a second": "words_per_second",
}


def mean_by_seed(
    recording: Recording, models: Collection[str], metric: str = "exact_match", clauses: Collection[object] = SEEN
) -> pd.DataFrame:
    """Return a metric of each run, its mean over some numbers of clauses.

    Parameters
    ----------
    recording : Recording
        The recorded runs.
    models : collection of str
        Names of models. Those that are not recorded, or do not have this metric, are left out.
    metric : str, default "exact_match"
        The metric.
    clauses : collection, default (1, 2, 3)
        Numbers of clauses; test sets, in a plan that learns from a text.

    Returns
    -------
    DataFrame
        A row for each seed that any of these models has, and a column for each model, in the given order. A model
        without a run of this seed has NaN there.
    """
    runs, by = recording.runs(), recording.plan.groupings[0]
    shown = runs[runs[by].isin(clauses) & runs["model"].isin(models)]
    means = shown.groupby(["seed", "model"])[metric].mean().unstack()
    return means.reindex(columns=[*models]).dropna(axis=1, how="all").dropna(how="all")


def apart(more: pd.Series, less: pd.Series) -> bool:
    """Tell whether each run of one model has more than each run of another.

    A NaN is no run.

    Raises
    ------
    ValueError
        If the models do not have equally many runs.
    """
    if more.count() != less.count():
        raise ValueError(f"less has {less.count()} runs; expected {more.count()}, as many as more, or the planned test")
    return bool(more.min() > less.max())


class Spread(NamedTuple):
    """The runs of a row of a plan as an entry of a table: their mean, and the lowest and the highest.

    Attributes
    ----------
    row : str
        Names of plan and row.
    runs : tuple of float
        A number for each run.
    digits : int, default 2
        Decimals.
    """

    row: str
    runs: tuple[float, ...]
    digits: int = 2

    def __str__(self) -> str:
        """Write the mean and, if the runs differ in the decimals shown, the lowest and the highest in parentheses."""
        mean, low, high = (f"{x:.{self.digits}f}" for x in (np.mean(self.runs), min(self.runs), max(self.runs)))
        return mean if low == high else f"{mean} ({low}–{high})"

    @property
    def attributes(self) -> str:
        """Attributes of the table cell, by which a test finds that no run is left out."""
        return f' data-row="{escape(self.row)}" data-runs="{len(self.runs)}"'


def spread(recording: Recording, row: str, runs: Iterable[float], digits: int = 2) -> Spread:
    """Make an entry of a table from the runs of a row.

    Runs that are NaN do not count.
    """
    return Spread(f"{recording.plan.name}/{row}", tuple(x for x in map(float, runs) if not np.isnan(x)), digits)


def model_table(recording: Recording, models: Mapping[str, str]) -> Card:
    """Build a sortable table of models: how many runs, their metrics, with a mark for each run, and their costs.

    Parameters
    ----------
    recording : Recording
        The recorded runs and costs.
    models : mapping of str to str
        Titles by name. Models that are not recorded are left out.
    """
    exact = mean_by_seed(recording, models)
    cells = {name: [f'<th scope="row">{escape(models[name])}</th>'] for name in exact}
    for name, row in cells.items():
        runs = spread(recording, name, exact[name])
        row.append(f'<td data-size="{len(runs.runs)}"{runs.attributes}>{len(runs.runs)}</td>')
    columns = [(mean_by_seed(recording, cells, of, n), full, digits) for _, of, n, full, digits in _METRICS]
    costs = recording.costs.loc[[*cells]].T / 1000
    columns += [(costs.loc[[cost]], costs.loc[cost].max(), 0) for cost in _COSTS.values()]
    for numbers, full, digits in columns:
        for name, row in cells.items():
            row.append(_cell(numbers[name].dropna(), full, digits) if name in numbers else "<td></td>")
    headings = ["runs", *(heading for heading, *_ in _METRICS), *_COSTS]
    above = (
        f"<p>Means of all runs. As in training: {SEEN[0]} to {SEEN[-1]} clauses; "
        f"longer: {LONGER[0]} to {LONGER[-1]}.</p>\n"
        '<details class="at-ranges"><summary>Show the ranges</summary>Below each mean: the lowest and the highest run.'
        "</details>\n"
    )
    text = f"{len(cells)} models: {', '.join(headings)}"
    return sortable_table(["model", *headings], map("".join, cells.values()), text, above)


def _cell(numbers: pd.Series, full: float, digits: int) -> str:
    """Return the cell of a mean, with a bar, the range of several numbers, and a mark for each."""
    mean, low, high = numbers.mean(), numbers.min(), numbers.max()
    text, scale = f"{mean:,.{digits}f}", 100 / full
    ends = f" <small>{low:.{digits}f}–{high:.{digits}f}</small>" if len(numbers) > 1 else ""
    marks = "".join(f'<rect x="{scale * x:.1f}" width="1" height="6"></rect>' for x in numbers if len(numbers) > 1)
    return (
        f'<td data-size="{mean:.6f}">{text}{ends}'
        '<svg class="at-bar" viewBox="0 0 101 6" width="101" height="6" preserveAspectRatio="none" '
        'fill="var(--weight, #0072b2)" aria-hidden="true">'
        f'<rect y="1" width="{scale * mean:.1f}" height="4" opacity=".4"></rect>{marks}</svg></td>'
    )


@in_default_style
def plot_papers(scores: pd.DataFrame) -> Axes:
    """Plot each seed as a paper would that trained two models once, and the ranges of all seeds.

    Parameters
    ----------
    scores : DataFrame
        Exact match: a row for each seed, and a column for each of the two models, by title.
    """
    ax = plt.subplots(figsize=(4.6, 3.6), dpi=120, layout="constrained")[1]
    first, second = scores
    for winner, style in zip((first, second), CURVES, strict=False):
        better = scores[scores.idxmax(axis=1) == winner]
        for n, of_seed in enumerate(better.to_numpy()):
            ax.plot(of_seed, label=f"{winner} is better: {len(better)} of {len(scores)}" if not n else "", **style)
    ax.vlines([-0.1, 1.1], scores.min(), scores.max(), color="0.6", linewidth=6)
    ax.set(xticks=[0, 1], xticklabels=[first, second], xlim=(-0.3, 1.3), ylabel="exact match")
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


@in_default_style
def plot_changes(scores: pd.DataFrame, paths: Mapping[str, Mapping[str, str]]) -> None:
    """Plot the runs of models that differ from each other by one change after another, a panel for each order.

    Parameters
    ----------
    scores : DataFrame
        Exact match: a row for each seed, and a column for each model.
    paths : mapping of str to mapping of str to str
        For each panel's title, the models' names and what they change, up to the first model without scores. The
        number of its runs is added to each.
    """
    _, axes = plt.subplots(len(paths), figsize=(7, 2.8 * len(paths)), dpi=120, layout="constrained", sharex=True)
    n = scores.count()
    for ax, (title, changes) in zip(np.atleast_1d(axes), paths.items(), strict=True):
        names = [*takewhile(scores.columns.__contains__, changes)]
        of_path, places = scores[names], range(len(names))
        ax.plot(of_path.mean(), places, color="0.75", zorder=0)
        ax.hlines(places, of_path.min(), of_path.max(), color="#0072B2", linewidth=6, alpha=0.3)
        ax.plot(of_path.T, places, "o", color="#0072B2", markersize=3.5)
        ax.set_yticks(places, [f"{changes[name]} ({n[name]})" for name in names])
        ax.set_title(title, loc="left", fontsize="medium")
        ax.grid(axis="x", color="0.9")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.set_ylim(len(changes) - 0.5, -0.5)
    ax.set_xlabel("exact match")


@in_default_style
def plot_lengths(
    recording: Recording,
    panels: Mapping[str, Mapping[str, str]],
    metric: str = "exact_match",
    clauses: Sequence[int] = (1, 2, 3, 4, 5, 6),
) -> None:
    """Plot a metric by the number of clauses, with a band from the lowest to the highest run.

    Dotted lines are the most clauses of a training.

    Parameters
    ----------
    recording : Recording
        The recorded runs.
    panels : mapping of str to mapping of str to str
        For each panel's title, names of models by label. Equal labels have equal styles. Models that are not recorded
        are left out, and panels without models. The title says how many runs each model has or, if they differ, the
        legend.
    metric : str, default "exact_match"
        The metric, exact match or one of BLEU.
    clauses : sequence of int, default (1, 2, 3, 4, 5, 6)
        Numbers of clauses.
    """
    every = {t: [mean_by_seed(recording, m.values(), metric, [n]) for n in clauses] for t, m in panels.items()}
    whole = 100 if metric.startswith("bleu") else 1
    drawn = {title: scores for title, scores in every.items() if scores[0].size}
    size = 2.2 + 3.2 * len(drawn), 4.2
    axes = plt.subplots(1, len(drawn), figsize=size, dpi=120, layout="constrained", sharey=True, squeeze=False)[1][0]
    styles = dict(zip(dict.fromkeys(label for models in panels.values() for label in models), CURVES, strict=False))
    for ax, (title, of_length) in zip(axes, drawn.items(), strict=True):
        n = of_length[0].count()
        same = n.min() == n.max()
        for label, name in panels[title].items():
            if name in n:
                runs = np.array([scores[name].dropna() for scores in of_length])
                ax.plot(clauses, runs.mean(axis=1), label=label if same else f"{label} ({n[name]})", **styles[label])
                ax.fill_between(clauses, runs.min(axis=1), runs.max(axis=1), color=styles[label]["color"], alpha=0.2)
        for longest in {max(recording.plan.configs[name].clauses) for name in n.index}:
            ax.axvline(longest, color="0.6", linestyle=":", zorder=0)
        said = ", ".join(filter(None, [title, f"{n.iloc[0]} runs" if same else "in parentheses: runs"]))
        ax.set(title=said, xlabel="clauses", ylim=(-0.03 * whole, 1.03 * whole))
    axes[0].set_ylabel(METRICS[metric].name)
    handles = axes[0].get_legend_handles_labels()
    axes[0].figure.legend(*handles, loc="outside lower center", ncols=len(drawn) + 1, frameon=False)
