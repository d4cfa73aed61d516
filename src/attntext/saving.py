"""How `attntext.trainer` writes and locks a model folder."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filelock import FileLock, Timeout
from safetensors.torch import save as bytes_of
from torch import Tensor

from attnbook.pretrained.folder import CONFIG, HISTORY, TRAINING, VOCABULARIES, WEIGHTS, read_config, refuse_damage
from attnlib.data import Tokenizer, Vocabulary
from attnlib.seq2seq import EncoderDecoder
from attnlib.training import TrainingState, init_training
from attntext import processes
from attntext.atomic_files import UNFINISHED, atomic_open, write_atomically
from attntext.settings import TrainingConfig


@dataclass
class TextTraining(TrainingState):
    """State of a training on a text.

    Attributes
    ----------
    dev_scores : list of dict
        Evaluations on the development set, as lines of a history: ``step``, the number of training steps before it;
        ``dev_loss``, in nats per word; and ``dev_bleu`` or ``dev_chrf``, 0 to 100.
    best : state dict, optional
        The weights with the best score.
    overhead : float
        The part of `seconds` that was no training step, but reading, dev scores, and saves.
    """

    dev_scores: list[dict[str, float]] = field(default_factory=list)
    best: dict[str, Tensor] | None = None
    overhead: float = 0.0

    @classmethod
    def of(cls, model: EncoderDecoder) -> "TextTraining":
        """Return the initial state of a training."""
        return cls(**vars(init_training(model)))

    @property
    def words_per_second(self) -> float:
        """The number of target words per second of training steps."""
        return self.words / (self.seconds - self.overhead or 1.0)

    def spend(self, seconds: float) -> None:
        """Count seconds that were no training step: the time limit holds for all of the training."""
        self.seconds += seconds
        self.overhead += seconds


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Lock a folder for training during the enclosed block; the folder is created if missing.

    Of several processes that train together, the first holds the lock.

    Raises
    ------
    ValueError
        If another process trains into the folder.
    """
    if processes.rank():
        yield
        return
    if folder.is_file():
        raise ValueError(f"{folder} is a file; expected the name of a folder")
    path = folder / "training.lock"
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(path).acquire(timeout=0)
    except Timeout:
        raise ValueError(f"{folder} is being trained by another process; expected another --model") from None
    with lock:
        for left in folder.glob(f".*{UNFINISHED}"):  # by a training that was killed
            left.unlink()
        try:
            yield
        finally:
            with suppress(OSError):  # on Windows the lock removes its file itself; and a folder with a model stays
                path.unlink(missing_ok=True)
                for each in made:
                    each.rmdir()


def check_same(folder: Path, about: Mapping[str, Any]) -> bool:
    """Return whether a folder holds a training, finished or not, of the same ``settings`` and ``text``.

    Other files in it do not matter. False if it holds none, or one that has just begun.

    Raises
    ------
    ValueError
        If it holds a training of another configuration or text, or a file that would be overwritten.
    """
    ours = (CONFIG, WEIGHTS, HISTORY, TRAINING, *chain(*VOCABULARIES))
    written = {name for name in ours if (folder / name).exists()}
    config = read_config(folder) if CONFIG in written else {}
    if "settings" not in config:
        if written:
            raise ValueError(f"{folder} holds another {min(written)}; expected a folder without it, or another --model")
        return False
    new = about["settings"] | about["text"]
    with refuse_damage(folder / CONFIG):  # a setting that is newer than the folder is at its default there
        old = vars(TrainingConfig()) | config["settings"] | config.get("text", {})
    names = {"pairs": "another text", "dev": "other dev sentences", "from": "another model to train further"}
    other = [names.get(key, f"{key} {old.get(key)}, not {new[key]}") for key in new if old.get(key) != new[key]]
    if other:
        raise ValueError(
            f"{folder} holds a model of another configuration: {'; '.join(other)}; expected its own configuration to "
            f"go on with it, or another --model, and --from {folder} to train this one further"
        )
    return any({*names} <= written for names in VOCABULARIES)  # which are written after the configuration


def begin_folder(folder: Path, config: Mapping[str, Any], source: Tokenizer, target: Tokenizer) -> None:
    """Write the configuration and then the vocabularies of a new training.

    One file of vocabulary is written if both are the same object.
    """
    sides: dict[str, Any] = {"both": source} if source is target else {"source": source, "target": target}
    folder.mkdir(parents=True, exist_ok=True)
    write_config(folder, config)
    for side, vocabulary in sides.items():
        if isinstance(vocabulary, Vocabulary):
            write_atomically(folder / f"{side}.words", "".join(f"{word}\n" for word in vocabulary.words).encode())
        else:
            write_atomically(folder / f"{side}.pieces", vocabulary.model)


def complete_folder(folder: Path, state: TextTraining, stop_reason: str) -> None:
    """Write the history, the stop reason and, last, the weights."""
    write_atomically(folder / HISTORY, _history(state, stop_reason))
    write_config(folder, read_config(folder) | {"ended": stop_reason})
    tensors = {name: x.contiguous().cpu() for name, x in state.model.state_dict().items()}
    write_atomically(folder / WEIGHTS, bytes_of(tensors))


def write_config(folder: Path, config: Mapping[str, Any]) -> None:
    """Write the configuration of a model folder."""
    text = json.dumps(config, indent=1, default=lambda number: number.item())  # one of NumPy or torch
    write_atomically(folder / CONFIG, f"{text}\n".encode())


def write_training(folder: Path, state: TextTraining) -> None:
    """Save an unfinished training."""
    parts = {name: x for name, x in vars(state).items() if name not in ("model", "optimizer")}
    parts |= {"weights": state.model.state_dict(), "adam": state.optimizer.state_dict()}
    with atomic_open(folder / TRAINING) as file:
        try:
            torch.save(parts, file)
        except RuntimeError as error:  # torch says that it has lost its place in the file, and not why
            raise (error.__context__ if isinstance(error.__context__, OSError) else error) from None


def read_training(folder: Path, network: EncoderDecoder) -> TextTraining:
    """Load an unfinished training; the weights of the network are overwritten."""
    with refuse_damage(folder / TRAINING, "a whole file, or another --model"):
        parts = torch.load(folder / TRAINING, map_location="cpu", weights_only=True)
        network.load_state_dict(parts.pop("weights"))
        state = TextTraining.of(network)
        state.optimizer.load_state_dict(parts.pop("adam"))
        vars(state).update(parts)
    return state


def _history(state: TextTraining, stop_reason: str) -> bytes:
    """Return the history as lines of JSON, for `attnbook.pretrained.folder.load_history`."""
    scores, lines, before = {score["step"]: score for score in state.dev_scores}, [], 0
    for step in sorted({*range(100, state.step, 100), *scores, state.step}):
        line = {"step": step, "loss": float(np.mean(state.losses[before:step]))} if step else {"step": 0}
        lines.append(line | scores.get(step, {}))
        before = step
    lines.append({"ended": stop_reason, "words": state.words, "seconds": round(state.seconds, 3)})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()
