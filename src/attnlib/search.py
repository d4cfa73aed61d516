"""From a translator to a translation: word by word, always the best one (`greedy`) or several hypotheses (`beam`)."""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnlib.attention import Attended, join
from attnlib.batches import encode
from attnlib.checks import check_finite, check_sentences, check_vocabularies, check_whole
from attnlib.translator import Translator
from attnlib.vocabulary import END, PAD, START, UNKNOWN


class Hypotheses(NamedTuple):
    """One translation of each sentence.

    Attributes
    ----------
    words : ``"batch tgt"``
        Word numbers, filled up with `PAD`. A sentence ends in `END` unless it reached the greatest length first.
    lengths : ``"batch"``
        How many words each has, `END` included.
    log_probabilities : ``"batch"``
        The natural logarithm of each translation's probability, not normalised by length.
    weights : ``"batch tgt src"``, or None
        What each word looked at, 0 after the end. None: a model without attention.
    """

    words: Int[Tensor, "batch tgt"]
    lengths: Int[Tensor, "batch"]
    log_probabilities: Float[Tensor, "batch"]
    weights: Float[Tensor, "batch tgt src"] | None


class _Choice(NamedTuple):
    """One step of beam search: what each slot of the beam chose, which slot it comes from, what all slots looked at."""

    words: Int[Tensor, "batch width"]
    parents: Int[Tensor, "batch width"]
    attended: Attended | None


@torch.no_grad()
def greedy(
    translator: Translator, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"], max_length: int
) -> Hypotheses:
    """Take the most probable word at every step, until `END`.

    Parameters
    ----------
    translator : Translator
        Or whatever has its `start` and `step`.
    source : ``"batch src"``
        Encoded sentences, each ending in `END`.
    lengths : ``"batch"``
        How many words each has, `END` included.
    max_length : int
        The most words a translation may have, `END` included.

    Returns
    -------
    Hypotheses

    Raises
    ------
    TypeError
        If `max_length` is no whole number.
    ValueError
        If `max_length` is below 1.
    FloatingPointError
        If a translation's probability is no number, as when the translator's weights hold NaN.

    Notes
    -----
    Costs one step of the decoder for each word of the longest translation in the batch.
    """
    check_whole(max_length=max_length)
    state = translator.start(source, lengths)
    words = torch.full_like(lengths, START)
    alive = torch.ones_like(lengths, dtype=torch.bool)
    chosen, gains, looks = [], [], []
    while len(chosen) < max_length and alive.any():
        logits, attended, state = translator.step(words, state)
        gain, words = _log_probabilities(logits).max(-1)
        words = torch.where(alive, words, PAD)
        chosen.append(words)
        gains.append(torch.where(alive, gain, 0.0))
        looks.append(attended)
        alive = alive & (words != END)
    found = torch.stack(chosen, 1)
    return _hypotheses(found, (found != PAD).sum(1), torch.stack(gains).sum(0), looks, source.shape[1])


@torch.no_grad()
def beam(
    translator: Translator,
    source: Int[Tensor, "batch src"],
    lengths: Int[Tensor, "batch"],
    max_length: int,
    width: int,
    *,
    normalisation: float = 1.0,
) -> Hypotheses:
    """Keep the `width` most probable beginnings at every step, and give the best translation found.

    A hypothesis that has ended keeps its place in the beam, so that ever fewer go on. Among those that ended, the
    greatest ``log_probability / length ** normalisation`` wins; where none did, among those that did not.

    Parameters
    ----------
    translator, source, lengths, max_length
        As for `greedy`.
    width : int
        How many hypotheses are kept for each sentence. With 1 it does what `greedy` does.
    normalisation : float
        How much the length counts: 0 not at all, which favours short translations; 1 takes the mean of the words'
        log probabilities.

    Returns
    -------
    Hypotheses

    Raises
    ------
    TypeError, ValueError, FloatingPointError
        As for `greedy`, and likewise for `width`, or if `normalisation` is not finite.

    Notes
    -----
    A step costs `width` times what it costs in `greedy`, and memory for ``batch * width * src`` weights is kept for
    every step.
    """
    check_whole(max_length=max_length, width=width)
    check_finite(normalisation=normalisation)
    first_slot = torch.arange(len(source), device=source.device)[:, None] * width
    state = translator.start(source, lengths).select((first_slot // width).expand(-1, width).flatten())
    words = source.new_full((len(source), width), START)
    log_p = torch.full(words.shape, -torch.inf, device=source.device)
    log_p[:, 0] = 0.0  # at first all slots would hold the same hypothesis: the others are empty
    ended, size = torch.zeros_like(words, dtype=torch.bool), torch.zeros_like(words)
    choices = []
    while len(choices) < max_length and not (ended | (log_p == -torch.inf)).all():
        logits, attended, state = translator.step(words.flatten(), state)
        totals = log_p[..., None] + _or_stay(_log_probabilities(logits).unflatten(0, words.shape), ended)
        words, parents = _best(totals, ended)
        log_p = totals.flatten(1).gather(1, parents * totals.shape[2] + words)
        size = size.gather(1, parents) + ~ended.gather(1, parents)
        ended = ended.gather(1, parents) | ((words == END) & (log_p > -torch.inf))
        state = state.select((first_slot + parents).flatten())
        choices.append(_Choice(words, parents, attended))
    score = (log_p / size**normalisation).masked_fill(ended.any(1, keepdim=True) & ~ended, -torch.inf)
    return _traced(choices, score.argmax(1), size, log_p, source.shape[1])


def translate(translator: Translator, sentence: str, max_length: int = 100) -> str:
    """Translate one sentence of one's own, the most probable word at each step.

    Parameters
    ----------
    translator : Translator
        With its vocabularies.
    sentence : str
        Words separated by spaces. Words that the vocabulary lacks are read as UNKNOWN, with a warning.
    max_length : int
        How many words to give at most.

    Returns
    -------
    str
        Words separated by spaces.

    Raises
    ------
    TypeError
        If `sentence` is no string.
    ValueError
        If the translator has no vocabularies, or the sentence no words.
    """
    check_vocabularies(translator)
    if not isinstance(sentence, str):
        raise TypeError(f"sentence is {sentence!r}; expected a str, words separated by spaces")
    words = sentence.split()
    if not words:
        raise ValueError(f"sentence is {sentence!r}; expected at least one word")
    numbers = translator.source_vocabulary.encode(words)
    unknown = [word for word, number in zip(words, numbers, strict=False) if number == UNKNOWN]
    if unknown:
        warnings.warn(f"read as unknown words: {' '.join(unknown)}", stacklevel=2)
    return " ".join(*translate_all(translator, [words], max_length=max_length))


def translate_all(
    translator: Translator, sentences: Sequence[Sequence[str]], *, max_length: int, width: int = 1, at_once: int = 64
) -> list[tuple[str, ...]]:
    """Translate many sentences of words, sorted by length so that batches waste little, and return them in order.

    Parameters
    ----------
    translator : Translator
        With its vocabularies.
    sentences : list of words
        The sources.
    max_length : int
        The most words a translation may have, END included.
    width : int
        1: `greedy`. Otherwise the width of the `beam`.
    at_once : int
        How many sentences share a batch.

    Returns
    -------
    list of words
        The translations, in the order of `sentences`.

    Raises
    ------
    TypeError
        If a sentence is one string rather than a sequence of words.
    ValueError
        If the translator has no vocabularies, or a sentence no words, or `at_once` is below 1. For others see `greedy`.
    """
    check_vocabularies(translator)
    check_sentences("sentences", sentences)
    check_whole(at_once=at_once)
    device = next(translator.parameters()).device
    order = sorted(range(len(sentences)), key=lambda n: len(sentences[n]))
    found = {}
    for part in (order[n : n + at_once] for n in range(0, len(order), at_once)):
        ids, lengths = encode([sentences[n] for n in part], translator.source_vocabulary)
        arguments = translator, ids.to(device), lengths.to(device), max_length
        words = (greedy(*arguments) if width == 1 else beam(*arguments, width)).words
        found |= {n: translator.target_vocabulary.decode(row) for n, row in zip(part, words, strict=True)}
    return [found[n] for n in range(len(sentences))]


def _log_probabilities(logits: Float[Tensor, "batch vocab"]) -> Float[Tensor, "batch vocab"]:
    """Take the words' log probabilities; `PAD` and `START` are not words of a translation."""
    banned = torch.arange(logits.shape[-1], device=logits.device).lt(END)
    return logits.masked_fill(banned, -torch.inf).log_softmax(-1)


def _or_stay(
    log_p: Float[Tensor, "batch width vocab"], ended: Bool[Tensor, "batch width"]
) -> Float[Tensor, "batch width vocab"]:
    """Let what has ended go on with `PAD` only, at no cost."""
    stay = torch.full_like(log_p[0, 0], -torch.inf)
    stay[PAD] = 0.0
    return torch.where(ended[..., None], stay, log_p)


def _best(
    totals: Float[Tensor, "batch width vocab"], ended: Bool[Tensor, "batch width"]
) -> tuple[Int[Tensor, "batch width"], Int[Tensor, "batch width"]]:
    """Choose the next beam, as words and slots they follow: all that has ended, then the most probable."""
    rank = totals.clone()
    rank[..., PAD][ended] = torch.inf
    places = rank.flatten(1).topk(ended.shape[1]).indices
    return places % totals.shape[2], places // totals.shape[2]


def _traced(
    choices: list[_Choice], slot: Int[Tensor, "batch"], size: Int[Tensor, "batch width"], log_p: Tensor, src: int
) -> Hypotheses:
    """Follow the winners back to their beginnings."""
    rows = torch.arange(len(slot), device=slot.device)
    length, log_probability = size[rows, slot], log_p[rows, slot]
    words, looks = [], []
    for choice in reversed(choices):
        words.append(choice.words[rows, slot])
        slot = choice.parents[rows, slot]
        looks.append(None if choice.attended is None else choice.attended.select(rows * log_p.shape[1] + slot))
    longest = int(length.max())
    found = torch.stack(words[::-1], 1)[:, :longest]
    return _hypotheses(found, length, log_probability, looks[::-1][:longest], src)


def _hypotheses(
    words: Int[Tensor, "batch tgt"],
    lengths: Int[Tensor, "batch"],
    log_probabilities: Float[Tensor, "batch"],
    looks: list[Attended | None],
    src: int,
) -> Hypotheses:
    """Put together what was found, and clear what was looked at after the end."""
    if not log_probabilities.isfinite().all():
        raise FloatingPointError(
            "a translation's log probability is not finite; expected a translator of finite weights"
        )
    if looks[0] is None:
        return Hypotheses(words, lengths, log_probabilities, None)
    alive = torch.arange(words.shape[1], device=words.device) < lengths[:, None]
    return Hypotheses(words, lengths, log_probabilities, join(looks).dense(src) * alive[:, :, None])
