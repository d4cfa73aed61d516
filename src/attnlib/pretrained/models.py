"""Open the models that came with the package."""

from pathlib import Path

import torch

from attnlib.checks import check_choice
from attnlib.seq2seq import EncoderDecoder
from attnlib.text.folder import read_model

FOLDER = Path(__file__).parent
"""Where the model folders are."""


def names() -> list[str]:
    """List the models that came with the package."""
    return sorted(path.parent.name for path in FOLDER.glob("*/model.safetensors"))


def load_pretrained(name: str) -> EncoderDecoder:
    """Open a model that came with the package, in float64 and with weights that stay as they are.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    TranslationModel
        Its ``config["training_info"]`` says how it was trained: row, seed, steps, losses, revision, processor.

    Raises
    ------
    ValueError
        If there is no model of this name, or a file of it is damaged.
    """
    check_choice(names(), name=name)
    return read_model(FOLDER / name).to(torch.float64).requires_grad_(False)
