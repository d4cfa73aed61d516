"""A text in numbers, on disk: encoded once, then mapped into memory, so that a text of any length takes little of it.

The store of a training is a folder inside the model's, ``text-`` and a hash of what it was made from: the words of the
pairs, the vocabularies, and how long a pair may be. It is there until the model is complete.

=============== ====================================================================================================
``ids``         of each pair the source, then the target, both with EOS
``starts``      where in ``ids`` each pair begins
``lengths``     how many of them its source and its target have
``about.json``  what was left out, and a digest of each other file and of itself
=============== ====================================================================================================

A store that exists is whole: it is written under another name and gets its own by one rename. If one is damaged later,
this is noticed when it is opened, and it is written anew.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from hashlib import file_digest, sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attnlib.data import UNKNOWN, Corpus, SentencePair, Tokenizer
from attnlib.text.checkpoint import digest_of_json, vocabulary_bytes
from attnlib.text.files import hashed
from attnlib.writing import made_in_the_end, write_atomically

_ABOUT, _NAME, _FORMAT = "about.json", "text-", 1
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
    *,
    say: Callable[[str], Any] = lambda line: None,
) -> Store:
    """Open the store of a text, and write it first, whole or not at all, if it is missing or damaged.

    Parameters
    ----------
    parent : Path
        The folder that holds the store, or will.
    pairs : iterable of SentencePair
        Gone through once, and only if the store has to be written.
    text : str
        What `attnlib.text.files.digest` makes of them.
    vocabularies, longest : source and target
        Pairs with a side of more numbers than the longest may have, EOS apart, are left out.
    say : function
        What to do with a sentence about a store that was damaged.
    """
    digests = [sha256(vocabulary_bytes(known)).hexdigest() for known in vocabularies]
    key = digest_of_json({"format": _FORMAT, "text": text, "vocabularies": digests, "most": list(longest)})
    folder = parent / f"{_NAME}{key[:16]}"
    if about := _read_about(folder):
        return _map(folder, about)
    if folder.exists():
        say(f"{folder} is damaged; encoding the text anew")
    with made_in_the_end(folder) as beside:
        total = sha256()
        about = _encode(beside, hashed(pairs, total), vocabularies, longest)
        if total.hexdigest() != text:
            raise ValueError("the text changed while it was read; the same command again reads it anew")
        write_atomically(beside / _ABOUT, json.dumps(about | {"digest": digest_of_json(about)}).encode())
    return _map(folder, about)


def remove_stores(parent: Path) -> None:
    """Remove the stores in a folder, also what is left of them."""
    for pattern in (f"{_NAME}*", f".{_NAME}*.new"):
        for folder in parent.glob(pattern):
            shutil.rmtree(folder, ignore_errors=True)


def _read_about(folder: Path) -> dict[str, Any] | None:
    """Read what there is to know of a store. None: there is none, or a byte of it is not as it was written."""
    try:
        about = json.loads((folder / _ABOUT).read_bytes())
        whole = about.pop("digest") == digest_of_json(about)
        return about if whole and about["digests"] == _digests(folder, about["types"]) else None
    except (FileNotFoundError, ValueError, KeyError, AttributeError, TypeError):
        return None


def _digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    with ExitStack() as closed:
        files = {name: closed.enter_context((folder / name).open("rb")) for name in names}
        return {name: file_digest(file, "sha256").hexdigest() for name, file in files.items()}


def _map(folder: Path, about: Mapping[str, Any]) -> Store:
    ids, starts, lengths = (
        np.asarray(np.memmap(folder / name, dtype, mode="r")) for name, dtype in about["types"].items()
    )
    return Store(Corpus(ids, starts, lengths.reshape(-1, 2)), about["left_out"], tuple(about["unknown"]))


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
        files = {name: closed.enter_context((folder / name).open("wb")) for name in types}
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
        for file in files.values():
            file.flush()
            os.fsync(file.fileno())
    if not written:
        raise ValueError(
            f"no pair is left: all are longer than {min(longest)} subwords or words; expected a shorter one"
        )
    digests, share = _digests(folder, types), (unknown / numbers).tolist()
    return {"left_out": left_out, "unknown": share, "types": types, "digests": digests}


def _sides(lengths: np.ndarray) -> np.ndarray:
    """Tell of each number whether it is in a source, 0, or in a target, 1."""
    return np.repeat(np.arange(lengths.size) % 2, lengths.ravel())


def _narrow(greatest: int) -> str:
    """Choose the smaller of two types that holds a number as great as this."""
    return "uint16" if greatest < 1 << 16 else "uint32"
