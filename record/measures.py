"""What is recorded of a run of a plan that learns from a grammar, and what a model costs.

Of each run there is a line for each number of clauses. It has the metrics of `attnbook.experiments.predictions`, and
``unfinished``, the share of greedy translations that do not end; ``missed_left`` and ``missed_right``, the share of
links that lie left or right of the nearest gold one. And the details:

======================== ===========================================================================================
``config``               digest of the configuration
``learning_rate``        that of the tuning group
``losses_by_position``   for each number of clauses, the mean loss of five target positions after another
``correct``              which test sentences greedy translation gets right: four a hexadecimal digit, the first first
``seconds``              how long it took, by the clock
``environment``          the line of the table ``environments``
======================== ===========================================================================================
"""

from collections.abc import Sequence
from contextlib import suppress
from time import perf_counter

import numpy as np
import torch
from jaxtyping import Float
from tables import Run, environment

from attnbook.costs import count_macs, count_parameters
from attnbook.experiments.fitting import train_from_config
from attnbook.experiments.plan import ExperimentConfig
from attnbook.experiments.predictions import Predictions, compute_metrics, predict
from attnbook.language.sentences import max_output_length
from attnlib.data import SentencePair
from attnlib.metrics import token_nll
from attntext.loss import fused_backward

SOURCE = 20
"""The source length for which a step's multiply-adds are counted, in words, EOS among them."""

_POSITIONS = 5  # target positions that share a mean loss


def measure(config: ExperimentConfig, seed: int, device: str | torch.device = "cpu") -> Run:
    """Train a configuration with a seed, and measure it on the test sentences."""
    began, n = perf_counter(), config.num_test_sentences
    model, _ = train_from_config(config, seed, device=device, backward=fused_backward)
    pairs = config.test_sentences()
    predictions = predict(model, pairs, config.beam_size)
    lines = []
    for part, clauses in enumerate(config.test_clauses):
        of_length = predictions.select(range(part * n, part * n + n))
        key = {"model": config.name, "clauses": clauses, "seed": seed}
        lines.append(key | compute_metrics(of_length) | _more(of_length))
    correct = [words == pair.target for words, pair in zip(predictions.translations, pairs, strict=True)]
    details = {
        "model": config.name,
        "seed": seed,
        "config": config.digest,
        "learning_rate": config.learning_rate,
        "losses_by_position": _by_position(predictions.losses, n),
        "correct": np.packbits(correct).tobytes().hex(),
        "seconds": round(perf_counter() - began, 1),
        "environment": environment()["id"],
    }
    return Run({"": lines, "environments": [environment()]}, details)


def measure_rate(config: ExperimentConfig, seed: int, device: str | torch.device = "cpu") -> Run:
    """Train with a learning rate, and take the loss per word of dev sentences; none if training fails."""
    began, loss = perf_counter(), None
    with suppress(FloatingPointError):
        model, _ = train_from_config(config, seed, device=device, backward=fused_backward)
        pairs = [pair for c in config.clauses for pair in dev_sentences(config, c)]
        loss = round(float(np.concatenate(token_nll(model, pairs)).mean()), 5)
    line = {"tuning_group": config.tuning_group, "learning_rate": config.learning_rate, "seed": seed}
    line |= {"loss": loss, "seconds": round(perf_counter() - began, 1)}
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
    pace.
    """
    model = config.build_model(seed=0)
    config.training_sentences(seed=0)  # drawn before the clock runs, and kept for the training
    began = perf_counter()
    _, history = train_from_config(config, 0, steps=steps, backward=fused_backward)
    line = {
        "model": config.name,
        "parameters": count_parameters(model),
        "macs": count_macs(model, SOURCE, SOURCE - 1),
        "words_per_second": round(history.words_per_second),
        "seconds": round((perf_counter() - began) * config.max_steps / steps, 1),
    }
    return Run({"costs": [line | {"environment": environment()["id"]}], "environments": [environment()]})


def missed_sides(predictions: Predictions) -> tuple[float, float]:
    """Return the shares of links that lie left and right of the nearest gold link of their target word.

    Target words without a gold link do not count. A link halfway between two gold ones lies left of one.
    """
    sides = []
    for links, pair in zip(predictions.links, predictions.pairs, strict=True):
        for i, t in links:
            away = [i - gold for gold, other in pair.links if other == t]
            sides += [min(away, key=lambda d: (abs(d), d))] if away else []
    return round(float(np.less(sides, 0).mean()), 4), round(float(np.greater(sides, 0).mean()), 4)


def _more(predictions: Predictions) -> dict[str, float | None]:
    both = zip(predictions.translations, predictions.pairs, strict=True)
    unfinished = np.mean([len(words) >= max_output_length(pair.source) for words, pair in both])
    left, right = (None, None) if predictions.links is None else missed_sides(predictions)
    return {"unfinished": round(float(unfinished), 4), "missed_left": left, "missed_right": right}


def _by_position(losses: Sequence[Float[np.ndarray, "_"]], sentences: int) -> list[list[float]]:
    """Return the mean loss of the first words, of the next, ...: a list for each number of clauses."""
    means = []
    for part in (losses[n : n + sentences] for n in range(0, len(losses), sentences)):
        bins = np.concatenate([np.arange(len(row)) // _POSITIONS for row in part])
        totals = np.bincount(bins, weights=np.concatenate(part))
        means.append(np.round(totals / np.bincount(bins), 4).tolist())
    return means
