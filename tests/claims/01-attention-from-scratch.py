# %% after cddaa1f9
words = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
sentences = words[list(np.ndindex(4, 4, 4, 4))]


def told_apart(weights):
    return len(np.unique((weights @ sentences).round(4), axis=0))


assert told_apart(np.ones((1, 4))) == math.comb(7, 4) == 35
assert told_apart(0.1 + 0.6 * np.eye(4)) == len(sentences) == 256
assert (sentences.sum(axis=(1, 2)) == 4 + (sentences.sum(axis=2) == 2).sum(axis=1)).all(), "1 more for each kittens"
assert (((0.1 + 0.6 * np.eye(4)) @ sentences).round() == sentences).all(), "rounded: the words"
assert 2000 * math.log2(30_000) < 1000 * 32, "bits of 2,000 words"

# %% after 8aa41471
assert scores[0] == 2 * 2 + 0 * 2 + 2 * 2 and scores[2] / scores[0] == 1.25
assert 3 < weights[2] / weights[0] < 3.5
assert np.isclose(weights[2] / weights[0], np.exp((10 - 8) / np.sqrt(3)))
assert np.allclose(weights @ values, [0.98522025, 1.74174051, 0.75652026], rtol=0, atol=5e-9)


# %% after 2799a4e2
printed = [
    [0.98522025, 1.74174051, 0.75652026],
    [0.90965265, 1.40965265, 0.5],
    [0.99851226, 1.75849334, 0.75998108],
    [0.99560386, 1.90407309, 0.90846923],
]
assert np.allclose(contexts, printed, rtol=0, atol=5e-9)
assert np.allclose(contexts, attention(queries, keys, values).context)
assert np.allclose(weights, attention(queries, keys, values).weights)
shapes = attention_in_four_lines(*map(np.ones, [(5, 2), (7, 2), (7, 3)]))
assert [x.shape for x in shapes] == [(5, 3), (5, 7)], "T, S, d_v: 5, 7, 3"

# %% after f22a1019
fine = np.geomspace(0.1, 100, 61)
answers = attention(fine[:, None] * asked, compass, brings)
degrees, (east, north, west, south) = answers.context[:, 0], answers.weights.T
lowest = degrees.argmin()
assert degrees[lowest] < 7 and 0.2 < north[lowest] < 0.3 and west[lowest] < 0.05
assert south[lowest] < 0.05, "south and west lose their weight first"
assert north[fine < 5.4].min() > 0.1, "a length of 2.7: north keeps some"
assert east[-1] > 0.999 and np.allclose(answers.context[-1], brings[0], atol=0.05)
assert np.allclose(attention(0 * asked[None], compass, brings).context, [11, 58.75])
many = np.random.default_rng(1).normal(scale=20, size=(1000, 2))
mixed = attention(many, compass, brings).context
corners = brings[[0, 3, 2, 1]]  # the hull, counterclockwise
sides = np.roll(corners, -1, axis=0) - corners
for corner, side in zip(corners, sides, strict=True):
    beside = mixed - corner
    assert (side[0] * beside[:, 1] - side[1] * beside[:, 0] >= -1e-9).all()

# %% after 00afadc7
assert (keys[0] == keys[2]).all()
assert np.allclose(chosen.weights[:, 0], chosen.weights[:, 2])
assert chosen.weights[3, 0].round(2) == 0.47 and keys.shape[1] == 2
assert chosen.weights[3, [0, 2]].sum() > 0.9 and chosen.weights[0, 3] > 0.8
assert np.allclose(chosen.context[3], [1, 0.5, 0], atol=0.06)
between = vectors @ (looks_for @ is_about.T) @ vectors.T
assert (between == queries @ keys.T).all()

# %% after set-by-you
assert found.tolist() == (looks_for @ is_about.T).tolist() == [[0, 0, 4], [4, 0, 0], [4, 0, 0]]
for row, largest in (([4, 0, 0], [0, 2]), ([4, 4, 0], [2]), ([4, 0, 4], [0, 2, 3])):
    shares = attention(vectors[3:] @ [*found[:2], row], vectors, vectors).weights[0]
    assert np.flatnonzero(np.isclose(shares, shares.max())).tolist() == largest, "the first, two, the first and third"
by_root = [attention(vectors @ (looks_for @ is_about.T), vectors, vectors, scale=n**-0.5).weights for n in (2, 3)]
assert np.allclose(by_root[0], chosen.weights) and by_root[1][3, 0].round(4) == 0.4548, "2 features, and 3"
assert np.allclose(attention(0 * vectors, vectors, vectors).weights, 0.25), "a quarter each"

the, cat, sees, dog = np.random.default_rng(2).normal(size=(4, 3))
one, other = np.array([[the, dog, sees, the, cat], [the, cat, sees, the, dog]])
for seen in (one, other):
    seen[:] = attention(seen @ W_Q, seen @ W_K, seen @ W_V).context
assert np.allclose(one[[0, 4, 2, 3, 1]], other), "each word gets what it got"

# %% after dc9c2a35
responds = [np.multiply(p, np.subtract(1, p)) for p in (without, rooted)]
medians = [np.median(each, axis=1) for each in responds]
assert medians[0][-1] < 1e-5 and medians[0][-2] < 0.01
assert (np.diff(medians[0]) < 0).tolist() == [False, *[True] * 4]
assert max(medians[1]) < 1.3 * min(medians[1]), "with the root it must stay"
assert np.mean(without[-1] > 0.99) > 0.7, "most queries saturate"
assert 0.5 < np.mean(without[-2] > 0.99) < 0.7, "half, at 256"
assert np.greater(*medians).tolist() == [False, True, True, False, False, False], "larger at 4 and at 16"
away = [np.abs(np.median(p, axis=1) - 0.5)[1:3] for p in (without, rooted)]
assert (away[0] < away[1]).all(), "closer to one half"
assert (np.diff([np.mean(p > 0.99) for p in without][1:]) > 0).all()
assert np.isclose(scores.std(), 32, rtol=0.05), "variance d_k"

# %% after 5a38ebda
from attnlib import masked_softmax

with np.errstate(over="ignore", invalid="ignore"):
    assert np.isfinite(np.exp([709, 710])).tolist() == [True, False]
    assert np.isnan(np.exp(1000.0) / np.exp(1001.0))
for e in (np.array([1000.0, 1001.0]), np.array([1e4, -1e4, 0.0]), scores[0]):
    assert np.allclose(stable_softmax(e), softmax(e))
    assert np.allclose(stable_softmax(e), masked_softmax(e))

# %% after 86fe1bb1
alone, (unmasked, masked) = (attention(Q[:2], K[:2], V[:2]), [attention(Q, K, V, m) for m in (None, mask)])
assert (Q[1] @ K[2:].T == 0).all() and (unmasked.weights[:, 2:] > 0).all()
assert np.allclose(alone.context, masked.context[:2])
assert (masked.weights[:, 2:] == 0).all(), "padding: exactly 0"

nothing, scores = np.zeros(4, dtype=bool), np.array([8.0, 2.0, 10.0, 2.0])
assert (softmax(np.where(nothing, scores, -1e9)) == 0.25).all()
with np.errstate(invalid="ignore"):
    assert np.isnan(softmax(np.where(nothing, scores, -np.inf))).all()
assert (masked_softmax(scores, nothing) == 0).all()
assert (attention(Q, K, V, nothing).context == 0).all()

# %% after 519681f2
assert all(np.diff(row).min() >= 0.75 for row in medians.values())
assert all(np.diff(row).max() <= 1.25 for row in medians.values())
assert medians[64][0] == medians[16][0]
assert (medians[64][1:] < medians[16][1:]).all(), "from 16 words on"
