"""The general mechanism, held against a loop, SciPy, torch, and itself."""

import inspect
import math
import tracemalloc
from copy import deepcopy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import softmax

from attnlib.attention import Attended, attention, masked_softmax

BATCH, TGT, SRC, D, V = 2, 3, 7, 5, 11
LENGTHS = np.array([7, 4])
MASK = np.arange(SRC) < LENGTHS[:, None, None]

unchecked_softmax = inspect.unwrap(masked_softmax)
unchecked_attention = inspect.unwrap(attention)


@pytest.fixture(params=["numpy", "torch"])
def library(request):
    """Turn a NumPy array into one of each library."""
    return {"numpy": np.array, "torch": torch.tensor}[request.param]


@pytest.fixture(params=["float32", "float64"])
def precision(request):
    return request.param


def draw(*shapes, seed=0, precision="float64"):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(precision) for shape in shapes]


def draw_arguments(*leading, **options):
    return draw((*leading, TGT, D), (*leading, SRC, D), (*leading, SRC, V), **options)


def softmax_by_loop(scores, mask):
    total = sum(math.exp(score) for score, real in zip(scores, mask, strict=True) if real)
    return [math.exp(score) / total if real else 0.0 for score, real in zip(scores, mask, strict=True)]


def attention_by_loop(queries, keys, values, mask):
    contexts, weights = [], []
    for query, row in zip(queries, np.broadcast_to(mask, (len(queries), len(keys))), strict=True):
        scores = [sum(query * key) / math.sqrt(len(key)) for key in keys]
        weights.append(softmax_by_loop(scores, row))
        contexts.append(sum(weight * value for weight, value in zip(weights[-1], values, strict=True)))
    return np.array(contexts), np.array(weights)


def test_the_documents_example_to_its_last_digit():
    words = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    legacy = np.random.RandomState(42)
    to_query, to_key, to_value = (legacy.randint(3, size=(3, 3)) for _ in range(3))
    context = attention(words @ to_query, words @ to_key, words @ to_value).context
    assert str(context) == (
        "[[0.98522025 1.74174051 0.75652026]\n"
        " [0.90965265 1.40965265 0.5       ]\n"
        " [0.99851226 1.75849334 0.75998108]\n"
        " [0.99560386 1.90407309 0.90846923]]"
    )


def test_a_hand_made_case():
    """Scores 0, log 2 and log 5 have the shares 1, 2 and 5 of eight."""
    assert np.allclose(masked_softmax(np.log([1, 2, 5])), [1 / 8, 2 / 8, 5 / 8])
    assert np.allclose(masked_softmax(np.log([1, 2, 5]), np.array([True, True, False])), [1 / 3, 2 / 3, 0])


def test_attention_equals_the_loop(library, precision):
    queries, keys, values = draw_arguments(BATCH, precision=precision)
    context, weights, positions = attention(*map(library, (queries, keys, values)), library(MASK))
    assert positions is None
    for b in range(BATCH):
        expected_context, expected_weights = attention_by_loop(queries[b], keys[b], values[b], MASK[b])
        tolerance = {"float32": 1e-5, "float64": 1e-12}[precision]
        assert np.allclose(context[b], expected_context, atol=tolerance)
        assert np.allclose(weights[b], expected_weights, atol=tolerance)


def test_softmax_equals_scipys(library):
    (scores,) = draw((BATCH, TGT, SRC))
    for axis in (-1, 0, 1):
        assert np.allclose(masked_softmax(library(scores), axis=axis), softmax(scores, axis=axis))


def test_attention_equals_torchs_own():
    queries, keys, values = map(torch.tensor, draw_arguments(BATCH))
    mask = torch.tensor(MASK)
    for scale in (None, 0.3):
        ours = attention(queries, keys, values, mask, scale).context
        torchs = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, scale=scale)
        assert torch.allclose(ours, torchs)


@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
def test_any_leading_axes(library, leading):
    whole = [library(x) for x in draw_arguments(*leading)]
    context, weights, _ = attention(*whole)
    assert context.shape == (*leading, TGT, V)
    assert weights.shape == (*leading, TGT, SRC)
    for index in np.ndindex(leading):
        assert np.allclose(context[index], attention(*(x[index] for x in whole)).context)


@pytest.mark.parametrize("shape", [(1, SRC), (TGT, SRC), (1, 1, SRC), (BATCH, 1, SRC), (1, TGT, SRC)])
def test_a_mask_broadcasts(library, shape):
    mask = np.random.default_rng(1).random(shape) < 0.6
    whole = [library(x) for x in draw_arguments(BATCH)]
    full = np.broadcast_to(mask, (BATCH, TGT, SRC)).copy()
    assert np.array_equal(attention(*whole, library(mask)).weights, attention(*whole, library(full)).weights)


def test_precision_is_kept_and_promoted(library, precision):
    whole = [library(x) for x in draw_arguments(precision=precision)]
    assert str(attention(*whole).context.dtype).endswith(precision)
    mixed = [
        library(x.astype(kind)) for x, kind in zip(draw_arguments(), ["float32", "float64", "float32"], strict=True)
    ]
    assert str(attention(*mixed).context.dtype).endswith("float64")


def test_numpys_integers_are_promoted():
    integers = [np.arange(12).reshape(4, 3) % 5 for _ in range(3)]
    floats = [x.astype(float) for x in integers]
    assert attention(*integers).context.dtype == np.float64
    assert np.array_equal(attention(*integers).context, attention(*floats).context)
    assert masked_softmax(np.array([1, 2])).dtype == np.float64


def test_huge_scores_stay_finite(library, precision):
    scores = library(np.array([1e4, -1e4, 9e3], dtype=precision))
    assert masked_softmax(scores).tolist() == [1, 0, 0]
    assert np.allclose(masked_softmax(scores / 1e4), softmax([1, -1, 0.9]), atol=1e-6)


def test_masked_is_exactly_zero_whatever_the_score(library):
    mask = library(np.array([True, False, True, False, False]))
    weights = masked_softmax(library(np.array([0.5, 1e300, -0.5, np.nan, np.inf])), mask)
    assert weights[[1, 3, 4]].tolist() == [0, 0, 0]
    assert np.allclose(weights[[0, 2]], softmax([0.5, -0.5]))


def test_a_row_with_nothing_to_attend_to_is_zero(library):
    queries, keys, values = (library(x) for x in draw_arguments(BATCH))
    mask = library(np.array([[[True] * SRC], [[False] * SRC]]))
    context, weights, _ = attention(queries, keys, values, mask)
    assert not context[1].any()
    assert not weights[1].any()
    assert np.allclose(weights[0].sum(-1), 1)
    assert not masked_softmax(library(np.full(SRC, -np.inf))).any()


def test_a_batch_gives_each_sentence_what_it_gets_alone(library):
    queries, keys, values = draw_arguments(BATCH)
    together = attention(library(queries), library(keys), library(values), library(MASK))
    for b, length in enumerate(LENGTHS):
        alone = attention(*(library(x) for x in (queries[b], keys[b, :length], values[b, :length])))
        assert np.allclose(together.context[b], alone.context)
        assert np.allclose(together.weights[b, :, :length], alone.weights)


def test_no_argument_is_changed(library):
    whole = [library(x) for x in draw_arguments(BATCH)] + [library(MASK)]
    before = deepcopy(whole)
    attention(*whole)
    masked_softmax(whole[0])
    for x, copy in zip(whole, before, strict=True):
        assert np.array_equal(x, copy)


def test_the_weights_can_be_written_where_the_scores_are():
    (scores,) = draw((TGT, SRC))
    expected = masked_softmax(scores, MASK[0])
    assert masked_softmax(scores, MASK[0], out=scores) is scores
    assert np.array_equal(scores, expected)
    with pytest.raises(ValueError, match=r"out has shape \(7,\); expected None, since e is a tensor"):
        unchecked_softmax(torch.ones(SRC), out=torch.ones(SRC))


def test_the_gradient_is_right():
    whole = [torch.tensor(x, requires_grad=True) for x in draw_arguments(BATCH)]
    mask = torch.tensor(MASK)
    assert torch.autograd.gradcheck(lambda *x: attention(*x, mask)[:2], whole)
    assert torch.autograd.gradcheck(lambda e: masked_softmax(e, mask, axis=1), draw_scores())


def draw_scores():
    return torch.tensor(draw((BATCH, TGT, SRC))[0], requires_grad=True)


def test_no_gradient_reaches_what_is_masked():
    queries, keys, values = (torch.tensor(x, requires_grad=True) for x in draw_arguments(BATCH))
    mask = torch.tensor(MASK).clone()
    mask[0] = False
    attention(queries, keys, values, mask).context.pow(2).sum().backward()
    for x in (queries, keys, values):
        assert not x.grad[0].any(), "a sentence that is all masked"
    for x in (keys, values):
        assert not x.grad[1, LENGTHS[1] :].any(), "padding"
        assert x.grad[1, : LENGTHS[1]].any(dim=-1).all(), "every real word must get a gradient"


@given(arrays(np.float64, (TGT, SRC), elements=st.floats(-1e4, 1e4)), arrays(bool, (TGT, SRC)), st.floats(-1e3, 1e3))
def test_whatever_the_scores(scores, mask, shift):
    weights = masked_softmax(scores, mask)
    assert np.isfinite(weights).all()
    assert (weights >= 0).all()
    assert not weights[~mask].any()
    assert np.allclose(weights.sum(axis=1), mask.any(axis=1))
    assert np.allclose(weights, masked_softmax(scores + shift, mask), atol=1e-9)
    assert np.allclose(weights, masked_softmax(torch.tensor(scores), torch.tensor(mask)), atol=1e-12)


@given(st.permutations(range(SRC)), st.integers(0, 100))
def test_the_order_of_the_keys_does_not_matter(order, seed):
    queries, keys, values = draw_arguments(seed=seed)
    context, weights, _ = attention(queries, keys, values)
    shuffled = attention(queries, keys[order], values[order])
    assert np.allclose(shuffled.context, context)
    assert np.allclose(shuffled.weights, weights[:, order])


def test_no_query_is_fine_but_no_key_is_not():
    queries, keys, values = draw_arguments()
    assert attention(queries[:0], keys, values).context.shape == (0, V)
    with pytest.raises(ValueError, match=r"keys \(0, 5\).*at least one source position"):
        unchecked_attention(queries, keys[:0], values[:0])
    with pytest.raises(ValueError, match="at least one source position and one feature"):
        unchecked_attention(queries[:, :0], keys[:, :0], values)
    with pytest.raises(ValueError, match=r"e has shape \(3, 0\)"):
        unchecked_softmax(np.ones((3, 0)))


def test_a_batch_of_no_sentence_is_fine(library):
    context, weights, _ = attention(*(library(x) for x in draw_arguments(0)))
    assert context.shape == (0, TGT, V)
    assert weights.shape == (0, TGT, SRC)


def test_numpy_needs_room_for_the_weights_and_the_contexts_only():
    queries, keys, values = draw((100, 50), (200, 50), (200, 100))
    attention(queries, keys, values)
    tracemalloc.start()
    context, weights, _ = attention(queries, keys, values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2 * (context.nbytes + weights.nbytes)


def numbers(*shape):
    return np.ones(shape)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((numbers(3, 5), numbers(7, 4), numbers(7, 2)), ValueError, r"queries \(3, 5\), keys \(7, 4\).*features"),
        ((numbers(3, 5), numbers(7, 5), numbers(6, 2)), ValueError, r"keys \(7, 5\), values \(6, 2\).*source pos"),
        ((numbers(2, 3, 5), numbers(7, 5), numbers(7, 2)), ValueError, "same leading axes"),
        ((numbers(5), numbers(7, 5), numbers(7, 2)), ValueError, r"queries \(5,\).*at least two axes"),
        (([[1.0]], numbers(7, 1), numbers(7, 2)), TypeError, "queries is a list; expected a NumPy array"),
        ((numbers(3, 5), torch.ones(7, 5), numbers(7, 2)), TypeError, "keys is a torch.Tensor.*one library"),
        ((numbers(3, 5), numbers(7, 5), torch.ones(7, 2)), TypeError, "y, keys is a numpy.*y, values is a torch"),
        ((numbers(3, 5) * 1j, numbers(7, 5), numbers(7, 2)), TypeError, r"queries has shape \(3, 5\).*complex128"),
        ((numbers(3, 5), numbers(7, 5) > 0, numbers(7, 2)), TypeError, "keys .* holds bool; expected real numbers$"),
        (
            (torch.ones(3, 5), torch.ones(7, 5), torch.ones(7, 2).long()),
            TypeError,
            "values .*int64.* floating.* numbers$",
        ),
        ((numbers(3, 5), numbers(5), numbers(7, 2)), ValueError, r"keys \(5,\).*at least two axes"),
        ((numbers(3, 5), numbers(7, 5), numbers(7)), ValueError, r"values \(7,\).*at least two axes"),
        ((numbers(3, 5), numbers(7, 5), numbers(7, 2), numbers(3, 6) > 0), ValueError, r"mask has shape \(3, 6\)"),
        ((numbers(3, 5), numbers(7, 5), numbers(7, 2), numbers(2, 3, 7) > 0), ValueError, r"mask has .*to \(3, 7\)"),
        ((numbers(3, 5), numbers(7, 5), numbers(7, 2), torch.ones(3, 7) > 0), TypeError, "mask is a Tensor"),
    ],
)
def test_bad_input_says_what_is_wrong(arguments, error, message):
    with pytest.raises(error, match=message):
        unchecked_attention(*arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("scores",), TypeError, "e is a str"),
        ((torch.ones(3, dtype=torch.int32),), TypeError, r"e has shape \(3,\) and holds torch.int32"),
        ((numbers(3), numbers(3)), TypeError, r"mask has shape \(3,\) and holds float64; expected bool"),
        ((numbers(3), [True]), TypeError, "mask is a list"),
        ((numbers(3), None, 1), ValueError, r"axis is 1, but e has shape \(3,\)"),
        ((numbers(), None), ValueError, r"axis is -1, but e has shape \(\)"),
    ],
)
def test_bad_scores_say_what_is_wrong(arguments, error, message):
    with pytest.raises(error, match=message):
        unchecked_softmax(*arguments)


def test_dense_lays_the_window_over_the_source(library):
    weights = library(np.array([[[0.25, 0.75, 0.0], [0.5, 0.5, 0.0]]]))
    positions = library(np.array([[[1, 2, 3], [3, 4, 5]]]))
    dense = Attended(weights[..., :1], weights, positions).dense(5)
    assert dense.tolist() == [[[0, 0.25, 0.75, 0, 0], [0, 0, 0, 0.5, 0.5]]]
    with pytest.raises(ValueError, match="src is 4, but the weights reach position"):
        Attended(weights[..., :1], weights, positions).dense(4)
    everywhere = Attended(weights[..., :1], weights)
    assert everywhere.dense(3) is weights
    with pytest.raises(ValueError, match="src is 5, but the weights cover 3"):
        everywhere.dense(5)
    assert Attended(weights[..., :1], weights[..., :0]).dense(0).shape == (1, 2, 0)
    with pytest.raises(ValueError, match="src is -1; expected at least 0"):
        everywhere.dense(-1)


@pytest.mark.parametrize("leading", [(), (2, 3)])
def test_dense_with_any_leading_axes(library, leading):
    weights, positions = draw((*leading, TGT, 2))[0], np.array([1, 4])
    expected = np.zeros((*leading, TGT, SRC))
    expected[..., positions] = weights
    attended = Attended(library(weights), library(weights), library(np.broadcast_to(positions, weights.shape).copy()))
    assert np.array_equal(attended.dense(SRC), expected)
