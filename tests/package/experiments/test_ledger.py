"""The ledger: verdicts by hand on a table of a few runs, figures that agree with the plans, and what the page shows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from attnbook.experiments import Recording, beside, ledger, read_plan

BLEU = {
    "base": [10, 11, 12, 11, 10],
    "reversed": [20, 21, 22, 23, 21],
    "dropout": [10, 11, 12, 10, 11],
    "location-unfed": [8, 12, 16, 9, 13],
    "location": [50, 51, 52, 50],  # one run is to come
    "local-p": [24, 25, 27, 26, 28],
}
GAIN = [1.0, 1.1, 0.9, 1.2, 1.0]


def recording_of(**more):
    """Make a recording of the captions' plan with these runs; perplexity goes against BLEU, errors with it."""
    parts = []
    for name, runs in (BLEU | more).items():
        part = pd.DataFrame({"model": name, "test_set": "test", "seed": range(30, 30 + len(runs)), "bleu_beam": runs})
        part["bleu_beam"] = part["bleu_beam"].astype(float)
        gains = (GAIN * len(runs))[: len(runs)]
        part = part.assign(bleu_beam_copied=part["bleu_beam"] + gains, perplexity=100 - part["bleu_beam"])
        parts += [part, part.assign(test_set="captions", alignment_error_rate=part["bleu_beam"] / 100)]
    runs = pd.concat(parts, ignore_index=True).assign(bleu_beam_known=lambda runs: runs["bleu_beam"] + 1)
    recording = Recording("papers-captions")
    recording.details = [{"model": name, "seed": seed} for name, seed in zip(runs["model"], runs["seed"], strict=True)]
    recording.runs = lambda by=None: runs
    return recording


def test_each_verdict_by_hand():
    judged = ledger.judge_plan(recording_of()).query("table == 'additions'")
    words = ["agrees", "differs", "undecided", "not recorded yet", "not recorded yet", "agrees"]
    assert judged["verdict"].tolist() == words
    reversed_, *_, replaced = judged.itertuples()
    test = stats.ttest_ind(BLEU["reversed"], BLEU["base"], equal_var=False)
    found = [reversed_.difference, reversed_.ci_low, reversed_.ci_high, reversed_.p_value]
    assert found == pytest.approx([10.6, *test.confidence_interval(), test.pvalue]), "both rows' runs"
    assert (reversed_.ours_first, reversed_.ours_second) == ((20, 21, 22, 23, 21), (10, 11, 12, 11, 10))
    assert (reversed_.paper_first, reversed_.paper_second) == (12.6, 11.3)
    paired = stats.ttest_1samp(GAIN, 0)
    assert [replaced.difference, replaced.p_value] == pytest.approx([np.mean(GAIN), paired.pvalue])


def test_runs_that_are_to_come_count_in_their_family():
    judged = ledger.judge_plan(recording_of()).query("table == 'additions'")
    assert judged["p_value"].notna().sum() == 4
    p = judged["p_value"].dropna().sort_values().to_numpy()
    expected = np.minimum(np.maximum.accumulate(p * [6, 5, 4, 3]), 1)
    assert judged["p_corrected"].dropna().sort_values().to_numpy() == pytest.approx(expected)


def test_a_second_round_judges_what_is_undecided_by_its_own_runs(monkeypatch):
    rows = read_plan("papers-captions").configs
    whole = {"location": [50] * 5, "location-unfed": [8, 12, 16, 9, 13], "local-m": [20, 32, 25, 28, 26]}
    first = recording_of(**{name: [30] * len(row.seeds) for name, row in rows.items() if name not in BLEU} | whole)
    contents = {name: part for name, part in first.plan.contents.items() if name != "again"}
    first.plan = replace(first.plan, contents=contents)
    assert not ledger.second_round(first, ledger.judge_plan(first)).plan.configs, "the plan has no second round"
    first.plan = replace(first.plan, contents=contents | {"again": {"first": 40, "num_seeds": 3}})
    by_first = ledger.judge_plan(first)
    undecided = by_first.query("verdict == 'undecided'")
    second = ledger.second_round(first, by_first)
    assert {*second.plan.configs} == {*undecided["first"], *undecided["second"]} > {"dropout", "location-unfed"}
    assert second.plan.configs["dropout"] == rows["dropout"].replace(plan="papers-captions.again", seeds=(40, 41, 42))
    assert second.plan.configs["dropout"].digest == rows["dropout"].digest

    none: dict[str, list[int]] = {name: [] for name in BLEU}
    runs = recording_of(**none | {"location-unfed": [20, 21, 22], "dropout": [10, 12, 11]})
    second.details = [run | {"seed": run["seed"] + 10} for run in runs.details]
    second.runs = runs.runs
    monkeypatch.setattr(ledger, "second_round", lambda *_: second)
    judged = ledger.judge_again(first, by_first)
    assert judged.index.tolist() == undecided.index.tolist()
    found = judged.set_index(["first", "second", "metric"])
    one = found.loc["location-unfed", "dropout", "bleu_beam"]
    test = stats.ttest_ind([20, 21, 22], [10, 12, 11], equal_var=False)
    assert [one["p_value"], one["p_corrected"]] == pytest.approx(
        [test.pvalue, test.pvalue * sum(judged["table"] == "additions")]
    )
    assert (one["verdict"], one["ours_first"], one["ours_second"]) == ("agrees", (20, 21, 22), (10, 12, 11))
    assert {*judged["verdict"]} == {"agrees", "not recorded yet"}
    assert beside.verdicts_of(first)["L3"] == "not recorded yet"


def test_a_comparison_agrees_only_if_all_of_its_claims_do():
    assert ledger.verdict_of(["agrees", "agrees"]) == "agrees"
    assert ledger.verdict_of(["agrees", "undecided"]) == "undecided"
    assert ledger.verdict_of(["undecided", "not recorded yet"]) == "not recorded yet"
    assert ledger.verdict_of(["not recorded yet", "differs"]) == "differs"


@pytest.mark.parametrize(("ensemble", "verdict"), [([29], "agrees"), ([28], "differs"), ([], "not recorded yet")])
def test_an_ensemble_must_be_better_than_each_member(ensemble, verdict):
    members = {"local-p-again": BLEU["local-p"], "local-p": [30] * 5}
    judged = ledger.judge_plan(recording_of(ensemble=ensemble, **members)).query("table == 'ensemble'")
    assert judged[["verdict", "paper_first", "paper_second"]].to_numpy().tolist() == [[verdict, 23.0, 20.9]]


def test_the_correlation_is_spearman_s_of_means_and_of_means_of_drawn_runs():
    more = {"dot": [26.5, 27.1], "general": [25, 27], "location": [23, 24, 26]}
    recording = recording_of(**more)
    found = ledger.rank_correlation(recording, "perplexity", draws=20)
    assert {*found.rows} == {"dot", "general", "location", "local-p"}
    assert (found.rho, found.ci_low, found.ci_high) == (-1, -1, -1), "perplexity is 100 minus BLEU"
    assert {"concat", "local-m"} <= {*found.missing}
    assert "local-p" not in found.missing
    rng, drawn = np.random.default_rng(0), []
    runs = {name: np.array((BLEU | more)[name]) for name in found.rows}
    chosen = [rng.integers(len(x), size=(20, len(x))) for x in runs.values()]
    recording.runs().loc[lambda r: r["model"] == "dot", "perplexity"] = [10.0, 95.0] * 2
    for n in range(20):
        of = {name: x[draw[n]] for (name, x), draw in zip(runs.items(), chosen, strict=True)}
        other = {name: 100 - x for name, x in of.items()} | {"dot": np.array([10, 95])[chosen[0][n]]}
        drawn.append(stats.spearmanr([x.mean() for x in of.values()], [x.mean() for x in other.values()]).statistic)
    again = ledger.rank_correlation(recording, "perplexity", draws=20)
    assert [again.ci_low, again.ci_high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]))
    assert again.ci_low < again.ci_high


def test_a_correlation_is_judged_by_whether_its_interval_holds_0():
    held, not_held = ledger.Correlation(-0.3, -0.8, 0.1, ()), ledger.Correlation(-0.7, -0.9, -0.2, ())
    assert [ledger.judge_correlation(x, together=False) for x in (held, not_held)] == ["agrees", "differs"]
    assert [ledger.judge_correlation(x, together=True) for x in (held, not_held)] == ["differs", "agrees"]
    assert ledger.judge_correlation(held._replace(missing=("dot",)), together=False) == "not recorded yet"
    assert ledger.judge_correlation(ledger.rank_correlation(recording_of(), "perplexity"), together=True).startswith(
        "not"
    )


@pytest.mark.parametrize("name", ledger.PLANS)
def test_the_plan_s_figures_are_those_of_the_papers_tables(name):
    """A claim names the papers' figures; so does the table of the ledger, with the rows that stand for them here."""
    tables = ledger.read_ledger()["tables"].values()
    every = {x for table in tables for row in table["rows"] for x in row.values() if isinstance(x, float)}
    for table in read_plan(name).contents["tables"].values():
        for claim in table["claims"]:
            metric = claim.get("metric", ["bleu_beam"])[0]
            for side, paper in zip(("first", "second"), claim["paper"], strict=False):
                first, *less = ("bleu_beam_copied", "bleu_beam") if metric == "copied_gain" else (metric,)
                ours = ledger.paper_figure(name, claim[side], first)
                ours -= sum(ledger.paper_figure(name, claim[side], x) for x in less)
                assert paper == pytest.approx(ours) or (np.isnan(ours) and paper in every), claim
        for entry in table.get("within", ()):
            ours = [ledger.paper_figure(name, entry["of"], entry[side]) for side in ("first", "second")]
            assert entry["paper"] == ours
        if "paper" in table:
            ours = [ledger.paper_figure(name, row, "bleu_beam_copied") for row in ("ensemble", "local-p")]
            assert table["paper"] == ours


def test_every_comparison_has_a_claim_or_a_reason():
    claimed = {name for plan in ledger.PLANS for name in beside.verdicts_of(Recording(plan))} - {"hybrid"}
    about = ledger.read_ledger()["comparisons"]
    assert [*about] == [f"B{n}" for n in range(1, 7)] + [f"L{n}" for n in range(1, 9)]
    assert claimed == {name for name, one in about.items() if "cannot" not in one}


def test_what_is_not_recorded_is_told_row_by_row():
    missing = ledger.unrecorded(recording_of()).set_index("row")
    assert missing.loc["location"].tolist() == [4, 5]
    assert missing.loc["ensemble"].tolist() == [0, 1]
    assert "local-p" not in missing.index


def test_tables_show_all_runs_beside_the_paper_s_figures():
    lines = str(beside.papers_table("luong-1", recording_of(), ["bleu_beam", "perplexity"])).splitlines()
    lines = [" ".join(line.split()) for line in lines]
    assert lines[2] == "+ reversed source 12.6 21.4 9.9 78.60 5 20.0 21.0 22.0 23.0 21.0"
    assert lines[-3].endswith("– 74.00 5 25.0 26.1 27.9 27.2 29.0"), "BLEU if replaced"
    assert lines[-1].endswith("23.0 – – – – –")
    claims = str(beside.claims_table(ledger.judge_plan(recording_of())))
    assert "L1 reversed − base" in claims
    assert "4,\N{NO-BREAK SPACE}5" in claims
    assert "+10.6" in claims


def test_every_recorded_row_is_shown_with_the_paper_s_error():
    recording = recording_of()
    table = str(beside.rows_table(recording))
    recording.plan = replace(recording.plan, name=f"{recording.plan.name}.again")
    assert str(beside.rows_table(recording)) == table, "also of a second round"
    lines = table.replace("\N{NO-BREAK SPACE}", " ").splitlines()
    assert len(lines) == 1 + len(BLEU)
    [row] = [line for line in lines if line.startswith("local-p, general")]
    assert row.split()[2:] == ["0.36", "0.26", "(0.24", "to", "0.28)", "26.0", "(24.0", "to", "28.0)", "5"]


def test_the_file_has_a_row_for_each_claim_and_reason():
    recordings = {title: Recording(name) for name, title in ledger.PLANS.items()}
    frame = beside.ledger_frame(recordings)
    reasons = sum("cannot" in one for one in ledger.read_ledger()["comparisons"].values())
    first = [ledger.judge_plan(recording) for recording in recordings.values()]
    judged = [*first, *map(ledger.judge_again, recordings.values(), first)]
    assert len(frame) == sum(map(len, judged)) + 2 * len(ledger.CORRELATED) + reasons
    assert (frame["verdict"] == ledger.UNTESTED).sum() == frame["reason"].notna().sum() == reasons
    assert frame["runs_first"].str.split().map(len).tolist() == frame["n_first"].tolist()
