"""A text in numbers, on disk: encoded once, then mapped into memory, so that a text of any length takes little of it.

The store of a training is the folder ``text`` inside the model's. It is there until the model is complete, and whole:
it is written under another name and gets its own by one rename.

=============== ====================================================================================================
``ids``         of each pair the source, then the target, both with EOS
``starts``      where in ``ids`` each pair begins
``lengths``     how many of them its source and its target have
``about.json``  the types of these arrays, what was left out, and how much is unknown
=============== ====================================================================================================
"""

import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attnlib.data import UNKNOWN, Corpus, SentencePair, Tokenizer
from attnlib.text.files import hashed
from attnlib.writing import made_in_the_end, write_atomically, written_in_the_end

_ABOUT, _NAME = "about.json", "text"
_AT_ONCE = 10_000  # pairs in memory, about ten megabytes


class Store(NamedTuple):
    """An encoded text and what there is to say of it.

    Attributes
    ----------
    encoded : Corpus
        Mapped from files: the parts in memory are given up when the system needs the room.
    left_out : int
        How many pairs were too long.
    unknown : tuple of float
        The share of the words of the sources, and of the targets, that became UNKNOWN.
    """

    encoded: Corpus
    left_out: int
    unknown: tuple[float, float]


def open_store(
    parent: Path,
    pairs: Iterable[SentencePair],
    text: str,
    vocabularies: tuple[Tokenizer, Tokenizer],
    longest: tuple[int, int],
) -> Store:
    """Open the store in a folder, and write it first, whole or not at all, if there is none.

    Parameters
    ----------
    parent : Path
        The folder of a training, which has always the same text, vocabularies and lengths.
    pairs : iterable of SentencePair
        Gone through once, and only if the store has to be written.
    text : str
        What `attnlib.text.files.digest` makes of them.
    vocabularies, longest : source and target
        Pairs with a side of more numbers than the longest may have, EOS apart, are left out.
    """
    folder = parent / _NAME
    if not folder.exists():
        with made_in_the_end(folder) as beside:
            total = sha256()
            about = _encode(beside, hashed(pairs, total), vocabularies, longest)
            if total.hexdigest() != text:
                raise ValueError("the text changed while it was read; the same command again reads it anew")
            write_atomically(beside / _ABOUT, json.dumps(about).encode())
    about = json.loads((folder / _ABOUT).read_bytes())
    ids, starts, lengths = (
        np.asarray(np.memmap(folder / name, dtype, mode="r")) for name, dtype in about["types"].items()
    )
    return Store(Corpus(ids, starts, lengths.reshape(-1, 2)), about["left_out"], tuple(about["unknown"]))


def remove_stores(parent: Path) -> None:
    """Remove the store in a folder, also what is left of one that was not finished, or of an earlier attnlib's."""
    for folder in (*filter(_is_store, parent.glob(f"{_NAME}*")), *parent.glob(f".{_NAME}*.new")):
        shutil.rmtree(folder, ignore_errors=True)


def _is_store(folder: Path) -> bool:
    """Look whether a folder holds nothing but a store's files, or what is left of them."""
    return folder.is_dir() and {path.name for path in folder.iterdir()} <= {"ids", "starts", "lengths", _ABOUT}


def _encode(
    folder: Path,
    pairs: Iterator[SentencePair],
    vocabularies: tuple[Tokenizer, Tokenizer],
    longest: tuple[int, int],
) -> dict[str, Any]:
    """Write the arrays part by part, and say what is to be known of them."""
    types = {"ids": _narrow(max(map(len, vocabularies)) - 1), "starts": "int64", "lengths": _narrow(max(longest) + 1)}
    left_out, written, numbers, unknown = 0, 0, np.zeros(2, np.int64), np.zeros(2, np.int64)
    with ExitStack() as closed:
        files = {name: closed.enter_context(written_in_the_end(folder / name)) for name in types}
        while part := list(islice(pairs, _AT_ONCE)):
            encoded = Corpus.of(part, *vocabularies)
            ids, lengths = encoded.ids, encoded.lengths
            numbers += lengths.sum(0) - len(part)
            unknown += np.bincount(_sides(lengths)[ids == UNKNOWN], minlength=2)
            fit = (lengths - 1 <= longest).all(1)
            ids, lengths = ids[np.repeat(fit, lengths.sum(1))], lengths[fit]
            starts = written + lengths.sum(1).cumsum() - lengths.sum(1)
            for name, x in (("ids", ids), ("starts", starts), ("lengths", lengths)):
                files[name].write(x.astype(types[name]).tobytes())
            left_out += len(part) - len(lengths)
            written += len(ids)
    if not written:
        raise ValueError(
            f"no pair is left: all are longer than {min(longest)} subwords or words; expected a shorter one"
        )
    return {"left_out": left_out, "unknown": (unknown / numbers).tolist(), "types": types}


def _sides(lengths: np.ndarray) -> np.ndarray:
    """Tell of each number whether it is in a source, 0, or in a target, 1."""
    return np.repeat(np.arange(lengths.size) % 2, lengths.ravel())


def _narrow(greatest: int) -> str:
    """Choose the smaller of two types that holds a number as great as this."""
    return "uint16" if greatest < 1 << 16 else "uint32"
