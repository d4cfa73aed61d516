r"""The general attention mechanism: score queries against keys, average the values by the weights.

The functions take NumPy arrays and torch tensors alike, in any floating-point precision, and change none
of their arguments. NumPy's integers are promoted to float64. An integer tensor is refused, as torch's own
matrix product would refuse it.
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from array_api_compat import array_namespace, is_torch_array
from jaxtyping import Bool, Float, Int, Real

from attnlib.checks import as_floating, check_mask, check_shape, check_whole
from attnlib.shapes import Array


class Attended(NamedTuple):
    """What the queries received, and from where.

    Attributes
    ----------
    context : ``"*batch tgt v"``
        The weighted sum of the values, one for each query, in the values' unit.
    weights : ``"*batch tgt look"``
        The share of each value. A row sums to 1, or to 0 where there was nothing to look at; to less than 1
        where a factor below 1 was applied.
    positions : ``"*batch tgt look"``, or None
        The source position of each weight. None: the weights cover the whole source in order.
    centre : ``"*batch tgt"``, or None
        The centre :math:`p_t` of the window, in source positions from 0. None: there is no window.
    """

    context: Float[Array, "*batch tgt v"]
    weights: Float[Array, "*batch tgt look"]
    positions: Int[Array, "*batch tgt look"] | None = None
    centre: Float[Array, "*batch tgt"] | None = None

    def select(self, rows: Int[Array, "chosen"]) -> "Attended":
        """Take the chosen rows of the batch only, in that order."""
        return Attended(*(None if x is None else x[rows] for x in self))

    def dense(self, src: int) -> Float[Array, "*batch tgt {src}"]:
        """Lay the weights out over the whole source, for pictures and metrics.

        Parameters
        ----------
        src : int
            How many source positions there are.

        Returns
        -------
        ``"*batch tgt src"``
            The weights, 0 wherever the window did not reach.

        Raises
        ------
        ValueError
            If a weight other than 0 lies at `src` or beyond, or there is not a position for each weight.
        """
        check_whole(0, src=src)
        check_shape("positions", self.weights if self.positions is None else self.positions, *self.weights.shape)
        xp = array_namespace(self.weights)
        if self.positions is None:
            if self.weights.shape[-1] != src:
                raise ValueError(f"src is {src}, but the weights cover {self.weights.shape[-1]} source positions")
            return self.weights
        inside = (self.positions >= 0) & (self.positions < src)
        if bool(xp.any(~inside & (self.weights != 0))):
            raise ValueError(f"src is {src}, but the weights reach position {int(xp.max(self.positions))}")
        hit = (self.positions[..., None] == xp.arange(src)) & inside[..., None]
        return xp.sum(xp.where(hit, self.weights[..., None], xp.zeros_like(self.weights[..., None])), axis=-2)


def join(looks: Sequence[Attended]) -> Attended:
    """Put the looks of consecutive steps side by side, as one look of all of them.

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
    xp = array_namespace(looks[0].weights)
    context, weights, positions, centres = zip(*looks, strict=True)
    return Attended(
        xp.concat(context, axis=-2),
        xp.concat(weights, axis=-2),
        None if positions[0] is None else xp.concat(positions, axis=-2),
        None if centres[0] is None else xp.concat(centres, axis=-1),
    )


def masked_softmax(
    e: Real[Array, "..."],
    mask: Bool[Array, "..."] | None = None,
    axis: int = -1,
) -> Float[Array, "..."]:
    r"""Turn scores into weights, :math:`\alpha_i = \exp(e_i) / \sum_k \exp(e_k)`, over the unmasked positions.

    The largest score is subtracted first, so that no score, however large, overflows.

    Parameters
    ----------
    e : ``"..."``
        Scores, without a unit. A score of minus infinity counts as masked.
    mask : Boolean, broadcast against `e`, optional
        True: a real word. Elsewhere the weight is exactly 0, whatever the score.
    axis : int
        The axis along which the weights sum to 1.

    Returns
    -------
    ``"..."``
        Weights in [0, 1], in the shape and precision of `e`. A row that is all masked is all 0, never NaN.

    Raises
    ------
    TypeError
        If `e` does not hold real numbers, or is an integer tensor, or `mask` is not Boolean.
    ValueError
        If `e` has no such axis or nothing along it, or `mask` does not broadcast to the shape of `e`.

    Notes
    -----
    Bahdanau et al. 2015, eq. 6; Luong et al. 2015, eq. 7.
    """
    xp, e = as_floating(e=e)
    if not -e.ndim <= axis < e.ndim or not e.shape[axis]:
        raise ValueError(f"axis is {axis}, e has shape {tuple(e.shape)}; expected an axis with at least one score")
    if mask is not None:
        check_mask(mask, e)
        e = xp.where(mask, e, -xp.inf)
    if is_torch_array(e):  # one fused kernel, whose gradient needs to keep one array only
        return xp.where(e == -xp.inf, 0.0, xp.softmax(e, axis))
    peak = xp.max(e, axis=axis, keepdims=True)
    weights = e - xp.where(peak == -xp.inf, 0.0, peak)
    xp.exp(weights, out=weights)
    total = xp.sum(weights, axis=axis, keepdims=True)
    weights /= xp.where(total == 0, 1.0, total)
    return weights


def attend(
    scores: Real[Array, "*batch tgt src"],
    values: Real[Array, "*batch src v"],
    mask: Bool[Array, "#*batch #tgt src"] | None = None,
    factor: Real[Array, "*batch tgt src"] | None = None,
) -> Attended:
    r"""Average the values by the softmax of the scores, :math:`c_t = \sum_i \alpha_{t,i} v_i`.

    Every attention of this book ends here: `attention` with the scores of eq. 1 of Vaswani et al., and
    `attnlib.alignment.Align` with those of Bahdanau et al. and of Luong et al.

    Parameters
    ----------
    scores : ``"*batch tgt src"``
        How well each source position matches each query.
    values : ``"*batch src v"``
        What each source position answers with.
    mask : Boolean, broadcast against `scores`, optional
        True: a real word. Masked positions have weight exactly 0. What they hold must still be finite, though it may
        be any number: 0 times NaN, or times infinity, is NaN.
    factor : ``"*batch tgt src"``, optional
        What the weights are multiplied by after the softmax, as a Gaussian in local attention; they are not
        normalised again.

    Returns
    -------
    Attended
        Context ``"*batch tgt v"`` and weights ``"*batch tgt src"``, in the precision that the scores and the values
        promote to.

    Raises
    ------
    TypeError
        If the arguments are of different libraries or not of real numbers, or one is an integer tensor,
        or `mask` is not Boolean.
    ValueError
        If the shapes do not fit together, or there is no source position.

    Notes
    -----
    Costs ``batch * tgt * src * v`` multiply-adds. Bahdanau et al. 2015, eq. 5 and 6; Luong et al. 2015,
    section 3.1, eq. 7, and with a `factor` eq. 10.
    """
    _, scores, values = as_floating(scores=scores, values=values)
    check_shape("values", values, *scores.shape[:-2], scores.shape[-1], "v")
    weights = masked_softmax(scores, mask)
    if factor is not None:
        _, factor, weights, values = as_floating(factor=factor, weights=weights, values=values)
        check_shape("factor", factor, *scores.shape)
        weights = weights * factor
    return Attended(weights @ values, weights)


def attention(
    queries: Real[Array, "*batch tgt d"],
    keys: Real[Array, "*batch src d"],
    values: Real[Array, "*batch src v"],
    mask: Bool[Array, "#*batch #tgt src"] | None = None,
    scale: float | None = None,
) -> Attended:
    r"""Answer each query with the average of the values, weighted by how well their keys match it.

    :math:`\mathrm{attention}(Q, K, V) = \mathrm{softmax}(\mathrm{scale} \cdot Q K^\top)\, V`

    Parameters
    ----------
    queries : ``"*batch tgt d"``
        What is asked for, one row for each target position.
    keys : ``"*batch src d"``
        What each source position is found by.
    values : ``"*batch src v"``
        What each source position answers with.
    mask : Boolean, broadcast against ``"*batch tgt src"``, optional
        True: a real word. Masked positions have weight exactly 0. What they hold must still be finite, though it may
        be any number: 0 times NaN, or times infinity, is NaN.
    scale : float, optional
        What the scores are multiplied by before the softmax. None: :math:`1 / \sqrt{d}`.

    Returns
    -------
    Attended
        Context ``"*batch tgt v"`` and weights ``"*batch tgt src"``, in the precision that the three promote to.

    Raises
    ------
    TypeError
        If the arguments are of different libraries or not of real numbers, or one is an integer tensor,
        or `mask` is not Boolean.
    ValueError
        If the shapes do not fit together, or there is no source position or no feature to match by.

    Notes
    -----
    Costs ``batch * tgt * src * (d + v)`` multiply-adds, and memory for ``batch * tgt * src`` weights.
    Vaswani et al. 2017, eq. 1; with ``scale=1`` it is the dot score of Luong et al. 2015, section 3.1.
    """
    xp, queries, keys, values = as_floating(queries=queries, keys=keys, values=values)
    check_shape("queries", queries, *keys.shape[:-2], "tgt", keys.shape[-1])
    check_shape("keys", keys, *queries.shape[:-2], "src", queries.shape[-1])
    check_shape("values", values, *keys.shape[:-1], "v")
    if not keys.shape[-1]:
        raise ValueError(f"keys has shape {tuple(keys.shape)}; expected at least one feature, the last axis")
    scale = 1 / sqrt(keys.shape[-1]) if scale is None else scale
    return attend((queries * scale) @ xp.matrix_transpose(keys), values, mask)
