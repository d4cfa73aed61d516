"""What a trained model writes when it may not attend to some words, or finds another sentence's annotations."""

from collections.abc import Sequence

import torch

from attnlib.attention import AttentionOutput
from attnlib.batching import encode_batch
from attnlib.data import BOS, SentencePair
from attnlib.seq2seq import EncoderDecoder


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

    def hide(attention, inputs, attended):
        memory = inputs[1]
        weights = attended.to_dense(memory.mask.shape[2])
        left = weights.index_fill(2, torch.tensor(hidden, dtype=torch.long), 0)
        weights = left * (weights.sum(2, keepdim=True) / left.sum(2, keepdim=True))
        return AttentionOutput(weights @ memory.values, weights)

    encoded = model.encoder(*encode_batch([pair.source], model.source_vocabulary))
    if other:
        donor = model.encoder(*encode_batch([other.source], model.source_vocabulary))
        encoded.annotations[:, [*places]] = donor.annotations[:, [*places]]
    before = model.target_vocabulary.encode(pair.target)[:t]
    handle = model.decoder.attention.register_forward_hook(hide)
    try:
        logits, _ = model.decoder(torch.tensor([[BOS, *before]]), encoded)
    finally:
        handle.remove()
    return "".join(model.target_vocabulary.decode([int(logits[0, -1].argmax())]))
