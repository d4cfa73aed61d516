"""The cross-entropy of the true words, computed with the output layer, by one or more processes of `attntext.trainer`.

`fused_backward` takes the place of `attnlib.training.plain_backward`, with the same numbers in less time and memory if
the vocabulary is large.
"""

from math import ceil

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear, pad

from attnlib.batching import Batch
from attnlib.data import PAD
from attnlib.seq2seq import EncoderDecoder
from attnlib.training import TrainingState, step_seed
from attntext import processes

_AT_ONCE = 2**21  # scores held at a time: few enough that memory is reused, and not allocated again


def fused_backward(state: TrainingState, batch: Batch, *, label_smoothing: float = 0.0, seed: int = 0) -> Tensor:
    """Compute the gradients of the mean loss, of which each process has its share, and return the loss.

    Parameters
    ----------
    state : TrainingState
        The training. It counts the words of all processes.
    batch : Batch
        The share of this process, which may be empty.
    label_smoothing : float, default 0.0
        See `linear_cross_entropy`.
    seed : int, default 0
        Decides, for several processes, which features dropout sets to 0.
    """
    words = int((batch.target != PAD).sum())
    words_of_all = processes.all_reduce_sum(words)
    state.words += words_of_all - words
    if processes.world_size() > 1:
        torch.manual_seed(step_seed(seed, state.step + 1, processes.rank()))
    loss = torch.zeros((), device=state.device, requires_grad=True)
    if words:
        with processes.cast_weights_once():
            source, lengths, target = (x.to(state.device) for x in batch)
            mean = fused_loss(state.model, source, lengths, target, label_smoothing)
            loss = words / words_of_all * mean
    loss.backward()
    return processes.all_reduce_gradients(state.model.parameters(), loss.detach())


def fused_loss(
    model: EncoderDecoder,
    source: Int[Tensor, "batch src"],
    lengths: Int[Tensor, "batch"],
    target: Int[Tensor, "batch tgt"],
    label_smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Compute the loss of teacher forcing, `EncoderDecoder.loss`, with few scores in memory at a time."""
    features, weight, _ = model.decoder.features(*model.inputs(source, lengths, target))
    return linear_cross_entropy(features, weight, target.long(), label_smoothing)


def linear_cross_entropy(
    features: Float[Tensor, "batch tgt feat"],
    weight: Float[Tensor, "vocab feat"],
    target: Int[Tensor, "batch tgt"],
    label_smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Compute the mean cross-entropy of the scores ``linear(features, weight)``, in nats per word. PAD costs nothing.

    `label_smoothing` is the share of the target distribution that is spread over all words of the vocabulary. The loss
    can be differentiated only once.

    Notes
    -----
    The scores of all words are never in memory together. Costs ``3 * words * vocab * features`` multiply-adds, all of
    them before the backward pass.
    """
    real = (target.flatten() != PAD).nonzero().squeeze(1)
    return _LinearCrossEntropy.apply(features.flatten(0, 1)[real], weight, target.flatten()[real], label_smoothing)


class _LinearCrossEntropy(torch.autograd.Function):
    """Scores, softmax, loss and both gradients of some words, then of the next: none of it is needed a second time."""

    @staticmethod
    def forward(ctx, features, weight, target, smoothing):
        words, vocab = len(features), len(weight)
        d_features, d_weight, loss = torch.empty_like(features), torch.zeros_like(weight), weight.new_zeros(())
        parts = max(1, ceil(words * vocab / _AT_ONCE))
        # In float32, rows of scores that begin at multiples of 64 bytes are written faster.
        as_it_is = vocab % 16 == 0 or torch.is_autocast_enabled("cpu")
        padded = weight if as_it_is else pad(weight, (0, 0, 0, -vocab % 16))
        for h, d_h, true in zip(*(x.tensor_split(parts) for x in (features, d_features, target[:, None])), strict=True):
            product = linear(h, padded)[:, :vocab]
            scores = product.to(weight.dtype)
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
            error = error.to(product.dtype)  # once for two products
            d_h.copy_(error @ weight)
            d_weight += error.T @ h
        ctx.save_for_backward(d_features, d_weight)
        ctx.words = words
        return loss / words

    @staticmethod
    @once_differentiable
    def backward(ctx, d_loss):
        d_features, d_weight = ctx.saved_tensors
        each = d_loss / ctx.words
        return each * d_features, each * d_weight, None, None
