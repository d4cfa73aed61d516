# %% after cell-004
found = {change: effects for change, *effects in rows}
one, two, *_ = found["2 one reader, backward"]
assert one.startswith("-") and two.startswith("-") and one[-1] == "†"
assert exact[first].mean().diff().idxmin() == "path-encoder", "costs most"
assert found["4 a layer above the state"][0].startswith("-")
assert found["4 a layer above the state"][1].startswith("+")
assert found["1 the new state asks"][::2] == found["1 the new state asks"][1::2]
steps = [[exact[p].diff(axis=1)[p[n]] for p, n in zip((first, second), at, strict=True)] for at in changes.values()]
assert sum(a.min() > b.max() or a.max() < b.min() for a, b in steps) > 1
seen = ranges.mean_by_seed(recorded, ["no-attention", *on_paths]).mean()
worth = seen["bahdanau"] - seen["no-attention"]
assert all(seen[path].diff().abs().max() < worth for path in (first, second))

# %% after cell-007
one, two, three = (ranges.mean_by_seed(recorded, panel.values(), clauses=[n]) for n in ranges.SEEN)
usual, wide, trained, attends = panel.values()
for scores in (one, two):
    steps = zip((usual, wide, trained), (wide, trained, attends), strict=True)
    assert all(scores[a].max() < scores[b].min() for a, b in steps)
assert three[usual].max() <= three[wide].max() < three[trained].min()
assert three[trained].max() < 0.4 and three[attends].min() > 0.95
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
shown = sizes[["bahdanau", "order-lstm", "path-lstm", second[-1]]]
assert (shown > sizes[best]).sum() == 3

# %% after cell-016
for metric, lengths in asked.values():
    scores = ranges.mean_by_seed(recorded, fed, metric, lengths)
    low, high = scores.min(), scores.max()
    assert low.max() <= high.min(), "the ranges overlap"
used = (recorded.best_learning_rate(recorded.plan.configs[name].tuning_group) for name in fed)
assert [*used] == [0.01, 0.005]
assert 0.4 < pace["global-feeding"] / pace["global"] < 0.6

# %% after cell-019
of_all = tried.loc[families]
assert of_all.notna().sum(axis=1).min() == 3
trials = recorded.plan.contents["trials"]["text"]
assert trials.count("general          0.005  0.5") == 2
assert of_all[0.005].idxmax() == "global"
assert of_all[0.01].drop("bahdanau").nsmallest(2).index.tolist() == ["global-dot", "global"]
