"""The models that came with the package, of which the chapters and the first page speak."""

from pathlib import Path

import torch

from attnbook.pretrained.folder import load
from attnlib.checks import check_choice
from attnlib.seq2seq import EncoderDecoder

FOLDER = Path(__file__).parent
"""Where the model folders are."""


def names() -> list[str]:
    """Return the names of the models that come with the package."""
    return sorted(path.parent.name for path in FOLDER.glob("*/model.safetensors"))


def load_pretrained(name: str) -> EncoderDecoder:
    """Load one of the models that come with the package, by its name, in float64 and with frozen weights.

    Parameters
    ----------
    name : str
        One of ``attnbook.pretrained.models.names()``, the list of all models that come with the package.

    Returns
    -------
    EncoderDecoder
        The model, in evaluation mode. To train it further, call its ``float()`` and ``requires_grad_()``. Its
        ``config["training_info"]`` holds the plan and row, the seed, the steps, a digest of the code, and the
        processor of its training. `attnlib.translation.translate` translates with it.

    Examples
    --------
    >>> from attnbook import load_pretrained
    >>> model = load_pretrained("bahdanau")
    >>> sum(weight.numel() for weight in model.parameters())
    284928
    """
    check_choice(names(), name=name)
    return load(FOLDER / name).to(torch.float64).requires_grad_(False)
