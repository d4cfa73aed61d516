"""How well links align our captions: alignment error rate, its interval over captions, and what is found."""

from collections.abc import Sequence

import numpy as np

from attnlib.experiments.captions import load_captions
from attnlib.metrics import alignment_error_rate

Words = Sequence[str]
Links = set[tuple[int, int]]

MOVED = 3
"""Words that a sure link may lie off the diagonal without counting as moved."""


def diagonal(source: Words, target: Words) -> Links:
    """Link each target word to the source word opposite, both sentences stretched to the same length."""
    return {(round(_opposite(source, target, t)), t) for t in range(len(target))}


def score(predicted: Sequence[Links], language: str) -> dict[str, float]:
    """Score links of our captions in a language, one set a caption.

    Returns
    -------
    dict
        ``alignment_error_rate``; ``low`` and ``high``, 95 percent of its values for as many captions drawn with
        replacement; ``less_diagonal_low`` and ``less_diagonal_high``, those of its difference from the diagonal's;
        ``found_moved`` of ``moved`` sure links more than `MOVED` words off the diagonal, ``found_stayed`` of
        ``stayed``.
    """
    captions = load_captions(language)
    drawn = np.random.default_rng(0).integers(len(captions), size=(10_000, len(captions)))
    rates, straight = (
        1 - np.divide(*_counts(links, captions)[:, drawn].sum(-1))
        for links in (predicted, [diagonal(*caption.pair[:2]) for caption in captions])
    )
    low, high = np.quantile(rates, [0.025, 0.975])
    less_low, less_high = np.quantile(rates - straight, [0.025, 0.975])
    sure, possible = zip(*(caption.gold for caption in captions), strict=True)
    intervals = {"low": low, "high": high, "less_diagonal_low": less_low, "less_diagonal_high": less_high}
    rate = alignment_error_rate(predicted, sure, possible)
    return {"alignment_error_rate": rate, **intervals, **_found(predicted, captions)}


def _opposite(source: Words, target: Words, t: int) -> float:
    return t * (len(source) - 1) / (len(target) - 1)


def _counts(predicted: Sequence[Links], captions) -> np.ndarray:
    """Count for each caption what is right, and what is counted."""
    both = zip(predicted, (caption.gold for caption in captions), strict=True)
    return np.transpose([(len(A & S) + len(A & P), len(A) + len(S)) for A, (S, P) in both])


def _found(predicted: Sequence[Links], captions) -> dict[str, int]:
    counts = dict.fromkeys(("found_moved", "moved", "found_stayed", "stayed"), 0)
    for links, caption in zip(predicted, captions, strict=True):
        for i, t in caption.gold.sure:
            kind = "moved" if abs(i - _opposite(*caption.pair[:2], t)) > MOVED else "stayed"
            counts[kind] += 1
            counts[f"found_{kind}"] += (i, t) in links
    return counts
