"""What a model costs: how many numbers it learns, and how many multiply-adds a step takes."""

from collections.abc import Callable
from math import prod

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attnlib.checks import check_whole
from attnlib.data import BOS, EOS
from attnlib.translator import Translator

# What PyTorch's counter leaves out, in operations from shapes: a matrix by a vector, and an LSTM in one call.
_NOT_COUNTED = {
    torch.ops.aten.mv: lambda matrix, vector, **_: 2 * prod(matrix),
    torch.ops.aten.mkldnn_rnn_layer: lambda x, W_ih, W_hh, *_, **__: 2 * x[0] * x[1] * (prod(W_ih) + prod(W_hh)),
}


def parameters(model: nn.Module) -> int:
    """Count the numbers that training may change."""
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


def products(work: Callable[[], object]) -> int:
    """Count the multiply-adds of all matrix products while `work` is done, whatever is computed in between."""
    with FlopCounterMode(display=False, custom_mapping=_NOT_COUNTED) as counter:
        work()
    return counter.get_total_flops() // 2


@torch.no_grad()
def multiply_adds(translator: Translator, src: int, written: int = 0) -> int:
    """Count the multiply-adds of one step of a decoder, for one sentence, while the step is taken.

    Parameters
    ----------
    translator : Translator
    src : int
        Words of the source, EOS among them.
    written : int
        Words of the translation before the step. A Transformer looks at them too; to the others they make no
        difference.

    Returns
    -------
    int
        Those of matrix products. What is done once for a sentence, and what is added or looked up, does not count.

    Raises
    ------
    ValueError
        If `src` is below 1 or `written` below 0.
    """
    check_whole(src=src)
    check_whole(0, written=written)
    word = torch.tensor([BOS])
    state = translator.start(torch.full((1, src), EOS), torch.tensor([src]))
    for _ in range(written):
        state = translator.step(word, state)[2]
    return products(lambda: translator.step(word, state))
