"""What a trained model writes when its weights are changed, or when it finds another sentence's annotations."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from attnlib.attention import AttentionOutput
from attnlib.batching import encode_batch
from attnlib.data import BOS, SentencePair
from attnlib.seq2seq import EncoderDecoder

Weights = Float[Tensor, "batch tgt src"]


def change_weights(model: EncoderDecoder, change: Callable[[Weights], Weights]) -> RemovableHandle:
    """Let a model attend with other weights than its own, until the handle is removed.

    Parameters
    ----------
    model : EncoderDecoder
        A model with attention.
    change : callable
        From the model's weights to those that it shall average with, of the same shape.

    Returns
    -------
    RemovableHandle
        Its ``remove``, or the end of a ``with`` block, gives the model its own weights back.
    """

    def hook(attention, inputs, attended):
        memory = inputs[1]
        weights = change(attended.to_dense(memory.mask.shape[2]))
        return AttentionOutput(weights @ memory.values, weights)

    return model.decoder.attention.register_forward_hook(hook)


@torch.no_grad()
def next_word(
    model: EncoderDecoder,
    pair: SentencePair,
    t: int,
    *,
    hidden: Sequence[int] = (),
    other: SentencePair | None = None,
    places: Sequence[int] = (),
) -> str:
    """Return the word that a model writes after the first words of a right translation.

    Parameters
    ----------
    model : EncoderDecoder
        A model with attention and with its vocabularies.
    pair : SentencePair
        The sentence and its right translation.
    t : int
        Position of the word.
    hidden : sequence of int, optional
        Positions of English words whose weights are set to 0 at every step. The other weights are rescaled to the
        sum that all had.
    other : SentencePair, optional
        A sentence of the same length, whose annotations are transplanted.
    places : sequence of int, optional
        Positions at which its annotations replace those of `pair`.

    Returns
    -------
    str
        The most probable word; empty if the sentence would end.
    """

    def hide(weights):
        left = weights.index_fill(2, torch.tensor(hidden, dtype=torch.long), 0)
        return left * (weights.sum(2, keepdim=True) / left.sum(2, keepdim=True))

    encoded = model.encoder(*encode_batch([pair.source], model.source_vocabulary))
    if other:
        donor = model.encoder(*encode_batch([other.source], model.source_vocabulary))
        encoded.annotations[:, [*places]] = donor.annotations[:, [*places]]
    before = model.target_vocabulary.encode(pair.target)[:t]
    with change_weights(model, hide):
        logits, _ = model.decoder(torch.tensor([[BOS, *before]]), encoded)
    return "".join(model.target_vocabulary.decode([int(logits[0, -1].argmax())]))
