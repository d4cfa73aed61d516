"""Whoever calls this package with something that does not fit is told which argument, what it was, what was expected.

The tests run under a hook that checks all types and shapes before a function begins. Readers run without it, and so
does this file.
"""

import inspect
import pkgutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import jaxtyping
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from torch import nn

import attnlib
from attnlib import cards, costs, experiments, explorer, figures, lexicon, measurements, metrics, phrases, variants
from attnlib.alignment import Align, check_lengths
from attnlib.attention import Attended, attention, masked_softmax
from attnlib.cells import gru_step, lstm_step
from attnlib.corpus import SentencePair, Vocabulary, batch, batches, encode
from attnlib.decoders import BahdanauDecoder, DeepOutput, FixedContextDecoder, LuongDecoder, join
from attnlib.encoders import BidirectionalGRU, Encoded, StackedLSTM
from attnlib.grammar import sample
from attnlib.hybrids import StepFirstDecoder, step_first
from attnlib.parameters import seeded, weight
from attnlib.scores import Additive, Concat, Dot, General, Location, additive, dot
from attnlib.search import beam, greedy, translate_all
from attnlib.training import train, warm_cosine, word_loss
from attnlib.translator import Translator, luong, rnn_encdec, rnn_search
from attnlib.windows import Everywhere, LocalMonotonic, LocalPredictive, gaussian, support

NAN, INF = float("nan"), float("inf")
EYE, ABC = np.eye(3), ["a", "b", "c"]
WORDS, MOTS = Vocabulary(("a", "b", "c")), Vocabulary(("u", "v"))
PAIRS = [SentencePair(("a", "b"), ("u", "v"), frozenset({(0, 0), (1, 1)}))]
NO_SOURCE = [SentencePair((), ("u",))]
SOURCE, LENGTHS = torch.tensor([[4, 5, 2], [4, 2, 0]]), torch.tensor([3, 2])
TOO_SHORT = torch.tensor([3, 0])
TARGET = torch.tensor([[4, 5, 2], [5, 2, 0]])
SIZES = {"vocab": 6, "emb": 5, "dec": 6, "enc": 6}
FEW = variants.Budget(emb=4, hid=6, pairs=5, words=100, steps=1, test_clauses=(1,), test_sentences=2)


def ones(*shape: int) -> torch.Tensor:
    return torch.ones(shape)


def model() -> Translator:
    return luong(WORDS, MOTS, emb=4, hid=6)


def nameless() -> Translator:
    return Translator(model().encoder, model().decoder)


def encoded(lengths: torch.Tensor = LENGTHS, enc: int = 6, dec: int = 6, states: int = 1) -> Encoded:
    """Say of two sentences what an encoder would; an LSTM's states come in two, each with an axis of layers."""
    state = (ones(2, dec),) if states == 1 else (ones(2, 1, dec), ones(2, 1, dec))
    return Encoded(ones(2, 3, enc), lengths, ones(2, enc), state)


def bahdanau() -> BahdanauDecoder:
    return BahdanauDecoder(Align(General(6, 6), Everywhere()), **SIZES, maxout=3)


def luongs() -> LuongDecoder:
    return LuongDecoder(Align(General(6, 6), Everywhere()), **SIZES)


def stepping(**changed: int) -> StepFirstDecoder:
    return StepFirstDecoder(Align(General(6, 6), Everywhere()), nn.GRUCell(11, 6), **SIZES | {"maxout": 3} | changed)


def fixed(**changed: int) -> FixedContextDecoder:
    return FixedContextDecoder(**SIZES | {"maxout": 3} | changed)


def aligned() -> tuple[Align, Any]:
    align = Align(General(4, 3), Everywhere())
    return align, align.remember(ones(2, 5, 3), torch.tensor([5, 2]))


def judged(**changed: Any) -> measurements.Judged:
    return measurements.Judged(PAIRS, [1.0], [("u",)], [("u",)], None, None, None)._replace(**changed)


def other_score() -> variants.Variant:
    return variants.Variant("other", step_first, {"score": "cosine"})


@pytest.fixture(scope="module", autouse=True)
def as_readers_run_it():
    """Turn the hook off, and have a vocabulary for the variants that costs no 20,000 sentences."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jaxtyping.config, "jaxtyping_disable", True)
        patch.setattr(variants, "vocabularies", lambda: (WORDS, MOTS))
        yield
    plt.close("all")


# What is called, how, the error, and what it must say: the argument first, then what it was or what was expected.
CASES: list[tuple[str, Callable[[], Any], type[Exception], tuple[str, ...]]] = [
    # attention
    ("Attended.dense", lambda: Attended(EYE, EYE).dense(4), ValueError, ("src is 4", "cover 3")),
    ("Attended.dense", lambda: Attended(EYE, EYE, EYE.astype(int)).dense(0), ValueError, ("src is 0",)),
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
    ("additive", lambda: additive(EYE, EYE, np.ones(2)), ValueError, ("queries has shape (3, 3)", "expected 2")),
    ("additive", lambda: additive(EYE, EYE[:, :2], np.ones(3)), ValueError, ("keys has shape (3, 2)", "expected 3")),
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
    # windows
    ("support", lambda: support(EYE, 0, np.ones(3), 3), ValueError, ("half_width is 0", "expected at least 1")),
    ("gaussian", lambda: gaussian(EYE, EYE, -1), ValueError, ("half_width is -1", "expected at least 1")),
    ("LocalMonotonic", lambda: LocalMonotonic(0), ValueError, ("half_width is 0", "expected at least 1")),
    ("LocalMonotonic", lambda: LocalMonotonic(NAN), TypeError, ("half_width is nan", "expected a whole number")),
    ("LocalPredictive", lambda: LocalPredictive(3, -2), ValueError, ("half_width is -2", "expected at least 1")),
    ("LocalPredictive", lambda: LocalPredictive(3, None), TypeError, ("half_width is None", "expected a whole")),
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
    (
        "Align.forward",
        lambda: aligned()[0](ones(3, 2, 4), aligned()[1], torch.arange(2)),
        ValueError,
        ("s has shape (3, 2, 4)", "steps (2,)", "expected (2, tgt, dec)"),
    ),
    ("check_lengths", lambda: check_lengths(LENGTHS, (3, 9)), ValueError, ("lengths has shape (2,)", "expected (3,)")),
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
    ("BahdanauDecoder.start", lambda: bahdanau().start(encoded(TOO_SHORT)), ValueError, ("lengths holds 0",)),
    ("BahdanauDecoder.forward", lambda: bahdanau()(TARGET, encoded(enc=5)), ValueError, ("h has", "expected 6")),
    (
        "BahdanauDecoder.step",
        lambda: bahdanau().step(TARGET[:, 0], bahdanau().start(encoded(dec=5))),
        ValueError,
        ("s has shape (2, 1, 5)", "expected 6"),
    ),
    ("LuongDecoder.start", lambda: luongs().start(encoded(TOO_SHORT, states=2)), ValueError, ("lengths holds 0",)),
    ("LuongDecoder.forward", lambda: luongs()(TARGET, encoded(enc=5, states=2)), ValueError, ("h has", "expected 6")),
    ("StepFirstDecoder.start", lambda: stepping().start(encoded(TOO_SHORT)), ValueError, ("lengths holds 0",)),
    ("StepFirstDecoder.forward", lambda: stepping()(TARGET, encoded(enc=5)), ValueError, ("h has", "expected 6")),
    (
        "step_first",
        lambda: step_first(WORDS, MOTS, recurrent="rnn"),
        ValueError,
        ("recurrent is 'rnn'", "expected 'gru'"),
    ),
    # corpus
    ("Vocabulary", lambda: Vocabulary(("a", "a")), ValueError, ("words holds 2", "expected each once")),
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
    # translator, search, training
    ("Translator.forward", lambda: model()(SOURCE, LENGTHS, TARGET[:1]), ValueError, ("target has 1", "expected 2")),
    ("Translator.start", lambda: model().start(SOURCE, TOO_SHORT), ValueError, ("lengths holds 0", "1 to 3")),
    ("Translator.translate", lambda: model().translate(" "), ValueError, ("sentence is ' '", "expected at least one")),
    ("Translator.translate", lambda: nameless().translate("a"), ValueError, ("source_vocabulary or", "is None")),
    ("Translator.translate", lambda: model().translate("a", 0), ValueError, ("max_length is 0", "expected at least 1")),
    ("luong", lambda: luong(WORDS, MOTS, score="cosine"), ValueError, ("score is 'cosine'", "expected one of dot")),
    (
        "luong",
        lambda: luong(WORDS, MOTS, window="predictive", half_width=0),
        ValueError,
        ("half_width is 0", "expected at least 1"),
    ),
    ("greedy", lambda: greedy(model(), SOURCE, LENGTHS, -1), ValueError, ("max_length is -1", "expected at least 1")),
    ("beam", lambda: beam(model(), SOURCE, LENGTHS, 0, 2), ValueError, ("max_length is 0", "expected at least 1")),
    ("beam", lambda: beam(model(), SOURCE, LENGTHS, 3, 0), ValueError, ("width is 0", "expected at least 1")),
    ("translate_all", lambda: translate_all(model(), ["a"], max_length=3), TypeError, ("words is the string 'a'",)),
    ("translate_all", lambda: translate_all(model(), [()], max_length=3), ValueError, ("words is empty",)),
    ("train", lambda: train(model(), PAIRS, steps=0, seed=0), ValueError, ("steps is 0", "expected at least 1")),
    ("train", lambda: train(nameless(), PAIRS, steps=1, seed=0), ValueError, ("translator has no voc", "expected one")),
    ("train", lambda: train(model(), [], steps=1, seed=0, progress=False), ValueError, ("pairs is empty",)),
    # phrases, grammar
    ("noun_phrase", lambda: phrases.noun_phrase("the zebra"), ValueError, ("english is 'the zebra'", "expected an")),
    ("clause", lambda: phrases.clause(phrases.noun_phrase("a cat"), "eat"), ValueError, ("verb is 'eat'", "expected")),
    ("who", lambda: phrases.who(phrases.noun_phrase("a cat"), ""), ValueError, ("verb is ''", "expected one of")),
    ("whom", lambda: phrases.whom(*[phrases.noun_phrase("a cat")] * 2, None), ValueError, ("verb is None",)),
    ("sample", lambda: sample(0, 0), ValueError, ("n is 0", "expected at least 1")),
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
    ("forced_links", lambda: metrics.forced_links(rnn_encdec(WORDS, MOTS), PAIRS), ValueError, ("translator has no",)),
    ("bleu", lambda: metrics.bleu([], []), ValueError, ("translations has 0", "expected equally many")),
    ("bleu_by_length", lambda: metrics.bleu_by_length([("u",)], PAIRS, [3, 1]), ValueError, ("edges is [3, 1]",)),
    ("exact_match", lambda: metrics.exact_match([("u",)], []), ValueError, ("translations has 1", "references 0")),
    ("multiply_adds", lambda: costs.multiply_adds(model(), 5), TypeError, ("decoder is a Translator", "expected one")),
    # variants, measurements
    ("Variant.translator", lambda: other_score().translator(0), ValueError, ("score is 'cosine'", "expected 'add")),
    (
        "Variant.training_pairs",
        lambda: variants.VARIANTS["bahdanau"].training_pairs(0, variants.Budget(pairs=0)),
        ValueError,
        ("n is 0", "expected at least 1"),
    ),
    ("held_out", lambda: variants.held_out(0), ValueError, ("clauses is (0,)", "each at least 1")),
    ("fit", lambda: measurements.fit(other_score(), 0, FEW), ValueError, ("score is 'cosine'", "expected 'add")),
    ("run", lambda: measurements.run(other_score(), 0, FEW), ValueError, ("score is 'cosine'", "expected 'add")),
    (
        "cost",
        lambda: measurements.cost(variants.VARIANTS["bahdanau"], FEW, steps=0),
        ValueError,
        ("steps is 0", "expected at least 1"),
    ),
    ("judge", lambda: measurements.judge(model(), PAIRS, 0), ValueError, ("width is 0", "expected at least 1")),
    ("measures", lambda: measurements.measures(judged(greedy=[])), ValueError, ("translations has 0", "references 1")),
    ("sentence_losses", lambda: measurements.sentence_losses(model(), NO_SOURCE), ValueError, ("words is empty",)),
    ("centres", lambda: measurements.centres(model(), NO_SOURCE), ValueError, ("words is empty",)),
    # experiments
    ("read", lambda: experiments.read("rnn"), FileNotFoundError, ("name is 'rnn'", "expected a variant")),
    ("read", lambda: experiments.read("rnn", "results"), TypeError, ("folder is 'results'", "expected a Path")),
    ("read", lambda: experiments.read("../results/bahdanau"), ValueError, ("variant is 'bahdanau', expected '../re",)),
    ("values", lambda: experiments.values("rnn", "bleu"), FileNotFoundError, ("name is 'rnn'", "expected a variant")),
    ("values", lambda: experiments.values("bahdanau", "blue"), ValueError, ("'blue' is not rec", "expected one of")),
    ("mean_interval", lambda: experiments.mean_interval([]), ValueError, ("runs holds 0", "expected at least 2")),
    (
        "mean_interval",
        lambda: experiments.mean_interval(EYE),
        ValueError,
        ("runs has shape (3, 3)", "expected (runs,)"),
    ),
    ("mean_interval", lambda: experiments.mean_interval(["a", "b"]), ValueError, ("runs has shape", "<U1", "a number")),
    (
        "prediction_interval",
        lambda: experiments.prediction_interval([1, 2], NAN),
        ValueError,
        ("level is nan", "0 and 1"),
    ),
    ("prediction_interval", lambda: experiments.prediction_interval(None), ValueError, ("runs has shape ()", "object")),
    ("stale", lambda: experiments.stale(["rnn"]), ValueError, ("names holds 'rnn'", "expected names of variants")),
    ("stale", lambda: experiments.stale("bahdanau"), TypeError, ("names is the string 'bahdanau'", "expected names")),
    ("stale", lambda: experiments.stale(["bahdanau"], folder="results"), TypeError, ("folder is 'results'",)),
    ("record_all", lambda: experiments.record_all(["rnn"]), ValueError, ("names holds 'rnn'", "expected names")),
    ("record_all", lambda: experiments.record_all([], workers=0), ValueError, ("workers is 0", "expected at least 1")),
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
    ("weight", lambda: weight(3, 0)),
    ("weight", lambda: weight(2.0)),
    ("seeded", lambda: seeded("one").__enter__()),
    ("General", lambda: General(3, 0)),
    ("Additive", lambda: Additive(3, 3, -1)),
    ("Concat", lambda: Concat(3, 3, 0)),
    ("Location", lambda: Location(0, 3)),
    ("LocalMonotonic.centre", lambda: LocalMonotonic(1).centre(None, torch.arange(2), LENGTHS)),
    ("LocalMonotonic.__call__", lambda: LocalMonotonic(1)(None, torch.arange(2), LENGTHS, ones(2, 1, 3) > 0)),
    ("LocalPredictive.centre", lambda: LocalPredictive(3, 1).centre(ones(2, 2, 4), torch.arange(2), LENGTHS)),
    (
        "LocalPredictive.forward",
        lambda: LocalPredictive(3, 1)(ones(3, 2, 3), torch.arange(2), LENGTHS, ones(2, 1, 3) > 0),
    ),
    ("gru_step", lambda: gru_step(ones(2, 8), ones(2, 3), ones(9, 3), ones(9))),
    ("gru_step", lambda: gru_step(ones(3, 9), ones(2, 3), ones(9, 3), ones(9))),
    ("lstm_step", lambda: lstm_step(ones(2, 12), ones(2, 3), ones(2, 4), ones(12, 3))),
    ("BidirectionalGRU", lambda: BidirectionalGRU(7, 3, 0, 5)),
    ("BidirectionalGRU.forward", lambda: BidirectionalGRU(5, 3, 4, 5)(SOURCE, LENGTHS)),
    ("StackedLSTM", lambda: StackedLSTM(7, 3, 4, 0)),
    ("StackedLSTM.forward", lambda: StackedLSTM(7, 3, 4)(SOURCE.float(), LENGTHS)),
    ("State.select", lambda: fixed().start(encoded()).select(torch.tensor([0, 5]))),
    ("DeepOutput", lambda: DeepOutput(**SIZES, maxout=0)),
    ("DeepOutput.forward", lambda: DeepOutput(**SIZES, maxout=3)(ones(3, 6), ones(2, 5), ones(2, 6))),
    ("FixedContextDecoder", lambda: fixed(enc=-1)),
    ("FixedContextDecoder.start", lambda: fixed().start(None)),
    ("FixedContextDecoder.step", lambda: fixed().step(torch.tensor([1, 1, 1]), fixed().start(encoded()))),
    ("FixedContextDecoder.forward", lambda: fixed()(TARGET, encoded(enc=5))),
    ("BahdanauDecoder", lambda: BahdanauDecoder(Align(Dot(), Everywhere()), **SIZES, maxout=0)),
    ("LuongDecoder", lambda: LuongDecoder(Align(Dot(), Everywhere()), **SIZES, layers=0)),
    ("LuongDecoder.step", lambda: luongs().step(torch.tensor([1, 1, 1]), luongs().start(encoded(states=2)))),
    ("StepFirstDecoder", lambda: stepping(dec=0)),
    ("StepFirstDecoder.step", lambda: stepping().step(torch.tensor([9, 1]), stepping().start(encoded()))),
    ("decoders.join", lambda: join([])),
    ("Translator.forward", lambda: model()(SOURCE, LENGTHS, TARGET + 9)),
    ("Translator.step", lambda: model().step(torch.tensor([9, 9]), model().start(SOURCE, LENGTHS))),
    ("rnn_encdec", lambda: rnn_encdec(WORDS, MOTS, hid=0)),
    ("rnn_search", lambda: rnn_search(WORDS, MOTS, att=-1)),
    ("an", lambda: lexicon.an("")),
    ("article", lambda: lexicon.article(True, lexicon.NOUNS[0]._replace(gender="n"), False)),
    ("agreeing", lambda: lexicon.agreeing(None, lexicon.NOUNS[0], False)),
    ("meet", lambda: lexicon.meet("le", None)),
    ("words", lambda: phrases.words(None, "le")),
    ("phrases.join", phrases.join),
    ("of", lambda: phrases.of(CAT, None)),
    ("both", lambda: phrases.both(CAT, CAT.pair)),
    ("sentence", phrases.sentence),
    ("warm_cosine", lambda: warm_cosine(INF)),
    ("word_loss", lambda: word_loss(ones(2, 3, 5), TARGET[:, :2])),
    ("word_loss", lambda: word_loss(ones(2, 3, 5), TARGET + 9)),
    ("train", lambda: train(model(), PAIRS, steps=1, seed=0, learning_rate=NAN, progress=False)),
    ("lowest_alignment_error_rate", lambda: metrics.lowest_alignment_error_rate([])),
    ("parameters", lambda: costs.parameters(None)),
    ("Variant.settings", lambda: variants.VARIANTS["bahdanau"].settings(None)),
    ("grouped", lambda: measurements.grouped(PAIRS, None)),
    ("fingerprint", lambda: experiments.fingerprint("bahdanau")),
]

KEEPS = "a record that keeps what it is given; who takes it from there looks at it"
ANY_TEXT = "any text will do"
UNTAKEN: dict[str, str] = {
    **dict.fromkeys(("Attended", "View", "Memory", "Encoded", "State", "SentencePair", "Batch", "Translated"), KEEPS),
    **dict.fromkeys(("Hypotheses", "History", "Bleu", "Bin", "Judged", "Interval", "Card", "Local", "Phrase"), KEEPS),
    **dict.fromkeys(("Noun", "Adjective", "Verb", "Budget", "Variant"), KEEPS),
    "Translator": "keeps an encoder and a decoder, whatever they are",
    "Dot": "has no sizes",
    "Dot.keys": "gives back what it is given",
    "Everywhere": "has no sizes",
    "Everywhere.__call__": "gives back the mask that it is given",
    "LocalPredictive.extra_repr": "takes nothing",
    "vocabularies": "takes nothing",
    "processor": "takes nothing",
    "half_width_row": "writes a name; `read` refuses one that is no variant's",
    "framed": ANY_TEXT,
    "main": "argparse says what is wrong with a command line",
}


def public() -> list[str]:
    """Name all functions, classes and methods of the package, with their module where the name alone is not unique."""
    found = []
    for name in sorted(module.name for module in pkgutil.iter_modules(attnlib.__path__)):
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
    sources = {path.name: path.read_text(encoding="utf-8") for path in package.glob("*.py")}
    loaders = ("pickle", "torch.load", "np.load", "numpy.load", "shelve", "marshal", "eval(", "exec(")
    assert [(name, loader) for name, source in sources.items() for loader in loaders if loader in source] == []
    assert {path.suffix for path in experiments.RESULTS.iterdir()} == {".json"}
