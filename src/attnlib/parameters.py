"""How a weight of one's own begins, before it has learnt anything."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import sqrt

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import dropout as dropped

from attnlib.checks import check_whole


def weight(*shape: int) -> nn.Parameter:
    r"""Draw a weight from the uniform distribution between plus and minus :math:`1 / \sqrt{n}`.

    The last size of the shape is `n`, how many numbers one output is the weighted sum of. So PyTorch begins its own
    layers; Bahdanau's values (N(0, 0.001²), zeros) suit Adadelta and weeks of training. `seeded` makes the draw known.

    How the papers begin: Bahdanau et al. 2015, appendix B.1; Luong et al. 2015, section 4.1.
    """
    if not shape or any(not isinstance(size, int) or size < 1 for size in shape):
        raise ValueError(f"shape is {shape}; expected whole numbers, each at least 1")
    bound = 1 / sqrt(shape[-1])
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))


class Embedding(nn.Embedding):
    """Hold one vector for each word of a vocabulary; in training, a share of the features is set to 0."""

    def __init__(self, vocab: int, emb: int, dropout: float = 0.0):
        check_whole(vocab=vocab, emb=emb)
        super().__init__(vocab, emb)
        self.dropout = dropout

    def forward(self, words: Int[Tensor, "*batch"]) -> Float[Tensor, "*batch emb"]:
        """Look the words up."""
        return dropped(super().forward(words), self.dropout, self.training)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's global generator for a block, and leave it as it was before."""
    check_whole(0, seed=seed)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield
