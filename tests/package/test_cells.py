"""Cells, held against PyTorch's own."""

import torch
from torch import nn

from attnlib.cells import gru_step, lstm_step

BATCH, EMB, DEC = 3, 5, 7


def draw(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_a_gru_step_is_that_of_torch():
    cell = nn.GRUCell(EMB, DEC).double()
    x, s = draw(BATCH, EMB, seed=0), draw(BATCH, DEC, seed=1)
    mine = gru_step(x @ cell.weight_ih.T + cell.bias_ih, s, cell.weight_hh, cell.bias_hh)
    torch.testing.assert_close(mine, cell(x, s), rtol=1e-12, atol=1e-12)


def test_an_lstm_step_is_that_of_torch():
    torchs = nn.LSTMCell(EMB, DEC).double()
    x, s, cell = draw(BATCH, EMB, seed=0), draw(BATCH, DEC, seed=1), draw(BATCH, DEC, seed=2)
    mine = lstm_step(x @ torchs.weight_ih.T + torchs.bias_ih + torchs.bias_hh, s, cell, torchs.weight_hh)
    torch.testing.assert_close(mine, torchs(x, (s, cell)), rtol=1e-12, atol=1e-12)


def test_gradients_are_those_of_finite_differences():
    x, s, W, b = (draw(*shape, seed=0).requires_grad_() for shape in [(2, 9), (2, 3), (9, 3), (9,)])
    torch.autograd.gradcheck(gru_step, (x, s, W, b))
    x, s, cell, W = (draw(*shape, seed=0).requires_grad_() for shape in [(2, 12), (2, 3), (2, 3), (12, 3)])
    torch.autograd.gradcheck(lstm_step, (x, s, cell, W))
