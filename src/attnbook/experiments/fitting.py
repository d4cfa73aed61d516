"""Training from a configuration (chapter 4)."""

from typing import Any

import torch

from attnbook.experiments.plan import ExperimentConfig
from attnbook.experiments.runs import Recording
from attnbook.language.sentences import vocabularies
from attnlib.batching import infinite_batches
from attnlib.seq2seq import EncoderDecoder
from attnlib.training import History, train


def train_from_config(
    config: ExperimentConfig, seed: int, *, device: str | torch.device = "cpu", **options: Any
) -> tuple[EncoderDecoder, History]:
    """Train the model of a configuration.

    Parameters
    ----------
    config : ExperimentConfig
        The configuration.
    seed : int
        Seed of initial weights, training sentences and batches.
    device : str or torch.device, default "cpu"
        Device of the model.
    **options
        Further arguments of `attnlib.training.train`, such as ``backward``.
    """
    rate = config.learning_rate
    if rate is None:
        rate = Recording(config.plan).best_learning_rate(config.tuning_group)
    model, pairs = config.build_model(seed).to(device), config.training_sentences(seed)
    batches = infinite_batches(pairs, *vocabularies(), max_tokens=config.max_tokens, seed=seed)
    options = {"steps": config.max_steps, "learning_rate": rate} | options
    return model, train(model, batches, **options)
