# %% after cell-6
assert len(swaps) > 90 and len(tests) == 300
looked = [*on_adjective(models["global"])]
assert len(looked) > 400 and len(following) == 15
for on, by_adjective, by_noun, hidden in shares.values():
    assert on > 0.85 and by_adjective > 0.9 and by_noun == 0 and hidden < 0.05
assert all([i for i in range(6) if p.source[i] != q.source[i]] == [4] for p, q in swaps)
places = [(p, french_place(p)) for p, _ in swaps]
right = {name: share(next_word(m, p, t) == p.target[t] for p, t in places) for name, m in models.items()}
assert right["global"] == right["bahdanau"] == 1 and right["forwards"] > 0.9

# %% after cell-9
tops = [[pair.source[2 + i] for i in look.argmax(axis=1)[1:]] for look in looks.values()]
assert tops == [[la, "area", "economic", "european"] for la in ("sees", "area", "the")]
assert pair.target[3:] == ("la", "zone", "économique", "européenne")

# %% after cell-12
chance = np.bincount(which[tested]).max() / tested.sum()
assert f"{chance:.2f}" == "0.07"
assert all(at_adjective == 1 for _, at_adjective, _ in found.values())
assert found["global"][2] <= chance + 0.01 and found["forwards"][0] <= chance + 0.01
assert found["global"][0] > 0.95 and found["bahdanau"][0] > 0.95
assert 0.6 < found["forwards"][2] < 0.95 and 0.3 < found["bahdanau"][2] < 0.7
assert not any(share(changed(m, 3)) for m in models.values())

# %% after cell-16
import attnlib

assert len(endings) == 90
readers = agree["global"], agree["bahdanau"]
assert all(own == 1 and a > 0.7 and noun == 0 for own, a, noun in readers)
assert agree["bahdanau"][1] == 1 and agree["forwards"] == [0.5, 0, 0]
for p, q in endings:  # an article that does not tell, and one word that differs
    assert p.target[3] == q.target[3] == "les" and p.source[:5] == q.source[:5]
    forwards = {next_word(models["forwards"], x, 4) for x in (p, q)}
    assert len(forwards) == 1, "one form for both genders"
tops = {metrics.attention_weights(m, p)[4].argmax() for m in models.values() for p, _ in endings}
assert tops == {4}, "at the adjective"
beaux = "the queen sees the beautiful houses"
written = [attnlib.translate(models[name], beaux).words[4] for name in names]
assert written == ["belles", "beaux", "belles"]

some = tests[::3]
theirs = attnlib.translate_all(models["forwards"], [p.source for p in some], beam_size=1)
assert 0.4 < share(x.words == p.target for x, p in zip(theirs, some, strict=True)) < 0.65, "about half"

# %% after cell-20
counts = {"bahdanau": 10, "both-directions": 5, "global": 10, "forwards": 5}
assert left.count().to_dict() == right.count().to_dict() == counts, "all runs"
both_ways = ["bahdanau", "both-directions"]
assert (left + right)[both_ways].mean().max() < 0.2
assert (right["global"] > 2 * left["global"]).any()
assert (right["global"] < left["global"]).any()
assert right["forwards"].mean() > 2 * (left + right)["global"].mean()
assert (right["forwards"] > 5 * left["forwards"]).sum() == 5 == right["forwards"].count()
