"""Bugs that real attention code has had, put back one by one: a check that passes without the bug fails with it.

Each check is a loop, an identity or a case by hand, and stands for the
tests of its module; the patches change nothing but what the bug changed.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch.nn.functional import linear
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from attnlib import alignment, attention, decoders, encoders, layers, losses, scores, search, translator, windows
from attnlib.data import Vocabulary

BATCH, TGT, SRC, D = 3, 5, 11, 7
LENGTHS = torch.tensor([11, 4, 7])
STEPS = torch.arange(TGT)
MASK = (torch.arange(SRC) < LENGTHS[:, None])[:, None]


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def double(make, *arguments):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return make(*arguments).double()


S, H = random(BATCH, TGT, D, seed=1), random(BATCH, SRC, D, seed=2)


# The checks.


def look_from(score, s=S, h=H, lengths=LENGTHS):
    align = double(lambda: alignment.Align(score(), windows.Everywhere()))
    return align(s, align.remember(h, lengths), STEPS)


def padding_has_no_weight():
    weights = look_from(scores.Dot).weights
    for n in range(BATCH):
        assert (weights[n, :, LENGTHS[n] :] == 0).all()
        assert_close(weights[n].sum(-1), torch.ones(TGT, dtype=torch.float64))


def weights_follow_the_annotations():
    whole, order = torch.full((BATCH,), SRC), torch.randperm(SRC, generator=torch.Generator().manual_seed(0))
    before, after = (look_from(lambda: scores.Additive(D, D, D), h=h, lengths=whole).weights for h in (H, H[:, order]))
    assert_close(after, before[:, :, order])


def the_first_word_follows_start():
    vocabulary = Vocabulary(tuple("abcde"))
    model = translator.rnn_search(vocabulary, vocabulary, emb=5, hid=7)
    source, lengths, target = torch.tensor([[4, 5, 2]]), torch.tensor([3]), torch.tensor([[6, 7, 2]])
    start = 1
    logits, _, _ = model.step(torch.tensor([start]), model.start(source, lengths))
    assert_close(model(source, lengths, target).logits[:, 0], logits)
    best = int(logits[0, 2:].argmax()) + 2
    result = search.greedy(model, source, lengths, 1)
    assert result.words[0, 0] == best
    assert_close(result.log_probabilities[0], logits[0, 2:].log_softmax(0)[best - 2])


def the_loss_counts_real_words_only():
    logits, target = random(2, 3, 7), torch.tensor([[4, 5, 2], [6, 2, 0]])
    by_hand = [-logits[n, t].log_softmax(0)[target[n, t]] for n, t in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))]
    assert_close(losses.word_loss(logits, target), sum(by_hand) / 5)
    assert_close(losses.output_loss(logits, torch.eye(7, dtype=logits.dtype), target), sum(by_hand) / 5)


def a_sentence_is_read_to_its_end_and_no_further():
    words = double(layers.Embedding, 13, 5)
    for make, size in ((encoders.StackedLSTM, 2), (encoders.BidirectionalGRU, 3)):
        encoder = double(make, words, 7, size)
        source = torch.randint(4, 13, (BATCH, SRC), generator=torch.Generator().manual_seed(0))
        together = encoder(source, LENGTHS)
        for n, length in enumerate(LENGTHS.tolist()):
            alone = encoder(source[n : n + 1, :length], LENGTHS[n : n + 1])
            assert_close(together.summary[n : n + 1], alone.summary)
            for state, expected in zip(together.state, alone.state, strict=True):
                assert_close(state[n : n + 1], expected)


def bahdanau_attends_before_it_reads_the_word():
    align = alignment.Align(scores.Additive(D, D, D), windows.Everywhere())
    decoder = double(lambda: decoders.BahdanauDecoder(align, layers.Embedding(13, 5), dec=D, enc=D, maxout=3))
    state = decoders.State(align.remember(H, LENGTHS), (S[:, 0],), 0)
    looks = [decoder.step(torch.full((BATCH,), word), state)[1].weights for word in (4, 9)]
    assert_close(looks[0], looks[1])
    assert_close(looks[0], align(S[:, :1], state.memory, STEPS[:1]).weights)


def a_score_is_its_equation(make, equation):
    score = double(make, D, D, 5)
    e = score(S, score.keys(H))
    for n, t, i in ((0, 0, 0), (1, 4, 3), (2, 2, 10)):
        assert_close(e[n, t, i], score.v_a @ torch.tanh(equation(score, S[n, t], H[n, i])))


def the_additive_score_is_its_equation():
    a_score_is_its_equation(scores.Additive, lambda of, s, h: of.W_a @ s + of.U_a @ h)


def the_concat_score_is_its_equation():
    a_score_is_its_equation(scores.Concat, lambda of, s, h: of.W_a @ torch.cat([s, h]))


def predicted():
    window = double(windows.LocalPredictive, D, 3)
    with torch.no_grad():
        window.v_p.mul_(5)
    centre = LENGTHS[:, None] * torch.sigmoid(torch.tanh(S @ window.W_p.T) @ window.v_p)
    return window(S, STEPS, LENGTHS, MASK), centre


def the_gaussian_is_its_equation():
    view, centre = predicted()
    assert_close(view.factor, torch.exp(-((view.positions - centre[..., None]) ** 2) / (2 * (3 / 2) ** 2)))


def a_window_is_a_loop():
    """Of both kinds: the centre of local-m is a whole number, so that it has positions at both its ends."""
    monotonic = torch.minimum(STEPS, LENGTHS[:, None] - 1)
    for (view, centre), D in ((predicted(), 3), ((windows.LocalMonotonic(2)(S, STEPS, LENGTHS, MASK), monotonic), 2)):
        for n in range(BATCH):
            for t in range(TGT):
                seen = {int(i) for i, inside in zip(view.positions[n, t], view.inside[n, t], strict=True) if inside}
                assert seen == {i for i in range(int(LENGTHS[n])) if abs(i - centre[n, t]) <= D}


def a_centre_does_not_depend_on_the_neighbours():
    window = double(windows.LocalPredictive, D, 2)
    together = window.centre(S, STEPS, LENGTHS)
    for n in range(BATCH):
        assert_close(together[n : n + 1], window.centre(S[n : n + 1], STEPS, LENGTHS[n : n + 1]))


def where_there_is_nothing_to_look_at_all_weights_are_zero():
    mask = torch.ones(BATCH, 1, SRC, dtype=torch.bool)
    mask[1] = False
    attended = attention.attention(S, H, H, mask)
    assert (attended.weights[1] == 0).all()
    assert (attended.context[1] == 0).all()


def attention_changes_no_annotation():
    h = H.clone()
    look_from(scores.Dot, h=h)
    assert torch.equal(h, H)


class Count(TorchDispatchMode):
    """How many operations torch runs."""

    def __init__(self):
        super().__init__()
        self.operations = 0

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        self.operations += 1
        return function(*arguments, **(keywords or {}))


def a_larger_batch_takes_no_more_operations():
    counts = []
    for batch, src in ((2, 3), (3, 11)):
        s, h, lengths = S[:batch].clone(), H[:batch, :src].clone(), torch.full((batch,), src)
        with Count() as count, torch.no_grad():
            look_from(lambda: scores.Additive(D, D, D), s, h, lengths)
        counts.append(count.operations)
    assert counts[0] == counts[1]


def more_than_a_softmax():
    weights = look_from(lambda: scores.Additive(D, D, D), lengths=torch.full((BATCH,), SRC)).weights
    assert weights.mean().item() == pytest.approx(1 / SRC)  # it holds whatever the scores: this alone tests nothing
    the_additive_score_is_its_equation()


# The bugs.


class Bug(NamedTuple):
    """What went wrong, what is replaced, by what, and the check that must notice."""

    number: int
    what: str
    where: object
    name: str
    patch: Any
    check: Callable[[], None]


SUPPORT, GAUSSIAN = windows.support, windows.gaussian
CENTRE, REMEMBER = windows.LocalPredictive.centre, alignment.Align.remember
BUGS = [
    Bug(3, "BOS is PAD, in training", translator, "BOS", 0, the_first_word_follows_start),
    Bug(3, "BOS is PAD, in search", search, "BOS", 0, the_first_word_follows_start),
    Bug(3, "padding counts in the loss", losses, "PAD", -100, the_loss_counts_real_words_only),
]


def bug(number, what, where, name, check):
    """Let the function below stand in the place of `name`, as a bug that `check` must notice."""
    return lambda patch: BUGS.append(Bug(number, what, where, name, patch, check))


@bug(1, "no mask", attention, "_softmax", padding_has_no_weight)
def _(e, mask=None, axis=-1):
    return torch.softmax(e, axis)


@bug(1, "masked scores are not assigned", attention, "_softmax", padding_has_no_weight)
def _(e, mask=None, axis=-1):
    e.masked_fill(~mask, -torch.inf)
    return torch.softmax(e, axis)


@bug(2, "a table of positions in place of the annotations", scores.Additive, "keys", weights_follow_the_annotations)
def _(self, h):
    return random(h.shape[1], self.v_a.shape[0]).expand(len(h), -1, -1)


@bug(3, "the LSTM reads on into the padding", encoders, "_read", a_sentence_is_read_to_its_end_and_no_further)
def _(lstm, x, lengths):
    states, last = lstm(x)
    return states, tuple(c.transpose(0, 1) for c in last)


@bug(3, "the GRU reads padding first, backwards", encoders, "_reverse", a_sentence_is_read_to_its_end_and_no_further)
def _(x, lengths):
    return x.flip(1)


@bug(4, "the new state asks", decoders.BahdanauDecoder, "step", bahdanau_attends_before_it_reads_the_word)
def _(self, words, state):
    """Step with no context, look, then step again with the context."""
    y, (s,) = self.embedding(words), state.recurrent
    new = self.cell(torch.cat([y, y.new_zeros(len(y), self.enc)], 1), s)
    attended = self.align.at(state.step, new, state.memory)
    c = attended.context[:, 0]
    after = self.cell(torch.cat([y, c], 1), s)
    return self.readout(s, y, c), attended, decoders.State(state.memory, (after,), state.step + 1)


@bug(5, "no U_a", scores.Additive, "keys", the_additive_score_is_its_equation)
def _(self, h):
    return h[..., :5]


@bug(5, "no W_a", scores.Additive, "forward", the_additive_score_is_its_equation)
def _(self, s, keys):
    return scores.additive(s[..., :5], keys, self.v_a)


@bug(5, "additive without tanh", scores, "additive", the_additive_score_is_its_equation)
def _(queries, keys, v_a):
    return (queries[..., :, None, :] + keys[..., None, :, :]) @ v_a


@bug(5, "concat without tanh", scores.Concat, "forward", the_concat_score_is_its_equation)
def _(self, s, keys):
    return (linear(s, self.W_a[:, : self.dec])[:, :, None] + keys[:, None]) @ self.v_a


@bug(6, "the wrong precedence", windows, "gaussian", the_gaussian_is_its_equation)
def _(i, p, half_width):
    return torch.exp(-((i - p[..., None]) ** 2) / 2 * (half_width / 2) ** 2)


@bug(6, "the wrong sign", windows, "gaussian", the_gaussian_is_its_equation)
def _(i, p, half_width):
    return 1 / GAUSSIAN(i, p, half_width)


@bug(6, "a peak at the wrong side of the centre", windows, "gaussian", the_gaussian_is_its_equation)
def _(i, p, half_width):
    return GAUSSIAN(i, 2 * p.round() - p, half_width)


@bug(7, "a window not cut at the sentence's end", windows, "support", a_window_is_a_loop)
def _(p, half_width, lengths, src):
    return SUPPORT(p, half_width, torch.full_like(lengths, src), src)


@bug(7, "a window cut at the target's length", windows, "support", a_window_is_a_loop)
def _(p, half_width, lengths, src):
    return SUPPORT(p, half_width, torch.full_like(lengths, p.shape[1]), src)


@bug(7, "a window one position short", windows, "support", a_window_is_a_loop)
def _(p, half_width, lengths, src):
    positions, inside = SUPPORT(p, half_width, lengths, src)
    return positions, inside & (positions < p[..., None] + half_width)


@bug(7, "the padded length", windows.LocalPredictive, "centre", a_centre_does_not_depend_on_the_neighbours)
def _(self, s, steps, lengths):
    return CENTRE(self, s, steps, torch.full_like(lengths, int(lengths.max())))


@bug(8, "NaN", attention, "_softmax", where_there_is_nothing_to_look_at_all_weights_are_zero)
def _(e, mask=None, axis=-1):
    return torch.softmax(e.masked_fill(~mask, -torch.inf), axis)


@bug(8, "uniform", attention, "_softmax", where_there_is_nothing_to_look_at_all_weights_are_zero)
def _(e, mask=None, axis=-1):
    return torch.softmax(e.masked_fill(~mask, -1e9), axis)


@bug(9, "an update in place", alignment.Align, "remember", attention_changes_no_annotation)
def _(self, h, lengths):
    h *= 0.5
    return REMEMBER(self, h, lengths)


@bug(10, "loops over batch and source", scores, "additive", a_larger_batch_takes_no_more_operations)
def _(queries, keys, v_a):
    pairs = [[torch.tanh(q + k) @ v_a for k in keys_n] for q, keys_n in zip(queries, keys, strict=True)]
    return torch.stack([torch.stack(columns, -1) for columns in pairs])


@bug(11, "the query ignored, which a mean weight of 1/S does not show", scores.Additive, "forward", more_than_a_softmax)
def _(self, s, keys):
    return scores.additive(torch.zeros_like(s) @ self.W_a.T, keys, self.v_a)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: f"{bug.number}: {bug.what}")
def test_a_check_fails_when_the_bug_is_back(bug, monkeypatch):
    bug.check()
    monkeypatch.setattr(bug.where, bug.name, bug.patch)
    with pytest.raises(AssertionError):
        bug.check()


def test_all_eleven_are_here():
    assert {bug.number for bug in BUGS} == set(range(1, 12))
