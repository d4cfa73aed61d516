"""Sentence pairs that stay in their files, so that a text may be larger than the memory."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from attnlib.text.files import Text, checked, hashed, stream_pairs
from attnlib.text.vocabularies import VocabularyMaker
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
    maker : VocabularyMaker, optional
        One to which they all were added.
    """

    source: str | Path
    target: str | Path | None
    longest: int
    count: int
    digest: str
    maker: VocabularyMaker | None = field(default=None, repr=False, compare=False)

    def __iter__(self) -> Iterator[SentencePair]:
        return stream_pairs(self.source, self.target, self.longest, Counter())

    def __len__(self) -> int:
        return self.count


def scan_pairs(
    source: str | Path, target: str | Path | None = None, *, longest: int = 100, maker: VocabularyMaker | None = None
) -> Text:
    """Read sentence pairs to learn from once, from end to end, and keep none of them in memory.

    Parameters
    ----------
    source, target, longest
        As for `attnlib.text.files.read_pairs`, with the same errors.
    maker : VocabularyMaker, optional
        All pairs are added to it, so that nobody need read them again for that.

    Returns
    -------
    Text
        Its pairs are `PairFiles`.
    """
    left_out, found, count = Counter(), sha256(), 0
    for pair in hashed(stream_pairs(source, target, longest, left_out), found):
        count += 1
        if maker:
            maker.add(pair)
    pairs = PairFiles(source, target, longest, count, found.hexdigest(), maker)
    return checked(Text(pairs, left_out["empty"], left_out["long"]), source, target, longest)
