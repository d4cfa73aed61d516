"""What the records of this folder need of the package: recipes, test sentences, captions, and a text.

The modules beside this one ask `attnlib` for models and metrics only.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attnlib.data import SentencePair, Vocabulary
from attnlib.experiments.captions import Caption, captions
from attnlib.experiments.evaluation import centres
from attnlib.experiments.measures import grouped, measure, measure_rate, trained
from attnlib.experiments.plan import Row, held_out, read_plan, vocabularies
from attnlib.experiments.sentences import read_data
from attnlib.pretrained import load
from attnlib.pretrained.recipes import RECIPES
from attnlib.text.training import train_model
from attnlib.translator import Translator

TABLES = Path(__file__).parents[1] / "src/attnlib/experiments/recorded"
"""Where the tables are that chapters read."""

METRICS = {
    "perplexity": "perplexity",
    "bleu": "bleu_greedy",
    "beam_bleu": "bleu_beam",
    "exact": "exact_match",
    "beam_exact": "exact_match_beam",
    "alignment_error": "alignment_error_rate",
    "unended": "unfinished",
}
"""What the tables call the measures of a run."""

TEST_SETS = {"within": "seen lengths", "beyond": "longer"}
"""What the tables call its groups of test sentences."""


def recipe_seed(name: str) -> int:
    """Return the seed of the model that came with the package."""
    return RECIPES[name].seed


def load_pretrained(name: str) -> Translator:
    """Load a model that came with the package, in float64."""
    return load(name).translator


def retrain(name: str, seed: int, folder: Path) -> Translator:
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
    recipe = RECIPES[name]._replace(seed=seed)
    row, path = recipe.read_row(), folder / f"{name}-{seed}.pt"
    if path.exists():
        translator = row.variant.translator(seed, row.budget)
        translator.load_state_dict(torch.load(path, weights_only=True))
    else:
        translator, _ = trained(row, seed, recipe.rate())
        save(translator, path)
    return translator.eval().to(torch.float64).requires_grad_(False)


def save(translator: Translator, path: Path) -> None:
    """Write a translator's weights; a file of this name is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    torch.save(translator.state_dict(), part)
    part.rename(path)


def held_out_sentences(clauses: int) -> list[SentencePair]:
    """Return the comparison's test sentences of so many clauses."""
    return held_out(clauses, read_plan("comparison").rows["bahdanau"].budget)


def load_captions(language: str) -> Sequence[Caption]:
    """Return our own captions in English and "german" or "french", with their gold links."""
    return captions(language)


def read_text(folder: Path, language: str) -> list[SentencePair]:
    """Return the training pairs of Multi30k in English and "german" or "french", from a folder that has its files."""
    return read_data(folder, language).train


def predicted_centers(translator: Translator, pairs: Sequence[SentencePair]) -> list[np.ndarray]:
    """Return the center p_t of a local model's window for each target word, in source positions."""
    return centres(translator, pairs)


def training_sentences(name: str, pairs: int, seed: int) -> list[SentencePair]:
    """Return as many sentence pairs as asked for, drawn as a pretrained model's recipe draws its own."""
    row = RECIPES[name].read_row()
    return row.variant.training_pairs(seed, replace(row.budget, pairs=pairs))


def chosen_rate(name: str) -> float:
    """Return the learning rate of a pretrained model's recipe."""
    return RECIPES[name].rate()


def build_vocabularies() -> tuple[Vocabulary, Vocabulary]:
    """Return the English and French vocabularies of the grammar's models."""
    return vocabularies()


def train_on_text(name: str, seed: int, data: Path, folder: Path) -> Translator:
    """Train a model of the plan `sentences`, or go on with a training that was interrupted.

    Parameters
    ----------
    name : str
        A row of the plan.
    seed : int
    data : Path
        The folder with the text.
    folder : Path
        Where the model is written.
    """
    row = read_plan("sentences").rows[name]
    text = read_data(data, row.language)
    return train_model(folder, text.train[: row.pairs], text.dev, row.settings(seed)).translator


def successor(model: Callable[..., Translator] | None = None) -> Row:
    """Return the row `transformer` of the plan `successors`, or the same with another model."""
    row = read_plan("successors").rows["transformer"]
    return row if model is None else row._replace(variant=replace(row.variant, model=model))


def dev_loss(row: Row, seed: int, learning_rate: float, share: float) -> float:
    """Train for a share of a row's steps and pairs; return the loss on the sentences that rates are chosen by."""
    shortened = row if share == 1 else row.longer(share, len(row.seeds))
    loss = measure_rate(shortened, seed, learning_rate, read_plan("successors").contents["learning_rates"]["clauses"])
    return float("inf") if loss["loss"] is None else loss["loss"]


def run_lines(row: Row, run: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Split what `measure` returns of a run into lines by test set and lines by number of clauses."""
    groups = grouped(row.variant, row.budget)
    sets, clauses = [], []
    for n, group in enumerate(groups):
        values = {new: run["measures"][old][n] for old, new in METRICS.items()}
        line = {"sentences": len(groups[group])} | {k: float("nan") if v is None else v for k, v in values.items()}
        if group in TEST_SETS:
            sets.append({"test_set": TEST_SETS[group], **line})
        elif group.split()[1].startswith("clause"):
            clauses.append({"clauses": int(group.split()[0]), **line})
    return sets, clauses


def train_and_measure(row: Row, seed: int, learning_rate: float) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Train a row with a seed and return its lines: see `run_lines`."""
    return run_lines(row, measure(row, seed, learning_rate))
