"""What the records of this folder need of the package: recipes, test sentences, captions, and a text.

The modules beside this one ask `attnlib` for models and metrics only.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measures import measure, measure_rate
from recipes import RECIPES
from sentences import read_data, settings_of

from attnlib import pretrained
from attnlib.data import SentencePair, Vocabulary
from attnlib.experiments import captions, plan
from attnlib.experiments.captions import Caption
from attnlib.experiments.evaluation import window_centers
from attnlib.experiments.plan import ExperimentConfig, read_plan
from attnlib.experiments.runs import RECORDED
from attnlib.experiments.training import train_from_config
from attnlib.seq2seq import EncoderDecoder
from attnlib.text.training import train_model

TABLES = RECORDED
"""Where the tables are that chapters read."""

METRICS = (
    *("perplexity", "bleu_greedy", "bleu_beam", "exact_match", "exact_match_beam"),
    *("alignment_error_rate", "unfinished"),
)
"""The metrics of a run that the tables have."""


def recipe_seed(name: str) -> int:
    """Return the seed of the model that came with the package."""
    return RECIPES[name].seed


def load_pretrained(name: str) -> EncoderDecoder:
    """Load a model that came with the package, in float64."""
    return pretrained.load_pretrained(name)


def retrain(name: str, seed: int, folder: Path) -> EncoderDecoder:
    """Train a model by its recipe but for the seed, or load it if `folder` holds its weights; in float64.

    Parameters
    ----------
    name : str
        A model that came with the package.
    seed : int
        Decides the initial weights, the training sentences, and their order.
    folder : Path
        Where trained weights are kept, a file for each name and seed.
    """
    config, path = RECIPES[name].experiment(), folder / f"{name}-{seed}.pt"
    if path.exists():
        translator = config.build_model(seed)
        translator.load_state_dict(torch.load(path, weights_only=True))
    else:
        translator, _ = train_from_config(config, seed)
        save(translator, path)
    return translator.eval().to(torch.float64).requires_grad_(False)


def save(translator: EncoderDecoder, path: Path) -> None:
    """Write a translator's weights; a file of this name is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    torch.save(translator.state_dict(), part)
    part.rename(path)


def held_out_sentences(clauses: int) -> list[SentencePair]:
    """Return the comparison's test sentences of so many clauses."""
    return read_plan("comparison").configs["bahdanau"].test_sentences(clauses)


def load_captions(language: str) -> Sequence[Caption]:
    """Return our own captions in English and "german" or "french", with their gold links."""
    return captions.load_captions(language)


def read_text(folder: Path, language: str) -> list[SentencePair]:
    """Return the training pairs of Multi30k in English and "german" or "french", from a folder that has its files."""
    return read_data(folder, language).train


def predicted_centers(translator: EncoderDecoder, pairs: Sequence[SentencePair]) -> list[np.ndarray]:
    """Return the center p_t of a local model's window for each target word, in source positions."""
    return window_centers(translator, pairs)


def training_sentences(name: str, pairs: int, seed: int) -> list[SentencePair]:
    """Return as many sentence pairs as asked for, drawn as a pretrained model's recipe draws its own."""
    return RECIPES[name].experiment().replace(num_pairs=pairs).training_sentences(seed)


def chosen_rate(name: str) -> float:
    """Return the learning rate of a pretrained model's recipe."""
    return RECIPES[name].experiment().learning_rate


def build_vocabularies() -> tuple[Vocabulary, Vocabulary]:
    """Return the English and French vocabularies of the grammar's models."""
    return plan.build_vocabularies()


def train_on_text(name: str, seed: int, data: Path, folder: Path) -> EncoderDecoder:
    """Train a model of the plan `sentences`, or go on with a training that was interrupted.

    Parameters
    ----------
    name : str
        A model of the plan.
    seed : int
    data : Path
        The folder with the text.
    folder : Path
        Where the model is written.
    """
    config = read_plan("sentences").configs[name]
    text = read_data(data, config.language)
    return train_model(folder, text.train[: config.num_pairs], text.dev, settings_of(config, seed)).network


def successor(model: Callable[..., EncoderDecoder] | None = None) -> ExperimentConfig:
    """Return the configuration `transformer` of the plan `successors`, or the same with another model."""
    config = read_plan("successors").configs["transformer"]
    return config if model is None else config.replace(model=model)


def dev_loss(config: ExperimentConfig, seed: int, learning_rate: float, share: float) -> float:
    """Train for a share of the steps and pairs; return the loss on the sentences that rates are chosen by."""
    successors = read_plan("successors")
    shortened = config if share == 1 else config.longer(share, len(config.seeds))
    clauses = successors.contents["learning_rates"]["clauses"]
    run = measure_rate(successors, config.tuning_group, shortened.replace(learning_rate=learning_rate), seed, clauses)
    (line,) = run.tables["learning_rates"]
    return float("inf") if line["loss"] is None else line["loss"]


def train_and_measure(
    config: ExperimentConfig, seed: int, learning_rate: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Train a configuration with a seed; return lines by test set and lines by number of clauses."""
    run = measure(read_plan("successors"), config.replace(learning_rate=learning_rate), seed)
    sets, clauses = (
        [{name: line[name] for name in (by, "sentences", *METRICS)} for line in run.tables[table]]
        for by, table in (("test_set", ""), ("clauses", "clauses"))
    )
    return sets, clauses
