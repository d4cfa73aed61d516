"""Parts of decoders: what the output layer reads, and where a decoder begins. `hybrids` joins them."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.checks import check_whole
from attnlib.decoders import DeepOutput
from attnlib.parameters import weight


class AttentionalOutput(nn.Module):
    r"""Score the next word by :math:`W_y \tilde{s}`, :math:`\tilde{s} = \tanh(W_c [c; s])`.

    Parameters
    ----------
    vocab, dec, enc : int
        Words of the target vocabulary; features of a state and of a context.

    Notes
    -----
    Luong et al. 2015, eq. 5 and 6.
    """

    def __init__(self, *, vocab: int, dec: int, enc: int):
        check_whole(vocab=vocab, dec=dec, enc=enc)
        super().__init__()
        self.W_c, self.W_y = weight(dec, enc + dec), weight(vocab, dec)

    def read(
        self, s: Float[Tensor, "*batch dec"], y: Float[Tensor, "*batch emb"], c: Float[Tensor, "*batch enc"]
    ) -> Float[Tensor, "*batch dec"]:
        """Compute what the scores are made from; the word before, `y`, has no part in it."""
        return torch.tanh(linear(torch.cat([c, s], -1), self.W_c))

    @property
    def enc(self) -> int:
        """Say how many features a context has."""
        return self.W_c.shape[1] - self.W_c.shape[0]

    @property
    def output(self) -> Float[Tensor, "vocab dec"]:
        """Give the weights of the output layer."""
        return self.W_y


class MaxoutOutput(DeepOutput):
    """`DeepOutput`, by the names that a `HybridDecoder` knows its parts by."""

    read = DeepOutput.maxout

    @property
    def enc(self) -> int:
        """Say how many features a context has."""
        return self.C_o.shape[1]

    @property
    def output(self) -> Float[Tensor, "vocab maxout"]:
        """Give the weights of the output layer."""
        return self.W_o


class Projected(nn.Module):
    r"""Begin at :math:`s_0 = \tanh(W_s h)`, `h` being where the reader from right to left ended; a memory cell at 0.

    Parameters
    ----------
    dec, hid : int
        Features of the decoder's state, and of the reader's: the last `hid` of the encoder's state are read.
    """

    def __init__(self, dec: int, hid: int):
        check_whole(dec=dec, hid=hid)
        super().__init__()
        self.W_s = weight(dec, hid)

    def forward(self, states: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Turn the encoder's last state and memory cell into the decoder's first."""
        h = states[0].flatten(1)[:, -self.W_s.shape[1] :]
        s_0 = torch.tanh(linear(h, self.W_s))
        return s_0, torch.zeros_like(s_0)


class Copied(nn.Module):
    """Begin where the encoder says."""

    def forward(self, states: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Give the encoder's states, one layer high."""
        return tuple(x.flatten(1) for x in states)
