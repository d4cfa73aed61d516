"""Any score through any window, held against the papers' loop over source positions."""

import math
from inspect import unwrap

import numpy as np
import pytest
import torch

from attnlib.alignment import Align, check_lengths
from attnlib.scores import Additive, Concat, Dot, General, Location
from attnlib.windows import Everywhere, LocalMonotonic, LocalPredictive, gaussian

DEC, ENC, ATT, SRC, TGT, D = 5, 5, 7, 13, 11, 2
LENGTHS = (13, 3, 7, 1)
STEPS = torch.arange(TGT)

SCORES = {
    "dot": Dot,
    "general": lambda: General(DEC, ENC),
    "additive": lambda: Additive(DEC, ENC, ATT),
    "concat": lambda: Concat(DEC, ENC, ATT),
    "location": lambda: Location(DEC, SRC),
}
WINDOWS = {
    "everywhere": Everywhere,
    "monotonic": lambda: LocalMonotonic(D),
    "predictive": lambda: LocalPredictive(DEC, D),
    "authors": lambda: LocalPredictive(DEC, D, authors=True),
    "wider than the source": lambda: LocalPredictive(DEC, SRC),
}
COMBINATIONS = [(s, w) for s in SCORES for w in WINDOWS if s != "location" or w == "everywhere"]


def make(score, window):
    torch.manual_seed(3)
    return Align(SCORES[score](), WINDOWS[window]()).double()


@pytest.fixture(params=COMBINATIONS, ids=" ".join)
def align(request):
    return make(*request.param)


def draw(*shape, seed=0):
    return torch.tensor(np.random.default_rng(seed).normal(size=shape))


def sentences():
    return draw(len(LENGTHS), TGT, DEC), draw(len(LENGTHS), SRC, ENC, seed=1), torch.tensor(LENGTHS)


def attend_one(align, s, h, t, S):
    """Weigh the S annotations of one sentence for the state of one step, position by position."""
    window, seen, p = align.window, range(S), None
    e = align.score(s[None], align.score.keys(h[:S]))[0].tolist()
    if not isinstance(window, Everywhere):
        p = window.centre(s[None, None], torch.tensor([t]), torch.tensor([S])).item()
        middle = math.floor(p) if getattr(window, "authors", False) else p
        seen = [i for i in range(S) if abs(i - middle) <= window.half_width]
    total = sum(math.exp(e[i]) for i in seen)
    weights = [math.exp(e[i]) / total if i in seen else 0.0 for i in range(S)]
    if isinstance(window, LocalPredictive):
        sigma = window.half_width / 2
        weights = [w * math.exp(-((i - p) ** 2) / (2 * sigma**2)) for i, w in enumerate(weights)]
    return weights, sum(w * h_i for w, h_i in zip(weights, h, strict=False))


def test_every_combination_equals_the_loop(align):
    s, h, lengths = sentences()
    attended = align(s, align.remember(h, lengths), STEPS)
    dense = attended.dense(SRC)
    for b, S in enumerate(LENGTHS):
        for t in range(TGT):
            weights, context = attend_one(align, s[b, t], h[b], t, S)
            torch.testing.assert_close(
                dense[b, t, :S], torch.tensor(weights, dtype=torch.float64), rtol=1e-9, atol=1e-12
            )
            torch.testing.assert_close(attended.context[b, t], context, rtol=1e-9, atol=1e-12)
            assert not dense[b, t, S:].any()


def test_three_words_by_hand():
    align = Align(Dot(), LocalMonotonic(1))
    h = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [9.0, 9.0]]])
    attended = align(torch.tensor([[[0.0, 0.0]]]), align.remember(h, torch.tensor([3])), torch.tensor([2]))
    assert attended.dense(4).tolist() == [[[0.0, 0.5, 0.5, 0.0]]]
    assert attended.context.tolist() == [[[0.5, 1.0]]]


def test_all_steps_at_once_equal_one_after_the_other(align):
    s, h, lengths = sentences()
    memory = align.remember(h, lengths)
    whole = align(s, memory, STEPS)
    for t in range(TGT):
        one = align(s[:, t : t + 1], memory, STEPS[t : t + 1])
        torch.testing.assert_close(one.context, whole.context[:, t : t + 1], rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(one.dense(SRC), whole.dense(SRC)[:, t : t + 1], rtol=1e-12, atol=1e-12)


def test_as_many_steps_as_source_positions(align):
    _, h, lengths = sentences()
    s, memory = draw(len(LENGTHS), SRC, DEC, seed=2), align.remember(h, lengths)
    halves = [align(s[:, part], memory, torch.arange(SRC)[part]) for part in (slice(SRC // 2), slice(SRC // 2, None))]
    whole = align(s, memory, torch.arange(SRC))
    torch.testing.assert_close(whole.context, torch.cat([half.context for half in halves], 1), rtol=1e-12, atol=1e-12)


def test_a_sentence_gets_alone_what_it_gets_in_a_batch(align):
    s, h, lengths = sentences()
    together = align(s, align.remember(h, lengths), STEPS)
    for b, S in enumerate(LENGTHS):
        alone = align(s[b : b + 1], align.remember(h[b : b + 1, :S], lengths[b : b + 1]), STEPS)
        torch.testing.assert_close(alone.context, together.context[b : b + 1], rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(alone.dense(S), together.dense(SRC)[b : b + 1, :, :S], rtol=1e-12, atol=1e-12)


def test_weights_sum_to_one_but_under_a_gaussian_which_takes_away(align):
    s, h, lengths = sentences()
    total = align(s, align.remember(h, lengths), STEPS).weights.sum(-1)
    if isinstance(align.window, LocalPredictive):
        assert (total > 0).all()
        assert (total < 1).any()
        assert (total <= 1 + 1e-12).all()
    else:
        torch.testing.assert_close(total, torch.ones_like(total))


def test_padding_has_weight_and_gradient_exactly_zero_and_what_it_holds_does_not_matter(align):
    s, h, lengths = sentences()
    h.requires_grad_()
    attended = align(s, align.remember(h, lengths), STEPS)
    (attended.context**2).sum().backward()
    other = torch.where(torch.arange(SRC)[:, None] < lengths[:, None, None], h.detach(), 1e3)
    again = align(s, align.remember(other, lengths), STEPS)
    assert torch.equal(attended.context, again.context)
    for b, S in enumerate(LENGTHS):
        assert not attended.dense(SRC)[b, :, S:].any()
        assert not h.grad[b, S:].any()
        assert h.grad[b, :S].any()


@pytest.mark.parametrize(("score", "window"), [c for c in COMBINATIONS if c[1] in {"monotonic", "predictive"}])
def test_a_local_window_reads_only_what_it_shows(score, window):
    align = make(score, window)
    s, h, _ = sentences()
    s, h, lengths = s[:1, :1], h[:1], torch.tensor([SRC])
    seen = align(s, align.remember(h, lengths), STEPS[:1])
    assert seen.weights.shape == (1, 1, 2 * D + 1)
    h[:, [i for i in range(SRC) if i not in seen.positions]] = torch.nan
    assert torch.equal(align(s, align.remember(h, lengths), STEPS[:1]).context, seen.context)


def test_gradients_reach_every_parameter(align):
    s, h, lengths = sentences()
    (align(s.requires_grad_(), align.remember(h, lengths), STEPS).context ** 2).sum().backward()
    assert s.grad.abs().sum() > 0
    for name, p in align.named_parameters():
        assert p.grad.abs().sum() > 0, name


@pytest.mark.parametrize(("score", "window"), [(s, "everywhere") for s in SCORES] + [("general", "monotonic")])
def test_gradients_are_those_of_finite_differences(score, window):
    align = make(score, window)
    s, h, lengths = draw(2, 3, DEC), draw(2, 5, ENC, seed=1), torch.tensor([5, 2])
    check_gradients(align, s, h, lengths, torch.arange(3))


def check_gradients(align, s, h, lengths, steps):
    def attend(s, h, *_):
        attended = align(s, align.remember(h, lengths), steps)
        return attended.context, attended.weights

    torch.autograd.gradcheck(attend, (s.requires_grad_(), h.requires_grad_(), *align.parameters()))


@pytest.mark.parametrize("score", ["dot", "additive"])
def test_gradients_of_local_p_are_those_of_finite_differences_away_from_the_jumps(score):
    align = make(score, "predictive")
    s, h, lengths, steps = draw(2, 2, DEC), draw(2, 7, ENC, seed=1), torch.tensor([7, 6]), torch.arange(2)
    p = align.window.centre(s, steps, lengths)
    assert ((p - p.round()).abs() > 0.01).all()  # a whole p_t is where positions enter and leave
    check_gradients(align, s, h, lengths, steps)


def test_at_a_jump_of_local_p_the_weights_jump_and_the_gradient_does_not_know():
    """With p_t just above 4, position 2 has left the window [p_t - 2, p_t + 2] and the softmax is over one word less.

    Either side's gradient is that of its own piece. Training crosses such points in steps and never stands on one.
    """
    align, h, lengths = make("dot", "predictive"), draw(1, 9, ENC, seed=1), torch.tensor([9])
    s = draw(1, 1, DEC, seed=2)

    def at(p):
        share = torch.logit(torch.tensor(p / 9, dtype=torch.float64))
        hidden = torch.tanh(s[0, 0] @ align.window.W_p.T)
        v_p = (share * hidden / (hidden @ hidden)).detach().requires_grad_()
        align.window.v_p = torch.nn.Parameter(v_p)
        weights = align(s, align.remember(h, lengths), torch.tensor([0])).dense(9)[0, 0]
        (slope,) = torch.autograd.grad((weights**2).sum(), align.window.v_p)
        return weights.detach(), slope

    below, above = at(4 - 1e-9), at(4 + 1e-9)
    assert [w.nonzero().flatten().tolist() for w, _ in (below, above)] == [[2, 3, 4, 5], [3, 4, 5, 6]]
    assert (below[0] - above[0]).abs().max() > 1e-3
    assert all(slope.isfinite().all() for _, slope in (below, above))


def test_the_gaussian_multiplies_after_the_softmax_without_a_second_normalisation():
    align = make("dot", "predictive")
    s, h, lengths = sentences()
    memory = align.remember(h, lengths)
    attended = align(s, memory, STEPS)
    p = align.window.centre(s, STEPS, lengths)
    undone = attended.weights / gaussian(attended.positions, p, D)
    torch.testing.assert_close(undone.sum(-1), torch.ones_like(p))


def test_nothing_is_changed(align):
    given = sentences()
    before = [x.clone() for x in given]
    s, h, lengths = given
    memory = align.remember(h, lengths)
    kept = [x.clone() for x in memory]
    align(s, memory, STEPS)
    assert all(torch.equal(x, y) for x, y in zip((*given, *memory), (*before, *kept), strict=True))


@pytest.mark.parametrize("window", ["monotonic", "predictive"])
def test_location_has_no_local_window(window):
    with pytest.raises(ValueError, match=r"window is Local.*; expected Everywhere\(\).* Location score"):
        make("location", window)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([3, 0], "lengths holds 0; expected 1 to 5"),
        ([6, 5], "lengths holds 6; expected 1 to 5"),
        ([-1, 6], "lengths holds -1; expected 1 to 5"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(lengths, message):
    with pytest.raises(ValueError, match=message):
        Align(Dot(), Everywhere()).remember(torch.zeros(2, 5, 3), torch.tensor(lengths))


def test_one_length_for_each_sentence():
    with pytest.raises(ValueError, match=r"lengths has shape \(3,\); expected \(2,\), one for each sentence"):
        unwrap(check_lengths)(torch.tensor([1, 1, 1]), (2, 5))


@pytest.mark.parametrize(("batch", "steps"), [(3, 4), (2, 5)])
def test_states_must_fit_memory_and_steps(batch, steps):
    align = Align(Dot(), Everywhere())
    memory = align.remember(torch.zeros(2, 5, 3), torch.tensor([5, 2]))
    with pytest.raises(ValueError, match=rf"s has shape \({batch}, 4, 3\) and steps \({steps},\); expected \(2, tgt"):
        unwrap(Align.forward)(align, torch.zeros(batch, 4, 3), memory, torch.arange(steps))
