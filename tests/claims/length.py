# %% after 02589031
for n in (6, 8):
    exact = found["exact match", n]
    others = [name for name in exact if "local-m" not in name]
    assert all(ranges.apart(exact["local-m-reordering-0"], exact[other]) for other in others)
    assert (exact.count() == 5).all()
ends = found["without an end", 6]
assert 0 < (ends["location-reordering-0"] > 0.2).mean() < 1, "some"
assert ends.drop(columns="location-reordering-0").max().max() < 0.05
inside = found["links inside", 6]["local-p-reordering-0"]
assert inside.min() > 0.95
assert found["exact match", 6]["local-p-reordering-0"].max() < 0.1
for name in in_step:
    config = recorded.plan.configs[name]
    assert (config.reordering, config.clauses) == (0, ranges.SEEN)
assert recorded.plan.configs["local-p"].options["half_width"] == 10

# %% after 91ca9d6b
assert 0.7 < np.mean(short) < 0.95 and is_right.any() and not is_right[gap.argmax()]
assert gap[~is_right].mean() > 2 * gap[is_right].mean(), "not this pair only"
info = bahdanau.config["training_info"]
assert recorded.plan.configs[info["row"]].reordering == 0.5

# %% after 21c191f9
shares_of = zip(shares["skipped"], shares["by chance"], strict=True)
assert shares["skipped"][0] < 0.05, "both ends are read"
assert all(a > b for a, b in [*shares_of][2:]), "more than by chance"

# %% after b47f3d27
mean = {key: np.array([x[(p >= n) & (p < n + 4)].mean() for n in starts]) for key, (p, x) in told.items()}
for side in ("before", "after"):
    short, long = mean[side, "1 to 3 clauses"], mean[side, "8 clauses"]
    assert np.abs(short - starts - 1.5)[:5].max() < 3.5, "right up to twenty"
    assert np.ptp(short[5:]) < 6 and short.max() < 30, "then nearly flat"
    assert long[8] - long[5] > 8, "rises further"
sizes = [len(pair.source) for pair in fits["1 to 3 clauses"]]
assert np.mean(np.array(sizes) > 40) < 0.02, "few"
assert 0.4 < skipped[away >= 16].mean() < 0.6, "about half of the words"

# %% after 178e74ee
for name in ("bahdanau", "global"):
    own, with_window = (np.array(x) for (n, _), x in curves.items() if n == name)
    assert max(own[3:6]) < 0.5 and min(own[0], own[-1]) > 0.5
    assert (with_window >= own).all() and min(with_window) > 0.8
    assert 3 <= (with_window - own).argmax() <= 5, "most in the middle"
assert 0.85 < with_window.mean() < 0.95, "about one in ten is wrong"

# %% after c4c0fba3
wide_open, narrow = (helped["Bahdanau", "as trained"], helped["Bahdanau", "moving, D = 4"])
assert wide_open[-1] < 0.02 and round(100 * narrow[-1]) == 71, "from none to most"
for title in names.values():
    own, wider, narrower = (helped[title, what] for what in list(models))
    assert all(a < b for a, b in zip(wider[1:4], narrower[1:4], strict=True))
    gain = narrower[3] - own[3]
    assert gain > 0.5 if title == "Bahdanau" else 0 < gain < 0.3, title
for name in names:
    model = load_pretrained(name)
    assert recorded.plan.configs[model.config["training_info"]["row"]].reordering == 0.5
    assert name == "bahdanau" or type(model.decoder.attention.score).__name__ == "General"

# %% after 1fcebb22
lines = ax.get_lines()
three, _, eight = (line.get_ydata() for line in lines)
assert np.abs(three).max() < 3 and eight[5:8].min() > 10 and eight[-1] < 0
own, same, _ = (helped[names["local-p"], what] for what in models)
assert np.subtract(same, own).max() < 0.08 and np.subtract(same, own).min() < -0.02, "little, or loses"
assert local_p.decoder.attention.window.half_width == 10
