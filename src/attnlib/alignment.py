"""From decoder states and annotations to contexts and weights (chapters 2 and 3): any score, any window.

`AttentionLayer` is attention as both papers use it. What a sentence needs once, `AttentionLayer.precompute`, is apart
from what every step needs, and a step may be one target position or all of them: the result is the same.
"""

from math import inf
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlib.checks import INTEGERS, NUMBERS, check_arrays, check_type
from attnlib.mechanism import AttentionOutput, attend
from attnlib.scores import Dot, Location


def sequence_mask(lengths: Int[Tensor, "batch"], src_len: int) -> Bool[Tensor, "batch {src_len}"]:
    """Return a mask that is True at the words of each sentence and False at its padding, which follows them."""
    return torch.arange(src_len, device=lengths.device) < lengths[:, None]


class Memory(NamedTuple):
    """Keys, values, lengths, and mask of a batch of sentences, computed once for all decoder steps.

    Attributes
    ----------
    keys
        The annotations as the score projects them.
    values
        The annotations that contexts are weighted sums of.
    lengths
        The number of words of each sentence, EOS among them.
    mask
        True at words. The axis of size 1 serves all target positions.
    """

    keys: Float[Tensor, "batch src key"]
    values: Float[Tensor, "batch src enc"]
    lengths: Int[Tensor, "batch"]
    mask: Bool[Tensor, "batch 1 src"]

    def select(self, rows: Int[Tensor, "chosen"]) -> "Memory":
        """Return the chosen rows of the batch only."""
        # With a dot score the keys are the values: one tensor under two names, which is gathered once.
        chosen = {x: x.index_select(0, rows) for x in {*self}}
        return Memory(*(chosen[x] for x in self))


class AttentionLayer(nn.Module):
    """Attention over annotations, with a score and a window.

    Parameters
    ----------
    score : module
        One of `attnlib.scores`.
    window : module
        One of `attnlib.windows`. An `attnlib.scores.Location` score needs the `attnlib.windows.GlobalWindow`, since it
        has a weight for each absolute position and does not use the annotations.

    Notes
    -----
    Bahdanau et al. 2015, section 3.1; Luong et al. 2015, sections 3.1 and 3.2.

    A call costs the score's own cost and ``batch * tgt * window * enc`` multiply-adds for the contexts. In a global
    window, `window` is `src`; in a local one, at most ``min(2 * half_width + 1, src)``. If that is less than the
    length of the source, the keys and values in the window are copied, ``batch * tgt * window * (key + enc)`` numbers,
    and the cost of a step does not grow with the source. With a dot or general score, products with the whole source
    replace the copies where they cost less: for several states at once, and in training, for a source of at most four
    windows. The backward pass adds into gradients as large as all keys and annotations.

    Examples
    --------
    >>> import torch
    >>> from attnlib import AttentionLayer, GlobalWindow
    >>> from attnlib.scores import Dot
    >>> layer = AttentionLayer(Dot(), GlobalWindow())
    >>> memory = layer.precompute(torch.ones(1, 5, 8), lengths=torch.tensor([5]))
    >>> layer(torch.zeros(1, 3, 8), memory, torch.arange(3)).context.shape
    torch.Size([1, 3, 8])
    """

    score: Any  # for the type checker, an attribute of nn.Module is a tensor or a module
    window: Any

    def __init__(self, score: nn.Module, window: nn.Module):
        super().__init__()
        check_type(nn.Module, "a module, such as General(8, 8) or GlobalWindow()", score=score, window=window)
        if isinstance(score, Location) and getattr(window, "half_width", inf) < inf:
            raise ValueError(f"window is {window}; expected GlobalWindow(), the only window for a Location score")
        self.score, self.window = score, window

    def precompute(self, h: Float[Tensor, "batch src enc"], lengths: Int[Tensor, "batch"]) -> Memory:
        """Compute keys, values, and mask once for a batch of sentences.

        Parameters
        ----------
        h
            Annotations. Those of padding get weight 0, and must be finite: 0 times NaN is NaN.
        lengths
            The number of words of each sentence, from 1 to `src`, EOS among them.
        """
        check_arrays(h=(h, NUMBERS, "batch src enc"), lengths=(lengths, INTEGERS, "batch"))
        h, lengths = h.contiguous(), lengths.long()
        return Memory(self.score.project_keys(h), h, lengths, sequence_mask(lengths, h.shape[1])[:, None])

    def forward(self, s: Float[Tensor, "batch tgt dec"], memory: Memory, steps: Int[Tensor, "tgt"]) -> AttentionOutput:
        """Compute one context for each decoder state.

        Parameters
        ----------
        s
            Decoder states, the queries.
        memory : Memory
            The result of `precompute`.
        steps
            The target positions of the states, from 0.
        """
        # The plain way is to score all annotations, and to mask those outside the window. The first branch does that,
        # where the window is the whole source. Where the window is shorter, two faster ways give the same contexts. The
        # last branch copies the annotations in each state's window, and scores no others. The second branch makes no
        # copies: one product scores all annotations for all states, only the scores in the window are softmaxed, and
        # their weights go back to their positions, with 0 elsewhere, for one product with all annotations.
        view = self.window(s, steps, memory.lengths, memory.mask)
        src, window = memory.mask.shape[-1], view.mask.shape[-1]
        if view.positions is None or window == src:
            attended = attend(self.score(s, memory.keys), memory.values, view.mask, view.factor)
        elif isinstance(self.score, Dot) and (s.shape[1] > 1 or (s.requires_grad and src <= 4 * window)):
            scores = self.score(s, memory.keys).gather(2, view.positions)
            # Values without features: only the weights are needed here.
            weights = attend(scores, memory.values[:, :window, :0], view.mask, view.factor).weights
            dense = weights.new_zeros(*weights.shape[:2], src).scatter(2, view.positions, weights)
            attended = AttentionOutput(dense @ memory.values, weights)
        else:  # each step has its own few annotations, and is computed like a sentence of its own
            keys, h = _gather(memory.keys, view.positions), _gather(memory.values, view.positions)
            factor = None if view.factor is None else view.factor[:, :, None]
            apart = attend(self.score(s[:, :, None], keys), h, view.mask[:, :, None], factor)
            attended = AttentionOutput(apart.context.squeeze(2), apart.weights.squeeze(2))
        return attended._replace(positions=view.positions, center=view.center)

    def at(self, t: int, s: Float[Tensor, "batch dec"], memory: Memory) -> AttentionOutput:
        """Compute the context of one decoder state of each sentence, at the target position `t` from 0."""
        return self(s[:, None], memory, torch.full((1,), t, device=s.device))


def _gather(
    x: Float[Tensor, "batch src key"], positions: Int[Tensor, "batch tgt window"]
) -> Float[Tensor, "batch tgt window key"]:
    batch, src, features = x.shape
    # The sentences end to end are one matrix, whose row src * n + i is word i of sentence n.
    rows = positions + src * torch.arange(batch, device=x.device)[:, None, None]
    return x.view(batch * src, features).index_select(0, rows.flatten()).view(*positions.shape, features)
