"""What is recorded of a run of a plan that learns from a grammar, and what a model costs.

Of each run there is a line for each group of test sentences, in a table for each of the plan's groupings: by test set
or number of clauses. It has the metrics of `attnlib.experiments.predictions`, and ``unfinished``, the
share of greedy translations that do not end; ``missed_left`` and ``missed_right``, the share of links that lie left or
right of the nearest gold one. And the details:

======================== ===========================================================================================
``config``               digest of the configuration
``learning_rate``        that of the tuning group
``losses``               at most 70, each the mean of ten steps or more, in nats per word
``losses_by_position``   for each number of clauses, the mean loss of five target positions after another
``alignment_offsets``    by the first grouping, how many links lie 5 or more to the left, 4, ..., 5 or more to the right
``correct``              which test sentences greedy translation gets right: four a hexadecimal digit, the first first
``seconds``              how long it took, by the clock
``environment``          the line of the table ``environments``
======================== ===========================================================================================
"""

import sys
from collections.abc import Sequence
from math import isfinite
from time import perf_counter
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from tables import Run, environment

from attnlib.costs import count_macs, count_parameters
from attnlib.data import SentencePair
from attnlib.experiments.fitting import train_from_config
from attnlib.experiments.plan import ExperimentConfig, Plan, name_test_set
from attnlib.experiments.predictions import Predictions, compute_metrics, max_output_length, predict
from attnlib.metrics import sentence_nll, token_nll

FURTHEST = 5
"""Links that miss by more are counted as missing by so many words."""

SOURCE = 20
"""The source length for which a step's multiply-adds are counted, in words, EOS among them."""

_POSITIONS = 5  # target positions that share a mean loss


def measure(plan: Plan, config: ExperimentConfig, seed: int) -> Run:
    """Train a configuration with a seed, and measure it on the test sentences."""
    began = perf_counter()
    model, history = train_from_config(config, seed)
    pairs = config.test_sentences()
    predictions = predict(model, pairs, config.beam_size)
    tables, offsets, groupings = {"environments": [environment()]}, {}, group_sentences(config)
    for by in plan.groupings:
        name = "" if by == plan.groupings[0] else by
        tables[name] = lines = []
        for value, rows in groupings[by].items():
            part = predictions.select(rows)
            lines.append({"model": config.name, by: value, "seed": seed} | compute_metrics(part) | _more(part))
            if not name and part.links is not None:
                offsets[name_test_set(value)] = count_offsets(part).tolist()
    correct = [words == pair.target for words, pair in zip(predictions.translations, pairs, strict=True)]
    details = {
        "model": config.name,
        "seed": seed,
        "config": config.digest,
        "learning_rate": config.learning_rate,
        "losses": smooth(history.losses),
        "losses_by_position": _by_position(token_nll(model, pairs), config.num_test_sentences),
        "alignment_offsets": offsets or None,
        "correct": np.packbits(correct).tobytes().hex(),
        "seconds": round(perf_counter() - began, 1),
        "environment": environment()["id"],
    }
    return Run(tables, details)


def measure_rate(plan: Plan, config: ExperimentConfig, seed: int) -> Run:
    """Train with a learning rate, and take the loss per word of dev sentences; none if training fails."""
    began, loss = perf_counter(), float("nan")
    try:
        model, _ = train_from_config(config, seed)
    except FloatingPointError:
        pass
    else:
        pairs = [pair for c in plan.contents["tuning"]["clauses"] for pair in dev_sentences(config, c)]
        loss = sum(sentence_nll(model, pairs)) / sum(len(pair.target) + 1 for pair in pairs)
    line = {"tuning_group": config.tuning_group, "learning_rate": config.learning_rate, "seed": seed}
    line |= {"loss": round(loss, 5) if isfinite(loss) else None, "seconds": round(perf_counter() - began, 1)}
    line |= {"config": config.digest, "environment": environment()["id"]}
    return Run({"learning_rates": [line], "environments": [environment()]})


def dev_sentences(config: ExperimentConfig, clauses: int) -> list[SentencePair]:
    """Return the sentences for the choice of learning rates, which are neither trained nor tested on."""
    tested = {pair.source for pair in config.test_sentences(clauses)}
    drawn = config.replace(test_seed=1000, num_test_sentences=2 * config.num_test_sentences).test_sentences(clauses)
    return [pair for pair in drawn if pair.source not in tested][: config.num_test_sentences]


def measure_costs(config: ExperimentConfig, steps: int = 100) -> Run:
    """Measure what a model costs. Run it in a process of its own, with nothing beside it.

    ``parameters``; ``macs``, the multiply-adds of a decoder's step, the `SOURCE`-th for a source of as many words;
    ``words_per_second`` of training, real target words by the clock; ``seconds`` that all steps would take at that
    pace; ``peak_memory`` of training in MiB, above that of a process that has read its sentences.
    """
    model = config.build_model(seed=0)
    config.training_sentences(seed=0)  # drawn before the clock runs, and kept for the training
    before, began = _peak_memory(), perf_counter()
    _, history = train_from_config(config, 0, steps=steps)
    line = {
        "model": config.name,
        "parameters": count_parameters(model),
        "macs": count_macs(model, SOURCE, SOURCE - 1),
        "words_per_second": round(history.words_per_second),
        "seconds": round((perf_counter() - began) * config.max_steps / steps, 1),
        "peak_memory": round(_peak_memory() - before),
    }
    return Run({"costs": [line | {"environment": environment()["id"]}], "environments": [environment()]})


def group_sentences(config: ExperimentConfig) -> dict[str, dict[Any, list[int]]]:
    """List which test sentences, counted from 0, are in which test set, and have how many clauses."""
    clauses = np.repeat(config.test_clauses, config.num_test_sentences)
    seen = clauses <= max(config.clauses)
    groups = {
        "test_set": {"seen lengths": seen, "longer": ~seen},
        "clauses": {c: clauses == c for c in config.test_clauses},
    }
    return {by: {v: np.flatnonzero(x).tolist() for v, x in of.items() if x.any()} for by, of in groups.items()}


def smooth(losses: Float[np.ndarray, "steps"]) -> list[float]:
    """Return the means of ten steps each, or of more where there would be more than 70."""
    steps = max(10, -(-len(losses) // 70))
    return [round(float(part.mean()), 4) for part in np.split(losses, range(steps, len(losses), steps))]


def count_offsets(predictions: Predictions) -> Int[np.ndarray, "offsets"]:
    """Count the links by how far, and to which side, they lie from the nearest gold link of their target word.

    Target words without a gold link do not count. A link halfway between two gold ones lies left of one.

    Returns
    -------
    array, shape (2 * FURTHEST + 1,)
        From `FURTHEST` or more to the left to as many to the right; in the middle those that are right.
    """
    counts = np.zeros(2 * FURTHEST + 1, dtype=int)
    for links, pair in zip(predictions.links, predictions.pairs, strict=True):
        for i, t in links:
            away = [i - gold for gold, other in pair.links if other == t]
            if away:
                counts[np.clip(min(away, key=lambda d: (abs(d), d)), -FURTHEST, FURTHEST) + FURTHEST] += 1
    return counts


def _more(predictions: Predictions) -> dict[str, float | None]:
    both = zip(predictions.translations, predictions.pairs, strict=True)
    unfinished = np.mean([len(words) >= max_output_length(pair.source) for words, pair in both])
    left = right = None
    if predictions.links is not None:
        counts = count_offsets(predictions)
        sides = counts[:FURTHEST], counts[FURTHEST + 1 :]
        left, right = (round(float(side.sum() / counts.sum()), 4) for side in sides)
    return {"unfinished": round(float(unfinished), 4), "missed_left": left, "missed_right": right}


def _by_position(losses: Sequence[Float[np.ndarray, "_"]], sentences: int) -> list[list[float]]:
    """Return the mean loss of the first words, of the next, ...: a list for each number of clauses."""
    means = []
    for part in (losses[n : n + sentences] for n in range(0, len(losses), sentences)):
        bins = np.concatenate([np.arange(len(row)) // _POSITIONS for row in part])
        totals = np.bincount(bins, weights=np.concatenate(part))
        means.append(np.round(totals / np.bincount(bins), 4).tolist())
    return means


def _peak_memory() -> float:
    """Return the most memory that this process has held so far, in MiB, where the system tells it."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2 ** (20 if sys.platform == "darwin" else 10)
