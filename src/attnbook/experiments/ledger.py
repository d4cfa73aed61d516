"""The papers' figures beside ours, with a verdict on each comparison (laboratory, "The papers' tables").

``ledger.toml`` has what the papers report. What is claimed of our runs, and how it is judged, is in the plans
``papers-captions`` and ``papers-grammar``.
"""

import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool
from scipy import stats

from attnbook.experiments.plan import Plan
from attnbook.experiments.runs import Recording
from attnbook.experiments.verdicts import compare, correct_together

PLANS = {"papers-captions": "captions", "papers-grammar": "grammar"}
"""The plans that the ledger is made of, with their titles."""

WORDS = {
    "supported": "agrees",
    "reversed": "differs",
    "ruled out": "differs",
    "inconclusive": "undecided",
    "not recorded": "not recorded yet",
}
"""Words of the ledger for the verdicts of a plan."""

UNTESTED = "cannot be tested here"
"""The ledger's word for a comparison without a claim; its reason stands beside it."""

_SIDES = ("first", "second")

CORRELATED = {"L4": "alignment_error_rate", "L7": "perplexity"}
"""Comparisons by a correlation with BLEU, and the other metric: the first is said not to go with it, the second to."""


class Correlation(NamedTuple):
    """Spearman's correlation of two metrics over rows of a plan, with a 95 percent interval.

    ``rows`` are those it is of, and ``missing`` those that lack runs.
    """

    rho: float
    ci_low: float
    ci_high: float
    rows: tuple[str, ...]
    missing: tuple[str, ...] = ()


@cache
def read_ledger() -> Mapping[str, Any]:
    """Read what the papers report: ``comparisons`` by name, and ``tables`` with their rows."""
    return tomllib.loads(Path(__file__).with_name("ledger.toml").read_text("utf-8"))


def unrecorded(recording: Recording) -> pd.DataFrame:
    """Return the rows of a plan that lack runs, with ``recorded`` and ``planned`` numbers of runs."""
    of = pd.Series([name for name, _ in recording.recorded], dtype=str).value_counts()
    rows = [(name, int(of.get(name, 0)), len(config.seeds)) for name, config in recording.plan.configs.items()]
    return pd.DataFrame(rows, columns=["row", "recorded", "planned"]).query("recorded < planned")


def runs_of(recording: Recording) -> pd.DataFrame:
    """Return the metrics of all recorded runs, and what each gains by replacing unknown words."""
    runs = recording.runs()
    runs = runs.reindex(columns=[*dict.fromkeys([*runs, "perplexity", "bleu_beam", "bleu_beam_copied"])])
    return runs.assign(copied_gain=runs["bleu_beam_copied"] - runs["bleu_beam"])


def judge_plan(recording: Recording) -> pd.DataFrame:
    """Judge the claims of a plan by its rules.

    A claim is judged when all runs of both of its rows are recorded. Until then it counts in the correction.

    Returns
    -------
    DataFrame
        A row for each claim, as `attnbook.experiments.verdicts.judge_claims` returns them, with a ``verdict`` in the
        ledger's words; its ``comparison`` and ``table``; ``paper_first`` and ``paper_second``, the paper's figures, NaN
        if it has none; and ``ours_first`` and ``ours_second``, tuples of all runs.
    """
    runs, partial = runs_of(recording), unrecorded(recording)["row"]
    judged = [_judge_table(recording.plan, runs, partial, table) for table in recording.plan.contents["tables"]]
    return pd.concat([*judged, _judge_ensembles(recording.plan, runs)], ignore_index=True)


def second_round(recording: Recording, judged: pd.DataFrame) -> Recording:
    """Return the runs of a plan's second round: the rows of the claims that the first left undecided, with new seeds.

    ``judged`` is what `judge_plan` returns. A plan without a section ``again`` has no such rows, and none are known
    before its first round is recorded.
    """
    plan, about = recording.plan, recording.plan.contents.get("again")
    name, configs = f"{plan.name}.again", {}
    if about and unrecorded(recording).empty:
        undecided = judged[judged["verdict"] == "undecided"]
        rows = {*undecided["first"], *undecided["second"]}
        seeds = tuple(range(about["first"], about["first"] + about["num_seeds"]))
        configs = {row: plan.configs[row].replace(plan=name, seeds=seeds) for row in plan.configs if row in rows}
    return Recording(Plan(name, plan.contents, configs), recording.folder)


def judge_again(recording: Recording, judged: pd.DataFrame) -> pd.DataFrame:
    """Judge the claims of a plan that its first round left undecided, on the runs of its second round alone.

    Parameters
    ----------
    recording : Recording
        The recorded runs of the first round.
    judged : DataFrame
        All claims, as `judge_plan` returns them.

    Returns
    -------
    DataFrame
        The rows of these claims, with the index and the columns that `judge_plan` gives them.
    """
    again = second_round(recording, judged)
    if not again.plan.configs:
        return judged[:0]
    runs, partial, parts = runs_of(again), unrecorded(again)["row"], []
    for table, claims in judged.groupby("table", sort=False):
        left = claims["verdict"] == "undecided"
        if left.any():
            tried = _judge_table(recording.plan, runs, partial, table, left.to_numpy())
            parts.append(tried.set_index(claims.index[left]))
    return pd.concat(parts)


def _judge_table(
    plan: Plan, runs: pd.DataFrame, partial: Collection[str], table: str, only: Bool[np.ndarray, "claims"] | None = None
) -> pd.DataFrame:
    """Judge the claims of a table, and its comparisons of two metrics of the same runs, as a family; or `only` some."""
    complete = runs[~runs["model"].isin(partial)]
    contents, claims = plan.contents["tables"][table], plan.claims(table)
    entries = [contents["claims"][n] for n in claims["entry"]] + [*contents.get("within", ())]
    tested = [compare(complete, claims).assign(baseline=claims["metric"])] if len(claims) else []
    tested += [_compare_within(plan, complete, entry) for entry in contents.get("within", ())]
    if not tested:
        return pd.DataFrame()
    together = pd.concat(tested, ignore_index=True)
    if only is not None:
        together, entries = together[only].reset_index(drop=True), [*compress(entries, only)]
    judged = correct_together(together, planned=True)
    figures = [_figures(plan.name, c, entry) for c, entry in zip(judged.itertuples(), entries, strict=True)]
    return judged.assign(
        verdict=judged["verdict"].map(WORDS),
        comparison=[entry["row"] for entry in entries],
        table=table,
        paper_first=[first for first, _ in figures],
        paper_second=[second for _, second in figures],
        ours_first=[all_runs(runs, c.first, c.metric, c.test_set) for c in judged.itertuples()],
        ours_second=[all_runs(runs, c.second, c.baseline, c.test_set) for c in judged.itertuples()],
    )


def _compare_within(plan: Plan, runs: pd.DataFrame, entry: Mapping[str, Any]) -> pd.DataFrame:
    """Test two metrics of the same runs by a paired test, as if each were a model's."""
    [test_set], name, metric = plan.contents["verdicts"]["claims"]["test_set"], entry["of"], entry["first"]
    margin = plan.contents["verdicts"]["margins"][entry["second"]][test_set]
    claim = {"direction": entry["direction"], "metric": metric, "test_set": test_set, "margin": margin}
    own = runs[runs["model"] == name]
    both = [own.assign(model=side, **{metric: own[entry[side]]}) for side in _SIDES] if len(own) else [runs]
    tested = compare(pd.concat(both), pd.DataFrame([claim | {"first": "first", "second": "second"}]), paired=True)
    return tested.assign(claim=plan.configs[name].label, first=name, second=name, baseline=entry["second"])


def _judge_ensembles(plan: Plan, runs: pd.DataFrame) -> pd.DataFrame:
    """Judge ensembles, each one translation, which has no test: whether it has more BLEU than each of its members."""
    rows = []
    for name, members in ((name, config.members) for name, config in plan.configs.items() if config.members):
        ours, every = (all_runs(runs, row, "bleu_beam", "test") for row in (name, members))
        whole = ours and len(every) == len(plan.configs[members].seeds)
        paper_first, paper_second = plan.contents["tables"]["ensemble"]["paper"]
        judged = {
            "comparison": "L1",
            "table": "ensemble",
            "first": name,
            "second": members,
            "direction": "more",
            "metric": "bleu_beam",
            "baseline": "bleu_beam",
            "test_set": "test",
            "difference": ours[0] - np.mean(every) if whole else np.nan,
            "verdict": ("agrees" if ours[0] > max(every) else "differs") if whole else "not recorded yet",
            "paper_first": paper_first,
            "paper_second": paper_second,
            "ours_first": ours,
            "ours_second": every,
        }
        rows.append(judged)
    return pd.DataFrame(rows)


def all_runs(runs: pd.DataFrame, row: str, metric: str, test_set: str | int) -> tuple[float, ...]:
    """Return a metric of every run of a row, by seed."""
    by = "clauses" if "clauses" in runs else "test_set"
    if metric not in runs:
        return ()
    return tuple(runs[(runs["model"] == row) & (runs[by] == test_set)].sort_values("seed")[metric].dropna().tolist())


def paper_figure(plan: str, row: str, metric: str) -> float:
    """Look up the figure of the paper's row that a row of a plan stands for; NaN if there is none."""
    rows = [one for table in read_ledger()["tables"].values() for one in table["rows"]]
    return next((one[metric] for one in rows if one.get(plan) == row and metric in one), np.nan)


def _figures(plan: str, claim: Any, entry: Mapping[str, Any]) -> tuple[float, float]:
    """Return the paper's two figures: those of the claim or, of a further metric, those of its rows."""
    if claim.metric in entry.get("metric", [claim.metric])[:1]:
        return tuple(entry["paper"]) or (np.nan, np.nan)
    return paper_figure(plan, claim.first, claim.metric), paper_figure(plan, claim.second, claim.metric)


def verdict_of(verdicts: Collection[str]) -> str:
    """Return the verdict on a comparison, from those on its claims."""
    worst_first = ("differs", "not recorded yet", "undecided", "agrees")
    return min(verdicts, key=worst_first.index)


def rank_correlation(recording: Recording, metric: str, draws: int = 10_000) -> Correlation:
    """Correlate a metric of the rows of the table "scores", and of those its claims name, with BLEU.

    Parameters
    ----------
    recording : Recording
        The recorded runs of one of `PLANS`.
    metric : str
        The metric. On the grammar, both are taken at three clauses.
    draws : int, default 10000
        Draws of the runs of each row, with replacement, that make the interval.
    """
    plan, runs, table = recording.plan, runs_of(recording), recording.plan.contents["tables"]["scores"]
    claims = plan.claims("scores")
    rows = dict.fromkeys([*(row["name"] for row in table["rows"]), *claims["first"], *claims["second"]])
    where = 3 if "clauses" in runs else "test"
    apart = "captions" if metric == "alignment_error_rate" and where == "test" else where
    pairs = ([all_runs(runs, row, name, at) for name, at in ((metric, apart), ("bleu_beam", where))] for row in rows)
    both = {row: np.array(pair) for row, pair in zip(rows, pairs, strict=True) if pair[0]}  # metrics, runs
    missing = tuple(row for row in unrecorded(recording)["row"] if row in rows)
    if len(both) < 3:
        return Correlation(np.nan, np.nan, np.nan, tuple(both), missing)
    rng = np.random.default_rng(0)
    chosen = [rng.integers(x.shape[1], size=(draws, x.shape[1])) for x in both.values()]
    drawn = np.array([x[:, n].mean(axis=2) for x, n in zip(both.values(), chosen, strict=True)])
    ranks = stats.rankdata(drawn, axis=0)  # rows, metrics, draws
    ranks -= ranks.mean(axis=0)
    rhos = ranks.prod(axis=1).sum(axis=0) / np.sqrt((ranks**2).sum(axis=0).prod(axis=0))
    means = np.array([x.mean(axis=1) for x in both.values()])
    low, high = np.quantile(rhos, [0.025, 0.975])
    return Correlation(stats.spearmanr(*means.T).statistic, low, high, tuple(both), missing)


def judge_correlation(found: Correlation, *, together: bool) -> str:
    """Judge that two metrics go together, or that they do not, by whether the interval of their correlation holds 0.

    It is judged when all runs of all rows are recorded, as a claim is.
    """
    if np.isnan(found.rho) or found.missing:
        return "not recorded yet"
    return "agrees" if (found.ci_low <= 0 <= found.ci_high) != together else "differs"
