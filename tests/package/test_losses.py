"""The loss counts real words only, and is the same whether its scores are all there at once or a few at a time."""

import pytest
import torch
from torch.nn.functional import linear, log_softmax

from attnlib import losses
from attnlib.data import PAD
from attnlib.losses import output_loss, word_loss

LOGITS, TARGET = torch.ones(2, 3, 5), torch.ones(2, 3, dtype=torch.long)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_the_mean_over_real_words_and_smoothing_shares_the_label_with_all_words(smoothing):
    logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0))
    target = torch.tensor([[4, 5, 2], [6, 2, PAD]])
    log_p = log_softmax(logits, 2)
    real = (0, 0), (0, 1), (0, 2), (1, 0), (1, 1)
    each = [(1 - smoothing) * log_p[n, t, target[n, t]] + smoothing * log_p[n, t].mean() for n, t in real]
    assert float(word_loss(logits, target, smoothing)) == pytest.approx(-float(sum(each)) / 5)
    logits[1, 2] = 1e4 * logits[1, 2]
    assert float(word_loss(logits, target, smoothing)) == pytest.approx(-float(sum(each)) / 5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("at_once", [1, 2 * 13, 2**21])
def test_the_loss_without_all_scores_is_the_same_and_so_are_its_gradients(smoothing, at_once, monkeypatch):
    monkeypatch.setattr(losses, "_AT_ONCE", at_once)
    rng = torch.Generator().manual_seed(0)
    read = torch.randn(3, 5, 7, generator=rng, dtype=torch.float64, requires_grad=True)
    output = torch.randn(13, 7, generator=rng, dtype=torch.float64, requires_grad=True)
    target = torch.randint(3, 13, (3, 5), generator=rng)
    target[1, 3:], target[2, 1:] = PAD, PAD
    expected = word_loss(linear(read, output), target, smoothing)
    result = output_loss(read, output, target, smoothing)
    torch.testing.assert_close(result, expected)
    for by_hand, gradient in zip(
        *(torch.autograd.grad(3 * x, (read, output)) for x in (expected, result)), strict=True
    ):
        torch.testing.assert_close(gradient, by_hand)


@pytest.mark.parametrize(
    "call", [lambda: word_loss(LOGITS, TARGET.T), lambda: output_loss(LOGITS, torch.ones(7, 5), TARGET.T)]
)
def test_targets_of_another_shape_are_refused(call, refused):
    refused(call, ValueError, r"target has shape \(3, 2\); expected \(2, 3\)")
