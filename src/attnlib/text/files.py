"""Sentences from disk and back: plain text, ``.gz``, tab-separated pairs, and word links.

Text is UTF-8, one sentence per line, and is brought to Unicode's composed form (NFC). Words are what spaces separate.
An error names the file and the line, counted from 1.
"""

import gzip
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as Links
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from attnlib.checks import check_whole
from attnlib.vocabulary import SentencePair

Words = tuple[str, ...]


class Text(NamedTuple):
    """Sentence pairs to learn from, and what was left out.

    Attributes
    ----------
    pairs : sequence of SentencePair
        Or what can be gone through as one, and counted.
    empty, long : int
        How many pairs were left out because a side had no word, or too many.
    """

    pairs: Any
    empty: int
    long: int

    def __str__(self) -> str:
        left_out = [f"{n:,} {why}" for n, why in ((self.empty, "with an empty side"), (self.long, "too long")) if n]
        return f"{len(self.pairs):,} sentence pairs" + (f"; left out: {', '.join(left_out)}" if left_out else "")


class Gold(NamedTuple):
    """The word links of one sentence pair that a person drew: the sure ones, and all that are possible."""

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


def words_of(line: str) -> Words:
    """Cut a line at its spaces, in Unicode's composed form."""
    return tuple(unicodedata.normalize("NFC", line).split())


def decoded(raw: bytes, name: object, number: int) -> str:
    """Read a line as UTF-8, or say where it is not.

    Raises
    ------
    ValueError
        With the name of the file and the number of the line.
    """
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name}, line {number}: byte {error.start + 1} is not UTF-8; convert the file, for instance with iconv"
        ) from None


def read_lines(path: str | Path) -> Iterator[str]:
    """Read a file line by line; one whose name ends in ``.gz`` is decompressed.

    Raises
    ------
    OSError
        If it cannot be opened.
    ValueError
        If a line is not UTF-8, or the file is no whole gzip file.
    """
    path = Path(path)
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        try:
            for number, raw in enumerate(file, 1):
                yield decoded(raw, path, number)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path} is no whole gzip file: {error}") from None


def read_beside(source: str | Path, target: str | Path | None = None) -> Iterator[tuple[Words, Words]]:
    """Read sentences and their translations, every line of them, also empty ones.

    Parameters
    ----------
    source, target : paths
        Two files with equally many lines; or one file, each of its lines a sentence, a tab and its translation.

    Yields
    ------
    source, target : words

    Raises
    ------
    OSError, ValueError
        As for `read_lines`, and if the files have unequal numbers of lines, or a line has not exactly one tab.
    """
    if target is None:
        for number, line in enumerate(read_lines(source), 1):
            sides = line.split("\t")
            if len(sides) != 2:
                raise ValueError(f"{source}, line {number}: {len(sides) - 1} tabs; expected one, between two sentences")
            yield words_of(sides[0]), words_of(sides[1])
        return
    counts, ended = [0, 0], False
    for lines in zip_longest(read_lines(source), read_lines(target)):
        counts = [count + (line is not None) for count, line in zip(counts, lines, strict=True)]
        ended = ended or None in lines
        if not ended:
            yield words_of(lines[0]), words_of(lines[1])
    if ended:
        raise ValueError(
            f"{source} has {counts[0]:,} lines, {target} {counts[1]:,}; expected as many, line by line translations"
        )


def read_pairs(source: str | Path, target: str | Path | None = None, *, longest: int = 100) -> Text:
    """Read sentence pairs to learn from.

    Parameters
    ----------
    source, target : paths
        As for `read_beside`.
    longest : int
        The most words that a side may have.

    Returns
    -------
    Text

    Raises
    ------
    OSError, ValueError
        As for `read_beside`, and if no pair is left.
    """
    left_out = Counter()
    pairs = list(stream_pairs(source, target, longest, left_out))
    return checked(Text(pairs, left_out["empty"], left_out["long"]), source, target, longest)


def stream_pairs(
    source: str | Path, target: str | Path | None, longest: int, left_out: Counter[str]
) -> Iterator[SentencePair]:
    """Read sentence pairs one by one, and count those left out as "empty" or "long". Errors as for `read_beside`."""
    check_whole(longest=longest)
    for sides in read_beside(source, target):
        if not all(sides):
            left_out["empty"] += 1
        elif max(map(len, sides)) > longest:
            left_out["long"] += 1
        else:
            yield SentencePair(*sides)


def checked(text: Text, source: str | Path, target: str | Path | None, longest: int) -> Text:
    """Give the text of these files back, unless no pair is left of it."""
    if not len(text.pairs):
        name = source if target is None else f"{source} and {target}"
        raise ValueError(f"{name}: {text}; expected at least one pair of at most {longest} words a side")
    return text


def digest(pairs: Iterable[SentencePair]) -> str:
    """Sum up sentence pairs in 64 letters that change when a word changes."""
    found = sha256()
    for _ in hashed(pairs, found):
        pass
    return found.hexdigest()


def hashed(pairs: Iterable[SentencePair], into: Any) -> Iterator[SentencePair]:
    """Pass the pairs on, and feed the words of each to a hash of `hashlib` on the way."""
    for pair in pairs:
        into.update(f"{' '.join(pair.source)}\t{' '.join(pair.target)}\n".encode())
        yield pair


def pharaoh(links: Links[tuple[int, int]]) -> str:
    """Write the links of one sentence pair as ``i-j``, source position and target position, from 0."""
    return " ".join(f"{i}-{t}" for i, t in sorted(links))


def read_gold(path: str | Path, pairs: Sequence[tuple[Words, Words]]) -> list[Gold]:
    """Read word links in the Pharaoh format, a line for each pair: ``i-j`` is sure, ``i?j`` possible.

    Raises
    ------
    OSError, ValueError
        As for `read_lines`, and if there are not as many lines as pairs, or a link is malformed or beyond its words.
    """
    found = []
    for number, line in enumerate(read_lines(path), 1):
        links: dict[str, set[tuple[int, int]]] = {"-": set(), "?": set()}
        for link in line.split():
            kind = "?" if "?" in link else "-"
            ends = link.split(kind)
            if len(ends) != 2 or not all(end.isascii() and end.isdigit() for end in ends):
                raise ValueError(f"{path}, line {number}: {link!r} is no link; expected i-j or i?j, positions from 0")
            i, t = map(int, ends)
            if number <= len(pairs) and not (i < len(pairs[number - 1][0]) and t < len(pairs[number - 1][1])):
                src, tgt = map(len, pairs[number - 1])
                raise ValueError(f"{path}, line {number}: {link} lies beyond its {src} and {tgt} words")
            links[kind].add((i, t))
        found.append(Gold(frozenset(links["-"]), frozenset(links["-"] | links["?"])))
    if len(found) != len(pairs):
        raise ValueError(f"{path} has {len(found):,} lines; expected {len(pairs):,}, one for each sentence pair")
    return found


def read_dictionary(path: str | Path) -> dict[str, str]:
    """Read a dictionary: on each line a word, a tab and its translation. Errors as for `read_beside`."""
    return {" ".join(source): " ".join(target) for source, target in read_beside(path)}
