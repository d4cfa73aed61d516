"""The loss counts real words only, and is torch's, whether its scores are all there at once or a few at a time."""

import pytest
import torch
from torch.nn.functional import cross_entropy, linear

from attnlib.data import PAD
from attntext import loss


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("at_once", [1, 2 * 13, 2**21])
def test_the_loss_without_all_scores_is_torchs_and_so_are_its_gradients(smoothing, at_once, monkeypatch):
    monkeypatch.setattr(loss, "_AT_ONCE", at_once)
    rng = torch.Generator().manual_seed(0)
    read = torch.randn(3, 5, 7, generator=rng, dtype=torch.float64, requires_grad=True)
    output = torch.randn(13, 7, generator=rng, dtype=torch.float64, requires_grad=True)
    target = torch.randint(3, 13, (3, 5), generator=rng)
    target[1, 3:], target[2, 1:] = PAD, PAD
    expected = cross_entropy(linear(read, output).mT, target, ignore_index=PAD, label_smoothing=smoothing)
    result = loss.linear_cross_entropy(read, output, target, smoothing)
    torch.testing.assert_close(result, expected)
    for one, other in zip(*(torch.autograd.grad(3 * x, (read, output)) for x in (expected, result)), strict=True):
        torch.testing.assert_close(other, one)
