r"""Models between Bahdanau's and Luong's (chapter 4).

`hybrid` takes each part from one of the two papers:

================ ================================================ ===================================================
part             Bahdanau et al.                                  Luong et al.
================ ================================================ ===================================================
cell             GRU                                              LSTM
readout          maxout of s, y and c                             :math:`\tilde{s}_t`
input feeding    none                                             :math:`\tilde{s}_t`
initial state    :math:`s_0 = \tanh(W_s \overleftarrow{h}_1)`     the encoder's final state
encoder          bidirectional                                    backward, from the last word to the first
================ ================================================ ===================================================

The query, and what the output layer reads, is :math:`s_t`, as in Luong's model; in Bahdanau's it is :math:`s_{t-1}`.
With all of Luong's parts a hybrid computes the same as Luong's model.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.alignment import AttentionLayer
from attnlib.data import Tokenizer
from attnlib.decoders import Decoder, DecoderState, DeepOutput
from attnlib.encoders import BidirectionalGRU, BidirectionalLSTM, EncoderOutput, StackedLSTM
from attnlib.layers import Embedding, seeded, weight
from attnlib.mechanism import AttentionOutput, join
from attnlib.scores import Additive, General
from attnlib.seq2seq import EncoderDecoder
from attnlib.windows import GlobalWindow


class AttentionalOutput(nn.Module):
    r"""Output layer on an attentional state, :math:`W_o \tilde{s}` with :math:`\tilde{s} = \tanh(W_c [c; s])`.

    Notes
    -----
    Luong et al. 2015, equations 5 and 6.
    """

    def __init__(self, *, vocab_size: int, decoder_size: int, encoder_size: int):
        super().__init__()
        self.W_c, self.W_o = weight(decoder_size, encoder_size + decoder_size), weight(vocab_size, decoder_size)

    def features(
        self, s: Float[Tensor, "*batch dec"], y: Float[Tensor, "*batch emb"], c: Float[Tensor, "*batch enc"]
    ) -> Float[Tensor, "*batch dec"]:
        """Compute the attentional states; the embeddings of the previous words, `y`, are ignored."""
        return torch.tanh(linear(torch.cat([c, s], -1), self.W_c))


class Projected(nn.Module):
    r"""Projection of the backward direction's final state to an initial decoder state, :math:`s_0 = \tanh(W_s h)`.

    An LSTM's memory cell starts at 0.
    """

    def __init__(self, decoder_size: int, hidden_size: int):
        super().__init__()
        self.W_s = weight(decoder_size, hidden_size)

    def forward(self, h: Float[Tensor, "batch enc"]) -> tuple[Tensor, Tensor]:
        """Compute the initial state and memory cell from the final states of both directions."""
        s_0 = torch.tanh(linear(h[:, -self.W_s.shape[1] :], self.W_s))
        return s_0, torch.zeros_like(s_0)


class HybridDecoder(Decoder):
    r"""A decoder whose new state is the query, with parts from the table at the top of this module.

    :math:`s_t = \mathrm{cell}(s_{t-1}, [y_{t-1}; f_{t-1}])` and :math:`c_t = \mathrm{align}(s_t)`, where the fed
    :math:`f_t` is :math:`c_t` or what the output layer reads, and :math:`f_0 = 0`.

    Parameters
    ----------
    attention : AttentionLayer
        Score and window.
    cell : nn.GRUCell or nn.LSTMCell
        Recurrent cell, whose input is an embedding and the fed vector.
    embedding : Embedding
        Embedding of target words.
    readout : AttentionalOutput or DeepOutput
        Output layer.
    begin : Projected, optional
        Projection to the initial state. If None, the encoder's initial state is used, which must have one layer.
    feeds_readout : bool, default False
        Whether the fed vector is the output layer's input. Otherwise it is the context.
    """

    def __init__(
        self,
        attention: AttentionLayer,
        cell: nn.GRUCell | nn.LSTMCell,
        embedding: Embedding,
        readout: AttentionalOutput | DeepOutput,
        begin: Projected | None = None,
        *,
        feeds_readout: bool = False,
    ):
        super().__init__()
        self.attention, self.cell, self.embedding, self.readout, self.begin = attention, cell, embedding, readout, begin
        self.feeds_readout, self.fed = feeds_readout, cell.input_size - embedding.embedding_dim

    def start(self, encoded: EncoderOutput) -> DecoderState:
        """Return the initial state, in which the fed vector is 0."""
        state = super().start(encoded)
        s_0, *cell = (x.flatten(1) for x in state.cache)
        if self.begin:
            s_0, *cell = self.begin(s_0)
        return state._replace(cache=(s_0, *cell, s_0.new_zeros(len(s_0), self.fed)))

    def step(
        self, ids: Int[Tensor, "batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], AttentionOutput, DecoderState]:
        """Compute the scores of the next word from the previous word."""
        y_before = self.embedding(ids)
        attended, after = self._next(y_before, state)
        s, *_, fed = after.cache
        read = fed if self.feeds_readout else self.readout.features(s, y_before, fed)
        return linear(read, self.readout.W_o), attended, after

    def _next(self, y_before, state):
        """Return the attention output and the decoder state of one step."""
        *states, fed = state.cache
        x = torch.cat([y_before, fed], 1)
        s, *cell = self.cell(x, states) if len(states) > 1 else (self.cell(x, *states),)
        attended = self.attention.at(state.position, s, state.memory)
        c = attended.context.squeeze(1)
        fed = self.readout.features(s, y_before, c) if self.feeds_readout else c
        return attended, DecoderState(state.memory, (s, *cell, fed), state.position + 1)

    def features(self, ids, encoded):
        """Compute what the output layer reads, one step at a time."""
        y, state = self.embedding(ids), self.start(encoded)
        states, outputs = [], []
        for y_before in y.unbind(1):
            attended, state = self._next(y_before, state)
            states.append(state.cache[0])
            outputs.append(attended)
        attended = join(outputs)
        return self.readout.features(torch.stack(states, 1), y, attended.context), self.readout.W_o, attended


def hybrid(
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    encoder: str = "gru",
    encoder_ratio: int = 2,
    bridge: bool = True,
    score: str = "additive",
    maxout: bool = True,
    feeds_readout: bool = False,
    embedding_dim: int = 64,
    hidden_size: int = 128,
    seed: int = 0,
) -> EncoderDecoder:
    """Build a model between Bahdanau's and Luong's.

    The defaults are Bahdanau's, except that the new state is the query and is read by the output layer.

    Parameters
    ----------
    source_vocabulary, target_vocabulary : Vocabulary or Subwords
        The vocabularies.
    encoder : {"gru", "bidirectional", "backward"}, default "gru"
        A bidirectional GRU, with a GRU as decoder; or a bidirectional LSTM or one that reads from the last word to the
        first, with an LSTM as decoder.
    encoder_ratio : int, default 2
        Size of an annotation, relative to a decoder state: 1 with the encoder "backward", otherwise 2.
    bridge : bool, default True
        Whether the initial state is a projection of the final state of the backward direction. With the encoder
        "backward", and only there, it is that state itself.
    score : {"additive", "general"}, default "additive"
        Attention score.
    maxout : bool, default True
        Whether the output layer reads a maxout layer of ``hidden_size // 2`` units. Otherwise it reads an attentional
        state.
    feeds_readout : bool, default False
        Whether the input of the output layer is fed to the next step. Otherwise it is the context.
    embedding_dim, hidden_size : int, default 64 and 128
        Sizes of an embedding and of a decoder state.
    seed : int, default 0
        Seed of the initial weights.
    """
    backward = encoder == "backward"
    if (encoder_ratio, bridge) != ((1, False) if backward else (2, True)):
        expected = "1 and False" if backward else "2 and True"
        raise ValueError(f"encoder is {encoder!r}, encoder_ratio {encoder_ratio}, bridge {bridge}; expected {expected}")
    encoder_size = encoder_ratio * hidden_size
    encoders = {
        "gru": lambda embedding: BidirectionalGRU(embedding, hidden_size, hidden_size),
        "bidirectional": lambda embedding: BidirectionalLSTM(embedding, encoder_size),
        "backward": lambda embedding: StackedLSTM(embedding, encoder_size, reverse=True),
    }
    scores = {
        "additive": lambda: Additive(hidden_size, encoder_size, hidden_size),
        "general": lambda: General(hidden_size, encoder_size),
    }
    fed = (hidden_size // 2 if maxout else hidden_size) if feeds_readout else encoder_size
    output = {"vocab_size": len(target_vocabulary), "decoder_size": hidden_size, "encoder_size": encoder_size}
    with seeded(seed):  # parts are drawn in the order in which those of the recorded runs were
        attention = AttentionLayer(scores[score](), GlobalWindow())
        encoder_module = encoders[encoder](Embedding(len(source_vocabulary), embedding_dim))
        cell = (nn.GRUCell if encoder == "gru" else nn.LSTMCell)(embedding_dim + fed, hidden_size)
        embedding = Embedding(len(target_vocabulary), embedding_dim)
        deep = {"embedding_dim": embedding_dim, "maxout": hidden_size // 2}
        readout = DeepOutput(**output, **deep) if maxout else AttentionalOutput(**output)
        begin = Projected(hidden_size, hidden_size) if encoder == "bidirectional" else None
    decoder = HybridDecoder(attention, cell, embedding, readout, begin, feeds_readout=feeds_readout)
    return EncoderDecoder(encoder_module, decoder, source_vocabulary, target_vocabulary)
