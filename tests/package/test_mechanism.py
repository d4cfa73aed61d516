"""The general mechanism, held against a loop, torch, and itself."""

import math
from copy import deepcopy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.nn.functional import scaled_dot_product_attention

from attnlib.mechanism import AttentionOutput, attend, attention, masked_softmax

BATCH, TGT, SRC, D, V = 2, 3, 7, 5, 11
LENGTHS = np.array([7, 4])
MASK = np.arange(SRC) < LENGTHS[:, None, None]
WHOLE = np.arange(9).reshape(3, 3)
shapes = st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple)


def draw(*shapes, seed=0, precision="float64"):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(precision) for shape in shapes]


def draw_arguments(*leading, **options):
    return draw((*leading, TGT, D), (*leading, SRC, D), (*leading, SRC, V), **options)


def softmax_by_loop(scores, mask=None):
    mask = [True] * len(scores) if mask is None else mask
    total = sum(math.exp(score) for score, real in zip(scores, mask, strict=True) if real)
    return [math.exp(score) / total if real else 0.0 for score, real in zip(scores, mask, strict=True)]


# --- The softmax ---


@st.composite
def scores_masks_and_axes(draw):
    """Draw shapes of scores, and of a mask that broadcasts to them, and an axis."""
    scores = draw(shapes)
    mask = [draw(st.sampled_from([1, size])) for size in scores][draw(st.integers(0, len(scores))) :]
    return scores, tuple(mask), draw(st.integers(-len(scores), len(scores) - 1))


@settings(max_examples=40)
@given(drawn=scores_masks_and_axes())
def test_a_softmax_is_its_equation(library, drawn):
    scores, mask, axis = drawn
    e, real = draw(scores)[0], draw(mask, seed=1)[0] > 0
    weights = np.moveaxis(np.asarray(masked_softmax(library(e), library(real), axis)), axis, -1)
    rows, reals = np.moveaxis(e, axis, -1), np.moveaxis(np.broadcast_to(real, scores), axis, -1)
    for place in np.ndindex(weights.shape[:-1]):
        assert np.allclose(weights[place], softmax_by_loop(rows[place], reals[place]))


@given(arrays(float, (TGT, SRC), elements=st.floats(-1e4, 1e4)), arrays(bool, (TGT, SRC)), st.floats(-1e3, 1e3))
def test_whatever_the_scores_weights_are_shares_and_masked_is_exactly_zero(library, scores, mask, shift):
    weights, moved = (np.asarray(masked_softmax(library(e), library(mask))) for e in (scores, scores + shift))
    assert (weights >= 0).all()
    assert not weights[~mask].any()
    assert np.allclose(weights.sum(axis=1), mask.any(axis=1))
    assert np.allclose(weights, moved, atol=1e-9)


# --- Averages ---


def test_a_factor_multiplies_the_weights_after_the_softmax(library):
    scores, values, factor = map(library, draw((BATCH, TGT, SRC), (BATCH, SRC, V), (BATCH, TGT, SRC)))
    context, weights, *_ = attend(scores, values, library(MASK), factor)
    assert np.allclose(weights, masked_softmax(scores, library(MASK)) * factor)
    assert np.allclose(context, weights @ values)


@settings(max_examples=40)
@given(leading=shapes | st.just(()), sizes=st.tuples(*[st.integers(1, 3)] * 4), scale=st.sampled_from([None, 0.3]))
def test_attention_is_torchs_own(library, leading, sizes, scale):
    tgt, src, d, v = sizes
    drawn = draw((*leading, tgt, d), (*leading, src, d), (*leading, src, v))
    mask = np.arange(src)[None] % 2 == 0
    ours = attention(*map(library, (*drawn, mask)), scale).context
    theirs = scaled_dot_product_attention(*map(torch.tensor, drawn), attn_mask=torch.tensor(mask), scale=scale)
    assert np.allclose(ours, theirs)


def test_precision_is_kept_and_promoted(library):
    for kinds, expected in (("444", "float32"), ("484", "float64"), ("888", "float64")):
        arguments = [library(x.astype(f"f{kind}")) for x, kind in zip(draw_arguments(), kinds, strict=True)]
        assert str(attention(*arguments).context.dtype).endswith(expected)
    integers = [np.arange(12).reshape(4, 3) % 5 for _ in range(3)]
    floats = attention(*(x.astype(float) for x in integers)).context
    assert np.allclose(attention(*map(library, integers)).context, floats, rtol=1e-14)
    assert str(masked_softmax(library([1, 2])).dtype).endswith("float64")


def test_no_argument_is_changed(library):
    arguments = [library(x) for x in (*draw_arguments(BATCH), MASK)]
    before = deepcopy(arguments)
    attention(*arguments)
    masked_softmax(arguments[0])
    for x, copy in zip(arguments, before, strict=True):
        assert np.array_equal(x, copy)


# --- Gradients ---


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


@pytest.mark.parametrize("mask", [None, torch.tensor([True, True, False])])
def test_scores_of_minus_infinity_leave_gradients_finite_and_those_of_other_rows_as_they_were(mask):
    weight, h = (torch.tensor(x, requires_grad=True) for x in draw((D, D), (3, D)))
    away = torch.tensor([[-torch.inf] * 3, [-torch.inf, 0.0, -torch.inf], [0.0, 0.0, -torch.inf]])
    whole = masked_softmax(h @ weight @ h.T + away, mask) @ h
    assert not whole[0].any()
    alone = masked_softmax(h[2:] @ weight @ h[:2].T) @ h[:2]
    one, other = (torch.autograd.grad(x.pow(2).sum(), weight)[0] for x in (whole, alone))
    torch.testing.assert_close(one, other)


# --- NaN and infinity ---

scores_and_mask = st.integers(1, 5).flatmap(
    lambda n: st.tuples(arrays(float, n, elements=st.floats(-50, 50)), arrays(bool, n))
)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@settings(max_examples=40)
@given(drawn=scores_and_mask, wild=st.sampled_from([np.nan, np.inf, -np.inf, 1e308]))
def test_a_key_that_is_masked_never_counts_whatever_it_holds(library, drawn, wild):
    e, mask = drawn
    tame, spoilt = (np.where(mask, e, other) for other in (0.0, wild))
    assert np.array_equal(*(masked_softmax(library(x), library(mask)) for x in (tame, spoilt)))


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@settings(max_examples=40)
@given(drawn=scores_and_mask, wild=st.sampled_from([np.nan, np.inf]), where=st.integers(0, 4))
def test_nan_never_vanishes(library, drawn, wild, where):
    """NaN or plus infinity among the scores, or in a value with a weight."""
    e = drawn[0].copy()
    e[where % len(e)] = wild
    assert np.isnan(np.asarray(masked_softmax(library(e)))).all()
    one, keys, values = map(library, (np.ones((1, 1)), np.ones((len(e), 1)), e[:, None]))
    assert not np.isfinite(np.asarray(attention(one, keys, values).context)).any()


# --- What was looked at ---


def test_dense_lays_the_window_over_the_source(library):
    """Where a weight is 0, its position may lie beyond the source."""
    weights, positions = library([[[0.25, 0.75, 0.0], [0.5, 0.5, 0.0]]]), library([[[1, 2, 3], [3, 4, 5]]])
    expected = [[[0, 0.25, 0.75, 0, 0], [0, 0, 0, 0.5, 0.5]]]
    assert AttentionOutput(weights, weights, positions).to_dense(5).tolist() == expected
    assert AttentionOutput(weights[0], weights[0], positions[0]).to_dense(5).tolist() == expected[0]
    assert AttentionOutput(weights, weights).to_dense(3) is weights


@pytest.mark.parametrize(
    ("positions", "src_len", "says"),
    [(None, 4, "3, the number of source positions"), (WHOLE, 8, "a number above 8"), (-WHOLE, 9, "a number")],
)
def test_a_source_that_ends_before_the_window_is_refused(positions, src_len, says, refused):
    output = AttentionOutput(np.eye(3), np.eye(3), positions)
    refused(lambda: output.to_dense(src_len), f"^src_len is {src_len}; expected {says}")


@pytest.mark.parametrize("like", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
@pytest.mark.parametrize("of_mask", [np.asarray, torch.from_numpy], ids=["mask of numpy", "mask of torch"])
def test_a_mask_may_be_of_the_other_library(like, of_mask):
    x, mask = np.random.default_rng(0).normal(size=(2, 3, 5)), np.array([True, False, True])
    output, expected = attention(like(x), like(x), like(x), of_mask(mask)), attention(x, x, x, mask)
    np.testing.assert_allclose(np.asarray(output.context), expected.context)
    assert type(output.context) is type(like(x))
    e = x[..., :3]
    np.testing.assert_allclose(np.asarray(masked_softmax(like(e), of_mask(mask))), masked_softmax(e, mask))


def test_vectors_without_features_are_refused(library, refused):
    x = library(np.zeros((2, 0)))
    refused(lambda: attention(x, x, library(np.ones((2, 3)))), r"keys has shape \(2, 0\); expected at least one")


@pytest.mark.parametrize("wrong", ["keys", "values"])
def test_arrays_of_two_libraries_are_refused_by_name(wrong, refused):
    given = dict.fromkeys(("queries", "keys", "values"), torch.zeros(2, 3)) | {wrong: np.zeros((2, 3))}
    refused(lambda: attention(**given), f"TypeError: {wrong} is of numpy, and queries of torch; expected arrays of one")


@pytest.mark.parametrize("scale", [2, np.float32(2), np.float64(2), np.int64(2), np.array(2.0), torch.tensor(2.0)])
@pytest.mark.parametrize("like", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_a_scale_is_a_number_of_any_library_and_changes_no_precision(like, scale):
    x = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    output = attention(like(x), like(x), like(x), scale=scale)
    assert output.context.dtype == like(x).dtype
    np.testing.assert_array_equal(
        np.asarray(output.weights), np.asarray(attention(like(x), like(x), like(x), scale=2.0).weights)
    )


def test_a_gradient_reaches_a_scale_that_is_learned():
    scale = torch.tensor(0.5, requires_grad=True)
    attention(torch.eye(3), torch.eye(3), torch.eye(3), scale=scale).weights[0, 0].backward()
    assert scale.grad > 0
