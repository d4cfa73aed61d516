"""One decoder step each, and how the steps are chained.

Every decoder offers the same three methods. ``start(encoded)`` gives the `State` before the first word,
``step(words, state)`` takes the word before and scores the next one, and calling the decoder does all steps
at once when the words are known beforehand (teacher forcing). Only what depends on the step before is done
one step at a time: nothing in `FixedContextDecoder` and in `LuongDecoder` without input feeding, attention
and cell in `BahdanauDecoder`, everything but the output layer in `LuongDecoder` with input feeding.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.alignment import Align, Memory
from attnlib.attention import Attended
from attnlib.cells import gru_step, lstm_step
from attnlib.checks import check_ids, check_leading, check_shape, check_whole
from attnlib.encoders import Encoded
from attnlib.parameters import weight


class State(NamedTuple):
    """Where a decoder is between two words.

    Attributes
    ----------
    memory : Memory, or ``"batch enc"``
        What it knows of the source, the same at every step.
    recurrent : tuple of tensors, batch first
        What one step hands to the next.
    step : int
        How many words it has taken.
    """

    memory: Memory | Tensor
    recurrent: tuple[Tensor, ...]
    step: int

    def select(self, rows: Int[Tensor, "chosen"]) -> "State":
        """Go on with the chosen rows of the batch only, in that order; a row may be chosen several times."""
        chosen = [x.index_select(0, rows) for x in ((self.memory,) if isinstance(self.memory, Tensor) else self.memory)]
        memory = chosen[0] if isinstance(self.memory, Tensor) else Memory(*chosen)
        return State(memory, tuple(x.index_select(0, rows) for x in self.recurrent), self.step)


class DeepOutput(nn.Module):
    r"""Score the next word by a maxout layer, :math:`W_o\,\mathrm{maxout}(U_o s + V_o y + C_o c)`.

    Parameters
    ----------
    vocab, emb, dec, enc : int
        Words of the target vocabulary; features of an embedding, of a state and of a context.
    maxout : int
        Units of the layer, each the larger of two numbers.

    Notes
    -----
    Bahdanau et al. 2015, appendix A.2.2. Costs
    ``2 * maxout * (dec + emb + enc) + vocab * maxout`` multiply-adds a word.
    """

    def __init__(self, *, vocab: int, emb: int, dec: int, enc: int, maxout: int):
        check_whole(vocab=vocab, emb=emb, dec=dec, enc=enc, maxout=maxout)
        super().__init__()
        self.U_o, self.V_o, self.C_o = weight(2 * maxout, dec), weight(2 * maxout, emb), weight(2 * maxout, enc)
        self.W_o = weight(vocab, maxout)

    def forward(
        self, s: Float[Tensor, "*batch dec"], y: Float[Tensor, "*batch emb"], c: Float[Tensor, "*batch enc"]
    ) -> Float[Tensor, "*batch vocab"]:
        """Score every word, given a state, the embedding of the word before, and a context."""
        check_leading(1, s=s, y=y, c=c)
        both = linear(s, self.U_o) + linear(y, self.V_o) + linear(c, self.C_o)
        return linear(torch.maximum(both[..., 0::2], both[..., 1::2]), self.W_o)


class FixedContextDecoder(nn.Module):
    r"""The decoder without attention: the same context, the sentence's summary, at every step.

    :math:`s_t = \mathrm{GRU}(s_{t-1}, [y_{t-1}; c])`, then `DeepOutput` of :math:`s_{t-1}, y_{t-1}, c`.

    Parameters
    ----------
    vocab, emb, dec, enc : int
        Words of the target vocabulary; features of an embedding, of a state and of a context.
    maxout : int
        Units of the output's maxout layer.
    reads_new_state : bool
        Give the output :math:`s_t` instead.

    Notes
    -----
    The RNNencdec of Bahdanau et al. 2015, after Cho et al. 2014. The GRU is PyTorch's, which differs from the
    papers': see `attnlib.cells.gru_step`. All steps are one call of it, ``3 * dec * (emb + enc + dec)``
    multiply-adds a word, plus the output's.
    """

    def __init__(self, *, vocab: int, emb: int, dec: int, enc: int, maxout: int, reads_new_state: bool = False):
        check_whole(vocab=vocab, emb=emb, dec=dec, enc=enc, maxout=maxout)
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb)
        self.gru = nn.GRU(emb + enc, dec, batch_first=True)
        self.readout = DeepOutput(vocab=vocab, emb=emb, dec=dec, enc=enc, maxout=maxout)
        self.reads_new_state = reads_new_state

    def start(self, encoded: Encoded) -> State:
        """Begin at the encoder's s_0."""
        check_state(encoded, (self.gru.hidden_size,))
        check_shape("encoded.summary", encoded.summary, "batch", self.gru.input_size - self.embedding.embedding_dim)
        return State(encoded.summary, encoded.state, 0)

    def step(self, words: Int[Tensor, "batch"], state: State) -> tuple[Float[Tensor, "batch vocab"], None, State]:
        """Take the word before and score the next one."""
        logits, s = self._run(words[:, None], *state)
        return logits[:, 0], None, State(state.memory, (s,), state.step + 1)

    def forward(
        self, words: Int[Tensor, "batch tgt"], encoded: Encoded
    ) -> tuple[Float[Tensor, "batch tgt vocab"], None]:
        """Score all words, given for each the word before."""
        return self._run(words, *self.start(encoded))[0], None

    def _run(self, words, summary, recurrent, step):
        (s,) = recurrent
        check_target(words, len(recurrent[0]), self.embedding.num_embeddings)
        y = self.embedding(words)
        c = summary[:, None].expand(-1, words.shape[1], -1)
        states, last = self.gru(torch.cat([y, c], 2), s[None].contiguous())
        before = torch.cat([s[:, None], states[:, :-1]], 1)
        return self.readout(states if self.reads_new_state else before, y, c), last[0]


class BahdanauDecoder(nn.Module):
    r"""Attend from the state before, then step (Bahdanau et al. 2015).

    :math:`c_t = \mathrm{align}(s_{t-1})`, :math:`s_t = \mathrm{GRU}(s_{t-1}, [y_{t-1}; c_t])`, then `DeepOutput` of
    :math:`s_{t-1}, y_{t-1}, c_t`: the paper's appendix and the authors' code give it the state before.

    Parameters
    ----------
    align : Align
        Any score, any window; the paper's are `Additive` and `Everywhere`.
    vocab, emb, dec, enc : int
        Words of the target vocabulary; features of an embedding, of a state and of an annotation.
    maxout : int
        Units of the output's maxout layer.
    reads_new_state : bool
        Give the output :math:`s_t` instead, as the paper's body writes it.

    Notes
    -----
    The GRU is PyTorch's, which differs from the paper's: see `attnlib.cells.gru_step`. A step costs what `align`
    costs and ``3 * batch * dec * (enc + dec)`` multiply-adds; the words' share, ``3 * dec * emb`` each, and the
    output layer wait for no step. Training keeps every step's hidden layer of an additive score:
    ``batch * tgt * src * att`` numbers.
    """

    def __init__(
        self, align: Align, *, vocab: int, emb: int, dec: int, enc: int, maxout: int, reads_new_state: bool = False
    ):
        check_whole(vocab=vocab, emb=emb, dec=dec, enc=enc, maxout=maxout)
        super().__init__()
        self.align = align
        self.embedding = nn.Embedding(vocab, emb)
        self.cell = nn.GRUCell(emb + enc, dec)
        self.readout = DeepOutput(vocab=vocab, emb=emb, dec=dec, enc=enc, maxout=maxout)
        self.reads_new_state = reads_new_state

    def start(self, encoded: Encoded) -> State:
        """Begin at the encoder's s_0."""
        check_state(encoded, (self.cell.hidden_size,))
        return State(self.align.remember(encoded.annotations, encoded.lengths), encoded.state, 0)

    def step(self, words: Int[Tensor, "batch"], state: State) -> tuple[Float[Tensor, "batch vocab"], Attended, State]:
        """Take the word before and score the next one."""
        logits, attended, s = self._run(words[:, None], *state)
        return logits[:, 0], attended, State(state.memory, (s,), state.step + 1)

    def forward(
        self, words: Int[Tensor, "batch tgt"], encoded: Encoded
    ) -> tuple[Float[Tensor, "batch tgt vocab"], Attended]:
        """Score all words, given for each the word before."""
        return self._run(words, *self.start(encoded))[:2]

    def _run(self, words, memory, recurrent, step):
        check_target(words, len(recurrent[0]), self.embedding.num_embeddings)
        y = self.embedding(words)
        W_y, W_c = self.cell.weight_ih.split([y.shape[2], self.cell.input_size - y.shape[2]], dim=1)
        states, looks = [recurrent[0]], []
        steps = torch.arange(step, step + words.shape[1], device=words.device).split(1)
        for x, t in zip(linear(y, W_y, self.cell.bias_ih).unbind(1), steps, strict=True):
            looks.append(self.align(states[-1][:, None], memory, t))
            x_c = torch.addmm(x, looks[-1].context.squeeze(1), W_c.T)
            states.append(gru_step(x_c, states[-1], self.cell.weight_hh, self.cell.bias_hh))
        attended = join(looks)
        read = torch.stack(states[1:] if self.reads_new_state else states[:-1], 1)
        return self.readout(read, y, attended.context), attended, states[-1]


class LuongDecoder(nn.Module):
    r"""Step, then attend from the new state (Luong et al. 2015).

    :math:`s_t = \mathrm{LSTM}(s_{t-1}, [y_{t-1}; \tilde{s}_{t-1}])`, :math:`c_t = \mathrm{align}(s_t)`,
    :math:`\tilde{s}_t = \tanh(W_c [c_t; s_t])`, and :math:`W_y \tilde{s}_t` scores the next word.

    Parameters
    ----------
    align : Align
        Any score, any window.
    vocab, emb, dec, enc : int
        Words of the target vocabulary; features of an embedding, of a state and of an annotation. ``W_c`` is
        ``(dec, enc + dec)``, ``W_y`` ``(vocab, dec)``.
    layers : int
        Height of the LSTM stack, the encoder's own; the top layer attends.
    input_feeding : bool
        Feed :math:`\tilde{s}_{t-1}` to the first layer (section 3.3). Without it the LSTM reads the words only, and
        all steps are one call of it and one of `align`.

    Notes
    -----
    A word costs ``4 * dec * (emb + dec)`` multiply-adds in the first layer (``4 * dec²`` more with input feeding) and
    ``8 * dec²`` in each above, ``dec * (enc + dec) + vocab * dec`` for the output, and what `align` costs.
    """

    def __init__(
        self, align: Align, *, vocab: int, emb: int, dec: int, enc: int, layers: int = 1, input_feeding: bool = True
    ):
        check_whole(vocab=vocab, emb=emb, dec=dec, enc=enc, layers=layers)
        super().__init__()
        self.align = align
        self.embedding = nn.Embedding(vocab, emb)
        self.lstm = nn.LSTM(emb + dec * input_feeding, dec, layers, batch_first=True)
        self.W_c, self.W_y = weight(dec, enc + dec), weight(vocab, dec)
        self.input_feeding = input_feeding

    def start(self, encoded: Encoded) -> State:
        """Begin where each layer of the encoder ended; what is fed first is 0."""
        check_state(encoded, *[(self.lstm.num_layers, self.lstm.hidden_size)] * 2)
        h, c = encoded.state
        fed = (torch.zeros_like(h[:, -1]),) if self.input_feeding else ()
        return State(self.align.remember(encoded.annotations, encoded.lengths), (h, c, *fed), 0)

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
        chain = self._one_by_one if self.input_feeding else self._all_at_once
        check_target(words, len(recurrent[0]), self.embedding.num_embeddings)
        steps = torch.arange(step, step + words.shape[1], device=words.device)
        tilde, attended, recurrent = chain(self.embedding(words), memory, recurrent, steps)
        return linear(tilde, self.W_y), attended, recurrent

    def _all_at_once(self, y, memory, recurrent, steps):
        h, c = (x.transpose(0, 1).contiguous() for x in recurrent)
        states, (h, c) = self.lstm(y, (h, c))
        attended = self.align(states, memory, steps)
        return self._attentional(attended, states), attended, (h.transpose(0, 1), c.transpose(0, 1))

    def _one_by_one(self, y, memory, recurrent, steps):
        h, c = (list(x.unbind(1)) for x in recurrent[:2])
        layers = self.lstm.all_weights  # of each: W_ih, W_hh, b_ih, b_hh
        W_y, W_fed = layers[0][0].split([y.shape[2], self.lstm.hidden_size], dim=1)
        tildes, looks = [recurrent[2]], []
        for x, t in zip(linear(y, W_y, layers[0][2] + layers[0][3]).unbind(1), steps.split(1), strict=True):
            above = torch.addmm(x, tildes[-1], W_fed.T)
            for n, (_, W_hh, *_) in enumerate(layers):
                h[n], c[n] = lstm_step(above, h[n], c[n], W_hh)
                if n + 1 < len(layers):
                    W_ih, _, b_ih, b_hh = layers[n + 1]
                    above = linear(h[n], W_ih, b_ih + b_hh)
            looks.append(self.align(h[-1][:, None], memory, t))
            tildes.append(self._attentional(looks[-1], h[-1][:, None]).squeeze(1))
        return torch.stack(tildes[1:], 1), join(looks), (torch.stack(h, 1), torch.stack(c, 1), tildes[-1])

    def _attentional(self, attended, states):
        return torch.tanh(linear(torch.cat([attended.context, states], 2), self.W_c))


def join(looks: Sequence[Attended]) -> Attended:
    """Put the looks of steps that follow each other side by side, as one look of all of them.

    Parameters
    ----------
    looks : Attended, one or more
        In the order of their steps, all through the same window.

    Returns
    -------
    Attended
        Its `tgt` is the sum of theirs.
    """
    if not looks:
        raise ValueError("looks is empty; expected at least one")
    context, weights, positions = zip(*looks, strict=True)
    return Attended(
        torch.cat(context, 1), torch.cat(weights, 1), None if positions[0] is None else torch.cat(positions, 1)
    )


def check_state(encoded: Encoded, *expected: tuple[int, ...]) -> None:
    """Refuse an encoder's state that is not one of the `expected` shape, batch apart, for each that the decoder has."""
    if len(encoded.state) != len(expected):
        raise ValueError(f"encoded.state has {len(encoded.state)} tensors; expected {len(expected)}")
    for n, (state, sizes) in enumerate(zip(encoded.state, expected, strict=True)):
        check_shape(f"encoded.state[{n}]", state, len(encoded.lengths), *sizes)


def check_target(words: Int[Tensor, "batch tgt"], batch: int, vocab: int) -> None:
    """Refuse words before that are not one or more for each sentence of the state, or not of the vocabulary."""
    check_shape("words", words, batch, "tgt")
    if not words.shape[1]:
        raise ValueError(f"words has shape {tuple(words.shape)}; expected at least one word of each sentence")
    check_ids("words", words, vocab)
