"""From decoder states and annotations to contexts and weights: any score, through any window.

`Align` is attention as both papers use it. What a sentence needs once, `Align.remember`, is apart from what
every step needs, and a step may be one target position or all of them: the result is the same.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlib.attention import Attended, masked_softmax
from attnlib.checks import check_integers, check_shape
from attnlib.scores import Location
from attnlib.windows import Everywhere


class Memory(NamedTuple):
    """What a batch of sentences needs once, however many steps ask.

    Attributes
    ----------
    keys : ``"batch src key"``
        The annotations as the score keeps them.
    annotations : ``"batch src enc"``
        What the encoder says of each word; the contexts are averages of these.
    lengths : ``"batch"``
        How many real words each sentence has.
    mask : ``"batch 1 src"``
        True: a real word. The axis of size 1 serves all target positions.
    """

    keys: Float[Tensor, "batch src key"]
    annotations: Float[Tensor, "batch src enc"]
    lengths: Int[Tensor, "batch"]
    mask: Bool[Tensor, "batch 1 src"]


class Align(nn.Module):
    """Attention: score the annotations that the window shows, take the softmax, average.

    Parameters
    ----------
    score : nn.Module
        One of `attnlib.scores`, or another with their two methods.
    window : Everywhere, LocalMonotonic or LocalPredictive
        Where the decoder may look.

    Raises
    ------
    ValueError
        If a `Location` score meets a local window: it has a weight for each absolute position and reads no
        annotation, so gathered annotations tell it nothing. The paper has no such model either.

    Notes
    -----
    Where `look` is `src` everywhere, and at most ``min(2 * half_width + 1, src)`` in a local window, a call
    costs ``batch * tgt * look * enc`` multiply-adds for the contexts, plus the score's own price with `look`
    in place of `src`. A local window that is narrower than the source copies what it shows:
    ``batch * tgt * look * (key + enc)`` numbers. The cost of a step does not grow with the source, except in a
    backward pass, which adds into gradients as large as the keys and annotations.
    """

    def __init__(self, score: nn.Module, window):
        super().__init__()
        if isinstance(score, Location) and not isinstance(window, Everywhere):
            raise ValueError(f"window is {window}; expected Everywhere(), the only window for a Location score")
        self.score, self.window = score, window

    def remember(self, h: Float[Tensor, "batch src enc"], lengths: Int[Tensor, "batch"]) -> Memory:
        """Prepare what each sentence needs once.

        Parameters
        ----------
        h : ``"batch src enc"``
            Annotations. Those of padding have weight 0 and may be any numbers, but must be finite: 0 times NaN is NaN.
        lengths : ``"batch"``
            How many real words each sentence has.

        Returns
        -------
        Memory
            The score's keys among it.

        Raises
        ------
        TypeError
            If the lengths are not whole numbers.
        ValueError
            If a length is below 1 or above `src`, or there is not one for each sentence.
        """
        check_shape("h", h, "batch", "src", "enc")
        check_lengths(lengths, h.shape[:2])
        h = h.contiguous()
        mask = torch.arange(h.shape[1], device=h.device) < lengths[:, None]
        return Memory(self.score.keys(h), h, lengths, mask[:, None])

    def forward(self, s: Float[Tensor, "batch tgt dec"], memory: Memory, steps: Int[Tensor, "tgt"]) -> Attended:
        """Look at the source from each state.

        Parameters
        ----------
        s : ``"batch tgt dec"``
            The decoder states that ask.
        memory : Memory
            From `remember`.
        steps : ``"tgt"``
            Which target positions these are, from 0.

        Returns
        -------
        Attended
            Contexts ``"batch tgt enc"``, weights ``"batch tgt look"``, and for a local window the source
            positions of the weights.

        Raises
        ------
        ValueError
            If `s` is not of as many sentences as `memory`, or of no step, or `steps` not of as many steps as `s`.
        """
        if s.ndim != 3 or len(s) != len(memory.lengths) or s.shape[1:2] != steps.shape or not len(steps):
            raise ValueError(
                f"s has shape {tuple(s.shape)} and steps {tuple(steps.shape)}; expected"
                f" ({len(memory.lengths)}, tgt, dec) and (tgt,), at least one step"
            )
        view = self.window(s, steps, memory.lengths, memory.mask)
        if view.positions is None or view.positions.shape[-1] == memory.mask.shape[-1]:
            keys, h, ask = memory.keys, memory.annotations, s
        else:  # each step sees its own few annotations, so each asks as a sentence of its own
            keys, h = _gather(memory.keys, view.positions), _gather(memory.annotations, view.positions)
            ask = s.reshape(-1, 1, s.shape[2])
        e = self.score(ask, keys).view(*s.shape[:2], -1)
        weights = masked_softmax(e, view.inside)
        if view.favour is not None:
            weights = weights * view.favour
        context = weights.view(*ask.shape[:2], -1) @ h
        return Attended(context.view(*s.shape[:2], -1), weights, view.positions)


def check_lengths(lengths: Int[Tensor, "batch"], shape: tuple[int, ...]) -> None:
    """Refuse lengths that do not fit sentences of the padded `shape`, ``(batch, src)``.

    Raises
    ------
    TypeError
        If the lengths are not whole numbers.
    ValueError
        If there is no sentence, or not one length for each, or one is below 1 or above `src`.
    """
    if len(shape) != 2 or not shape[0]:
        raise ValueError(f"source has shape {tuple(shape)}; expected (batch, src), at least one sentence")
    check_integers(lengths=lengths)
    batch, src = shape
    if tuple(lengths.shape) != (batch,):
        raise ValueError(f"lengths has shape {tuple(lengths.shape)}; expected ({batch},), one for each sentence")
    low, high = lengths.min().item(), lengths.max().item()
    if low < 1 or high > src:
        wrong = low if low < 1 else high
        raise ValueError(f"lengths holds {wrong}; expected 1 to {src}, the padded length")


def _gather(
    x: Float[Tensor, "batch src key"], positions: Int[Tensor, "batch tgt look"]
) -> Float[Tensor, "asks look key"]:
    batch, src, features = x.shape
    rows = positions + src * torch.arange(batch, device=x.device)[:, None, None]
    return x.view(batch * src, features).index_select(0, rows.flatten()).view(-1, positions.shape[2], features)
