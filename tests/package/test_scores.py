"""Every score, held against the equation written as a loop."""

import numpy as np
import pytest
import torch

from attnlib.scores import Additive, Concat, Dot, General, Location, additive, dot

BATCH, TGT, SRC, DEC, ENC, ATT = 2, 3, 7, 5, 11, 13
SCORES = {
    "dot": Dot,
    "general": lambda: General(DEC, ENC),
    "additive": lambda: Additive(DEC, ENC, ATT),
    "concat": lambda: Concat(DEC, ENC, ATT),
    "location": lambda: Location(DEC, SRC),
}


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


def test_numpy_arrays_score_as_tensors_do():
    s, h, v_a = draw(BATCH, TGT, ATT), draw(BATCH, SRC, ATT, seed=1), draw(ATT, seed=2)
    for function, arguments in ((dot, (s, h)), (additive, (s, h, v_a))):
        np.testing.assert_allclose(function(*arguments), function(*map(torch.tensor, arguments)), rtol=1e-12)


@pytest.mark.parametrize("name", SCORES)
def test_classes_are_the_papers_equations(name):
    torch.manual_seed(0)
    score, enc = SCORES[name]().double(), DEC if name == "dot" else ENC
    s, h = torch.tensor(draw(BATCH, TGT, DEC)), torch.tensor(draw(BATCH, SRC, enc, seed=1))
    weights = {letter: p.detach().numpy() for letter, p in score.named_parameters()}
    e = score(s, score.project_keys(h)).detach().numpy()
    for b, t, i in np.ndindex(BATCH, TGT, SRC):
        assert e[b, t, i] == pytest.approx(score_one(name, s[b, t].numpy(), h[b, i].numpy(), i, weights), rel=1e-12)
