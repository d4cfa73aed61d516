"""What training may change is counted, and nothing else."""

from torch import nn

from attnlib.experiments.costs import parameters


def test_parameters_are_counted():
    assert parameters(nn.Linear(2, 3)) == 9
    assert parameters(nn.Linear(2, 3).requires_grad_(False)) == 0
