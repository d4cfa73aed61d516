"""The cross-entropy of the true words, computed together with the output layer."""

from math import ceil

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

from attnlib.data import PAD

_AT_ONCE = 2**21  # scores held at a time: few enough that memory is had again rather than asked for anew


def linear_cross_entropy(
    read: Float[Tensor, "batch tgt read"],
    weight: Float[Tensor, "vocab read"],
    target: Int[Tensor, "batch tgt"],
    label_smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Compute the mean cross-entropy of the scores ``linear(read, weight)``, in nats per word. PAD costs nothing.

    `label_smoothing` is the share of the target distribution that is spread over all words of the vocabulary. The loss
    can be differentiated only once.

    Notes
    -----
    The scores of all words are never in memory together. Costs ``3 * words * vocab * read`` multiply-adds, all of them
    before the backward pass.
    """
    real = (target.flatten() != PAD).nonzero().squeeze(1)
    return _LinearCrossEntropy.apply(read.flatten(0, 1)[real], weight, target.flatten()[real], label_smoothing)


class _LinearCrossEntropy(torch.autograd.Function):
    """Scores, softmax, loss and both gradients of some words, then of the next: none of it is needed a second time."""

    @staticmethod
    def forward(ctx, read, weight, target, smoothing):
        words, vocab = len(read), len(weight)
        d_read, d_weight, loss = torch.empty_like(read), torch.zeros_like(weight), weight.new_zeros(())
        parts = max(1, ceil(words * vocab / _AT_ONCE))
        for h, d_h, true in zip(*(x.tensor_split(parts) for x in (read, d_read, target[:, None])), strict=True):
            scores = linear(h, weight).to(weight.dtype)
            scores -= scores.amax(1, keepdim=True)
            loss -= (1 - smoothing) * scores.gather(1, true).sum()
            if smoothing:
                loss -= smoothing * scores.mean(1).sum()
            total = scores.exp_().sum(1, keepdim=True)
            loss += total.log().sum()
            error = scores.div_(total)
            if smoothing:
                error -= smoothing / vocab
            error.scatter_add_(1, true, error.new_full(true.shape, smoothing - 1))
            d_h.copy_(error @ weight)
            d_weight += error.T @ h
        ctx.save_for_backward(d_read, d_weight)
        ctx.words = words
        return loss / words

    @staticmethod
    @once_differentiable
    def backward(ctx, d_loss):
        d_read, d_weight = ctx.saved_tensors
        each = d_loss / ctx.words
        return each * d_read, each * d_weight, None, None
