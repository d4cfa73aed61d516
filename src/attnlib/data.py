"""Sentence pairs, the vocabularies that number their words, and batches: encoded sentences side by side.

An encoded sentence, source or target, ends in `EOS`, and its length counts it. What fills up a batch is `PAD`.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from random import Random
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Int, Integer
from torch import Tensor

from attnlib.checks import check_number, check_sentence, check_whole, check_words

PAD, BOS, EOS, UNK = 0, 1, 2, 3
"""What fills up a batch, comes before a target's first word, ends every sentence, stands for a word not known."""

SPECIAL = ("<pad>", "<start>", "<end>", "<unknown>")
"""How the four are named. A text may have the first three as words too, with numbers of their own."""


class SentencePair(NamedTuple):
    """Two sentences without `EOS`, and their gold links: (source position, target position), both from 0."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: frozenset[tuple[int, int]] = frozenset()


@runtime_checkable
class Tokenizer(Protocol):
    """Turn words into numbers and back: a `Vocabulary`, or pieces of words, as in `attnlib.text.subwords`."""

    def __len__(self) -> int:
        """Count the numbers, from 0; the first are `PAD`, `BOS`, `EOS` and `UNK`."""

    def encode(self, words: Sequence[str]) -> list[int]:
        """Turn the words of a sentence into numbers, and append `EOS`."""

    def decode(self, ids: Iterable[int] | Int[Tensor, "tgt"]) -> tuple[str, ...]:
        """Name the words up to the first `EOS`."""

    def grouped(self, ids: Iterable[int] | Int[Tensor, "tgt"]) -> tuple[tuple[str, ...], list[int]]:
        """Name the words, and count how many numbers each takes."""

    def sizes(self, words: Sequence[str]) -> list[int]:
        """Count how many numbers each word takes."""


@dataclass(frozen=True)
class Vocabulary:
    """Number the words that a model knows, all distinct, from 4 on: `PAD`, `BOS`, `EOS` and `UNK` come before."""

    words: tuple[str, ...]

    def __post_init__(self):
        check_words("words", self.words)
        known = set(self.words)
        if len(known) < len(self.words) or SPECIAL[UNK] in known:
            raise ValueError(f"words holds {len(self.words)} words; expected each once, and not {SPECIAL[UNK]}")

    @classmethod
    def from_sentences(
        cls, sentences: Iterable[Sequence[str]], *, min_count: int = 1, max_size: int | None = None
    ) -> "Vocabulary":
        """Collect the words of all the sentences, in alphabetical order.

        Known are words that occur `min_count` times, at most `max_size` of them, those that occur most often; of
        equally frequent ones, the first of the alphabet. The word ``<unknown>`` means here what it means in a
        translation.
        """
        counts = Counter(word for words in sentences for word in check_sentence(words))
        return cls.from_counts(counts, min_count=min_count, max_size=max_size)

    @classmethod
    def from_counts(cls, counts: Counter[str], *, min_count: int = 1, max_size: int | None = None) -> "Vocabulary":
        """Collect words that were counted. As for `from_sentences`."""
        check_whole(min_count=min_count, **{} if max_size is None else {"max_size": max_size})
        frequent = (word for word, n in counts.items() if n >= min_count and word != SPECIAL[UNK])
        known = sorted(frequent, key=lambda word: (-counts[word], word))[:max_size]
        return cls(tuple(sorted(known)))

    def __len__(self) -> int:
        return len(SPECIAL) + len(self.words)

    def encode(self, words: Sequence[str]) -> list[int]:
        """Turn the words of a sentence into numbers, unknown words into `UNK`, and append `EOS`."""
        return [self._numbers.get(word, UNK) for word in check_sentence(words)] + [EOS]

    def decode(self, ids: Iterable[int] | Int[Tensor, "tgt"]) -> tuple[str, ...]:
        """Name the words up to the first `EOS`, without it, or all of them if there is none."""
        return tuple(self._named(int(n)) for n in until_end(ids))

    def grouped(self, ids: Iterable[int] | Int[Tensor, "tgt"]) -> tuple[tuple[str, ...], list[int]]:
        """Name the words as `decode` does, and count how many numbers each takes: here always one."""
        words = self.decode(ids)
        return words, [1] * len(words)

    def sizes(self, words: Sequence[str]) -> list[int]:
        """Count how many numbers each word takes in `encode`: here always one."""
        return [1] * len(words)

    def _named(self, number: int) -> str:
        check_number(number, len(self))
        return SPECIAL[number] if number < len(SPECIAL) else self.words[number - len(SPECIAL)]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, start=len(SPECIAL))}


def until_end(ids: Iterable[int] | Tensor) -> Iterator[int]:
    """Take the numbers before the first `EOS`."""
    for number in ids.tolist() if isinstance(ids, Tensor) else ids:
        if number == EOS:
            return
        yield number


class Batch(NamedTuple):
    """Lay sentence pairs side by side, filled up with `PAD`; every sentence ends in `EOS`, and `lengths` counts it."""

    source: Int[Tensor, "batch src"]
    lengths: Int[Tensor, "batch"]
    target: Int[Tensor, "batch tgt"]


@dataclass(frozen=True)
class Corpus:
    """Hold sentence pairs as numbers, one after another: in memory, or in files that are mapped into it.

    The `ids` hold the source of each pair, then its target, both with `EOS`; a pair begins at its place in `starts`,
    and `lengths` counts how many numbers source and target have.
    """

    ids: Integer[np.ndarray, "ids"]
    starts: Integer[np.ndarray, "pairs"]
    lengths: Integer[np.ndarray, "pairs 2"]

    @classmethod
    def from_pairs(
        cls, pairs: Iterable[SentencePair], source_vocabulary: Tokenizer, target_vocabulary: Tokenizer
    ) -> "Corpus":
        """Turn the words of sentence pairs into numbers."""
        ids, lengths = array("q"), array("q")
        for pair in pairs:
            for side in (source_vocabulary.encode(pair.source), target_vocabulary.encode(pair.target)):
                ids.extend(side)
                lengths.append(len(side))
        both = np.array(lengths, np.int64).reshape(-1, 2)
        return cls(np.array(ids, np.int64), both.sum(1).cumsum() - both.sum(1), both)

    def __len__(self) -> int:
        return len(self.starts)

    def batch(self, rows: Integer[np.ndarray, "batch"]) -> Batch:
        """Lay pairs side by side."""
        starts, (source, target) = self.starts[rows], self.lengths[rows].T.astype(np.int64, order="C")
        return Batch(
            _side_by_side(self.ids, starts, source),
            torch.from_numpy(source),
            _side_by_side(self.ids, starts + source, target),
        )

    def cut(self, max_tokens: int, max_sentences: int | None, rng: Random) -> Iterator[Integer[np.ndarray, "batch"]]:
        """Cut into batches of pairs of about the same length: the numbers of each batch's pairs, from lengths alone.

        A batch holds at most `max_tokens` words on one side, `EOS` and `PAD` counted, and `max_sentences` pairs. What
        `rng` draws decides which of several pairs of one length share a batch, and the order of the batches.
        """
        uniform = _uniform(rng)
        longest = self.lengths.max(1)
        order = np.lexsort((uniform.random_sample(len(self)), self.lengths[:, 0], longest)).astype(np.int32)
        bounds = _bounds(longest[order], max_tokens, max_sentences)
        del longest
        for part in np.argsort(uniform.random_sample(len(bounds) - 1), kind="stable"):
            yield order[bounds[part] : bounds[part + 1]]

    def in_one_epoch(self, *, max_tokens: int, max_sentences: int | None = None) -> int:
        """Count the `batches` that hold each pair once; it is the same number whatever the seed."""
        self.check_fit(max_tokens, max_sentences)
        return len(_bounds(np.sort(self.lengths.max(1)), max_tokens, max_sentences)) - 1

    def infinite_batches(
        self,
        *,
        max_tokens: int,
        seed: int,
        max_sentences: int | None = None,
        skip: int = 0,
        share: tuple[int, int] = (0, 1),
    ) -> Iterator[Batch]:
        """Draw `batches` without end, as `attnlib.data.infinite_batches` does, for one of several processes.

        The first `skip` are left out: those that a training which goes on has learnt from already.
        Of n processes, process k, from 0, gets every n-th pair of each batch from the k-th on: the `share` (k, n).
        Together they see what one process would; when a batch has fewer than n pairs, at least one of them gets none.
        """
        which, processes = share
        check_whole(0, seed=seed, skip=skip, share=which)
        check_whole(which + 1, processes=processes)
        self.check_fit(max_tokens, max_sentences)

        def epochs() -> Iterator[Integer[np.ndarray, "batch"]]:
            rng = Random(seed)
            while True:
                yield from self.cut(max_tokens, max_sentences, Random(int(rng.random() * 2**32)))

        return (self.batch(rows[which::processes]) for rows in islice(epochs(), skip, None))

    def check_fit(self, max_tokens: int, max_sentences: int | None) -> None:
        """Refuse to cut a corpus without a pair, and one that has a sentence too long for any batch."""
        check_whole(max_tokens=max_tokens, **{} if max_sentences is None else {"max_sentences": max_sentences})
        if not len(self):
            raise ValueError("pairs is empty; expected at least one sentence pair")
        if (longest := self.lengths.max()) > max_tokens:
            needed = f"at least {longest}, which the longest sentence needs with its EOS"
            raise ValueError(f"max_tokens is {max_tokens}; expected {needed}")


def encode_batch(
    sentences: Iterable[Sequence[str]], vocabulary: Tokenizer
) -> tuple[Int[Tensor, "batch src"], Int[Tensor, "batch"]]:
    """Turn the words of several sentences into numbers and lay them side by side: each, then `EOS`, then `PAD`.

    Returned beside them is how many words each has, `EOS` included.
    """
    numbered = [vocabulary.encode(words) for words in sentences]
    if not numbered:
        raise ValueError("sentences is empty; expected at least one sentence")
    lengths = np.array([len(ids) for ids in numbered])
    return _side_by_side(np.concatenate(numbered), lengths.cumsum() - lengths, lengths), torch.from_numpy(lengths)


def collate(pairs: Iterable[SentencePair], source_vocabulary: Tokenizer, target_vocabulary: Tokenizer) -> Batch:
    """Lay sentence pairs side by side, in their order."""
    encoded = Corpus.from_pairs(pairs, source_vocabulary, target_vocabulary)
    if not len(encoded):
        raise ValueError("pairs is empty; expected at least one sentence pair")
    return encoded.batch(np.arange(len(encoded)))


def batches(
    pairs: Iterable[SentencePair],
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    max_tokens: int,
    seed: int,
) -> list[Batch]:
    """Cut a corpus into batches of pairs of about the same length, in random order.

    Few `PAD` are computed that way: neighbours in length share a batch, and which of several pairs of one length
    share it is left to `seed`.

    Parameters
    ----------
    max_tokens : int
        The most words that a batch may hold on one side, `EOS` and `PAD` counted.
    seed : int
        The same seed gives the same batches in the same order.
    """
    check_whole(0, seed=seed)
    encoded = Corpus.from_pairs(pairs, source_vocabulary, target_vocabulary)
    encoded.check_fit(max_tokens, None)
    return [encoded.batch(rows) for rows in encoded.cut(max_tokens, None, Random(seed))]


def infinite_batches(
    pairs: Iterable[SentencePair],
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    max_tokens: int,
    seed: int,
) -> Iterator[Batch]:
    """Draw all `batches` of the corpus, then all again, cut and ordered anew, without end."""
    return Corpus.from_pairs(pairs, source_vocabulary, target_vocabulary).infinite_batches(
        max_tokens=max_tokens, seed=seed
    )


def _side_by_side(
    ids: Integer[np.ndarray, "ids"], starts: Integer[np.ndarray, "batch"], lengths: Int[np.ndarray, "batch"]
) -> Int[Tensor, "batch words"]:
    """Lay sentences of a row of numbers side by side, filled up with `PAD`."""
    columns = np.arange(lengths.max(initial=0))
    real = columns < lengths[:, None]
    filled = np.full(real.shape, PAD)
    filled[real] = ids[(starts[:, None] + columns)[real]]
    return torch.from_numpy(filled)


def _bounds(longest: Integer[np.ndarray, "pairs"], max_tokens: int, max_sentences: int | None) -> list[int]:
    """Cut where one pair more, the longest so far, would take all to more than `max_tokens` or `max_sentences`."""
    bounds = [0]
    while (first := bounds[-1]) < len(longest):
        most = max_tokens // int(longest[first])
        part = longest[first : first + (most if max_sentences is None else min(most, max_sentences))]
        bounds.append(first + int(np.count_nonzero(np.arange(1, len(part) + 1) * part <= max_tokens)))
    return bounds


def _uniform(rng: Random) -> np.random.RandomState:
    """Make the source of the very numbers that ``rng.random()`` would give one by one."""
    *key, position = rng.getstate()[1]
    uniform = np.random.RandomState()
    uniform.set_state(("MT19937", key, position))
    return uniform
