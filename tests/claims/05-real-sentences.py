# %% after cell-003
every = [word for sentence in english for word in sentence]
once = np.mean([every.count(word) == 1 for word in {*every}])
assert np.isclose(once, 0.8, atol=0.01)
assert 1.8 < len({*every}) / len({w for words in drawn for w in words}) < 2
assert len(drawn) == 50 * len(english)

# %% after cell-010
assert (text.counts["empty"], len(text.pairs), len(dev)) == (1, 3_000, 60)

# %% after cell-015
went = [e for e in folder.load_history(f"{home}/enfr") if "dev_loss" in e]
assert went[-1]["dev_loss"] < np.log(150) / 2
assert (len(went), len(pieces)) == (3, 150)

# %% after cell-018
made = vars(how) | {"epochs": 20}
assert made.items() <= en_fr.config["settings"].items()
assert translation.words == ("le", "chat", "européen", "dort")
assert translation.links() == {(2, 0), (2, 1), (1, 2), (3, 3)}

import inspect

import attnlib

recorded = experiments.Recording("sentences")
german_six = [*recorded.plan.configs][:6]
made = [recorded.plan.configs[name] for name in german_six]
assert german_six[0] == "no-attention" and german_six[5] == "transformer"
assert {c.language for c in made} == {"german"}
by_name = {run["model"]: run["settings"]["options"] for run in recorded.details}
general = {"score": "general", "encoder": "backward"}
assert general.items() <= by_name["luong"].items()
assert by_name["luong"] | {"window": "local-p"} == by_name["local-p"]
defaults = inspect.signature(attnlib.luong).parameters
assert defaults["half_width"].default == 10
french = {name for name in german_six if f"french-{name}" in by_name}
assert french == {"bahdanau", "luong", "local-p"}
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

# %% after cell-037
ends = ("ab", "an", "auf", "aus", "hinauf", "los", "um", "weg", "zu")
prefixes = [
    (k, t)
    for k, c in enumerate(ours["german"])
    for t, two in enumerate(zip(c.pair.target, c.pair.target[1:], strict=False))
    if "separable" in c.phenomena and two[0] in ends and two[1] in (".", ",", "und")
]
assert len(prefixes) == 11
for name in chosen:
    words, weights = by_model[name][n].words, by_model[name][n].weights
    assert ("hebt" in words) and ("hoch" in words) == (name != "transformer")
    if "hoch" in words:
        assert words[-2] == "hoch" and weights[-2].argmax() == up
assert by_model["transformer"][n].words[-4:] == ("aus", "dem", "boden", ".")

tops = ([(outputs[name][k].forced_attention[t].argmax(), k, t) for k, t in prefixes] for name in names)
hits = [sum((i, t) in ours["german"][k].gold.sure for i, k, t in top) for top in tops]
assert (min(hits), max(hits)) == (5, 9)

# %% after cell-043
assert min(chances.values()) >= 0.001
straight, counted = map(list, map(error_rates, rulers.values()))
all_errors = by_seed["alignment_error_rate", "captions"]
errors = all_errors[[*names]]
bleu = by_seed["bleu_beam", "test"][["no-attention", *names]]
assert len(errors) == len(bleu) == 3
assert errors.notna().all(axis=None) and bleu.notna().all(axis=None)
assert errors.min(axis=None) > counted[0] + 0.04


def apart(better, worse):  # of as many seeds
    return better.max(axis=None) < worse.min(axis=None)


two = ["luong", "luong-both"]
assert apart(errors[two], errors.drop(columns=two))
assert errors["bahdanau"].min() > straight[0]
assert (errors.drop(columns=two) - straight[0]).abs().max(axis=None) < 0.05
best = ["bahdanau", "transformer"]
assert apart(-bleu[best], -bleu.drop(columns=best))
assert 8.5 < (bleu["bahdanau"] - bleu["no-attention"]).mean() < 9.5

in_french = all_errors["french-luong"]
assert in_french.notna().sum() == 3
assert abs(in_french.max() - straight[1]) < 0.02
assert abs(in_french.min() - counted[1]) < 0.01
assert all_errors["french-bahdanau"].notna().sum() == 3
assert all_errors["french-bahdanau"].max() < straight[1]

# %% after cell-048
totals = {name: sum(counts) for name, counts in found.items()}
assert (of_captions.sum(), (of_captions > 0).sum()) == (52, 20)
assert totals["diagonal"] == 0
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
without, with_, links_by_pairs = by_pairs.values()
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

# %% after cell-059
assert len(denied) == 8
negative = {"nicht", "kein", "keine", "keinen", "niemand", "nichts", "nie"}
plain = captions.load_caption_outputs("no-attention")
every_model = by_model | {"no-attention": [each.translation for each in plain]}
denies = {name: [str(these[k]) for k in denied if negative & {*these[k].words}] for name, these in every_model.items()}
assert {name for name, these in denies.items() if these} == {"transformer"}
assert len(denies["transformer"]) == 2
assert all("nicht nicht nicht" in one for one in denies["transformer"])
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
assert np.allclose(np.subtract(scores[2:], scores[:2]), [3.2, 5.8], atol=0.05)
assert [float(row[3]) < 1 for row in rows] == [True, False, True, False]
assert float(rows[2][3]) < float(rows[0][3])
unknown = [sum(each.words.count("<unknown>") for each in by_model[name]) for name in ("bahdanau", "transformer")]
assert unknown[0] > unknown[1]
