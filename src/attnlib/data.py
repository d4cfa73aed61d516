"""Sentence pairs, and the vocabularies that number their words (chapter 2).

An encoded sentence, source or target, ends in `EOS`, and its length counts it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from operator import index
from typing import NamedTuple, Protocol, runtime_checkable

from jaxtyping import Int
from torch import Tensor

from attnlib.checks import brief, check_number, check_sentence, check_type, check_whole, check_words

PAD, BOS, EOS, UNK = 0, 1, 2, 3
"""Ids of padding, of the start of a target, of the end of every sentence, and of an unknown word."""

SPECIAL = ("<pad>", "<start>", "<end>", "<unknown>")
"""How the four are named. A text may have the first three as words too, with numbers of their own."""


class SentencePair(NamedTuple):
    """A source sentence and its translation, without `EOS`.

    Attributes
    ----------
    source, target : tuple of str
        The words.
    links : frozenset of (source position, target position), default empty
        The gold word alignment, positions from 0. Neither words nor links are checked.

    Notes
    -----
    Functions that take pairs take plain tuples of source words and target words too.

    Examples
    --------
    >>> from attnlib import SentencePair
    >>> pair = SentencePair(("the", "cat"), ("le", "chat"), frozenset({(0, 0), (1, 1)}))
    >>> pair.target
    ('le', 'chat')
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: frozenset[tuple[int, int]] = frozenset()


def as_pair(pair: SentencePair | tuple) -> SentencePair:
    """Return a pair, or a plain tuple of source and target, as a `SentencePair`."""
    if isinstance(pair, SentencePair):
        return pair
    if not isinstance(pair, tuple | list) or len(pair) not in {2, 3}:
        raise TypeError(f"a pair is {brief(pair)}; expected a SentencePair, or a tuple of source and target words")
    source, target, *links = pair
    check_words("source", source)
    check_words("target", target)
    return SentencePair(tuple(source), tuple(target), *links)


class GoldAlignment(NamedTuple):
    """Gold word links of one sentence pair.

    Attributes
    ----------
    sure : frozenset of (int, int)
        Sure links, as (source position, target position).
    possible : frozenset of (int, int)
        Sure and possible links.
    """

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


@runtime_checkable
class Tokenizer(Protocol):
    """Protocol of mappings between words and ids: `Vocabulary`, or `attnbook.pretrained.subwords.Subwords`."""

    def __len__(self) -> int:
        """Count the numbers, from 0; the first are `PAD`, `BOS`, `EOS` and `UNK`."""

    def encode(self, words: Sequence[str]) -> list[int]:
        """Return the ids of a sentence's words, with `EOS` at the end."""

    def decode(self, ids: Iterable[int] | Int[Tensor, "tgt"]) -> tuple[str, ...]:
        """Return the words up to the first `EOS`."""

    def sizes(self, words: Sequence[str]) -> list[int]:
        """Return the number of ids that each word takes."""

    def surfaces(self, words: Sequence[str]) -> Sequence[str]:
        """Return the letters of each id of a sentence, without `EOS`."""

    def names(self, ids: Iterable[int] | Int[Tensor, "tgt"]) -> Sequence[str]:
        """Return the letters of each id up to the first `EOS`."""


@dataclass(frozen=True)
class Vocabulary:
    """Mapping between words and integer ids; `PAD`, `BOS`, `EOS`, and `UNK` have the ids 0 to 3.

    `encode` appends `EOS`, and reads a word that is not known as `UNK`. `decode` stops before the first `EOS`.

    Attributes
    ----------
    words : tuple of str
        The known words, all distinct. They have ids from 4 on, in this order, which is not sorted.

    Examples
    --------
    >>> from attnlib import Vocabulary
    >>> known = Vocabulary.from_sentences([["the", "cat"], ["the", "dog"]])
    >>> known.encode(["the", "bird"]), known.decode([6, 4, 2])
    ([6, 3, 2], ('the', 'cat'))
    """

    words: tuple[str, ...]

    def __post_init__(self):
        check_words("words", self.words)
        check_type(tuple, "a tuple of words", words=self.words)
        known = set(self.words)
        if len(known) < len(self.words) or SPECIAL[UNK] in known:
            raise ValueError(f"words holds {len(self.words)} words; expected distinct words, without {SPECIAL[UNK]}")

    @classmethod
    def from_sentences(
        cls, sentences: Iterable[Sequence[str]], *, min_count: int = 1, max_size: int | None = None
    ) -> "Vocabulary":
        """Build a vocabulary of the words of sentences, sorted as Python sorts strings, not by frequency.

        Parameters
        ----------
        sentences : iterable of sequence of str
            The words of each sentence. The word ``<unknown>`` is counted as an unknown word.
        min_count : int, default 1
            The least number of occurrences of a known word.
        max_size : int, optional
            The greatest number of known words, the four special symbols not counted. The most frequent ones are kept;
            among equally frequent ones, those that are sorted first. If None, all are kept.
        """
        check_whole(min_count=min_count, max_size=1 if max_size is None else max_size)
        counts = Counter(word for words in sentences for word in check_sentence(words))
        frequent = (word for word, n in counts.items() if n >= min_count and word != SPECIAL[UNK])
        known = sorted(frequent, key=lambda word: (-counts[word], word))[:max_size]
        if counts and not known and min_count > 1:
            raise ValueError(f"min_count is {min_count}, and no word is as frequent; expected a smaller number")
        return cls(tuple(sorted(known)))

    def __len__(self) -> int:
        return len(SPECIAL) + len(self.words)

    def encode(self, words: Sequence[str]) -> list[int]:
        """Return the ids of a sentence's words, `UNK` for unknown words, with `EOS` at the end."""
        return [self._numbers.get(word, UNK) for word in check_sentence(words)] + [EOS]

    def decode(self, ids: Iterable[int] | Int[Tensor, "tgt"]) -> tuple[str, ...]:
        """Return the words up to the first `EOS`, or all of them if there is none."""
        return tuple(self._named(index(n)) for n in until_end(ids))

    def sizes(self, words: Sequence[str]) -> list[int]:
        """Return the number of ids that each word takes in `encode`, here always 1."""
        return [1] * len(words)

    def surfaces(self, words: Sequence[str]) -> Sequence[str]:
        """Return the words themselves: each has one id."""
        return words

    def names(self, ids: Iterable[int] | Int[Tensor, "tgt"]) -> Sequence[str]:
        """Return the words up to the first `EOS`, as `decode` does."""
        return self.decode(ids)

    def _named(self, number: int) -> str:
        check_number(number, len(self))
        return SPECIAL[number] if number < len(SPECIAL) else self.words[number - len(SPECIAL)]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, start=len(SPECIAL))}


def until_end(ids: Iterable[int] | Tensor) -> Iterator[int]:
    """Return an iterator of the ids before the first `EOS`."""
    return takewhile(lambda number: number != EOS, ids.tolist() if isinstance(ids, Tensor) else ids)
