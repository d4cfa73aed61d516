# %% after cell-006
sources = [" ".join(p.source) for p in (ours, fronted)]
written = {title: [attnlib.translate(m, x, beam_size=1).words for x in sources] for title, m in loaded.items()}
assert all(one == fronted.target for one, _ in written.values())
lost = [title for title, (_, w) in written.items() if w != fronted.target]
assert lost == ["Luong local-m"], written
assert written["Luong local-m"][1][:7] == fronted.target[:7]
for model in loaded.values():
    made = model.config["training_info"]
    config = experiments.read_plan("world").configs[made["row"]]
    assert config.clauses == (1, 2, 3) and config.reordering == 0.5
    assert (config.max_steps, config.hidden_size) == (3000, 96)
    assert made["row"] in ("no-attention", "bahdanau") or config.options["input_feeding"] is False
    assert config.options.get("score", "general") in ("general", made["row"])
assert loaded["Luong local-m"].decoder.attention.window.half_width == 4


def fronts_place(source):
    at = next(n for n, w in enumerate(source) if w in dictionary.PREPOSITIONS)
    return source[at:] + source[:at]


def right_until(model, order):
    """The most clauses of the card's sentence that come out right."""
    right, english, french = [0], (), ()
    for n, clause in enumerate(growing[0], 1):
        english += ("and",) * bool(english) + order(clause.source)
        french += ("et",) * bool(french) + clause.target
        ours = attnlib.translate(model, " ".join(english), beam_size=1)
        right += [n] * (ours.words == french)
    return max(right)


left, turned = ({title: right_until(m, order) for title, m in loaded.items()} for order in (tuple, fronts_place))
local_m = "Luong local-m"
wide = [title for title in loaded if title != local_m]
assert left[local_m] > max(left[title] for title in wide), left
assert turned[local_m] == 0 < min(turned[title] for title in wide), turned


# %% after cell-010
def scores(metric="exact_match", clauses=ranges.SEEN):
    return ranges.mean_by_seed(recorded, rows, metric, clauses)


def ahead(first, others, of, sign=1):
    """Whether all runs of each of `first` are better than all of each of `others`, which are as many."""
    return all(ranges.apart(sign * of[a], sign * of[b]) for a in first for b in others)


ten = [*MODELS]
assert (scores()[ten].count() == 10).all() and (scores().drop(columns=ten).count() == 5).all()
windows = ["location", "local-m", "local-p"]
assert ahead(["bahdanau", "global"], [*windows, "no-attention"], scores())
rest = [name for name in ten if name != "bahdanau"]
assert ahead(["bahdanau"], rest, scores(clauses=ranges.LONGER))
assert ahead(["bahdanau"], rest, scores("bleu_beam", ranges.LONGER))
errors = scores("alignment_error_rate")
aligned = ["bahdanau", "global", "local-p"]
assert ahead(aligned, ["location", "local-m"], errors, sign=-1)

parts = recorded.plan.contents["tables"]
judged = {name: experiments.judge_claims(recorded.runs(), recorded.plan.claims(name)) for name in parts}


def verdicts(part, first, second, metric="exact_match"):
    its = judged[part].query("first == @first and second == @second and metric == @metric")
    return its.set_index("test_set")["verdict"]


for metric in ("exact_match", "bleu_beam"):
    assert (verdicts("transformers", "bahdanau", "transformer", metric)[[4, 5, 6]] == "supported").all()
assert not (verdicts("path", "global-feeding", "global") == "supported").any(), "open"
assert verdicts("variants", "both-directions", "global")[4] == "supported"
annotated = [experiments.read_plan("world").configs[n].build_model(seed=0) for n in ("both-directions", "global")]
sizes = [model.decoder.W_c.shape for model in annotated]
assert sizes[0] == sizes[1], "annotations no longer than before"

pace = recorded.costs["words_per_second"]
luongs = pace[["global", "location", "local-m", "local-p"]]
assert luongs.min() > 2.5 * pace["bahdanau"]
assert luongs.max() < 3.5 * pace["bahdanau"]
weights = recorded.costs["parameters"]
assert weights[luongs.index].max() < 0.75 * weights["bahdanau"]
options = {name: recorded.plan.configs[name].options for name in ("local-m", "local-p")}
assert [options[name]["half_width"] for name in options] == [4, 10]

# %% after cell-015
wins = (duel["global-dot"] > duel["global"]).mean()
assert 0 < wins < 1, "some claim the opposite"
low, high = duel.min(), duel.max()
assert low.max() < high.min(), "the ranges overlap"
assert (duel.count() == 10).all()
from math import comb

assert comb(10, 5) / 2 == 126 and comb(20, 10) / 2 > 90_000, "by luck: either is above the other"

# %% after cell-019
from itertools import pairwise

first, second = map(list, one_by_one.values())
assert {*first} & {*second} >= {first[0], first[-1]} and second[-1] == first[-1]
assert {*first, *second} == {*longer}
above, below = first[: first.index("path-encoder")], ["path-encoder"]
assert longer[below].max().max() < longer[above].min().min()
drops = longer[first].mean().diff()
moves = drops.abs().sort_values(ascending=False)
assert drops.idxmin() == moves.index[0] == "path-encoder"
assert moves.iloc[1] < moves.iloc[0] / 2, "no other half as far"

counts = longer.count()
assert counts.pop("bahdanau") == 10 and (counts == 5).all()


def decided(path):
    steps = [*pairwise(path)][1:]  # the first has other numbers of runs
    apart = ranges.apart
    return {b for a, b in steps if apart(longer[b], longer[a]) or apart(longer[a], longer[b])}


assert decided(first) == {"path-encoder"}
assert decided(second) == {"order-layer", "order-feeding", "global-feeding"}
assert first[:2] == second[:2] == ["bahdanau", "path-query"]
confirmed = {
    (after, n)
    for part, path in (("path", first), ("order", second))
    for before, after in pairwise(path)
    for n in ranges.LONGER
    if verdicts(part, after, before).get(n) == "supported"
}
assert confirmed == {("path-encoder", 4), ("path-encoder", 5), ("order-feeding", 5), ("order-feeding", 6)}
assert (verdicts("path", "path-query", "bahdanau")[[4, 5, 6]] == "inconclusive").all()
assert (verdicts("path", "path-query", "bahdanau", "perplexity")[[5, 6]] == "supported").all(), "by exact match"
rates = {recorded.best_learning_rate(group) for group in ("bahdanau", "hybrid-lstm")}
assert rates == {0.0025, 0.005}, "doubles"
best = ["bahdanau", "global", "global-feeding", "both-directions"]
assert longer["order-layer"].mean() > scores(clauses=ranges.LONGER)[best].mean().max()
in_second = longer[second].mean().diff()
assert in_second["order-layer"] > 0 > drops["path-layer"]
assert (in_second[["order-feeding", "global-feeding"]] < 0).all()
assert abs(in_second["order-feeding"] - in_second["global-feeding"]) < 0.02, "about equally much"
assert abs(in_second["order-feeding"]) > 2 * (longer["path-layer"].mean() - longer["global-feeding"].mean())
assert longer.mean().idxmax() == second[3] == "order-layer"

# %% after hybrid
of_metric = tested.unstack("metric")
better = {metric: {*of_metric.index[of_metric[metric] == "supported"]} for metric in of_metric}
assert better == {"bleu_beam": {5, 6, 8}, "perplexity": {4, 5, 6, 8}, "exact_match": set()}
opposite = of_metric == "reversed"
assert opposite["perplexity"][opposite["perplexity"]].index.tolist() == [1, 2] and opposite.sum().sum() == 2
assert (of_metric.loc[[1, 2, 3], "bleu_beam"] == "ruled out").all()
bleu = means["bleu_beam"].unstack()[["bahdanau-3", "hybrid"]]
assert bleu.loc[[1, 2, 3]].min().min() > 99
assert fresh["seed"].min() > recorded.runs()["seed"].max()
assert fresh[fresh["model"].isin(bleu)].groupby("model")["seed"].nunique().eq(10).all()
from attnbook.experiments import ledger

again = ledger.judge_again(later, ledger.judge_plan(later)).query("first == 'hybrid'").set_index("test_set")
assert again["verdict"].to_dict() == {4: "differs", 5: "undecided", 6: "undecided"}
assert again["p_corrected"][4] > 0.05 > again["margin_p_corrected"][4], "ruled out"
hybrid = later.plan.configs["hybrid"].options
layer = recorded.plan.configs["order-layer"].options
assert hybrid == layer

# %% after cell-022
one, six = (ranges.mean_by_seed(recorded, [*MODELS], clauses=[n]) for n in (1, 6))
assert (one[["no-attention", "local-m"]].mean() - 0.75).abs().max() < 0.1
wide = ["bahdanau", "global-dot"]
three, four = (ranges.mean_by_seed(recorded, wide, clauses=[n]) for n in (3, 4))
assert three.min().min() > 0.85 and four["global-dot"].max() < 0.6
assert four["bahdanau"].min() > 0.65
assert six["bahdanau"].min() < six["local-m"].max(), "their bands overlap"
for n in ranges.LONGER:
    of_runs = ranges.mean_by_seed(recorded, monotonic.values(), clauses=[n])
    assert {*of_runs} == {*monotonic.values()} and (of_runs.count() == 5).all()
    dot, location = monotonic["Luong global"], monotonic["Luong location"]
    local_m = monotonic["Luong local-m"]
    assert n < 5 or ahead([location], [dot], of_runs)
    assert n < 5 or verdicts("reordering", dot, location)[n] == "supported"
    assert n < 5 or ahead([local_m], [*of_runs.drop(columns=local_m)], of_runs)

# %% after cell-025
exact_a, exact_b = (metrics.exact_match(w, right) for w in (a, b))
assert exact_a == 0 and exact_b == 0.5
bleu_a, bleu_b = (metrics.bleu(w, right).score for w in (a, b))
assert bleu_a > bleu_b + 20


# %% after cell-033
def shares(model):
    tried = kept(model), moved(model, 5), moved(model, 4), moved(model, 4, 5)
    return [*map(np.mean, tried)]


for title in ("Bahdanau", "Luong global"):
    stays, own, black, both = shares(loaded[title])
    assert stays < 0.2 and own > 0.9 and black == 0 and both == own
stays, own, black, both = shares(loaded["Luong location"])
assert (round(stays * 12), own, round(black * 12), both) == (11, 0, 8, 1)
for title, word in ("Luong global", "cat"), ("Luong location", "black"):
    assert pair.source[looks[title][1].argmax()] == word
    source = " ".join(pair.source)
    ours = attnlib.translate(loaded[title], source, beam_size=1).words
    assert ours == pair.target

# %% after cell-046
drawn = [sample(300, 5, clauses=(3,), reordering=r) for r in (0, 0.25, 0.5, 1)]
narrow = [inside(pairs, 4) for pairs in drawn]
assert narrow == sorted(narrow, reverse=True) and narrow[0] > 0.99
