r"""The general attention mechanism: score queries against keys, average the values by the weights.

The functions take NumPy arrays and torch tensors alike and change none of their arguments. `attention` and
`masked_softmax` refuse what their signatures do not admit; what is inside trusts the shapes.
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from array_api_compat import array_namespace, device, is_torch_array
from jaxtyping import Bool, Float, Int, Real

from attnlib.shapes import Array, typechecked


class AttentionOutput(NamedTuple):
    """Tell what the queries received, and from where.

    Attributes
    ----------
    context : ``"*batch tgt v"``
        The weighted sum of the values, one for each query.
    weights : ``"*batch tgt window"``
        The share of each value. A row sums to 1; to 0 where there was nothing to look at, to less where a factor was
        applied.
    positions : ``"*batch tgt window"``, or None
        The source position of each weight. None: the weights cover the whole source in order.
    center : ``"*batch tgt"``, or None
        The center :math:`p_t` of the window, in source positions from 0. None: there is no window.
    """

    context: Float[Array, "*batch tgt v"]
    weights: Float[Array, "*batch tgt window"]
    positions: Int[Array, "*batch tgt window"] | None = None
    center: Float[Array, "*batch tgt"] | None = None

    def select(self, rows: Int[Array, "chosen"]) -> "AttentionOutput":
        """Take the chosen rows of the batch only, in that order."""
        return AttentionOutput(*(None if x is None else x[rows] for x in self))

    def to_dense(self, src_len: int) -> Float[Array, "*batch tgt {src_len}"]:
        """Return the weights of all source positions, 0 outside the window; none may lie beyond `src_len`."""
        xp = array_namespace(self.weights)
        if self.positions is None:
            if self.weights.shape[-1] != src_len:
                raise ValueError(
                    f"src_len is {src_len}, but the weights cover {self.weights.shape[-1]} source positions"
                )
            return self.weights
        inside = (self.positions >= 0) & (self.positions < src_len)
        if bool(xp.any(~inside & (self.weights != 0))):
            raise ValueError(f"src_len is {src_len}, but the weights reach position {int(xp.max(self.positions))}")
        source = xp.arange(src_len, device=device(self.positions))
        looks = range(self.weights.shape[-1])  # one by one: side by side they would need as many times the memory
        return sum(xp.where(self.positions[..., n, None] == source, self.weights[..., n, None], 0.0) for n in looks)


def join(looks: Sequence[AttentionOutput]) -> AttentionOutput:
    """Put the looks of consecutive steps, all through the same window, side by side as one look of all of them."""
    xp = array_namespace(looks[0].weights)
    context, weights, positions, centers = zip(*looks, strict=True)
    return AttentionOutput(
        xp.concat(context, axis=-2),
        xp.concat(weights, axis=-2),
        None if positions[0] is None else xp.concat(positions, axis=-2),
        None if centers[0] is None else xp.concat(centers, axis=-1),
    )


@typechecked
def masked_softmax(
    e: Real[Array, "*shape"], mask: Bool[Array, "#*shape"] | None = None, axis: int = -1
) -> Float[Array, "*shape"]:
    r"""Turn scores into weights, :math:`\alpha_i = \exp(e_i) / \sum_k \exp(e_k)`, over the unmasked positions.

    Parameters
    ----------
    e : ``"*shape"``
        Scores, however large. One of minus infinity counts as masked.
    mask : Boolean, broadcast against `e`, optional
        True: a real word. Elsewhere the weight is exactly 0, whatever the score.
    axis : int
        The axis along which the weights sum to 1. A row that is all masked is all 0, never NaN.

    Notes
    -----
    Bahdanau et al. 2015, eq. 6; Luong et al. 2015, eq. 7.
    """
    return _softmax(*_as_floating(e), mask, axis)


def _softmax(e: Float[Array, "..."], mask: Bool[Array, "..."] | None, axis: int = -1) -> Float[Array, "..."]:
    """Do what `masked_softmax` says, the largest score subtracted first so that none overflows."""
    xp = array_namespace(e)
    if mask is not None:
        e = xp.where(mask, e, -xp.inf)
    if is_torch_array(e):  # one fused kernel, whose gradient needs to keep one array only
        gone = e == -xp.inf
        return xp.where(gone, 0.0, xp.softmax(e.masked_fill(gone.all(axis, keepdim=True), 0.0), axis))
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
    """Average the values by the softmax of the scores; a `factor` multiplies the weights, which are not made 1 again.

    Masked positions have weight exactly 0. Their values may be any numbers, but must be finite: 0 times NaN is NaN.

    Costs ``batch * tgt * src * v`` multiply-adds. Bahdanau et al. 2015, eq. 5 and 6; Luong et al. 2015,
    section 3.1, eq. 7, and with a `factor` eq. 10.
    """
    weights = _softmax(scores, mask)
    if factor is not None:
        weights = weights * array_namespace(weights).astype(factor, weights.dtype, copy=False)
    return AttentionOutput(weights @ values, weights)


@typechecked
def attention(
    queries: Real[Array, "*batch tgt d"],
    keys: Real[Array, "*batch src d"],
    values: Real[Array, "*batch src v"],
    mask: Bool[Array, "#*batch #tgt src"] | Bool[Array, "src"] | None = None,
    scale: float | None = None,
) -> AttentionOutput:
    r"""Answer each query with the average of the values, weighted by how well their keys match it.

    :math:`\mathrm{attention}(Q, K, V) = \mathrm{softmax}(\mathrm{scale} \cdot Q K^\top)\, V`

    Integers become float64.

    Parameters
    ----------
    queries, keys, values
        What is asked for, what each source position is found by, and what it answers with.
    mask : Boolean, broadcast against ``"*batch tgt src"``, optional
        True: a real word. See `attend`.
    scale : float, optional
        What the scores are multiplied by before the softmax. None: :math:`1 / \sqrt{d}`.

    Notes
    -----
    Costs ``batch * tgt * src * (d + v)`` multiply-adds, and memory for ``batch * tgt * src`` weights.
    Vaswani et al. 2017, eq. 1; with ``scale=1`` it is the dot score of Luong et al. 2015, section 3.1.
    """
    queries, keys, values = _as_floating(queries, keys, values)
    scale = 1 / sqrt(keys.shape[-1]) if scale is None else scale
    return attend((queries * scale) @ keys.mT, values, mask)


def _as_floating(*arrays: Real[Array, "..."]) -> list[Float[Array, "..."]]:
    """Take all arrays to one floating-point precision: integers become float64."""
    xp = array_namespace(*arrays)
    dtype = xp.result_type(*(x.dtype if xp.isdtype(x.dtype, "real floating") else xp.float64 for x in arrays))
    return [xp.astype(x, dtype, copy=False) for x in arrays]
