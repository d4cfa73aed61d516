# %% after cell-003
every = {word for sentence in english for word in sentence}
assert len(counts) == len(every) == 358
assert np.isclose(once / len(every), 0.8, atol=0.01)
assert 1.8 < len(every) / len({w for words in drawn for w in words}) < 2
assert len(drawn) == 50 * len(english)

# %% after cell-023
import inspect

import attnlib

recorded = experiments.Recording("sentences")
planned = [row["name"] for part in ("models", "french") for row in recorded.plan.contents["tables"][part]["rows"]]
in_german = [name for name in planned if not name.startswith("french-")]
made = [recorded.plan.configs[name] for name in in_german]
assert len(in_german) == 7 and {c.language for c in made} == {"german"}
by_name = {run["model"]: run["settings"]["options"] for run in recorded.details}
general = {"score": "general", "encoder": "backward"}
assert general.items() <= by_name["luong"].items()
assert by_name["luong"] | {"window": "local-p"} == by_name["local-p"]
defaults = inspect.signature(attnlib.luong).parameters
assert defaults["half_width"].default == 10
french = {name for name in in_german if f"french-{name}" in by_name}
assert french == {"bahdanau", "luong", "local-m", "local-p"}
assert by_name["luong"] | {"window": "local-m", "half_width": 2} == by_name["local-m"]
assert defaults["input_feeding"].default
assert len(recorded.plan.claims("models")) == 8
assert {c.num_pairs for c in made} == {29_000}

assert (recorded.runs().query("test_set == 'test'")["sentences"] == 1_000).all()
assert by_name["luong"]["hidden_size"] == 256
rates = {run["model"]: run["settings"]["learning_rate"] for run in recorded.details}
assert rates.pop("transformer") == 0.001
assert {*rates.values()} == {0.002}
first = recorded.details[0]["settings"]
assert (first["steps"], first["max_sentences"]) == (3_600, 64)
assert 7.5 < 3_600 * 64 / 29_000 < 8.5

# %% after cell-025
assert sum("nothing special" in c.phenomena for c in ours["german"]) == 3
(sure, possible), guess = caption.gold, diagonal(caption)
assert np.isclose(rate, 1 - (len(guess & sure) + len(guess & possible)) / (len(guess) + len(sure)))

# %% after cell-030
assert np.isclose(model_1(three, 1)["house", "das"], 0.5)
assert min(learned["house", "haus"], learned["the", "das"]) > 0.9

# %% after cell-034
up, auf = source.index("up"), target.index("auf")
assert target[auf - 1] == "boden" and source.index("floor") - up == 5
assert all(weights[auf].argmax() == up for weights in looks.values())
spread_out, sharp = looks.values()
assert spread_out.max(axis=1).mean() < 0.6
assert sharp.max(axis=1).min() > 0.98
assert source[sharp[target.index("einem")].argmax()] == "gray"

# %% after prefixes
assert len(prefixes) == 11
tops = ([(outputs[name][k].forced_attention[t].argmax(), k, t) for k, t in prefixes] for name in names)
hits = [sum((i, t) in ours["german"][k].gold.sure for i, k, t in top) for top in tops]
assert hits[-1] == right
assert (n, target.index("auf")) in prefixes
assert [*names][np.argmax(hits)] == "local-p" and hits.count(max(hits)) == 1

# %% after cell-037
for name in chosen:
    words, weights = by_model[name][n].words, by_model[name][n].weights
    assert ("hebt" in words) and ("hoch" in words) == (name != "transformer")
    if "hoch" in words:
        assert words[-2] == "hoch" and weights[-2].argmax() == up
assert by_model["transformer"][n].words[-4:] == ("aus", "dem", "boden", ".")

# %% after cell-043
assert min(chances.values()) >= 0.001
straight, counted = map(list, map(error_rates, rulers.values()))
shown_rows = {cell.row.removeprefix("sentences/") for row in rows for cell in row if isinstance(cell, ranges.Spread)}
assert shown_rows == {*planned}, "every planned row"
errors = ranges.mean_by_seed(recorded, planned, "alignment_error_rate", ["captions"])
bleu = ranges.mean_by_seed(recorded, planned, "bleu_beam", ["test"])
assert (errors.count() == 3).all() and (bleu.count() == 3).all()
assert errors[[*names, "local-m"]].min(axis=None) > counted[0] + 0.04

two, three = ["luong", "luong-both"], ["bahdanau", "local-p", "transformer"]
assert all(ranges.apart(errors[other], errors[one]) for one in two for other in three)
assert errors["bahdanau"].min() > straight[0]
assert (errors[three] - straight[0]).abs().max(axis=None) < 0.05
best = ["bahdanau", "transformer"]
rest = [name for name in in_german if name not in best]
assert all(ranges.apart(bleu[one], bleu[other]) for one in best for other in rest)
assert 8.5 < (bleu["bahdanau"] - bleu["no-attention"]).mean() < 9.5

for prefix in ("", "french-"):
    assert ranges.apart(bleu[f"{prefix}local-m"], bleu[f"{prefix}local-p"])
assert abs(errors["french-luong"].max() - straight[1]) < 0.02
assert abs(errors["french-luong"].min() - counted[1]) < 0.01
assert (errors["french-local-m"] - counted[1]).abs().max() < 0.01
assert errors["french-bahdanau"].max() < straight[1]

# %% after one-later
for name in names:
    both = zip(outputs[name], ours["german"], strict=True)
    read_off = [metrics.hard_alignment(x.forced_attention, *c.pair[:2]) for x, c in both]
    later = [{(i, t - 1) for i, t in links if t} for links in read_off]
    now, then = (metrics.alignment_error_rate(links, *gold) for links in (read_off, later))
    assert then > 2 * now, name

# %% after papers-ranks
assert of.ci_high < 0, "the fewer wrong links, the more BLEU"
assert len(of.rows) == 7 and not of.missing
in_papers = papers.runs().set_index("model")
error_rates_of = in_papers.query("test_set == 'captions'")["alignment_error_rate"]
assert error_rates_of["bahdanau"].min() > error_rates_of["dot"].max()
best = in_papers.query("test_set == 'test'")["bleu_beam"]
next_runs = ledger.second_round(papers, ledger.judge_plan(papers)).runs().query("test_set == 'test'")
ten = {name: [*best[name], *next_runs.set_index("model")["bleu_beam"][name]] for name in ("local-m-D2", "local-p")}
assert all(len(runs) == 10 for runs in ten.values())
assert min(ten["local-m-D2"]) < max(ten["local-p"]), "the ranges overlap"
assert best["bahdanau"].min() > best.drop("bahdanau").max(), "translates best"
again = {"general": "luong", "local-m-D2": "local-m", "local-p-again": "local-p"}
again |= {name: name for name in ("local-p", "bahdanau", "no-attention")}
options = {run["model"]: {"half_width": 10} | run["settings"]["options"] | {"seed": None} for run in papers.details}
for name, first in again.items():
    assert options[name] == {"half_width": 10} | by_name[first] | {"seed": None}, "the same settings"
assert not ranges.apart(error_rates_of["general"], error_rates_of["bahdanau"])
assert errors["luong"].mean() < errors["bahdanau"].min()

# %% after cell-048
totals = {name: sum(counts) for name, counts in found.items()}
assert (of_captions.sum(), (of_captions > 0).sum()) == (52, 20)
assert totals["diagonal"] == 0
moves = [any(at == t for _, at in moved(german[k])) for k, t in prefixes]
assert any(moves) and not all(moves), "a prefix in a short caption stays near"
at_random = sum(len(moved(c)) / len(c.pair.source) for c in german)
assert np.isclose(by_chance, at_random)
assert 3.5 < at_random < 4, "about four"
attended = [totals[title] for title in names.values()]
assert 0.3 < min(attended) / 52 < max(attended) / 52 < 0.4
assert totals["IBM Model 1"] / max(attended) > 1.8
assert totals["IBM Model 1"] / min(attended) < 2.5


def low_and_high(one, other):
    return np.quantile((np.array(found[one]) - found[other])[draws].sum(axis=1), [0.025, 0.975])


for title in names.values():
    ends = [low_and_high(title, other) for other in names.values() if other != title]
    assert all(low < 0 < high for low, high in ends), "twenty cannot say"
    assert low_and_high("IBM Model 1", title)[0] > 0, title

# %% after cell-051
without, with_, links_by_pairs = ([np.mean(x.runs) for x in entries] for entries in by_pairs.values())
assert np.subtract(with_, without).min() > 4
assert np.greater(with_[:3], without[1:]).all()
assert (np.diff(links_by_pairs) < 0).all()
assert min(links_by_pairs[:3]) > straight[0] + 0.05
assert abs(links_by_pairs[3] - straight[0]) < 0.03
assert round(straight[0], 2) == 0.38

# %% after cell-054
copied = translation.with_unknown_replaced().words
assert {"beekeeper", "frame", "honey"} < {*copied}
assert translation.words.count("<unknown>") == 3
assert "barfüßige" in in_pieces[k].translation.words

# %% after denials
assert len(denied) == 8
negations = {title: [str(x[k]) for k in denied if negative & {*x[k].words}] for title, x in every.items()}
assert {title for title, these in negations.items() if these} == {"Transformer"}
assert len(negations["Transformer"]) == 2 and len(every) == 6
assert all("nicht nicht nicht" in one for one in negations["Transformer"])
assert str(by_model["transformer"][denied[1]]) == "der junge trägt schuhe ."

# %% after cell-064
assert "|tok:none|" in recorded.details[0]["signatures"][0]
for name in ("bahdanau", "transformer"):
    spelled = [str(each).replace("<unknown>", "unk") for each in by_model[name]]
    truth = [" ".join(caption.pair.target) for caption in ours["german"]]
    whole = [metrics.bleu_metric(flag).corpus_score(spelled, [truth]).score for flag in ("none", "13a")]
    assert np.allclose(whole, bleu_of(name, "none").score)
    written = sum(each.words.count("<unknown>") for each in by_model[name])
    extra = bleu_of(name, "13a").sys_len - bleu_of(name, "none").sys_len
    assert extra == 2 * written
scores = [row[-1] for row in rows]
assert [round(score) for score in scores[:2]] == [33, 28]
assert scores[0] - scores[1] > 5
assert np.allclose(np.subtract(scores[2:], scores[:2]), [3, 6], atol=0.2)
assert [float(row[3]) < 1 for row in rows] == [True, False, True, False]
assert float(rows[2][3]) < float(rows[0][3])
unknown = [sum(each.words.count("<unknown>") for each in by_model[name]) for name in ("bahdanau", "transformer")]
assert unknown[0] > unknown[1]

# %% after cell-010
assert (text.counts["empty"], len(text.pairs), len(dev)) == (1, 3_000, 60)

# %% after cell-016
assert sum(metrics.sentence_nll(mine, dev)) / n_pieces < np.log(150) / 2
assert n_pieces == sum(len(pieces_fr.encode(pair.target)) for pair in dev)
assert len(pieces) == len(pieces_fr) == 150

# %% after cell-018
given = en_fr.config["settings"]
assert sizes.items() <= given["options"].items()
assert (given["epochs"], given["vocab_size"], given["learning_rate"]) == (20, 150, 5e-3)
assert translation.words == ("le", "chat", "européen", "dort")
assert translation.links() == {(2, 0), (2, 1), (1, 2), (3, 3)}
