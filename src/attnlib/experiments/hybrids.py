"""Models between Bahdanau's and Luong's, so that one thing changes at a time.

From one paper's model to the other's there are four steps. The first and the last model are `rnn_search` and
`luong` with input feeding; `step_first` makes the three between them.

====================== ============ ================== ============== =======================
model                  asked by     states             score          context goes to
====================== ============ ================== ============== =======================
`rnn_search`           s_{t-1}      bidirectional GRU  additive       cell and maxout output
step_first, "gru"      s_t          bidirectional GRU  additive       next cell, maxout output
step_first, "lstm"     s_t          top-layer LSTM     additive       next cell, maxout output
the same, "general"    s_t          top-layer LSTM     general        next cell, maxout output
`luong`                s_t          top-layer LSTM     general        s~_t, fed to the next cell
====================== ============ ================== ============== =======================
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.alignment import Align
from attnlib.attention import Attended
from attnlib.cells import gru_step, lstm_step
from attnlib.checks import check_whole
from attnlib.corpus import Vocabulary
from attnlib.decoders import DeepOutput, State, check_target, join
from attnlib.encoders import BidirectionalGRU, Encoded, StackedLSTM
from attnlib.parameters import seeded
from attnlib.scores import Additive, General
from attnlib.translator import Translator
from attnlib.windows import Everywhere


class StepFirstDecoder(nn.Module):
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
        self.align, self.cell = align, cell
        self.embedding = nn.Embedding(vocab, emb)
        self.readout = DeepOutput(vocab=vocab, emb=emb, dec=dec, enc=enc, maxout=maxout)

    def start(self, encoded: Encoded) -> State:
        """Begin where the encoder says, and with a context of 0."""
        _check_states(encoded.state, 1 + isinstance(self.cell, nn.LSTMCell), self.cell.hidden_size)
        states = (x.reshape(len(x), -1) for x in encoded.state)
        no_context = torch.zeros_like(encoded.annotations[:, 0])
        return State(self.align.remember(encoded.annotations, encoded.lengths), (*states, no_context), 0)

    def step(self, words: Int[Tensor, "batch"], state: State) -> tuple[Float[Tensor, "batch vocab"], Attended, State]:
        """Take the word before and score the next one."""
        logits, attended, recurrent = self._run(words[:, None], *state)
        return logits[:, 0], attended, State(state.memory, recurrent, state.step + 1)

    def forward(
        self, words: Int[Tensor, "batch tgt"], encoded: Encoded
    ) -> tuple[Float[Tensor, "batch tgt vocab"], Attended]:
        """Score all words, given for each the word before."""
        return self._run(words, *self.start(encoded))[:2]

    def _run(self, words, memory, recurrent, step):
        *states, c = recurrent
        check_target(words, len(recurrent[0]), self.embedding.num_embeddings)
        y = self.embedding(words)
        W_y, W_c = self.cell.weight_ih.split([y.shape[2], c.shape[1]], dim=1)
        tops, looks = [], []
        steps = torch.arange(step, step + words.shape[1], device=words.device).split(1)
        for x, t in zip(linear(y, W_y, self.cell.bias_ih).unbind(1), steps, strict=True):
            states = self._cell_step(torch.addmm(x, c, W_c.T), states)
            looks.append(self.align(states[0][:, None], memory, t))
            tops.append(states[0])
            c = looks[-1].context.squeeze(1)
        attended = join(looks)
        return self.readout(torch.stack(tops, 1), y, attended.context), attended, (*states, c)

    def _cell_step(self, x, states):
        if isinstance(self.cell, nn.LSTMCell):
            return lstm_step(x + self.cell.bias_hh, *states, self.cell.weight_hh)
        return (gru_step(x, *states, self.cell.weight_hh, self.cell.bias_hh),)


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


def _check_states(states: tuple[Tensor, ...], expected: int, dec: int) -> None:
    shapes = [tuple(x.shape) for x in states]
    if len(states) != expected or any(x[0].numel() != dec for x in states):
        raise ValueError(f"encoded.state has shapes {shapes}; expected {expected} with {dec} features a sentence")
