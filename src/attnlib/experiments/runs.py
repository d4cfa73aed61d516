"""One run of one row of a plan: what is recorded of it.

==================== =====================================================================================
``learning_rate``    that of the row's family
``seconds``          how long it took, by the clock
``environment``      revision, date, processor and versions: see `attnlib.experiments.ledger.environment`
``losses``           each the mean of ten steps, in nats per word
``measures``         by name, one number a group of test sentences: those of `attnlib.experiments.evaluation`, and
                     ``unended``, the share of greedy translations that do not end; ``missed_left`` and
                     ``missed_right``, the share of links that lie left or right of the nearest gold one
``right``            which test sentences greedy translation gets right: four a hexadecimal digit, the first first
``by_position``      for each number of clauses, the mean loss of five target positions after another
``misses``           within and beyond, how many links lie 5 or more to the left, 4, ..., 5 or more to the right
==================== =====================================================================================
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from attnlib.data import SentencePair
from attnlib.experiments.evaluation import Evaluation, cap, evaluate, sentence_losses, summarise, word_losses
from attnlib.experiments.measure import all_held_out, grouped, smoothed, train_on
from attnlib.experiments.plan import Plan, Row
from attnlib.experiments.variants import LANGUAGES, development
from attnlib.training import History, warm_cosine
from attnlib.translator import Translator

FURTHEST = 5
"""Links that miss by more are counted as missing by so many words."""

POSITIONS = 5
"""How many target positions share a mean loss."""


def measure(row: Row, seed: int, learning_rate: float) -> dict[str, Any]:
    """Train a row with a seed, and measure it on the test sentences: see the table at the top of this module."""
    translator, history = trained(row, seed, learning_rate)
    pairs = all_held_out(row.budget, row.variant.language)
    width = row.budget.width if row.beam else None
    evaluation = evaluate(translator, pairs, width, [cap(pair.source) for pair in pairs])
    groups = grouped(row.variant, row.budget)
    parts = [evaluation.select(rows) for rows in groups.values()]
    summaries = [summarise(part) | _more(part) for part in parts]
    right = [words == pair.target for words, pair in zip(evaluation.greedy, pairs, strict=True)]
    has_links = evaluation.links is not None
    return {
        "losses": smoothed(history.losses),
        "measures": {name: [summary[name] for summary in summaries] for name in summaries[0]},
        "right": np.packbits(right).tobytes().hex(),
        "by_position": _by_position(word_losses(translator, pairs), row.budget.test_sentences),
        "misses": {
            name: miss_counts(evaluation.select(groups[name])).tolist()
            for name in ("within", "beyond")
            if name in groups
        }
        if has_links
        else None,
    }


def development_loss(row: Row, seed: int, learning_rate: float, clauses: Sequence[int]) -> float | None:
    """Train a row with a seed, and give the mean loss per word on sentences to choose by; None if training fails."""
    try:
        translator, _ = trained(row, seed, learning_rate)
    except FloatingPointError:
        return None
    pairs = [pair for c in clauses for pair in development(c, row.budget, row.variant.language)]
    loss = sum(sentence_losses(translator, pairs)) / sum(len(pair.target) + 1 for pair in pairs)
    return round(loss, 5) if isfinite(loss) else None


def shortened(row: Row, plan: Plan) -> Row:
    """Give the row with as many steps, and sentences in proportion, as learning rates are chosen with."""
    return row.longer(plan.contents["learning_rates"]["share_of_steps"], len(row.variant.seeds))


def trained(row: Row, seed: int, learning_rate: float, **options: Any) -> tuple[Translator, History]:
    """Train a row with a seed; the options are for `attnlib.training.train`."""
    variant, budget = row.variant, replace(row.budget, learning_rate=learning_rate)
    translator = variant.translator(seed, budget)
    pairs = _drawn(variant.language, budget.pairs, seed, variant.clauses)
    return translator, train_on(pairs, translator, seed, budget, progress=False, **options)


def begun(row: Row, seed: int, learning_rate: float, steps: int) -> tuple[Translator, History]:
    """Take the first steps of a training: as `trained` does, with the learning rate that each of them has there."""
    whole = row.budget.steps
    first = row._replace(budget=replace(row.budget, steps=steps))
    return trained(first, seed, learning_rate, schedule=lambda done: warm_cosine(done * (steps + 1) / (whole + 1)))


def miss_counts(evaluation: Evaluation) -> Int[np.ndarray, "offsets"]:
    """Count the links by how far, and to which side, they lie from the nearest gold link of their target word.

    Target words without a gold link do not count. A link halfway between two gold ones lies left of one.

    Returns
    -------
    ``"2 * FURTHEST + 1"``
        From `FURTHEST` or more to the left to as many to the right; in the middle those that are right.
    """
    counts = np.zeros(2 * FURTHEST + 1, dtype=int)
    for found, pair in zip(evaluation.links or [], evaluation.pairs, strict=True):
        for i, t in found:
            away = [i - gold for gold, other in pair.links if other == t]
            if away:
                counts[np.clip(min(away, key=lambda d: (abs(d), d)), -FURTHEST, FURTHEST) + FURTHEST] += 1
    return counts


def unended(evaluation: Evaluation) -> float:
    """Give the share of greedy translations that were cut before they ended."""
    cut = [len(words) >= cap(pair.source) for words, pair in zip(evaluation.greedy, evaluation.pairs, strict=True)]
    return sum(cut) / len(cut)


def _more(evaluation: Evaluation) -> dict[str, float | None]:
    counts = miss_counts(evaluation) if evaluation.links is not None else None
    left, right = (None, None) if counts is None else (counts[:FURTHEST].sum(), counts[FURTHEST + 1 :].sum())
    return {
        "unended": round(unended(evaluation), 4),
        "missed_left": None if counts is None else round(float(left / counts.sum()), 4),
        "missed_right": None if counts is None else round(float(right / counts.sum()), 4),
    }


def _by_position(losses: Sequence[Float[np.ndarray, "_"]], sentences: int) -> list[list[float]]:
    """Take the mean loss of the first `POSITIONS` words, of the next, ...: a list for each number of clauses."""
    found = []
    for part in (losses[n : n + sentences] for n in range(0, len(losses), sentences)):
        bins = np.concatenate([np.arange(len(row)) // POSITIONS for row in part])
        totals = np.bincount(bins, weights=np.concatenate(part))
        found.append(np.round(totals / np.bincount(bins), 4).tolist())
    return found


@lru_cache(maxsize=2)
def _drawn(language: str, pairs: int, seed: int, clauses: tuple[int, ...]) -> list[SentencePair]:
    return LANGUAGES[language](pairs, seed=seed, clauses=clauses)
