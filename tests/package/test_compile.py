"""What torch compiles and exports computes the same, in a process whose types are checked as a user's are."""

import subprocess
import sys

SETUP = """
from functools import partial

import torch
from torch.nn.functional import cross_entropy

from attnlib import Vocabulary, beam_search, encode_batch, greedy_search, luong, rnn_encdec, rnn_search
from attnlib import train, translate
from attnlib.mechanism import attention, masked_softmax
from attnlib.batching import Batch
from attnlib.transformer import transformer

torch.set_num_threads(1)
words = Vocabulary(tuple("abcdefg"))
source, lengths = encode_batch([["a", "b"], ["c", "d", "e"], ["a"]], words)
target, _ = encode_batch([["b", "a"], ["c"], ["a", "g"]], words)
sizes, small = {"embedding_dim": 5, "hidden_size": 6}, {"d_model": 6, "num_heads": 2, "dim_feedforward": 7}
dropout = {"dropout": 0.2, "embedding_dropout": 0.2}
MODELS = {
    "luong": partial(luong, words, words, **sizes, **dropout),
    "local-p": partial(luong, words, words, window="local-p", half_width=1, num_layers=2, **sizes, **dropout),
    "rnn_search": partial(rnn_search, words, words, **sizes, **dropout),
    "rnn_encdec": partial(rnn_encdec, words, words, **sizes, **dropout),
    "transformer": partial(transformer, words, words, **small, **dropout),
}
compiled = partial(torch.compile, backend="eager")


def same(mine, theirs):
    torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


def learn(make, change):
    "Return the scores, the attention, the loss and the gradients of a training step with dropout."
    model = make()
    torch.manual_seed(3)
    logits, attended = change(model.train())(source, lengths, target)
    loss = cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0)
    loss.backward()
    outputs = [logits, loss, *(p.grad for p in model.parameters()), *(attended or ())]
    return [each for each in outputs if each is not None]
"""
COMPILED = """
for make in MODELS.values():
    same(learn(make, compiled), learn(make, lambda model: model))
    model = make().eval()
    for search in (greedy_search, partial(beam_search, beam_size=3)):
        mine, theirs = (search(each, source, lengths, 5) for each in (compiled(model), model))
        same(mine.ids, theirs.ids)
    assert str(translate(compiled(model), "a b")) == str(translate(model, "a b"))
"""
TRAINED = """
models = [MODELS["rnn_encdec"]() for _ in range(2)]
for model, change in zip(models, (compiled, lambda model: model), strict=True):
    train(change(model), [Batch(source, lengths, target)] * 2, steps=2, learning_rate=0.1, seed=0, progress=False)
same(*map(list, (model.eval().parameters() for model in models)))
given = source, lengths, target
same(*(change(models[0].loss)(*given) for change in (compiled, lambda call: call)))
same(*(change(models[0].start)(*given[:2]).cache for change in (compiled, lambda call: call)))
"""
FUNCTIONS = """
x, mask = torch.randn(2, 3, 4), torch.tensor([True, False, True])
for change in (compiled, partial(compiled, fullgraph=True)):
    same([*change(lambda *given: attention(*given, mask)[:2])(x, x, x)], [*attention(x, x, x, mask)[:2]])
same(compiled(masked_softmax)(x), masked_softmax(x))
same(torch.vmap(lambda x: attention(x, x, x).context)(x), attention(x, x, x).context)
"""
EXPORTED = """
others = source.flip(0), lengths.flip(0), target.flip(0)
for name in ("rnn_search", "rnn_encdec", "transformer"):
    model = MODELS[name]().eval()
    program = torch.export.export(model, (source, lengths, target)).module()
    same(program(*others).logits, model(*others).logits)
"""


def test_torch_computes_the_same_of_what_it_has_compiled_or_exported():
    script = "".join((SETUP, COMPILED, TRAINED, FUNCTIONS, EXPORTED))  # in one process: torch takes long to begin
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
