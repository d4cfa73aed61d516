"""What a trained model writes when its weights or annotations are changed (chapters 2 and 4, laboratory 2 and 3).

And where its weights ought to grow: what training would do to its scores.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.utils.hooks import RemovableHandle

from attnlib.batching import encode_batch
from attnlib.data import BOS, SentencePair
from attnlib.mechanism import AttentionOutput
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


@torch.enable_grad()  # it may be called in a training's callback, without gradients
def score_slopes(model: EncoderDecoder, pair: SentencePair) -> Float[np.ndarray, "tgt src"]:
    """Return how the loss of each word of a right translation changes with the scores of its step, at equal weights.

    Returns
    -------
    array
        Derivatives by the scores, a row for each word and EOS. The score with the most negative one should rise most.
        The states that ask are the model's own.
    """
    source, lengths = encode_batch([pair.source], model.source_vocabulary)
    target, _ = encode_batch([pair.target], model.target_vocabulary)
    before = torch.cat([torch.tensor([[BOS]]), target[:, :-1]], 1)
    asking: list[Tensor] = []
    with model.decoder.attention.register_forward_pre_hook(lambda _, inputs: asking.append(inputs[0])):
        encoded = model.encoder(source, lengths)
        model.decoder(before, encoded)
    h, s, y = encoded.annotations, torch.cat(asking, 1), model.decoder.embedding(before)
    e = h.new_zeros(1, target.shape[1], source.shape[1], requires_grad=True)
    loss = cross_entropy(model.decoder.readout(s, y, e.softmax(2) @ h).mT, target, reduction="sum")
    return torch.autograd.grad(loss, e)[0][0].numpy()
