"""One run of one row of a plan: training, what is recorded of it, and what it costs.

==================== =====================================================================================
``learning_rate``    that of the row's family
``seconds``          how long it took, by the clock
``environment``      revision, date, processor and versions: see `attnlib.experiments.records.environment`
``losses``           each the mean of ten steps, in nats per word
``measures``         by name, one number a group of test sentences: those of `attnlib.experiments.evaluation`, and
                     ``unended``, the share of greedy translations that do not end; ``missed_left`` and
                     ``missed_right``, the share of links that lie left or right of the nearest gold one
``right``            which test sentences greedy translation gets right: four a hexadecimal digit, the first first
``by_position``      for each number of clauses, the mean loss of five target positions after another
``misses``           within and beyond, how many links lie 5 or more to the left, 4, ..., 5 or more to the right
==================== =====================================================================================

Groups of test sentences are named "1 clause", "2 clauses", ..., "0-9 words", "10-19 words", ..., and "within" and
"beyond": the sentences with as many clauses as those learnt from, as the grammars count, and those with more.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite, prod
from time import perf_counter
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attnlib.checks import check_whole
from attnlib.data import BOS, EOS, SentencePair, endless
from attnlib.experiments.evaluation import Evaluation, cap, evaluate, summarise
from attnlib.experiments.plan import BUDGET, Budget, Row, Variant, development, held_out, vocabularies
from attnlib.metrics import sentence_losses, word_losses
from attnlib.training import History, train, warmup_cosine
from attnlib.translator import Translator

FURTHEST = 5
"""Links that miss by more are counted as missing by so many words."""

SOURCE = 20
"""The source length for which a step's multiply-adds are counted, in words, EOS among them."""

_POSITIONS = 5  # target positions that share a mean loss
_SMOOTH = 10  # steps of training that one recorded loss is the mean of
# What PyTorch's counter leaves out, in operations from shapes: a matrix by a vector, and an LSTM in one call.
_NOT_COUNTED = {
    torch.ops.aten.mv: lambda matrix, vector, **_: 2 * prod(matrix),
    torch.ops.aten.mkldnn_rnn_layer: lambda x, W_ih, W_hh, *_, **__: 2 * x[0] * x[1] * (prod(W_ih) + prod(W_hh)),
}


def train_variant(variant: Variant, seed: int, budget: Budget = BUDGET, **options: Any) -> tuple[Translator, History]:
    """Train a variant; the options are for `attnlib.training.train`, such as ``progress=False``."""
    translator, pairs = variant.translator(seed, budget), variant.training_pairs(seed, budget)
    batches = endless(pairs, *vocabularies(variant.language), max_tokens=budget.words, seed=seed)
    return translator, train(translator, batches, steps=budget.steps, learning_rate=budget.learning_rate, **options)


def trained(row: Row, seed: int, learning_rate: float, **options: Any) -> tuple[Translator, History]:
    """Train a row with a seed; the options are for `attnlib.training.train`."""
    return train_variant(row.variant, seed, replace(row.budget, learning_rate=learning_rate), progress=False, **options)


def begun(row: Row, seed: int, learning_rate: float, steps: int) -> tuple[Translator, History]:
    """Take the first steps of a training: as `trained` does, with the learning rate that each of them has there."""
    whole = row.budget.steps
    first = row._replace(budget=replace(row.budget, steps=steps))
    return trained(first, seed, learning_rate, schedule=lambda done: warmup_cosine(done * (steps + 1) / (whole + 1)))


def smoothed(losses: Float[np.ndarray, "steps"]) -> list[float]:
    """Take the mean of every ten steps."""
    return [round(float(part.mean()), 4) for part in np.split(losses, range(_SMOOTH, len(losses), _SMOOTH))]


def all_held_out(budget: Budget, language: str = "french") -> list[SentencePair]:
    """Draw all test sentences of a budget, the fewest clauses first."""
    return [pair for clauses in budget.test_clauses for pair in held_out(clauses, budget, language)]


def grouped(variant: Variant, budget: Budget = BUDGET) -> dict[str, list[int]]:
    """List which test sentences of a budget, counted from 0, make up which group."""
    clauses = np.repeat(budget.test_clauses, budget.test_sentences)
    tens = np.array([len(pair.source) // 10 for pair in all_held_out(budget, variant.language)])
    learnt = clauses <= max(variant.clauses)
    groups = {f"{c} clause{'s' * (c > 1)}": clauses == c for c in budget.test_clauses}
    groups |= {f"{10 * ten}-{10 * ten + 9} words": tens == ten for ten in np.unique(tens)}
    groups |= {"within": learnt, "beyond": ~learnt}
    return {name: np.flatnonzero(inside).tolist() for name, inside in groups.items() if inside.any()}


def measure(row: Row, seed: int, learning_rate: float) -> dict[str, Any]:
    """Train a row with a seed, and measure it on the test sentences: see the table at the top of this module."""
    translator, history = trained(row, seed, learning_rate)
    pairs = all_held_out(row.budget, row.variant.language)
    evaluation = evaluate(translator, pairs, row.budget.width if row.beam else None)
    parts = {name: evaluation.select(rows) for name, rows in grouped(row.variant, row.budget).items()}
    summaries = [summarise(part) | _more(part) for part in parts.values()]
    right = [words == pair.target for words, pair in zip(evaluation.greedy, pairs, strict=True)]
    both = {name: part for name, part in parts.items() if name in ("within", "beyond")}
    attends = evaluation.links is not None
    return {
        "learning_rate": learning_rate,
        "losses": smoothed(history.losses),
        "measures": {name: [summary[name] for summary in summaries] for name in summaries[0]},
        "right": np.packbits(right).tobytes().hex(),
        "by_position": _by_position(word_losses(translator, pairs), row.budget.test_sentences),
        "misses": {name: miss_counts(part).tolist() for name, part in both.items()} if attends else None,
    }


def measure_rate(row: Row, seed: int, learning_rate: float, clauses: Sequence[int]) -> dict[str, float | None]:
    """Train a row with a seed, and take the loss per word of sentences to choose by; None if training fails."""
    try:
        translator, _ = trained(row, seed, learning_rate)
    except FloatingPointError:
        return {"loss": None}
    pairs = [pair for c in clauses for pair in development(c, row.budget, row.variant.language)]
    loss = sum(sentence_losses(translator, pairs)) / sum(len(pair.target) + 1 for pair in pairs)
    return {"loss": round(loss, 5) if isfinite(loss) else None}


def miss_counts(evaluation: Evaluation) -> Int[np.ndarray, "offsets"]:
    """Count the links by how far, and to which side, they lie from the nearest gold link of their target word.

    Target words without a gold link do not count. A link halfway between two gold ones lies left of one.

    Returns
    -------
    ``"2 * FURTHEST + 1"``
        From `FURTHEST` or more to the left to as many to the right; in the middle those that are right.
    """
    counts = np.zeros(2 * FURTHEST + 1, dtype=int)
    for links, pair in zip(evaluation.links, evaluation.pairs, strict=True):
        for i, t in links:
            away = [i - gold for gold, other in pair.links if other == t]
            if away:
                counts[np.clip(min(away, key=lambda d: (abs(d), d)), -FURTHEST, FURTHEST) + FURTHEST] += 1
    return counts


def unended(evaluation: Evaluation) -> float:
    """Take the share of greedy translations that were cut before they ended."""
    cut = [len(words) >= cap(pair.source) for words, pair in zip(evaluation.greedy, evaluation.pairs, strict=True)]
    return sum(cut) / len(cut)


def parameters(model: nn.Module) -> int:
    """Count the numbers that training may change."""
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


def products(work: Callable[[], object]) -> int:
    """Count the multiply-adds of all matrix products while `work` is done, whatever is computed in between."""
    with FlopCounterMode(display=False, custom_mapping=_NOT_COUNTED) as counter:
        work()
    return counter.get_total_flops() // 2


@torch.no_grad()
def multiply_adds(translator: Translator, src: int, written: int = 0) -> int:
    """Count the multiply-adds of one step of a decoder, for one sentence, while the step is taken.

    Those of matrix products: what is done once for a sentence, and what is added or looked up, does not count.

    Parameters
    ----------
    src : int
        Words of the source, EOS among them.
    written : int
        Words of the translation before the step, which a Transformer looks at too.

    Raises
    ------
    ValueError
        If `src` is below 1 or `written` below 0.
    """
    check_whole(src=src)
    check_whole(0, written=written)
    word = torch.tensor([BOS])
    state = translator.start(torch.full((1, src), EOS), torch.tensor([src]))
    for _ in range(written):
        state = translator.step(word, state)[2]
    return products(lambda: translator.step(word, state))


def benchmark(variant: Variant, budget: Budget = BUDGET, *, steps: int = 100) -> dict[str, float | int]:
    """Measure what a variant costs. Run it in a process of its own, with nothing beside it.

    Returns
    -------
    dict
        ``parameters``; ``multiply_adds`` of a decoder's step, the `SOURCE`-th for a source of as many words;
        ``words_per_second`` of training, real target words by the clock; ``seconds`` that the budget's steps would
        take at that pace; ``peak_memory`` of training in MiB, above that of a process that has read its sentences.
    """
    translator = variant.translator(0, budget)
    variant.training_pairs(0, budget)  # drawn before the clock runs, and kept for the training
    before, began = _peak_memory(), perf_counter()
    _, history = train_variant(variant, 0, replace(budget, steps=steps), progress=False)
    return {
        "parameters": parameters(translator),
        "multiply_adds": multiply_adds(translator, SOURCE, SOURCE - 1),
        "words_per_second": round(history.words_per_second),
        "seconds": round((perf_counter() - began) * budget.steps / steps, 1),
        "peak_memory": round(_peak_memory() - before),
    }


def _more(evaluation: Evaluation) -> dict[str, float | None]:
    left = right = None
    if evaluation.links is not None:
        counts = miss_counts(evaluation)
        left, right = (
            round(float(side.sum() / counts.sum()), 4) for side in (counts[:FURTHEST], counts[FURTHEST + 1 :])
        )
    return {"unended": round(unended(evaluation), 4), "missed_left": left, "missed_right": right}


def _by_position(losses: Sequence[Float[np.ndarray, "_"]], sentences: int) -> list[list[float]]:
    """Take the mean loss of the first words, of the next, ...: a list for each number of clauses."""
    means = []
    for part in (losses[n : n + sentences] for n in range(0, len(losses), sentences)):
        bins = np.concatenate([np.arange(len(row)) // _POSITIONS for row in part])
        totals = np.bincount(bins, weights=np.concatenate(part))
        means.append(np.round(totals / np.bincount(bins), 4).tolist())
    return means


def _peak_memory() -> float:
    """Read the most memory that this process has held so far, in MiB, where the system tells it: Windows does not."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2 ** (20 if sys.platform == "darwin" else 10)
