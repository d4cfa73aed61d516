"""From words to annotations: what the encoder says of each word, given the words around it.

Padding never enters: the last state is the state after a sentence's own last word, the backward direction
begins there, and annotations of padding are 0.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from attnlib.alignment import sequence_mask
from attnlib.layers import Embedding, weight


class EncoderOutput(NamedTuple):
    """Hand to a decoder one vector for each word, 0 at padding; the sentences' lengths; and where it begins.

    The `summary` is the whole sentence in one vector, the last state of each direction; the `state`, batch first, is
    where the decoder's recurrence begins.
    """

    annotations: Float[Tensor, "batch src enc"]
    lengths: Int[Tensor, "batch"]
    summary: Float[Tensor, "batch enc"]
    initial_state: tuple[Tensor, ...]


class BidirectionalGRU(nn.Module):
    r"""Read the sentence in both directions, :math:`h_j = [\overrightarrow{h}_j; \overleftarrow{h}_j]`.

    The decoder begins at :math:`s_0 = \tanh(W_s \overleftarrow{h}_1)`: the backward state at the first word has
    read the whole sentence.

    Features: `emb` of a word's embedding, `hid` of a state in one direction, twice as many of an annotation, `dec` of
    the decoder's state.

    Bahdanau et al. 2015, section 3.2 and eq. 7; s_0 is in appendix A.2.2. Costs
    ``6 * batch * src * hid * (emb + hid)`` multiply-adds, `src` steps one after the other in each direction. The GRU is
    PyTorch's, which differs from the paper's: see `attnlib.layers.gru_step`.
    """

    def __init__(self, embedding: Embedding, hidden_size: int, decoder_size: int):
        super().__init__()
        self.embedding = embedding
        self.forward_rnn = nn.GRU(embedding.embedding_dim, hidden_size, batch_first=True)
        self.backward_rnn = nn.GRU(embedding.embedding_dim, hidden_size, batch_first=True)
        self.W_s = weight(decoder_size, hidden_size)

    def forward(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> EncoderOutput:
        """Annotate each word with ``2 * hid`` features; s_0 is the only state."""
        x = self.embedding(source)
        forwards = self.forward_rnn(x)[0]
        backwards = _reverse(self.backward_rnn(_reverse(x, lengths))[0], lengths)
        real = sequence_mask(lengths, source.shape[1])
        annotations = torch.where(real[:, :, None], torch.cat([forwards, backwards], 2), 0.0)
        s_0 = torch.tanh(linear(backwards[:, 0], self.W_s))
        summary = torch.cat([forwards[torch.arange(len(x), device=x.device), lengths - 1], backwards[:, 0]], 1)
        return EncoderOutput(annotations, lengths, summary, (s_0,))


class StackedLSTM(nn.Module):
    """Read the sentence in one direction through a stack of LSTMs; the top layer's states are the annotations.

    The decoder begins where each layer ended.

    With `reverse` it reads from the last word to the first, as the paper does by reversing the source; the annotations
    still come in the source's own order, so that positions and links keep their meaning. In training, `dropout` sets to
    0 a share of what one layer hands to the next.

    Luong et al. 2015, section 2; the top layer's states are in section 3, the reversed source in section 4.2. Costs
    ``4 * batch * src * hid * (emb + hid)`` multiply-adds for the first layer and ``8 * batch * src * hid²`` for each
    one above, `src` steps one after the other.
    """

    def __init__(
        self,
        embedding: Embedding,
        hidden_size: int,
        num_layers: int = 1,
        *,
        reverse: bool = False,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding, self.reverse = embedding, reverse
        between = dropout if num_layers > 1 else 0.0
        self.lstm = nn.LSTM(embedding.embedding_dim, hidden_size, num_layers, batch_first=True, dropout=between)

    def forward(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> EncoderOutput:
        """Annotate each word with `hid` features; the states are the last states and cells, ``"batch layers hid"``."""
        x = self.embedding(source)
        if not self.reverse:
            annotations, (h, c) = _read(self.lstm, x, lengths)
        else:
            annotations, (h, c) = _read(self.lstm, _reverse(x, lengths), lengths)
            annotations = _reverse(annotations, lengths)
        return EncoderOutput(annotations, lengths, h[:, -1], (h, c))


class BidirectionalLSTM(nn.Module):
    """Read the sentence in both directions through a stack of LSTMs, at the width of one.

    A state in one direction has ``hid / 2`` features, so that annotations and the decoder's first states are as wide
    as those of `StackedLSTM`: either suits the same decoder.

    Both directions of one layer are read by both of the next.

    Neither paper has it: it is Luong's LSTM, reading as Bahdanau's GRU does. A layer costs
    ``4 * batch * src * hid * (read + hid / 2)`` multiply-adds, `read` being `emb`, or `hid` above the first layer.
    """

    def __init__(self, embedding: Embedding, hidden_size: int, num_layers: int = 1, *, dropout: float = 0.0):
        if hidden_size % 2:
            raise ValueError(f"hidden_size is {hidden_size}; expected an even number, half of it for each direction")
        super().__init__()
        self.embedding, self.dropout = embedding, nn.Dropout(dropout)
        read = [embedding.embedding_dim] + [hidden_size] * (num_layers - 1)
        self.forward_rnn = nn.ModuleList(nn.LSTM(n, hidden_size // 2, batch_first=True) for n in read)
        self.backward_rnn = nn.ModuleList(nn.LSTM(n, hidden_size // 2, batch_first=True) for n in read)

    def forward(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> EncoderOutput:
        """Annotate each word as `StackedLSTM` does; its states and cells are those of both directions, side by side."""
        x, ends = self.embedding(source), []
        for layer, (forwards, backwards) in enumerate(zip(self.forward_rnn, self.backward_rnn, strict=True)):
            if layer:
                x = self.dropout(x)
            rightwards, right_end = _read(forwards, x, lengths)
            leftwards, left_end = _read(backwards, _reverse(x, lengths), lengths)
            x = torch.cat([rightwards, _reverse(leftwards, lengths)], 2)
            ends.append([torch.cat(both, 2) for both in zip(right_end, left_end, strict=True)])
        h, c = (torch.cat(layers, 1) for layers in zip(*ends, strict=True))
        return EncoderOutput(x, lengths, h[:, -1], (h, c))


def _reverse(x: Float[Tensor, "batch src f"], lengths: Int[Tensor, "batch"]) -> Float[Tensor, "batch src f"]:
    """Turn each sentence round, and leave its padding at the end."""
    i = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
    last = lengths[:, None] - 1
    return x.gather(1, torch.where(i > last, i, last - i)[:, :, None].expand_as(x))


def _read(
    lstm: nn.LSTM, x: Float[Tensor, "batch src emb"], lengths: Int[Tensor, "batch"]
) -> tuple[Float[Tensor, "batch src hid"], tuple[Tensor, Tensor]]:
    """Read up to the end of the shortest sentences, set these aside, and read on with the rest.

    Packed sequences do the same, but their backward pass writes zeros as large as the whole input at every step.
    """
    lengths, order = lengths.sort(descending=True, stable=True)
    x, back = x[order], order.argsort()
    ends, counts = lengths.flip(0).unique_consecutive(return_counts=True)
    states, done, carried, begin, n = [], [], None, 0, len(x)
    for end, ending in zip(ends.tolist(), counts.tolist(), strict=True):
        read, carried = lstm(x[:n, begin:end], carried)
        states.append(pad(read, (0, 0, 0, 0, 0, len(x) - n)))
        begin, n = end, n - ending
        done.insert(0, [c[:, n:] for c in carried])
        carried = tuple(c[:, :n].contiguous() for c in carried)
    states.append(x.new_zeros(len(x), x.shape[1] - begin, lstm.hidden_size))
    h, c = (torch.cat(rows, 1).index_select(1, back).transpose(0, 1) for rows in zip(*done, strict=True))
    return torch.cat(states, 1).index_select(0, back), (h, c)
