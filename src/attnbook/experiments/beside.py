"""How the ledger is shown (laboratory, "The papers' tables"): tables of rows and of claims, a picture, and a file."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attnbook.cards.card import Card, table
from attnbook.experiments.ledger import (
    CORRELATED,
    UNTESTED,
    all_runs,
    judge_again,
    judge_correlation,
    judge_plan,
    paper_figure,
    rank_correlation,
    read_ledger,
    runs_of,
    verdict_of,
)
from attnbook.experiments.plan import METRICS
from attnbook.experiments.runs import Recording
from attnbook.figures import in_default_style

MARKS = {"agrees": ("#0072B2", "o"), "differs": ("#D55E00", "s"), "undecided": ("#767676", "^")}
"""Color and marker of each verdict on recorded runs."""

_SCALE = {"alignment_error_rate": 100, "perplexity": 100}  # hundredths, and percent: a difference of logarithms


def papers_table(name: str, recording: Recording, metrics: Sequence[str]) -> Card:
    """Build a table of a paper's rows: its figures, our means, the number of runs, and all runs of the first metric.

    Parameters
    ----------
    name : str
        Name of a table in ``ledger.toml``.
    recording : Recording
        The recorded runs on captions.
    metrics : sequence of str
        The metrics to show. A row whose BLEU is of translations with unknown words replaced has such BLEU of ours.
    """
    runs, rows = runs_of(recording), []
    for row in read_ledger()["tables"][name]["rows"]:
        cells, shown = [row["name"]], []
        for metric in metrics:
            replaced = metric == "bleu_beam" and metric not in row and "bleu_beam_copied" in row.keys() - metrics
            column = "bleu_beam_copied" if replaced else metric
            test_set = "captions" if metric == "alignment_error_rate" else "test"
            shown.append(all_runs(runs, row.get(recording.plan.name, ""), column, test_set))
            paper = row.get(column, np.nan)
            cells += ["–" if np.isnan(paper) else str(paper), _number(np.mean(shown[-1] or np.nan), metric)]
        every = "\N{NO-BREAK SPACE}".join(_number(x, metrics[0]) for x in shown[0])
        rows.append([*cells, len(shown[0]) or "–", every or "–"])
    heads = [f"{METRICS[metric].name}, {whose}" for metric in metrics for whose in ("paper", "ours")]
    return table(["", *heads, "n", f"{METRICS[metrics[0]].name}, all runs"], rows)


def rows_table(recording: Recording) -> Card:
    """Build a table of all recorded rows of a plan of captions, or of its second round: alignment error and BLEU.

    The paper's alignment error stands beside ours.
    """
    runs, rows, error = runs_of(recording), [], "alignment_error_rate"
    plan = recording.plan.name.removesuffix(".again")
    for name, config in recording.plan.configs.items():
        bleu = all_runs(runs, name, "bleu_beam", "test")
        if bleu:
            paper = _number(paper_figure(plan, name, error), error)
            ours = _spread(all_runs(runs, name, error, "captions"), error), _spread(bleu, "bleu_beam")
            rows.append([config.label, paper, *ours, len(bleu)])
    return table(["", "alignment error, paper", "alignment error, ours", "BLEU, ours", "n"], rows)


def _spread(runs: Sequence[float], metric: str) -> str:
    """Return a mean, with the lowest and the highest run."""
    low, high = (_number(end, metric) for end in (min(runs, default=0), max(runs, default=0)))
    return f"{_number(np.mean(runs), metric)} ({low} to {high})".replace(" ", "\N{NO-BREAK SPACE}") if runs else "–"


def _number(x: Any, metric: str, sign: str = "") -> str:
    return "–" if np.isnan(x) else f"{x:{sign}z.{METRICS[metric].digits}f}"


def claims_table(judged: pd.DataFrame) -> Card:
    """Build a table of claims: the paper's difference beside ours, with its interval, numbers of runs and verdict."""
    rows = []
    for c in judged.itertuples():
        signed = partial(_number, metric=c.metric, sign="+")
        ends = "–" if np.isnan(c.ci_low) else f"{signed(c.ci_low)} to {signed(c.ci_high)}"
        numbers = f"{len(c.ours_first)},\N{NO-BREAK SPACE}{len(c.ours_second)}"
        rows.append([_title(c), signed(_papers_difference(c)), signed(c.difference), ends, numbers, c.verdict])
    return table(["first − second row", "paper", "ours", "95 percent interval", "n", "verdict"], rows)


def _title(c: Any) -> str:
    """Return the two rows of a claim, and its metric unless it is BLEU."""
    within = {"bleu_beam_copied": "unknown words replaced − not", "bleu_beam_known": "without unknown words − all"}
    pair = f"{c.first}, {within[c.metric]}" if c.metric in within else f"{c.first} − {c.second}"
    of = "" if c.metric.startswith("bleu") else f", {METRICS[c.metric].name}"
    comparison = "" if c.comparison == c.first else f"{c.comparison} "
    return f"{comparison}{pair}{of}" + ("" if c.test_set in ("test", "captions") else f", {c.test_set} clauses")


def _papers_difference(c: Any) -> float:
    """Return the paper's difference; one of perplexity is of its logarithm."""
    first, second = c.paper_first, c.paper_second
    return float(np.log(first / second) if c.metric == "perplexity" else first - second)


def comparisons_table(recordings: Mapping[str, Recording]) -> Card:
    """Build a table of all comparisons: what the paper says, the verdict on each text, and why there may be none."""
    verdicts, rows = [verdicts_of(recording) for recording in recordings.values()], []
    for name, about in read_ledger()["comparisons"].items():
        found = [UNTESTED if "cannot" in about else of.get(name, "–") for of in verdicts]
        rows.append([f"{name}. {about['says']}", *found, about.get("cannot", "")])
    return table(["the paper says", *recordings, "why untested"], rows)


def verdicts_of(recording: Recording) -> dict[str, str]:
    """Return the verdict on each comparison that a plan has claims of, by name; a second round has the last word."""
    judged = judge_plan(recording)
    judged.update(judge_again(recording, judged)[["verdict"]])
    of = judged.groupby("comparison")["verdict"].agg(list).to_dict()
    for name, metric in CORRELATED.items():
        of.setdefault(name, []).append(judge_correlation(rank_correlation(recording, metric), together=name == "L7"))
    return {name: verdict_of(verdicts) for name, verdicts in of.items()}


@in_default_style
def plot_ledger(judged: pd.DataFrame) -> Figure:
    """Plot each claim that a paper has figures of: its difference as a hollow mark, and ours.

    Parameters
    ----------
    judged : DataFrame
        Claims, as `attnbook.experiments.ledger.judge_plan` returns them.

    Returns
    -------
    Figure
        Two panels, of BLEU and of other metrics. What agrees with the paper's order lies right of 0. A dot is a run of
        the first row minus the mean of the second, or minus the same run by its other metric; a bar is the interval of
        the difference.
    """
    judged = judged[judged["paper_first"].notna()].sort_values("comparison", kind="stable")
    of_bleu = judged["metric"].str.startswith("bleu") | (judged["metric"] == "copied_gain")
    parts = [judged[of_bleu], judged[~of_bleu]]
    heights = [len(part) + 1 for part in parts]
    size = 4.6, 0.3 * sum(heights) + 1.6
    fig, axes = plt.subplots(2, figsize=size, dpi=120, layout="constrained", height_ratios=heights)
    units = "BLEU", "percent of perplexity,\nhundredths of alignment error"
    for ax, part, unit in zip(axes, parts, units, strict=True):
        for y, c in enumerate(part.itertuples()):
            _plot_claim(ax, y, c)
        ax.axvline(0, color="0.6", linewidth=1, zorder=0)
        ax.set(ylim=(len(part) - 0.4, -0.9), yticks=[], xlabel=f"{unit}\n← opposite order | order of the paper →")
        ax.spines[["top", "right", "left"]].set_visible(False)
    return fig


def _plot_claim(ax: Axes, y: int, c: Any) -> None:
    scale = _SCALE.get(c.metric, 1) * (1 if c.direction == "more" else -1)
    color, marker = MARKS.get(c.verdict, ("0.4", ""))
    ours = [np.log(x) if c.metric == "perplexity" else np.array(x) for x in (c.ours_first, c.ours_second)]
    if marker:
        ax.plot(scale * np.array([c.ci_low, c.ci_high]), [y, y], color=color, linewidth=5, alpha=0.3)
        from_what = ours[1] if c.first == c.second else ours[1].mean()
        ax.plot(scale * (ours[0] - from_what), [y] * len(ours[0]), marker, color=color, markersize=4.5)
    ax.plot(scale * _papers_difference(c), y, "D", color="black", markerfacecolor="none", markersize=7)
    style: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "fontsize": 8.5, "va": "center"}
    ax.text(0, y - 0.5, _title(c), **style)
    ax.text(1, y - 0.5, c.verdict, color=color, ha="right", **style)


def ledger_frame(recordings: Mapping[str, Recording]) -> pd.DataFrame:
    """Return the whole ledger, a row for each claim in each round, and for each comparison that has none."""
    about, parts = read_ledger()["comparisons"], []
    for title, recording in recordings.items():
        judged = judge_plan(recording)
        rounds = judged, judge_again(recording, judged)
        parts += [part.assign(text=title, round=n) for n, part in enumerate(rounds, start=1)]
    cannot = [{"comparison": n, "verdict": UNTESTED, "reason": x["cannot"]} for n, x in about.items() if "cannot" in x]
    correlated = [
        {"comparison": name, "text": title, "round": 1, "metric": f"{METRICS[metric].name} and BLEU, rank correlation"}
        | {"difference": found.rho, "ci_low": found.ci_low, "ci_high": found.ci_high, "first": " ".join(found.rows)}
        | {"verdict": judge_correlation(found, together=name == "L7")}
        for title, recording in recordings.items()
        for name, metric in CORRELATED.items()
        for found in [rank_correlation(recording, metric)]
    ]
    every = pd.concat([*parts, pd.DataFrame(correlated), pd.DataFrame(cannot)], ignore_index=True)
    every["round"] = every["round"].astype("Int64")
    every["place"] = every["comparison"].map(lambda name: about.get(name, {"place": "no paper"})["place"])
    for side in ("first", "second"):
        runs = every[f"ours_{side}"].map(lambda x: x if isinstance(x, tuple) else ())
        every[f"n_{side}"] = runs.map(len)
        every[f"runs_{side}"] = runs.map(lambda x: " ".join(f"{one:g}" for one in x))
    return every.reindex(columns=_COLUMNS).round(4)


_COLUMNS = ["comparison", "place", "text", "round", "table", "first", "second", "direction", "metric", "baseline"]
_COLUMNS += ["test_set", "paper_first", "paper_second", "n_first", "n_second", "runs_first", "runs_second"]
_COLUMNS += ["difference", "ci_low", "ci_high", "p_corrected", "margin", "margin_p_corrected", "verdict", "reason"]
