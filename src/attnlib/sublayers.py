"""The parts that a Transformer's layers are made of, each from what the book has already.

Vaswani et al. 2017 call them sublayers: attention several times side by side, a network for each word on its own, and
around both a residual path with a layer norm. Below them lie the words' vectors, to which positions are added.
"""

from math import sqrt

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import dropout as dropped
from torch.nn.functional import linear

from attnlib.attention import Attended, attention
from attnlib.checks import check_share, check_whole
from attnlib.parameters import Embedding, weight

KeysValues = tuple[Tensor, Tensor]
"""What words are found by and what they answer with, ``"batch heads src d"`` each."""


def position_vectors(steps: Int[Tensor, "*batch tgt"], emb: int) -> Float[Tensor, "*batch tgt emb"]:
    r"""Give each position a vector, :math:`[\sin \omega_0 t, \cos \omega_0 t, \sin \omega_1 t, \ldots]`.

    Parameters
    ----------
    steps : ``"*batch tgt"``
        Positions, from 0.
    emb : int
        Features of a vector, an even number. :math:`\omega_k = 10000^{-2k / emb}` radians per position.

    Returns
    -------
    ``"*batch tgt emb"``
        Sines and cosines: the vector of position t + k is that of t, each pair turned by an angle that k
        alone decides.

    Notes
    -----
    Vaswani et al. 2017, section 3.5.
    """
    omega = 10_000.0 ** (-torch.arange(0, emb, 2, device=steps.device) / emb)
    angles = steps[..., None] * omega
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)


class PositionalEmbedding(Embedding):
    """A word's vector, times the square root of how many features it has, plus its position's.

    Notes
    -----
    Vaswani et al. 2017, sections 3.4 and 3.5.
    """

    def __init__(self, vocab: int, emb: int, dropout: float = 0.0):
        check_whole(vocab=vocab, emb=emb)
        if emb % 2:
            raise ValueError(f"emb is {emb}; expected an even number, a sine and a cosine of each frequency")
        super().__init__(vocab, emb, dropout)
        nn.init.normal_(self.weight, std=1 / sqrt(emb))

    def forward(
        self, words: Int[Tensor, "batch tgt"], first: int | Int[Tensor, "batch 1"] = 0
    ) -> Float[Tensor, "batch tgt emb"]:
        """Look words up, the first of them at position `first`, which each sentence may have for itself."""
        steps = first + torch.arange(words.shape[1], device=words.device)
        places = position_vectors(steps, self.embedding_dim).to(self.weight.dtype)
        return super().forward(words) * sqrt(self.embedding_dim) + places


class MultiHead(nn.Module):
    r"""Several attentions side by side, each with queries, keys and values of its own.

    :math:`W_O\,[\mathrm{head}_1; \ldots; \mathrm{head}_n]`, head k being `attnlib.attention.attention` of the k-th
    part of :math:`W_Q x`, :math:`W_K h` and :math:`W_V h`.

    Parameters
    ----------
    emb : int
        Features of what asks and of what is asked. All four matrices are ``(emb, emb)``.
    heads : int
        A divisor of `emb`: a head's queries, keys and values have ``emb / heads`` features.

    Notes
    -----
    Vaswani et al. 2017, section 3.2.2. There are no biases in the paper, and none here.
    """

    def __init__(self, emb: int, heads: int):
        check_whole(emb=emb, heads=heads)
        if emb % heads:
            raise ValueError(f"heads is {heads}; expected a divisor of emb, {emb}")
        super().__init__()
        self.heads = heads
        self.W_Q, self.W_K, self.W_V, self.W_O = (weight(emb, emb) for _ in range(4))

    def remember(self, h: Float[Tensor, "batch src emb"]) -> KeysValues:
        """Compute keys and values of what can be asked, once: ``2 * batch * src * emb²`` multiply-adds."""
        return self._apart(linear(h, self.W_K)), self._apart(linear(h, self.W_V))

    def forward(
        self, x: Float[Tensor, "batch tgt emb"], remembered: KeysValues, mask: Bool[Tensor, "#batch 1 #tgt src"]
    ) -> Attended:
        """Ask: context ``"batch tgt emb"``, and each head's weights ``"batch heads tgt src"``."""
        heard = attention(self._apart(linear(x, self.W_Q)), *remembered, mask)
        return Attended(linear(heard.context.transpose(1, 2).flatten(2), self.W_O), heard.weights)

    def _apart(self, x: Float[Tensor, "batch src emb"]) -> Float[Tensor, "batch heads src d"]:
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)


class Residual(nn.Module):
    """Add what was found to what was there, and normalise: LayerNorm(x + found) (Vaswani et al. 2017, section 3.1)."""

    def __init__(self, emb: int, dropout: float):
        check_share(dropout=dropout)
        super().__init__()
        self.norm, self.dropout = nn.LayerNorm(emb), dropout

    def forward(
        self, x: Float[Tensor, "batch tgt emb"], found: Float[Tensor, "batch tgt emb"]
    ) -> Float[Tensor, "batch tgt emb"]:
        """Give the layer norm of the sum; in training a share of what was found is dropped (section 5.4)."""
        return self.norm(x + dropped(found, self.dropout, self.training))


def feed_forward(emb: int, hid: int) -> nn.Sequential:
    """Make what each position goes through on its own, W_2 max(0, W_1 x + b_1) + b_2 (Vaswani et al. 2017, eq. 2)."""
    check_whole(emb=emb, hid=hid)
    return nn.Sequential(nn.Linear(emb, hid), nn.ReLU(), nn.Linear(hid, emb))
