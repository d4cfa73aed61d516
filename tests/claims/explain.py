# %% after cell-6
for title in ("Bahdanau", "Luong global"):
    largest, without, mixed, even, blind = shares[title]
    assert own[title] - largest < 0.01 and 0.15 < without < 0.5
    assert max(mixed, even) < 0.3 and blind < 0.2
_, without, mixed, even, _ = shares["Luong location"]
assert without > 0.75 and max(mixed, even) < 0.5
tops = [metrics.attention_weights(models["Luong location"], p).max(axis=1) for p in tests[::3]]
assert 0.35 < np.concatenate(tops).mean() < 0.45, "on average 0.4"
assert errors["Luong location"] > 2 * errors["Luong global"]
assert (every.count() == 10).all()

# %% after cell-9
two, one = "path-lstm", "path-encoder"
assert up[one].max() >= up[two].min(), "exact match overlaps"
assert up[one].min() > 0.9 and up[two].min() > 0.9
astray = across[one].dropna() > 0.4
assert astray.mean() > 0.5 and across[two].max() < 0.4
assert across["local-p"].max() < 0.4 and up["local-p"].max() < up[one].min()
assert up.count().to_dict() == across.count().to_dict() == {name: 5 if "path" in name else 10 for name in shown}
sides = [mean_by_seed(recorded, [one], f"missed_{side}").loc[astray.index, one][astray] for side in ("left", "right")]
assert sides[0].min() > 10 * sides[1].max(), "nearly all to the left"

# %% after cell-12
assert all(predicted < before - 0.1 for _, predicted, before in rows)

# %% after cell-15
assert all(of_content < others for of_content, others in by_kind.values())
for title in ("Bahdanau", "Luong global"):
    assert by_kind[title][0] < 0.3 < by_kind[title][1]

# %% after cell-18
n = len(denied)
top, no_do, no_not, neither = rows["Bahdanau"]
assert top == no_not == n and no_do == n - 1 and neither == 4
top, no_do, no_not, neither = rows["Luong global"]
assert top > 0.9 * n and n - no_do == 23 and neither == 0
assert rows["Luong location"][3] > n / 2

# %% after cell-21
assert by_draw["Bahdanau"] > 0.95 and by_draw["Luong global"] > 0.95
assert by_draw["Luong location"] < 0.7

# %% after cell-25
no, a = off.values()
assert a[0] < no[0] and (a < no).all() and a[0] > size
assert np.allclose(no[:-1] / no[1:], 2, atol=0.3)
assert np.allclose(a[:-1] / a[1:], 2, atol=0.3)
