# %% after 016fc403
from itertools import pairwise

assert {cell.row.removeprefix("world/") for row in lines for cell in row if isinstance(cell, ranges.Spread)} == {
    *scores
}
assert all(scores[name].count() == (5 if "reordering" in name else 10) for name in scores)
for end in ("-reordering-25", ""):
    for name in ("location", "local-m"):
        assert ranges.apart(scores["global-dot" + end], scores[name + end]), "better"
for name in ("location", "local-m"):
    means = [scores[name + end].mean() for end in knob.values()]
    assert all(a > b for a, b in pairwise(means)), "fall"

in_step = [n + "-reordering-0" for n in MODELS if n != "no-attention"]
assert scores[in_step].min().min() > 0.9, "all with attention"
for end in knob.values():
    assert "bahdanau" + end not in scores or round(scores["bahdanau" + end].mean(), 2) >= 0.99
for name in scores:
    config = recorded.plan.configs[name]
    assert config.clauses == ranges.SEEN and config.label

# %% after 4bd539fd
every = [sample(1, 302, clauses=(1,), reordering=x)[0] for x in (0, 1)]
assert every[0].target == every[1].target, "the same French"
assert every[0].source != every[1].source

# %% after eb1cd0a2
(right_, random_, same), (near, lost, far) = away.values()
assert random_ - right_ < 0.1 and 0.5 < same - right_ < 1.5
assert lost - near > 3 and far - near > 10, "words farther away"
for model in models.values():
    info = model.config["training_info"]
    assert recorded.plan.configs[info["row"]].reordering == 0.5
    found = attnlib.translate_all(model, [p.source for p in pairs], beam_size=1)
    wrong = [t.words != p.target for t, p in zip(found, pairs, strict=True)]
    assert np.mean(wrong) < 0.25

# %% after a65947ac
assert min(map(min, far["global-dot"])) > 0.8
for name in ("location", "local-p"):
    assert (np.diff([x.mean() for x in far[name]]) < 0).all()
    assert max(far[name][3]) < min(far["global-dot"][3])
assert max(map(max, far["local-m"][1:])) < 0.1


# %% after 158ea0db
def of(name):
    return recorded.correct(name).mean(axis=1)


ends = {"local-m" + end: (end, 4) for end in knob.values()}
for name, (end, D) in (ends | {"local-m-D10": ("", 10)}).items():
    fits = (reach[end] <= D).mean()
    assert fits / 2 < of(name).mean() < fits, "most, and no more"
for end in ("", "-reordering-1"):
    assert of("local-p" + end).mean() > (reach[end] <= 10).mean()
assert of("local-p-D4").mean() < (reach[""] <= 4).mean() - 0.1, "below"
assert (reach["-reordering-0"] <= 4).mean() > 0.99

# %% after center-and-width
assert square.count().tolist() == [10, 5, 5, 10]
judged = experiments.judge_claims(recorded.runs(), recorded.plan.claims("variants"))
wider = judged.query("first == 'local-m-D10' and metric == 'exact_match'").set_index("test_set")["verdict"]
assert (wider[[1, 2, 3]] == "supported").all()
spans = square.max() - square.min()
assert spans.idxmax() == "local-p-D4"
gained = square.mean()
assert gained["local-p"] - gained["local-p-D4"] > gained["local-m-D10"] - gained["local-m"], "gains more"

# %% after longer-or-wider
one, two, three = of_length.values()
usual, wide, trained = without
assert one.count().tolist() == two.count().tolist() == three.count().tolist() == [10, 3, 3, 10]
configs = recorded.plan.configs
assert configs[wide].hidden_size == 2 * configs[usual].hidden_size
assert configs[trained].max_steps / configs[usual].max_steps == 4
assert configs[trained].num_pairs / configs[usual].num_pairs == 4
verdict = judged.set_index(["first", "second", "metric", "test_set"])["verdict"]
for n in ranges.SEEN:
    assert verdict[trained, usual, "exact_match", n] == "supported"
    assert verdict[wide, usual, "perplexity", n] == "supported"
assert [verdict[wide, usual, "exact_match", n] for n in (1, 2, 3)] == ["inconclusive", "inconclusive", "ruled out"]
assert three[wide].max() < 0.05, "nearly every sentence has an error"
assert verdict["bahdanau", trained, "exact_match", 3] == "supported"
assert three[trained].max() < 0.4 and three["bahdanau"].min() > 0.94
