"""One run of one variant: train it, translate the test sentences, and say how it went.

The measures of a group of sentences:

==================== =====================================================================================
``sentences``        how many the group has
``perplexity``       of a target word, END among them, given the true words before it
``bleu``, ``exact``  of greedy translations: BLEU, 0 to 100, and the share that is right word for word
``beam_bleu``, ...   the same of beam search
``alignment_error``  rate of the links read off under forced decoding; None without attention
``centre_distance``  mean distance of p_t from the middle of the gold links, in words; None without centre
``centre_inside``    share of the gold links that the window around p_t holds; None without centre
==================== =====================================================================================

Groups are named "1 clause", "2 clauses", ..., "0-9 words", "10-19 words", ..., and "within" and "beyond": the
sentences with as many clauses as those learnt from, and those with more.
"""

import resource
import sys
from collections.abc import Sequence
from math import exp
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch.nn.functional import cross_entropy

from attnlib.batches import batch, endless
from attnlib.checks import check_vocabularies, check_whole
from attnlib.costs import parameters
from attnlib.metrics import alignment_error_rate, bleu, exact_match, forced_links
from attnlib.search import translate_all
from attnlib.training import History, train
from attnlib.translator import Translator
from attnlib.variants import BUDGET, Budget, Variant, held_out
from attnlib.vocabulary import PAD, SentencePair

SOURCE = 20
"""The source length for which a step's multiply-adds are counted, in words, END among them."""

_SMOOTH = 10  # steps of training that one recorded loss is the mean of


class Judged(NamedTuple):
    """What a translator made of some sentences, one entry a sentence.

    Attributes
    ----------
    pairs : sentence pairs
    losses : list of float
        The negative log probability of the true translation, in nats a sentence.
    greedy, beam : lists of words
    links : list of links, or None
    distances : lists of float, or None
        How far p_t is from the middle of the gold links of each target word that has any, in words.
    inside : lists of bool, or None
        Whether the window around p_t holds each gold link.
    """

    pairs: Sequence[SentencePair]
    losses: Sequence[float]
    greedy: Sequence[tuple[str, ...]]
    beam: Sequence[tuple[str, ...]]
    links: Sequence[set[tuple[int, int]]] | None
    distances: Sequence[Sequence[float]] | None
    inside: Sequence[Sequence[bool]] | None


def fit(variant: Variant, seed: int, budget: Budget = BUDGET, **options: Any) -> tuple[Translator, History]:
    """Train a variant as the experiments do.

    Parameters
    ----------
    variant : Variant
    seed : int
        Where weights begin, which sentences are learnt from, in which order.
    budget : Budget
    **options
        For `attnlib.training.train`, such as ``progress=False``.

    Returns
    -------
    Translator, History
    """
    translator, pairs = variant.translator(seed, budget), variant.training_pairs(seed, budget)
    batches = endless(pairs, translator.source_vocabulary, translator.target_vocabulary, words=budget.words, seed=seed)
    history = train(translator, batches, steps=budget.steps, learning_rate=budget.learning_rate, **options)
    return translator, history


def run(variant: Variant, seed: int, budget: Budget = BUDGET) -> dict[str, Any]:
    """Train a variant and measure it: one row of its results.

    Returns
    -------
    dict
        ``losses``, each the mean of ten steps, in nats a word, and ``groups``, from the name of a group of test
        sentences to its measures. The same on one machine, whenever it is run.
    """
    translator, history = fit(variant, seed, budget, progress=False)
    pairs = [pair for clauses in budget.test_clauses for pair in held_out(clauses, budget)]
    judged = judge(translator, pairs, budget.width)
    smooth = [round(float(part.mean()), 4) for part in np.split(history.losses, range(_SMOOTH, budget.steps, _SMOOTH))]
    groups = {name: measures(_chosen(judged, rows)) for name, rows in grouped(pairs, variant, budget).items()}
    return {"losses": smooth, "groups": groups}


def cost(variant: Variant, budget: Budget = BUDGET, *, steps: int = 100) -> dict[str, float | int]:
    """Measure what a variant costs. Run it in a process of its own, with nothing beside it.

    Returns
    -------
    dict
        ``parameters``; ``multiply_adds`` of a decoder's step for a source of `SOURCE` words, by formula;
        ``words_per_second`` of training, real target words by the clock; ``seconds`` that the budget's steps would
        take at that pace; ``peak_memory`` of training in MiB, above that of a process that has read its sentences.
    """
    translator, pairs = variant.translator(0, budget), variant.training_pairs(0, budget)
    before, began = _peak_memory(), perf_counter()
    batches = endless(pairs, translator.source_vocabulary, translator.target_vocabulary, words=budget.words, seed=0)
    history = train(translator, batches, steps=steps, learning_rate=budget.learning_rate, progress=False)
    return {
        "parameters": parameters(translator),
        "multiply_adds": translator.decoder.multiply_adds(SOURCE),
        "words_per_second": round(history.words_per_second),
        "seconds": round((perf_counter() - began) * budget.steps / steps, 1),
        "peak_memory": round(_peak_memory() - before),
    }


def judge(translator: Translator, pairs: Sequence[SentencePair], width: int = 5) -> Judged:
    """Translate sentences, greedily and by beam search, and score the true translations."""
    check_vocabularies(translator)
    if not len(pairs):
        raise ValueError("pairs is empty; expected at least one sentence pair")
    sources = [pair.source for pair in pairs]
    longest = 2 * max(map(len, sources))
    align = getattr(translator.decoder, "align", None)
    followed = centres(translator, pairs) if hasattr(getattr(align, "window", None), "centre") else None
    return Judged(
        pairs,
        sentence_losses(translator, pairs),
        translate_all(translator, sources, max_length=longest),
        translate_all(translator, sources, max_length=longest, width=width),
        forced_links(translator, pairs) if align else None,
        followed and [_distances(pair, p) for pair, p in zip(pairs, followed, strict=True)],
        followed and [_inside(pair, p, align.window.half_width) for pair, p in zip(pairs, followed, strict=True)],
    )


def measures(judged: Judged) -> dict[str, float | int | None]:
    """Sum up what was made of the sentences: see the table at the top of this module."""
    _check_judged(judged)
    references = [pair.target for pair in judged.pairs]
    words = sum(len(reference) + 1 for reference in references)
    gold = [pair.links for pair in judged.pairs]
    exact = {"exact": exact_match(judged.greedy, references), "beam_exact": exact_match(judged.beam, references)}
    scores = {"bleu": bleu(judged.greedy, references).score, "beam_bleu": bleu(judged.beam, references).score}
    numbers = {
        "perplexity": exp(sum(judged.losses) / words),
        **scores,
        **exact,
        "alignment_error": None if judged.links is None else alignment_error_rate(judged.links, gold),
        "centre_distance": _mean(judged.distances),
        "centre_inside": _mean(judged.inside),
    }
    rounded = {name: None if number is None else round(number, 4) for name, number in numbers.items()}
    return {"sentences": len(judged.pairs), **rounded}


def grouped(pairs: Sequence[SentencePair], variant: Variant, budget: Budget = BUDGET) -> dict[str, list[int]]:
    """Tell which test sentences, in the order of `budget`, make up which group."""
    if len(pairs) != len(budget.test_clauses) * budget.test_sentences:
        raise ValueError(
            f"pairs holds {len(pairs)} sentence pairs; expected {budget.test_sentences} for each of the numbers of"
            f" clauses {budget.test_clauses}"
        )
    clauses = np.repeat(budget.test_clauses, budget.test_sentences)
    tens = np.array([len(pair.source) // 10 for pair in pairs])
    learnt = clauses <= max(variant.clauses)
    groups = {f"{c} clause{'s' * (c > 1)}": clauses == c for c in budget.test_clauses}
    groups |= {f"{10 * ten}-{10 * ten + 9} words": tens == ten for ten in np.unique(tens)}
    groups |= {"within": learnt, "beyond": ~learnt}
    return {name: np.flatnonzero(inside).tolist() for name, inside in groups.items() if inside.any()}


@torch.no_grad()
def sentence_losses(translator: Translator, pairs: Sequence[SentencePair], *, at_once: int = 64) -> list[float]:
    """Take the negative log probability of each true translation, END included, in nats."""
    check_vocabularies(translator)
    check_whole(at_once=at_once)
    losses = []
    for part in (pairs[n : n + at_once] for n in range(0, len(pairs), at_once)):
        source, lengths, target = batch(part, translator.source_vocabulary, translator.target_vocabulary)
        logits = translator(source, lengths, target).logits
        losses += cross_entropy(logits.mT, target, ignore_index=PAD, reduction="none").sum(1).tolist()
    return losses


@torch.no_grad()
def centres(translator: Translator, pairs: Sequence[SentencePair]) -> list[Float[np.ndarray, "_"]]:
    """Read p_t, in source positions, off a translator that is given the true words.

    Parameters
    ----------
    translator : Translator
        Its window has a centre.
    pairs : sentence pairs

    Returns
    -------
    list of ``"tgt"``
        One number for each target word, END apart.
    """
    check_vocabularies(translator)
    if not hasattr(getattr(getattr(translator.decoder, "align", None), "window", None), "centre"):
        raise ValueError("translator has no window with a centre; expected LocalMonotonic or LocalPredictive")
    return [
        translator(*batch([pair], translator.source_vocabulary, translator.target_vocabulary))
        .attended.centre[0, : len(pair.target)]
        .numpy()
        for pair in pairs
    ]


def _distances(pair: SentencePair, p: Float[np.ndarray, "tgt"]) -> list[float]:
    linked = {t: [i for i, other in pair.links if other == t] for t in {t for _, t in pair.links}}
    return [abs(float(p[t]) - sum(positions) / len(positions)) for t, positions in sorted(linked.items())]


def _inside(pair: SentencePair, p: Float[np.ndarray, "tgt"], half_width: int) -> list[bool]:
    return [bool(abs(i - p[t]) <= half_width) for i, t in sorted(pair.links)]


def _mean(lists: Sequence[Sequence[float | bool]] | None) -> float | None:
    return None if lists is None else float(np.mean([number for numbers in lists for number in numbers]))


def _chosen(judged: Judged, rows: Sequence[int]) -> Judged:
    return Judged(*(None if entries is None else [entries[n] for n in rows] for entries in judged))


def _peak_memory() -> float:
    """Give the most memory that this process has held so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2 ** (20 if sys.platform == "darwin" else 10)


def _check_judged(judged: Judged) -> None:
    for name, entries in judged._asdict().items():
        if entries is not None and len(entries) != len(judged.pairs):
            raise ValueError(f"{name} has {len(entries)} entries; expected {len(judged.pairs)}, one for each pair")
