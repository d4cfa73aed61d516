# %% after standard-error
assert first.min() > second.max() and len(first) == len(second) == 10
assert round(difference / error) == 17

# %% after cell-013
which = "first == 'bahdanau' and second == 'global-dot' and test_set == 4 and metric == 'exact_match'"
mine = judged.loc["models"].query(which).squeeze()
assert np.isclose(mine["p_value"], test.pvalue, atol=0)
assert np.isclose(mine["p_corrected"], corrected.iloc[place], atol=0)
assert mine["verdict"] == "supported" and mine["direction"] == "more"
half = (mine["ci_high"] - mine["ci_low"]) / 2
assert np.isclose(half, stats.t.isf(0.025, test.df) * error)
against = stats.ttest_ind(first - mine["margin"], second, equal_var=False, alternative="less").pvalue
assert np.isclose(mine["margin_p_value"], against) and mine["margin"] == 0.05

# %% after cell-002
assert counts.loc["all"].sum() == len(judged) and len(parts) == 6
unread = judged.query("verdict == 'not recorded'")
assert (unread["test_set"] == 8).all()
assert unread[["first", "second"]].agg(" ".join, axis=1).str.contains("location").all()
assert not judged.duplicated(["claim", "metric", "test_set"]).any()
of_parts = [parts[name]["title"] for name in ("path", "order")]
shares = counts["inconclusive"] / counts.sum(axis=1)
assert shares[of_parts].min() > 0.5, "most of both"
assert runs.groupby("model")["seed"].nunique().median() <= 5
best_runs = runs.groupby(["model", "clauses"])["exact_match"].max()
wrong = [
    best_runs[c.first, c.test_set] == best_runs[c.second, c.test_set] == 0
    for c in judged.query("verdict == 'ruled out'").itertuples()
    if c.metric == "exact_match"
]
assert sum(wrong) > 10, "ruled out since both are wrong"
verdict_on = judged.set_index(["first", "second", "metric", "test_set"])["verdict"]
scored = ["exact_match", "bleu_beam", "perplexity"]
asked = [("bahdanau", "no-attention"), ("global", "no-attention"), ("global", "local-m")]
of_asked = [verdict_on[(*pair, metric, n)] for pair in asked for metric in scored for n in ranges.SEEN]
assert {*of_asked} == {"supported"}
assert len(plan.contents["tuning"]["seeds"]) == 1, "single trainings"

# %% after cell-026
assert 0.08 < max(shifts) < 0.11, "up to a tenth"

# %% after equal-models
assert p.size == picked.sum() and (p < 0.05).mean() < 0.1, "new runs"
assert (stats.ttest_ind(one, other, axis=1, equal_var=False).pvalue[picked] < 0.05).mean() > 0.9, "same runs"

# %% after both-orders
assert longer.mean().idxmax() == "order-layer"
assert longer.count().to_dict() == {name: 10 if name == "bahdanau" else 5 for name in between}
later = experiments.read_plan("papers-grammar").configs["hybrid"]
picked_row = plan.configs["order-layer"]
assert later.options == picked_row.options and later.model == picked_row.model and len(later.seeds) == 10
assert not {*later.seeds} & {*picked_row.seeds}

# %% after cell-030
assert alone["verdict"].eq("supported").all()
assert 2 * steps["verdict"].eq("supported").sum() == len(steps), "half"
assert len(steps) == 10 and known.loc[["path", "order"]].groupby("table").size().min() > 100
assert np.allclose(steps["difference"], alone["difference"])
assert (known.loc[["path", "order"], "apart"] == 0).mean() > 0.5, "many show no difference"

# %% after claims-file
from pathlib import Path

expected = judged.reset_index("table").drop(columns=["claim", "entry"]).round(6)
assert Path("judging.csv").read_text("utf-8") == expected.to_csv(index=False), "make refresh"
