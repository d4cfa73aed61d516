r"""Windows of attention: the whole source, or the positions near a center :math:`p_t` (chapter 3).

Positions count from 0, and :math:`S` is a sentence's own true length. Position :math:`i` is in the window when :math:`0
\le i < S` and :math:`|i - p_t| \le D`, both ends included: at most :math:`2D + 1` positions, and :math:`2D` when
:math:`p_t` lies between two. A window is called with the decoder states and returns a `WindowMask`: which
positions to gather, which of them count, by what to multiply their weights, and where the center is.
"""

from math import inf
from typing import Any, NamedTuple

import torch
from array_api_compat import array_namespace, device
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.checks import check_whole
from attnlib.layers import weight
from attnlib.shapes import Array


class WindowMask(NamedTuple):
    """Source positions that a window exposes to each decoder state.

    Attributes
    ----------
    mask
        True at words that the window exposes. The first two sizes may be 1.
    positions
        The source positions to gather, all of them valid indices. If None, the whole source in order.
    factor
        Multiplies the weights after the softmax. If None, they are not multiplied.
    center
        The center :math:`p_t` in source positions, from 0. If None, there is no center.
    """

    mask: Bool[Tensor, "#batch #tgt window"]
    positions: Int[Tensor, "batch tgt window"] | None = None
    factor: Float[Tensor, "batch tgt window"] | None = None
    center: Float[Tensor, "batch tgt"] | None = None


def window_positions(
    p: Float[Array, "*batch tgt"], half_width: int, lengths: Int[Array, "*batch"], src: int
) -> tuple[Int[Array, "*batch tgt window"], Bool[Array, "*batch tgt window"]]:
    """Return the source positions around each center, and a mask of those that are inside the window.

    Parameters
    ----------
    p
        The centers, in source positions from 0. They need not be whole. A window around NaN is empty.
    half_width : int
        The greatest distance from the center, in source positions.
    lengths
        The number of words of each source sentence, EOS among them.
    src : int
        The length of the padded sources.

    Returns
    -------
    positions : array of int
        ``min(2 * half_width + 1, src)`` consecutive positions, moved inward at the ends of the padded source.
    inside : array of bool
        True at words at most `half_width` from the center.

    Notes
    -----
    Luong et al. 2015, section 3.2. Costs time and memory for ``batch * tgt * window`` numbers, however long the source.
    """
    xp = array_namespace(p, lengths)
    window = min(2 * half_width + 1, src)
    # The first whole position at or after p - D. Near an end of the source it is moved inward, so that all windows have
    # the same number of positions and all positions exist; `inside` excludes those that are then too far away.
    first = xp.clip(xp.ceil(xp.where(xp.isnan(p), 0.0, p) - half_width), 0, src - window)
    positions = xp.astype(first, lengths.dtype)[..., None] + xp.arange(window, dtype=lengths.dtype, device=device(p))
    inside = (xp.abs(positions - p[..., None]) <= half_width) & (positions < lengths[..., None, None])
    return positions, inside


def gaussian(
    i: Int[Array, "*batch tgt window"], p: Float[Array, "*batch tgt"], half_width: int
) -> Float[Array, "*batch tgt window"]:
    r"""Compute a Gaussian around each center, :math:`\exp(-(i - p_t)^2 / 2 \sigma^2)` with :math:`\sigma = D / 2`.

    Parameters
    ----------
    i
        Source positions.
    p
        The centers, in source positions.
    half_width : int
        `D`, the number of source positions on each side of the center, at least 1.

    Returns
    -------
    array
        1 at the center, and exp(-2), about 0.14, at the ends of the window.

    Notes
    -----
    Luong et al. 2015, eq. 10.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import gaussian
    >>> gaussian(np.array([[0, 1, 2]]), np.array([1.0]), half_width=1).round(2).tolist()
    [[0.14, 1.0, 0.14]]
    """
    (half_width,) = check_whole(half_width=half_width)
    xp = array_namespace(i, p)
    return xp.exp(-((xp.astype(i, p.dtype) - p[..., None]) ** 2) / (2 * (half_width / 2) ** 2))


class GlobalWindow(nn.Module):
    """A window that exposes the whole sentence, as in Bahdanau's model and in Luong's global attention.

    Its `half_width` is infinite. It has no method `center`, and the center of its `WindowMask` is None.

    Examples
    --------
    >>> from attnlib import AttentionLayer, GlobalWindow
    >>> from attnlib.scores import General
    >>> AttentionLayer(General(8, 8), GlobalWindow()).window.half_width
    inf
    """

    half_width = inf

    def forward(
        self,
        s: Float[Tensor, "batch tgt dec"],
        steps: Int[Tensor, "tgt"],
        lengths: Int[Tensor, "batch"],
        mask: Bool[Tensor, "batch 1 src"],
    ) -> WindowMask:
        """Return a mask of all words.

        Parameters
        ----------
        s
            Decoder states.
        steps
            Their target positions, from 0.
        lengths
            The number of words of each source sentence, EOS among them.
        mask
            True at the words of the sources.
        """
        return WindowMask(mask)


class LocalWindow(nn.Module):
    """Base class of windows around a center; subclasses define `center`, and may define `factor`."""

    center: Any

    def __init__(self, half_width: int):
        super().__init__()
        (self.half_width,) = check_whole(half_width=half_width)

    def extra_repr(self) -> str:
        """Name the options in the model's printed form."""
        return f"half_width={self.half_width}"

    def factor(self, positions: Int[Tensor, "batch tgt window"], p: Float[Tensor, "batch tgt"]) -> Tensor | None:
        """Return what multiplies the weights after the softmax, given positions and centers; None: nothing."""

    def forward(
        self,
        s: Float[Tensor, "batch tgt dec"],
        steps: Int[Tensor, "tgt"],
        lengths: Int[Tensor, "batch"],
        mask: Bool[Tensor, "batch 1 src"],
    ) -> WindowMask:
        """Return the words at most `half_width` from the center, with factors if there are any, and centers."""
        # A position to gather is a whole number and has no gradient, hence `detach`; `factor` gives p its gradient.
        p = self.center(s, steps, lengths)
        positions, inside = window_positions(p.detach(), self.half_width, lengths, mask.shape[-1])
        return WindowMask(inside, positions, self.factor(positions, p), p)


class LocalMonotonic(LocalWindow):
    """A window that moves one word per step, p_t = t, and stops at the last position ("local-m").

    Parameters
    ----------
    half_width : int
        `D`, the number of source positions on each side of the center.

    Notes
    -----
    Luong et al. 2015, section 3.2. Where the target is longer than the source, the paper ignores positions outside the
    sentence, until the window is empty. Here the center is min(t, S - 1), where S is the
    length of the source, `EOS` included.

    Examples
    --------
    >>> import torch
    >>> from attnlib import LocalMonotonic
    >>> window = LocalMonotonic(half_width=2)
    >>> window.center(torch.zeros(1, 4, 8), torch.arange(4), lengths=torch.tensor([3])).tolist()
    [[0.0, 1.0, 2.0, 2.0]]
    """

    def center(
        self, s: Float[Tensor, "batch tgt dec"], steps: Int[Tensor, "tgt"], lengths: Int[Tensor, "batch"]
    ) -> Float[Tensor, "batch tgt"]:
        """Return the centers p_t = min(t, S - 1) (Luong et al. 2015, section 3.2), source positions from 0."""
        # p_t = t. A target may be longer than its source: then the window stays at the last position, that of EOS.
        return torch.minimum(steps, lengths[:, None] - 1).to(_exact(s.dtype))


class LocalPredictive(LocalWindow):
    r"""A window whose center the state predicts ("local-p").

    :math:`p_t = S\,\mathrm{sigmoid}(v_p \cdot \tanh(W_p s_t))`

    Parameters
    ----------
    decoder_size : int
        Features of a decoder state.
    half_width : int
        `D`, the number of source positions on each side of the center.

    Notes
    -----
    A Gaussian around :math:`p_t` multiplies the weights after the softmax over the window, and they are not
    normalized again. Only the Gaussian passes a gradient to `W_p` and `v_p`. The weights jump where a position
    enters or leaves the window; the gradient ignores these jumps.

    With input feeding, a center needs the state of its own step, and that state needs the step before. So centers are
    computed one after another, and a step costs more than with a global window.

    The paper counts positions from 1, so that its p_t reaches the last word; here, from 0, :math:`p_t = S` would be the
    position after it. This class keeps the paper's factor S; here S counts `EOS`. The authors' code has
    :math:`(S - 1)\,\mathrm{sigmoid}(\ldots)`, which ends at the last word.

    Luong et al. 2015, eq. 9 and eq. 10.

    Examples
    --------
    >>> import torch
    >>> from attnlib import LocalPredictive
    >>> window = LocalPredictive(decoder_size=8, half_width=2)
    >>> window.center(torch.zeros(1, 1, 8), torch.arange(1), lengths=torch.tensor([6])).tolist()
    [[3.0]]
    """

    def __init__(self, decoder_size: int, half_width: int):
        super().__init__(half_width)
        self.W_p, self.v_p = weight(decoder_size, decoder_size), weight(decoder_size)

    def center(
        self, s: Float[Tensor, "batch tgt dec"], steps: Int[Tensor, "tgt"], lengths: Int[Tensor, "batch"]
    ) -> Float[Tensor, "batch tgt"]:
        """Compute the centers p_t, from 0 to S (Luong et al. 2015, eq. 9): ``batch * tgt * dec²`` multiply-adds."""
        share = torch.sigmoid(torch.tanh(linear(s, self.W_p)) @ self.v_p)
        # The sigmoid is a share of the sentence, from 0 to 1; S, the sentence's own length, makes it a position.
        return share.to(_exact(s.dtype)) * lengths[:, None]

    def factor(
        self, positions: Int[Tensor, "batch tgt window"], p: Float[Tensor, "batch tgt"]
    ) -> Float[Tensor, "batch tgt window"]:
        """Compute the `gaussian` around each center (Luong et al. 2015, eq. 10)."""
        return gaussian(positions, p, self.half_width)


def _exact(dtype: torch.dtype) -> torch.dtype:
    """Choose a type for positions: bfloat16 has no 257."""
    return torch.promote_types(dtype, torch.float32)
