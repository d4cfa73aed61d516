# %% after c02
plain, old = "transformer", "bahdanau"
for name, runs in exact[4].items():
    assert np.allclose(share(name, long | ~long), runs.dropna()), "the same runs"
assert share(plain, ~long).min() > 0.8 and share(plain, long).max() < 0.5
first, longer = "transformer-norm-first", "transformer-longer"
changed = names[2:4]
assert exact[3].count().to_dict() == {name: len(recorded.plan.configs[name].seeds) for name in names}, "all runs"
for name in changed:
    assert all(ranges.apart(exact[n][plain], exact[n][name]) for n in (3, 4)), "worse"
    assert share(name, long).mean() < share(plain, long).mean(), "also on long sentences"
    assert share(name, ~long).mean() < share(plain, ~long).mean()
    assert exact[5][name].mean() < exact[5][plain].mean()
judged = experiments.judge_claims(recorded.runs(), recorded.plan.claims("transformers"))
verdict = judged.set_index(["first", "second", "metric", "test_set"])["verdict"]
assert all(verdict[old, plain, "exact_match", n] == "supported" for n in (4, 5, 6)), "it loses"
assert all(verdict[first, plain, "exact_match", n] == "ruled out" for n in (3, 4))
assert verdict[longer, plain, "exact_match", 4] == "supported"
assert verdict[longer, plain, "exact_match", 5] == "inconclusive"
assert all(verdict[old, longer, "exact_match", n] == "inconclusive" for n in (4, 5, 6))
assert all(verdict[old, longer, "perplexity", n] == "reversed" for n in (4, 5, 6))
assert all(verdict[old, plain, "perplexity", n] == "reversed" for n in (5, 6, 8))
real = experiments.Recording("sentences").runs().query("test_set == 'test'")
ends = real.groupby("model").agg(["min", "max", "size"])
theirs, its = ends.loc[old], ends.loc[plain]
assert its["perplexity"]["max"] < theirs["perplexity"]["min"]
assert theirs["perplexity"]["size"] == its["perplexity"]["size"] == 3
assert {recorded.plan.configs[n].max_steps for n in names[:5]} == {3000}
assert {recorded.plan.configs[n].tuning_group for n in names[1:]} == {plain}

# %% after c07
assert 0.9 < costs["parameters"][plain] / costs["parameters"][old] < 1.1
speed = costs["words_per_second"]
assert speed[old] < speed[plain] < speed["global-dot"] / 2


# %% after c10
def bounds(name, first, last):
    part = by_position[name].loc[first:last]
    return part.min(axis=1), part.max(axis=1)


for name in changed:
    assert (bounds(name, 36, 60)[1] < bounds(plain, 36, 60)[0]).all(), "end"
    assert (bounds(name, 11, 20)[0] > bounds(plain, 11, 20)[1]).all(), "before"
assert (bounds(plain, 36, 60)[0].min() > bounds(plain, 1, 35)[1]).all()
sentences = recorded.plan.configs[plain].training_sentences(10)
longest = np.array([max(len(p.source), len(p.target)) for p in sentences])
assert 0.02 < (longest > 35).mean() < 0.03, "one pair in 40"
assert (longest < 60).all(), "rarely or never"

import torch

import attnbook
import attnlib

torch.set_num_threads(1)  # the tensors are too small to share out
shipped = {name: attnbook.load_pretrained(name) for name in (old, plain)}
begins = []
for n in (4, 5):
    pairs = recorded.plan.configs[plain].test_sentences(n)
    sources = [pair.source for pair in pairs]
    written = attnlib.translate_all(shipped[plain], sources, beam_size=1)
    for its, pair in zip(written, pairs, strict=True):
        words, right = ([*x, "EOS"] for x in (its.words, pair.target))
        wrong = [a != b for a, b in zip(words, right, strict=False)]
        if any(wrong):
            begins.append(wrong.index(True) + 1)
assert len(begins) > 100 and np.mean(np.array(begins) <= 35) > 0.8, "most"

# %% after c14
from torch import nn

from attnlib.transformer import EncoderLayer

layer = EncoderLayer(64, 256, 4)
parts = (nn.GRUCell(64, 64), layer.self_attention, layer.feed_forward)
used = [sum(w.numel() for w in part.parameters() if w.dim() == 2) for part in parts]
assert used == [6 * 64**2, 4 * 64**2, 8 * 64**2], "once a word"
