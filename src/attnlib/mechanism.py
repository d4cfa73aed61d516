r"""The general attention mechanism (chapter 1): score queries against keys, average the values by the weights.

The functions take NumPy arrays and torch tensors alike and change none of their arguments. `attention` and
`masked_softmax` refuse arrays that do not go together; what is inside trusts the shapes.
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from array_api_compat import array_namespace, device, is_torch_array
from jaxtyping import Bool, Float, Int, Real

from attnlib.checks import BOOLEANS, NUMBERS, brief, check_arrays, check_whole
from attnlib.shapes import Array, FloatLike, IntLike


class AttentionOutput(NamedTuple):
    """Output of attention: one context and one row of weights per query.

    Attributes
    ----------
    context
        The weighted sum of the values, one for each query.
    weights
        The weight of each value, from 0 to 1. A row sums to 1. A row without any unmasked position sums to 0, and a row
        that was multiplied by a factor sums to less than 1.
    positions
        The source position of each weight, from 0. If None, the weights cover the whole source in order.
        Positions outside the window or the sentence may be listed, with weight 0.
    center
        The center :math:`p_t` of the window, in source positions from 0. If None, the window is global.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import AttentionOutput
    >>> output = AttentionOutput(np.ones((1, 2)), weights=np.array([[0.25, 0.75]]), positions=np.array([[1, 2]]))
    >>> output.to_dense(4).tolist()
    [[0.0, 0.25, 0.75, 0.0]]
    """

    context: Float[Array, "*batch tgt v"]
    weights: Float[Array, "*batch tgt window"]
    positions: Int[Array, "*batch tgt window"] | None = None
    center: Float[Array, "*batch tgt"] | None = None

    def select(self, rows: Int[Array, "chosen"]) -> "AttentionOutput":
        """Return the chosen rows of the batch only, in that order."""
        return AttentionOutput(*(None if x is None else x[rows] for x in self))

    def to_dense(self, src_len: int) -> Float[Array, "*batch tgt {src_len}"]:
        """Return the weights of all source positions, 0 outside the window.

        Parameters
        ----------
        src_len : int
            The number of source positions. Without a window it must be that of the weights.

        Raises
        ------
        ValueError
            If there is no window and `src_len` is not the number of weights, or a window has weights beyond `src_len`.
        """
        xp, window = array_namespace(self.weights), self.weights.shape[-1]
        if self.positions is None:
            if window != src_len:
                raise ValueError(f"src_len is {src_len}; expected {window}, the number of source positions")
            return self.weights
        inside = (self.positions >= 0) & (self.positions < src_len)
        if bool(xp.any(~inside & (self.weights != 0))):
            reached = int(xp.max(self.positions))
            raise ValueError(f"src_len is {src_len}; expected a number above {reached}, the last position")
        source = xp.arange(src_len, device=device(self.positions))
        each = range(window)  # one by one: side by side they would need as many times the memory
        return sum(xp.where(self.positions[..., n, None] == source, self.weights[..., n, None], 0.0) for n in each)


def join(outputs: Sequence[AttentionOutput]) -> AttentionOutput:
    """Concatenate the outputs of consecutive steps, which share one window, along the target axis."""
    # The last axis of a center, the last but one of all else; counted from the front it has one number for all.
    xp, tgt = array_namespace(outputs[0].weights), outputs[0].weights.ndim - 2
    return AttentionOutput(*(None if x[0] is None else xp.concat(x, axis=tgt) for x in zip(*outputs, strict=True)))


def masked_softmax(
    e: Real[Array, "*shape"], mask: Bool[Array, "#*shape"] | None = None, axis: IntLike = -1
) -> Float[Array, "*shape"]:
    r"""Compute the softmax of scores over the unmasked positions.

    :math:`\alpha_i = \exp(e_i) / \sum_k \exp(e_k)`

    Parameters
    ----------
    e
        Scores of any size; integers become float64. A score of minus infinity counts as masked.
    mask
        True at positions that may receive weight; all others get exactly 0. If None, all positions may.
    axis : int, default -1
        The axis along which the weights sum to 1.

    Returns
    -------
    array
        Weights from 0 to 1, and exactly 0 at masked positions, whatever their scores. A row without an unmasked
        position is all 0, never NaN. A row with NaN or plus infinity at an unmasked position is NaN at every unmasked
        position, and with NumPy at the masked ones, too; the other rows are not affected.

    Notes
    -----
    Bahdanau et al. 2015, eq. 6; Luong et al. 2015, eq. 7.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import masked_softmax
    >>> mask = np.array([True, True, False])
    >>> masked_softmax(np.zeros(3), mask).tolist()
    [0.5, 0.5, 0.0]
    """
    check_arrays(e=(e, NUMBERS, "*shape"), mask=None if mask is None else (mask, BOOLEANS, "#*shape"))
    if not e.ndim:
        raise ValueError("e has shape (); expected at least one axis")
    (axis,) = check_whole(-e.ndim, e.ndim - 1, axis=axis)
    (e,) = _as_floating(e=e)
    return _softmax(e, _of_the_same_library(mask, e), axis)


def _softmax(e: Float[Array, "..."], mask: Bool[Array, "..."] | None, axis: int = -1) -> Float[Array, "..."]:
    """Compute `masked_softmax` without checks."""
    xp = array_namespace(e)
    if mask is not None:
        e = xp.where(mask, e, -xp.inf)
    if is_torch_array(e):  # one fused kernel, whose gradient needs to keep one array only
        # The softmax of a row of minus infinities is 0 / 0, and its gradient is NaN too. So such a row becomes a row of
        # zeros first; afterward its weights are set to 0, like those of all masked positions.
        masked = e == -xp.inf
        return xp.where(masked, 0.0, xp.softmax(e.masked_fill(masked.all(axis, keepdim=True), 0.0), axis))
    if not e.shape[axis]:  # nothing to weigh, and no maximum
        return e
    # exp(e - peak) / sum exp(e - peak) is the same for every peak, and with the largest score no exp overflows.
    peak = xp.max(e, axis=axis, keepdims=True)
    weights = e - xp.where(peak == -xp.inf, 0.0, peak)
    xp.exp(weights, out=weights)
    total = xp.sum(weights, axis=axis, keepdims=True)
    weights /= xp.where(total == 0, 1.0, total)
    return weights


def attend(
    scores: Float[Array, "*batch tgt src"],
    values: Float[Array, "*batch src v"],
    mask: Bool[Array, "#*batch #tgt src"] | Bool[Array, "src"] | None = None,
    factor: Float[Array, "*batch tgt src"] | None = None,
) -> AttentionOutput:
    """Compute the average of the values, weighted by the softmax of the scores.

    Parameters
    ----------
    scores
        One score for each query and value. `attention` computes them from queries and keys.
    values
        Finite numbers, also at masked positions: 0 times NaN is NaN.
    mask
        True at positions that may receive weight; all others get exactly 0. If None, all positions may.
    factor
        Multiplies the weights after the softmax, such as `attnlib.windows.gaussian`. They are not normalized again.

    Notes
    -----
    The leading axes of scores, values, and factor are the same; a mask may have axes of size 1 in their place, or none.
    The shapes are not checked here. Leading axes that differ are broadcast by NumPy's rules: those of scores and mask
    in the weights, those of weights and values in the contexts.

    Costs ``batch * tgt * src * v`` multiply-adds. Bahdanau et al. 2015, eq. 5 and 6; Luong et al. 2015,
    section 3.1, eq. 7, and with a `factor` eq. 10.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import attend
    >>> output = attend(np.zeros((1, 2)), values=np.array([[1.0, 0.0], [3.0, 4.0]]))
    >>> output.context.tolist()
    [[2.0, 2.0]]
    """
    weights = _softmax(scores, mask)
    if factor is not None:
        # Luong's eq. 10: after the softmax, so that a row sums to less than 1 where the factor is below 1.
        weights = weights * array_namespace(weights).astype(factor, weights.dtype, copy=False)
    return AttentionOutput(weights @ values, weights)


def attention(
    queries: Real[Array, "*batch tgt d"],
    keys: Real[Array, "*batch src d"],
    values: Real[Array, "*batch src v"],
    mask: Bool[Array, "#*batch #tgt src"] | Bool[Array, "src"] | None = None,
    scale: FloatLike | None = None,
) -> AttentionOutput:
    r"""Compute the average of the values for each query, weighted by how well their keys match the query.

    :math:`\mathrm{attention}(Q, K, V) = \mathrm{softmax}(\mathrm{scale} \cdot Q K^\top)\, V`

    Parameters
    ----------
    queries
        One vector for each target position. Integers become float64, here and in the keys and values.
    keys
        The vector that each query is compared with, one for each source position.
    values
        The vector that is averaged, one for each source position.
    mask
        True at positions that may receive weight; all others get exactly 0. If None, all positions may.
    scale : float, optional
        Multiplies the scores before the softmax. If None, :math:`1 / \sqrt{d}`.

    Notes
    -----
    Costs ``batch * tgt * src * (d + v)`` multiply-adds, and memory for ``batch * tgt * src`` weights.
    Vaswani et al. 2017, eq. 1; with ``scale=1`` it is the dot score of Luong et al. 2015, section 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import attention
    >>> queries, keys = np.array([[0.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> attention(queries, keys, values=np.array([[1.0], [3.0]])).context.tolist()
    [[2.0]]
    """
    check_arrays(
        queries=(queries, NUMBERS, "*batch tgt d"),
        keys=(keys, NUMBERS, "*batch src d"),
        values=(values, NUMBERS, "*batch src v"),
        mask=None if mask is None else (mask, BOOLEANS, "src" if getattr(mask, "ndim", 1) == 1 else "#*batch #tgt src"),
    )
    if not keys.shape[-1]:
        raise ValueError(f"keys has shape {tuple(keys.shape)}; expected at least one feature")
    if not (scale is None or isinstance(scale, FloatLike)):
        raise TypeError(f"scale is {brief(scale)}; expected a number")
    queries, keys, values = _as_floating(queries=queries, keys=keys, values=values)
    scale = 1 / sqrt(keys.shape[-1]) if scale is None else scale
    scale = scale if is_torch_array(queries) and is_torch_array(scale) else float(scale)
    # The scale multiplies the queries, batch * tgt * d numbers, and not the scores, batch * tgt * src numbers.
    return attend((queries * scale) @ keys.mT, values, _of_the_same_library(mask, queries))


def _of_the_same_library(mask: Bool[Array, "..."] | None, x: Array) -> Bool[Array, "..."] | None:
    """Turn a mask of NumPy into one of torch, or the other way, if that is what goes with it."""
    if mask is None or is_torch_array(mask) == is_torch_array(x):
        return mask
    return array_namespace(x).asarray(mask, device=device(x))


def _as_floating(**given: Real[Array, "..."]) -> list[Float[Array, "..."]]:
    """Take all arrays to one floating-point precision: integers become float64."""
    (first, like), *others = given.items()
    for name, x in others:
        if is_torch_array(x) != is_torch_array(like):
            kinds = [type(each).__module__.partition(".")[0] for each in (x, like)]
            raise TypeError(f"{name} is of {kinds[0]}, and {first} of {kinds[1]}; expected arrays of one library")
    xp, dtypes = array_namespace(like), {x.dtype for x in given.values()}
    dtype = xp.result_type(*(kind if xp.isdtype(kind, "real floating") else xp.float64 for kind in dtypes))
    return [xp.astype(x, dtype, copy=False) for x in given.values()]
