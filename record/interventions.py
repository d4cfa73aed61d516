"""Changes to what a trained model attends to: words hidden, weights replaced, annotations transplanted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import permutations
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attnlib.attention import AttentionOutput
from attnlib.data import BOS, EOS, SentencePair, collate, encode_batch
from attnlib.experiments.predictions import max_output_length
from attnlib.language import lexicon, phrases
from attnlib.search import greedy_search
from attnlib.seq2seq import EncoderDecoder
from attnlib.translation import translate_all

Change = Callable[[Tensor, Tensor], Tensor]
"""From the weights ``"batch tgt src"`` and the mask of real words to other weights."""

CONTENT_WORDS = frozenset(
    form
    for kind, forms in ((lexicon.NOUNS, (2, 4)), (lexicon.ADJECTIVES, (3, 8)), (lexicon.VERBS, (2, 4)))
    for entry in kind
    for form in entry[slice(*forms)]
)
"""French nouns, adjectives, and verbs. All other words are function words."""


@contextmanager
def changed(translator: EncoderDecoder, change: Change) -> Iterator[None]:
    """Replace the attention weights of every step, between softmax and context."""

    def hook(align, inputs, attended):
        memory = inputs[1]
        alpha = change(attended.to_dense(memory.mask.shape[2]), memory.mask)
        return AttentionOutput(alpha @ memory.values, alpha)

    handle = translator.decoder.attention.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def hiding(position: int) -> Change:
    """Return a change that sets the weight of one source position to 0."""

    def change(alpha, mask):
        alpha = alpha.index_fill(2, torch.tensor([position]), 0.0)
        return alpha / alpha.sum(2, keepdim=True)

    return change


def replacements(rng: np.random.Generator) -> Mapping[str, Change]:
    """Return the ways of chapter 3 to replace weights, by name, in its order."""

    def shuffled(alpha, mask):
        orders = torch.tensor(rng.random(alpha.shape)).masked_fill(~mask, 2.0)
        return alpha.gather(2, orders.argsort(2))

    def even(alpha, mask):
        return (mask / mask.sum(2, keepdim=True)).expand_as(alpha).to(alpha)

    def without_greatest(alpha, mask):
        rest = alpha.scatter(2, alpha.argmax(2, keepdim=True), 0.0)
        return rest / rest.sum(2, keepdim=True)

    def blind(alpha, mask):
        return 0 * alpha

    return {"shuffled": shuffled, "even": even, "without the greatest": without_greatest, "blind": blind}


def words_kept(
    translator: EncoderDecoder, pairs: Sequence[SentencePair], translations: Sequence[Sequence[str]]
) -> list[dict]:
    """Count the words of a model's own translations that still come first when its weights are replaced."""
    own = [SentencePair(pair.source, words) for pair, words in zip(pairs, translations, strict=True) if words]
    source, lengths, target = collate(own, translator.source_vocabulary, translator.target_vocabulary)
    content = np.array([word in CONTENT_WORDS for pair in own for word in pair.target])
    lines = []
    for name, change in replacements(np.random.default_rng(0)).items():
        with changed(translator, change):
            first = translator(source, lengths, target).logits[..., EOS:].argmax(2) + EOS
        same = (first == target)[target > EOS].numpy()
        for kind, chosen in (("function", ~content), ("content", content)):
            kept = {"words": int(chosen.sum()), "words_kept": int(same[chosen].sum())}
            lines.append({"replacement": name, "word_class": kind} | kept)
    return lines


def unmoved_without(translator: EncoderDecoder, pairs: Sequence[SentencePair], hidden: Sequence[str]) -> int:
    """Count the pairs translated exactly when no step may attend to these English words."""
    ids, lengths = encode_batch([pair.source for pair in pairs], translator.source_vocabulary)
    numbers = torch.tensor([translator.source_vocabulary.encode([word])[0] for word in hidden])
    align, limits = translator.decoder.attention, torch.tensor([max_output_length(pair.source) for pair in pairs])
    precompute = align.precompute

    def blinded(h, lengths):
        memory = precompute(h, lengths)
        return memory._replace(mask=memory.mask & ~torch.isin(ids, numbers)[:, None])

    align.precompute = blinded
    try:
        written = greedy_search(translator, ids, lengths, max_length=limits).ids
    finally:
        del align.precompute
    decoded = [translator.target_vocabulary.decode(words) for words in written]
    return sum(words == pair.target for words, pair in zip(decoded, pairs, strict=True))


class Exchange(NamedTuple):
    """Two sentences that differ in one adjective, and where: adjective and noun in English, adjective in French."""

    one: SentencePair
    other: SentencePair
    adjective: int
    noun: int
    written: int


def exchanges() -> list[Exchange]:
    """Return all pairs of sentences "a woman sees the ADJECTIVE NOUN" whose adjectives follow their noun in French."""
    found = []
    for noun in lexicon.NOUNS:
        fit = [word for word in lexicon.ADJECTIVES if word.place == "after" and noun.kind in word[-1].split(",")]
        for adjectives in permutations([word.english for word in fit], 2):
            objects = (phrases.noun_phrase(f"the {word} {noun.english}") for word in adjectives)
            one, other = (phrases.clause(phrases.noun_phrase("a woman"), "see", each) for each in objects)
            (written,) = [t for t, (x, y) in enumerate(zip(one.target, other.target, strict=True)) if x != y]
            at = one.source.index(adjectives[0])
            found.append(Exchange(one, other, at, one.source.index(noun.english, at), written))
    return found


def transplanted(translator: EncoderDecoder, exchange: Exchange, places: Sequence[int]) -> tuple[bool, float]:
    """Replace annotations by another sentence's, and predict the adjective.

    Parameters
    ----------
    translator : EncoderDecoder
        The model.
    exchange : Exchange
        The two sentences.
    places : sequence of int
        Source positions whose annotations are replaced.

    Returns
    -------
    changed : bool
        Whether the other sentence's adjective comes first.
    probability : float
        Probability of the other sentence's adjective.
    """
    one, other = (
        translator.encoder(*encode_batch([pair.source], translator.source_vocabulary)) for pair in exchange[:2]
    )
    one.annotations[:, [*places]] = other.annotations[:, [*places]]
    *before, wanted, _ = translator.target_vocabulary.encode(exchange.other.target[: exchange.written + 1])
    logits = translator.decoder(torch.tensor([[BOS, *before]]), one)[0][0, -1]
    return int(logits.argmax()) == wanted, float(logits.softmax(-1)[wanted])


def kept_when_hidden(translator: EncoderDecoder, exchange: Exchange) -> bool:
    """Return whether the French adjective appears with the English one hidden."""
    with changed(translator, hiding(exchange.adjective)):
        (translation,) = translate_all(translator, [exchange.one.source], beam_size=1, max_length=20)
    return exchange.one.target[exchange.written] in translation.words
