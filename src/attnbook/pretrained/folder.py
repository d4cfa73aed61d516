"""A model folder, and how it is read (page "Your own text"): all files of a trained network, none of them code.

===================== ==============================================================================================
``config.json``       configuration of the model and of its training
``*.words``           a vocabulary of words, one a line; or
``*.pieces``          a sentencepiece model; the stem is ``source``, ``target``, or ``both`` for a shared vocabulary
``model.safetensors`` weights, written last: the model is complete when they exist
``history.jsonl``     history of the training
``training.pt``       state of an unfinished training, which the same command continues
===================== ==============================================================================================
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from attnlib.checks import is_out_of_memory
from attnlib.data import Tokenizer, Vocabulary
from attnlib.presets import luong, rnn_encdec, rnn_search
from attnlib.seq2seq import EncoderDecoder
from attnlib.transformer import transformer

PRESETS: Mapping[str, Callable[..., EncoderDecoder]] = {
    "luong": luong,
    "rnn_search": rnn_search,
    "rnn_encdec": rnn_encdec,
    "transformer": transformer,
}
"""Functions that build the networks of model folders, by name."""

VOCABULARIES = [
    [f"{side}.{kind}" for side in sides] for kind in ("words", "pieces") for sides in (("source", "target"), ("both",))
]
"""Files of vocabularies, one or two that belong together."""

CONFIG, WEIGHTS, HISTORY, TRAINING = "config.json", "model.safetensors", "history.jsonl", "training.pt"


def make(config: Mapping[str, Any], source_vocabulary: Tokenizer, target_vocabulary: Tokenizer) -> EncoderDecoder:
    """Build the untrained network of a configuration, the contents of ``config.json``.

    Notes
    -----
    Initial embeddings are scaled by ``embedding_scale``, except for a Transformer. At PyTorch's scale, the nearly
    untrained vectors of rare words act as noise. At a much smaller scale, all annotations begin nearly equal, and
    attention may settle on EOS for every query.
    """
    preset, options = config["settings"]["preset"], config["settings"]["options"]
    network = PRESETS[preset](source_vocabulary, target_vocabulary, **options)
    if preset != "transformer":  # whose embeddings are small from the first, and the output's weights too
        for part in (network.encoder, network.decoder):
            part.embedding.weight.data *= config["settings"]["embedding_scale"]
    return network


@contextmanager
def refuse_damage(path: Path, expected: str = "a whole file") -> Iterator[None]:
    """Raise a ValueError that names a file, or a model folder, if what is read from it in the block is damaged."""
    try:
        yield
    except Exception as error:
        if getattr(error, "filename", None) or is_out_of_memory(error):  # then the file is not to blame
            raise
        why = "it is cut or altered"
        if isinstance(error, KeyError | TypeError | ValueError):  # others are in the words of an inner library
            why = f"it has no {error}" if isinstance(error, KeyError) else " ".join(str(error).split())[:200]
        raise ValueError(f"{path} is damaged; expected {expected}: {why}") from None


def read_config(folder: Path) -> Any:
    """Read the configuration of a model folder, or what else another program wrote there.

    Raises
    ------
    OSError, ValueError
        If the folder is not a model folder, or its configuration is damaged.
    """
    if not (folder / CONFIG).is_file():
        why = "a folder without config.json" if folder.is_dir() else "a file" if folder.exists() else "not there"
        raise ValueError(f"{folder} is {why}; expected a model folder, as attnlib train writes it")
    with refuse_damage(folder / CONFIG):
        config = json.loads((folder / CONFIG).read_text("utf-8"))
    if not isinstance(config, dict):
        raise ValueError(f"{folder / CONFIG} holds {type(config).__name__}; expected the configuration of a model")
    return config


def read_vocabularies(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """Read the source and target vocabularies of a model folder."""
    for names in VOCABULARIES:
        paths = [folder / name for name in names]
        if all(path.is_file() for path in paths):
            vocabularies = [*map(_read_vocabulary, paths)]
            return vocabularies[0], vocabularies[-1]
    raise ValueError(f"{folder} lacks a vocabulary; expected one for each side, or one for both")


def _read_vocabulary(path: Path) -> Tokenizer:
    with refuse_damage(path):
        if path.suffix == ".words":
            lines = path.read_bytes().decode("utf-8-sig").split("\n")[:-1]
            return Vocabulary(tuple(line.removesuffix("\r") for line in lines))  # which other programs may have added
        from attnbook.pretrained.subwords import Subwords  # noqa: PLC0415, models of words need no sentencepiece

        return Subwords(path.read_bytes())


def load(folder: str | Path, device: str | torch.device = "cpu") -> EncoderDecoder:
    """Load a model that you trained, from the folder that ``attnlib train --model`` wrote.

    It has its vocabularies, is in evaluation mode, and has trainable weights in float32.

    Parameters
    ----------
    folder : path
        The model folder.
    device : str or torch.device, default "cpu"
        Device of the model: such as ``"cuda:1"``.

    Raises
    ------
    OSError, ValueError
        If the folder is not a model folder or is not complete, or a file in it is damaged.

    Examples
    --------
    >>> from attnlib import translate
    >>> from attnbook import load
    >>> from attnbook.pretrained import FOLDER
    >>> str(translate(load(FOLDER / "bahdanau"), "the cat sleeps"))
    'le chat dort'
    """
    folder = Path(folder)
    config = read_config(folder)
    if not (folder / WEIGHTS).exists():
        raise ValueError(f"{folder} is still being trained; expected a finished training: give its command again")
    vocabularies = read_vocabularies(folder)
    with refuse_damage(folder / CONFIG):
        network = make(config, *vocabularies)
    with refuse_damage(folder / WEIGHTS, "those of this model"):
        network.load_state_dict(load_file(folder / WEIGHTS))
    network.config = config
    return network.eval().to(device)


def load_history(folder: str | Path) -> list[dict[str, Any]]:
    """Load the training history of a complete model folder.

    It has an entry for every hundred steps and for each dev score: ``step``; ``loss``, the mean since the last entry;
    and, if there was a score, ``dev_loss`` and ``dev_bleu`` or ``dev_chrf``. The last entry holds ``ended``, the reason
    for the end of training, ``words`` and ``seconds``.
    """
    path = Path(folder) / HISTORY
    with refuse_damage(path):
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
