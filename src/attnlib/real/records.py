"""The recorded runs: one JSON file for each, with nothing of the text in it."""

import json
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from attnlib.experiments.record import processor
from attnlib.writing import write_atomically

RESULTS = Path(__file__).parent / "results"
"""Where the recorded runs are."""

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
    return record


def write_run(record: dict[str, Any], folder: Path = RESULTS) -> None:
    """Write a run, each part on a line of its own; other records of the same run are replaced."""
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(part, ensure_ascii=False)}" for key, part in record.items())
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(run_file(record["row"], record["seed"], folder), f"{{\n{lines}\n}}\n".encode())


def environment(device: torch.device) -> dict[str, str]:
    """Describe where a run was made, and when."""
    packages = {package: metadata.version(package) for package in ("numpy", "torch", "sacrebleu", "sentencepiece")}
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else processor()
    today = datetime.now(UTC).date().isoformat()
    return {"date": today, "device": where, "threads": torch.get_num_threads(), "python": platform.python_version()} | (
        packages
    )
