r"""Models that no paper has, between Bahdanau's and Luong's: each part is taken from the one or from the other.

================ ================================================ ===================================================
part             as Bahdanau has it                               as Luong has it
================ ================================================ ===================================================
who asks         :math:`s_{t-1}`; :math:`c_t` enters the step     :math:`s_t`; what is fed back enters the next step
output reads     :math:`s_{t-1}`                                  :math:`s_t`
cell             GRU                                              LSTM
readout          maxout of s, y and c                             :math:`\tilde{s}_t`
fed back         nothing                                          :math:`\tilde{s}_t`
begins           :math:`s_0 = \tanh(W_s \overleftarrow{h}_1)`     where the encoder ended
encoder reads    in both directions                               from the last word to the first
================ ================================================ ===================================================

With all parts from one column, a `HybridDecoder` computes what that paper's decoder does.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.alignment import Align
from attnlib.attention import Attended, join
from attnlib.cells import gru_step, lstm_step
from attnlib.decoders import Decoder, State
from attnlib.encoders import Encoded
from attnlib.experiments.parts import AttentionalOutput, Copied, MaxoutOutput, Projected


class HybridDecoder(Decoder):
    r"""A decoder of parts: see the table at the top of this module.

    If the state before asks, :math:`c_t = \mathrm{align}(s_{t-1})` and
    :math:`s_t = \mathrm{cell}(s_{t-1}, [y_{t-1}; c_t])`. If the new one does,
    :math:`s_t = \mathrm{cell}(s_{t-1}, [y_{t-1}; f_{t-1}])` and :math:`c_t = \mathrm{align}(s_t)`, where the fed
    :math:`f_t` is :math:`c_t` or what the output layer reads, and :math:`f_0 = 0`.

    Parameters
    ----------
    align : Align
        Any score, any window.
    cell : nn.GRUCell or nn.LSTMCell
        From the features of an embedding and of what enters the step, to those of a state.
    embedding : nn.Embedding
        Of the target's words.
    readout : AttentionalOutput or MaxoutOutput
    begin : Copied or Projected
    asks_before : bool
        The state before asks.
    reads_new_state : bool
        The readout reads the new state; otherwise the one before.
    feeds_readout : bool
        What is fed back is what the output layer reads, if the new state asks.
    """

    def __init__(
        self,
        align: Align,
        cell: nn.GRUCell | nn.LSTMCell,
        embedding: nn.Embedding,
        readout: AttentionalOutput | MaxoutOutput,
        begin: Copied | Projected,
        *,
        asks_before: bool = False,
        reads_new_state: bool = True,
        feeds_readout: bool = False,
    ):
        if feeds_readout and (asks_before or not reads_new_state):
            raise ValueError("feeds_readout is True; expected False, unless the new state asks and is read")
        fed, emb = readout.output.shape[1] if feeds_readout else readout.enc, embedding.embedding_dim
        if cell.input_size != emb + fed:
            raise ValueError(f"cell is {cell}; expected one from {emb + fed} features, of a word and of what is fed")
        super().__init__()
        self.align, self.cell, self.embedding, self.readout, self.begin = align, cell, embedding, readout, begin
        self.asks_before, self.reads_new_state, self.feeds_readout = asks_before, reads_new_state, feeds_readout
        self.fed = fed

    def start(self, encoded: Encoded) -> State:
        """Begin where the encoder says; what is fed first is 0."""
        states = self.begin(encoded.state)
        fed = () if self.asks_before else (states[0].new_zeros(len(states[0]), self.fed),)
        return State(self.align.remember(encoded.annotations, encoded.lengths), (*states, *fed), 0)

    def step(self, words: Int[Tensor, "batch"], state: State) -> tuple[Float[Tensor, "batch vocab"], Attended, State]:
        """Take the word before and score the next one."""
        y_before = self.embedding(words)
        s_before, attended, after = self._next(self._words_share(y_before), y_before, state)
        s = after.recurrent[0] if self.reads_new_state else s_before
        c = attended.context.squeeze(1)
        read = after.recurrent[-1] if self.feeds_readout else self.readout.read(s, y_before, c)
        return linear(read, self.output), attended, after

    def _words_share(self, y):
        """Multiply the words beforehand: they wait for no step."""
        lstm = isinstance(self.cell, nn.LSTMCell)
        return linear(y, self.cell.weight_ih[:, : y.shape[-1]], self.cell.bias_ih + self.cell.bias_hh * lstm)

    def _next(self, x, y_before, state):
        s_before, *rest = state.recurrent
        if self.asks_before:
            attended = self.align.at(state.step, s_before, state.memory)
            return s_before, attended, self._after(state, self._moved(x, attended.context.squeeze(1), s_before, *rest))
        *cell, fed = rest
        states = self._moved(x, fed, s_before, *cell)
        attended = self.align.at(state.step, states[0], state.memory)
        c = attended.context.squeeze(1)
        fed = self.readout.read(states[0], y_before, c) if self.feeds_readout else c
        return s_before, attended, self._after(state, (*states, fed))

    def _moved(self, x, fed, s_before, *cell):
        W_hh = self.cell.weight_hh
        x = torch.addmm(x, fed, self.cell.weight_ih[:, -self.fed :].T)
        return lstm_step(x, s_before, *cell, W_hh) if cell else (gru_step(x, s_before, W_hh, self.cell.bias_hh),)

    def _after(self, state, recurrent):
        return State(state.memory, tuple(recurrent), state.step + 1)

    @property
    def output(self) -> Float[Tensor, "vocab read"]:
        """Give the weights of the output layer."""
        return self.readout.output

    def before_output(
        self, words: Int[Tensor, "batch tgt"], encoded: Encoded
    ) -> tuple[Float[Tensor, "batch tgt read"], Attended]:
        """Compute what the output layer reads, at all positions, given for each the word before."""
        y, state = self.embedding(words), self.start(encoded)
        states, looks = [], []
        for x, y_before in zip(self._words_share(y).unbind(1), y.unbind(1), strict=True):
            s_before, look, state = self._next(x, y_before, state)
            states.append(state.recurrent[0] if self.reads_new_state else s_before)
            looks.append(look)
        attended = join(looks)
        return self.readout.read(torch.stack(states, 1), y, attended.context), attended
