"""Every score, held against the equation written as a loop."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib.scores import Additive, Concat, Dot, General, Location, additive, dot

BATCH, TGT, SRC, DEC, ENC, ATT, MAX_SRC = 2, 3, 7, 5, 11, 13, 17
SCORES = {
    "dot": Dot,
    "general": lambda: General(DEC, ENC),
    "additive": lambda: Additive(DEC, ENC, ATT),
    "concat": lambda: Concat(DEC, ENC, ATT),
    "location": lambda: Location(DEC, MAX_SRC),
}
few = st.integers(1, 3)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def score_one(name, s, h, i, weights):
    """Score one state against the annotation at position i, as the paper writes it."""
    W_a, U_a, v_a = (weights.get(letter) for letter in ("W_a", "U_a", "v_a"))
    match name:
        case "dot":
            return s @ h
        case "general":
            return s @ (W_a @ h)
        case "additive":
            return v_a @ np.tanh(W_a @ s + U_a @ h)
        case "concat":
            return v_a @ np.tanh(W_a @ np.concatenate([s, h]))
        case "location":
            return (W_a @ s)[i]


@settings(max_examples=30)
@given(sizes=st.tuples(few, few, few, few))
def test_functions_are_loops(library, sizes):
    batch, tgt, src, att = sizes
    s, h, v_a = draw(batch, tgt, att), draw(batch, src, att, seed=1), draw(att, seed=2)
    pairs = [[[(q, k) for k in keys] for q in queries] for queries, keys in zip(s, h, strict=True)]
    dots = [[[sum(q * k) for q, k in row] for row in rows] for rows in pairs]
    np.testing.assert_allclose(dot(library(s), library(h)), dots, rtol=1e-12, atol=1e-12)
    sums = [[[sum(v_a * np.tanh(q + k)) for q, k in row] for row in rows] for rows in pairs]
    np.testing.assert_allclose(additive(*map(library, (s, h, v_a))), sums, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SCORES)
def test_classes_are_the_papers_equations(name):
    torch.manual_seed(0)
    score, enc = SCORES[name]().double(), DEC if name == "dot" else ENC
    s, h = torch.tensor(draw(BATCH, TGT, DEC)), torch.tensor(draw(BATCH, SRC, enc, seed=1))
    weights = {letter: p.detach().numpy() for letter, p in score.named_parameters()}
    e = score(s, score.project_keys(h)).detach().numpy()
    for b, t, i in np.ndindex(BATCH, TGT, SRC):
        assert e[b, t, i] == pytest.approx(score_one(name, s[b, t].numpy(), h[b, i].numpy(), i, weights), rel=1e-12)


def test_a_source_beyond_the_location_scores_positions_is_refused(refused):
    too_long = torch.ones(2, 10, 3)
    refused(lambda: Location(4, 9).project_keys(too_long), "h has 10 source positions; expected at most max_src, 9")


def test_location_has_a_weight_for_the_last_position_it_admits():
    score = Location(DEC, MAX_SRC)
    assert score(torch.zeros(1, DEC), score.project_keys(torch.zeros(MAX_SRC, ENC))).shape == (1, MAX_SRC)
