"""Bugs that real attention code has had, put back one by one: a check that passes without the bug fails with it.

The table at the end of the file names them. Each check is a loop, an identity or a case by hand, and stands for the
tests of its module; the patches change nothing but what the bug changed.
"""

from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from torch.nn.functional import linear
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from attnlib import alignment, attention, decoders, encoders, scores, search, training, translator, windows
from attnlib.vocabulary import Vocabulary

BATCH, TGT, SRC, D = 3, 5, 11, 7
LENGTHS = torch.tensor([11, 4, 7])
STEPS = torch.arange(TGT)


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def double(make, *arguments):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return make(*arguments).double()


S, H = random(BATCH, TGT, D, seed=1), random(BATCH, SRC, D, seed=2)


# The checks.


def padding_has_no_weight():
    align = double(alignment.Align, scores.Dot(), windows.Everywhere())
    weights = align(S, align.remember(H.clone(), LENGTHS), STEPS).weights
    for n in range(BATCH):
        assert (weights[n, :, LENGTHS[n] :] == 0).all()
        assert_close(weights[n].sum(-1), torch.ones(TGT, dtype=torch.float64))


def weights_follow_the_annotations():
    align = double(alignment.Align, scores.Additive(D, D, D), windows.Everywhere())
    whole, order = torch.full((BATCH,), SRC), torch.randperm(SRC, generator=torch.Generator().manual_seed(0))
    before = align(S, align.remember(H, whole), STEPS).weights
    after = align(S, align.remember(H[:, order], whole), STEPS).weights
    assert_close(after, before[:, :, order])


def the_first_word_follows_start():
    vocabulary = Vocabulary(tuple("abcde"))
    model = translator.rnn_search(vocabulary, vocabulary, emb=5, hid=7)
    source, lengths, target = torch.tensor([[4, 5, 2]]), torch.tensor([3]), torch.tensor([[6, 7, 2]])
    start = 1
    logits, _, _ = model.step(torch.tensor([start]), model.start(source, lengths))
    assert_close(model(source, lengths, target).logits[:, 0], logits)
    best = int(logits[0, 2:].argmax()) + 2
    found = search.greedy(model, source, lengths, 1)
    assert found.words[0, 0] == best
    assert_close(found.log_probabilities[0], logits[0, 2:].log_softmax(0)[best - 2])


def the_loss_counts_real_words_only():
    logits, target = random(2, 3, 7), torch.tensor([[4, 5, 2], [6, 2, 0]])
    by_hand = [-logits[n, t].log_softmax(0)[target[n, t]] for n, t in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))]
    assert_close(training.word_loss(logits, target), sum(by_hand) / 5)


def a_sentence_is_read_to_its_end_and_no_further(make):
    encoder = double(make)
    source = torch.randint(4, 13, (BATCH, SRC), generator=torch.Generator().manual_seed(0))
    together = encoder(source, LENGTHS)
    for n, length in enumerate(LENGTHS.tolist()):
        alone = encoder(source[n : n + 1, :length], LENGTHS[n : n + 1])
        for state, expected in zip(together.state, alone.state, strict=True):
            assert_close(state[n : n + 1], expected)
        assert_close(together.summary[n : n + 1], alone.summary)


def an_lstm_reads_to_the_end():
    a_sentence_is_read_to_its_end_and_no_further(lambda: encoders.StackedLSTM(13, 5, 7, 2))


def a_gru_reads_to_the_end():
    a_sentence_is_read_to_its_end_and_no_further(lambda: encoders.BidirectionalGRU(13, 5, 7, 3))


def bahdanau_attends_before_it_reads_the_word():
    align = alignment.Align(scores.Additive(D, D, D), windows.Everywhere())
    decoder = double(lambda: decoders.BahdanauDecoder(align, vocab=13, emb=5, dec=D, enc=D, maxout=3))
    state = decoders.State(align.remember(H, LENGTHS), (S[:, 0],), 0)
    looks = [decoder.step(torch.full((BATCH,), word), state)[1].weights for word in (4, 9)]
    assert_close(looks[0], looks[1])
    assert_close(looks[0], align(S[:, :1], state.memory, STEPS[:1]).weights)


def the_additive_score_is_its_equation():
    score = double(scores.Additive, D, D, D)
    e = score(S, score.keys(H))
    for n, t, i in ((0, 0, 0), (1, 4, 3), (2, 2, 10)):
        assert_close(e[n, t, i], score.v_a @ torch.tanh(score.W_a @ S[n, t] + score.U_a @ H[n, i]))


def the_concat_score_is_its_equation():
    score = double(scores.Concat, D, D, 5)
    e = score(S, score.keys(H))
    for n, t, i in ((0, 0, 0), (1, 4, 3), (2, 2, 10)):
        assert_close(e[n, t, i], score.v_a @ torch.tanh(score.W_a @ torch.cat([S[n, t], H[n, i]])))


def predicted(half_width=3):
    window = double(windows.LocalPredictive, D, half_width)
    with torch.no_grad():
        window.v_p.mul_(5)
    centre = LENGTHS[:, None] * torch.sigmoid(torch.tanh(S @ window.W_p.T) @ window.v_p)
    mask = torch.arange(SRC) < LENGTHS[:, None]
    return window, window(S, STEPS, LENGTHS, mask[:, None]), centre


def the_gaussian_is_its_equation():
    _, view, centre = predicted()
    by_hand = torch.exp(-((view.positions - centre[..., None]) ** 2) / (2 * (3 / 2) ** 2))
    assert_close(view.favour, by_hand)


def the_window_is_a_loop():
    _, view, centre = predicted()
    for n in range(BATCH):
        for t in range(TGT):
            seen = {int(i) for i, inside in zip(view.positions[n, t], view.inside[n, t], strict=True) if inside}
            assert seen == {i for i in range(SRC) if i < LENGTHS[n] and abs(i - centre[n, t]) <= 3}


def a_monotonic_window_includes_both_its_ends():
    mask = torch.arange(SRC) < LENGTHS[:, None]
    view = windows.LocalMonotonic(2)(S, STEPS, LENGTHS, mask[:, None])
    for n in range(BATCH):
        for t in range(TGT):
            seen = {int(i) for i, inside in zip(view.positions[n, t], view.inside[n, t], strict=True) if inside}
            p = min(t, int(LENGTHS[n]) - 1)
            assert seen == {i for i in range(int(LENGTHS[n])) if p - 2 <= i <= p + 2}


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
    align = double(alignment.Align, scores.Dot(), windows.Everywhere())
    align(S, align.remember(h, LENGTHS), STEPS)
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
    align = double(alignment.Align, scores.Additive(D, D, D), windows.Everywhere())
    counts = []
    for batch, src in ((2, 3), (3, 11)):
        s, h, lengths = S[:batch].clone(), H[:batch, :src].clone(), torch.full((batch,), src)
        with Count() as count, torch.no_grad():
            align(s, align.remember(h, lengths), STEPS)
        counts.append(count.operations)
    assert counts[0] == counts[1]


def more_holds_than_of_any_softmax():
    align = double(alignment.Align, scores.Additive(D, D, D), windows.Everywhere())
    weights = align(S, align.remember(H, torch.full((BATCH,), SRC)), STEPS).weights
    assert weights.mean().item() == pytest.approx(1 / SRC)  # it holds whatever the scores: this alone tests nothing
    the_additive_score_is_its_equation()


# The bugs.


def attending_after_the_step(self, words, memory, recurrent, step):
    """Score with s_t: step with no context, look, then step again with the context."""
    y, states, looks = self.embedding(words), [recurrent[0]], []
    for t, x in enumerate(y.unbind(1)):
        new = self.cell(torch.cat([x, x.new_zeros(len(x), self.cell.input_size - x.shape[1])], 1), states[-1])
        looks.append(self.align(new[:, None], memory, torch.tensor([step + t])))
        states.append(self.cell(torch.cat([x, looks[-1].context[:, 0]], 1), states[-1]))
    attended = decoders.join(looks)
    return self.readout(torch.stack(states[:-1], 1), y, attended.context), attended, states[-1]


def unassigned_mask(e, mask=None, axis=-1):
    e.masked_fill(~mask, -torch.inf)
    return torch.softmax(e, axis)


def looped(queries, keys, v_a):
    pairs = [[torch.tanh(q + k) @ v_a for k in keys_n] for q, keys_n in zip(queries, keys, strict=True)]
    return torch.stack([torch.stack(columns, -1) for columns in pairs])


def one_short(p, half_width, lengths, src):
    positions, inside = SUPPORT(p, half_width, lengths, src)
    return positions, inside & (positions < p[..., None] + half_width)


def shrinking(self, h, lengths):
    h *= 0.5
    return REMEMBER(self, h, lengths)


def read_past_the_end(lstm, x, lengths):
    states, last = lstm(x)
    return states, tuple(c.transpose(0, 1) for c in last)


SUPPORT, GAUSSIAN = windows.support, windows.gaussian
CENTRE, REMEMBER = windows.LocalPredictive.centre, alignment.Align.remember


class Bug(NamedTuple):
    """What went wrong, what is replaced by what, and the check that must notice."""

    number: int
    what: str
    places: list[tuple[object, str]]
    patch: object
    check: Callable[[], None]


BUGS = [
    Bug(
        1,
        "softmax over padding: no mask",
        [(alignment, "masked_softmax")],
        lambda e, mask=None, axis=-1, out=None: torch.softmax(e, axis),
        padding_has_no_weight,
    ),
    Bug(
        1,
        "softmax over padding: the masked scores are not assigned",
        [(alignment, "masked_softmax")],
        unassigned_mask,
        padding_has_no_weight,
    ),
    Bug(
        2,
        "the encoder's states are never read, only a table of positions",
        [(scores.Additive, "keys")],
        lambda self, h: random(h.shape[1], self.v_a.shape[0]).expand(len(h), -1, -1),
        weights_follow_the_annotations,
    ),
    Bug(
        3,
        "padding and start are the same number",
        [(translator, "START"), (search, "START")],
        0,
        the_first_word_follows_start,
    ),
    Bug(3, "padding counts in the loss", [(training, "PAD")], -100, the_loss_counts_real_words_only),
    Bug(
        3,
        "the LSTM's last state is read after the padding",
        [(encoders, "_read")],
        read_past_the_end,
        an_lstm_reads_to_the_end,
    ),
    Bug(
        3,
        "the backward GRU reads the padding first",
        [(encoders, "_reverse")],
        lambda x, lengths: x.flip(1),
        a_gru_reads_to_the_end,
    ),
    Bug(
        4,
        "Bahdanau's attention is scored with the new state",
        [(decoders.BahdanauDecoder, "_run")],
        attending_after_the_step,
        bahdanau_attends_before_it_reads_the_word,
    ),
    Bug(
        5,
        "additive score without U_a",
        [(scores.Additive, "keys")],
        lambda self, h: h,
        the_additive_score_is_its_equation,
    ),
    Bug(
        5,
        "additive score without W_a",
        [(scores.Additive, "forward")],
        lambda self, s, keys: scores.additive(s, keys, self.v_a),
        the_additive_score_is_its_equation,
    ),
    Bug(
        5,
        "additive score without tanh",
        [(scores, "additive")],
        lambda queries, keys, v_a: (queries[..., :, None, :] + keys[..., None, :, :]) @ v_a,
        the_additive_score_is_its_equation,
    ),
    Bug(
        5,
        "concat score without tanh",
        [(scores.Concat, "forward")],
        lambda self, s, keys: (linear(s, self.W_a[:, : self.dec])[:, :, None] + keys[:, None]) @ self.v_a,
        the_concat_score_is_its_equation,
    ),
    Bug(
        6,
        "Gaussian with the wrong precedence",
        [(windows, "gaussian")],
        lambda i, p, D: torch.exp(-((i - p[..., None]) ** 2) / 2 * (D / 2) ** 2),
        the_gaussian_is_its_equation,
    ),
    Bug(
        6,
        "Gaussian with the wrong sign",
        [(windows, "gaussian")],
        lambda i, p, D: 1 / GAUSSIAN(i, p, D),
        the_gaussian_is_its_equation,
    ),
    Bug(
        6,
        "Gaussian peaked at the wrong side of the centre",
        [(windows, "gaussian")],
        lambda i, p, D: GAUSSIAN(i, 2 * p.round() - p, D),
        the_gaussian_is_its_equation,
    ),
    Bug(
        7,
        "local window not cut at the sentence's end",
        [(windows, "support")],
        lambda p, D, lengths, src: SUPPORT(p, D, torch.full_like(lengths, src), src),
        the_window_is_a_loop,
    ),
    Bug(
        7,
        "local window cut at the target's length",
        [(windows, "support")],
        lambda p, D, lengths, src: SUPPORT(p, D, torch.full_like(lengths, p.shape[1]), src),
        the_window_is_a_loop,
    ),
    Bug(
        7,
        "local window one position short",
        [(windows, "support")],
        one_short,
        a_monotonic_window_includes_both_its_ends,
    ),
    Bug(
        7,
        "centre computed from the padded length",
        [(windows.LocalPredictive, "centre")],
        lambda self, s, steps, lengths: CENTRE(self, s, steps, torch.full_like(lengths, int(lengths.max()))),
        a_centre_does_not_depend_on_the_neighbours,
    ),
    Bug(
        8,
        "a row that is all padding: NaN from minus infinity",
        [(attention, "masked_softmax")],
        lambda e, mask=None, axis=-1, out=None: torch.softmax(e.masked_fill(~mask, -torch.inf), axis),
        where_there_is_nothing_to_look_at_all_weights_are_zero,
    ),
    Bug(
        8,
        "a row that is all padding: uniform from a large negative number",
        [(attention, "masked_softmax")],
        lambda e, mask=None, axis=-1, out=None: torch.softmax(e.masked_fill(~mask, -1e9), axis),
        where_there_is_nothing_to_look_at_all_weights_are_zero,
    ),
    Bug(
        9,
        "an update in place changes the encoder's output",
        [(alignment.Align, "remember")],
        shrinking,
        attention_changes_no_annotation,
    ),
    Bug(
        10,
        "Python loops over batch and source",
        [(scores, "additive")],
        looped,
        a_larger_batch_takes_no_more_operations,
    ),
    Bug(
        11,
        "the query is ignored, and a test of the mean weight, 1/S, does not see it",
        [(scores.Additive, "forward")],
        lambda self, s, keys: scores.additive(torch.zeros_like(s), keys, self.v_a),
        more_holds_than_of_any_softmax,
    ),
]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: f"{bug.number}: {bug.what}")
def test_a_check_fails_when_the_bug_is_back(bug, monkeypatch):
    bug.check()
    for owner, name in bug.places:
        monkeypatch.setattr(owner, name, bug.patch)
    with pytest.raises(AssertionError):
        bug.check()


def test_the_table_of_bugs_is_complete(capsys):
    assert {bug.number for bug in BUGS} == set(range(1, 12))
    with capsys.disabled():
        print(f"\n{'bug, put back':<81}caught by")
        for bug in BUGS:
            print(f"{bug.number:>2}  {bug.what:<77}{bug.check.__name__}")
