"""A model folder: everything that makes up a translator, in files that contain no code, with every byte checked.

===================== ==============================================================================================
``config.json``       how the model was made, and a digest of each other file and of itself
``model.safetensors`` the weights
``*.words``           a vocabulary, a word a line; or
``*.pieces``          a sentencepiece model: of ``source`` and ``target``, or of ``both``
``history.jsonl``     how training went
===================== ==============================================================================================

While a model is being trained, its folder has another name, and a `Training` beside these files; the folder gets its
own name, by one rename, when the model is complete.
"""

import errno
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import torch
from filelock import FileLock, Timeout
from safetensors import SafetensorError
from safetensors.torch import load as tensors_of
from safetensors.torch import save as bytes_of
from torch import Tensor

from attnlib.checks import check_choice
from attnlib.data import Vocabulary
from attnlib.progress import DevScore, Training
from attnlib.text.subwords import Subwords
from attnlib.training import begin
from attnlib.transformer import transformer
from attnlib.translator import Translator, luong, rnn_encdec, rnn_search
from attnlib.writing import errors_name, made_in_the_end, write_atomically

FORMAT = 1
"""The format number of a model folder; it changes when an older attnlib could not read the new format."""

PRESETS: Mapping[str, Callable[..., Translator]] = {
    "luong": luong,
    "rnn_search": rnn_search,
    "rnn_encdec": rnn_encdec,
    "transformer": transformer,
}
"""The models that a folder may hold, by name."""

TRAINING = "training.safetensors"
_CONFIG, _WEIGHTS, _HISTORY = "config.json", "model.safetensors", "history.jsonl"


def read_model(folder: Path) -> tuple[Translator, dict[str, Any]]:
    """Read the translator of a model folder, and its configuration. Errors as for `attnlib.text.model.load`."""
    if not folder.exists() and working(folder).exists():
        raise ValueError(
            f"{folder} is still being trained; the same command as before goes on with it, and Ctrl-C ends it early"
        )
    config = read_config(folder)
    translator = make(config, *read_vocabularies(folder, config))
    translator.load_state_dict(tensors_of(_read(folder, _WEIGHTS, config)))
    _read(folder, _HISTORY, config)
    return translator.eval(), config


def make(config: Mapping[str, Any], source_vocabulary: Any, target_vocabulary: Any) -> Translator:
    """Make the translator of a configuration, untrained: its settings' ``preset``, with their ``options``.

    Embeddings begin smaller than PyTorch's, by the settings' ``embedding_scale``: the vector of a rare word, which
    is hardly ever trained, then says little; if it were as long as all others, it would be noise. If all begin much
    smaller still, annotations begin so much alike that attention may settle on EOS, whatever it is asked, and stay
    there.
    """
    preset, options = config["settings"]["preset"], config["settings"]["options"]
    check_choice(PRESETS, preset=preset)
    translator = PRESETS[preset](source_vocabulary, target_vocabulary, **options)
    if preset != "transformer":  # whose embeddings are small from the first, and the output's weights too
        for part in (translator.encoder, translator.decoder):
            part.embedding.weight.data *= config["settings"]["embedding_scale"]
    return translator


def working(folder: Path) -> Path:
    """Name the folder of a model that is not yet complete."""
    return folder.with_name(folder.name + ".training")


@contextmanager
def only_one(folder: Path, say: Callable[[str], Any] = lambda line: None) -> Iterator[None]:
    """Train into the folder while no other process does; refuse to if another one does, where that can be known."""
    path = folder.with_name(f".{folder.name}.lock")
    lock = FileLock(path, timeout=0)
    with errors_name(folder, path):
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            _acquire(lock)
        except Timeout:
            raise ValueError(
                f"{folder} is being trained by another process; wait for its end, or give another --model"
            ) from None
        except (NotImplementedError, UserWarning):
            say(f"{folder.parent} is on a file system without locks: let no second command train into {folder}")
            path.unlink(missing_ok=True)
    try:
        yield
    finally:
        with suppress(PermissionError):  # on Windows, where the lock removes its file itself
            path.unlink(missing_ok=True)
        lock.release()


def _acquire(lock: FileLock) -> None:
    """Acquire a lock of the system's, which ends with this process. Where there is none, raise what filelock does.

    That is an error, or of later versions a warning that a file will be the lock, which would outlive this process.
    """
    with catch_warnings():
        simplefilter("error")
        try:
            lock.acquire()
        except OSError as error:
            if error.errno in (errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP):
                raise NotImplementedError from None
            raise


def begin_folder(folder: Path, config: Mapping[str, Any], source_vocabulary: Any, target_vocabulary: Any) -> None:
    """Make the `working` folder of a model: configuration and vocabularies, all there or nothing."""
    if folder.exists():
        folder.rmdir()
    both = source_vocabulary is target_vocabulary
    sides = {"both": source_vocabulary} if both else {"source": source_vocabulary, "target": target_vocabulary}
    with errors_name(folder, working(folder)), made_in_the_end(working(folder)) as new:
        for side, known in sides.items():
            if isinstance(known, Vocabulary):
                write_atomically(new / f"{side}.words", "".join(f"{word}\n" for word in known.words).encode())
            else:
                write_atomically(new / f"{side}.pieces", known.model)
        _write_config(new, config, *sorted(path.name for path in new.iterdir()))


def complete_folder(folder: Path, translator: Translator, training: Training, ended: str) -> None:
    """Add weights and history to the `working` folder, then give it the folder's own name."""
    config, beside = read_config(working(folder)), working(folder)
    write_atomically(beside / _WEIGHTS, bytes_of({name: x.contiguous() for name, x in translator.state_dict().items()}))
    write_atomically(beside / _HISTORY, _history(training, ended))
    _write_config(beside, config | {"ended": ended}, _WEIGHTS, _HISTORY)
    beside.rename(folder)


def read_history(folder: str | Path) -> list[dict[str, Any]]:
    """Read how the training of a complete folder went.

    Returns
    -------
    list of dict
        One every hundred steps and for each score: ``step``; ``loss``, the mean since the one before; and, where there
        was a score, ``dev_loss`` and ``dev_bleu`` or
        ``dev_chrf``. The last says why the training ``ended``, ``words`` and ``seconds``.
    """
    return [json.loads(line) for line in (Path(folder) / _HISTORY).read_text("utf-8").splitlines()]


def halve(folder: Path, more: Mapping[str, Any]) -> None:
    """Store the weights of a complete folder in float16, half the bytes, and add to its configuration."""
    translator, config = read_model(folder)
    write_atomically(folder / _WEIGHTS, bytes_of(translator.half().state_dict()))
    _write_config(folder, config | more)


def write_training(folder: Path, translator: Translator, training: Training) -> None:
    """Save a training in progress, all in one file: weights, optimiser, torch's generator and what was counted."""
    state = {"words": training.words, "seconds": training.seconds, "scores": training.scores}
    adam = training.optimizer.state_dict()["state"]
    parts = {
        "random": torch.get_rng_state(),
        "losses": torch.tensor(training.losses, dtype=torch.float64),
        "state": _as_tensor(json.dumps(state).encode()),
        **{f"weights.{name}": x for name, x in translator.state_dict().items()},
        **{f"best.{name}": x for name, x in (training.best or {}).items()},
        **{f"adam.{n}.{name}": x for n, moments in adam.items() for name, x in moments.items()},
    }
    tensors = {name: x.contiguous().cpu() for name, x in parts.items()}
    write_atomically(folder / TRAINING, bytes_of(tensors | {"digest": _digest(tensors)}))


def read_training(folder: Path, translator: Translator) -> tuple[Training, Tensor]:
    """Load a training to continue: set the translator's weights; return the rest and the state of torch's generator."""
    path = folder / TRAINING
    try:
        tensors = tensors_of(path.read_bytes())
        whole = torch.equal(tensors.pop("digest"), _digest(tensors))
    except (SafetensorError, KeyError):
        whole = False
    if not whole:
        raise ValueError(f"{path} is damaged; remove it to begin the training anew")
    translator.load_state_dict(_under("weights.", tensors))
    training, adam = begin(translator), defaultdict(dict)
    for name, x in _under("adam.", tensors).items():
        n, _, moment = name.partition(".")
        adam[int(n)][moment] = x
    training.optimizer.load_state_dict(training.optimizer.state_dict() | {"state": adam})
    state = json.loads(bytes(tensors["state"].numpy()))
    training.losses, training.best = tensors["losses"].tolist(), _under("best.", tensors) or None
    training.words, training.seconds = state["words"], state["seconds"]
    training.scores = [DevScore(*score) for score in state["scores"]]
    return training, tensors["random"]


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): x for name, x in tensors.items() if name.startswith(prefix)}


def read_config(folder: Path) -> dict[str, Any]:
    """Read the configuration of a model folder. Errors as for `attnlib.text.model.load`."""
    if not (folder / _CONFIG).is_file():
        raise ValueError(f"{folder} is no model folder: it has no {_CONFIG}; give the folder of attnlib train --model")
    try:
        config = json.loads((folder / _CONFIG).read_bytes())
        digest, version = config.pop("digest"), config["format"]
    except (ValueError, KeyError, AttributeError, TypeError):
        raise ValueError(f"{folder / _CONFIG} is damaged, or not attnlib's; restore it or train anew") from None
    if version != FORMAT:
        raise ValueError(f"{folder} has the format {version}; this attnlib reads {FORMAT}: use the one that wrote it")
    if digest != _digest_of_json(config):
        raise ValueError(f"{folder / _CONFIG} is damaged: its digest differs; restore it or train anew")
    return config


def read_vocabularies(folder: Path, config: Mapping[str, Any]) -> tuple[Any, Any]:
    """Read both vocabularies, which are one and the same if they are shared."""

    def one(name: str) -> Vocabulary | Subwords:
        if f"{name}.words" in config["digests"]:
            return Vocabulary(tuple(_read(folder, f"{name}.words", config).decode().split("\n")[:-1]))
        return Subwords(_read(folder, f"{name}.pieces", config))

    if not {"both.words", "both.pieces"}.isdisjoint(config["digests"]):
        both = one("both")
        return both, both
    return one("source"), one("target")


def _read(folder: Path, name: str, config: Mapping[str, Any]) -> bytes:
    if name not in config["digests"]:
        raise ValueError(f"{folder} is not complete: it has no {name}; run the command that trains it again")
    content = (folder / name).read_bytes()
    if sha256(content).hexdigest() != config["digests"][name]:
        raise ValueError(f"{folder / name} is damaged: its digest differs from {_CONFIG}'s; restore it or train anew")
    return content


def _write_config(folder: Path, config: Mapping[str, Any], *files: str) -> None:
    """Write a configuration with the digests of these files and of those that it has a digest of already."""
    names = dict.fromkeys([*config.get("digests", {}), *files])
    digests = {name: sha256((folder / name).read_bytes()).hexdigest() for name in names}
    whole = {"format": FORMAT, **config, "digests": digests}
    whole["digest"] = _digest_of_json(whole)
    write_atomically(folder / _CONFIG, (json.dumps(whole, indent=1) + "\n").encode())


def _history(training: Training, ended: str) -> bytes:
    """Write a line for every hundred steps and for each score, and one at the end."""
    scores, last = {score.step: score for score in training.scores}, len(training.losses)
    lines, before = [], 0
    for step in sorted({*range(100, last, 100), *scores, last}):
        line = {"step": step, "loss": float(np.mean(training.losses[before:step]))} if step else {"step": 0}
        if step in scores:
            line |= {"dev_loss": scores[step].loss, f"dev_{scores[step].metric.lower()}": scores[step].score}
        lines.append(line)
        before = step
    lines.append({"ended": ended, "words": training.words, "seconds": round(training.seconds, 3)})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _digest(tensors: Mapping[str, Tensor]) -> Tensor:
    total = sha256()
    for name, x in sorted(tensors.items()):
        total.update(f"{name} {x.dtype} {tuple(x.shape)}\n".encode())
        total.update(x.contiguous().view(-1).view(torch.uint8).numpy() if x.numel() else b"")
    return _as_tensor(total.digest())


def _digest_of_json(config: Mapping[str, Any]) -> str:
    """Sum up a configuration in 64 letters."""
    return sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()


def _as_tensor(content: bytes) -> Tensor:
    return torch.tensor(list(content), dtype=torch.uint8)
