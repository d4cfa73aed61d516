"""From words to annotations: what the encoder says of each word, given the words around it.

Sentences are packed before the recurrence, so that padding never enters it: the last state is the state after
a sentence's own last word, and annotations of padding are 0.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnlib.alignment import check_lengths
from attnlib.parameters import weight


class Encoded(NamedTuple):
    """What an encoder hands to a decoder.

    Attributes
    ----------
    annotations : ``"batch src enc"``
        One vector a word; 0 at padding.
    lengths : ``"batch"``
        How many real words each sentence has.
    summary : ``"batch enc"``
        The whole sentence in one vector: the last state of each direction.
    state : tuple of tensors, batch first
        Where the decoder's recurrence begins.
    """

    annotations: Float[Tensor, "batch src enc"]
    lengths: Int[Tensor, "batch"]
    summary: Float[Tensor, "batch enc"]
    state: tuple[Tensor, ...]


class BidirectionalGRU(nn.Module):
    r"""Read the sentence in both directions, :math:`h_j = [\overrightarrow{h}_j; \overleftarrow{h}_j]`.

    The decoder begins at :math:`s_0 = \tanh(W_s \overleftarrow{h}_1)`: the backward state at the first word has
    read the whole sentence.

    Parameters
    ----------
    vocab : int
        Words of the source vocabulary.
    emb : int
        Features of a word embedding.
    hid : int
        Features of a state in one direction; an annotation has ``enc = 2 * hid``.
    dec : int
        Features of the decoder's state. ``W_s`` is ``(dec, hid)``.

    Notes
    -----
    Bahdanau et al. 2015, sections 3.2 and A.2.1. Costs ``6 * batch * src * hid * (emb + hid)`` multiply-adds, `src`
    steps one after the other in each direction. The GRU is PyTorch's, which differs from the paper's: see
    `attnlib.cells.gru_step`.
    """

    def __init__(self, vocab: int, emb: int, hid: int, dec: int):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb)
        self.gru = nn.GRU(emb, hid, batch_first=True, bidirectional=True)
        self.W_s = weight(dec, hid)

    def forward(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> Encoded:
        """Annotate each word of each sentence.

        Parameters
        ----------
        source : ``"batch src"``
            Word numbers, padded at the end.
        lengths : ``"batch"``
            How many real words each sentence has.

        Returns
        -------
        Encoded
            Annotations ``"batch src 2*hid"``, and s_0 ``"batch dec"`` as the only state.

        Raises
        ------
        ValueError
            If a length is below 1 or above `src`, or there is not one for each sentence.
        """
        annotations, last = _read(self.gru, self.embedding(source), lengths)
        s_0 = torch.tanh(linear(last[1], self.W_s))  # last: forward, backward
        return Encoded(annotations, lengths, torch.cat(last.unbind(), 1), (s_0,))


class StackedLSTM(nn.Module):
    """Read the sentence from left to right through a stack of LSTMs; the top layer's states are the annotations.

    The decoder begins where each layer ended.

    Parameters
    ----------
    vocab : int
        Words of the source vocabulary.
    emb : int
        Features of a word embedding.
    hid : int
        Features of a state, and of an annotation.
    layers : int
        Height of the stack.

    Notes
    -----
    Luong et al. 2015, section 3. Costs ``4 * batch * src * hid * (emb + hid)`` multiply-adds for the first layer and
    ``8 * batch * src * hid²`` for each one above, `src` steps one after the other.
    """

    def __init__(self, vocab: int, emb: int, hid: int, layers: int = 1):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb)
        self.lstm = nn.LSTM(emb, hid, layers, batch_first=True)

    def forward(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> Encoded:
        """Annotate each word of each sentence.

        Parameters
        ----------
        source : ``"batch src"``
            Word numbers, padded at the end.
        lengths : ``"batch"``
            How many real words each sentence has.

        Returns
        -------
        Encoded
            Annotations ``"batch src hid"``, and the last states and cells ``"batch layers hid"``.

        Raises
        ------
        ValueError
            If a length is below 1 or above `src`, or there is not one for each sentence.
        """
        annotations, (h, c) = _read(self.lstm, self.embedding(source), lengths)
        return Encoded(annotations, lengths, h[-1], (h.transpose(0, 1), c.transpose(0, 1)))


def _read(rnn: nn.RNNBase, x: Float[Tensor, "batch src emb"], lengths: Int[Tensor, "batch"]):
    check_lengths(lengths, x.shape[:2])
    packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
    states, last = rnn(packed)
    return pad_packed_sequence(states, batch_first=True, total_length=x.shape[1])[0], last
