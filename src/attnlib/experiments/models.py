r"""The models that the papers do not have: between Bahdanau's and Luong's, and Luong's with a part exchanged.

`hybrid` takes each part from the one paper or from the other:

================ ================================================ ===================================================
part             as Bahdanau has it                               as Luong has it
================ ================================================ ===================================================
who asks         :math:`s_{t-1}`; :math:`c_t` enters the step     :math:`s_t`; what is fed back enters the next step
cell             GRU                                              LSTM
readout          maxout of s, y and c                             :math:`\tilde{s}_t`
fed back         nothing                                          :math:`\tilde{s}_t`
begins           :math:`s_0 = \tanh(W_s \overleftarrow{h}_1)`     where the encoder ended
encoder reads    in both directions                               from the last word to the first
================ ================================================ ===================================================

The output reads :math:`s_t`, as Luong has it; Bahdanau's reads :math:`s_{t-1}`. If the state before asks, the decoder
is a `BahdanauDecoder`. Otherwise it is a `HybridDecoder`, which with all of Luong's parts computes what theirs does.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.alignment import AttentionLayer
from attnlib.attention import AttentionOutput, join
from attnlib.checks import check_choice, check_whole
from attnlib.data import Tokenizer
from attnlib.decoders import BahdanauDecoder, Decoder, DecoderState, DeepOutput
from attnlib.encoders import BidirectionalGRU, BidirectionalLSTM, EncoderOutput, StackedLSTM
from attnlib.layers import Embedding, gru_step, lstm_step, seeded, weight
from attnlib.scores import Additive, Concat, General
from attnlib.seq2seq import EncoderDecoder, luong
from attnlib.windows import GlobalWindow


class AttentionalOutput(nn.Module):
    r"""Score the next word by :math:`W_y \tilde{s}`, :math:`\tilde{s} = \tanh(W_c [c; s])` (Luong et al., eq. 5, 6)."""

    def __init__(self, *, vocab_size: int, decoder_size: int, encoder_size: int):
        super().__init__()
        self.W_c, self.W_y = weight(decoder_size, encoder_size + decoder_size), weight(vocab_size, decoder_size)

    def read(
        self, s: Float[Tensor, "*batch dec"], y: Float[Tensor, "*batch emb"], c: Float[Tensor, "*batch enc"]
    ) -> Float[Tensor, "*batch dec"]:
        """Compute what the scores are made from; the word before, `y`, has no part in it."""
        return torch.tanh(linear(torch.cat([c, s], -1), self.W_c))

    @property
    def output_weight(self) -> Float[Tensor, "vocab dec"]:
        """Name the weights of the output layer."""
        return self.W_y


class Projected(nn.Module):
    r"""Begin at :math:`s_0 = \tanh(W_s h)`, `h` being where the reader from right to left ended; a memory cell at 0."""

    def __init__(self, decoder_size: int, hidden_size: int):
        super().__init__()
        self.W_s = weight(decoder_size, hidden_size)

    def forward(self, h: Float[Tensor, "batch enc"]) -> tuple[Tensor, Tensor]:
        """Turn the encoder's last state, of which the last features are read, into the decoder's first."""
        s_0 = torch.tanh(linear(h[:, -self.W_s.shape[1] :], self.W_s))
        return s_0, torch.zeros_like(s_0)


class HybridDecoder(Decoder):
    r"""A decoder whose new state asks, of the parts in the table at the top of this module.

    :math:`s_t = \mathrm{cell}(s_{t-1}, [y_{t-1}; f_{t-1}])` and :math:`c_t = \mathrm{align}(s_t)`, where the fed
    :math:`f_t` is :math:`c_t` or what the output layer reads, and :math:`f_0 = 0`.

    Parameters
    ----------
    cell : nn.GRUCell or nn.LSTMCell
        From the features of an embedding and of what is fed, to those of a state.
    begin : Projected, optional
        None: begin where the encoder says, one layer high.
    feeds_readout : bool
        Feed what the output layer reads.
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
        """Begin where the encoder says, or at a projection of that; what is fed first is 0."""
        s_0, *cell = (x.flatten(1) for x in encoded.initial_state)
        if self.begin:
            s_0, *cell = self.begin(s_0)
        memory = self.attention.precompute(encoded.annotations, encoded.lengths)
        return DecoderState(memory, (s_0, *cell, s_0.new_zeros(len(s_0), self.fed)), 0)

    def step(
        self, ids: Int[Tensor, "batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], AttentionOutput, DecoderState]:
        """Take the word before and score the next one."""
        y_before = self.embedding(ids)
        attended, after = self._next(self._words_share(y_before), y_before, state)
        s, *_, fed = after.cache
        read = fed if self.feeds_readout else self.readout.read(s, y_before, fed)
        return linear(read, self.output_weight), attended, after

    def _words_share(self, y):
        """Multiply the words beforehand: they wait for no step."""
        lstm = isinstance(self.cell, nn.LSTMCell)
        return linear(y, self.cell.weight_ih[:, : y.shape[-1]], self.cell.bias_ih + self.cell.bias_hh * lstm)

    def _next(self, x, y_before, state):
        """Step, and return where the new state looked, and the state of all."""
        s_before, *cell, fed = state.cache
        W_hh = self.cell.weight_hh
        x = torch.addmm(x, fed, self.cell.weight_ih[:, -self.fed :].T)
        if cell:
            s, *cell = lstm_step(x, s_before, *cell, W_hh)
        else:
            s = gru_step(x, s_before, W_hh, self.cell.bias_hh)
        attended = self.attention.at(state.position, s, state.memory)
        c = attended.context.squeeze(1)
        fed = self.readout.read(s, y_before, c) if self.feeds_readout else c
        return attended, DecoderState(state.memory, (s, *cell, fed), state.position + 1)

    def extract_features(
        self, ids: Int[Tensor, "batch tgt"], encoded: EncoderOutput
    ) -> tuple[Float[Tensor, "batch tgt read"], AttentionOutput]:
        """Compute what the output layer reads, at all positions, given for each the word before."""
        y, state = self.embedding(ids), self.start(encoded)
        states, outputs = [], []
        for x, y_before in zip(self._words_share(y).unbind(1), y.unbind(1), strict=True):
            look, state = self._next(x, y_before, state)
            states.append(state.cache[0])
            outputs.append(look)
        attended = join(outputs)
        return self.readout.read(torch.stack(states, 1), y, attended.context), attended


class LastStateDecoder(Decoder):
    r"""Begin where the encoder ended, and never look back (Luong et al. 2015, section 2).

    :math:`s_t = \mathrm{LSTM}(s_{t-1}, y_{t-1})`, and :math:`W_y s_t` scores the next word:
    ``4 * dec * (emb + dec) + vocab * dec`` multiply-adds.
    """

    has_attention = False

    def __init__(self, embedding: Embedding, *, decoder_size: int):
        super().__init__()
        self.embedding = embedding
        vocab, emb = embedding.weight.shape
        self.lstm = nn.LSTM(emb, decoder_size, batch_first=True)
        self.W_y = weight(vocab, decoder_size)

    def step(
        self, ids: Int[Tensor, "batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], None, DecoderState]:
        """Take the word before and score the next one."""
        s, after = self._read(self.embedding(ids)[:, None], state.cache)
        return linear(s[:, 0], self.W_y), None, DecoderState(state.memory, after, state.position + 1)

    def _read(self, y, recurrent):
        s, after = self.lstm(y, tuple(x.transpose(0, 1).contiguous() for x in recurrent))
        return s, tuple(x.transpose(0, 1) for x in after)

    @property
    def output_weight(self) -> Float[Tensor, "vocab dec"]:
        """Name the weights of the output layer."""
        return self.W_y

    def extract_features(
        self, ids: Int[Tensor, "batch tgt"], encoded: EncoderOutput
    ) -> tuple[Float[Tensor, "batch tgt dec"], None]:
        """Compute the states at all positions, given for each the word before."""
        return self._read(self.embedding(ids), encoded.initial_state)[0], None


class ConcatWithIdentity(Concat):
    r"""Concat's score, its matrix for annotations being the identity, :math:`v_a \cdot \tanh(W_a s + h)`.

    It is what the experiments of Luong et al. 2015 had: section 5.2, on why their concat score may do badly.
    """

    def __init__(self, concat: Concat):
        nn.Module.__init__(self)
        self.dec = concat.dec
        self.W_a, self.v_a = nn.Parameter(concat.W_a[:, : concat.dec].detach().clone()), concat.v_a

    def project_keys(self, h: Float[Tensor, "*batch src att"]) -> Float[Tensor, "*batch src att"]:
        """Keep the annotations as they are."""
        return h


def hybrid(
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    query_from: str = "new",
    encoder: str = "gru",
    encoder_ratio: int | float = 2,
    bridge: bool = True,
    score: str = "additive",
    maxout: bool = True,
    input_feed: str = "context",
    embedding_dim: int = 64,
    hidden_size: int = 128,
    seed: int = 0,
) -> EncoderDecoder:
    """Make a model between Bahdanau's and Luong's. The defaults are Bahdanau's, but the new state asks and is read.

    Parameters
    ----------
    query_from : {"new", "previous"}
        The state that is the query. With "previous", as in `BahdanauDecoder`, the decoder has a GRU and a maxout layer.
    encoder : {"gru", "bidirectional", "backward"}
        A bidirectional GRU, with a GRU as decoder; or a bidirectional LSTM, or one that reads from the last word to the
        first, with an LSTM as decoder.
    encoder_ratio : number
        Features of an annotation for each of a decoder state. The encoder "gru" always has 2, one for each direction.
    bridge : bool
        Whether the decoder begins at a projection of the last state of the backward direction. Otherwise it begins at
        that state itself, which needs the encoder "backward" with ratio 1. The encoder "gru" always has a bridge.
    score : str
        "additive" or "general".
    maxout : bool
        The output reads a maxout layer of ``hidden_size // 2`` units; otherwise an attentional state.
    input_feed : {"context", "readout"}
        What the next step is given: the context, or what the output layer reads.

    Raises
    ------
    ValueError
        If `query_from`, `encoder`, `score` or `input_feed` is none of these names, or the parts do not fit.
    """
    check_whole(2, hidden_size=hidden_size)
    encoder_size = round(encoder_ratio * hidden_size)
    encoders = {
        "gru": lambda embedding: BidirectionalGRU(embedding, hidden_size, hidden_size),
        "bidirectional": lambda embedding: BidirectionalLSTM(embedding, encoder_size),
        "backward": lambda embedding: StackedLSTM(embedding, encoder_size, reverse=True),
    }
    scores = {
        "additive": lambda: Additive(hidden_size, encoder_size, hidden_size),
        "general": lambda: General(hidden_size, encoder_size),
    }
    check_choice(("new", "previous"), query_from=query_from)
    check_choice(encoders, encoder=encoder)
    check_choice(scores, score=score)
    check_choice(("context", "readout"), input_feed=input_feed)
    feeds_readout, queries_before = input_feed == "readout", query_from == "previous"
    _check_fit(encoder, encoder_ratio, bridge, queries_before, plain=maxout and not feeds_readout)
    fed = (hidden_size // 2 if maxout else hidden_size) if feeds_readout else encoder_size
    sizes = {"decoder_size": hidden_size, "encoder_size": encoder_size}
    output = {"vocab_size": len(target_vocabulary), **sizes}
    with seeded(seed):  # parts are drawn in the order in which those of the recorded runs were
        attention = AttentionLayer(scores[score](), GlobalWindow())
        reader = encoders[encoder](Embedding(len(source_vocabulary), embedding_dim))
        cell = (nn.GRUCell if encoder == "gru" else nn.LSTMCell)(embedding_dim + fed, hidden_size)
        embedding = Embedding(len(target_vocabulary), embedding_dim)
        deep = {"embedding_dim": embedding_dim, "maxout": hidden_size // 2}
        readout = DeepOutput(**output, **deep) if maxout else AttentionalOutput(**output)
        backward = encoder_size // 2 if encoder == "bidirectional" else encoder_size
        begin = Projected(hidden_size, backward) if bridge and encoder != "gru" else None
        decoder = HybridDecoder(attention, cell, embedding, readout, begin, feeds_readout=feeds_readout)
        if queries_before:
            decoder = BahdanauDecoder(attention, embedding, **sizes, maxout=hidden_size // 2, reads_new_state=True)
            decoder.cell, decoder.readout = cell, readout
    return EncoderDecoder(reader, decoder, source_vocabulary, target_vocabulary)


def _check_fit(encoder, encoder_ratio, bridge, queries_before, *, plain):
    if encoder == "gru" and encoder_ratio != 2:
        raise ValueError(f"encoder_ratio is {encoder_ratio}; expected 2 with the encoder 'gru', one for each direction")
    if not bridge and (encoder, encoder_ratio) != ("backward", 1):
        raise ValueError("bridge is False; expected the encoder 'backward' and encoder_ratio 1")
    if queries_before and not (encoder == "gru" and plain):
        raise ValueError("query_from is 'previous'; expected the encoder 'gru', a maxout layer, and the context fed")


def luong_without_attention(
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    embedding_dim: int = 64,
    hidden_size: int = 128,
    seed: int = 0,
) -> EncoderDecoder:
    """Make Luong's model without attention: the decoder begins where the reversed reader ended, and sees no more."""
    with seeded(seed):
        encoder = StackedLSTM(Embedding(len(source_vocabulary), embedding_dim), hidden_size, reverse=True)
        decoder = LastStateDecoder(Embedding(len(target_vocabulary), embedding_dim), decoder_size=hidden_size)
    return EncoderDecoder(encoder, decoder, source_vocabulary, target_vocabulary)


def luong_with_identity(source_vocabulary: Tokenizer, target_vocabulary: Tokenizer, **options: Any) -> EncoderDecoder:
    """Make Luong's model with the concat score, whose half of W_a for the annotations is the identity."""
    model = luong(source_vocabulary, target_vocabulary, **options, score="concat")
    model.decoder.attention.score = ConcatWithIdentity(model.decoder.attention.score)
    return model
