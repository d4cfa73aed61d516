"""Batches (chapter 2): encoded sentences side by side, filled up with `PAD`, and texts that batches are cut from."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int, Integer
from torch import Tensor

from attnlib.checks import check_seed, check_whole
from attnlib.data import PAD, SentencePair, Tokenizer, as_pair


class Batch(NamedTuple):
    """Encoded sentence pairs side by side, padded with `PAD`; no sentence has a `BOS`.

    Attributes
    ----------
    source
        Ids of the source words. Each sentence ends in `EOS`; `src` is the longest one's length.
    lengths
        The number of ids of each source, `EOS` among them. Lengths of targets are not stored.
    target
        Ids of the target words. Each sentence ends in `EOS`; `tgt` is the longest one's length.
    """

    source: Int[Tensor, "batch src"]
    lengths: Int[Tensor, "batch"]
    target: Int[Tensor, "batch tgt"]


@dataclass(frozen=True)
class Corpus:
    """Encoded sentence pairs in one array, in memory.

    Attributes
    ----------
    ids
        The ids of each pair's source, then of its target, both with `EOS`.
    starts
        The index at which each pair begins.
    lengths
        The number of ids of source and target, `EOS` among them.
    """

    ids: Integer[np.ndarray, "ids"]
    starts: Integer[np.ndarray, "pairs"]
    lengths: Integer[np.ndarray, "pairs 2"]

    @classmethod
    def from_pairs(
        cls, pairs: Iterable[SentencePair | tuple], source_vocabulary: Tokenizer, target_vocabulary: Tokenizer
    ) -> "Corpus":
        """Encode the words of sentence pairs, in their order."""
        largest = max(len(source_vocabulary), len(target_vocabulary))
        ids, lengths = array("H" if largest <= 1 << 16 else "I"), array("I")  # a large text takes two bytes per word
        for pair in map(as_pair, pairs):
            for side in (source_vocabulary.encode(pair.source), target_vocabulary.encode(pair.target)):
                ids.extend(side)
                lengths.append(len(side))
        if not lengths:
            raise ValueError("pairs is empty; expected at least one sentence pair")
        both = np.asarray(lengths).reshape(-1, 2)
        sizes = both.sum(1, dtype=np.int64)
        return cls(np.asarray(ids), sizes.cumsum() - sizes, both)

    def __len__(self) -> int:
        return len(self.starts)

    def batch(self, rows: Integer[np.ndarray, "batch"]) -> Batch:
        """Return the chosen pairs side by side."""
        starts, (source, target) = self.starts[rows], self.lengths[rows].T.astype(np.int64, order="C")
        return Batch(
            _side_by_side(self.ids, starts, source),
            torch.from_numpy(source),
            _side_by_side(self.ids, starts + source, target),
        )

    def cut(self, max_tokens: int, max_sentences: int | None, seed: int) -> Iterator[Integer[np.ndarray, "batch"]]:
        """Yield batches of pairs of similar length, in random order, as the row numbers of their pairs.

        The seed decides which of several pairs of one length share a batch, and the order of the batches.
        """
        rng = np.random.RandomState([int(seed)])
        longest = self.lengths.max(1)
        order = np.lexsort((rng.random_sample(len(self)), self.lengths[:, 0], longest)).astype(np.int32)
        parts = parted(longest[order], max_tokens, max_sentences)
        del longest
        for n in np.argsort(rng.random_sample(len(parts)), kind="stable"):
            yield order[parts[n]]

    def in_one_epoch(self, *, max_tokens: int, max_sentences: int | None = None) -> int:
        """Return the number of batches that contain each pair once, which is the same for every seed."""
        return len(parted(np.sort(self.lengths.max(1)), max_tokens, max_sentences))

    def infinite_batches(
        self,
        *,
        max_tokens: int,
        seed: int,
        max_sentences: int | None = None,
        skip: int = 0,
        share: tuple[int, int] = (0, 1),
    ) -> Iterator[Batch]:
        """Return an endless iterator of batches, for one of several processes.

        Parameters
        ----------
        max_tokens : int
            The greatest number of ids that a batch may hold on one side, `EOS` and `PAD` counted.
        seed : int
            The same seed gives the same batches.
        max_sentences : int, optional
            The greatest number of pairs of a batch. If None, there is no limit.
        skip : int, default 0
            The number of batches to leave out at the beginning, when a training continues.
        share : (int, int), default (0, 1)
            The number of the process, from 0, and the number of processes n. The process gets every n-th pair of each
            batch. Together the processes see what one process would. If a batch has fewer than n pairs, some of them
            get none.
        """
        max_tokens, seed = self.check(max_tokens, seed)

        def epochs() -> Iterator[Integer[np.ndarray, "batch"]]:
            rng = Random(seed)
            while True:
                yield from self.cut(max_tokens, max_sentences, int(rng.random() * 2**32))

        return (self.batch(rows[share[0] :: share[1]]) for rows in islice(epochs(), skip, None))

    def check(self, max_tokens: int, seed: int) -> tuple[int, int]:
        """Return both as Python's; raise an error if a sentence is too long, or `seed` is no whole number from 0."""
        max_tokens, seed = *check_whole(max_tokens=max_tokens), check_seed(seed)
        if (longest := self.lengths.max()) > max_tokens:
            needed = f"at least {longest}, which the longest sentence needs with its EOS"
            raise ValueError(f"max_tokens is {max_tokens}; expected {needed}")
        return max_tokens, seed


def encode_batch(
    sentences: Iterable[Sequence[str]], vocabulary: Tokenizer
) -> tuple[Int[Tensor, "batch src"], Int[Tensor, "batch"]]:
    """Convert the words of sentences to ids and pad them into one tensor.

    Parameters
    ----------
    sentences : iterable of sequence of str
        The words of each sentence.
    vocabulary : Tokenizer
        The mapping from words to ids.

    Returns
    -------
    ids : tensor of int
        The ids of each sentence, then `EOS`, then `PAD`.
    lengths : tensor of int
        The number of ids of each sentence, `EOS` included.

    Examples
    --------
    >>> from attnlib import Vocabulary, encode_batch
    >>> ids, lengths = encode_batch([["a", "b"], ["b"]], Vocabulary(("a", "b")))
    >>> ids.tolist(), lengths.tolist()
    ([[4, 5, 2], [5, 2, 0]], [3, 2])
    """
    numbered = [vocabulary.encode(words) for words in sentences]
    if not numbered:
        raise ValueError("sentences is empty; expected at least one sentence")
    lengths = np.array([len(ids) for ids in numbered])
    return _side_by_side(np.concatenate(numbered), lengths.cumsum() - lengths, lengths), torch.from_numpy(lengths)


def collate(pairs: Iterable[SentencePair | tuple], source_vocabulary: Tokenizer, target_vocabulary: Tokenizer) -> Batch:
    """Encode sentence pairs and pad them into one batch, in their order.

    Parameters
    ----------
    pairs : iterable of SentencePair
        The sentences, at least one pair.
    source_vocabulary, target_vocabulary : Tokenizer
        The mappings from words to ids.

    Examples
    --------
    >>> from attnlib import SentencePair, Vocabulary, collate
    >>> words = Vocabulary(("a", "b"))
    >>> collate([SentencePair(("a", "b"), ("b",))], words, words).target.tolist()
    [[5, 2]]
    """
    encoded = Corpus.from_pairs(pairs, source_vocabulary, target_vocabulary)
    return encoded.batch(np.arange(len(encoded)))


def batches(
    pairs: Iterable[SentencePair | tuple],
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    max_tokens: int,
    seed: int,
) -> list[Batch]:
    """Split sentence pairs into batches, each pair into one; the order of the batches is random.

    The sentences of one batch have similar lengths, so that it contains little padding.

    Parameters
    ----------
    pairs : iterable of SentencePair
        The sentences.
    source_vocabulary, target_vocabulary : Tokenizer
        The mappings from words to ids.
    max_tokens : int
        The greatest number of ids that a batch may hold on one side, `EOS` and `PAD` counted.
    seed : int
        From 0 to ``2**32 - 1``. Decides which of several pairs of one length share a batch, and the order of the
        batches.

    Examples
    --------
    >>> from attnlib import SentencePair, Vocabulary, batches
    >>> words, pairs = Vocabulary(("a", "b")), [SentencePair(("a",), ("b",))] * 6
    >>> [len(batch.lengths) for batch in batches(pairs, words, words, max_tokens=4, seed=0)]
    [2, 2, 2]
    """
    encoded = Corpus.from_pairs(pairs, source_vocabulary, target_vocabulary)
    (seed,) = check_whole(0, 2**32 - 1, seed=seed)
    max_tokens, seed = encoded.check(max_tokens, seed)
    return [encoded.batch(rows) for rows in encoded.cut(max_tokens, None, seed)]


def infinite_batches(
    pairs: Iterable[SentencePair | tuple],
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    max_tokens: int,
    seed: int,
) -> Iterator[Batch]:
    """Yield training batches indefinitely, shuffled again in every epoch.

    Parameters
    ----------
    pairs, source_vocabulary, target_vocabulary, max_tokens
        As for `batches`.
    seed : int
        The same seed gives the same batches. It seeds a generator, which draws a seed for every epoch, the first among
        them: the first epoch is not ``batches(..., seed=seed)``.

    Examples
    --------
    >>> from attnlib import SentencePair, Vocabulary, infinite_batches
    >>> words, pairs = Vocabulary(("a", "b")), [SentencePair(("a",), ("b",))] * 6
    >>> next(infinite_batches(pairs, words, words, max_tokens=4, seed=0)).source.tolist()
    [[4, 2], [4, 2]]
    """
    encoded = Corpus.from_pairs(pairs, source_vocabulary, target_vocabulary)
    return encoded.infinite_batches(max_tokens=max_tokens, seed=seed)


def parted(
    lengths: Sequence[int] | Integer[np.ndarray, "sentences"], max_tokens: int, max_sentences: int | None
) -> list[slice]:
    """Divide sentences, in their order, into batches as large as the limits allow.

    Padding counts among the `max_tokens` ids of a batch. A longer sentence has a batch of its own.
    """
    parts, first = [], 0
    while first < len(lengths):
        limit = max_tokens // max(1, int(lengths[first]))
        longest = np.maximum.accumulate(lengths[first : first + min(limit, max_sentences or limit)])
        fit = np.count_nonzero(np.arange(1, len(longest) + 1) * longest <= max_tokens)
        parts.append(slice(first, first + max(1, int(fit))))
        first = parts[-1].stop
    return parts


def _side_by_side(
    ids: Integer[np.ndarray, "ids"], starts: Integer[np.ndarray, "batch"], lengths: Int[np.ndarray, "batch"]
) -> Int[Tensor, "batch words"]:
    """Cut sentences out of one array of ids, and pad them into a matrix."""
    columns = np.arange(lengths.max(initial=0))
    real = columns < lengths[:, None]
    filled = np.full(real.shape, PAD)
    filled[real] = ids[(starts[:, None] + columns)[real]]
    return torch.from_numpy(filled)
