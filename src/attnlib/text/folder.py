"""A model folder: all files of a trained network. None of them contains code.

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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filelock import FileLock, Timeout
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as bytes_of

from attnlib import processes
from attnlib.data import Tokenizer, Vocabulary
from attnlib.seq2seq import EncoderDecoder, luong, rnn_encdec, rnn_search
from attnlib.text.subwords import Subwords
from attnlib.text.writing import atomic_open, write_atomically
from attnlib.training import TrainingState, init_training
from attnlib.transformer import transformer

PRESETS: Mapping[str, Callable[..., EncoderDecoder]] = {
    "luong": luong,
    "rnn_search": rnn_search,
    "rnn_encdec": rnn_encdec,
    "transformer": transformer,
}
"""Functions that build the networks of model folders, by name."""

CONFIG, WEIGHTS, HISTORY, TRAINING = "config.json", "model.safetensors", "history.jsonl", "training.pt"


def make(config: Mapping[str, Any], source_vocabulary: Tokenizer, target_vocabulary: Tokenizer) -> EncoderDecoder:
    """Build the network of a configuration, untrained.

    Parameters
    ----------
    config : mapping
        Contents of ``config.json``; its ``settings`` hold ``preset``, ``options`` and ``embedding_scale``.
    source_vocabulary, target_vocabulary : Vocabulary or Subwords
        The vocabularies.

    Returns
    -------
    EncoderDecoder
        The network, with its initial weights.

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
def alone(folder: Path) -> Iterator[None]:
    """Lock a folder for training during the enclosed block.

    Parameters
    ----------
    folder : Path
        The model folder. It is created if missing.

    Yields
    ------
    None
        While the folder is locked. Of several processes that train together, the first holds the lock.

    Raises
    ------
    ValueError
        If another process trains into the folder.
    """
    if processes.rank():
        yield
        return
    path = folder / "training.lock"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(path).acquire(timeout=0)
    except Timeout:
        raise ValueError(f"{folder} is being trained by another process; expected another --model") from None
    with lock:
        try:
            yield
        finally:
            with suppress(OSError):  # on Windows the lock removes its file itself; and a folder with a model stays
                path.unlink(missing_ok=True)
                folder.rmdir()


def check_same(folder: Path, about: Mapping[str, Any]) -> bool:
    """Check whether a folder holds a training of the same configuration and text.

    Parameters
    ----------
    folder : Path
        The model folder.
    about : mapping
        The ``settings`` and the ``text`` of the new training.

    Returns
    -------
    bool
        True if it holds such a training, finished or not; False if it holds none.

    Raises
    ------
    ValueError
        If it holds a training of another configuration or text.
    """
    if all(path.suffix in (".lock", ".words", ".pieces", ".new") for path in folder.iterdir()):  # what is there first
        return False
    old, new = (config.get("settings", {}) | config.get("text", {}) for config in (read_config(folder), about))
    names = {"pairs": "another text", "dev": "other dev sentences"}
    other = [names.get(key, f"{key} {old.get(key)}, not {new[key]}") for key in new if old.get(key) != new[key]]
    if other:
        raise ValueError(
            f"{folder} holds a model of another configuration: {'; '.join(other)}; expected its own configuration to "
            "go on with it, or another --model"
        )
    return True


def begin_folder(folder: Path, config: Mapping[str, Any], source: Tokenizer, target: Tokenizer) -> None:
    """Write the vocabularies and then the configuration of a new training.

    Parameters
    ----------
    folder : Path
        The model folder. It is created if missing.
    config : mapping
        Contents of ``config.json``.
    source, target : Vocabulary or Subwords
        The vocabularies; one file is written if they are the same object.
    """
    sides = {"both": source} if source is target else {"source": source, "target": target}
    folder.mkdir(parents=True, exist_ok=True)
    for side, known in sides.items():
        if isinstance(known, Vocabulary):
            write_atomically(folder / f"{side}.words", "".join(f"{word}\n" for word in known.words).encode())
        else:
            write_atomically(folder / f"{side}.pieces", known.model)
    write_config(folder, config)


def complete_folder(folder: Path, state: TrainingState, stop_reason: str) -> None:
    """Write the history, the stop reason and, last, the weights.

    Parameters
    ----------
    folder : Path
        The model folder.
    state : TrainingState
        State at the end of training, with the weights to write.
    stop_reason : str
        Reason for the end of training.
    """
    write_atomically(folder / HISTORY, _history(state, stop_reason))
    write_config(folder, read_config(folder) | {"ended": stop_reason})
    tensors = {name: x.contiguous().cpu() for name, x in state.model.state_dict().items()}
    write_atomically(folder / WEIGHTS, bytes_of(tensors))


def read_config(folder: Path) -> dict[str, Any]:
    """Read the configuration of a model folder.

    Returns
    -------
    dict
        Contents of ``config.json``.

    Raises
    ------
    OSError, ValueError
        If the folder is not a model folder, or its configuration is damaged.
    """
    if not (folder / CONFIG).is_file():
        raise ValueError(f"{folder} is a folder without {CONFIG}; expected a model folder, as attnlib train writes it")
    try:
        return json.loads((folder / CONFIG).read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{folder / CONFIG} is damaged; expected a whole file: {error}") from None


def write_config(folder: Path, config: Mapping[str, Any]) -> None:
    """Write the configuration of a model folder.

    Parameters
    ----------
    folder : Path
        The model folder.
    config : mapping
        Contents of ``config.json``.
    """
    write_atomically(folder / CONFIG, (json.dumps(config, indent=1) + "\n").encode())


def read_vocabularies(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """Read the source and target vocabularies of a model folder."""
    known = {path.stem: Vocabulary(tuple(path.read_text("utf-8").split("\n")[:-1])) for path in folder.glob("*.words")}
    known |= {path.stem: Subwords(path.read_bytes()) for path in folder.glob("*.pieces")}
    return known.get("both") or known["source"], known.get("both") or known["target"]


def read_model(folder: Path) -> EncoderDecoder:
    """Read the network of a model folder, in evaluation mode.

    Returns
    -------
    EncoderDecoder
        The network.

    Raises
    ------
    OSError, ValueError
        If the folder is not a model folder or is not complete, or a file in it is damaged.
    """
    config = read_config(folder)
    if not (folder / WEIGHTS).exists():
        raise ValueError(f"{folder} is still being trained; expected a finished training: give its command again")
    try:
        network = make(config, *read_vocabularies(folder))
        network.config = config
        network.load_state_dict(load_file(folder / WEIGHTS))
    except (SafetensorError, RuntimeError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{folder} is damaged; expected a whole model folder: {error}") from None
    return network.eval()


def load_history(folder: str | Path) -> list[dict[str, Any]]:
    """Load the training history of a complete model folder.

    Parameters
    ----------
    folder : path
        The model folder.

    Returns
    -------
    list of dict
        An entry for every hundred steps and for each dev score: ``step``; ``loss``, the mean since the last entry; and,
        if there was a score, ``dev_loss`` and ``dev_bleu`` or ``dev_chrf``. The last entry holds ``ended``, the reason
        for the end of training, ``words`` and ``seconds``.
    """
    return [json.loads(line) for line in (Path(folder) / HISTORY).read_text("utf-8").splitlines()]


def write_training(folder: Path, state: TrainingState) -> None:
    """Save an unfinished training.

    Parameters
    ----------
    folder : Path
        The model folder.
    state : TrainingState
        State of the training.
    """
    parts = {name: x for name, x in vars(state).items() if name not in ("model", "optimizer")}
    parts |= {"weights": state.model.state_dict(), "adam": state.optimizer.state_dict()}
    with atomic_open(folder / TRAINING) as file:
        torch.save(parts, file)


def read_training(folder: Path, network: EncoderDecoder) -> TrainingState:
    """Load an unfinished training.

    Parameters
    ----------
    folder : Path
        The model folder.
    network : EncoderDecoder
        The network, whose weights are overwritten.

    Returns
    -------
    TrainingState
        The state from which training continues.
    """
    parts = torch.load(folder / TRAINING, map_location="cpu", weights_only=True)
    network.load_state_dict(parts.pop("weights"))
    state = init_training(network)
    state.optimizer.load_state_dict(parts.pop("adam"))
    vars(state).update(parts)
    return state


def _history(state: TrainingState, stop_reason: str) -> bytes:
    """Return the history as lines of JSON, for `load_history`."""
    scores, lines, before = {score["step"]: score for score in state.dev_scores}, [], 0
    for step in sorted({*range(100, state.step, 100), *scores, state.step}):
        line = {"step": step, "loss": float(np.mean(state.losses[before:step]))} if step else {"step": 0}
        lines.append(line | scores.get(step, {}))
        before = step
    lines.append({"ended": stop_reason, "words": state.words, "seconds": round(state.seconds, 3)})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()
