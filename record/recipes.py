"""How each pretrained model was trained.

`RECIPES`: a model of a plan, a seed of its own, and after how many steps it was stopped. `TEXTS`: sentences, learned
from as ``attnlib train`` learns from a user's own. ``make pretrained`` trains the models that are missing, one to
four minutes each.
"""

import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from sys import argv
from typing import Any, NamedTuple

import torch
from safetensors.torch import save
from tables import environment

from attnbook.experiments.fitting import train_from_config
from attnbook.experiments.plan import ExperimentConfig
from attnbook.experiments.runs import Recording
from attnbook.language.sentences import sample
from attnbook.pretrained import FOLDER
from attnlib.data import SentencePair
from attnlib.training import TrainingState, init_training
from attntext.atomic_files import write_atomically
from attntext.files import pairs_digest
from attntext.loss import fused_backward
from attntext.saving import TextTraining, begin_folder, complete_folder, write_config
from attntext.settings import TrainingConfig
from attntext.trainer import train_model


class Recipe(NamedTuple):
    """A model of a plan, trained with a seed that none of its recorded runs has, and stopped after so many steps."""

    plan: str
    row: str
    seed: int
    steps: int

    def experiment(self) -> ExperimentConfig:
        """Return the configuration of its plan, with the chosen learning rate."""
        recording = Recording(self.plan)
        config = recording.plan.configs[self.row]
        return config.replace(learning_rate=recording.best_learning_rate(config.tuning_group))

    def config(self) -> dict[str, Any]:
        """Return the data of ``config.json``, without losses and environment."""
        config = self.experiment()
        options = {**config.options, **config.sizes, "seed": self.seed}
        settings = {"preset": config.model, "options": options, "embedding_scale": 1.0}
        return {"settings": settings, "training_info": {**self._asdict(), "learning_rate": config.learning_rate}}


class TextRecipe(NamedTuple):
    """Sentences of the grammar, learned from with these settings; those of `dev` choose the weights that are kept."""

    pairs: int
    dev: int
    clauses: int
    seed: int
    settings: TrainingConfig

    def text(self) -> tuple[list[SentencePair], list[SentencePair]]:
        """Draw what is learned from, and what chooses."""
        how = {"seed": self.seed, "clauses": (self.clauses,)}
        return sample(self.pairs, **how, part="train"), sample(self.dev, **how, part="test")

    def config(self) -> dict[str, Any]:
        """Return the data of ``config.json``, without the environment."""
        made = self._asdict()
        settings, (train, dev) = asdict(made.pop("settings")), self.text()
        return {
            "settings": settings,
            "text": {"pairs": pairs_digest(train), "dev": pairs_digest(dev)},
            "training_info": made,
        }


_ROWS = "no-attention", "bahdanau", "global", "location", "local-m", "local-p", "forwards", "transformer"
RECIPES: Mapping[str, Recipe] = {
    **{f"bahdanau-after-{steps}": Recipe("world", "bahdanau", 0, steps) for steps in (0, 200, 300)},
    **{row: Recipe("world", row, 0, 3000) for row in _ROWS},
}
"""Those that are models of a plan, by name."""

_SMALL = {"encoder": "bidirectional", "embedding_dim": 64, "hidden_size": 96, "dropout": 0.1, "seed": 0}
TEXTS: Mapping[str, TextRecipe] = {
    "enfr-subwords": TextRecipe(
        3_000, 60, 1, 5, TrainingConfig(options=_SMALL, vocab_size=150, epochs=20, learning_rate=5e-3)
    ),
}
"""Those that learned from a text, by name."""


def make(folder: Path) -> None:
    """Train the models that are not in the folder yet.

    To train a model again, remove its folder. After an interruption, the same call repeats the training that was cut
    short from its beginning, or, of a text, continues it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for recipes, train in ((RECIPES, _train), (TEXTS, _learn)):
        for name, recipe in recipes.items():
            if not (folder / name).exists():
                print(f"training {name}", flush=True)
                whole = folder / f"{name}.whole"
                train(whole, recipe)
                whole.rename(folder / name)


def _train(folder: Path, recipe: Recipe) -> None:
    """Write a model folder, its weights in float16."""
    shutil.rmtree(folder, ignore_errors=True)
    experiment, config = recipe.experiment(), recipe.config()
    training: TrainingState = init_training(experiment.build_model(recipe.seed))

    def stop(state: TrainingState) -> None:
        nonlocal training
        training, state.should_stop = state, state.step == recipe.steps

    if recipe.steps:
        train_from_config(experiment, recipe.seed, backward=fused_backward, on_step=stop)
    config["training_info"] |= environment()
    begin_folder(folder, config, training.model.source_vocabulary, training.model.target_vocabulary)
    training.model.half()
    complete_folder(folder, TextTraining(**vars(training)), "steps")


def _learn(folder: Path, recipe: TextRecipe) -> None:
    model, config = train_model(folder, *recipe.text(), recipe.settings, progress=False), recipe.config()
    write_atomically(folder / "model.safetensors", save(model.half().state_dict()))
    write_config(folder, {**model.config, **config, "training_info": config["training_info"] | environment()})


if __name__ == "__main__":
    torch.set_num_threads(1)
    make(Path(argv[1]) if argv[1:] else FOLDER)
