"""What the course shows of recorded runs: each model's mean, and its lowest and highest run.

Models are compared over the same seeds, those that all of them have. In the course one is called better than another if
their ranges do not overlap.
"""

from collections.abc import Collection, Mapping
from html import escape
from itertools import takewhile

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from attnbook.cards.card import Card, sortable_table
from attnbook.experiments.runs import Recording
from attnbook.figures import CURVES, in_default_style

SEEN, LONGER = (1, 2, 3), (4, 5, 6)
"""Numbers of clauses: those of the training, and more than these, as far as all models are tested."""

_FEWEST = 3  # runs without which a model is left out
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
    recording: Recording, models: Collection[str], metric: str = "exact_match", clauses: Collection[int] = SEEN
) -> pd.DataFrame:
    """Return a metric of each run, its mean over some numbers of clauses.

    Parameters
    ----------
    recording : Recording
        The recorded runs.
    models : collection of str
        Names of models. Those with fewer than three runs, or without this metric, are left out.
    metric : str, default "exact_match"
        The metric.
    clauses : collection of int, default (1, 2, 3)
        Numbers of clauses.

    Returns
    -------
    DataFrame
        A row for each seed that all of these models have, and a column for each model, in the given order.
    """
    runs = recording.runs("clauses")
    means = runs[runs["clauses"].isin(clauses)].groupby(["seed", "model"])[metric].mean().unstack()
    return means.reindex(columns=[*models]).dropna(axis=1, thresh=_FEWEST).dropna()


def model_table(recording: Recording, models: Mapping[str, str]) -> Card:
    """Build a sortable table of models: their metrics, with bars and ranges over the seeds, and their costs.

    Parameters
    ----------
    recording : Recording
        The recorded runs and costs.
    models : mapping of str to str
        Titles by name. Models with fewer than three runs are left out.

    Returns
    -------
    Card
        The table. A mean is bold if its model's range overlaps with no other.
    """
    shown = mean_by_seed(recording, models)
    cells = {name: [f'<th scope="row">{escape(models[name])}</th>'] for name in shown}
    columns = [(mean_by_seed(recording, cells, of, n), most, digits) for _, of, n, most, digits in _METRICS]
    costs = recording.costs.loc[[*cells]].T / 1000
    columns += [(costs.loc[[cost]], costs.loc[cost].max(), 0) for cost in _COSTS.values()]
    for numbers, most, digits in columns:
        low, high = numbers.min(), numbers.max()
        for name, row in cells.items():
            alone = len(numbers) > 1 and name in low and sum((high < low[name]) | (low > high[name])) == len(low) - 1
            row.append(_cell(numbers[name], most, digits, bold=alone) if name in low else "<td></td>")
    headings = [*(heading for heading, *_ in _METRICS), *_COSTS]
    above = (
        f"<p>Means of {len(shown)} seeds. As in training: {SEEN[0]} to {SEEN[-1]} clauses; "
        f"longer: {LONGER[0]} to {LONGER[-1]}.</p>\n"
        '<details class="at-ranges"><summary>Show the ranges</summary>Below each mean: the lowest and the highest run.'
        "</details>\n"
    )
    text = f"{len(cells)} models: {', '.join(headings)}"
    return sortable_table(["model", *headings], map("".join, cells.values()), text, above)


def _cell(numbers: pd.Series, most: float, digits: int, *, bold: bool = False) -> str:
    """Return the cell of a mean, with a bar and the range of several numbers."""
    mean, low, high = numbers.mean(), numbers.min(), numbers.max()
    text, scale = f"{mean:,.{digits}f}", 100 / most
    told = f" <small>{low:.{digits}f}–{high:.{digits}f}</small>" if len(numbers) > 1 else ""
    return (
        f'<td data-size="{mean:.6f}">{f"<b>{text}</b>" if bold else text}{told}'
        '<svg class="at-bar" viewBox="0 0 100 6" width="100" height="6" preserveAspectRatio="none" '
        'fill="var(--weight, #0072b2)" aria-hidden="true">'
        f'<rect y="1" width="{scale * mean:.1f}" height="4" opacity=".4"></rect>'
        f'<rect x="{scale * low:.1f}" y="2" width="{scale * (high - low):.1f}" height="2"></rect></svg></td>'
    )


@in_default_style
def plot_papers(scores: pd.DataFrame) -> Axes:
    """Plot each seed as a paper would tell it that trained two models once, and the ranges of all seeds.

    Parameters
    ----------
    scores : DataFrame
        Exact match: a row for each seed, and a column for each of the two models, by title.

    Returns
    -------
    Axes
        The axes of the plot.
    """
    ax = plt.subplots(figsize=(4.6, 3.6), dpi=120, layout="constrained")[1]
    first, second = scores
    for winner, style in zip((first, second), CURVES, strict=False):
        told = scores[scores.idxmax(axis=1) == winner]
        for n, of_seed in enumerate(told.to_numpy()):
            ax.plot(of_seed, label=f"{winner} is better: {len(told)} of {len(scores)}" if not n else "", **style)
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
        For each panel's title, the models' names and what they change, up to the first model without scores.
    """
    _, axes = plt.subplots(len(paths), figsize=(7, 2.8 * len(paths)), dpi=120, layout="constrained", sharex=True)
    for ax, (title, changes) in zip(np.atleast_1d(axes), paths.items(), strict=True):
        names = [*takewhile(scores.columns.__contains__, changes)]
        of_path, places = scores[names], range(len(names))
        ax.plot(of_path.mean(), places, color="0.75", zorder=0)
        ax.hlines(places, of_path.min(), of_path.max(), color="#0072B2", linewidth=6, alpha=0.3)
        ax.plot(of_path.T, places, "o", color="#0072B2", markersize=3.5)
        ax.set_yticks(places, [changes[name] for name in names])
        ax.set_title(title, loc="left", fontsize="medium")
        ax.grid(axis="x", color="0.9")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.set_ylim(len(changes) - 0.5, -0.5)
    ax.set_xlabel("exact match")


@in_default_style
def plot_lengths(recording: Recording, panels: Mapping[str, Mapping[str, str]]) -> None:
    """Plot exact match by the number of clauses, with a band from the lowest to the highest run.

    Parameters
    ----------
    recording : Recording
        The recorded runs.
    panels : mapping of str to mapping of str to str
        For each panel's title, names of models by label. Equal labels have equal styles. Models with fewer than three
        runs are left out, and panels without models.
    """
    lengths = (*SEEN, *LONGER)
    every = {t: [mean_by_seed(recording, m.values(), clauses=[n]) for n in lengths] for t, m in panels.items()}
    drawn = {title: scores for title, scores in every.items() if scores[0].size}
    size = 2.2 + 3.2 * len(drawn), 4.2
    axes = plt.subplots(1, len(drawn), figsize=size, dpi=120, layout="constrained", sharey=True, squeeze=False)[1][0]
    styles = dict(zip(dict.fromkeys(label for models in panels.values() for label in models), CURVES, strict=False))
    for ax, (title, of_length) in zip(axes, drawn.items(), strict=True):
        for label, name in panels[title].items():
            if name in of_length[0]:
                runs = np.array([scores[name] for scores in of_length])
                ax.plot(lengths, runs.mean(axis=1), label=label, **styles[label])
                ax.fill_between(lengths, runs.min(axis=1), runs.max(axis=1), color=styles[label]["color"], alpha=0.2)
        ax.axvline(SEEN[-1], color="0.6", linestyle=":", zorder=0)
        ax.set(title=title, xlabel="clauses", ylim=(-0.03, 1.03))
    axes[0].set_ylabel("exact match")
    handles = axes[0].get_legend_handles_labels()
    axes[0].figure.legend(*handles, loc="outside lower center", ncols=len(drawn) + 1, frameon=False)
