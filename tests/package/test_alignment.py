"""Any score through any window, held against the papers' loop over source positions."""

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import pad

from attnlib import AttentionLayer, GlobalWindow, LocalMonotonic, LocalPredictive
from attnlib.scores import Additive, Concat, Dot, General, Location

DEC, ENC, ATT, SRC, TGT, D = 5, 5, 7, 13, 11, 3
LENGTHS = (13, 3, 7, 1)
LONG = 31  # more than four windows
STEPS = torch.arange(TGT)

SCORES = {
    "dot": Dot,
    "general": lambda: General(DEC, ENC),
    "additive": lambda: Additive(DEC, ENC, ATT),
    "concat": lambda: Concat(DEC, ENC, ATT),
    "location": lambda: Location(DEC, SRC),
}
WINDOWS = {
    "global": GlobalWindow,
    "local-m": lambda: LocalMonotonic(D),
    "local-p": lambda: LocalPredictive(DEC, D),
    "wider than the source": lambda: LocalPredictive(DEC, SRC),
}
COMBINATIONS = [(s, w) for s in SCORES for w in WINDOWS if s != "location" or w == "global"]


def make(score, window):
    torch.manual_seed(3)
    return AttentionLayer(SCORES[score](), WINDOWS[window]()).double()


@pytest.fixture(params=COMBINATIONS, ids=" ".join)
def align(request):
    return make(*request.param)


def draw(*shape, seed=0):
    return torch.tensor(np.random.default_rng(seed).normal(size=shape))


def close(x, y):
    torch.testing.assert_close(x, y, rtol=1e-10, atol=1e-12)


def sentences():
    return draw(len(LENGTHS), TGT, DEC), draw(len(LENGTHS), SRC, ENC, seed=1), torch.tensor(LENGTHS)


def attend_one(align, s, h, t, S):
    """Weigh the S annotations of one sentence for the state of one step, position by position."""
    window, seen, p = align.window, range(S), None
    e = align.score(s[None], align.score.project_keys(h[:S]))[0].tolist()
    if not isinstance(window, GlobalWindow):
        p = window.center(s[None, None], torch.tensor([t]), torch.tensor([S])).item()
        seen = [i for i in range(S) if abs(i - p) <= window.half_width]
    total = sum(math.exp(e[i]) for i in seen)
    weights = [math.exp(e[i]) / total if i in seen else 0.0 for i in range(S)]
    if isinstance(window, LocalPredictive):  # after the softmax, and not normalised again
        sigma = window.half_width / 2
        weights = [w * math.exp(-((i - p) ** 2) / (2 * sigma**2)) for i, w in enumerate(weights)]
    return torch.tensor(weights, dtype=torch.float64), sum(w * h_i for w, h_i in zip(weights, h, strict=False)), p


def test_every_combination_is_the_loop(align):
    s, h, lengths = sentences()
    attended = align(s, align.precompute(h, lengths), STEPS)
    s, h, _ = sentences()  # anew, lest the loop read what was changed
    dense = attended.to_dense(SRC)
    for b, S in enumerate(LENGTHS):
        for t in range(TGT):
            weights, context, p = attend_one(align, s[b, t], h[b], t, S)
            close(dense[b, t, :S], weights)
            close(attended.context[b, t], context)
            assert not dense[b, t, S:].any()
            assert attended.center is None if p is None else attended.center[b, t].item() == pytest.approx(p)


LOCAL = pytest.mark.parametrize(("score", "window"), [c for c in COMBINATIONS if c[1] in {"local-m", "local-p"}])


@LOCAL
def test_products_with_the_whole_source_and_copies_of_the_window_agree(score, window):
    align, results = make(score, window), []
    for src in (SRC, LONG):
        s, h, lengths = sentences()
        h = pad(h, (0, 0, 0, src - SRC)).requires_grad_()
        attended = align.at(4, s[:, 4], align.precompute(h, lengths))
        attended.context.square().sum().backward()
        results.append((attended.context, attended.to_dense(src)[..., :SRC], h.grad[:, :SRC]))
    for whole, copied in zip(*results, strict=True):
        close(whole, copied)


@LOCAL
def test_a_local_window_reads_of_a_long_source_only_what_it_shows(score, window):
    align, s = make(score, window), draw(1, 1, DEC)
    h, lengths = draw(1, LONG, ENC, seed=1), torch.tensor([LONG])
    seen = align(s, align.precompute(h, lengths), STEPS[:1])
    assert seen.weights.shape == (1, 1, 2 * D + 1)
    h[:, [i for i in range(LONG) if i not in seen.positions]] = torch.nan
    assert torch.equal(align(s, align.precompute(h, lengths), STEPS[:1]).context, seen.context)
