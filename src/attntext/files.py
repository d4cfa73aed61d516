"""Reading and writing of parallel text and word links (chapter 5): plain or packed text, and tab-separated pairs.

Text is UTF-8 with one sentence per line, and is normalized to Unicode's composed form (NFC). Words are separated by
spaces. An error names the file and the line, counted from 1.
"""

import errno
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as Links
from hashlib import sha256
from importlib import import_module
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from attnbook.language.sentences import sample
from attnlib.checks import check_whole
from attnlib.data import GoldAlignment, SentencePair
from attnlib.units import Words, split_words
from attntext.atomic_files import add_path_to_errors, write_atomically

_PACKED = {  # how packed files begin
    rb"\x1f\x8b": "gzip",
    rb"BZh[1-9](1AY&SY|\x17rE8P\x90)": "bzip2",
    rb"\xfd7zXZ\x00|\x5d\x00\x00": "xz",
    rb"\x28\xb5\x2f\xfd": "zstd",
    rb"PK[\x03\x05]": "zip",
    rb"\x04\x22\x4d\x18": "lz4",
    rb"7z\xbc\xaf": "7z",
    rb"\x1f\x9d": "compress",
    rb"LZIP\x01": "lzip",
}
_MODULES = {"gzip": "gzip", "bzip2": "bz2", "xz": "lzma", "zstd": "compression.zstd"}  # of the standard library
_NO_WORDS = re.compile("[\t\n\ud800-\udfff]|\r(?: |$)|^ | $|  |^$")


def read_parts(file: Any, name: Path | str) -> Iterator[list[bytes]]:
    """Yield the lines of a binary file as they arrive, several at a time, without the ends of lines.

    A file that begins as gzip, bzip2, xz or Zstandard do is unpacked, the last by Python 3.14 and later.

    Raises
    ------
    OSError, ValueError
        If the file cannot be read or unpacked. The error names the file, `name`.
    """
    begun: list[bytes] = []  # a line without its end
    with add_path_to_errors(name):
        file = _unpacked(file, name)
        while chunk := _read_chunk(file, name):
            head, end, tail = chunk.rpartition(b"\n")
            if end:
                yield (b"".join(begun) + head).split(b"\n")
                begun.clear()
            begun.append(tail)
    if any(begun):
        yield [b"".join(begun)]


def _unpacked(file: Any, name: Path | str) -> Any:
    begins = file.peek(16) if hasattr(file, "peek") else b""
    kind = next((kind for start, kind in _PACKED.items() if re.match(start, begins, re.DOTALL)), None)
    if kind is None:
        return file
    try:
        return import_module(_MODULES[kind]).open(file)
    except (ImportError, KeyError):
        raise ValueError(f"{name} is packed by {kind}; expected text, or text packed by gzip, bzip2 or xz") from None


def _read_chunk(file: Any, name: Path | str) -> bytes:
    try:
        return file.read1(1 << 16)
    except Exception as error:  # each kind of packed file has errors of its own
        if isinstance(error, OSError) and error.errno:
            raise
        raise ValueError(f"{name} is a torn file: {error}; expected a whole one") from None


def decode_line(raw: bytes, name: Path | str, number: int) -> str:
    """Decode a line as UTF-8, without its end.

    Raises
    ------
    ValueError
        If the line is not UTF-8. The error names the file, `name`, and the line, from 1.
    """
    try:
        return raw.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name}, line {number}: byte {error.start + 1} is not UTF-8; expected UTF-8, which iconv converts to"
        ) from None


def read_lines(path: str | Path) -> Iterator[str]:
    """Yield the lines of a text file, unpacked as `read_parts` does."""
    with Path(path).open("rb") as file:
        for number, raw in enumerate(chain.from_iterable(read_parts(file, path)), 1):
            yield decode_line(raw, path, number)


def iter_parallel(source: str | Path, target: str | Path | None = None) -> Iterator[tuple[Words, Words]]:
    """Yield all sentence pairs of a parallel text, including empty sentences.

    Parameters
    ----------
    source, target : path
        Two files with the same number of lines. If `target` is None, each line of `source` holds a sentence, a tab, and
        its translation.

    Raises
    ------
    OSError, ValueError
        If a file cannot be opened, a line is not UTF-8 or does not have exactly one tab, or the files differ in their
        number of lines.
    """
    lines: Iterator[Any]
    if target is None:
        lines = (line.split("\t") for line in read_lines(source))
    else:
        lines = zip_longest(read_lines(source), read_lines(target))
    for number, sides in enumerate(lines, 1):
        if len(sides) != 2:
            raise ValueError(f"{source}, line {number}: {len(sides) - 1} tabs; expected one tab between sentences")
        if None in sides:
            shorter = source if sides[0] is None else target
            raise ValueError(f"{shorter} ends after line {number - 1:,}; expected as many lines as in the other file")
        yield split_words(sides[0]), split_words(sides[1])


class ParallelText:
    """A parallel text that is read from its files at each iteration, so that it takes no memory.

    Parameters
    ----------
    source, target : path
        The files, as for `iter_parallel`.
    max_length : int, default 100
        Most words of a side. Longer pairs, and pairs with an empty side, are left out.

    Attributes
    ----------
    counts : Counter
        Counts of the last iteration: ``"pairs"``, and those left out because a side was ``"empty"`` or ``"long"``.
    pairs : list of SentencePair
        The pairs if `read_parallel` has read them into memory; otherwise empty.

    Raises
    ------
    OSError, ValueError
        During iteration, if a file is as `iter_parallel` does not accept it, or no pair is left.
    """

    def __init__(self, source: str | Path, target: str | Path | None = None, *, max_length: int = 100):
        check_whole(max_length=max_length)
        for path in (source, target):
            if path is not None and Path(path).is_fifo():
                raise ValueError(f"{path} is a pipe; expected a file, which can be read several times")
        self.files, self.max_length = (source, target), max_length
        self.counts: Counter[str] = Counter()
        self.pairs: list[SentencePair] = []

    def __iter__(self) -> Iterator[SentencePair]:
        self.counts.clear()
        for sides in iter_parallel(*self.files):
            kind = "empty" if not all(sides) else "long" if max(map(len, sides)) > self.max_length else "pairs"
            self.counts[kind] += 1
            if kind == "pairs":
                yield SentencePair(*sides)
        if not self.counts["pairs"]:
            names = " and ".join(str(name) for name in self.files if name is not None)
            raise ValueError(f"{names}: {self}; expected at least one pair of at most {self.max_length} words a side")

    def __str__(self) -> str:
        reasons = (("empty", "with an empty side"), ("long", "too long"))
        left_out = [f"{self.counts[kind]:,} {why}" for kind, why in reasons if self.counts[kind]]
        return f"{self.counts['pairs']:,} sentence pairs" + (f"; left out: {', '.join(left_out)}" if left_out else "")


def read_parallel(source: str | Path, target: str | Path | None = None, *, max_length: int = 100) -> ParallelText:
    """Read a parallel text into memory, as `pairs` of the text that is returned.

    Parameters
    ----------
    source, target, max_length
        As for `ParallelText`.

    Raises
    ------
    OSError, ValueError
        If a file is as `iter_parallel` does not accept it, or no pair is left.
    """
    text = ParallelText(source, target, max_length=max_length)
    text.pairs = [*text]
    return text


def check_pairs(name: str, pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
    """Yield sentence pairs, or raise a ValueError that names one whose words are not those of a line of text."""
    for n, pair in enumerate(pairs):
        for words in pair[:2]:
            line = " ".join(words)
            if line.count(" ") != len(words) - 1 or _NO_WORDS.search(line):
                raise ValueError(
                    f"{name}[{n}] holds {words!r}; expected words without spaces, line ends and lone surrogates"
                )
        yield pair


def pairs_digest(pairs: Iterable[SentencePair]) -> str:
    """Compute a SHA-256 digest of sentence pairs, in hexadecimal."""
    total = sha256()
    for pair in pairs:
        total.update(f"{' '.join(pair.source)}\t{' '.join(pair.target)}\n".encode())
    return total.hexdigest()


def format_pharaoh(links: Links[tuple[int, int]]) -> str:
    """Format word links in the Pharaoh format, ``i-j``, positions from 0."""
    return " ".join(f"{i}-{t}" for i, t in sorted(links))


def read_gold(path: str | Path, sides: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[GoldAlignment]:
    """Read gold links in the Pharaoh format, ``i-j`` is sure and ``i?j`` possible, one line for each pair of `sides`.

    Raises
    ------
    OSError, ValueError
        If the file cannot be read, has another number of lines, or a link is malformed or beyond its sentence.
    """
    lines, gold = list(read_lines(path)), []
    if len(lines) != len(sides):
        raise ValueError(f"{path} has {len(lines):,} lines; expected {len(sides):,} lines, one for each pair")
    for number, (line, (source, target)) in enumerate(zip(lines, sides, strict=True), 1):
        links: dict[str, set[tuple[int, int]]] = {"-": set(), "?": set()}
        for link in split_words(line):
            ends = re.fullmatch(r"([0-9]+)([-?])([0-9]+)", link)
            if not ends or int(ends[1]) >= len(source) or int(ends[3]) >= len(target):
                expected = f"expected i-j or i?j, positions from 0 in {len(source)} and {len(target)} words"
                raise ValueError(f"{path}, line {number}: {link} is no link of this pair; {expected}")
            links[ends[2]].add((int(ends[1]), int(ends[3])))
        gold.append(GoldAlignment(frozenset(links["-"]), frozenset(links["-"] | links["?"])))
    return gold


def write_toy(folder: str | Path, *, train: int = 20_000, dev: int = 200, seed: int = 1) -> None:
    """Write a parallel text of short sentences from the grammar, with its word links.

    The files are ``train.en``, ``train.fr``, ``train.links`` and the same of ``dev``, in a folder that is created if
    missing. The two parts are disjoint.

    Raises
    ------
    OSError
        If one of the files exists already, or cannot be written. Then none is written.
    TypeError, ValueError
        If a number is not a whole number, or is too small.
    """
    folder = Path(folder)
    texts: dict[Path, list[str]] = {}
    check_whole(train=train, dev=dev)
    for name, n, part in (("train", train, "train"), ("dev", dev, "test")):
        pairs = sample(n, seed=seed, part=part, clauses=(1,))
        columns = {
            "en": [" ".join(pair.source) for pair in pairs],
            "fr": [" ".join(pair.target) for pair in pairs],
            "links": [format_pharaoh(pair.links) for pair in pairs],
        }
        texts |= {folder / f"{name}.{ending}": lines for ending, lines in columns.items()}
    for path in texts:
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    try:
        for path, lines in texts.items():
            write_atomically(path, "".join(f"{line}\n" for line in lines).encode())
            written.append(path)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise
