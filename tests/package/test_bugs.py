"""Bugs that real attention code has had, put back one by one: the test that guards against each fails with it.

The patches change nothing but what the bug changed.
"""

from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch.nn.functional import linear, pad

from attnlib import alignment, decoders, encoders, mechanism, scores, search, seq2seq, windows
from attntext import loss


def in_module(name: str) -> ModuleType:
    spec = spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    tests = module_from_spec(spec)
    spec.loader.exec_module(tests)
    return tests


# The checks: tests of the modules, and one.

of_alignment, of_decoders, of_encoders = map(in_module, ("test_alignment", "test_decoders", "test_encoders"))
everywhere, monotonic, predictive = (
    partial(of_alignment.test_every_combination_is_the_loop, of_alignment.make("dot", window))
    for window in ("global", "local-m", "local-p")
)
additive, concat = (
    partial(in_module("test_scores").test_classes_are_the_papers_equations, name) for name in ("additive", "concat")
)
search_is_teacher_forcing = partial(
    in_module("test_search").test_weights_and_probabilities_are_those_of_teacher_forcing_on_what_was_chosen,
    *("luong", search.greedy_search),
)
the_lstm_reads_to_the_end, the_gru_begins_at_the_end = (
    partial(of_encoders.test_an_encoder_is_torchs_on_each_sentence_alone, name, of_encoders.padded())
    for name in ("lstm", "gru")
)
steps_are_teacher_forcing = partial(
    of_decoders.test_steps_one_by_one_are_teacher_forcing_and_leave_their_state_as_it_was,
    of_decoders.made(of_decoders.DECODERS["bahdanau"]),
)
what_is_masked_is_gone = in_module("test_mechanism").test_no_gradient_reaches_what_is_masked


def the_loss_is_torchs():
    with pytest.MonkeyPatch.context() as patch:
        in_module("text/test_loss").test_the_loss_without_all_scores_is_torchs_and_so_are_its_gradients(
            0.0, 2**21, patch
        )


def test_a_larger_batch_takes_no_more_operations():
    align, counts = alignment.AttentionLayer(scores.Additive(7, 7, 7), windows.GlobalWindow()), []
    for batch, src in ((2, 3), (3, 11)):
        s, h, lengths = torch.ones(batch, 5, 7), torch.ones(batch, src, 7), torch.full((batch,), src)
        with torch.autograd.profiler.profile() as profile:
            align(s, align.precompute(h, lengths), torch.arange(5))
        counts.append(len(profile.function_events))
    assert counts[0] == counts[1]


# The bugs.


SUPPORT, GAUSSIAN = windows.window_positions, windows.gaussian
CENTER, REMEMBER = windows.LocalPredictive.center, alignment.AttentionLayer.precompute
BUGS = []


def bug(number, what, where, name, check):
    """Let what follows stand in the place of `name`, as a bug that `check` must notice."""
    return lambda patch: BUGS.append(pytest.param(where, name, patch, check, id=f"{number}: {what}"))


bug(3, "BOS is PAD, in training", seq2seq, "BOS", search_is_teacher_forcing)(0)
bug(3, "BOS is PAD, in search", search, "BOS", search_is_teacher_forcing)(0)
bug(3, "padding counts in the loss", loss, "PAD", the_loss_is_torchs)(-100)


@bug(1, "no mask", mechanism, "_softmax", everywhere)
def _(e, mask=None, axis=-1):
    return torch.softmax(e, axis)


@bug(1, "masked scores are not assigned", mechanism, "_softmax", everywhere)
def _(e, mask=None, axis=-1):
    e.masked_fill(~mask, -torch.inf)
    return torch.softmax(e, axis)


@bug(2, "a table of positions in place of the annotations", scores.Additive, "project_keys", additive)
def _(self, h):
    return torch.arange(h.shape[1] * len(self.v_a)).view(h.shape[1], -1).expand(len(h), -1, -1).to(h)


@bug(3, "the LSTM reads on into the padding", encoders, "_run", the_lstm_reads_to_the_end)
def _(lstm, x, lengths):
    states, last = lstm(x)
    return states, tuple(c.transpose(0, 1) for c in last)


@bug(3, "the GRU reads padding first, backwards", encoders, "_reverse", the_gru_begins_at_the_end)
def _(x, lengths):
    return x.flip(1)


@bug(4, "the new state asks", decoders.BahdanauDecoder, "step", steps_are_teacher_forcing)
def _(self, words, state):
    """Step with no context, look, then step again with the context."""
    y, (s,) = self.embedding(words), state.cache
    new = self.cell(torch.cat([y, y.new_zeros(len(y), self.enc)], 1), s)
    attended = self.attention.at(state.position, new, state.memory)
    c = attended.context[:, 0]
    after = self.cell(torch.cat([y, c], 1), s)
    return self.readout(s, y, c), attended, decoders.DecoderState(state.memory, (after,), state.position + 1)


@bug(5, "no U_a", scores.Additive, "project_keys", additive)
def _(self, h):
    return pad(h, (0, len(self.v_a) - h.shape[-1]))


@bug(5, "no W_a", scores.Additive, "forward", additive)
def _(self, s, keys):
    return scores.additive(pad(s, (0, len(self.v_a) - s.shape[-1])), keys, self.v_a)


@bug(5, "additive without tanh", scores, "additive", additive)
def _(queries, keys, v_a):
    return (queries[..., :, None, :] + keys[..., None, :, :]) @ v_a


@bug(5, "concat without tanh", scores.Concat, "forward", concat)
def _(self, s, keys):
    return (linear(s, self.W_a[:, : self.dec])[:, :, None] + keys[:, None]) @ self.v_a


@bug(6, "the wrong precedence", windows, "gaussian", predictive)
def _(i, p, half_width):
    return torch.exp(-((i - p[..., None]) ** 2) / 2 * (half_width / 2) ** 2)


@bug(6, "the wrong sign", windows, "gaussian", predictive)
def _(i, p, half_width):
    return 1 / GAUSSIAN(i, p, half_width)


@bug(6, "a peak at the wrong side of the center", windows, "gaussian", predictive)
def _(i, p, half_width):
    return GAUSSIAN(i, 2 * p.round() - p, half_width)


@bug(7, "a window not cut at the sentence's end", windows, "window_positions", monotonic)
def _(p, half_width, lengths, src):
    return SUPPORT(p, half_width, torch.full_like(lengths, src), src)


@bug(7, "a window cut at the target's length", windows, "window_positions", monotonic)
def _(p, half_width, lengths, src):
    return SUPPORT(p, half_width, torch.full_like(lengths, p.shape[1]), src)


@bug(7, "a window one position short", windows, "window_positions", monotonic)
def _(p, half_width, lengths, src):
    positions, inside = SUPPORT(p, half_width, lengths, src)
    return positions, inside & (positions < p[..., None] + half_width)


@bug(7, "the padded length", windows.LocalPredictive, "center", predictive)
def _(self, s, steps, lengths):
    return CENTER(self, s, steps, torch.full_like(lengths, int(lengths.max())))


@bug(8, "NaN", mechanism, "_softmax", what_is_masked_is_gone)
def _(e, mask=None, axis=-1):
    return torch.softmax(e.masked_fill(~mask, -torch.inf), axis)


@bug(8, "uniform", mechanism, "_softmax", what_is_masked_is_gone)
def _(e, mask=None, axis=-1):
    return torch.softmax(e.masked_fill(~mask, -1e9), axis)


@bug(9, "an update in place", alignment.AttentionLayer, "precompute", everywhere)
def _(self, h, lengths):
    h *= 0.5
    return REMEMBER(self, h, lengths)


@bug(10, "loops over batch and source", scores, "additive", test_a_larger_batch_takes_no_more_operations)
def _(queries, keys, v_a):
    pairs = [[torch.tanh(q + k) @ v_a for k in keys_n] for q, keys_n in zip(queries, keys, strict=True)]
    return torch.stack([torch.stack(columns, -1) for columns in pairs])


@bug(11, "the query ignored, which a mean weight of 1/S does not show", scores.Additive, "forward", additive)
def _(self, s, keys):
    return scores.additive(torch.zeros_like(s) @ self.W_a.T, keys, self.v_a)


@pytest.mark.parametrize(("where", "name", "patch", "check"), BUGS)
def test_a_check_fails_when_the_bug_is_back(where, name, patch, check, monkeypatch):
    monkeypatch.setattr(where, name, patch)
    with pytest.raises(AssertionError):
        check()


def test_all_eleven_are_here():
    assert {int(bug.id.partition(":")[0]) for bug in BUGS} == set(range(1, 12))
