# %% after cell-002
assert counts.loc["all"].sum() == len(judged)
unread = judged.query("verdict == 'not recorded'")
assert (unread["test_set"] == 8).all()
assert unread[["first", "second"]].agg(" ".join, axis=1).str.contains("location").all()
assert not judged.duplicated(["claim", "metric", "test_set"]).any()
of_parts = [parts[name]["title"] for name in ("path", "order")]
shares = counts["inconclusive"] / counts.sum(axis=1)
assert shares[of_parts].min() > 0.5, "mostly open"
assert runs.groupby("model")["seed"].nunique().median() <= 5
best_runs = runs.groupby(["model", "clauses"])["exact_match"].max()
wrong = [
    best_runs[c.first, c.test_set] == best_runs[c.second, c.test_set] == 0
    for c in judged.query("verdict == 'ruled out'").itertuples()
    if c.metric == "exact_match"
]
assert sum(wrong) > 10, "ruled out since both are wrong"

# %% after cell-005
verdict_on = judged.set_index(["first", "second", "metric", "test_set"])["verdict"]
scored = ["exact_match", "bleu_beam", "perplexity"]
asked = [("bahdanau", "no-attention"), ("global", "no-attention"), ("global", "local-m")]
asked = [*product(asked, (1, 2, 3)), *product([("global", "location"), ("global-dot", "location")], (3,))]
assert all(verdict_on[one, other, metric, n] == "supported" for (one, other), n in asked for metric in scored)

# %% after cell-013
which = "first == 'bahdanau' and second == 'global-dot' and test_set == 4 and metric == 'exact_match'"
mine = judged.loc["models"].query(which).squeeze()
assert np.isclose(mine["p_value"], test.pvalue, atol=0)
assert np.isclose(mine["p_corrected"], corrected.iloc[place], atol=0)
assert mine["verdict"] == "supported" and first.min() > second.max()
against = stats.ttest_ind(first - mine["margin"], second, equal_var=False, alternative="less").pvalue
assert np.isclose(mine["margin_p_value"], against) and mine["margin"] == 0.05

# %% after cell-017
_, equal, apart, found = zip(*rows, strict=True)
assert list(apart) == sorted(apart, reverse=True) and list(found) == sorted(found)
assert found[0] < 0.1 and equal[0] == "0.3"

# %% after cell-021
other = wide.loc["bahdanau", "no-attention", 8]
assert (other["bleu_beam"], other["perplexity"]) == (1, -1)
pairs = combinations(["exact_match", "bleu_beam", "perplexity"], 2)
contradicted = {pair: wide[[*pair]].prod(axis=1, min_count=2) for pair in pairs}
seen = [n in ranges.SEEN for n in wide.index.get_level_values("test_set")]
assert not any((signs[seen] < 0).any() for signs in contradicted.values())
most = {pair: (signs < 0).sum() for pair, signs in contradicted.items()}
assert most.pop(("bleu_beam", "perplexity")) > max(most.values())

# %% after cell-030
picked, planned = found.iloc[-2], found.iloc[-1]
assert picked.sum() == planned.sum() == 12 and planned["supported"] < picked["supported"] / 2
assert not found["reversed"].any()
assert found[:-1].to_numpy().sum() == len(said), "all are recorded"
assert found["supported"][:-1].sum() > 0.7 * len(said), "most"
n = runs.groupby(["model", "clauses"]).size()
assert all(n[c.first, c.test_set] == n[c.second, c.test_set] for c in of_course.itertuples()), "equally many"
assert (by_range(runs, of_course) != 0).mean() > 0.8, "picked because their ranges are apart"
assert 0.08 < max(shifts) < 0.11, "up to a tenth"
opposite = known["apart"] * np.select([known["direction"] == "more", known["direction"] == "less"], [1, -1], 0)
assert not ((known["verdict"] == "supported") & (opposite < 0)).any()
assert not ((known["verdict"] == "reversed") & (opposite > 0)).any()

# %% after cell-034
assert (eight["verdict"] == "supported").tolist() == [True] + 7 * [False]
assert (eight["verdict"][1:] == "inconclusive").all()
needed = stats.t.isf(0.05 / 8 / 2, 2)
assert 12 < needed < 13, needed
