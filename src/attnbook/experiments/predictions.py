"""Predictions of a model for test sentences, and their metrics (chapters 3 and 4).

Metrics of a set of sentences. They refer to greedy search unless the name ends in ``_beam``:

======================== ===================================================================================
``sentences``            number of sentences
``perplexity``           of a target word, EOS counted, given the reference words before it
``bleu_beam``            BLEU, 0 to 100
``exact_match``          share of translations that equal the reference
``alignment_error_rate`` of the links under forced decoding; None without attention, or gold links
``links_in_window``      share of the gold links inside the window around p_t; None without center
======================== ===================================================================================
"""

from collections.abc import Sequence
from math import exp
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from attnbook.language.sentences import max_output_length
from attnlib.batching import collate
from attnlib.data import SentencePair
from attnlib.metrics import alignment_error_rate, bleu, exact_match, forced_alignments, token_nll
from attnlib.seq2seq import EncoderDecoder
from attnlib.translation import translate_all
from attnlib.units import Words
from attnlib.windows import LocalMonotonic, LocalPredictive


class Predictions(NamedTuple):
    """Output of a model for several sentences, one entry for each sentence.

    Attributes
    ----------
    pairs : sequence of SentencePair
        Sources and references.
    losses : list of array
        Negative log probability of each word of the reference, EOS included, in nats.
    translations : list of words
        Translations of greedy search.
    beam_translations : list of words, or None
        Translations of beam search. None without beam search.
    links : list of set, or None
        Links under forced decoding. None without attention.
    inside : list of list of bool, or None
        Whether the window around p_t contains each gold link.
    """

    pairs: Sequence[SentencePair]
    losses: Sequence[Float[np.ndarray, "_"]]
    translations: Sequence[tuple[str, ...]]
    beam_translations: Sequence[tuple[str, ...]] | None
    links: Sequence[set[tuple[int, int]]] | None
    inside: Sequence[Sequence[bool]] | None

    def select(self, rows: Sequence[int]) -> "Predictions":
        """Return the predictions for selected sentences, in the given order."""
        chosen: list[Any] = [None if entries is None else [entries[n] for n in rows] for entries in self]
        return Predictions(*chosen)


def predict(model: EncoderDecoder, pairs: Sequence[SentencePair], beam_size: int = 5) -> Predictions:
    """Translate sentences within `attnbook.language.sentences.max_output_length`, and score their references.

    Parameters
    ----------
    model : EncoderDecoder
        The model, with its vocabularies.
    pairs : sequence of SentencePair
        Sources and references.
    beam_size : int, default 5
        Hypotheses of a beam search beside greedy search. With 1, there is no beam search.
    """
    sources, limits = [pair.source for pair in pairs], [max_output_length(pair.source) for pair in pairs]
    window: Any = _centered_window(model)
    followed: Any = window_centers(model, pairs) if window else None

    def translations(size: int) -> list[Words]:
        return [one.words for one in translate_all(model, sources, max_length=limits, beam_size=size)]

    return Predictions(
        pairs,
        token_nll(model, pairs),
        translations(1),
        None if beam_size == 1 else translations(beam_size),
        forced_alignments(model, pairs) if model.decoder.has_attention else None,
        followed and [_inside(pair, p, window.half_width) for pair, p in zip(pairs, followed, strict=True)],
    )


def compute_metrics(predictions: Predictions) -> dict[str, float | int | None]:
    """Compute the metrics of all predictions, rounded to 4 decimals.

    The table at the top of this module describes them.
    """
    pairs, losses, translations, beam, links, inside = predictions
    references, gold = [pair.target for pair in pairs], [pair.links for pair in pairs]
    together = [contained for of_pair in inside or () for contained in of_pair]
    metrics = {
        "perplexity": exp(np.concatenate(losses).mean()),
        "bleu_beam": None if beam is None else bleu(beam, references).score,
        "exact_match": exact_match(translations, references),
        "alignment_error_rate": alignment_error_rate(links, gold) if links is not None and any(gold) else None,
        "links_in_window": float(np.mean(together)) if together else None,
    }
    rounded = {name: None if number is None else round(number, 4) for name, number in metrics.items()}
    return {"sentences": len(references), **rounded}


@torch.no_grad()
def window_centers(model: EncoderDecoder, pairs: Sequence[SentencePair]) -> list[Float[np.ndarray, "_"]]:
    """Return the window centers p_t for reference translations."""
    device, batches = next(model.parameters()).device, (collate([pair], *model.vocabularies) for pair in pairs)
    centers = (model(*(x.to(device) for x in batch)).attention.center[0].cpu().numpy() for batch in batches)
    return [p[: len(pair.target)] for p, pair in zip(centers, pairs, strict=True)]


def _centered_window(model: EncoderDecoder) -> LocalMonotonic | LocalPredictive | None:
    window = getattr(getattr(model.decoder, "attention", None), "window", None)
    return window if hasattr(window, "center") else None


def _inside(pair: SentencePair, p: Float[np.ndarray, "tgt"], half_width: int) -> list[bool]:
    return [bool(abs(i - p[t]) <= half_width) for i, t in sorted(pair.links)]
