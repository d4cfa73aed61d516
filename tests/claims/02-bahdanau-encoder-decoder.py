# %% after cell-006
from collections import Counter

import attnlib
from attnbook.language import dictionary

PLACES = dictionary.PREPOSITIONS
for model in (without, bahdanau):
    made = model.config["training_info"]
    config = experiments.read_plan("world").configs[made["row"]]
    assert config.num_pairs == 60_000 and config.clauses == (1, 2, 3)
    assert made["steps"] == config.max_steps and config.reordering == 0.5
after_noun = [a.place == "after" for a in dictionary.ADJECTIVES]
assert 1 / 3 < np.mean(after_noun) < 1, "many, and others"
with_place = [p for p in sample(2000, 1, (1,)) if {*p.source} & {*PLACES}]
first = np.mean([p.source[0] in PLACES for p in with_place])
assert 0.45 < first < 0.55, "English puts half of them first"
two = experiments.read_plan("world").configs["bahdanau"].test_sentences(2)
assert share_right(without, two) < 0.4 and share_right(bahdanau, two) > 0.95
nouns = {w for n in dictionary.NOUNS for w in (n.french, n.french_plural)}
written = attnlib.translate_all(without, [p.source for p in two], beam_size=1)
wrong = [(w.words, p.target) for w, p in zip(written, two, strict=True) if w.words != p.target]
kept = [sum((Counter(w for w in x if w in nouns) & Counter(w for w in y)).values()) for x, y in wrong]
assert sum(kept) / sum(w in nouns for x, _ in wrong for w in x) > 0.75, "most nouns are in the right one"
moved = [[w for w in x if w in nouns and w in y] != [w for w in y if w in nouns and w in x] for x, y in wrong]
assert np.mean(moved) > 0.3, "many at another place"


# %% after cell-019
def after(article):
    ids, lengths = encode_batch([sentence.split()], english)
    french_words = ["le", "chat", "noir", "voit", "le", "chien", "dans"]
    written = french.encode([*french_words, article, "jardin"])
    scored, attended = bahdanau(ids, lengths, torch.tensor([written]))
    return attended.to_dense(10)[0], *french.decode([scored[0, 8].argmax()])


(le, jardin), (la, rue) = after("le"), after("la")
assert torch.equal(le[8], la[8]) and not torch.allclose(le[9], la[9])
assert (jardin, rue) == ("jardin", "rue")
assert not bahdanau.decoder.reads_new_state

# %% after cell-009
assert (w.grad.item(), w.item()) == (4, 2)
rng = np.random.default_rng(2)
W_gru, U_gru = (torch.tensor(rng.normal(size=(6, 2))) for _ in range(2))
cell = nn.GRUCell(2, 2, bias=False, dtype=torch.float64)
cell.load_state_dict({"weight_ih": W_gru, "weight_hh": U_gru})
x, before = (torch.tensor(rng.normal(size=2)) for _ in range(2))
(r_x, z_x, n_x), (r_h, z_h, n_h) = ((W_gru @ x).split(2), (U_gru @ before).split(2))
z, candidate = (torch.sigmoid(z_x + z_h), torch.tanh(n_x + torch.sigmoid(r_x + r_h) * n_h))
after = (1 - z) * candidate + z * before
assert torch.allclose(cell(x[None], before[None])[0], after), "(2.1)"

# %% after cell-027
import copy

assert abs(losses[0] - np.log(len(french))) < 0.3 and len(french) == 258
assert np.mean(losses[-10:]) < 0.2
assert exact(model, held_out) > 0.9, "more than nine in ten"
assert not {p.source for p in held_out} & {p.source for p in pairs}


def our_name(name):
    suffix = "_reverse" * ("backward_rnn" in name)  # nn.GRU keeps both readers in one module
    name = name.replace("readout.", "").replace("attention.score", "attention").replace("cell", "gru")
    return name.replace("forward_rnn", "gru").replace("backward_rnn", "gru").removesuffix(".weight") + suffix


@torch.no_grad()
def in_attnlib(model):
    """Fill attnlib's model from ours. A Linear holds its matrix as `weight`."""
    theirs = attnlib.rnn_search(english, french, embedding_dim=48, hidden_size=64)
    ours = {n.removesuffix(".weight"): w for n, w in model.named_parameters()}
    assert len(ours) == len([*theirs.parameters()])
    for name, weight in theirs.named_parameters():
        weight.copy_(ours[our_name(name)].view_as(weight))
    return theirs


some = attnlib.collate(sample(24, seed=5, clauses=(1, 2, 3), part="test"), english, french)
precise = copy.deepcopy(model).double()
with torch.no_grad():
    ours = precise(*some)
    theirs = in_attnlib(precise).double()(*some)
    dense = theirs.attention.to_dense(some.source.shape[1])
assert torch.allclose(ours[0], theirs.logits, atol=1e-9, rtol=0), "the same"
assert torch.allclose(ours[1], dense, atol=1e-9, rtol=0), "the same weights"

torch.manual_seed(1)
ours, few = Bahdanau(), lessons[:8]
falls = {"learning_rate": 0.01, "schedule": lambda share: 1 - (9 * share - 1) / 8}
their_losses = attnlib.train(in_attnlib(ours), iter(few), steps=8, **falls).losses
assert np.allclose(train(ours, few), their_losses, rtol=0.01), "the same loop"

# %% after cell-033
assert words[e.grad.argmin()] == "cat" and e.grad.min() < 0
assert loss_of_chat(e - e.grad) < loss_of_chat(e), "chat: more probable"
context = (h[0].mean(dim=0)).requires_grad_()
logits = model.decoder.write(s_1, model.decoder.embedding(le), context[None])
nn.functional.cross_entropy(logits, chat).backward()
by_hand = 0.1 * (h[0] - context) @ context.grad
assert torch.allclose(e.grad, by_hand, atol=1e-6), "(2.7)"

# %% after slopes
rates = [steepest(stage, test) for stage in stages.values()]
chance = np.mean([1 / (len(pair.source) + 1) for pair in test])
assert 0.09 < chance < 0.11, "a tenth would be chance"
assert rates[0] < 2 * chance and 0.45 < rates[1] < 0.55 and min(rates[2:]) > 0.94
assert bahdanau.config["training_info"]["steps"] == 3000

# %% after frozen
lines = experiments.read_table("frozen").set_index(["model", "step", "seed"]).sort_index()
assert len(lines.loc["equal"].loc[800]) == 5
assert lines.loc["equal"].steepest.loc[200:].min() > 0.85, "nine in ten"
assert lines.loc["equal"].steepest.loc[0].max() < 0.2
looking, released = lines.greatest["as it is"], lines.greatest["released"]
assert looking[100].max() < lines.loc["equal"].steepest.loc[100].min(), "behind"
assert np.allclose(looking[200].median(), lines.loc["equal"].steepest.loc[200].median(), atol=0.02), "level"
assert 0.85 < looking[200].median() < 0.95, "nine in ten"
assert looking.loc[300:].min() > 0.9, "nine in ten"
assert released[0].max() < 0.2 and released[100].min() > 1.5 * released[0].max(), "at once"
assert released[800].min() > 0.65 and released[800].max() < 0.85, "seven to eight in ten, far below"

# %% after film
loss_at, light_at = (dict(zip(learned["steps"], learned[name], strict=True)) for name in ("loss", "light"))
assert (round(light_at[200], 2), round(light_at[300], 2)) == (0.21, 0.53)
assert 0.37 < loss_at[200] / loss_at[0] < 0.4, "three fifths of the loss are gone"
assert round(rates[2], 2) == 0.95

# %% after cell-038
by_seed = runs.set_index(["model", "clauses"])["exact_match"].sort_index()
assert by_seed["no-attention", 1].min() > 0.5 > by_seed["no-attention", 2].max()
assert by_seed["bahdanau"].loc[1:3].min() > 0.9, "they stay right, at any seed"
assert by_seed["bahdanau"].loc[6].max() < 0.5, "with six, most are wrong"

# %% after papers-table
from attnbook.experiments import ledger

found = ledger.judge_plan(captions).set_index(["first", "second", "metric"])
gain = found.loc[("bahdanau", "no-attention", "bleu_beam")]
assert round(gain["difference"]) == round(gain["paper_first"] - gain["paper_second"]) == 9
assert gain["verdict"] == found.loc[("bahdanau-short", "no-attention", "bleu_beam"), "verdict"] == "agrees"

# %% after figure-2
of_four = [*four.values()]
bleu = grammar.runs().groupby(["model", "clauses"])["bleu_beam"]
mean, rises = bleu.mean().unstack().loc[of_four], bleu.mean().unstack().diff(axis=1)
assert (rises.loc[of_four[2:]].iloc[:, 1:] < 0).all(axis=None)
for row, clauses in (("bahdanau-4", 4), ("bahdanau-2", 2)):
    assert mean.loc[row, :clauses].min() > 99 and (rises.loc[row, clauses + 1 :] < 0).all()
at_four = bleu.agg(["min", "max"])
for n in (3, 4):
    assert at_four.loc[("bahdanau-2", n), "min"] > at_four.loc[("no-attention-4", n), "max"] + 20, "far more"
assert (bleu.count().unstack().loc[of_four] == 5).all(axis=None)
pairs = {grammar.plan.configs[row].num_pairs for row in of_four}
assert len(pairs) == 1

# %% after cell-043
tops = dict(zip(negated.target, looks.argmax(axis=1), strict=True))
assert negated.source[tops["dans"]] == "in" == negated.source[0]
assert negated.source[tops["ne"]] == "does"
assert all(("not" in p.source) == bool({"do", "does"} & {*p.source}) for p in sample(5000, seed=6))


# %% after cell-046
def hiding(*words):
    hidden = [negated.source.index(word) for word in words]
    blinded = attnbook.load_pretrained("bahdanau")

    def precompute(h, lengths):
        memory = bahdanau.decoder.attention.precompute(h, lengths)
        seen = memory.mask.clone()
        seen[..., hidden] = False
        return memory._replace(mask=seen)

    blinded.decoder.attention.precompute = precompute
    source = " ".join(negated.source)
    return attnlib.translate(blinded, source, beam_size=1).words


assert hiding("not") == hiding("does") == negated.target
assert not {"ne", "n'", "pas"} & {*hiding("does", "not")}
baker = [*negated.target]
baker[1] = "boulanger"
assert hiding("cat") == tuple(baker)
from attnbook.experiments.interventions import next_word

everywhere = range(len(negated.source))
french_nouns = {w for n in dictionary.NOUNS for w in (n.french, n.french_plural)}
assert next_word(bahdanau, negated, 1, hidden=everywhere) in french_nouns, "it expects a noun, whatever it reads"

# %% after cell-051
assert exact(no_tanh, held_out) < 0.2 and exact(late, held_out) < 0.9
_, same = no_tanh(*encode_batch([sentence.split()], english))
assert torch.allclose(same[0, 1:], same[0, :-1], atol=1e-6), "the same words"
one_by_one = [[exact(m, [p]) for p in held_out[:20]] for m in (unmasked, model)]
assert one_by_one[0] == one_by_one[1] and alone > 0.9
assert exact(unmasked, [*held_out, longest]) < 0.8
assert exact(model, [*held_out, longest]) > 0.9
assert np.mean(peeked[-10:]) < 0.1 and exact(peeking, held_out) == 0

assert (bahdanau.encoder.embedding.embedding_dim, bahdanau.decoder.cell.hidden_size) == (48, 96)
assert (len(english.words), len(french.words)) == (194, 254)

# %% after cell-058
assert probabilities.argmax() == 2 and weights.argmax() == 2
assert np.isclose(weights[1], 0.2771, atol=1e-4)
assert slopes.argmin() == 1 and slopes[2] > 0 and 5 * slopes[0] > slopes[1]
better = softmax(W_o @ (softmax(np.log(weights) - slopes) @ H))
assert better.argmax() == 1 and better[1] > probabilities[1] + 0.1
blank = H * [[1, 1], [0, 0], [1, 1]]  # without what cat's annotation says
without_cat = weights * ((blank - weights @ blank) @ d_context)
assert without_cat[1] > slopes[1] / 2, "it is cat that raises chat"
