"""Whatever is passed, an error or the right number comes of it: shapes, lengths, NaN and infinity.

As in `test_bad_input`, the hook that checks types and shapes is off: this is what readers run.
"""

import math
from typing import Any

import jaxtyping
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib.alignment import Align
from attnlib.attention import attention, masked_softmax
from attnlib.batches import encode
from attnlib.encoders import BidirectionalGRU, StackedLSTM
from attnlib.experiments.hybrids import step_first
from attnlib.scores import Additive, Concat, Dot, General, Location, additive, dot
from attnlib.translator import luong, rnn_encdec, rnn_search
from attnlib.vocabulary import END, PAD, UNKNOWN, Vocabulary
from attnlib.windows import Everywhere, LocalMonotonic, LocalPredictive

settings.register_profile("bad input", derandomize=True, deadline=None, max_examples=40, database=None)
PROFILE = settings.get_profile("bad input")

WILD = [float("nan"), float("inf"), -float("inf"), 1e308]
LIBRARIES = [np.asarray, torch.tensor]
EYE = np.eye(3)
shapes = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple)
few = st.integers(1, 4)


@pytest.fixture(scope="module", autouse=True)
def as_readers_run_it():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jaxtyping.config, "jaxtyping_disable", True)
        yield


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def tensor(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.tensor(numbers(*shape, seed=seed), dtype=torch.float32)


def softmax(e: list[float]) -> list[float]:
    exps = [math.exp(x - max(e)) for x in e] if e else []
    return [x / sum(exps) for x in exps]


# --- Shapes ---


@pytest.mark.parametrize("library", LIBRARIES, ids=["numpy", "torch"])
@PROFILE
@given(queries=shapes, keys=shapes, values_=shapes)
def test_attention_fits_or_raises(library, queries, keys, values_):
    arguments = [numbers(*shape, seed=n) for n, shape in enumerate((queries, keys, values_))]
    fits = (
        len(queries) == len(keys) == len(values_) >= 2
        and queries[:-2] == keys[:-2] == values_[:-2]
        and queries[-1] == keys[-1] > 0
        and keys[-2] == values_[-2] > 0
    )
    if not fits:
        with pytest.raises(ValueError, match=r"queries \("):
            attention(*map(library, arguments))
        return
    context = np.asarray(attention(*map(library, arguments)).context)
    assert context.shape == (*queries[:-1], values_[-1])
    for place in np.ndindex(queries[:-1]):
        q, h, v = arguments[0][place], arguments[1][place[:-1]], arguments[2][place[:-1]]
        shares = softmax([sum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q)) for k in h])
        assert np.allclose(context[place], sum(share * row for share, row in zip(shares, v, strict=True)))


@pytest.mark.parametrize("library", LIBRARIES, ids=["numpy", "torch"])
@PROFILE
@given(scores=shapes, mask=shapes, axis=st.integers(-4, 3))
def test_softmax_fits_or_raises(library, scores, mask, axis):
    e, real = numbers(*scores), numbers(*mask, seed=1) > 0
    try:
        fits = np.broadcast_shapes(mask, scores) == scores
    except ValueError:
        fits = False
    if not fits or not -len(scores) <= axis < len(scores) or scores[axis] == 0:
        with pytest.raises(ValueError, match=r"mask has|axis is|e has"):
            masked_softmax(library(e), library(real), axis)
        return
    weights = np.moveaxis(np.asarray(masked_softmax(library(e), library(real), axis)), axis, -1)
    rows, reals = np.moveaxis(e, axis, -1), np.moveaxis(np.broadcast_to(real, scores), axis, -1)
    for place in np.ndindex(weights.shape[:-1]):
        shares = iter(softmax(rows[place][reals[place]].tolist()))
        assert np.allclose(weights[place], [next(shares) if inside else 0 for inside in reals[place]])


@pytest.mark.parametrize("library", LIBRARIES, ids=["numpy", "torch"])
@PROFILE
@given(queries=few, keys=few, hidden=few)
def test_a_score_fits_or_raises(library, queries, keys, hidden):
    drawn = numbers(2, queries), numbers(3, keys, seed=1), numbers(hidden, seed=2)
    s, h, v = map(library, drawn)
    if queries != keys:
        with pytest.raises(ValueError, match=rf"h has shape \(3, {keys}\); expected {queries}"):
            dot(s, h)
    else:
        assert np.allclose(
            dot(s, h), [[sum(a * b for a, b in zip(x, y, strict=True)) for y in drawn[1]] for x in drawn[0]]
        )
    if not queries == keys == hidden:
        with pytest.raises(ValueError, match=rf"(queries|keys) has shape .*; expected {hidden}"):
            additive(s, h, v)
    else:
        units = [[zip(x, y, drawn[2], strict=True) for y in drawn[1]] for x in drawn[0]]
        by_hand = [[sum(c * math.tanh(a + b) for a, b, c in unit) for unit in row] for row in units]
        assert np.allclose(additive(s, h, v), by_hand)


@PROFILE
@given(kind=st.integers(0, 4), dec=few, enc=few, states=few, annotations=few)
def test_a_score_with_weights_fits_or_raises(kind, dec, enc, states, annotations):
    score = [Dot, lambda: General(dec, enc), lambda: Additive(dec, enc, 3), lambda: Concat(dec, enc, 3)][kind % 4]()
    score = Location(dec, 5) if kind == 4 else score
    fits = states == annotations if kind == 0 else states == dec and (annotations == enc or kind == 4)
    s, h = tensor(2, 3, states), tensor(2, 5, annotations)
    if fits:
        assert score(s, score.keys(h)).shape == (2, 3, 5)
    else:
        with pytest.raises(ValueError, match=r"[hs] has shape"):
            score(s, score.keys(h))


# --- Lengths ---

WINDOWS = [Everywhere(), LocalMonotonic(1), LocalMonotonic(9), LocalPredictive(3, 1), LocalPredictive(3, 2)]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@PROFILE
@given(lengths=st.lists(st.integers(-1, 6), min_size=1, max_size=3), src=st.integers(1, 5))
def test_lengths_fit_or_raise(window, lengths, src):
    align, h, s = Align(Dot(), window), tensor(len(lengths), src, 3), tensor(len(lengths), 2, 3, seed=1)
    wrong = [n for n in lengths if not 1 <= n <= src]
    if wrong:
        with pytest.raises(ValueError, match=rf"lengths holds ({'|'.join(map(str, wrong))}); expected 1 to {src}"):
            align.remember(h, torch.tensor(lengths))
        return
    with torch.no_grad():
        context = align(s, align.remember(h, torch.tensor(lengths)), torch.arange(2)).context
        for b, t in np.ndindex(len(lengths), 2):
            assert torch.allclose(context[b, t], looked_up(window, s[b, t], h[b], lengths[b], t), atol=1e-5)


def looked_up(window: Any, s: torch.Tensor, h: torch.Tensor, length: int, t: int) -> torch.Tensor:
    """Compute one context one source word at a time."""
    inside, favour = range(length), lambda i: 1.0
    if not isinstance(window, Everywhere):
        p = float(window.centre(s[None, None], torch.tensor([t]), torch.tensor([length])))
        inside = [i for i in inside if abs(i - p) <= window.half_width]
        if isinstance(window, LocalPredictive):
            favour = lambda i: math.exp(-((i - p) ** 2) / (2 * (window.half_width / 2) ** 2))  # noqa: E731
    shares = softmax([float(s @ h[i]) for i in inside])
    return sum((share * favour(i) * h[i] for share, i in zip(shares, inside, strict=True)), torch.zeros(3))


# --- NaN and infinity ---

scores_and_mask = st.integers(1, 5).flatmap(
    lambda n: st.tuples(
        st.lists(st.floats(-50, 50), min_size=n, max_size=n), st.lists(st.booleans(), min_size=n, max_size=n)
    )
)


@pytest.mark.parametrize("library", LIBRARIES, ids=["numpy", "torch"])
@PROFILE
@given(drawn=scores_and_mask, wild=st.sampled_from(WILD))
def test_what_is_masked_never_counts(library, drawn, wild):
    e, mask = map(np.array, drawn)
    weights = np.asarray(masked_softmax(library(np.where(mask, e, wild)), library(mask)))
    assert np.array_equal(weights, np.asarray(masked_softmax(library(np.where(mask, e, 0.0)), library(mask))))
    keys = np.where(mask[:, None], e[:, None], wild)
    tame = np.where(mask[:, None], e[:, None], 0.0)
    one, answers = library(np.ones((1, 1))), library(numbers(len(e), 2))
    with np.errstate(invalid="ignore"):
        context = attention(one, library(keys), answers, library(mask[None])).context
    assert np.array_equal(context, attention(one, library(tame), answers, library(mask[None])).context)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize("library", LIBRARIES, ids=["numpy", "torch"])
@pytest.mark.parametrize("wild", WILD[:3])
def test_what_is_masked_must_be_finite_to_be_averaged(library, wild):
    """As `attention` and `Align` say: the weight is 0, and 0 times NaN or infinity is NaN."""
    values, mask = numbers(3, 2), library([[True, True, False]])
    attended = [attention(library(EYE[:1]), library(EYE), library(values), mask)]
    for filling in (1e300, wild):
        values[2] = filling
        attended.append(attention(library(EYE[:1]), library(EYE), library(values), mask))
    assert all(float(found.weights[0, 2]) == 0 for found in attended)
    before, large, spoilt = (np.asarray(found.context) for found in attended)
    assert np.array_equal(before, large)
    assert np.isnan(spoilt).all()


@pytest.mark.parametrize("wild", WILD[:3])
def test_annotations_of_padding_must_be_finite(wild):
    align, h, s = Align(Dot(), Everywhere()), tensor(2, 3, 4), tensor(2, 1, 4, seed=1)
    h[1, 2] = wild
    attended = align(s, align.remember(h, torch.tensor([3, 2])), torch.arange(1))
    assert attended.weights[1, 0, 2] == 0
    assert attended.context[0].isfinite().all()
    assert attended.context[1].isnan().all()


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize("library", LIBRARIES, ids=["numpy", "torch"])
@PROFILE
@given(drawn=scores_and_mask, wild=st.sampled_from(WILD[:2]), where=st.integers(0, 4))
def test_what_is_not_masked_never_vanishes(library, drawn, wild, where):
    """NaN or plus infinity among the scores, or in a query, or in a value with a weight, is NaN in the result."""
    e = np.array(drawn[0])
    e[where % len(e)] = wild
    assert np.isnan(np.asarray(masked_softmax(library(e)))[where % len(e)])
    finite, one = library(np.ones((len(e), 1))), library(np.ones((1, 1)))
    assert np.isnan(np.asarray(attention(one, library(e[:, None]), finite).context)).all()
    assert np.isnan(np.asarray(attention(one * wild, finite, finite).context)).all()
    assert not np.isfinite(np.asarray(attention(one, finite, library(e[:, None])).context)).any()


@pytest.mark.parametrize("score", [Dot(), General(3, 3), Additive(3, 3, 2), Concat(3, 3, 2), Location(3, 9)], ids=str)
@PROFILE
@given(b=st.integers(0, 1), i=st.integers(0, 2))
def test_nan_in_one_sentence_stays_there(score, b, i):
    align, h, s = Align(score, Everywhere()), tensor(2, 4, 3), tensor(2, 2, 3, seed=1)
    lengths = torch.tensor([4, 3])
    before = align(s, align.remember(h, lengths), torch.arange(2)).context
    h[b, i] = torch.nan
    after = align(s, align.remember(h, lengths), torch.arange(2)).context
    assert after[b].isnan().all()
    assert torch.equal(after[1 - b], before[1 - b])
    s[b] = torch.nan
    assert align(s, align.remember(tensor(2, 4, 3), lengths), torch.arange(2)).context[b].isnan().all()


WORDS, MOTS = Vocabulary(("a", "b", "c")), Vocabulary(("u", "v"))
PRESETS = {
    "rnn_encdec": lambda: rnn_encdec(WORDS, MOTS, emb=3, hid=4),
    "rnn_search": lambda: rnn_search(WORDS, MOTS, emb=3, hid=4),
    "luong": lambda: luong(WORDS, MOTS, emb=3, hid=4),
    "luong local-p": lambda: luong(WORDS, MOTS, window="predictive", half_width=1, emb=3, hid=4),
    "step_first": lambda: step_first(WORDS, MOTS, recurrent="lstm", emb=3, hid=4),
}


@pytest.mark.parametrize("name", PRESETS)
@settings(PROFILE, max_examples=8)
@given(lengths=st.lists(st.integers(1, 5), min_size=1, max_size=3), wild=st.sampled_from([*WILD[:3], 1e38]))
def test_padding_never_enters(name, lengths, wild):
    """Whatever the embedding of PAD is, the scores of the words stay the same."""
    model = PRESETS[name]()
    source = torch.tensor([[4, 5, 6, 4, 5][: n - 1] + [END] + [PAD] * (5 - n) for n in lengths])
    target = torch.tensor([[4, 5, END]] * len(lengths))
    with torch.no_grad():
        before = model(source, torch.tensor(lengths), target).logits
        model.encoder.embedding.weight[PAD] = wild
        after = model(source, torch.tensor(lengths), target).logits
    assert torch.equal(before, after)


@pytest.mark.parametrize(
    "encoder", [BidirectionalGRU(7, 2, 3, 3), StackedLSTM(7, 2, 3), StackedLSTM(7, 2, 3, 2)], ids=str
)
@settings(PROFILE, max_examples=15)
@given(lengths=st.lists(st.integers(-1, 6), min_size=2, max_size=3), number=st.integers(-1, 8))
def test_an_encoder_reads_what_fits_or_raises(encoder, lengths, number):
    source = torch.full((len(lengths), 5), number)
    if all(1 <= n <= 5 for n in lengths) and 0 <= number < 7:
        encoded = encoder(source, torch.tensor(lengths))
        assert encoded.annotations.isfinite().all()
        alone = [encoder(row[None, :n], torch.tensor([n])) for row, n in zip(source, lengths, strict=True)]
        assert torch.allclose(encoded.summary, torch.cat([one.summary for one in alone]), atol=1e-6)
    else:
        with pytest.raises(ValueError, match=r"lengths holds|source holds"):
            encoder(source, torch.tensor(lengths))


# --- Sentences ---


@PROFILE
@given(known=st.sets(st.text("aé '", min_size=1, max_size=2)), sentence=st.lists(st.text("aé '<", max_size=2)))
def test_words_are_known_or_unknown(known, sentence):
    vocabulary = Vocabulary(tuple(sorted(known)))
    if not sentence:
        with pytest.raises(ValueError, match="words is empty; expected at least one word"):
            encode([sentence], vocabulary)
        return
    ids, lengths = encode([sentence, ["x"]], vocabulary)
    assert lengths.tolist() == [len(sentence) + 1, 2]
    for word, number in zip(sentence, ids[0].tolist(), strict=False):
        assert (number == UNKNOWN) == (word not in vocabulary.words)
        assert number == UNKNOWN or vocabulary.decode([number]) == (word,)
