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
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from hashlib import file_digest, sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attnlib.batches import Encoded
from attnlib.text.checkpoint import digest_of_json, vocabulary_bytes
from attnlib.text.files import hashed
from attnlib.vocabulary import UNKNOWN, SentencePair, Tokenizer
from attnlib.writing import errors_name, write_atomically

_ABOUT, _NAME, _FORMAT = "about.json", "text-", 1
_AT_ONCE = 10_000  # pairs in memory, about ten megabytes


class Stored(NamedTuple):
    """An encoded text and what there is to say of it.

    Attributes
    ----------
    encoded : Encoded
        Mapped from files: the parts in memory are given up when the system needs the room.
    left_out : int
        How many pairs were too long.
    unknown : tuple of float
        The share of the words of the sources, and of the targets, that became UNKNOWN.
    """

    encoded: Encoded
    left_out: int
    unknown: tuple[float, float]


def stored(
    parent: Path,
    pairs: Iterable[SentencePair],
    text: str,
    vocabularies: tuple[Tokenizer, Tokenizer],
    most: tuple[int, int],
    *,
    say: Callable[[str], Any] = lambda said: None,
) -> Stored:
    """Open the store of a text, and write it first if it is missing or damaged.

    Parameters
    ----------
    parent : Path
        The folder that holds the store, or will.
    pairs : iterable of SentencePair
        Gone through once, and only if the store has to be written.
    text : str
        What `attnlib.text.files.digest` makes of them.
    vocabularies : source and target
    most : source and target
        The most numbers that a sentence may have, EOS apart. Pairs with more are left out.
    say : function
        What to do with a sentence about a store that was damaged.

    Raises
    ------
    OSError
        If it cannot be written: no half of it stays.
    ValueError
        If no pair is left, or the pairs are not those of `text`.
    """
    digests = [sha256(vocabulary_bytes(known)).hexdigest() for known in vocabularies]
    key = digest_of_json({"format": _FORMAT, "text": text, "vocabularies": digests, "most": list(most)})
    folder = parent / f"{_NAME}{key[:16]}"
    if found := read_store(folder):
        return found
    if folder.exists():
        say(f"{folder} is damaged; encoding the text anew")
    return write_store(folder, pairs, text, vocabularies, most)


def write_store(
    folder: Path,
    pairs: Iterable[SentencePair],
    text: str,
    vocabularies: tuple[Tokenizer, Tokenizer],
    most: tuple[int, int],
) -> Stored:
    """Encode pairs into a folder, whole or not at all. Parameters and errors as for `stored`."""
    beside = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    with errors_name(folder, beside):
        try:
            beside.mkdir()
            about, found = _encode(beside, pairs, vocabularies, most)
            if found != text:
                raise ValueError("the text changed while it was read; the same command again reads it anew")
            write_atomically(beside / _ABOUT, json.dumps(about | {"digest": digest_of_json(about)}).encode())
            shutil.rmtree(folder, ignore_errors=True)
            beside.rename(folder)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
    return _mapped(folder, about)


def read_store(folder: Path) -> Stored | None:
    """Map a store into memory. None: there is none, or a byte of it is not as it was written."""
    try:
        about = json.loads((folder / _ABOUT).read_bytes())
        if about.pop("digest") != digest_of_json(about):
            return None
        for name, expected in about["digests"].items():
            with (folder / name).open("rb") as file:
                if file_digest(file, "sha256").hexdigest() != expected:
                    return None
    except (FileNotFoundError, ValueError, KeyError, AttributeError, TypeError):
        return None
    return _mapped(folder, about)


def remove_stores(parent: Path) -> None:
    """Remove the stores in a folder, also what is left of them."""
    for pattern in (f"{_NAME}*", f".{_NAME}*.new"):
        for folder in parent.glob(pattern):
            shutil.rmtree(folder, ignore_errors=True)


def _mapped(folder: Path, about: Mapping[str, Any]) -> Stored:
    ids, starts, lengths = (
        np.asarray(np.memmap(folder / name, dtype, mode="r")) for name, dtype in about["types"].items()
    )
    return Stored(Encoded(ids, starts, lengths.reshape(-1, 2)), about["left_out"], tuple(about["unknown"]))


def _encode(
    folder: Path, pairs: Iterable[SentencePair], vocabularies: tuple[Tokenizer, Tokenizer], most: tuple[int, int]
) -> tuple[dict[str, Any], str]:
    """Write the arrays part by part; give what is to be known of them, and the digest of all the pairs."""
    types = {"ids": _narrow(max(map(len, vocabularies)) - 1), "starts": "int64", "lengths": _narrow(max(most) + 1)}
    text, digests = sha256(), {name: sha256() for name in types}
    left_out, written, numbers, unknown = 0, 0, np.zeros(2, np.int64), np.zeros(2, np.int64)
    unread = hashed(pairs, text)
    with ExitStack() as closed:
        files = {name: closed.enter_context((folder / name).open("wb")) for name in types}
        while part := list(islice(unread, _AT_ONCE)):
            encoded = Encoded.of(part, *vocabularies)
            sides = np.repeat(np.arange(2 * len(part)) % 2, encoded.lengths.ravel())
            numbers += encoded.lengths.sum(0) - len(part)
            unknown += np.bincount(sides[encoded.ids == UNKNOWN], minlength=2)
            fit = (encoded.lengths - 1 <= most).all(1)
            lengths = encoded.lengths[fit]
            sizes = lengths.sum(1)
            arrays = {
                "ids": encoded.ids[np.repeat(fit, encoded.lengths.sum(1))],
                "starts": written + sizes.cumsum() - sizes,
                "lengths": lengths,
            }
            for name, x in arrays.items():
                content = x.astype(types[name]).tobytes()
                files[name].write(content)
                digests[name].update(content)
            left_out += len(part) - len(lengths)
            written += int(sizes.sum())
        for file in files.values():
            file.flush()
            os.fsync(file.fileno())
    if not written:
        raise ValueError(f"no pair is left: all are longer than {min(most)} subwords or words; expected a shorter one")
    about = {
        "left_out": left_out,
        "unknown": (unknown / numbers).tolist(),
        "types": types,
        "digests": {name: found.hexdigest() for name, found in digests.items()},
    }
    return about, text.hexdigest()


def _narrow(greatest: int) -> str:
    """Choose the smaller of two types that holds a number as great as this."""
    return "uint16" if greatest < 1 << 16 else "uint32"
