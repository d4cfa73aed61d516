"""What every model is made of (chapters 2, 3, and 6): weights and how they begin, embeddings, GRU and LSTM steps.

`torch.nn.GRUCell` and `torch.nn.LSTMCell` multiply the whole input at every step. A decoder knows the words long before
it knows the context, so their share is computed for all steps at once, and only what depends on the step before is left
for the step.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import sqrt

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.checks import check_seed, check_whole


def weight(*shape: int) -> nn.Parameter:
    r"""Draw a weight from the uniform distribution between plus and minus :math:`1 / \sqrt{n}`.

    The last size of the shape is `n`, the number of terms in one output's weighted sum. `torch.nn.Linear` draws its
    weights in the same way; for a GRU or an LSTM, PyTorch takes the features of the state for `n`. The draw uses
    torch's global generator; see `seeded`.

    For the papers' initial values, see Bahdanau et al. 2015, appendix B.1; Luong et al. 2015, section 4.1.
    """
    bound = 1 / sqrt(shape[-1])
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))


class Embedding(nn.Embedding):
    """Embedding layer, one vector per word, with dropout of features. Its weights begin as N(0, 1).

    Parameters
    ----------
    vocab_size : int
        Number of words, the special symbols among them.
    embedding_dim : int
        Features of a vector.
    dropout : float, default 0.0
        Share of features that is set to 0 in training.
    """

    def __init__(self, vocab_size: int, embedding_dim: int, dropout: float = 0.0):
        vocab_size, embedding_dim = check_whole(vocab_size=vocab_size, embedding_dim=embedding_dim)
        super().__init__(vocab_size, embedding_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: Int[Tensor, "*batch"]) -> Float[Tensor, "*batch emb"]:
        """Return the vectors of words, given as ids."""
        return self.dropout(super().forward(words))


def stacked_lstm(input_size: int, hidden_size: int, num_layers: int, dropout: float) -> nn.LSTM:
    """Build LSTMs, each of which reads the one below; `dropout` is between layers, and a single layer has none."""
    between = dropout if num_layers > 1 else 0.0  # PyTorch warns of a dropout that has no place
    return nn.LSTM(input_size, hidden_size, num_layers, batch_first=True, dropout=between)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's global generator for a block, and restore its state afterward. New weights are float32."""
    seed = check_seed(seed)
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            yield
    finally:
        torch.set_default_dtype(usual)


def cast_for_steps(W: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Cast a weight as `torch.autocast` would, once: it casts parts and transposes of weights at every product."""
    kind = W.device.type
    cast = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
    return W.to(torch.get_autocast_dtype(kind)) if cast else W


def gru_step(
    x: Float[Tensor, "batch gates"],
    s: Float[Tensor, "batch dec"],
    W_hh: Float[Tensor, "gates dec"],
    b_hh: Float[Tensor, "gates"],
) -> Float[Tensor, "batch dec"]:
    """Compute one step of a GRU from an input that is already multiplied, as `torch.nn.GRUCell` does.

    Parameters
    ----------
    x
        W_ih times the input of the cell, plus b_ih: reset gate, update gate, candidate.
    s
        The state before.
    W_hh, b_hh
        The recurrent weights and biases, in PyTorch's order.

    Notes
    -----
    A step costs ``3 * batch * dec²`` multiply-adds. PyTorch's GRU resets after the recurrent product and keeps the old
    state where the update gate is 1. The GRU of Bahdanau et al. 2015, appendix A.1.1, resets the state before the
    product and takes the candidate where the gate is 1.
    """
    dec = s.shape[1]
    gates, candidate = x.split([2 * dec, dec], dim=1)
    recurrent_gates, recurrent_candidate = linear(s, W_hh, b_hh).split([2 * dec, dec], dim=1)
    r, z = torch.sigmoid(gates + recurrent_gates).chunk(2, dim=1)
    # The reset gate r multiplies W s + b, not s as in the paper. The new state, lerp(candidate, s, z), is
    # (1 - z) * candidate + z * s; in the paper, z and 1 - z are exchanged.
    return torch.lerp(torch.tanh(torch.addcmul(candidate, r, recurrent_candidate)), s, z)


def lstm_step(
    x: Float[Tensor, "batch gates"],
    s: Float[Tensor, "batch recurrent"],
    cell: Float[Tensor, "batch dec"],
    W_hh: Float[Tensor, "gates recurrent"],
) -> tuple[Float[Tensor, "batch dec"], Float[Tensor, "batch dec"]]:
    """Compute one step of an LSTM from an input that is already multiplied, as `torch.nn.LSTMCell` does.

    `x` is W_ih times the input of the cell, plus both biases: input gate, forget gate, candidate, output gate. `s` is
    the state before, and any other input that was not multiplied in advance.

    Notes
    -----
    A step costs ``4 * batch * dec * recurrent`` multiply-adds. Luong et al. 2015, section 2, use the unit of
    Zaremba et al. 2015: that of Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000.
    """
    dec = cell.shape[1]
    gates, candidate, out = torch.addmm(x, s, W_hh.T).split([2 * dec, dec, dec], dim=1)
    i, f = torch.sigmoid(gates).chunk(2, dim=1)
    # f * cell + i * tanh(candidate): what is kept of the cell, plus what enters it.
    cell = torch.addcmul(i * torch.tanh(candidate), f, cell)
    return torch.sigmoid(out) * torch.tanh(cell), cell
