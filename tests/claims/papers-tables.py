# %% after cell-002
found = judged["captions"].set_index(["first", "second", "metric"])
words = found["verdict"]
of_bahdanau = found[found["comparison"].str.startswith("B")]
assert (of_bahdanau["verdict"] == "agrees").all()
assert (of_bahdanau["ci_low"] > 0).all(), "to the right"
latest = again["captions"].combine_first(judged["captions"]).set_index(["first", "second", "metric"])
of_luong = latest[latest["comparison"].str.startswith("L") & latest["paper_first"].notna()]
assert of_luong["verdict"].value_counts().to_dict() == {"agrees": 10, "differs": 11, "undecided": 2}
left = [("dropout", "reversed", "bleu_beam"), ("local-p", "dot", "bleu_beam"), ("local-p", "dot", "perplexity")]
left += [("local-p", "local-p-dot", "bleu_beam"), ("local-p", "local-p-dot", "perplexity")]
left += [("general", "concat", "perplexity")]
gains = [("dot", "location", "copied_gain"), ("local-p", "location", "copied_gain")]
later = [
    ("local-p", "location", "bleu_beam"),
    ("local-p", "local-m", "bleu_beam"),
    ("local-p", "local-m", "perplexity"),
]
assert {*of_luong.index[of_luong["verdict"] == "differs"]} == {*left, *gains, *later}
assert of_luong.loc[gains, "difference"].abs().max() < 0.05, "at 0"

# %% after cell-004
from attnbook.experiments.runs import read_table

assert all(ledger.unrecorded(runs).empty for runs in recorded.values())
tried_again = ledger.second_round(captions, judged["captions"])
wanted = sum(len(config.seeds) for config in tried_again.plan.configs.values())
assert (len(tried_again.recorded), wanted) == (30, 30)
assert "gpu" not in read_table("papers-captions.again.environments"), "made on processors"
machines = read_table("papers-captions.environments").set_index("id").drop(columns="code").fillna("")
elsewhere = [run["model"] for run in captions.details if not machines.loc[run["environment"], "gpu"]]
once, all_five = ["concat", "ensemble", "local-p"], ["local-m-D2", "local-p-again", "local-p-dot"]
assert sorted(elsewhere) == sorted([*once, *5 * all_five])
margins = captions.plan.contents["verdicts"]["margins"]
assert {*margins["bleu_beam"].values()} == {0.5}
of_bleu = recorded["grammar"].plan.contents["verdicts"]["margins"]["bleu_beam"].values()
assert (min(of_bleu), max(of_bleu)) == (1, 5)
assert {*ledger.read_ledger()["comparisons"]} >= {*judged["captions"]["comparison"]}

# %% after cell-009
gain = found.loc[("bahdanau", "no-attention", "bleu_beam")]
assert f"{gain.difference:.1f}" == f"{gain.paper_first - gain.paper_second:.1f}" == "8.9"
bold = found.loc[("bahdanau-short", "no-attention", "bleu_beam")]
assert 0.4 < bold.difference / (bold.paper_first - bold.paper_second) < 0.6
by_words = captions.runs("words").query("model == 'base' and seed == 30").set_index("words")["sentences"]
assert by_words[["31-40", "41-50"]].sum() == 7
assert by_words.sum() == 1000
assert captions.plan.configs["bahdanau-short"].max_input_length == 12

# %% after learning-curves
of_rows = {
    row: np.array([run["dev"] for run in captions.details if run["model"] == row])  # runs, times, (step, loss, BLEU)
    for row in curves
}
assert all(dev.shape == (5, 8, 3) for dev in of_rows.values())
without, attending = (np.concatenate([*of_rows.values()][part]) for part in (slice(3), slice(3, None)))
assert without[0, :, 0].tolist() == [*range(450, 3601, 450)]
apart = attending[..., 1].max(axis=0) < without[..., 1].min(axis=0)
assert apart.tolist() == [False, False] + 6 * [True], "from step 1,350 on"
at_end = {row: dev[:, -1, 1] for row, dev in of_rows.items()}
assert at_end["dropout"].min() > max(at_end["base"].max(), at_end["reversed"].max())
assert [round(float(part[:, -1, 1].mean()), 1) for part in (without, attending)] == [2.3, 1.8]

# %% after cell-015
better = [("dot", "location"), ("dot", "general")]
assert all(words[(*pair, "bleu_beam")] == "agrees" for pair in better)
cost = found.loc[left[0]]
assert f"{cost.difference:.1f} {cost.paper_first - cost.paper_second:.1f}" == "-1.5 1.4"
attention = found.loc[("location-unfed", "dropout", "bleu_beam")]
assert 3.7 < attention.difference / (attention.paper_first - attention.paper_second) < 4
test = (
    captions.runs().query("test_set == 'test'").assign(gain=lambda runs: runs["bleu_beam_copied"] - runs["bleu_beam"])
)
means = test.groupby("model")[["bleu_beam", "gain"]].mean()
assert round(means.loc["dropout", "bleu_beam"]) == 13
assert round(means.loc["no-attention", "bleu_beam"]) == 20
fed = ["location", "dot", "general", "concat", "local-m", "local-p"]
assert means.loc[fed, "gain"].round(1).eq(0.1).all()
assert means.loc[[*fed, "local-p-dot"], "gain"].max() < 0.2
four = ledger.read_ledger()["tables"]["luong-4"]["rows"]
papers = [row["bleu_beam_copied"] - row["bleu_beam"] for row in four if "bleu_beam" in row]
assert f"{min(papers):.1f} {max(papers):.1f}" == "1.2 1.9"
assert f"{found.loc[('dot', 'general', 'bleu_beam'), 'difference']:.1f}" == "1.7"
configs = captions.plan.configs
assert configs["local-p"].options["score"] == "general"
assert configs["dot"].options["score"] == configs["local-p-dot"].options["score"] == "dot"
turned = found.loc[("local-p", "local-p-dot", "bleu_beam")]
assert f"{turned.difference:.1f} {turned.paper_first - turned.paper_second:.1f}" == "-1.6 1.0"
in_perplexity = found.loc[[("local-p", other, "perplexity") for other in ("dot", "local-p-dot")]]
assert (in_perplexity["p_corrected"] < 0.05).all() and (in_perplexity["difference"] > 0).all(), "dot has less"
[together] = ours[ours["table"] == "ensemble"].itertuples()
assert together.verdict == "agrees" and together.ours_first[0] > max(together.ours_second)
assert f"{together.difference:.1f} {together.paper_first - together.paper_second:.1f}" == "1.9 2.1"
of_runs = test.set_index("model")
assert together.ours_first[0] > of_runs.loc["local-p", "bleu_beam"].max()
copied = of_runs["bleu_beam_copied"]
assert f"{copied['ensemble'] - copied['local-p-again'].mean():.1f}" == "2.0"
errors = captions.runs().query("test_set == 'captions'").groupby("model")["alignment_error_rate"]
mean_errors = errors.mean()
assert f"{mean_errors['ensemble']:.2f} {mean_errors['local-p-again']:.2f}" == "0.34 0.39"
led = found.loc[[("local-p", other, "bleu_beam") for other in ("dot", "local-p-dot")]]
assert (led["p_corrected"] > 0.05).all() and (led["margin_p_corrected"] < 0.05).all(), "no order, but no lead"
assert f"{led['difference'].iloc[0]:.1f}" == "-2.0"
assert configs["ensemble"].members == "local-p-again"
assert configs["local-p-again"].digest == configs["local-p"].digest
assert configs["local-p-again"].seeds == configs["local-p"].seeds

# %% after captions-again
once_more = again["captions"].set_index(["first", "second", "metric"])
assert len(once_more) == 8 and once_more["paper_first"].isna().sum() == 1
assert all(len(runs) == 5 for side in ("ours_first", "ours_second") for runs in once_more[side])
assert once_more["verdict"].value_counts().to_dict() == {"agrees": 2, "differs": 3, "undecided": 3}
assert (once_more.loc[once_more["comparison"] == "L3", "verdict"] == "agrees").all()
assert once_more["verdict"]["location", "location-unfed", "bleu_beam"] == "undecided"
behind, no_lead = once_more.loc[later[1]], once_more.loc[later[0]]
assert behind["p_corrected"] < 0.05 and f"{behind['difference']:.1f}" == "-2.5"
assert once_more.loc[later[2], "p_corrected"] < 0.05 and once_more.loc[later[2], "difference"] > 0
assert no_lead["p_corrected"] > 0.05 > no_lead["margin_p_corrected"] and no_lead["margin"] == 0.5
rows_again = tried_again.runs().query("test_set == 'test'").groupby("model")["bleu_beam"].mean()
moved_by = rows_again - means["bleu_beam"][rows_again.index]
assert f"{means['bleu_beam']['local-p']:.1f} {rows_again['local-p']:.1f}" == "24.8 23.0"
assert len(moved_by) == 6 and moved_by.drop("local-p").abs().max() < 0.6
errors_again = tried_again.runs().query("test_set == 'captions'").groupby("model")["alignment_error_rate"].mean()
assert errors_again["local-m"] < errors_again["local-p"] < errors_again["location"]
fed_by = [
    found.loc[("location", "location-unfed", "bleu_beam")],
    once_more.loc["location", "location-unfed", "bleu_beam"],
]
assert [f"{gain['difference']:.1f}" for gain in fed_by] == ["0.4", "0.1"]

# %% after cell-017
links = ledger.rank_correlation(captions, "alignment_error_rate")
assert links.ci_high < 0, "fewer wrong links, more BLEU"
its = [of_runs["bleu_beam"]["ensemble"], of_runs["bleu_beam"]["local-m"].mean()]
assert [f"{bleu:.1f}" for bleu in its] == ["26.9", "25.0"]
assert [f"{mean_errors[name]:.2f}" for name in ("ensemble", "local-m")] == ["0.34", "0.33"]
of_six = [row for row in ledger.read_ledger()["tables"]["luong-6"]["rows"] if "papers-captions" in row]
replaced = [ledger.paper_figure("papers-captions", row["papers-captions"], "bleu_beam_copied") for row in of_six]
rho = stats.spearmanr([row["alignment_error_rate"] for row in of_six], replaced).statistic
assert (len(of_six), f"{rho:.2f}") == (4, "-0.63") and abs(rho - links.rho) < 0.05, "about the same"
assert not links.missing and len(links.rows) == 7
assert ledger.rank_correlation(captions, "perplexity").ci_high < 0
of_both = [ledger.rank_correlation(recorded["grammar"], metric) for metric in ledger.CORRELATED.values()]
assert all(of.ci_high < 0 and not of.missing and len(of.rows) == 9 for of in of_both)

world = experiments.Recording("world")
groups = [world.plan.configs[name].tuning_group for name in ("global", "global-feeding")]
assert len({*map(world.best_learning_rate, groups)}) == 2, "another learning rate"
pace = world.costs["words_per_second"]
assert 0.4 < pace["global-feeding"] / pace["global"] < 0.6

# %% after cell-019
of_grammar = asked.set_index(["first", "second", "test_set"])
of_attention = [(f"bahdanau-{n}", f"no-attention-{n}") for n in (2, 3, 4)]
gains = of_grammar.loc[[(*pair, n) for pair in of_attention for n in (2, 4, 8)]]
assert f"{gains['difference'].min():.0f} {gains['difference'].max():.0f}" == "11 77"
assert gains["verdict"].tolist() == ["agrees", "agrees", "undecided"] + 6 * ["agrees"]
for one, other in (("no-attention-4", "no-attention-2"), ("bahdanau-4", "bahdanau-2")):
    assert of_grammar.loc[(one, other), "verdict"].to_dict() == {2: "differs", 4: "agrees", 8: "agrees"}
assert of_grammar.loc[("no-attention-4", "no-attention-2", 2), "ci_high"] < 0, "even worse"
short = recorded["grammar"].runs().query("model == 'bahdanau-2' and clauses == 2")["bleu_beam"]
assert short.min() > 99
with_metric = asked.set_index(["first", "second", "metric", "test_set"])["verdict"]
assert (with_metric["dot", "location"] == "agrees").all() and len(with_metric["dot", "location"]) == 4
assert (with_metric["dot", "general"] == "undecided").all()
no_better = with_metric["local-p", "dot"]
assert no_better["bleu_beam"].to_dict() == {3: "differs", 5: "undecided"}
assert (no_better["perplexity"] == "differs").all()
ahead = asked.query("first == 'local-p' and second == 'dot'").set_index(["metric", "test_set"])
found_ahead = ahead.loc[[("bleu_beam", 3), ("perplexity", 5)]]
assert (found_ahead["p_corrected"] < 0.05).all() and ((found_ahead["difference"] < 0) == [True, False]).all()
assert with_metric["general", "concat", "perplexity", 3] == "differs"
moved = asked.query("metric == 'bleu_beam'").set_index(["first", "second", "test_set"])
turned = moved.loc[("local-m", "general")]
assert turned["verdict"].to_dict() == {3: "differs", 5: "agrees"}
assert turned["difference"].round().to_dict() == {3: -15, 5: 12}
assert moved.loc[("local-p", "local-m", 3), "verdict"] == "agrees"
assert (with_metric["local-p", "local-p-dot"] == "undecided").all()
errors_here = asked.query("metric == 'alignment_error_rate'").set_index(["first", "second"])
windowed = errors_here.loc[[("local-m", "location"), ("local-p", "location")]]
assert (windowed["verdict"] == "agrees").all() and windowed["difference"].round(1).between(-0.4, -0.2).all()
assert {*(windowed["paper_first"] - windowed["paper_second"]).round(2)} == {-0.05, -0.03}
assert errors_here.loc[("local-m", "local-p"), "verdict"].tolist() == ["differs", "undecided"]
assert (errors_here.loc[("local-m", "local-p"), "difference"] > 0).all()
longer = asked.query("comparison == 'B3'").set_index("test_set")
assert longer["verdict"].to_dict() == {2: "differs", 4: "differs", 6: "differs", 8: "undecided"}
steps = recorded["grammar"].plan.configs
assert steps["bahdanau-longer"].max_steps == 4 * steps["bahdanau-3"].max_steps
assert f"{longer['paper_first'].iloc[0] - longer['paper_second'].iloc[0]:.1f}" == "1.7"
bold_here = of_grammar.loc[("bahdanau-2", "no-attention-4")]
assert (bold_here.loc[[2, 4], "difference"].round(-1) == 40).all()
assert bold_here["verdict"].to_dict() == {2: "agrees", 4: "agrees", 8: "undecided"}
from pathlib import Path

assert Path("papers-tables.csv").read_text("utf-8") == beside.ledger_frame(recorded).to_csv(index=False), "make refresh"
runs_of = of_runs["bleu_beam"]
spans = {name: f"{runs_of[name].max() - runs_of[name].min():.1f}" for name in ("dot", "local-m")}
assert spans == {"dot": "0.3", "local-m": "2.2"}
of_papers = [row["bleu_beam"] for row in ledger.read_ledger()["tables"]["luong-4"]["rows"] if "bleu_beam" in row]
assert f"{max(of_papers) - min(of_papers):.1f}" == "1.7"
twice = runs_of["local-p"].to_numpy(), runs_of["local-p-again"].to_numpy()
assert [f"{abs(again - first):.1f}" for first, again in zip(*twice, strict=True)][1::3] == ["0.8", "0.3"]
assert f"{abs(twice[1] - twice[0]).max():.1f}" == "0.8"
assert [f"{runs.mean():.1f}" for runs in twice] == ["24.8", "25.0"]
by_run = {(run["model"], run["seed"]): machines.loc[run["environment"]] for run in captions.details}
where = [[by_run[name, seed] for seed in range(30, 35)] for name in ("local-p", "local-p-again")]
assert [bool(first["gpu"]) for first in where[0]] == 4 * [True] + [False]
assert where[0][-1].equals(where[1][-1]) and where[0][0]["torch"] < where[1][0]["torch"]
assert runs_of["general"].min() > runs_of["local-m"].min()
assert runs_of["general"].max() < runs_of["local-m"].max()

# %% after second-round
of_second = again["grammar"]
assert len(of_second) == 16 and (of_second["first"] != "hybrid").sum() == 13
assert all(len(runs) == 5 for side in ("ours_first", "ours_second") for runs in of_second[side])
assert of_second["verdict"].value_counts().to_dict() == {"agrees": 1, "differs": 3, "undecided": 12}
second = of_second.set_index(["first", "second", "metric", "test_set"])
verdict = second["verdict"]
assert verdict["bahdanau-2", "no-attention-2", "bleu_beam", 8] == "agrees"
assert verdict["bahdanau-2", "no-attention-4", "bleu_beam", 8] == "undecided"
costs = second.loc[("bahdanau-longer", "bahdanau-3", "bleu_beam", 8)]
assert costs["p_corrected"] < 0.05 and f"{costs['difference']:.0f}" == "-5"
assert (verdict["dot", "general"] == "undecided").all() and len(verdict["dot", "general"]) == 2
assert verdict["local-p", "dot"].tolist() == ["undecided"]
by_score = verdict["local-p", "local-p-dot"]
assert by_score.index[by_score == "differs"].tolist() == [("bleu_beam", 5)] and len(by_score) == 4
excluded = second.loc[("local-p", "local-p-dot", "bleu_beam", 5)]
assert excluded["p_corrected"] > 0.05 > excluded["margin_p_corrected"], "no order, but no lead"

# %% after cell-034
assert (eight["verdict"] == "supported").tolist() == [True] + 7 * [False]
assert (eight["verdict"][1:] == "inconclusive").all()
assert 12 < least < 13

# %% after captions-once
planned = {row["name"] for row in real.plan.contents["tables"]["changes"]["rows"]}
assert planned == {*single} - {"luong", "luong-both"}
assert all(bleu[name].count() == len(real.plan.configs[name].seeds) for name in single)
of = {name: real.plan.configs[name].options for name in single}
base = {name: (of["luong-both"] if name == "subwords" else of["luong"]) for name in planned}
assert all(len({*of[name].items()} - {*base[name].items()}) <= 2 for name in planned)
