"""What the records of this folder need of the package: recipes, test sentences, captions, and a text.

The modules beside this one ask `attnlib` for models and metrics only.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from attnlib.data import SentencePair, Vocabulary
from attnlib.experiments.captions import Caption, captions
from attnlib.experiments.evaluation import centres
from attnlib.experiments.measures import trained
from attnlib.experiments.plan import held_out, read_plan, vocabularies
from attnlib.experiments.sentences import read_data
from attnlib.pretrained import load
from attnlib.pretrained.recipes import RECIPES
from attnlib.translator import Translator

TABLES = Path(__file__).parents[1] / "src/attnlib/experiments/recorded"
"""Where the tables are that chapters read."""


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


def test_sentences(clauses: int) -> list[SentencePair]:
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
