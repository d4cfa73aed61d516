"""The recorded runs: one JSON file for each, with nothing of the text in it."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from attnlib.data import SentencePair
from attnlib.experiments import ledger
from attnlib.real.captions import captions
from attnlib.real.plan import ROWS
from attnlib.text.files import Words, digest, words_of
from attnlib.text.model import Translation
from attnlib.writing import write_atomically

RESULTS = Path(__file__).parent / "results"
"""Where the recorded runs are. Of translations and weights they keep what chapter 5 shows."""

_KEYS = {"row", "seed", "settings", "effort", "text", "environment", "training", "test", "captions"}


def run_file(row: str, seed: int, folder: Path = RESULTS) -> Path:
    """Name the file of a run."""
    return folder / f"{row}.{seed}.json"


def read_run(row: str, seed: int, folder: Path = RESULTS) -> dict[str, Any]:
    """Read what is recorded of a run.

    Parameters
    ----------
    row : str
        One of `attnlib.real.plan.ROWS`.
    seed : int
    folder : Path

    Returns
    -------
    dict
        ``row``, ``seed``; ``settings``, as `attnlib.text.settings.Settings`, ``effort`` and ``text``, digests, by which
        a run is known again; ``environment``: versions, date, and the processor or GPU; and what
        `attnlib.real.measures.train_and_measure` gives.

    Raises
    ------
    FileNotFoundError
        If it is not recorded.
    ValueError
        If the file is not whole, or of another run.
    """
    path = run_file(row, seed, folder)
    if not path.is_file():
        raise FileNotFoundError(f"row is {row!r} and seed {seed}: there is no {path.name}; `make real` records it")
    try:
        record = json.loads(path.read_text("utf-8"))
        whole = record.keys() == _KEYS and (record["row"], record["seed"]) == (row, seed)
    except (ValueError, RecursionError, AttributeError):
        whole = False
    if not whole:
        raise ValueError(f"{path.name} is damaged, or of another run; remove it, and `make real` records it again")
    record["settings"].pop("precision", None)  # which could be chosen when this was recorded, and was not
    return record


def write_run(record: dict[str, Any], folder: Path = RESULTS) -> None:
    """Write a run, each part on a line of its own; other records of the same run are replaced."""
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(part, ensure_ascii=False)}" for key, part in record.items())
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(run_file(record["row"], record["seed"], folder), f"{{\n{lines}\n}}\n".encode())


def write_counts(language: str, train: Sequence[SentencePair], folder: Path = RESULTS) -> None:
    """Write how often each word of our captions stands in the text that is learnt from, and a digest of that text."""
    ours, sides = [caption.pair for caption in captions(language)], ("english", language)
    counts = [
        _counted({word for pair in ours for word in pair[side]}, (pair[side] for pair in train)) for side in (0, 1)
    ]
    parts = {"text": digest(train)} | dict(zip(sides, counts, strict=True))
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(part, ensure_ascii=False)}" for key, part in parts.items())
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / f"{language}.words.json", f"{{\n{lines}\n}}\n".encode())


def word_counts(language: str, folder: Path = RESULTS) -> tuple[Counter[str], Counter[str]]:
    """Read how often the words of our captions occur in the text: the English ones, and those of the language.

    Parameters
    ----------
    language : str
        One of `attnlib.real.captions.LANGUAGES`.
    folder : Path

    Returns
    -------
    two Counters
        Words that the text does not have are counted 0.

    Raises
    ------
    FileNotFoundError
        If they were not recorded.
    """
    counts = json.loads((folder / f"{language}.words.json").read_text("utf-8"))
    return Counter(counts["english"]), Counter(counts[language])


def recorded(row: str, measure: str, part: str = "test", folder: Path = RESULTS) -> Float[np.ndarray, "seeds"]:
    """Take one measure, a number, of all seeds of a row.

    Parameters
    ----------
    row : str
        One of `attnlib.real.plan.ROWS`.
    measure, part : str
        As in `attnlib.real.measures`: the part is "training", "test" or "captions".
    folder : Path

    Returns
    -------
    ``"seeds"``
        NaN where the row has no such measure.

    Raises
    ------
    FileNotFoundError, ValueError
        As for `read_run`.
    KeyError
        If there is no such row, part or measure.
    """
    found = [read_run(row, seed, folder)[part][measure] for seed in ROWS[row].seeds]
    return np.array([np.nan if number is None else number for number in found], dtype=float)


def recorded_translations(row: str, folder: Path = RESULTS) -> list[Translation]:
    """Take the translations of our captions by the run with seed 0, with what their words looked at.

    Errors are as for `recorded`.
    """
    found = read_run(row, 0, folder)["captions"]
    ours = [caption.pair.source for caption in captions(ROWS[row].language)]
    weights = _weights(found, "weights", [len(words_of(said)) for said in found["translations"]], ours)
    sides = zip(ours, found["translations"], weights, found["probabilities"], strict=True)
    return [Translation(source, words_of(said), looked, exp(log_p)) for source, said, looked, log_p in sides]


def forced_weights(row: str, folder: Path = RESULTS) -> list[Float[np.ndarray, "tgt src"] | None]:
    """Take what the words of our own translations looked at, when the run with seed 0 was given them.

    Errors are as for `recorded`. None: the row has no attention.
    """
    found, ours = read_run(row, 0, folder)["captions"], captions(ROWS[row].language)
    return _weights(found, "forced", [len(c.pair.target) for c in ours], [c.pair.source for c in ours])


def _weights(
    found: dict[str, Any], name: str, lengths: Sequence[int], sources: Sequence[Words]
) -> list[Float[np.ndarray, "tgt src"] | None]:
    if name not in found:
        return [None] * len(sources)
    shapes = zip(found[name], lengths, sources, strict=True)
    return [np.array(cells, dtype=float).reshape(tgt, len(source)) / 100 for cells, tgt, source in shapes]


def _counted(words: Iterable[str], sentences: Iterable[Words]) -> dict[str, int]:
    found = Counter(word for sentence in sentences for word in sentence)
    return {word: found[word] for word in sorted(words)}


def environment(device: torch.device) -> dict[str, str | int]:
    """Describe where a run was made, and when: `attnlib.experiments.ledger.environment`, and what ran it."""
    gpu = {"gpu": torch.cuda.get_device_name(device)} if device.type == "cuda" else {}
    return ledger.environment() | gpu | {"threads": torch.get_num_threads(), "sentencepiece": version("sentencepiece")}
