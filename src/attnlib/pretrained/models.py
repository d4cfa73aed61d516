"""Open the models that came with the package."""

from pathlib import Path

import torch

from attnlib.checks import check_choice
from attnlib.text.model import Model
from attnlib.text.model import load as load_folder

FOLDER = Path(__file__).parent
"""Where the model folders are."""


def names() -> list[str]:
    """List the models that came with the package."""
    return sorted(path.parent.name for path in FOLDER.glob("*/model.safetensors"))


def load(name: str) -> Model:
    """Open a model that came with the package, in float64 and with weights that stay as they are.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Model
        Its ``config["made"]`` says how it was trained: row, seed, steps, losses, revision, processor.

    Raises
    ------
    ValueError
        If there is no model of this name, or a file of it is damaged.
    """
    check_choice(names(), name=name)
    model = load_folder(FOLDER / name)
    model.translator.to(torch.float64).requires_grad_(False)
    return model
