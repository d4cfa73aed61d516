"""What a decoder's step costs, by formula: multiply-adds for one target word.

Only products are counted, as in the modules' own notes. What is done once a sentence, the score's keys, is not part
of a step, and neither are sums, softmaxes and activations.
"""

from functools import singledispatch

from torch import nn

from attnlib.alignment import Align
from attnlib.checks import check_whole
from attnlib.decoders import BahdanauDecoder, DeepOutput, FixedContextDecoder, LuongDecoder
from attnlib.experiments.hybrids import StepFirstDecoder
from attnlib.scores import Additive, Concat, Dot, General, Location
from attnlib.windows import Everywhere, LocalPredictive


def parameters(model: nn.Module) -> int:
    """Count the numbers that training may change."""
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


@singledispatch
def multiply_adds(decoder: nn.Module, src: int) -> int:
    """Count the multiply-adds of one step of a decoder, for one sentence.

    Parameters
    ----------
    decoder : nn.Module
        One of `attnlib.decoders`, or a `StepFirstDecoder`, as in ``translator.decoder``.
    src : int
        How many words the source has, END among them.

    Returns
    -------
    int

    Raises
    ------
    TypeError
        If `decoder` is of another kind, or `src` no whole number.
    ValueError
        If `src` is below 1.
    """
    raise TypeError(f"decoder is a {type(decoder).__name__}; expected one of attnlib.decoders")


@multiply_adds.register
def _(decoder: FixedContextDecoder, src: int) -> int:
    check_whole(src=src)
    return _recurrent(decoder.gru) + _output(decoder.readout)


@multiply_adds.register
def _(decoder: BahdanauDecoder | StepFirstDecoder, src: int) -> int:
    enc = decoder.cell.input_size - decoder.embedding.embedding_dim
    attention = _attention(decoder.align, decoder.cell.hidden_size, enc, src)
    return attention + _recurrent(decoder.cell) + _output(decoder.readout)


@multiply_adds.register
def _(decoder: LuongDecoder, src: int) -> int:
    dec, both = decoder.W_c.shape
    attention = _attention(decoder.align, dec, both - dec, src)
    return attention + _recurrent(decoder.lstm) + decoder.W_c.numel() + decoder.W_y.numel()


def _attention(align: Align, dec: int, enc: int, src: int) -> int:
    """Where to look, how well each position matches, and the average."""
    check_whole(src=src)
    look = src if isinstance(align.window, Everywhere) else min(2 * align.window.half_width + 1, src)
    centre = align.window.W_p.numel() + dec if isinstance(align.window, LocalPredictive) else 0
    return centre + _match(align.score, dec, look) + look * enc


def _match(score: nn.Module, dec: int, look: int) -> int:
    if isinstance(score, Additive | Concat):
        att = len(score.v_a)
        return att * dec + look * att
    if isinstance(score, Dot | General | Location):
        return look * dec
    raise TypeError(f"score is a {type(score).__name__}; expected one of attnlib.scores")


def _recurrent(cell: nn.Module) -> int:
    return sum(weight.numel() for name, weight in cell.named_parameters() if name.startswith("weight"))


def _output(readout: DeepOutput) -> int:
    return sum(weight.numel() for weight in readout.parameters())
