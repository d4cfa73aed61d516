"""Counts of parameters and of multiply-adds (chapter 4)."""

from collections.abc import Callable
from math import prod

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attnlib.data import BOS, EOS
from attnlib.seq2seq import EncoderDecoder

# What PyTorch's counter leaves out, in operations from shapes: a matrix by a vector, and an LSTM in one call.
_NOT_COUNTED = {
    torch.ops.aten.mv: lambda matrix, vector, **_: 2 * prod(matrix),
    torch.ops.aten.mkldnn_rnn_layer: lambda x, W_ih, W_hh, *_, **__: 2 * x[0] * x[1] * (prod(W_ih) + prod(W_hh)),
}


def count_parameters(model: nn.Module) -> int:
    """Count the parameters of a model, those of a pretrained one too, which do not learn."""
    return sum(weight.numel() for weight in model.parameters())


def count_products(work: Callable[[], object]) -> int:
    """Count the multiply-adds of all matrix products during a call."""
    with FlopCounterMode(display=False, custom_mapping=_NOT_COUNTED) as counter:
        work()
    return counter.get_total_flops() // 2


@torch.no_grad()
def count_macs(model: EncoderDecoder, source_length: int, prefix_length: int = 0) -> int:
    """Count the multiply-adds of one decoder step for one sentence.

    Only matrix products of the step itself are counted.

    Parameters
    ----------
    model : EncoderDecoder
        The model.
    source_length : int
        Words of the source, EOS counted.
    prefix_length : int, default 0
        Words of the translation before the step, which a Transformer also attends to.
    """
    word = torch.tensor([BOS])
    state = model.start(torch.full((1, source_length), EOS), torch.tensor([source_length]))
    for _ in range(prefix_length):
        state = model.step(word, state)[2]
    return count_products(lambda: model.step(word, state))
