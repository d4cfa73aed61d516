"""Every window, held against its definition: 0 <= i < S and |i - p_t| <= D."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlib.windows import LocalMonotonic, LocalPredictive, gaussian, window_positions

DEC, LENGTHS, TGT, D = 5, (7, 3, 11), 17, 2
STEPS = torch.arange(TGT)


def sentences():
    states = torch.tensor(np.random.default_rng(0).normal(size=(len(LENGTHS), TGT, DEC)))
    return states, torch.tensor(LENGTHS)


@given(
    share=st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
    half_width=st.integers(1, 6),
    S=st.integers(1, 19),
    padding=st.integers(0, 5),
)
def test_support_is_the_definition(library, share, half_width, S, padding):
    p = share * S
    positions, inside = window_positions(library([[p]]), half_width, library([S]), S + padding)
    seen = [int(i) for i, real in zip(positions[0, 0], inside[0, 0], strict=True) if real]
    assert seen == [i for i in range(S) if abs(i - p) <= half_width]
    assert seen
    assert positions.shape[-1] == min(2 * half_width + 1, S + padding)
    assert 0 <= int(positions.min()) <= int(positions.max()) < S + padding


def test_a_center_that_is_no_number_has_nothing_inside(library):
    """And one sentence needs no axis for the batch."""
    positions, inside = window_positions(library([np.nan, 3.0]), 1, library(7), 9)
    assert positions.tolist() == [[0, 1, 2], [2, 3, 4]]
    assert inside.tolist() == [[False] * 3, [True] * 3]


def test_the_gaussian_is_the_papers_equation(library):
    i, p, sigma = np.arange(9).reshape(1, 1, 9), 3.3, 4 / 2
    expected = [math.exp(-((k - p) ** 2) / (2 * sigma**2)) for k in range(9)]
    np.testing.assert_allclose(gaussian(library(i), library([[p]]), 4)[0, 0], expected, rtol=1e-14)
    single = library(np.ones((1, 1), "float32"))
    assert gaussian(library([[[1, 2]]]), single, 1).dtype == single.dtype


def test_the_monotonic_center_is_the_step_until_the_last_word():
    states, lengths = sentences()
    expected = [[float(min(t, S - 1)) for t in range(TGT)] for S in LENGTHS]
    assert LocalMonotonic(D).center(states, STEPS, lengths).tolist() == expected


def test_the_predicted_center_is_the_papers_equation():
    states, lengths = sentences()
    torch.manual_seed(0)
    window = LocalPredictive(DEC, D).double()
    W_p, v_p = window.W_p.detach().numpy(), window.v_p.detach().numpy()
    center = window.center(states, STEPS, lengths).detach().numpy()
    for b, S in enumerate(LENGTHS):
        for t in range(TGT):
            share = 1 / (1 + math.exp(-v_p @ np.tanh(W_p @ states[b, t].numpy())))
            assert center[b, t] == pytest.approx(S * share, rel=1e-12)
