"""One decoder step each, and how the steps are chained (chapters 2 and 3).

Every `Decoder` offers the same methods. ``start(encoded)`` gives the `DecoderState` before the first word,
``step(ids, state)`` takes the word before and scores the next one, and calling the decoder scores all words at once
when they are known beforehand (teacher forcing).

A `step` is the paper's equations, one per line. Teacher forcing, where dropout has its place if there is any, computes
the same numbers faster: only what depends on the step before is done one step at a time. That is nothing in
`FixedContextDecoder`, in `LSTMDecoder` and in `LuongDecoder` without input feeding, attention and cell in
`BahdanauDecoder`, and everything but the output layer in `LuongDecoder` with it.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.alignment import AttentionLayer
from attnlib.encoders import EncoderOutput
from attnlib.layers import Embedding, cast_for_steps, gru_step, lstm_step, stacked_lstm, weight
from attnlib.mechanism import AttentionOutput, join


class DecoderState(NamedTuple):
    """The state of a decoder after some target words.

    Attributes
    ----------
    memory : Memory or tensor
        The source, the same at every step. Without attention, the summary.
    cache : tuple of tensor, batch first
        The recurrent states, or what else depends on the words so far.
    position : int
        The number of words so far.
    """

    memory: Any
    cache: tuple[Tensor, ...]
    position: int

    def select(self, rows: Int[Tensor, "chosen"], *, same_sources: bool = False) -> "DecoderState":
        """Return the chosen rows of the batch only, in that order; a row may be chosen several times.

        If they have the `same_sources` as all rows have now, in the same order, the memory stays as it is.
        """
        memory = self.memory
        if not same_sources:
            memory = memory.index_select(0, rows) if isinstance(memory, Tensor) else memory.select(rows)
        return DecoderState(memory, tuple(x.index_select(0, rows) for x in self.cache), self.position)


class Decoder(nn.Module):
    """Base class of decoders; subclasses define `step`, and what `forward` computes up to the output layer.

    The `step` of a decoder that `has_attention` returns an `attnlib.mechanism.AttentionOutput`; that of another returns
    None. The base class's `start` needs an attribute `attention`, an `attnlib.alignment.AttentionLayer`, if the decoder
    `has_attention`; the attention of a Transformer is in its layers instead.
    """

    has_attention = True
    attention: AttentionLayer

    def start(self, encoded: EncoderOutput) -> DecoderState:
        """Return the state before the first word, from the output of the encoder."""
        if not self.has_attention:
            return DecoderState(encoded.summary, encoded.initial_state, 0)
        memory = self.attention.precompute(encoded.annotations, encoded.lengths)
        return DecoderState(memory, encoded.initial_state, 0)

    def forward(
        self, ids: Int[Tensor, "batch tgt"], encoded: EncoderOutput
    ) -> tuple[Float[Tensor, "batch tgt vocab"], AttentionOutput | None]:
        """Compute the scores of all words at all positions, given the word before each (teacher forcing).

        Parameters
        ----------
        ids
            The word before each target word, BOS at first.
        encoded : EncoderOutput
            The output of the encoder.

        Returns
        -------
        tuple
            Scores, and the attention of all steps: None without attention.
        """
        features, weight, attended = self.features(ids, encoded)
        return linear(features, weight), attended

    def features(
        self, ids: Int[Tensor, "batch tgt"], encoded: EncoderOutput
    ) -> tuple[Float[Tensor, "batch tgt feat"], Float[Tensor, "vocab feat"], AttentionOutput | None]:
        """Return what the output layer multiplies at all positions, the layer's weight, and the attention."""
        raise NotImplementedError


class DeepOutput(nn.Module):
    r"""Output layer with one maxout layer, :math:`W_o\,\mathrm{maxout}(U_o s + V_o y + C_o c)`.

    Parameters
    ----------
    vocab_size : int
        Words of the vocabulary.
    embedding_dim, decoder_size, encoder_size : int
        Features of an embedding, of a decoder state, and of an annotation.
    maxout : int
        Units of the maxout layer, each the larger of two numbers.

    Notes
    -----
    Bahdanau et al. 2015, eq. 4 and appendix A.2.2. Costs
    ``2 * maxout * (dec + emb + enc) + vocab * maxout`` multiply-adds per word.
    """

    def __init__(self, *, vocab_size: int, embedding_dim: int, decoder_size: int, encoder_size: int, maxout: int):
        super().__init__()
        self.U_o, self.V_o = weight(2 * maxout, decoder_size), weight(2 * maxout, embedding_dim)
        self.C_o, self.W_o = weight(2 * maxout, encoder_size), weight(vocab_size, maxout)

    def forward(
        self, s: Float[Tensor, "*batch dec"], y: Float[Tensor, "*batch emb"], c: Float[Tensor, "*batch enc"]
    ) -> Float[Tensor, "*batch vocab"]:
        """Compute the score of every word from states, the embeddings of the words before, and contexts."""
        return linear(self.features(s, y, c), self.W_o)

    def features(
        self, s: Float[Tensor, "*batch dec"], y: Float[Tensor, "*batch emb"], c: Float[Tensor, "*batch enc"]
    ) -> Float[Tensor, "*batch maxout"]:
        """Compute the maxout layer, the features that W_o multiplies."""
        pre_maxout = linear(s, self.U_o) + linear(y, self.V_o) + linear(c, self.C_o)
        # Unit j is the larger of numbers 2j and 2j + 1: W_o scores features that compete in pairs.
        return torch.maximum(pre_maxout[..., 0::2], pre_maxout[..., 1::2])


class FixedContextDecoder(Decoder):
    r"""Decoder without attention; the context at every step is the summary of the sentence.

    :math:`s_t = \mathrm{GRU}(s_{t-1}, [y_{t-1}; c])`, then `DeepOutput` of :math:`s_{t-1}, y_{t-1}, c`.

    Parameters
    ----------
    embedding : Embedding
        The target embedding.
    decoder_size, encoder_size : int
        Features of a decoder state, and of the summary.
    maxout : int
        Units of the maxout layer.
    dropout : float, default 0.0
        Share of the maxout layer that is set to 0 in training.

    Notes
    -----
    The RNNencdec of Bahdanau et al. 2015, section 2.1 and appendix A.2.2, after Cho et al. 2014. As in
    `BahdanauDecoder`, the output layer reads the previous state; section 2.1, eq. 3, has the new one. The GRU is
    PyTorch's, which differs from the papers': see `attnlib.layers.gru_step`. All steps are one call of it,
    ``3 * dec * (emb + enc + dec)`` multiply-adds per word, plus the output's.
    """

    has_attention = False

    def __init__(
        self, embedding: Embedding, *, decoder_size: int, encoder_size: int, maxout: int, dropout: float = 0.0
    ):
        super().__init__()
        self.embedding, self.dropout = embedding, nn.Dropout(dropout)
        vocab, emb = embedding.weight.shape
        self.gru = nn.GRU(emb + encoder_size, decoder_size, batch_first=True)
        sizes = {"decoder_size": decoder_size, "encoder_size": encoder_size, "maxout": maxout}
        self.readout = DeepOutput(vocab_size=vocab, embedding_dim=emb, **sizes)

    def step(
        self, ids: Int[Tensor, "batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], None, DecoderState]:
        """Compute the scores of the next word (Bahdanau et al. 2015, section 2.1, eq. 3, with the state before it).

        `ids` are the previous words, `state` is the state after the words before them, which is not changed.
        """
        c, (s_before,) = state.memory, state.cache
        y_before = self.embedding(ids)
        s = self.gru(torch.cat([y_before, c], 1)[:, None], s_before[None].contiguous())[1][0]
        logits = self.readout(s_before, y_before, c)
        return logits, None, DecoderState(c, (s,), state.position + 1)

    def features(self, ids, encoded):
        """Compute the maxout layer; all states are one call of the GRU."""
        y, (s_0,) = self.embedding(ids), encoded.initial_state
        c = encoded.summary[:, None].expand(-1, ids.shape[1], -1)
        s = self.gru(torch.cat([y, c], 2), s_0[None].contiguous())[0]
        s_before = torch.cat([s_0[:, None], s[:, :-1]], 1)
        return self.dropout(self.readout.features(s_before, y, c)), self.readout.W_o, None


class BahdanauDecoder(Decoder):
    r"""Decoder of Bahdanau et al. 2015, which attends from the previous state and then steps.

    :math:`c_t = \mathrm{attention}(s_{t-1})`, :math:`s_t = \mathrm{GRU}(s_{t-1}, [y_{t-1}; c_t])`, then `DeepOutput` of
    :math:`s_{t-1}, y_{t-1}, c_t`: the paper's appendix and the authors' code give it the previous state.

    Parameters
    ----------
    attention : AttentionLayer
        In the paper, ``AttentionLayer(Additive(...), GlobalWindow())``.
    embedding, decoder_size, encoder_size, maxout, dropout
        As for `FixedContextDecoder`.
    reads_new_state : bool, default False
        Give the output layer :math:`s_t`, as the paper's body writes it.

    Notes
    -----
    The GRU is PyTorch's, which differs from the paper's: see `attnlib.layers.gru_step`. A step costs the cost of
    `attention` and ``3 * batch * dec * (enc + dec)`` multiply-adds. The products of the embeddings, ``3 * dec * emb``
    each, and the output layer are computed for all steps at once. With an additive score, training keeps every step's
    hidden layer: ``batch * tgt * src * att`` numbers.
    """

    def __init__(
        self,
        attention: AttentionLayer,
        embedding: Embedding,
        *,
        decoder_size: int,
        encoder_size: int,
        maxout: int,
        reads_new_state: bool = False,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.attention, self.embedding, self.dropout = attention, embedding, nn.Dropout(dropout)
        vocab, emb = embedding.weight.shape
        self.enc, self.reads_new_state = encoder_size, reads_new_state
        self.cell = nn.GRUCell(emb + encoder_size, decoder_size)
        sizes = {"decoder_size": decoder_size, "encoder_size": encoder_size, "maxout": maxout}
        self.readout = DeepOutput(vocab_size=vocab, embedding_dim=emb, **sizes)

    def step(
        self, ids: Int[Tensor, "batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], AttentionOutput, DecoderState]:
        """Compute the scores of the next word (Bahdanau et al. 2015, eq. 4 and 5, appendix A.2.2)."""
        (s_before,) = state.cache
        y_before = self.embedding(ids)
        attended = self.attention.at(state.position, s_before, state.memory)
        c = attended.context.squeeze(1)
        s = self.cell(torch.cat([y_before, c], 1), s_before)
        # The paper's eq. 4 gives the output layer s_t; its appendix and the authors' code give it s_{t-1}.
        logits = self.readout(s if self.reads_new_state else s_before, y_before, c)
        return logits, attended, DecoderState(state.memory, (s,), state.position + 1)

    def features(self, ids, encoded):
        """Compute the maxout layer of all steps; only attention and cell are done one step at a time."""
        memory, (s_0,), _ = self.start(encoded)
        y = self.embedding(ids)
        # W_ih [y; c] = W_y y + W_c c. All words y are known before the loop, so their products are one; c is not known.
        W_y, W_c = self.cell.weight_ih.split([y.shape[2], self.enc], dim=1)
        W_c = cast_for_steps(W_c)
        states, outputs = [s_0], []
        for t, x in enumerate(linear(y, W_y, self.cell.bias_ih).unbind(1)):
            outputs.append(self.attention.at(t, states[-1], memory))
            x_c = torch.addmm(x, outputs[-1].context.squeeze(1), W_c.T)
            states.append(gru_step(x_c, states[-1], self.cell.weight_hh, self.cell.bias_hh))
        attended = join(outputs)
        seen = torch.stack(states[1:] if self.reads_new_state else states[:-1], 1)
        return self.dropout(self.readout.features(seen, y, attended.context)), self.readout.W_o, attended


class LSTMDecoder(Decoder):
    r"""Decoder without attention of stacked LSTMs, which receives only the encoder's last states of the source.

    :math:`s_t = \mathrm{LSTM}(s_{t-1}, y_{t-1})`, and :math:`W_y s_t` scores the next word.

    Parameters
    ----------
    embedding, decoder_size
        As for `FixedContextDecoder`.
    num_layers : int, default 1
        Number of LSTMs, the same as in the encoder.
    dropout : float, default 0.0
        In training, the share that is set to 0 of the features between layers, and of the states that the output layer
        reads.

    Notes
    -----
    Luong et al. 2015, sections 2 and 4.1, the base system of table 1. All steps are one call of the LSTM.
    """

    has_attention = False

    def __init__(self, embedding: Embedding, *, decoder_size: int, num_layers: int = 1, dropout: float = 0.0):
        super().__init__()
        self.embedding, self.dropout = embedding, nn.Dropout(dropout)
        vocab, emb = embedding.weight.shape
        self.lstm = stacked_lstm(emb, decoder_size, num_layers, dropout)
        self.W_y = weight(vocab, decoder_size)

    def step(
        self, ids: Int[Tensor, "batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], None, DecoderState]:
        """Compute the scores of the next word (Luong et al. 2015, eq. 2 and 3)."""
        s, cell = _lstm_step(self.lstm, self.embedding(ids), *state.cache)
        return linear(s[:, -1], self.W_y), None, DecoderState(state.memory, (s, cell), state.position + 1)

    def features(self, ids, encoded):
        """Compute the states of the top layer in one call of the LSTM."""
        s_0, cell_0 = (x.transpose(0, 1).contiguous() for x in encoded.initial_state)
        return self.dropout(self.lstm(self.embedding(ids), (s_0, cell_0))[0]), self.W_y, None


class LuongDecoder(Decoder):
    r"""Decoder of Luong et al. 2015, which steps and then attends from the new state.

    :math:`s_t = \mathrm{LSTM}(s_{t-1}, [y_{t-1}; \tilde{s}_{t-1}])`, :math:`c_t = \mathrm{attention}(s_t)`,
    :math:`\tilde{s}_t = \tanh(W_c [c_t; s_t])`, and :math:`W_y \tilde{s}_t` scores the next word.

    Parameters
    ----------
    attention : AttentionLayer
        Called with the states of the top layer.
    embedding, decoder_size, encoder_size
        As for `FixedContextDecoder`.
    num_layers : int, default 1
        Number of LSTMs, the same as in the encoder.
    input_feeding : bool, default True
        Feed the attentional state to the next step (section 3.3). Without it, one call of the LSTM and one of
        `attention` do all steps.
    dropout : float, default 0.0
        In training, the share that is set to 0 of the features between layers, and of the attentional states that the
        output layer reads.

    Notes
    -----
    A word costs ``4 * dec * (emb + dec)`` multiply-adds in the first layer (``4 * dec²`` more with input feeding) and
    ``8 * dec²`` in each above, ``dec * (enc + dec) + vocab * dec`` for the output, and the cost of `attention`.
    """

    def __init__(
        self,
        attention: AttentionLayer,
        embedding: Embedding,
        *,
        decoder_size: int,
        encoder_size: int,
        num_layers: int = 1,
        input_feeding: bool = True,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.attention, self.embedding, self.dropout = attention, embedding, nn.Dropout(dropout)
        vocab, emb = embedding.weight.shape
        self.lstm = stacked_lstm(emb + decoder_size * input_feeding, decoder_size, num_layers, dropout)
        self.W_c, self.W_y = weight(decoder_size, encoder_size + decoder_size), weight(vocab, decoder_size)
        self.input_feeding = input_feeding

    def start(self, encoded: EncoderOutput) -> DecoderState:
        """Return the last states of the encoder's layers, with an attentional state of 0."""
        state = super().start(encoded)
        s, cell = state.cache
        # The paper does not say what is fed to the first step, before which there is no attentional state: here zeros.
        return state._replace(cache=(s, cell, torch.zeros_like(s[:, -1]))) if self.input_feeding else state

    def step(
        self, ids: Int[Tensor, "batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], AttentionOutput, DecoderState]:
        """Compute the scores of the next word (Luong et al. 2015, sections 3 and 3.3, eq. 2, 3, 5 and 6)."""
        s_before, cell_before, *fed = state.cache
        y_before = self.embedding(ids)
        s, cell = _lstm_step(self.lstm, torch.cat([y_before, *fed], 1), s_before, cell_before)
        attended = self.attention.at(state.position, s[:, -1], state.memory)
        c = attended.context.squeeze(1)
        s_tilde = torch.tanh(linear(torch.cat([c, s[:, -1]], 1), self.W_c))
        logits = linear(s_tilde, self.W_y)
        after = (s, cell, s_tilde) if self.input_feeding else (s, cell)
        return logits, attended, DecoderState(state.memory, after, state.position + 1)

    def features(self, ids, encoded):
        """Compute the attentional states, one step at a time if they are fed."""
        chain = self._one_by_one if self.input_feeding else self._all_at_once
        s_tilde, attended = chain(self.embedding(ids), self.start(encoded))
        return self.dropout(s_tilde), self.W_y, attended

    def _all_at_once(self, y, begun):
        s_0, cell_0 = (x.transpose(0, 1).contiguous() for x in begun.cache)
        s = self.lstm(y, (s_0, cell_0))[0]
        attended = self.attention(s, begun.memory, torch.arange(y.shape[1], device=y.device))
        return torch.tanh(linear(torch.cat([attended.context, s], 2), self.W_c)), attended

    def _one_by_one(self, y, begun):
        # The plain way is to call `step` for one word after the other, whose lowest layer computes W_ih [y; s_tilde] +
        # W_hh s with all of its input at every step. Here all words are known beforehand, so W_y y is one product for
        # all steps, before the loop. A step needs W_fed s_tilde + W_hh s only, which is one product too, [W_fed, W_hh]
        # [s_tilde; s]. The layers above and the attention need the step's own state, and stay in the loop. No step
        # needs the output layer, and so it comes after the loop, for all words at once.
        s, cell = (list(x.unbind(1)) for x in begun.cache[:2])
        layers = self.lstm.all_weights  # of each: W_ih, W_hh, b_ih, b_hh
        W_y, W_fed = layers[0][0].split([y.shape[2], self.lstm.hidden_size], dim=1)
        W_recurrent = torch.cat([W_fed, layers[0][1]], 1)  # one product by what is fed and by the state before
        W_recurrent, *W_above = (cast_for_steps(W) for W in (W_recurrent, *(layer[1] for layer in layers[1:])))
        tildes, outputs = [begun.cache[2]], []
        for t, x in enumerate(linear(y, W_y, layers[0][2] + layers[0][3]).unbind(1)):
            s[0], cell[0] = lstm_step(x, torch.cat([tildes[-1], s[0]], 1), cell[0], W_recurrent)
            for n, ((W_ih, _, b_ih, b_hh), W_hh) in enumerate(zip(layers[1:], W_above, strict=True), 1):
                below = linear(self.dropout(s[n - 1]), W_ih, b_ih + b_hh)
                s[n], cell[n] = lstm_step(below, s[n], cell[n], W_hh)
            outputs.append(self.attention.at(t, s[-1], begun.memory))
            tildes.append(torch.tanh(linear(torch.cat([outputs[-1].context.squeeze(1), s[-1]], 1), self.W_c)))
        return torch.stack(tildes[1:], 1), join(outputs)


def _lstm_step(
    lstm: nn.LSTM,
    x: Float[Tensor, "batch inputs"],
    s_before: Float[Tensor, "batch layers dec"],
    cell_before: Float[Tensor, "batch layers dec"],
) -> tuple[Float[Tensor, "batch layers dec"], Float[Tensor, "batch layers dec"]]:
    """Step a stack of LSTMs: each layer reads the state of the one below."""
    states, cells = [], []
    for n, weights in enumerate(lstm.all_weights):
        x, cell = torch.lstm_cell(x, (s_before[:, n], cell_before[:, n]), *weights)
        states.append(x)
        cells.append(cell)
    return torch.stack(states, 1), torch.stack(cells, 1)
