"""Sentence pairs that stay in their files, so that a text may be larger than the memory."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from attnlib.text.files import Text, checked, hashed, stream_pairs
from attnlib.vocabulary import SentencePair


@dataclass(frozen=True)
class PairFiles:
    """Sentence pairs that are read from their files each time they are gone through. `scan_pairs` makes one.

    Attributes
    ----------
    source : path
    target : path, optional
        None: each line of `source` is a pair, with a tab between.
    longest : int
        The most words that a side may have; pairs with more are left out, and those with an empty side.
    count : int
        How many pairs there are.
    digest : str
        What `attnlib.text.files.digest` makes of them.
    """

    source: str | Path
    target: str | Path | None
    longest: int
    count: int
    digest: str

    def __iter__(self) -> Iterator[SentencePair]:
        return stream_pairs(self.source, self.target, self.longest, Counter())

    def __len__(self) -> int:
        return self.count


def scan_pairs(source: str | Path, target: str | Path | None = None, *, longest: int = 100) -> Text:
    """Read sentence pairs to learn from once, from end to end, and keep none of them in memory.

    Parameters
    ----------
    source, target, longest
        As for `attnlib.text.files.read_pairs`, with the same errors.

    Returns
    -------
    Text
        Its pairs are `PairFiles`.
    """
    left_out, found, count = Counter(), sha256(), 0
    for _ in hashed(stream_pairs(source, target, longest, left_out), found):
        count += 1
    pairs = PairFiles(source, target, longest, count, found.hexdigest())
    return checked(Text(pairs, left_out["empty"], left_out["long"]), source, target, longest)
