"""Models between Bahdanau's and Luong's, in four steps.

The first and the last model are `rnn_search` and `luong` with input feeding; `step_first` makes the three between them.

====================== ========= ============ ================== ========= ========================
model                  asked by  output reads states             score     context goes to
====================== ========= ============ ================== ========= ========================
`rnn_search`           s_{t-1}   s_{t-1}      bidirectional GRU  additive  cell and maxout output
step_first, "gru"      s_t       s_t          bidirectional GRU  additive  next cell, maxout output
step_first, "lstm"     s_t       s_t          top-layer LSTM     additive  next cell, maxout output
the same, "general"    s_t       s_t          top-layer LSTM     general   next cell, maxout output
`luong`                s_t       s~_t         top-layer LSTM     general   s~_t, fed to the next cell
====================== ========= ============ ================== ========= ========================

A step may change several things at once. The first changes who asks, which state the output reads, and to which step
the context goes; the second the cell, the direction of reading and the width of the annotations.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlib.alignment import Align
from attnlib.attention import Attended, join
from attnlib.checks import check_whole
from attnlib.decoders import Decoder, DeepOutput, State
from attnlib.encoders import BidirectionalGRU, Encoded, StackedLSTM
from attnlib.parameters import products, seeded
from attnlib.scores import Additive, General
from attnlib.translator import Translator
from attnlib.vocabulary import Vocabulary
from attnlib.windows import Everywhere


class StepFirstDecoder(Decoder):
    r"""Bahdanau's decoder with attention moved after the step.

    :math:`s_t = \mathrm{cell}(s_{t-1}, [y_{t-1}; c_{t-1}])`, :math:`c_t = \mathrm{align}(s_t)`, then `DeepOutput` of
    :math:`s_t, y_{t-1}, c_t`. The first context is 0.

    Parameters
    ----------
    align : Align
        Any score, any window.
    cell : nn.GRUCell or nn.LSTMCell
        From ``emb + enc`` features to `dec`. It must fit the encoder's state.
    vocab, emb, dec, enc : int
        Words of the target vocabulary; features of an embedding, of a state and of an annotation.
    maxout : int
        Units of the output's maxout layer.

    Notes
    -----
    No paper's model: a step between Bahdanau et al. 2015 and Luong et al. 2015. A word costs what `align` costs,
    ``gates * dec * (emb + enc + dec)`` multiply-adds for the cell (3 gates in a GRU, 4 in an LSTM), and the output.
    """

    def __init__(
        self, align: Align, cell: nn.GRUCell | nn.LSTMCell, *, vocab: int, emb: int, dec: int, enc: int, maxout: int
    ):
        check_whole(vocab=vocab, emb=emb, dec=dec, enc=enc, maxout=maxout)
        if (cell.input_size, cell.hidden_size) != (emb + enc, dec):
            raise ValueError(f"cell is {cell}; expected one from {emb + enc} features, emb + enc, to {dec}, dec")
        super().__init__()
        self.align, self.cell, self.enc = align, cell, enc
        self.embedding = nn.Embedding(vocab, emb)
        self.readout = DeepOutput(vocab=vocab, emb=emb, dec=dec, enc=enc, maxout=maxout)

    def start(self, encoded: Encoded) -> State:
        """Begin where the encoder says, and with a context of 0."""
        states = (x.reshape(len(x), -1) for x in encoded.state)
        no_context = torch.zeros_like(encoded.annotations[:, 0])
        return State(self.align.remember(encoded.annotations, encoded.lengths), (*states, no_context), 0)

    def step(self, words: Int[Tensor, "batch"], state: State) -> tuple[Float[Tensor, "batch vocab"], Attended, State]:
        """Take the word before and score the next one."""
        y_before = self.embedding(words)
        attended, state = self._next(y_before, state)
        s, c = state.recurrent[0], state.recurrent[-1]
        return self.readout(s, y_before, c), attended, state

    def _next(self, y_before, state):
        *before, c_before = state.recurrent
        x = torch.cat([y_before, c_before], 1)
        s, *cell = self.cell(x, tuple(before)) if isinstance(self.cell, nn.LSTMCell) else [self.cell(x, *before)]
        attended = self.align.at(state.step, s, state.memory)
        return attended, State(state.memory, (s, *cell, attended.context.squeeze(1)), state.step + 1)

    @property
    def output(self) -> Float[Tensor, "vocab maxout"]:
        """Give the weights of the output layer."""
        return self.readout.W_o

    def before_output(
        self, words: Int[Tensor, "batch tgt"], encoded: Encoded
    ) -> tuple[Float[Tensor, "batch tgt maxout"], Attended]:
        """Compute the maxout layer at all positions, given for each the word before."""
        y, state, states, looks = self.embedding(words), self.start(encoded), [], []
        for y_before in y.unbind(1):
            look, state = self._next(y_before, state)
            states.append(state.recurrent[0])
            looks.append(look)
        attended = join(looks)
        return self.readout.maxout(torch.stack(states, 1), y, attended.context), attended

    def multiply_adds(self, src: int) -> int:
        """Count the multiply-adds of one step for one sentence of `src` words, END among them."""
        check_whole(src=src)
        attention = self.align.multiply_adds(src, self.cell.hidden_size, self.enc)
        return attention + products(self.cell) + products(self.readout)


def step_first(
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    *,
    recurrent: str = "gru",
    score: str = "additive",
    emb: int = 64,
    hid: int = 128,
    seed: int = 0,
) -> Translator:
    """Make a model between Bahdanau's and Luong's: the new state asks, the rest is chosen.

    Parameters
    ----------
    source_vocabulary, target_vocabulary : Vocabulary
        They travel with the translator.
    recurrent : str
        "gru": a bidirectional GRU encodes, as in `rnn_search`. "lstm": an LSTM that reads in reverse, as in `luong`.
    score : str
        "additive" or "general".
    emb, hid : int
        Features of an embedding, and of a state in one direction. The maxout layer has ``hid // 2`` units.
    seed : int
        Where the weights begin. Torch's own generator stays as it was.

    Returns
    -------
    Translator

    Raises
    ------
    ValueError
        If `recurrent` or `score` is none of these names.
    """
    if recurrent not in ("gru", "lstm"):
        raise ValueError(f"recurrent is {recurrent!r}; expected 'gru' or 'lstm'")
    if score not in ("additive", "general"):
        raise ValueError(f"score is {score!r}; expected 'additive' or 'general'")
    check_whole(2, hid=hid)
    enc = 2 * hid if recurrent == "gru" else hid
    with seeded(seed):
        match = Additive(hid, enc, hid) if score == "additive" else General(hid, enc)
        if recurrent == "gru":
            encoder, cell = BidirectionalGRU(len(source_vocabulary), emb, hid, hid), nn.GRUCell(emb + enc, hid)
        else:
            encoder, cell = StackedLSTM(len(source_vocabulary), emb, hid, reverse=True), nn.LSTMCell(emb + enc, hid)
        decoder = StepFirstDecoder(
            Align(match, Everywhere()), cell, vocab=len(target_vocabulary), emb=emb, dec=hid, enc=enc, maxout=hid // 2
        )
    return Translator(encoder, decoder, source_vocabulary, target_vocabulary)
