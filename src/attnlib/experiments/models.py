r"""The models that the papers do not have: between Bahdanau's and Luong's, and Luong's with a part exchanged.

`between` takes each part from the one paper or from the other:

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

from attnlib.alignment import Align
from attnlib.attention import Attended, join
from attnlib.checks import check_choice, check_whole
from attnlib.data import Tokenizer
from attnlib.decoders import BahdanauDecoder, Decoder, DeepOutput, State
from attnlib.encoders import BidirectionalGRU, BidirectionalLSTM, Encoded, StackedLSTM
from attnlib.layers import Embedding, gru_step, lstm_step, seeded, weight
from attnlib.scores import Additive, Concat, General
from attnlib.translator import Translator, luong
from attnlib.windows import Everywhere


class AttentionalOutput(nn.Module):
    r"""Score the next word by :math:`W_y \tilde{s}`, :math:`\tilde{s} = \tanh(W_c [c; s])` (Luong et al., eq. 5, 6)."""

    def __init__(self, *, vocab: int, dec: int, enc: int):
        super().__init__()
        self.W_c, self.W_y = weight(dec, enc + dec), weight(vocab, dec)

    def read(
        self, s: Float[Tensor, "*batch dec"], y: Float[Tensor, "*batch emb"], c: Float[Tensor, "*batch enc"]
    ) -> Float[Tensor, "*batch dec"]:
        """Compute what the scores are made from; the word before, `y`, has no part in it."""
        return torch.tanh(linear(torch.cat([c, s], -1), self.W_c))

    @property
    def output(self) -> Float[Tensor, "vocab dec"]:
        """Name the weights of the output layer."""
        return self.W_y


class Projected(nn.Module):
    r"""Begin at :math:`s_0 = \tanh(W_s h)`, `h` being where the reader from right to left ended; a memory cell at 0."""

    def __init__(self, dec: int, hid: int):
        super().__init__()
        self.W_s = weight(dec, hid)

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
        align: Align,
        cell: nn.GRUCell | nn.LSTMCell,
        embedding: Embedding,
        readout: AttentionalOutput | DeepOutput,
        begin: Projected | None = None,
        *,
        feeds_readout: bool = False,
    ):
        super().__init__()
        self.align, self.cell, self.embedding, self.readout, self.begin = align, cell, embedding, readout, begin
        self.feeds_readout, self.fed = feeds_readout, cell.input_size - embedding.embedding_dim

    def start(self, encoded: Encoded) -> State:
        """Begin where the encoder says, or at a projection of that; what is fed first is 0."""
        s_0, *cell = (x.flatten(1) for x in encoded.state)
        if self.begin:
            s_0, *cell = self.begin(s_0)
        memory = self.align.remember(encoded.annotations, encoded.lengths)
        return State(memory, (s_0, *cell, s_0.new_zeros(len(s_0), self.fed)), 0)

    def step(self, words: Int[Tensor, "batch"], state: State) -> tuple[Float[Tensor, "batch vocab"], Attended, State]:
        """Take the word before and score the next one."""
        y_before = self.embedding(words)
        attended, after = self._next(self._words_share(y_before), y_before, state)
        s, *_, fed = after.recurrent
        read = fed if self.feeds_readout else self.readout.read(s, y_before, fed)
        return linear(read, self.output), attended, after

    def _words_share(self, y):
        """Multiply the words beforehand: they wait for no step."""
        lstm = isinstance(self.cell, nn.LSTMCell)
        return linear(y, self.cell.weight_ih[:, : y.shape[-1]], self.cell.bias_ih + self.cell.bias_hh * lstm)

    def _next(self, x, y_before, state):
        """Step, and return where the new state looked, and the state of all."""
        s_before, *cell, fed = state.recurrent
        W_hh = self.cell.weight_hh
        x = torch.addmm(x, fed, self.cell.weight_ih[:, -self.fed :].T)
        if cell:
            s, *cell = lstm_step(x, s_before, *cell, W_hh)
        else:
            s = gru_step(x, s_before, W_hh, self.cell.bias_hh)
        attended = self.align.at(state.step, s, state.memory)
        c = attended.context.squeeze(1)
        fed = self.readout.read(s, y_before, c) if self.feeds_readout else c
        return attended, State(state.memory, (s, *cell, fed), state.step + 1)

    def before_output(
        self, words: Int[Tensor, "batch tgt"], encoded: Encoded
    ) -> tuple[Float[Tensor, "batch tgt read"], Attended]:
        """Compute what the output layer reads, at all positions, given for each the word before."""
        y, state = self.embedding(words), self.start(encoded)
        states, looks = [], []
        for x, y_before in zip(self._words_share(y).unbind(1), y.unbind(1), strict=True):
            look, state = self._next(x, y_before, state)
            states.append(state.recurrent[0])
            looks.append(look)
        attended = join(looks)
        return self.readout.read(torch.stack(states, 1), y, attended.context), attended


class LastStateDecoder(Decoder):
    r"""Begin where the encoder ended, and never look back (Luong et al. 2015, section 2).

    :math:`s_t = \mathrm{LSTM}(s_{t-1}, y_{t-1})`, and :math:`W_y s_t` scores the next word:
    ``4 * dec * (emb + dec) + vocab * dec`` multiply-adds.
    """

    attends = False

    def __init__(self, embedding: Embedding, *, dec: int):
        super().__init__()
        self.embedding = embedding
        vocab, emb = embedding.weight.shape
        self.lstm = nn.LSTM(emb, dec, batch_first=True)
        self.W_y = weight(vocab, dec)

    def step(self, words: Int[Tensor, "batch"], state: State) -> tuple[Float[Tensor, "batch vocab"], None, State]:
        """Take the word before and score the next one."""
        s, after = self._read(self.embedding(words)[:, None], state.recurrent)
        return linear(s[:, 0], self.W_y), None, State(state.memory, after, state.step + 1)

    def _read(self, y, recurrent):
        s, after = self.lstm(y, tuple(x.transpose(0, 1).contiguous() for x in recurrent))
        return s, tuple(x.transpose(0, 1) for x in after)

    @property
    def output(self) -> Float[Tensor, "vocab dec"]:
        """Name the weights of the output layer."""
        return self.W_y

    def before_output(
        self, words: Int[Tensor, "batch tgt"], encoded: Encoded
    ) -> tuple[Float[Tensor, "batch tgt dec"], None]:
        """Compute the states at all positions, given for each the word before."""
        return self._read(self.embedding(words), encoded.state)[0], None


class ConcatWithIdentity(Concat):
    r"""Concat's score, its matrix for annotations being the identity, :math:`v_a \cdot \tanh(W_a s + h)`.

    It is what the experiments of Luong et al. 2015 had: section 5.2, on why their concat score may do badly.
    """

    def __init__(self, concat: Concat):
        nn.Module.__init__(self)
        self.dec = concat.dec
        self.W_a, self.v_a = nn.Parameter(concat.W_a[:, : concat.dec].detach().clone()), concat.v_a

    def keys(self, h: Float[Tensor, "*batch src att"]) -> Float[Tensor, "*batch src att"]:
        """Keep the annotations as they are."""
        return h


def between(
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    asks_before: bool = False,
    reader: str = "gru",
    width: int | float = 2,
    projected: bool = True,
    score: str = "additive",
    maxout: bool = True,
    feeds_readout: bool = False,
    emb: int = 64,
    hid: int = 128,
    seed: int = 0,
) -> Translator:
    """Make a model between Bahdanau's and Luong's. The defaults are Bahdanau's, but the new state asks and is read.

    Parameters
    ----------
    asks_before : bool
        The state before asks, as in `BahdanauDecoder`. It has a GRU and a maxout layer.
    reader : str
        "gru": a GRU in both directions, and a GRU decodes. "both": an LSTM in both directions, "reversed": one from the
        last word to the first, and an LSTM decodes.
    width : number
        Features of an annotation for each of a state. The reader "gru" always has 2, one for each direction.
    projected : bool
        Begin at a projection of where the backward reader ended; otherwise there itself, which a "reversed" reader of
        width 1 can do. The reader "gru" always projects.
    score : str
        "additive" or "general".
    maxout : bool
        The output reads a maxout layer of ``hid // 2`` units; otherwise an attentional state.
    feeds_readout : bool
        What is fed back is what the output reads; otherwise the context.

    Raises
    ------
    ValueError
        If `reader` or `score` is none of these names, or the parts do not fit.
    """
    check_whole(2, hid=hid)
    enc = round(width * hid)
    readers = {
        "gru": lambda embedding: BidirectionalGRU(embedding, hid, hid),
        "both": lambda embedding: BidirectionalLSTM(embedding, enc),
        "reversed": lambda embedding: StackedLSTM(embedding, enc, reverse=True),
    }
    scores = {"additive": lambda: Additive(hid, enc, hid), "general": lambda: General(hid, enc)}
    check_choice(readers, reader=reader)
    check_choice(scores, score=score)
    _check_fit(reader, width, projected, asks_before, plain=maxout and not feeds_readout)
    fed = (hid // 2 if maxout else hid) if feeds_readout else enc
    output = {"vocab": len(target_vocabulary), "dec": hid, "enc": enc}
    with seeded(seed):  # parts are drawn in the order in which those of the recorded runs were
        align = Align(scores[score](), Everywhere())
        encoder = readers[reader](Embedding(len(source_vocabulary), emb))
        cell = (nn.GRUCell if reader == "gru" else nn.LSTMCell)(emb + fed, hid)
        embedding = Embedding(len(target_vocabulary), emb)
        readout = DeepOutput(**output, emb=emb, maxout=hid // 2) if maxout else AttentionalOutput(**output)
        begin = Projected(hid, enc // 2 if reader == "both" else enc) if projected and reader != "gru" else None
        decoder = HybridDecoder(align, cell, embedding, readout, begin, feeds_readout=feeds_readout)
        if asks_before:
            decoder = BahdanauDecoder(align, embedding, dec=hid, enc=enc, maxout=hid // 2, reads_new_state=True)
            decoder.cell, decoder.readout = cell, readout
    return Translator(encoder, decoder, source_vocabulary, target_vocabulary)


def _check_fit(reader, width, projected, asks_before, *, plain):
    if reader == "gru" and width != 2:
        raise ValueError(f"width is {width}; expected 2 with the reader 'gru', which reads in both directions")
    if not projected and (reader, width) != ("reversed", 1):
        raise ValueError("projected is False; expected the reader 'reversed' and width 1")
    if asks_before and not (reader == "gru" and plain):
        raise ValueError("asks_before is True; expected the reader 'gru', a maxout layer, and no readout fed back")


def luong_without_attention(
    source_vocabulary: Tokenizer, target_vocabulary: Tokenizer, *, emb: int = 64, hid: int = 128, seed: int = 0
) -> Translator:
    """Make Luong's model without attention: the decoder begins where the reversed reader ended, and sees no more."""
    with seeded(seed):
        encoder = StackedLSTM(Embedding(len(source_vocabulary), emb), hid, reverse=True)
        decoder = LastStateDecoder(Embedding(len(target_vocabulary), emb), dec=hid)
    return Translator(encoder, decoder, source_vocabulary, target_vocabulary)


def luong_with_identity(source_vocabulary: Tokenizer, target_vocabulary: Tokenizer, **options: Any) -> Translator:
    """Make Luong's model with the concat score, whose half of W_a for the annotations is the identity."""
    translator = luong(source_vocabulary, target_vocabulary, **options, score="concat")
    translator.decoder.align.score = ConcatWithIdentity(translator.decoder.align.score)
    return translator
