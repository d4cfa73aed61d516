r"""Where may the decoder look? Everywhere, or near a center :math:`p_t`.

Positions count from 0, and :math:`S` is a sentence's own true length. Position :math:`i` is in the window
when :math:`0 \le i < S` and :math:`|i - p_t| \le D`, both ends included: at most :math:`2D + 1` positions,
and :math:`2D` when :math:`p_t` lies between two. A window is called with the states that ask and answers
with a `WindowMask`: which positions to gather, which of them count, by what to multiply their weights, and
where the center is.
"""

from math import inf
from typing import NamedTuple

import torch
from array_api_compat import array_namespace, device
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.checks import check_whole
from attnlib.layers import weight
from attnlib.shapes import Array


class WindowMask(NamedTuple):
    """Tell what a window lets the decoder see.

    Where it sees a real word, `mask` is True. The source `positions` to gather are all valid indices; None: the whole
    source in order. After the softmax, weights are multiplied by the `factor`; None: 1. The `center` is p_t in source
    positions from 0; None: there is none.
    """

    mask: Bool[Tensor, "#batch #tgt window"]
    positions: Int[Tensor, "batch tgt window"] | None = None
    factor: Float[Tensor, "batch tgt window"] | None = None
    center: Float[Tensor, "batch tgt"] | None = None


def window_positions(
    p: Float[Array, "*batch tgt"], half_width: int, lengths: Int[Array, "*batch"], src: int
) -> tuple[Int[Array, "*batch tgt window"], Bool[Array, "*batch tgt window"]]:
    """List the positions around each center, ``min(2 * half_width + 1, src)``, and tell which are in the window.

    A list that would reach past an end of the padded source is moved inwards. In the window is a real word at most
    `half_width` from the center, which need not be whole; none, if that is NaN.

    Luong et al. 2015, section 3.2. Costs time and memory for ``batch * tgt * window`` numbers, however long the source.
    """
    xp = array_namespace(p, lengths)
    window = min(2 * half_width + 1, src)
    first = xp.clip(xp.ceil(xp.where(xp.isnan(p), 0.0, p) - half_width), 0, src - window)
    positions = xp.astype(first, lengths.dtype)[..., None] + xp.arange(window, dtype=lengths.dtype, device=device(p))
    inside = (xp.abs(positions - p[..., None]) <= half_width) & (positions < lengths[..., None, None])
    return positions, inside


def gaussian(
    i: Int[Array, "*batch tgt window"], p: Float[Array, "*batch tgt"], half_width: int
) -> Float[Array, "*batch tgt window"]:
    r"""Favour positions near the center, :math:`\exp(-(i - p_t)^2 / 2 \sigma^2)` with :math:`\sigma = D / 2`.

    The factor is 1 at the center `p`, and exp(-2), about 0.14, at the window's ends.

    Luong et al. 2015, eq. 10.
    """
    xp = array_namespace(i, p)
    return xp.exp(-((xp.astype(i, p.dtype) - p[..., None]) ** 2) / (2 * (half_width / 2) ** 2))


class GlobalWindow(nn.Module):
    """All of the sentence, as in Bahdanau's model and in Luong's global attention."""

    half_width = inf

    def forward(
        self,
        s: Float[Tensor, "batch tgt dec"],
        steps: Int[Tensor, "tgt"],
        lengths: Int[Tensor, "batch"],
        mask: Bool[Tensor, "batch 1 src"],
    ) -> WindowMask:
        """See every real word."""
        return WindowMask(mask)


class LocalMonotonic(nn.Module):
    """A window that moves one word per step, p_t = t, and stops at the last word ("local-m").

    `half_width` is `D`, in source positions (Luong et al. 2015, section 3.2). Where the target is longer than the
    source, the paper ignores what lies outside of the sentence, until nothing is left in the window; here the center is
    min(t, S - 1).
    """

    def __init__(self, half_width: int):
        check_whole(half_width=half_width)
        super().__init__()
        self.half_width = half_width

    def extra_repr(self) -> str:
        """Name the options in the model's printed form."""
        return f"half_width={self.half_width}"

    def center(
        self, s: Float[Tensor, "batch tgt dec"], steps: Int[Tensor, "tgt"], lengths: Int[Tensor, "batch"]
    ) -> Float[Tensor, "batch tgt"]:
        """Follow the steps, p_t = min(t, S - 1), in source positions from 0 (Luong et al. 2015, section 3.2)."""
        return torch.minimum(steps, lengths[:, None] - 1).to(_exact(s.dtype))

    def forward(
        self,
        s: Float[Tensor, "batch tgt dec"],
        steps: Int[Tensor, "tgt"],
        lengths: Int[Tensor, "batch"],
        mask: Bool[Tensor, "batch 1 src"],
    ) -> WindowMask:
        """See the real words at most `half_width` from the center."""
        p = self.center(s, steps, lengths)
        positions, inside = window_positions(p, self.half_width, lengths, mask.shape[-1])
        return WindowMask(inside, positions, center=p)


class LocalPredictive(nn.Module):
    r"""A window whose center the state predicts ("local-p").

    :math:`p_t = S\,\mathrm{sigmoid}(v_p \cdot \tanh(W_p s_t))`

    A Gaussian around :math:`p_t` multiplies the weights after the softmax over the window, and they are not
    normalised again. Only through the Gaussian does a gradient reach `W_p` and `v_p`. Where :math:`p_t` passes
    a point at which a position enters or leaves the window, the weights jump; the gradient is that of the
    piece on which :math:`p_t` lies and knows nothing of the jump.

    The paper counts positions from 1, so that its p_t reaches the last word; here, from 0, :math:`p_t = S` would be the
    place just after it. The authors' code has :math:`(S - 1)\,\mathrm{sigmoid}(\ldots)`, which ends at the last word.

    Luong et al. 2015, eq. 9 and eq. 10.
    """

    def __init__(self, dec: int, half_width: int):
        check_whole(half_width=half_width)
        super().__init__()
        self.half_width = half_width
        self.W_p, self.v_p = weight(dec, dec), weight(dec)

    def extra_repr(self) -> str:
        """Name the options in the model's printed form."""
        return f"half_width={self.half_width}"

    def center(
        self, s: Float[Tensor, "batch tgt dec"], steps: Int[Tensor, "tgt"], lengths: Int[Tensor, "batch"]
    ) -> Float[Tensor, "batch tgt"]:
        """Predict p_t in source positions (Luong et al. 2015, eq. 9): ``batch * tgt * dec²`` multiply-adds."""
        share = torch.sigmoid(torch.tanh(linear(s, self.W_p)) @ self.v_p)
        return share.to(_exact(s.dtype)) * lengths[:, None]

    def forward(
        self,
        s: Float[Tensor, "batch tgt dec"],
        steps: Int[Tensor, "tgt"],
        lengths: Int[Tensor, "batch"],
        mask: Bool[Tensor, "batch 1 src"],
    ) -> WindowMask:
        """See the real words at most `half_width` from the center, those nearest to it best."""
        p = self.center(s, steps, lengths)
        positions, inside = window_positions(p.detach(), self.half_width, lengths, mask.shape[-1])
        return WindowMask(inside, positions, gaussian(positions, p, self.half_width), p)


def _exact(dtype: torch.dtype) -> torch.dtype:
    """Choose a type for positions: bfloat16 has no 257."""
    return torch.promote_types(dtype, torch.float32)
