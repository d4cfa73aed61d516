"""From words to annotations (chapters 2 and 3): a vector for each word, computed from all words around it.

Padding never enters: the last state is the state after a sentence's own last word, the backward direction
begins there, and annotations of padding are 0.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from attnlib.alignment import sequence_mask
from attnlib.layers import Embedding, stacked_lstm, weight


class EncoderOutput(NamedTuple):
    """Output of an encoder: annotations, lengths, and initial decoder state.

    Attributes
    ----------
    annotations
        One vector per word, 0 at padding.
    lengths
        The number of ids of each sentence, `EOS` included.
    summary
        The whole sentence in one vector: the last state of each direction. The decoder of `attnlib.presets.rnn_encdec`
        reads this at every step, instead of annotations.
    initial_state : tuple of tensor, batch first
        The first states of the decoder: for a GRU one, for an LSTM state and cell.

    Examples
    --------
    >>> from attnlib import Vocabulary, encode_batch, rnn_search
    >>> words = Vocabulary(("a", "b"))
    >>> output = rnn_search(words, words, hidden_size=8).encoder(*encode_batch([["a", "b"]], words))
    >>> type(output).__name__, output.annotations.shape, output.lengths.tolist()
    ('EncoderOutput', torch.Size([1, 3, 16]), [3])
    """

    annotations: Float[Tensor, "batch src enc"]
    lengths: Int[Tensor, "batch"]
    summary: Float[Tensor, "batch enc"]
    initial_state: tuple[Tensor, ...]


class BidirectionalGRU(nn.Module):
    r"""Bidirectional GRU encoder, :math:`h_j = [\overrightarrow{h}_j; \overleftarrow{h}_j]`.

    The initial decoder state is :math:`s_0 = \tanh(W_s \overleftarrow{h}_1)`. The backward state at the first word has
    read the whole sentence.

    Parameters
    ----------
    embedding : Embedding
        The source embedding, `emb` features per word.
    hidden_size : int
        Features `hid` of a state in one direction. An annotation has twice as many.
    decoder_size : int
        Features of a decoder state.

    Notes
    -----
    Bahdanau et al. 2015, section 3.2 and eq. 7; s_0 is in appendix A.2.2. Costs
    ``6 * batch * src * hid * (emb + hid)`` multiply-adds, in `src` sequential steps per direction. The GRU is
    PyTorch's, which differs from the paper's: see `attnlib.layers.gru_step`.
    """

    def __init__(self, embedding: Embedding, hidden_size: int, decoder_size: int):
        super().__init__()
        self.embedding = embedding
        self.forward_rnn = nn.GRU(embedding.embedding_dim, hidden_size, batch_first=True)
        self.backward_rnn = nn.GRU(embedding.embedding_dim, hidden_size, batch_first=True)
        self.W_s = weight(decoder_size, hidden_size)

    def forward(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> EncoderOutput:
        """Compute annotations with ``2 * hid`` features; s_0 is the only initial state."""
        x = self.embedding(source)
        forwards = self.forward_rnn(x)[0]
        backwards = _reverse(self.backward_rnn(_reverse(x, lengths))[0], lengths)
        real = sequence_mask(lengths, source.shape[1])
        annotations = torch.where(real[:, :, None], torch.cat([forwards, backwards], 2), 0.0)
        # The backward state at the first word has read the whole sentence, and no padding.
        s_0 = torch.tanh(linear(backwards[:, 0], self.W_s))
        # The forward state after each sentence's own last word, at lengths - 1: after that the GRU has read padding.
        summary = torch.cat([forwards[torch.arange(len(x), device=x.device), lengths - 1], backwards[:, 0]], 1)
        return EncoderOutput(annotations, lengths, summary, (s_0,))


class StackedLSTM(nn.Module):
    """Unidirectional encoder of stacked LSTMs; annotations are the states of the top layer.

    The initial decoder states are the last states of each layer.

    Parameters
    ----------
    embedding : Embedding
        The source embedding, `emb` features per word.
    hidden_size : int
        Features `hid` of a state and of an annotation.
    num_layers : int, default 1
        Number of LSTMs.
    reverse : bool, default False
        Read from the last word to the first, as the paper does by reversing the source. Annotations keep the order of
        the source, so that positions and links keep their meaning.
    dropout : float, default 0.0
        Share of the features between layers that is set to 0 in training.

    Notes
    -----
    Luong et al. 2015, section 2; the top layer's states are in section 3, the reversed source in section 4.2. Costs
    ``4 * batch * src * hid * (emb + hid)`` multiply-adds for the first layer and ``8 * batch * src * hid²`` for each
    one above, in `src` sequential steps.
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
        self.lstm = stacked_lstm(embedding.embedding_dim, hidden_size, num_layers, dropout)

    def forward(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> EncoderOutput:
        """Compute annotations with `hid` features.

        The initial state is the last states and cells, shape (batch, layers, hid) each.
        """
        x = self.embedding(source)
        annotations, (h, c) = _run(self.lstm, _reverse(x, lengths) if self.reverse else x, lengths)
        annotations = _reverse(annotations, lengths) if self.reverse else annotations
        return EncoderOutput(annotations, lengths, h[:, -1], (h, c))


class BidirectionalLSTM(nn.Module):
    """Bidirectional encoder of stacked LSTMs, with annotations as wide as those of `StackedLSTM`.

    Both directions of one layer are read by both directions of the next.

    Parameters
    ----------
    embedding, num_layers, dropout
        As for `StackedLSTM`.
    hidden_size : int
        Features `hid` of an annotation, an even number. A state in one direction has ``hid / 2``.

    Notes
    -----
    Neither paper has this encoder: it is Luong's LSTM, reading as Bahdanau's GRU does. A layer costs
    ``4 * batch * src * hid * (size + hid / 2)`` multiply-adds, where `size` is `emb`, or `hid` above the first layer.
    """

    def __init__(self, embedding: Embedding, hidden_size: int, num_layers: int = 1, *, dropout: float = 0.0):
        if hidden_size % 2:
            raise ValueError(f"hidden_size is {hidden_size}; expected an even number, half of it for each direction")
        super().__init__()
        self.embedding, self.dropout = embedding, nn.Dropout(dropout)
        sizes = [embedding.embedding_dim] + [hidden_size] * (num_layers - 1)
        self.forward_rnn = nn.ModuleList(nn.LSTM(n, hidden_size // 2, batch_first=True) for n in sizes)
        self.backward_rnn = nn.ModuleList(nn.LSTM(n, hidden_size // 2, batch_first=True) for n in sizes)

    def forward(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> EncoderOutput:
        """Compute annotations with `hid` features.

        The initial state is the last states and cells of both directions side by side, shape (batch, layers, hid) each.
        """
        x, ends = self.embedding(source), []
        for layer, (forwards, backwards) in enumerate(zip(self.forward_rnn, self.backward_rnn, strict=True)):
            if layer:
                x = self.dropout(x)
            rightwards, right_end = _run(forwards, x, lengths)
            leftwards, left_end = _run(backwards, _reverse(x, lengths), lengths)
            x = torch.cat([rightwards, _reverse(leftwards, lengths)], 2)
            ends.append([torch.cat(both, 2) for both in zip(right_end, left_end, strict=True)])
        h, c = (torch.cat(layers, 1) for layers in zip(*ends, strict=True))
        return EncoderOutput(x, lengths, h[:, -1], (h, c))


def _reverse(x: Float[Tensor, "batch src f"], lengths: Int[Tensor, "batch"]) -> Float[Tensor, "batch src f"]:
    """Reverse each sentence, and leave its padding at the end."""
    i = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
    last = lengths[:, None] - 1
    # Word i goes to the place of word S - 1 - i; padding, i > S - 1, stays where it is.
    return x.gather(1, torch.where(i > last, i, last - i)[:, :, None].expand_as(x))


def _run(
    lstm: nn.Module, x: Float[Tensor, "batch src emb"], lengths: Int[Tensor, "batch"]
) -> tuple[Float[Tensor, "batch src hid"], tuple[Tensor, Tensor]]:
    """Read up to the end of the shortest sentences, set them aside, and continue with the others."""
    # The plain way is to call the LSTM on each sentence alone, without its padding. Here one call reads all sentences
    # together, the longest in the first row, up to the end of the shortest. The shortest is then complete: its last
    # state is set aside, and the next call continues with the rows above it. Sentences of three, two, and two words
    # take two calls: three rows of two words, then one row of one word. Packed sequences do the same, but their
    # backward pass writes zeros as large as the whole input at every step.
    lengths, order = lengths.sort(descending=True, stable=True)
    x, back = x[order], order.argsort()
    ends, counts = lengths.flip(0).unique_consecutive(return_counts=True)
    states: list[Tensor] = []
    done: list[list[Tensor]] = []
    state, begin, n = None, 0, len(x)
    for end, ending in zip(ends.tolist(), counts.tolist(), strict=True):
        output, state = lstm(x[:n, begin:end], state)
        states.append(pad(output, (0, 0, 0, 0, 0, len(x) - n)))
        begin, n = end, n - ending
        done.insert(0, [c[:, n:] for c in state])
        state = tuple(c[:, :n].contiguous() for c in state)
    states.append(x.new_zeros(len(x), x.shape[1] - begin, states[0].shape[2]))
    h, c = (torch.cat(rows, 1).index_select(1, back).transpose(0, 1) for rows in zip(*done, strict=True))
    return torch.cat(states, 1).index_select(0, back), (h, c)
