"""Whoever calls this package with something that does not fit is told which argument, what it was, what was expected.

The tests run under a hook that checks all types and shapes before a function begins. Readers run without it, and so
does this file.
"""

import inspect
import pkgutil
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import jaxtyping
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from attnlib.hybrids import StepFirstDecoder, step_first
from torch import nn

import attnlib
from attnlib import costs, metrics
from attnlib.alignment import Align, check_lengths
from attnlib.attention import Attended, attention, masked_softmax
from attnlib.batches import batch, batches, encode
from attnlib.cells import gru_step, lstm_step
from attnlib.checks import (
    check_finite,
    check_floating,
    check_ids,
    check_integers,
    check_leading,
    check_sentences,
    check_shape,
    check_vocabularies,
    check_whole,
    check_words,
)
from attnlib.decoders import (
    BahdanauDecoder,
    DeepOutput,
    FixedContextDecoder,
    LuongDecoder,
    check_state,
    check_target,
    join,
)
from attnlib.encoders import BidirectionalGRU, Encoded, StackedLSTM
from attnlib.language import lexicon, phrases
from attnlib.language.grammar import sample
from attnlib.parameters import seeded, weight
from attnlib.pictures import cards, explorer, figures
from attnlib.scores import Additive, Concat, Dot, General, Location, additive, dot
from attnlib.search import beam, greedy, translate_all
from attnlib.training import train, warm_cosine, word_loss
from attnlib.translator import Translator, luong, rnn_encdec, rnn_search
from attnlib.vocabulary import END, SentencePair, Vocabulary
from attnlib.windows import Everywhere, LocalMonotonic, LocalPredictive, gaussian, support
from attnlib.writing import write_atomically

NAN, INF = float("nan"), float("inf")
EYE, ABC = np.eye(3), ["a", "b", "c"]
WORDS, MOTS = Vocabulary(("a", "b", "c")), Vocabulary(("u", "v"))
PAIRS = [SentencePair(("a", "b"), ("u", "v"), frozenset({(0, 0), (1, 1)}))]
NO_SOURCE = [SentencePair((), ("u",))]
SOURCE, LENGTHS = torch.tensor([[4, 5, 2], [4, 2, 0]]), torch.tensor([3, 2])
TOO_SHORT = torch.tensor([3, 0])
TARGET = torch.tensor([[4, 5, 2], [5, 2, 0]])
SIZES = {"vocab": 6, "emb": 5, "dec": 6, "enc": 6}


def ones(*shape: int) -> torch.Tensor:
    return torch.ones(shape)


def model() -> Translator:
    return luong(WORDS, MOTS, emb=4, hid=6)


def spoilt() -> Translator:
    """Give a model with one weight that is no number."""
    translator = model()
    translator.decoder.W_y.data[END] = NAN
    return translator


def nameless() -> Translator:
    return Translator(model().encoder, model().decoder)


def encoded(lengths: torch.Tensor = LENGTHS, enc: int = 6, dec: int = 6, states: int = 1) -> Encoded:
    """Say of two sentences what an encoder would; an LSTM's states come in two, each with an axis of layers."""
    state = (ones(2, dec),) if states == 1 else (ones(2, 1, dec), ones(2, 1, dec))
    return Encoded(ones(2, 3, enc), lengths, ones(2, enc), state)


def bahdanau(**changed: int) -> BahdanauDecoder:
    return BahdanauDecoder(Align(General(6, 6), Everywhere()), **SIZES | {"maxout": 3} | changed)


def luongs(**changed: int) -> LuongDecoder:
    return LuongDecoder(Align(General(6, 6), Everywhere()), **SIZES | changed)


def stepping(**changed: int) -> StepFirstDecoder:
    return StepFirstDecoder(Align(General(6, 6), Everywhere()), nn.GRUCell(11, 6), **SIZES | {"maxout": 3} | changed)


def fixed(**changed: int) -> FixedContextDecoder:
    return FixedContextDecoder(**SIZES | {"maxout": 3} | changed)


def aligned() -> tuple[Align, Any]:
    align = Align(General(4, 3), Everywhere())
    return align, align.remember(ones(2, 5, 3), torch.tensor([5, 2]))


@pytest.fixture(scope="module", autouse=True)
def as_readers_run_it():
    """Turn the hook off."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jaxtyping.config, "jaxtyping_disable", True)
        yield
    plt.close("all")


# What is called, how, the error, and what it must say: the argument first, then what it was or what was expected.
CASES: list[tuple[str, Callable[[], Any], type[Exception], tuple[str, ...]]] = [
    # checks, parameters
    ("check_whole", lambda: check_whole(n=2.5), TypeError, ("n is 2.5", "expected a whole number")),
    ("check_whole", lambda: check_whole(n=True), TypeError, ("n is True", "expected a whole number")),
    ("check_whole", lambda: check_whole(2, n=np.int64(1)), ValueError, ("n is 1", "expected at least 2")),
    ("check_finite", lambda: check_finite(unit=-INF), ValueError, ("unit is -inf", "expected a finite number")),
    ("check_floating", lambda: check_floating(x=[1.0]), TypeError, ("x is a list", "expected a NumPy array")),
    ("check_floating", lambda: check_floating(x=EYE > 0), TypeError, ("x has shape", "bool", "expected floating")),
    ("check_integers", lambda: check_integers(x=[1]), TypeError, ("x is a list", "expected a NumPy array")),
    ("check_integers", lambda: check_integers(x=ones(2) > 0), TypeError, ("x has shape", "bool", "expected whole")),
    ("check_shape", lambda: check_shape("x", EYE, 3), ValueError, ("x has shape (3, 3)", "expected (3,)")),
    ("check_shape", lambda: check_shape("x", EYE, "tgt", 4), ValueError, ("x has shape (3, 3)", "expected (tgt, 4)")),
    ("check_leading", lambda: check_leading(1, x=EYE, y=EYE[0]), ValueError, ("y has shape (3,)", "same leading")),
    ("check_ids", lambda: check_ids("x", TARGET, 5), ValueError, ("x holds 5", "expected word numbers from 0 to 4")),
    ("check_ids", lambda: check_ids("x", -TARGET, 5), ValueError, ("x holds -5", "expected word numbers from 0")),
    ("check_words", lambda: check_words("x", "le chat"), TypeError, ("x is the string 'le chat'", "expected a seq")),
    ("check_words", lambda: check_words("x", [4]), TypeError, ("x holds 4", "expected words")),
    ("check_sentences", lambda: check_sentences("x", "le"), TypeError, ("x is the string 'le'", "expected a seq")),
    ("check_sentences", lambda: check_sentences("x", [["le"], "le"]), TypeError, ("x[1] is the string 'le'",)),
    ("check_vocabularies", lambda: check_vocabularies(nameless()), ValueError, ("translator has no voc", "made with")),
    ("weight", lambda: weight(3, 0), ValueError, ("shape is (3, 0)", "each at least 1")),
    ("weight", lambda: weight(2.0), ValueError, ("shape is (2.0,)", "expected whole numbers")),
    ("seeded", lambda: seeded("one").__enter__(), TypeError, ("seed is 'one'", "expected a whole number")),
    # attention
    ("Attended.dense", lambda: Attended(EYE, EYE).dense(4), ValueError, ("src is 4", "cover 3")),
    ("Attended.dense", lambda: Attended(EYE, EYE, EYE.astype(int)).dense(0), ValueError, ("src is 0",)),
    ("Attended.dense", lambda: Attended(EYE, EYE).dense(3.5), TypeError, ("src is 3.5", "expected a whole number")),
    (
        "Attended.dense",
        lambda: Attended(EYE, EYE, EYE[:1, :1].astype(int)).dense(3),
        ValueError,
        ("positions has shape (1, 1)", "expected (3, 3)"),
    ),
    ("masked_softmax", lambda: masked_softmax("ab"), TypeError, ("e is a str", "expected a NumPy array")),
    ("masked_softmax", lambda: masked_softmax(EYE, axis=2), ValueError, ("axis is 2", "expected one of its 2")),
    ("masked_softmax", lambda: masked_softmax(EYE[:, :0]), ValueError, ("e has shape (3, 0)", "at least one")),
    ("masked_softmax", lambda: masked_softmax(EYE, EYE), TypeError, ("mask has shape", "float64", "expected bool")),
    ("masked_softmax", lambda: masked_softmax(EYE, EYE[:2] > 0), ValueError, ("mask has shape (2, 3)", "to (3, 3)")),
    ("attention", lambda: attention(EYE, EYE, EYE[:2]), ValueError, ("keys (3, 3)", "values (2, 3)")),
    ("attention", lambda: attention(EYE, None, EYE), TypeError, ("keys is a NoneType", "expected a NumPy array")),
    ("attention", lambda: attention(EYE, EYE * 1j, EYE), TypeError, ("keys has", "complex128", "expected real")),
    ("attention", lambda: attention(EYE, EYE, EYE, EYE[0] * NAN), TypeError, ("mask has", "expected bool")),
    # scores
    ("dot", lambda: dot(EYE, EYE[:, :2]), ValueError, ("h has shape (3, 2)", "expected 3 features")),
    ("dot", lambda: dot(EYE.astype("int8"), EYE), TypeError, ("s has shape (3, 3)", "int8", "expected floating")),
    ("dot", lambda: dot(ones(2, 3) > 0, ones(2, 3) > 0), TypeError, ("s has", "torch.bool", "expected floating")),
    ("dot", lambda: dot(ones(1, 4, 3), ones(2, 5, 3)), ValueError, ("s has shape (1, 4, 3)", "same leading axes")),
    ("additive", lambda: additive(EYE, EYE, np.ones(2)), ValueError, ("queries has shape (3, 3)", "expected 2")),
    ("additive", lambda: additive(EYE, EYE[:, :2], np.ones(3)), ValueError, ("keys has shape (3, 2)", "expected 3")),
    ("additive", lambda: additive(EYE > 0, EYE > 0, np.ones(3)), TypeError, ("queries has", "expected floating")),
    ("Dot.forward", lambda: Dot()(ones(2, 3), ones(2, 4)), ValueError, ("h has shape (2, 4)", "expected 3")),
    ("General.keys", lambda: General(4, 3).keys(ones(2, 4)), ValueError, ("h has shape (2, 4)", "expected 3")),
    (
        "General.forward",
        lambda: General(4, 3)(ones(2, 3), ones(2, 4)),
        ValueError,
        ("s has shape (2, 3)", "expected 4"),
    ),
    ("Additive.keys", lambda: Additive(4, 3, 5).keys(ones(2, 4)), ValueError, ("h has shape", "expected 3")),
    ("Additive.forward", lambda: Additive(4, 3, 5)(ones(2, 3), ones(2, 5)), ValueError, ("s has", "expected 4")),
    ("Additive.forward", lambda: Additive(4, 3, 5)(ones(2, 4), ones(2, 4)), ValueError, ("keys has", "expected 5")),
    ("Concat.keys", lambda: Concat(4, 3, 5).keys(ones(2, 4)), ValueError, ("h has shape", "expected 3")),
    ("Concat.forward", lambda: Concat(4, 3, 5)(ones(2, 3), ones(2, 5)), ValueError, ("s has", "expected 4")),
    ("Location.keys", lambda: Location(4, 9).keys(ones(10, 3)), ValueError, ("h has 10", "max_src, 9")),
    ("Location.forward", lambda: Location(4, 9)(ones(2, 3), ones(9, 0)), ValueError, ("s has", "expected 4")),
    ("Additive.forward", lambda: Additive(4, 3, 5)(ones(1, 2, 4), ones(2, 2, 5)), ValueError, ("same leading",)),
    ("Concat.forward", lambda: Concat(4, 3, 5)(ones(2, 2, 4), ones(1, 2, 5)), ValueError, ("same leading",)),
    ("Location.forward", lambda: Location(4, 9)(ones(1, 2, 4), ones(2, 5, 0)), ValueError, ("same leading",)),
    ("General", lambda: General(3, 0), ValueError, ("enc is 0", "expected at least 1")),
    ("Additive", lambda: Additive(3, 3, -1), ValueError, ("att is -1", "expected at least 1")),
    ("Concat", lambda: Concat(-1, 3, 3), ValueError, ("dec is -1", "expected at least 1")),
    ("Location", lambda: Location(3, 2.5), TypeError, ("max_src is 2.5", "expected a whole number")),
    # windows
    ("support", lambda: support(EYE, 0, np.ones(3), 3), ValueError, ("half_width is 0", "expected at least 1")),
    ("support", lambda: support(EYE, 1, np.ones(3), 0), ValueError, ("src is 0", "expected at least 1")),
    ("support", lambda: support(EYE, 1, np.ones(1), 3), ValueError, ("lengths has shape (1,)", "expected (3,)")),
    ("support", lambda: support(EYE * NAN, 1, np.ones(3), 3), ValueError, ("p has shape (3, 3) and holds NaN",)),
    ("gaussian", lambda: gaussian(EYE, EYE, -1), ValueError, ("half_width is -1", "expected at least 1")),
    ("LocalMonotonic", lambda: LocalMonotonic(0), ValueError, ("half_width is 0", "expected at least 1")),
    ("LocalMonotonic", lambda: LocalMonotonic(NAN), TypeError, ("half_width is nan", "expected a whole number")),
    ("LocalPredictive", lambda: LocalPredictive(3, -2), ValueError, ("half_width is -2", "expected at least 1")),
    ("LocalPredictive", lambda: LocalPredictive(3, None), TypeError, ("half_width is None", "expected a whole")),
    ("LocalPredictive", lambda: LocalPredictive(0, 1), ValueError, ("dec is 0", "expected at least 1")),
    (
        "LocalMonotonic.centre",
        lambda: LocalMonotonic(1).centre(ones(2, 2, 3), torch.arange(2) - 1, LENGTHS),
        ValueError,
        ("steps holds -1", "from 0"),
    ),
    (
        "LocalMonotonic.__call__",
        lambda: LocalMonotonic(1)(ones(2, 2, 3), torch.arange(2) - 9, LENGTHS, ones(2, 1, 3) > 0),
        ValueError,
        ("steps holds -9", "from 0"),
    ),
    (
        "LocalPredictive.centre",
        lambda: LocalPredictive(3, 1).centre(ones(2, 2, 4), torch.arange(2), LENGTHS),
        ValueError,
        ("s has shape (2, 2, 4)", "expected (2, tgt, 3)"),
    ),
    (
        "LocalPredictive.forward",
        lambda: LocalPredictive(3, 1)(ones(1, 2, 3), torch.arange(2), LENGTHS, ones(2, 1, 3) > 0),
        ValueError,
        ("s has shape (1, 2, 3)", "expected (2, tgt, 3)"),
    ),
    (
        "LocalPredictive.forward",
        lambda: LocalPredictive(3, 1)(ones(2, 2, 3) * NAN, torch.arange(2), LENGTHS, ones(2, 1, 3) > 0),
        ValueError,
        ("p has shape (2, 2) and holds NaN", "expected source positions"),
    ),
    # alignment
    ("Align", lambda: Align(Location(3, 5), LocalMonotonic(2)), ValueError, ("window is Local", "expected Everywhere")),
    (
        "Align.remember",
        lambda: aligned()[0].remember(ones(2, 3, 3), TOO_SHORT),
        ValueError,
        ("lengths holds 0", "1 to 3"),
    ),
    (
        "Align.remember",
        lambda: aligned()[0].remember(ones(2, 2, 3), LENGTHS),
        ValueError,
        ("lengths holds 3", "1 to 2"),
    ),
    ("Align.remember", lambda: aligned()[0].remember(ones(2, 3, 4), LENGTHS), ValueError, ("h has", "expected 3")),
    ("Align.remember", lambda: aligned()[0].remember(ones(2, 3), LENGTHS), ValueError, ("h has", "(batch, src, enc)")),
    (
        "Align.forward",
        lambda: aligned()[0](ones(3, 2, 4), aligned()[1], torch.arange(2)),
        ValueError,
        ("s has shape (3, 2, 4)", "steps (2,)", "expected (2, tgt, dec)"),
    ),
    (
        "Align.forward",
        lambda: aligned()[0](ones(2, 0, 4), aligned()[1], torch.arange(0)),
        ValueError,
        ("s has shape (2, 0, 4)", "at least one step"),
    ),
    ("check_lengths", lambda: check_lengths(LENGTHS, (3, 9)), ValueError, ("lengths has shape (2,)", "expected (3,)")),
    ("check_lengths", lambda: check_lengths(LENGTHS * 1.5, (2, 9)), TypeError, ("lengths has", "expected whole")),
    ("check_lengths", lambda: check_lengths(LENGTHS * NAN, (2, 9)), TypeError, ("lengths has", "expected whole")),
    ("check_lengths", lambda: check_lengths(LENGTHS > 0, (2, 9)), TypeError, ("lengths has", "torch.bool")),
    ("check_lengths", lambda: check_lengths([3, 2], (2, 9)), TypeError, ("lengths is a list", "expected a NumPy")),
    ("check_lengths", lambda: check_lengths(LENGTHS[:0], (0, 9)), ValueError, ("source has shape (0, 9)", "one sen")),
    ("check_lengths", lambda: check_lengths(LENGTHS, (2,)), ValueError, ("source has shape (2,)", "(batch, src)")),
    ("check_lengths", lambda: check_lengths(LENGTHS, (2, 9, 1)), ValueError, ("source has shape (2, 9, 1)",)),
    # cells
    ("gru_step", lambda: gru_step(ones(2, 8), ones(2, 3), ones(9, 3), ones(9)), ValueError, ("x has shape (2, 8)",)),
    ("gru_step", lambda: gru_step(ones(2, 9), ones(1, 3), ones(9, 3), ones(9)), ValueError, ("s has shape (1, 3)",)),
    ("gru_step", lambda: gru_step(ones(2, 9), ones(2, 3), ones(9, 3), ones(1)), ValueError, ("b_hh has shape (1,)",)),
    ("gru_step", lambda: gru_step(ones(2, 9), ones(2, 3), ones(8, 3), ones(8)), ValueError, ("W_hh has", "(9, 3)")),
    (
        "lstm_step",
        lambda: lstm_step(ones(2, 12), ones(2, 3), ones(2, 1), ones(12, 3)),
        ValueError,
        ("c has shape (2, 1)", "expected (2, 3)"),
    ),
    # encoders, decoders, hybrids
    (
        "BidirectionalGRU.forward",
        lambda: BidirectionalGRU(7, 3, 4, 5)(SOURCE, TOO_SHORT),
        ValueError,
        ("lengths holds 0",),
    ),
    (
        "StackedLSTM.forward",
        lambda: StackedLSTM(7, 3, 4)(SOURCE, LENGTHS + 1),
        ValueError,
        ("lengths holds 4", "1 to 3"),
    ),
    ("BidirectionalGRU", lambda: BidirectionalGRU(7, 3, 0, 5), ValueError, ("hid is 0", "expected at least 1")),
    (
        "BidirectionalGRU.forward",
        lambda: BidirectionalGRU(5, 3, 4, 5)(SOURCE, LENGTHS),
        ValueError,
        ("source holds 5", "expected word numbers from 0 to 4"),
    ),
    ("StackedLSTM", lambda: StackedLSTM(7, 3, 4, 0), ValueError, ("layers is 0", "expected at least 1")),
    (
        "StackedLSTM.forward",
        lambda: StackedLSTM(7, 3, 4)(SOURCE.float(), LENGTHS),
        TypeError,
        ("source has shape (2, 3)", "torch.float32", "expected whole numbers"),
    ),
    ("check_state", lambda: check_state(encoded(), (6,), (6,)), ValueError, ("encoded.state has 1", "expected 2")),
    ("check_state", lambda: check_state(encoded(), (5,)), ValueError, ("encoded.state[0] has", "expected (2, 5)")),
    ("check_target", lambda: check_target(TARGET[:, :0], 2, 6), ValueError, ("words has shape (2, 0)", "one word")),
    ("DeepOutput", lambda: DeepOutput(**SIZES, maxout=0), ValueError, ("maxout is 0", "expected at least 1")),
    (
        "DeepOutput.forward",
        lambda: DeepOutput(**SIZES, maxout=3)(ones(1, 6), ones(2, 5), ones(2, 6)),
        ValueError,
        ("s has shape (1, 6)", "expected the same leading axes"),
    ),
    (
        "DeepOutput.forward",
        lambda: DeepOutput(**SIZES, maxout=3)(ones(2, 6), ones(1, 5), ones(2, 6)),
        ValueError,
        ("y has shape (1, 5)", "expected the same leading axes"),
    ),
    (
        "DeepOutput.forward",
        lambda: DeepOutput(**SIZES, maxout=3)(ones(2, 6), ones(2, 5), ones(1, 6)),
        ValueError,
        ("c has shape (1, 6)", "expected the same leading axes"),
    ),
    ("FixedContextDecoder", lambda: fixed(enc=-1), ValueError, ("enc is -1", "expected at least 1")),
    (
        "FixedContextDecoder.start",
        lambda: fixed().start(encoded(states=2)),
        ValueError,
        ("encoded.state has 2 tensors", "expected 1"),
    ),
    (
        "FixedContextDecoder.step",
        lambda: fixed().step(torch.tensor([1]), fixed().start(encoded())),
        ValueError,
        ("words has shape (1, 1)", "expected (2, tgt)"),
    ),
    (
        "FixedContextDecoder.forward",
        lambda: fixed()(TARGET, encoded(enc=5)),
        ValueError,
        ("encoded.summary has shape (2, 5)", "expected (batch, 6)"),
    ),
    ("BahdanauDecoder", lambda: bahdanau(dec=True), TypeError, ("dec is True", "expected a whole number")),
    ("BahdanauDecoder.start", lambda: bahdanau().start(encoded(dec=5)), ValueError, ("encoded.state[0] has", "(2, 6)")),
    ("BahdanauDecoder.start", lambda: bahdanau().start(encoded(TOO_SHORT)), ValueError, ("lengths holds 0",)),
    ("BahdanauDecoder.forward", lambda: bahdanau()(TARGET, encoded(enc=5)), ValueError, ("h has", "expected 6")),
    (
        "BahdanauDecoder.step",
        lambda: bahdanau().step(TARGET[:1, 0], bahdanau().start(encoded())),
        ValueError,
        ("words has shape (1, 1)", "expected (2, tgt)"),
    ),
    ("LuongDecoder.start", lambda: luongs().start(encoded(TOO_SHORT, states=2)), ValueError, ("lengths holds 0",)),
    ("LuongDecoder", lambda: luongs(enc=-1), ValueError, ("enc is -1", "expected at least 1")),
    ("LuongDecoder", lambda: luongs(layers=0), ValueError, ("layers is 0", "expected at least 1")),
    (
        "LuongDecoder.start",
        lambda: luongs(layers=2).start(encoded(states=2)),
        ValueError,
        ("encoded.state[0] has shape (2, 1, 6)", "expected (2, 2, 6)"),
    ),
    (
        "LuongDecoder.step",
        lambda: luongs().step(torch.tensor([1]), luongs().start(encoded(states=2))),
        ValueError,
        ("words has shape (1, 1)", "expected (2, tgt)"),
    ),
    ("LuongDecoder.forward", lambda: luongs()(TARGET, encoded(enc=5, states=2)), ValueError, ("h has", "expected 6")),
    ("StepFirstDecoder.start", lambda: stepping().start(encoded(TOO_SHORT)), ValueError, ("lengths holds 0",)),
    ("StepFirstDecoder", lambda: stepping(maxout=0), ValueError, ("maxout is 0", "expected at least 1")),
    ("StepFirstDecoder", lambda: stepping(enc=5), ValueError, ("cell is GRUCell(11, 6)", "expected one from 10")),
    (
        "StepFirstDecoder.start",
        lambda: stepping().start(encoded(states=2)),
        ValueError,
        ("encoded.state has shapes", "expected 1 with 6 features"),
    ),
    (
        "StepFirstDecoder.step",
        lambda: stepping().step(torch.tensor([9, 1]), stepping().start(encoded())),
        ValueError,
        ("words holds 9", "expected word numbers from 0 to 5"),
    ),
    ("decoders.join", lambda: join([]), ValueError, ("looks is empty", "expected at least one")),
    ("step_first", lambda: step_first(WORDS, MOTS, hid=1), ValueError, ("hid is 1", "expected at least 2")),
    ("StepFirstDecoder.forward", lambda: stepping()(TARGET, encoded(enc=5)), ValueError, ("h has", "expected 6")),
    (
        "step_first",
        lambda: step_first(WORDS, MOTS, recurrent="rnn"),
        ValueError,
        ("recurrent is 'rnn'", "expected 'gru'"),
    ),
    # corpus
    ("Vocabulary", lambda: Vocabulary(("a", "a")), ValueError, ("words holds 2", "expected each once")),
    ("Vocabulary", lambda: Vocabulary("ab"), TypeError, ("words is the string 'ab'", "expected a sequence of words")),
    ("Vocabulary.of", lambda: Vocabulary.of(["a b"]), TypeError, ("words is the string 'a b'", "expected a sequence")),
    ("Vocabulary.of", lambda: Vocabulary.of([[]]), ValueError, ("words is empty", "expected at least one")),
    ("Vocabulary.encode", lambda: WORDS.encode(""), TypeError, ("words is the string ''", "expected a sequence")),
    ("Vocabulary.decode", lambda: WORDS.decode([4, -1]), ValueError, ("ids holds -1", "expected numbers from 0 to 6")),
    ("encode", lambda: encode([["a"], []], WORDS), ValueError, ("words is empty", "expected at least one")),
    ("batch", lambda: batch([], WORDS, MOTS), ValueError, ("sentences is empty", "expected at least one")),
    (
        "batches",
        lambda: batches(PAIRS, WORDS, MOTS, words=2, seed=0),
        ValueError,
        ("words is 2", "expected at least 3"),
    ),
    ("batches", lambda: batches(NO_SOURCE, WORDS, MOTS, words=9, seed=0), ValueError, ("words is empty",)),
    (
        "batches",
        lambda: batches(PAIRS, WORDS, MOTS, words=NAN, seed=0),
        TypeError,
        ("words is nan", "expected a whole"),
    ),
    ("batches", lambda: batches(PAIRS, WORDS, MOTS, words=9, seed=None), TypeError, ("seed is None", "expected a wh")),
    # translator, search, training
    ("Translator.forward", lambda: model()(SOURCE, LENGTHS, TARGET[:1]), ValueError, ("target has 1", "expected 2")),
    ("Translator.forward", lambda: model()(SOURCE, LENGTHS, TARGET[:, :0]), ValueError, ("target has shape (2, 0)",)),
    ("Translator.forward", lambda: model()(SOURCE, LENGTHS, TARGET + 9), ValueError, ("words holds 14", "0 to 5")),
    ("Translator.forward", lambda: model()(SOURCE[0], LENGTHS, TARGET[0]), ValueError, ("target has", "(batch, tgt)")),
    ("Translator.start", lambda: model().start(SOURCE, TOO_SHORT), ValueError, ("lengths holds 0", "1 to 3")),
    ("Translator.start", lambda: model().start(SOURCE[0], LENGTHS), ValueError, ("source has shape (3,)", "(batch, s")),
    (
        "Translator.step",
        lambda: model().step(torch.tensor([9, 9]), model().start(SOURCE, LENGTHS)),
        ValueError,
        ("words holds 9", "expected word numbers from 0 to 5"),
    ),
    ("Translator.translate", lambda: model().translate(3), TypeError, ("sentence is 3", "expected a str")),
    ("Translator.translate", lambda: model().translate(" "), ValueError, ("sentence is ' '", "expected at least one")),
    ("Translator.translate", lambda: nameless().translate("a"), ValueError, ("source_vocabulary or", "is None")),
    ("Translator.translate", lambda: model().translate("a", 0), ValueError, ("max_length is 0", "expected at least 1")),
    ("rnn_encdec", lambda: rnn_encdec(WORDS, MOTS, hid=1), ValueError, ("hid is 1", "expected at least 2")),
    ("rnn_search", lambda: rnn_search(WORDS, MOTS, att=-1), ValueError, ("att is -1", "expected at least 1")),
    ("luong", lambda: luong(WORDS, MOTS, seed=0.5), TypeError, ("seed is 0.5", "expected a whole number")),
    ("luong", lambda: luong(WORDS, MOTS, score="cosine"), ValueError, ("score is 'cosine'", "expected one of dot")),
    (
        "luong",
        lambda: luong(WORDS, MOTS, window="predictive", half_width=0),
        ValueError,
        ("half_width is 0", "expected at least 1"),
    ),
    ("greedy", lambda: greedy(model(), SOURCE, LENGTHS, -1), ValueError, ("max_length is -1", "expected at least 1")),
    ("greedy", lambda: greedy(model(), SOURCE, LENGTHS, 1.5), TypeError, ("max_length is 1.5", "expected a whole")),
    (
        "greedy",
        lambda: greedy(spoilt(), SOURCE, LENGTHS, 3),
        FloatingPointError,
        ("logits hold NaN", "a finite number"),
    ),
    ("beam", lambda: beam(spoilt(), SOURCE, LENGTHS, 3, 2), FloatingPointError, ("logits hold NaN", "a finite number")),
    (
        "beam",
        lambda: beam(model(), SOURCE, LENGTHS, 3, 2, normalisation=NAN),
        ValueError,
        ("normalisation is nan", "expected a finite number"),
    ),
    ("Translator.translate", lambda: spoilt().translate("a"), FloatingPointError, ("logits hold NaN", "a finite")),
    ("beam", lambda: beam(model(), SOURCE, LENGTHS, 0, 2), ValueError, ("max_length is 0", "expected at least 1")),
    ("beam", lambda: beam(model(), SOURCE, LENGTHS, 3, 0), ValueError, ("width is 0", "expected at least 1")),
    (
        "translate_all",
        lambda: translate_all(model(), ["a"], max_length=3),
        TypeError,
        ("sentences[0] is the string 'a'",),
    ),
    (
        "translate_all",
        lambda: translate_all(nameless(), [("a",)], max_length=3),
        ValueError,
        ("translator has no voc",),
    ),
    (
        "translate_all",
        lambda: translate_all(model(), [("a",)], max_length=3, at_once=-1),
        ValueError,
        ("at_once is -1",),
    ),
    ("translate_all", lambda: translate_all(model(), [()], max_length=3), ValueError, ("words is empty",)),
    ("warm_cosine", lambda: warm_cosine(NAN), ValueError, ("done is nan", "expected a share from 0 to 1")),
    ("word_loss", lambda: word_loss(ones(2, 3, 5), TARGET.T), ValueError, ("target has shape (3, 2)", "(2, 3)")),
    ("train", lambda: train(model(), PAIRS, steps=1.5, seed=0), TypeError, ("steps is 1.5", "expected a whole")),
    ("train", lambda: train(model(), PAIRS, steps=1, seed=0, clip=-1), ValueError, ("clip is -1", "above 0")),
    ("train", lambda: train(model(), PAIRS, steps=1, seed=0, clip=NAN), ValueError, ("clip is nan", "above 0")),
    ("train", lambda: train(model(), PAIRS, steps=1, seed=0, learning_rate=NAN), ValueError, ("learning_rate is nan",)),
    ("train", lambda: train(model(), PAIRS, steps=0, seed=0), ValueError, ("steps is 0", "expected at least 1")),
    ("train", lambda: train(nameless(), PAIRS, steps=1, seed=0), ValueError, ("translator has no voc", "expected one")),
    ("train", lambda: train(model(), [], steps=1, seed=0, progress=False), ValueError, ("pairs is empty",)),
    # phrases, grammar
    ("noun_phrase", lambda: phrases.noun_phrase("the zebra"), ValueError, ("english is 'the zebra'", "expected an")),
    ("clause", lambda: phrases.clause(phrases.noun_phrase("a cat"), "eat"), ValueError, ("verb is 'eat'", "expected")),
    ("who", lambda: phrases.who(phrases.noun_phrase("a cat"), ""), ValueError, ("verb is ''", "expected one of")),
    ("whom", lambda: phrases.whom(*[phrases.noun_phrase("a cat")] * 2, None), ValueError, ("verb is None",)),
    ("phrases.join", phrases.join, ValueError, ("parts is empty", "expected at least one")),
    ("sentence", phrases.sentence, ValueError, ("clauses is empty", "expected at least one")),
    ("sample", lambda: sample(0, 0), ValueError, ("n is 0", "expected at least 1")),
    ("sample", lambda: sample(NAN, 0), TypeError, ("n is nan", "expected a whole number")),
    ("sample", lambda: sample(1, "one"), TypeError, ("seed is 'one'", "expected a whole number")),
    ("sample", lambda: sample(1, 0, clauses=(1.5,)), TypeError, ("clauses is (1.5,)", "expected whole numbers")),
    ("sample", lambda: sample(1, 0, clauses=()), ValueError, ("clauses is ()", "expected one or more")),
    ("sample", lambda: sample(1, 0, clauses=(2, -1)), ValueError, ("clauses is (2, -1)", "each at least 1")),
    ("sample", lambda: sample(1, 0, part="dev"), ValueError, ("part is 'dev'", "expected 'train' or 'test'")),
    # metrics, costs
    ("alignment_error_rate", lambda: metrics.alignment_error_rate([], []), ValueError, ("predicted and sure", "one")),
    (
        "alignment_error_rate",
        lambda: metrics.alignment_error_rate({(0, 0)}, {(0, 0)}, {(1, 1)}),
        ValueError,
        ("possible lacks 1", "expected it to include"),
    ),
    ("links", lambda: metrics.links(EYE, ABC, ["d"] * 4), ValueError, ("weights has shape (3, 3)", "at least (4, 3)")),
    ("links", lambda: metrics.links(EYE, [], ["d"]), ValueError, ("weights has shape", "a source word")),
    ("links", lambda: metrics.links(EYE * NAN, ABC, ABC), ValueError, ("weights has shape (3, 3) and holds NaN",)),
    ("links", lambda: metrics.links(EYE[0], ABC, ABC), ValueError, ("weights has shape (3,)", "(tgt, src)")),
    ("links", lambda: metrics.links(EYE, ABC, "abc"), TypeError, ("target is the string 'abc'", "expected a seq")),
    ("links", lambda: metrics.links(EYE, "abc", ABC), TypeError, ("source is the string 'abc'", "expected a seq")),
    (
        "lowest_alignment_error_rate",
        lambda: metrics.lowest_alignment_error_rate([]),
        ValueError,
        ("pairs has 0", "expected at least one target word"),
    ),
    (
        "lowest_alignment_error_rate",
        lambda: metrics.lowest_alignment_error_rate([PAIRS[0]._replace(links={(0, 2)})]),
        ValueError,
        ("pairs[0] has the link (0, 2)", "below 2 and 2"),
    ),
    (
        "lowest_alignment_error_rate",
        lambda: metrics.lowest_alignment_error_rate([PAIRS[0]._replace(links={(2, 0)})]),
        ValueError,
        ("pairs[0] has the link (2, 0)", "below 2 and 2"),
    ),
    ("forced_links", lambda: metrics.forced_links(rnn_encdec(WORDS, MOTS), PAIRS), ValueError, ("translator has no",)),
    ("forced_links", lambda: metrics.forced_links(nameless(), PAIRS), ValueError, ("translator has no voc",)),
    ("forced_links", lambda: metrics.forced_links(model(), PAIRS, at_once=-1), ValueError, ("at_once is -1",)),
    ("bleu", lambda: metrics.bleu([], []), ValueError, ("translations has 0", "expected equally many")),
    ("bleu", lambda: metrics.bleu(["u v"], [("u", "v")]), TypeError, ("translations[0] is the string 'u v'",)),
    ("bleu", lambda: metrics.bleu("uv", "uv"), TypeError, ("translations is the string 'uv'", "expected a sequence")),
    ("bleu_by_length", lambda: metrics.bleu_by_length(["u"], PAIRS, [1, 3]), TypeError, ("translations[0] is",)),
    ("bleu", lambda: metrics.bleu([("u",)], ["u"]), TypeError, ("references[0] is the string 'u'",)),
    ("exact_match", lambda: metrics.exact_match(["u"], [("u",)]), TypeError, ("translations[0] is the string 'u'",)),
    ("exact_match", lambda: metrics.exact_match([("u",)], ["u"]), TypeError, ("references[0] is the string 'u'",)),
    ("bleu_by_length", lambda: metrics.bleu_by_length([("u",)], PAIRS, [3, 1]), ValueError, ("edges is [3, 1]",)),
    ("exact_match", lambda: metrics.exact_match([("u",)], []), ValueError, ("translations has 1", "references 0")),
    ("multiply_adds", lambda: costs.multiply_adds(model(), 5), TypeError, ("decoder is a Translator", "expected one")),
    ("multiply_adds", lambda: costs.multiply_adds(fixed(), -1), ValueError, ("src is -1", "expected at least 1")),
    ("multiply_adds", lambda: costs.multiply_adds(luongs(), 2.5), TypeError, ("src is 2.5", "expected a whole number")),
    # cards, explorer, sharpening, figures
    ("card", lambda: cards.card("clock", "", ""), ValueError, ("kind is 'clock'", "expected one with a style")),
    ("card", lambda: cards.card("explorer", "x" * 40_000, ""), ValueError, ("would take", "expected at most 40000")),
    ("checked_words", lambda: cards.checked_words([1], "source"), TypeError, ("source[0] is 1", "expected a word")),
    ("checked_numbers", lambda: cards.checked_numbers([[1], [1, 2]], "x"), TypeError, ("x is a list", "expected num")),
    ("checked_numbers", lambda: cards.checked_numbers([1j], "x"), TypeError, ("x is a list", "complex", "expected")),
    (
        "checked_numbers",
        lambda: cards.checked_numbers(ones(2).requires_grad_(), "x"),
        TypeError,
        ("x is a Tensor", "grad"),
    ),
    ("checked_text", lambda: cards.checked_text(3, "unit"), TypeError, ("unit is 3", "expected a str")),
    ("width", lambda: cards.width([]), ValueError, ("words is empty", "expected at least one")),
    ("two_decimals", lambda: cards.two_decimals(NAN), ValueError, ("number is nan", "expected a finite")),
    ("table", lambda: cards.table("c", ["a", "b"], [["1"]]), ValueError, ("rows[0] has 1", "expected 2")),
    ("explore", lambda: figures.explore({"a": EYE * 2}, ABC, ABC), ValueError, ("weights['a'] holds 2", "from 0 to 1")),
    ("explore", lambda: figures.explore({"a": "xyz"}, ABC, ABC), TypeError, ("weights['a'] is a str", "expected num")),
    ("explore", lambda: figures.explore({"a": EYE * 1j}, ABC, ABC), TypeError, ("weights['a'] is", "complex128")),
    (
        "explore",
        lambda: figures.explore({"a": EYE}, ABC, ABC, down=None),
        TypeError,
        ("down is None", "expected a str"),
    ),
    (
        "explore",
        lambda: figures.explore({"a": figures.Local(EYE, [0, 1, 2], 1, "no")}, ABC, ABC),
        TypeError,
        ("weights['a'] has gaussian 'no'", "expected True"),
    ),
    (
        "explore",
        lambda: figures.explore({"a": explorer.Local(EYE, "abc", 1)}, ABC, ABC),
        TypeError,
        ("weights['a'].centres is a str", "expected numbers"),
    ),
    (
        "sharpen",
        lambda: figures.sharpen([1, NAN], [1, 2], ABC[:2]),
        ValueError,
        ("scores has shape", "one finite number"),
    ),
    ("sharpen", lambda: figures.sharpen([1, 1e307], [1, 2], ABC[:2]), ValueError, ("scores holds 1e+307", "at most")),
    ("sharpen", lambda: figures.sharpen([1, 2], [-1e308, 1], ABC[:2]), ValueError, ("values holds -1e+308", "at most")),
    ("sharpen", lambda: figures.sharpen([1, 2], "ab", ABC[:2]), TypeError, ("values is a str", "expected numbers")),
    ("sharpen", lambda: figures.sharpen([1], [2], ["a"], start=NAN), ValueError, ("start is nan", "expected a finite")),
    (
        "sharpen",
        lambda: figures.sharpen([1], [2], ["a"], start=None),
        ValueError,
        ("start is None", "expected a finite"),
    ),
    ("sharpen", lambda: figures.sharpen([1], [2], ["a"], unit=None), TypeError, ("unit is None", "expected a str")),
    (
        "sharpen",
        lambda: figures.sharpen([1], [2], ["a"], sharpness="12"),
        TypeError,
        ("sharpness is a str", "expected"),
    ),
    ("alignment", lambda: figures.alignment(EYE, "abc", ABC), TypeError, ("source is 'abc'", "expected a seq")),
    ("alignment", lambda: figures.alignment(EYE, ABC, None), TypeError, ("target is None", "expected a seq")),
    ("alignment", lambda: figures.alignment(EYE, ABC, [1, 2, 3]), TypeError, ("target[0] is 1", "a word")),
    ("alignment", lambda: figures.alignment("x", ABC, ABC), TypeError, ("weights is a str", "expected numbers")),
    ("alignment", lambda: figures.alignment(np.diag([INF, 1, 1]), ABC, ABC), ValueError, ("holds infinity",)),
    ("alignments", lambda: figures.alignments([EYE], ABC, ABC), TypeError, ("weights is a list", "expected for each")),
    ("alignments", lambda: figures.alignments({"a": EYE}, [], ABC), ValueError, ("source is empty", "at least one")),
    (
        "alignments",
        lambda: figures.alignments({"a": EYE}, ABC, {"b": ABC}),
        ValueError,
        ("target has no words for 'a'",),
    ),
    (
        "bleu_against_length",
        lambda: figures.bleu_against_length([1], [[1]]),
        TypeError,
        ("scores is a list", "expected"),
    ),
    (
        "bleu_against_length",
        lambda: figures.bleu_against_length([1], {"a": [[INF]]}),
        ValueError,
        ("scores['a'] holds infinity", "expected numbers"),
    ),
    ("bleu_against_length", lambda: figures.bleu_against_length("ab", {}), TypeError, ("lengths is a str", "expected")),
    ("bleu_against_length", lambda: figures.bleu_against_length([NAN], {}), ValueError, ("lengths has", "finite")),
    ("learning_curves", lambda: figures.learning_curves([1.0]), TypeError, ("losses is a list", "expected for each")),
    ("learning_curves", lambda: figures.learning_curves({"a": "x"}), TypeError, ("losses['a'] is a str", "numbers")),
    ("learning_curves", lambda: figures.learning_curves({"a": [0.0]}), ValueError, ("losses['a'] has no", "above 0")),
    (
        "learning_curves",
        lambda: figures.learning_curves({"a": [1.0]}, window=1.5),
        TypeError,
        ("window is 1.5", "whole"),
    ),
]

CAT = phrases.noun_phrase("the cat")

# What PyTorch or Python refuses before a number comes of it, in words of their own.
REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("LocalMonotonic.centre", lambda: LocalMonotonic(1).centre(None, torch.arange(2), LENGTHS)),
    ("LocalMonotonic.__call__", lambda: LocalMonotonic(1)(None, torch.arange(2), LENGTHS, ones(2, 1, 3) > 0)),
    ("State.select", lambda: fixed().start(encoded()).select(torch.tensor([0, 5]))),
    ("FixedContextDecoder.start", lambda: fixed().start(None)),
    ("an", lambda: lexicon.an("")),
    ("article", lambda: lexicon.article(True, lexicon.NOUNS[0]._replace(gender="n"), False)),
    ("agreeing", lambda: lexicon.agreeing(None, lexicon.NOUNS[0], False)),
    ("meet", lambda: lexicon.meet("le", None)),
    ("words", lambda: phrases.words(None, "le")),
    ("of", lambda: phrases.of(CAT, None)),
    ("both", lambda: phrases.both(CAT, CAT.pair)),
    ("word_loss", lambda: word_loss(ones(2, 3, 5), TARGET + 9)),
    ("parameters", lambda: costs.parameters(None)),
    ("write_atomically", lambda: write_atomically("a name", "text")),
]

KEEPS = "a record that keeps what it is given; who takes it from there looks at it"
ANY_TEXT = "any text will do"
UNTAKEN: dict[str, str] = {
    **dict.fromkeys(("Attended", "View", "Memory", "Encoded", "State", "SentencePair", "Batch", "Translated"), KEEPS),
    **dict.fromkeys(("Hypotheses", "History", "Bleu", "Bin", "Card", "Local", "Phrase"), KEEPS),
    **dict.fromkeys(("Noun", "Adjective", "Verb"), KEEPS),
    "Translator": "keeps an encoder and a decoder, whatever they are",
    "Dot": "has no sizes",
    "Dot.keys": "gives back what it is given",
    "Everywhere": "has no sizes",
    "Everywhere.__call__": "gives back the mask that it is given",
    "LocalPredictive.extra_repr": "takes nothing",
    "framed": ANY_TEXT,
}


ELSEWHERE = ("experiments.costs", "experiments.hybrids")  # the other modules of folders have tests of their own


def public() -> list[str]:
    """Name all functions, classes and methods of the package, with their module where the name alone is not unique."""
    found = []
    for name in (*sorted(module.name for module in pkgutil.iter_modules(attnlib.__path__)), *ELSEWHERE):
        module = import_module(f"attnlib.{name}")
        own = {n: x for n, x in vars(module).items() if getattr(x, "__module__", None) == module.__name__}
        for thing in (x for n, x in own.items() if callable(x) and not n.startswith("_")):
            methods = vars(thing).items() if inspect.isclass(thing) else ()
            shown = [n for n, x in methods if is_method(x) and (not n.startswith("_") or n == "__call__")]
            found += [(name, thing.__name__), *((name, f"{thing.__name__}.{n}") for n in shown)]
    names = [name for _, name in found]
    return [f"{module}.{name}" if names.count(name) > 1 else name for module, name in found]


def is_method(x: Any) -> bool:
    return inspect.isfunction(getattr(x, "__func__", x))


PUBLIC = public()  # before anything is replaced


def test_nothing_public_is_left_out():
    tried = {name for name, *_ in CASES} | {name for name, _ in REFUSED}
    assert sorted(tried | UNTAKEN.keys()) == sorted(PUBLIC)
    assert not tried & UNTAKEN.keys()


@pytest.mark.parametrize(("call", "error", "says"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_bad_input_is_named(call, error, says):
    with pytest.raises(error) as raised:
        call()
    assert raised.type is error  # not one of the hook's, which are TypeErrors too
    for words in says:
        assert words in str(raised.value)


@pytest.mark.parametrize("call", [call for _, call in REFUSED], ids=[name for name, _ in REFUSED])
def test_no_number_comes_of_bad_input(call):
    with pytest.raises(Exception) as raised:  # noqa: PT011, whatever PyTorch or Python raise
        call()
    assert raised.type.__module__ in ("builtins", "torch")
    assert raised.type is not NameError  # that would be a slip in the case itself


def aligner() -> Align:
    return Align(General(6, 6), Everywhere())


SIZED: list[Callable[..., Any]] = [
    *(General, Additive, Concat, Location, BidirectionalGRU, StackedLSTM, DeepOutput, FixedContextDecoder),
    *(LocalPredictive, partial(BahdanauDecoder, aligner()), partial(LuongDecoder, aligner())),
    partial(StepFirstDecoder, aligner(), nn.GRUCell(12, 6)),
]


@pytest.mark.parametrize("make", SIZED, ids=lambda make: getattr(make, "func", make).__name__)
def test_every_size_is_looked_at(make):
    parameters = inspect.signature(make).parameters.values()
    sizes = [parameter.name for parameter in parameters if parameter.annotation is int]
    assert len(sizes) >= 1
    right = dict.fromkeys(sizes, 6)
    make(**right)
    for name in sizes:
        for wrong, error, expected in [(0, ValueError, "at least 1"), (1.5, TypeError, "a whole number")]:
            with pytest.raises(error, match=f"^{name} is {wrong}; expected {expected}"):
                make(**right | {name: wrong})


def test_without_the_hook():
    """What the rest of this file stands on: with the hook a list is refused before the function sees it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jaxtyping.config, "jaxtyping_disable", False)
        with pytest.raises(jaxtyping.TypeCheckError):
            masked_softmax([1.0], mask=[True])
    with pytest.raises(TypeError, match="e is a list"):
        masked_softmax([1.0], mask=[True])


def test_results_are_read_as_data():
    """No module of this package loads anything that could run code: JSON, and nothing else."""
    package = Path(attnlib.__file__).parent
    sources = {path.name: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    loaders = ("pickle", "torch.load", "np.load", "numpy.load", "shelve", "marshal", "eval(", "exec(")
    assert [(name, loader) for name, source in sources.items() for loader in loaders if loader in source] == []
