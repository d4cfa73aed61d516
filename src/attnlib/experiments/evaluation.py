"""What a translator makes of sentences, and how good that is.

The measures of a group of sentences:

==================== =====================================================================================
``sentences``        how many the group has
``perplexity``       of a target word, EOS among them, given the true words before it
``bleu``, ``exact``  of greedy translations: BLEU, 0 to 100, and the share that is right word for word
``beam_bleu``, ...   the same of beam search
``alignment_error``  rate of the links read off under forced decoding; None without attention, or gold links
``centre_distance``  mean distance of p_t from the middle of the gold links, in words; None without centre
``centre_inside``    share of the gold links that the window around p_t holds; None without centre
==================== =====================================================================================
"""

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from attnlib.checks import check_vocabularies
from attnlib.data import SentencePair, batch
from attnlib.metrics import alignment_error_rate, bleu, exact_match, forced_links, sentence_losses
from attnlib.search import translate_all
from attnlib.translator import Translator
from attnlib.windows import LocalMonotonic, LocalPredictive


class Evaluation(NamedTuple):
    """What a translator made of some sentences, one entry a sentence.

    Attributes
    ----------
    pairs : sentence pairs
    losses : list of float
        The negative log probability of the true translation, in nats a sentence.
    greedy, beam : lists of words
        No beam: None.
    links : list of links, or None
    distances : lists of float, or None
        How far p_t is from the middle of the gold links of each target word that has any, in words.
    inside : lists of bool, or None
        Whether the window around p_t holds each gold link.
    """

    pairs: Sequence[SentencePair]
    losses: Sequence[float]
    greedy: Sequence[tuple[str, ...]]
    beam: Sequence[tuple[str, ...]] | None
    links: Sequence[set[tuple[int, int]]] | None
    distances: Sequence[Sequence[float]] | None
    inside: Sequence[Sequence[bool]] | None

    def select(self, rows: Sequence[int]) -> "Evaluation":
        """Keep what was made of the chosen sentences, in that order."""
        return Evaluation(*(None if entries is None else [entries[n] for n in rows] for entries in self))


def cap(source: Sequence[str]) -> int:
    """Count how many words a translation may have, EOS among them: twice those of its source, and five."""
    return 2 * len(source) + 5


def evaluate(
    translator: Translator,
    pairs: Sequence[SentencePair],
    width: int | None = 5,
) -> Evaluation:
    """Translate sentences, greedily and by beam search, each within its `cap`, and score the true translations.

    Parameters
    ----------
    width : int, optional
        Of the beam. None: no beam search.

    Raises
    ------
    ValueError
        If there is no pair, or the translator has no vocabularies, or `width` is below 1.
    """
    if not len(pairs):
        raise ValueError("pairs is empty; expected at least one sentence pair")
    sources, caps = [pair.source for pair in pairs], [cap(pair.source) for pair in pairs]
    window = _centred_window(translator)
    followed = centres(translator, pairs) if window else None
    return Evaluation(
        pairs,
        sentence_losses(translator, pairs),
        translate_all(translator, sources, max_length=caps),
        None if width is None else translate_all(translator, sources, max_length=caps, width=width),
        forced_links(translator, pairs) if translator.decoder.attends else None,
        followed and [_distances(pair, p) for pair, p in zip(pairs, followed, strict=True)],
        followed and [_inside(pair, p, window.half_width) for pair, p in zip(pairs, followed, strict=True)],
    )


def summarise(evaluation: Evaluation) -> dict[str, float | int | None]:
    """Compute the measures of the sentences together, to 4 decimals: see the table at the top of this module."""
    pairs, losses, greedy, beam, links, distances, inside = evaluation
    references, gold = [pair.target for pair in pairs], [pair.links for pair in pairs]
    measures = {
        "perplexity": exp(sum(losses) / sum(len(reference) + 1 for reference in references)),
        "bleu": bleu(greedy, references).score,
        "beam_bleu": None if beam is None else bleu(beam, references).score,
        "exact": exact_match(greedy, references),
        "beam_exact": None if beam is None else exact_match(beam, references),
        "alignment_error": alignment_error_rate(links, gold) if links is not None and any(gold) else None,
        "centre_distance": _mean(distances),
        "centre_inside": _mean(inside),
    }
    rounded = {name: None if number is None else round(number, 4) for name, number in measures.items()}
    return {"sentences": len(references), **rounded}


@torch.no_grad()
def centres(translator: Translator, pairs: Sequence[SentencePair]) -> list[Float[np.ndarray, "_"]]:
    """Read p_t, in source positions, off a translator that is given the true words.

    One number for each target word, EOS apart.

    Raises
    ------
    ValueError
        If the translator has no vocabularies, or its window no centre.
    """
    check_vocabularies(translator)
    if not _centred_window(translator):
        raise ValueError("translator has no window with a centre; expected LocalMonotonic or LocalPredictive")
    vocabularies = translator.source_vocabulary, translator.target_vocabulary
    return [translator(*batch([pair], *vocabularies)).attended.centre[0, : len(pair.target)].numpy() for pair in pairs]


def _centred_window(translator: Translator) -> LocalMonotonic | LocalPredictive | None:
    window = getattr(getattr(translator.decoder, "align", None), "window", None)
    return window if hasattr(window, "centre") else None


def _distances(pair: SentencePair, p: Float[np.ndarray, "tgt"]) -> list[float]:
    linked = {t: [i for i, other in pair.links if other == t] for t in {t for _, t in pair.links}}
    return [abs(float(p[t]) - sum(positions) / len(positions)) for t, positions in sorted(linked.items())]


def _inside(pair: SentencePair, p: Float[np.ndarray, "tgt"], half_width: int) -> list[bool]:
    return [bool(abs(i - p[t]) <= half_width) for i, t in sorted(pair.links)]


def _mean(lists: Sequence[Sequence[float | bool]] | None) -> float | None:
    together = [number for numbers in lists or () for number in numbers]
    return float(np.mean(together)) if together else None
