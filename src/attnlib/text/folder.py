"""A model folder: everything that makes up a network, in files that contain no code.

===================== ==============================================================================================
``config.json``       how the model was made
``*.words``           a vocabulary, a word a line; or
``*.pieces``          a sentencepiece model: of ``source`` and ``target``, or of ``both``
``model.safetensors`` the weights; the model is complete when they are there
``history.jsonl``     how training went
``training.pt``       a training under way, which the same command goes on with
===================== ==============================================================================================
"""

import errno
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import torch
from filelock import FileLock, Timeout
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as bytes_of

from attnlib import processes
from attnlib.checks import check_choice
from attnlib.data import Tokenizer, Vocabulary
from attnlib.seq2seq import EncoderDecoder, luong, rnn_encdec, rnn_search
from attnlib.text.subwords import Subwords
from attnlib.training import DevScore, TrainingState, init_training
from attnlib.transformer import transformer
from attnlib.writing import add_path_to_errors, write_atomically

PRESETS: Mapping[str, Callable[..., EncoderDecoder]] = {
    "luong": luong,
    "rnn_search": rnn_search,
    "rnn_encdec": rnn_encdec,
    "transformer": transformer,
}
"""The models that a folder may hold, by name."""

CONFIG, WEIGHTS, HISTORY, TRAINING = "config.json", "model.safetensors", "history.jsonl", "training.pt"


def make(config: Mapping[str, Any], source_vocabulary: Tokenizer, target_vocabulary: Tokenizer) -> EncoderDecoder:
    """Make the network of a configuration, untrained: its settings' ``preset``, with their ``options``.

    Embeddings begin smaller than PyTorch's, by the settings' ``embedding_scale``: the vector of a rare word, which
    is hardly ever trained, then says little; if it were as long as all others, it would be noise. If all begin much
    smaller still, annotations begin so much alike that attention may settle on EOS, whatever it is asked, and stay
    there.
    """
    preset, options = config["settings"]["preset"], config["settings"]["options"]
    network = PRESETS[preset](source_vocabulary, target_vocabulary, **options)
    if preset != "transformer":  # whose embeddings are small from the first, and the output's weights too
        for part in (network.encoder, network.decoder):
            part.embedding.weight.data *= config["settings"]["embedding_scale"]
    return network


@contextmanager
def alone(folder: Path, log: Callable[[str], Any]) -> Iterator[None]:
    """Train into the folder while no other process does; refuse to if another one does, where that can be known.

    Where there are no locks, filelock raises an error or, in later versions, warns that a file will be the lock, which
    would outlive this process. Of the processes that train together the first has the lock.
    """
    if processes.rank():
        yield
        return
    path, new = folder / "training.lock", not folder.exists()
    with add_path_to_errors(folder, path), catch_warnings():
        simplefilter("error")
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, timeout=0)
        try:
            lock.acquire()
        except Timeout:
            other = "is being trained by another process; wait for its end, or give another --model"
            raise ValueError(f"{folder} {other}") from None
        except (NotImplementedError, UserWarning, OSError) as error:
            if getattr(error, "errno", errno.ENOSYS) not in (errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP):
                raise
            log(f"{folder} is on a file system without locks: let no second command train into it")
    try:
        yield
    finally:
        with suppress(PermissionError):  # on Windows, where the lock removes its file itself
            path.unlink(missing_ok=True)
        lock.release()
        if new and not any(folder.iterdir()):
            folder.rmdir()


def check_same(folder: Path, about: Mapping[str, Any]) -> bool:
    """Tell whether a training of this configuration was begun in the folder; refuse one of another."""
    if all(path.suffix in (".lock", ".words", ".pieces", ".new") for path in folder.iterdir()):  # what is there first
        return False
    kept, names = read_config(folder), {"pairs": "another text", "dev": "other dev sentences"}
    parts = [(kept.get(part, {}), about[part]) for part in ("settings", "text")]
    other = {key: (old.get(key), new[key]) for old, new in parts for key in new if old.get(key) != new[key]}
    if not other:
        return True
    what = "; ".join(names.get(key) or f"{key} {old}, not {new}" for key, (old, new) in other.items())
    length = not {"epochs", "steps", "minutes"}.isdisjoint(other)
    why = " A training cannot be made longer: its learning rate has fallen by its length." if length else ""
    raise ValueError(
        f"{folder} holds a model of another configuration: {what}.{why} Give its own configuration to go on with it, "
        "another --model, or remove it to begin anew"
    )


def is_complete(folder: Path) -> bool:
    """Tell whether a training has come to its end."""
    return (folder / WEIGHTS).exists() and not (folder / TRAINING).exists()


def begin_folder(folder: Path, config: Mapping[str, Any], source: Tokenizer, target: Tokenizer) -> None:
    """Write the vocabularies and, when they are there, the configuration."""
    sides = {"both": source} if source is target else {"source": source, "target": target}
    folder.mkdir(parents=True, exist_ok=True)
    for side, known in sides.items():
        if isinstance(known, Vocabulary):
            write_atomically(folder / f"{side}.words", "".join(f"{word}\n" for word in known.words).encode())
        else:
            write_atomically(folder / f"{side}.pieces", known.model)
    write_config(folder, config)


def complete_folder(folder: Path, network: EncoderDecoder, state: TrainingState, stop_reason: str) -> None:
    """Add the history, why training stopped and, last, the weights."""
    write_atomically(folder / HISTORY, _history(state, stop_reason))
    write_config(folder, read_config(folder) | {"ended": stop_reason})
    tensors = {name: x.contiguous().cpu() for name, x in network.state_dict().items()}
    write_atomically(folder / WEIGHTS, bytes_of(tensors))


def read_config(folder: Path) -> dict[str, Any]:
    """Read the configuration of a model folder. Errors as for `attnlib.text.model.load`."""
    if not (folder / CONFIG).is_file():
        raise ValueError(f"{folder} is no model folder: it has no {CONFIG}; give the folder of attnlib train --model")
    try:
        config = json.loads((folder / CONFIG).read_text("utf-8"))
        check_choice(PRESETS, preset=config["settings"]["preset"])
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{folder / CONFIG} is damaged, or not attnlib's; restore it or train anew") from None
    return config


def write_config(folder: Path, config: Mapping[str, Any]) -> None:
    """Write the configuration of a model folder."""
    write_atomically(folder / CONFIG, (json.dumps(config, indent=1) + "\n").encode())


def read_vocabularies(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """Read both vocabularies, which are one and the same if they are shared."""
    known = {path.stem: Vocabulary(tuple(path.read_text("utf-8").split("\n")[:-1])) for path in folder.glob("*.words")}
    known |= {path.stem: Subwords(path.read_bytes()) for path in folder.glob("*.pieces")}
    return known.get("both") or known["source"], known.get("both") or known["target"]


def read_model(folder: Path) -> EncoderDecoder:
    """Read the network of a model folder, with its configuration. Errors as for `attnlib.text.model.load`."""
    config = read_config(folder)
    if not (folder / WEIGHTS).exists():
        raise ValueError(
            f"{folder} is still being trained; the same command as before goes on with it, and Ctrl-C ends it early"
        )
    try:
        network = make(config, *read_vocabularies(folder))
        network.config = config
        network.load_state_dict(load_file(folder / WEIGHTS))
    except (SafetensorError, RuntimeError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{folder} is damaged; restore it or train anew: {error}") from None
    return network.eval()


def load_history(folder: str | Path) -> list[dict[str, Any]]:
    """Read how the training of a complete folder went.

    Returns
    -------
    list of dict
        One every hundred steps and for each score: ``step``; ``loss``, the mean since the one before; and, where there
        was a score, ``dev_loss`` and ``dev_bleu`` or ``dev_chrf``. The last says why the training ``ended``, ``words``
        and ``seconds``.
    """
    return [json.loads(line) for line in (Path(folder) / HISTORY).read_text("utf-8").splitlines()]


def write_training(folder: Path, state: TrainingState) -> None:
    """Save a training under way: weights, optimiser, torch's generator and what was counted."""
    parts = {name: x for name, x in vars(state).items() if name not in ("model", "optimizer")}
    parts |= {"weights": state.model.state_dict(), "adam": state.optimizer.state_dict()}
    parts |= {"random": torch.get_rng_state(), "dev_scores": [tuple(score) for score in state.dev_scores]}
    content = BytesIO()
    torch.save(parts, content)
    write_atomically(folder / TRAINING, content.getvalue())


def read_training(folder: Path, network: EncoderDecoder) -> TrainingState:
    """Load a training to continue: set the network's weights, and torch's generator as it was."""
    content = BytesIO((folder / TRAINING).read_bytes())
    try:
        parts = torch.load(content, map_location="cpu", weights_only=True)
    except Exception:  # of many kinds: what torch.load says of a torn file depends on where it was torn
        raise ValueError(f"{folder / TRAINING} is damaged; remove it to begin the training anew") from None
    network.load_state_dict(parts.pop("weights"))
    state = init_training(network)
    state.optimizer.load_state_dict(parts.pop("adam"))
    torch.set_rng_state(parts.pop("random"))
    vars(state).update(parts, dev_scores=[DevScore(*score) for score in parts["dev_scores"]])
    return state


def _history(state: TrainingState, stop_reason: str) -> bytes:
    """Write a line for every hundred steps and for each score, and one at the end."""
    scores, lines, before = {score.step: score for score in state.dev_scores}, [], 0
    for step in sorted({*range(100, state.step, 100), *scores, state.step}):
        line = {"step": step, "loss": float(np.mean(state.losses[before:step]))} if step else {"step": 0}
        if step in scores:
            line |= {"dev_loss": scores[step].loss, f"dev_{scores[step].metric.lower()}": scores[step].score}
        lines.append(line)
        before = step
    lines.append({"ended": stop_reason, "words": state.words, "seconds": round(state.seconds, 3)})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()
