"""One run of one variant: train it, translate the test sentences, and say how it went and what it cost.

Groups of test sentences are named "1 clause", "2 clauses", ..., "0-9 words", "10-19 words", ..., and "within" and
"beyond": the sentences with as many clauses as those learnt from, and those with more.
"""

import sys
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from jaxtyping import Float

from attnlib.data import SentencePair, endless
from attnlib.experiments.costs import multiply_adds, parameters
from attnlib.experiments.variants import BUDGET, Budget, Variant, held_out
from attnlib.training import History, train
from attnlib.translator import Translator

SOURCE = 20
"""The source length for which a step's multiply-adds are counted, in words, EOS among them."""

_SMOOTH = 10  # steps of training that one recorded loss is the mean of


def train_variant(variant: Variant, seed: int, budget: Budget = BUDGET, **options: Any) -> tuple[Translator, History]:
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
    translator = variant.translator(seed, budget)
    return translator, train_on(variant.training_pairs(seed, budget), translator, seed, budget, **options)


def train_on(
    pairs: Sequence[SentencePair], translator: Translator, seed: int, budget: Budget, **options: Any
) -> History:
    """Train a translator on sentence pairs as a budget has it; the rest as for `train_variant`."""
    batches = endless(
        pairs, translator.source_vocabulary, translator.target_vocabulary, max_tokens=budget.words, seed=seed
    )
    return train(translator, batches, steps=budget.steps, learning_rate=budget.learning_rate, **options)


def smoothed(losses: Float[np.ndarray, "steps"]) -> list[float]:
    """Take the mean of every ten steps."""
    return [round(float(part.mean()), 4) for part in np.split(losses, range(_SMOOTH, len(losses), _SMOOTH))]


def all_held_out(budget: Budget, language: str = "french") -> list[SentencePair]:
    """Draw all test sentences of a budget, the fewest clauses first."""
    return [pair for clauses in budget.test_clauses for pair in held_out(clauses, budget, language)]


def grouped(variant: Variant, budget: Budget = BUDGET) -> dict[str, list[int]]:
    """Tell which test sentences of a budget, counted from 0, make up which group."""
    clauses = np.repeat(budget.test_clauses, budget.test_sentences)
    tens = np.array([len(pair.source) // 10 for pair in all_held_out(budget, variant.language)])
    learnt = clauses <= max(variant.clauses)
    groups = {f"{c} clause{'s' * (c > 1)}": clauses == c for c in budget.test_clauses}
    groups |= {f"{10 * ten}-{10 * ten + 9} words": tens == ten for ten in np.unique(tens)}
    groups |= {"within": learnt, "beyond": ~learnt}
    return {name: np.flatnonzero(inside).tolist() for name, inside in groups.items() if inside.any()}


def benchmark(variant: Variant, budget: Budget = BUDGET, *, steps: int = 100) -> dict[str, float | int]:
    """Measure what a variant costs. Run it in a process of its own, with nothing beside it.

    Returns
    -------
    dict
        ``parameters``; ``multiply_adds`` of a decoder's step, the `SOURCE`-th for a source of as many words;
        ``words_per_second`` of training, real target words by the clock; ``seconds`` that the budget's steps would
        take at that pace; ``peak_memory`` of training in MiB, above that of a process that has read its sentences.
    """
    translator, pairs = variant.translator(0, budget), variant.training_pairs(0, budget)
    before, began = _peak_memory(), perf_counter()
    batches = endless(
        pairs, translator.source_vocabulary, translator.target_vocabulary, max_tokens=budget.words, seed=0
    )
    history = train(translator, batches, steps=steps, learning_rate=budget.learning_rate, progress=False)
    return {
        "parameters": parameters(translator),
        "multiply_adds": multiply_adds(translator, SOURCE, SOURCE - 1),
        "words_per_second": round(history.words_per_second),
        "seconds": round((perf_counter() - began) * budget.steps / steps, 1),
        "peak_memory": round(_peak_memory() - before),
    }


def _peak_memory() -> float:
    """Give the most memory that this process has held so far, in MiB, where the system tells it: Windows does not."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2 ** (20 if sys.platform == "darwin" else 10)
