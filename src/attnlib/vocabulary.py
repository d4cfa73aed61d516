"""Sentence pairs, and vocabularies: from words to the integers that a model reads, and back."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

from jaxtyping import Int
from torch import Tensor

from attnlib.checks import check_number, check_sentence, check_whole, check_words

PAD, BOS, EOS, UNKNOWN = 0, 1, 2, 3
"""What fills up a batch, comes before a target's first word, ends every sentence, stands for a word not known."""

SPECIAL = ("<pad>", "<start>", "<end>", "<unknown>")
"""How the four are named. A text may have the first three as words too, with numbers of their own."""


class SentencePair(NamedTuple):
    """A sentence, its translation, and which word translates which.

    Attributes
    ----------
    source, target : words
        The two sentences, without `EOS`.
    links : set of (source position, target position)
        The gold word alignment. Both positions count from 0.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: frozenset[tuple[int, int]] = frozenset()


@runtime_checkable
class Tokenizer(Protocol):
    """What turns words into numbers and back: a `Vocabulary`, or pieces of words, as in `attnlib.text.subwords`."""

    def __len__(self) -> int:
        """Count the numbers, from 0; the first are `PAD`, `BOS`, `EOS` and `UNKNOWN`."""

    def encode(self, words: Sequence[str]) -> list[int]:
        """Turn the words of a sentence into numbers, and append `EOS`."""

    def decode(self, ids: Iterable[int] | Int[Tensor, "tgt"]) -> tuple[str, ...]:
        """Name the words up to the first `EOS`."""

    def grouped(self, ids: Iterable[int] | Int[Tensor, "tgt"]) -> tuple[tuple[str, ...], list[int]]:
        """Name the words, and say how many numbers each takes."""

    def sizes(self, words: Sequence[str]) -> list[int]:
        """Say how many numbers each word takes."""


@dataclass(frozen=True)
class Vocabulary:
    """The words a model knows, each with its number.

    ``len(vocabulary)`` counts `PAD`, `BOS`, `EOS` and `UNKNOWN` too, which have the numbers 0 to 3.

    Attributes
    ----------
    words : words
        All distinct, in the order of their numbers, from 4 on.
    """

    words: tuple[str, ...]

    def __post_init__(self):
        check_words("words", self.words)
        known = set(self.words)
        if len(known) < len(self.words) or SPECIAL[UNKNOWN] in known:
            raise ValueError(f"words holds {len(self.words)} words; expected each once, and not {SPECIAL[UNKNOWN]}")

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], *, min_count: int = 1, max_size: int | None = None) -> "Vocabulary":
        """Collect the words of all the sentences, in alphabetical order.

        Parameters
        ----------
        sentences : sequences of words
            The word ``<unknown>`` means in them what it means in a translation.
        min_count : int
            How often a word must occur to be known.
        max_size : int, optional
            How many words to know, those that occur most often; of equally frequent ones, the first of the alphabet.
            None: all.
        """
        counts = Counter(word for words in sentences for word in check_sentence(words))
        return cls.of_counts(counts, min_count=min_count, max_size=max_size)

    @classmethod
    def of_counts(cls, counts: Counter[str], *, min_count: int = 1, max_size: int | None = None) -> "Vocabulary":
        """Collect words that were counted. As for `of`."""
        check_whole(min_count=min_count, **{} if max_size is None else {"max_size": max_size})
        frequent = sorted(
            (word for word, n in counts.items() if n >= min_count), key=lambda word: (-counts[word], word)
        )
        frequent = [word for word in frequent if word != SPECIAL[UNKNOWN]]
        return cls(tuple(sorted(frequent[:max_size])))

    def __len__(self) -> int:
        return len(SPECIAL) + len(self.words)

    def encode(self, words: Sequence[str]) -> list[int]:
        """Turn the words of a sentence into numbers, unknown words into `UNKNOWN`, and append `EOS`.

        Raises
        ------
        TypeError
            If `words` is one string rather than a sequence of words.
        ValueError
            If there is no word.
        """
        return [self._numbers.get(word, UNKNOWN) for word in check_sentence(words)] + [EOS]

    def decode(self, ids: Iterable[int] | Int[Tensor, "tgt"]) -> tuple[str, ...]:
        """Name the words up to the first `EOS`, without it, or all of them if there is none.

        Raises
        ------
        ValueError
            If a number is not in the vocabulary.
        """
        return tuple(self._named(int(n)) for n in until_end(ids))

    def grouped(self, ids: Iterable[int] | Int[Tensor, "tgt"]) -> tuple[tuple[str, ...], list[int]]:
        """Name the words as `decode` does, and say how many numbers each takes: here always one."""
        words = self.decode(ids)
        return words, [1] * len(words)

    def sizes(self, words: Sequence[str]) -> list[int]:
        """Say how many numbers each word takes in `encode`: here always one."""
        return [1] * len(words)

    def _named(self, number: int) -> str:
        check_number(number, len(self))
        return SPECIAL[number] if number < len(SPECIAL) else self.words[number - len(SPECIAL)]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, start=len(SPECIAL))}


def until_end(ids: Iterable[int] | Tensor) -> Iterator[int]:
    """Give the numbers before the first `EOS`."""
    for number in ids.tolist() if isinstance(ids, Tensor) else ids:
        if number == EOS:
            return
        yield number
