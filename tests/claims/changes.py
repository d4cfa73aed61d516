# %% after cell-004
found = {change: effects for change, *effects in rows}
one, two, *_ = found["2 one direction, backward"]
assert one.startswith("-") and two.startswith("-") and one[-1] == "†"
assert exact[first].mean().diff().idxmin() == "path-encoder", "costs most"
assert found["4 a layer above the state"][0].startswith("-")
assert found["4 a layer above the state"][1].startswith("+")
assert found["1 the new state asks"][::2] == found["1 the new state asks"][1::2]
steps = [[exact[p].diff(axis=1)[p[n]] for p, n in zip((first, second), at, strict=True)] for at in changes.values()]
assert sum(a.min() > b.max() or a.max() < b.min() for a, b in steps) > 1
assert exact.count().to_dict() == {name: 10 if name == "bahdanau" else 5 for name in on_paths}
seen = ranges.mean_by_seed(recorded, ["no-attention", *on_paths]).mean()
worth = seen["bahdanau"] - seen["no-attention"]
assert all(seen[path].diff().abs().max() < worth for path in (first, second))

# %% after cell-007
one, two, three = (ranges.mean_by_seed(recorded, panel.values(), clauses=[n]) for n in ranges.SEEN)
usual, wide, trained, attends = panel.values()
assert one.count().tolist() == two.count().tolist() == [10, 3, 3, 10]
judged = experiments.judge_claims(recorded.runs(), recorded.plan.claims("variants"))
verdict = judged.set_index(["first", "second", "metric", "test_set"])["verdict"]
for n in ranges.SEEN:
    assert verdict[trained, usual, "exact_match", n] == "supported"
    assert verdict[wide, usual, "perplexity", n] == "supported"
assert {verdict[wide, usual, "exact_match", n] for n in (1, 2)} == {"inconclusive"}
assert verdict[attends, trained, "exact_match", 3] == "supported"
assert three[trained].max() < 0.4 and three[attends].min() > 0.94
grouped = [recorded.plan.configs[n].tuning_group for n in on_paths]
assert {*grouped} == {"bahdanau", "hybrid-lstm"}, "one rate each"

measured = ("exact_match", "alignment_error_rate", "missed_left", "missed_right")
seen, errors, to_the_left, to_the_right = (ranges.mean_by_seed(recorded, on_paths, metric) for metric in measured)
assert seen["path-encoder"].min() > 0.95
left, right, errors = to_the_left.median(), to_the_right.median(), errors.median()
assert left["path-encoder"] > 5 * right["path-encoder"]
assert errors["path-encoder"] > 2 * max(errors["path-lstm"], errors["path-score"])
assert left["path-score"] < left["path-encoder"] / 2

# %% after cell-012
means, best = exact.mean(), "order-layer"
assert means.idxmax() == best
assert means[["bahdanau", "global-feeding"]].max() < means[best] - 0.03
assert (means[sizes[on_paths][sizes[on_paths] > sizes[best]].index] < means[best]).all()
assert (sizes[on_paths] > sizes[best]).sum() > 2
assert [*recorded.plan.configs[best].options] and recorded.plan.configs[best].options["score"] == "general"

# %% after cell-016
judged = experiments.judge_claims(recorded.runs(), recorded.plan.claims("path"))
its = judged.query("first == 'global-feeding' and second == 'global' and metric == 'exact_match'")
its = its.set_index("test_set")["verdict"]
assert its[[1, 6]].eq("ruled out").all() and its[[2, 3, 4, 5]].eq("inconclusive").all()
for metric, lengths in asked.values():
    assert ranges.mean_by_seed(recorded, fed, metric, lengths).count().tolist() == [10, 5]
used = (recorded.best_learning_rate(recorded.plan.configs[name].tuning_group) for name in fed)
assert [*used] == [0.01, 0.005]
assert 0.4 < pace["global-feeding"] / pace["global"] < 0.6

# %% after captions-once
planned = {row["name"] for row in real.plan.contents["tables"]["changes"]["rows"]}
assert planned == {*single} - {"luong", "luong-both"}
assert all(bleu[name].count() == len(real.plan.configs[name].seeds) for name in single)
of = {name: real.plan.configs[name].options for name in single}
base = {name: (of["luong-both"] if name == "subwords" else of["luong"]) for name in planned}
assert all(len({*of[name].items()} - {*base[name].items()}) <= 2 for name in planned)

# %% after cell-019
of_all = tried.loc[families]
assert of_all.notna().sum(axis=1).min() == 3
trials = recorded.plan.contents["trials"]["text"]
assert trials.count("general          0.005  0.5") == 2
assert of_all[0.005].idxmax() == "global"
assert of_all[0.01].drop("bahdanau").nsmallest(2).index.tolist() == ["global-dot", "global"]
