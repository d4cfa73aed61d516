# %% after c01
dogs, see, cats = np.eye(3)
one_way, other_way = [dogs, see, cats], [cats, see, dogs]
half, on_first = np.array([[0.5, 0, 0.5], [1, 0, 0]])
assert np.array_equal(half @ one_way, half @ other_way)
assert not np.array_equal(on_first @ one_way, on_first @ other_way)

# %% after c04
X, H = torch.tensor(np.random.default_rng(6).normal(size=(2, 1, 5, 6)))
mask = torch.tensor([True, True, False, True, True])
heads = MultiHeadAttention(6, 2).double().requires_grad_(False)
contexts = []
for k in (slice(0, 3), slice(3, 6)):
    W_Q, W_K, W_V = (W.weight.T[:, k] for W in (heads.W_Q, heads.W_K, heads.W_V))
    contexts.append(attention(X @ W_Q, H @ W_K, H @ W_V, mask).context)
assert torch.allclose(heads(X, H, mask), torch.cat(contexts, 2) @ heads.W_O.weight.T), "head k owns columns"

# %% after c07
assert changed.tolist() == [False] * 5 + [True] * 4
before, after = (untrained(x, x, everywhere) for x in (with_cat, with_dog))
assert ((after - before).abs() > 1e-12).any(dim=2).all()
turned = with_cat.flip(1)
for mask, bag in ((everywhere, True), (causal, False)):
    same = (untrained(with_cat, with_cat, mask), untrained(turned, turned, mask).flip(1))
    assert torch.allclose(*same) == bag

# %% after c12
from attnlib import transformer as ours

assert torch.equal(P.float(), ours.sinusoidal_positions(torch.arange(60), 64))
assert all(np.ptp(products.diagonal(k)) < 1e-4 for k in range(60)), "k alone decides"
assert (products.diagonal() > products.diagonal(1)[0] + 1).all()
many = sinusoidal_positions(300, 64).double()
turn = torch.linalg.lstsq(many[:-1], many[1:]).solution
assert torch.allclose(many[:-1] @ turn, many[1:], atol=1e-4), "one turn for all"

# %% after c18
both = "path and layer norm"
assert apart["neither"][1] < 1e-6 and apart["neither"][2] < 1e-14
assert min(apart["residual path"] + apart[both]) > 0.5
x = begin.clone()
for layer in tower:
    x = neither(x, layer)
    x = 8 * x / x.norm(dim=2, keepdim=True)
assert (x - x.mean(1)).norm() < 1e-12, "the words merge, of whatever length"
assert length["neither"][0] < 1
assert f"{begin.norm(dim=2).mean():.0f}" == "8", "at the bottom"
assert arrives["neither"][5] < 1e-3 and arrives["neither"][11] < 1e-12
kept = torch.stack(arrives["residual path"] + arrives[both])
assert kept.min() > 0.6 and kept.max() < 2
assert np.allclose(length[both], 8, rtol=0.01)
assert length["residual path"][-1] > 1.3 * length["residual path"][0]
assert round(length["residual path"][-1].item(), 1) == 12.1

for w in (w for layer in tower for w in layer.parameters() if w.dim() == 2):
    nn.init.xavier_uniform_(w)
x = begin.clone().requires_grad_()
y = x
for layer in tower:
    y = neither(y, layer)
assert (y - y.mean(1)).norm() / y.norm() < 1e-3, "other initial weights"
assert torch.autograd.grad(y, x, above)[0].norm() < 1e-3

# %% after c31
assert exact(mine, held_out) > 0.5, "most"
assert len(lessons) == 797, "the summary says so"
assert not {p.source for p in held_out} & {p.source for p in pairs}
as_ours = ours.transformer(english, french, num_layers=1).eval()
weights = mine.state_dict()
renamed = {"_norm": "_norm.norm"} | {f"{W}.weight": W for W in ("W_Q", "W_K", "W_V", "W_O")}
for part, its in renamed.items():
    weights = {name.replace(part, its): w for name, w in weights.items()}
as_ours.load_state_dict(weights)
source, lengths, target = attnlib.collate(held_out[:20], english, french)
before = nn.functional.pad(target[:, :-1], (1, 0), value=BOS)
with torch.no_grad():
    its, _ = as_ours(source, lengths, target)
    given = mine.decoder(before, *mine.encoder(source, lengths))
assert torch.allclose(its, given, atol=1e-3)

# %% after c35
[written] = attnlib.translate_all(model, [pair.source], beam_size=1)
assert written.words == pair.target
at = [t for t, word in enumerate(pair.target) if word == "le"]
tops = [[pair.source[i] for i in look[at].argmax(1)] for look in last_layer]
assert tops[:2] == [["the"] * 3] * 2
assert tops[2:] == [["cat", "dog", "garden"]] * 2
assert last_layer[:, at].max(dim=2).values.min() > 0.6
dans = last_layer[:, pair.target.index("dans")].max(dim=1)
assert dans.indices.tolist() == [9, 9, 0, 0] and dans.values.min() > 0.8

# %% after c38
at = {n: ranges.mean_by_seed(recorded, rivals.values(), clauses=[n]) for n in (1, 2, 3, 4, 5, 6)}
assert min(at[n].min().min() for n in (1, 2, 3)) > 0.85, "nearly all"
assert at[1].count().to_dict() == {"transformer": 5, "bahdanau": 10, "global-dot": 10}
assert all(ranges.apart(at[n]["bahdanau"], at[n]["global-dot"]) for n in (4, 5))
judged = experiments.judge_claims(recorded.runs(), recorded.plan.claims("transformers"))
judged = judged.set_index(["first", "second", "metric", "test_set"])["verdict"]
assert all(judged["bahdanau", "transformer", "exact_match", n] == "supported" for n in (4, 5, 6))
assert all(judged["bahdanau", "transformer", "perplexity", n] == "reversed" for n in (5, 6))
assert at[6].mean().max() < 0.2
sizes = recorded.costs["parameters"]
assert 0.9 < sizes["transformer"] / sizes["bahdanau"] < 1.1

# %% after on-captions
ends = real.runs().query("test_set == 'test'").groupby("model").agg(["min", "max", "size"])
old, new = (ends.loc[name] for name in ("bahdanau", "transformer"))
bleu, unsure = "bleu_beam", "perplexity"
assert old[bleu]["min"] < new[bleu]["max"] and new[bleu]["min"] < old[bleu]["max"]
assert new[unsure]["max"] < old[unsure]["min"]
assert old[bleu]["size"] == new[bleu]["size"] == 3, "the caption says 1 in 10, 2 of the 20 ways"

# %% after c42
first, second = slice(0, 4), slice(4, 8)
assert errors[second].argmax() == 3
assert of_articles[7] > 2 * harm[7] and harm[7].round(3) == 0.148 and of_articles[7].round(2) == 0.47
assert {*errors.argsort()[:4]} == {*harm.argsort()[4:]} == {4, 5, 6, 7}, "the four best aligners"
assert harm.argmax() == 7 and harm[7] > 2 * np.delete(harm, 7).max()
assert errors[first].min() > 0.5 and harm[first].max() < 0.01
assert of_articles.argmax() == 7 and of_articles[7] > 0.4
assert abs(of_articles[6]) < 0.005
assert together > harm[7]
assert len(within) == 300

# %% after c45
encoded = model.encoder(source, lengths)
crossed = model.decoder.layers[0].cross_attention
once = crossed.project_keys_values(encoded.annotations)
assert torch.equal(state.memory.keys[:, 0], once[0])
before = nn.functional.pad(target[:, :2], (1, 0), value=BOS)
_, _, at_once = model.decoder.decode(before, model.start(source, lengths))
assert torch.allclose(state.cache[0], at_once.cache[0])
assert [x.shape[3] for x in state.cache] == [3, 3]

from attnlib import scores

layer = model.decoder.layers[1].cross_attention
ask, answer = layer.W_Q[32:48].T, layer.W_K[32:48].T  # head 3's columns
general = scores.General(64, 64).double()
general.load_state_dict({"W_a": ask @ answer.T / 16**0.5})
asks, h = torch.tensor(np.random.default_rng(6).normal(size=(1, 3, 64))), encoded.annotations
as_luong = masked_softmax(general(asks, general.project_keys(h)).detach())
as_head = attention(asks @ ask, h @ answer, h)
assert torch.allclose(as_luong, as_head.weights)
assert torch.linalg.matrix_rank(general.W_a) == 16

raw, place = np.random.default_rng(6).normal(size=(8, 8)), np.arange(8.0)
far = abs(place - place[:, None])
bell = attnlib.gaussian(np.tile(np.arange(8), (8, 1)), place, half_width=4)
for penalty, factor in [(0.5 * far, np.exp(-0.5 * far)), (far**2 / 8, bell)]:
    favored = masked_softmax(raw) * factor
    assert np.allclose(masked_softmax(raw - penalty), favored / favored.sum(axis=1, keepdims=True))

# %% after c53
assert last["without"] < last["with the mask"] / 2

t = torch.arange(30)
band = (t - t[:, None]).abs() <= 2
x = torch.tensor(np.random.default_rng(6).normal(size=(1, 30, 64)))
align = attnlib.AttentionLayer(scores.Dot(), attnlib.LocalMonotonic(2))
luongs = align(x, align.precompute(x, torch.tensor([30])), t)
plain = attention(x, x, x, band, scale=1)
assert torch.allclose(luongs.to_dense(30), plain.weights)

# %% after c77
assert shares[0.1] > shares[3.0] + 0.2
