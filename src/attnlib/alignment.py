"""From decoder states and annotations to contexts and weights: any score, through any window.

`AttentionLayer` is attention as both papers use it. What a sentence needs once, `AttentionLayer.precompute`, is apart
from what every step needs, and a step may be one target position or all of them: the result is the same.
"""

from math import inf
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlib.attention import AttentionOutput, attend
from attnlib.scores import Location


def sequence_mask(lengths: Int[Tensor, "batch"], src_len: int) -> Bool[Tensor, "batch {src_len}"]:
    """Tell the real words of each sentence, which come first, from its padding."""
    return torch.arange(src_len, device=lengths.device) < lengths[:, None]


class Memory(NamedTuple):
    """Hold what a batch of sentences needs once, however many steps ask.

    The `keys` are the annotations as the score keeps them; contexts are weighted sums of the `values`. The `mask`
    is True at real words, of which each sentence has `lengths`; its axis of size 1 serves all target positions.
    """

    keys: Float[Tensor, "batch src key"]
    values: Float[Tensor, "batch src enc"]
    lengths: Int[Tensor, "batch"]
    mask: Bool[Tensor, "batch 1 src"]

    def select(self, rows: Int[Tensor, "chosen"]) -> "Memory":
        """Keep the chosen rows of the batch; keys that are the annotations themselves are gathered once."""
        chosen = {x: x.index_select(0, rows) for x in {*self}}
        return Memory(*(chosen[x] for x in self))


class AttentionLayer(nn.Module):
    """Attention: score the annotations that the window shows, take the softmax, average.

    The `score` is one of `attnlib.scores`, the `window` one of `attnlib.windows`. Only a `Location` score and a local
    window do not go together: it has a weight for each absolute position and reads no annotation, so that gathered
    annotations tell it nothing. The paper has no such model either.

    Bahdanau et al. 2015, section 3.1; Luong et al. 2015, sections 3.1 and 3.2.

    A call costs the score's own cost and ``batch * tgt * window * enc`` multiply-adds for the contexts, `window` being
    `src` everywhere and at most ``min(2 * half_width + 1, src)`` in a local window. Where that is narrower than the
    source, what it shows is copied, ``batch * tgt * window * (key + enc)`` numbers, and the cost of a step does not
    grow with the source, except in a backward pass, which adds into gradients as large as the keys and annotations.
    """

    def __init__(self, score: nn.Module, window: nn.Module):
        super().__init__()
        if isinstance(score, Location) and window.half_width < inf:
            raise ValueError(f"window is {window}; expected GlobalWindow(), the only window for a Location score")
        self.score, self.window = score, window

    def precompute(self, h: Float[Tensor, "batch src enc"], lengths: Int[Tensor, "batch"]) -> Memory:
        """Prepare what each sentence needs once, the score's keys among it.

        Annotations of padding have weight 0 and may be any numbers, but must be finite: 0 times NaN is NaN.
        """
        h = h.contiguous()
        return Memory(self.score.project_keys(h), h, lengths, sequence_mask(lengths, h.shape[1])[:, None])

    def forward(self, s: Float[Tensor, "batch tgt dec"], memory: Memory, steps: Int[Tensor, "tgt"]) -> AttentionOutput:
        """Look at the source from each state, the `steps` telling which target positions these are, from 0."""
        view = self.window(s, steps, memory.lengths, memory.mask)
        if view.positions is None or view.positions.shape[-1] == memory.mask.shape[-1]:
            attended = attend(self.score(s, memory.keys), memory.values, view.mask, view.factor)
        else:  # each step sees its own few annotations, so each asks as a sentence of its own
            keys, h = _gather(memory.keys, view.positions), _gather(memory.values, view.positions)
            factor = None if view.factor is None else view.factor[:, :, None]
            apart = attend(self.score(s[:, :, None], keys), h, view.mask[:, :, None], factor)
            attended = AttentionOutput(apart.context.squeeze(2), apart.weights.squeeze(2))
        return attended._replace(positions=view.positions, center=view.center)

    def at(self, t: int, s: Float[Tensor, "batch dec"], memory: Memory) -> AttentionOutput:
        """Look at the source from one state of each sentence, at target step `t`, from 0; the result's `tgt` is 1."""
        return self(s[:, None], memory, torch.tensor([t], device=s.device))


def _gather(
    x: Float[Tensor, "batch src key"], positions: Int[Tensor, "batch tgt window"]
) -> Float[Tensor, "batch tgt window key"]:
    batch, src, features = x.shape
    rows = positions + src * torch.arange(batch, device=x.device)[:, None, None]
    return x.view(batch * src, features).index_select(0, rows.flatten()).view(*positions.shape, features)
