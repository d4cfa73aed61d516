"""Batches: encoded sentences side by side.

An encoded sentence, source or target, ends in `END`, and its length counts it. What fills up a batch is `PAD`.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from random import Random
from typing import NamedTuple, TypeAlias

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from attnlib.checks import check_whole
from attnlib.vocabulary import PAD, Numbering, SentencePair

_Numbered: TypeAlias = tuple[list[int], list[int]]  # a source and a target, each ending in END


class Batch(NamedTuple):
    """Sentence pairs side by side, filled up with `PAD`; every sentence ends in `END`.

    Attributes
    ----------
    source : ``"batch src"``
    lengths : ``"batch"``
        How many words each source has, `END` included.
    target : ``"batch tgt"``
    """

    source: Int[Tensor, "batch src"]
    lengths: Int[Tensor, "batch"]
    target: Int[Tensor, "batch tgt"]


def encode(
    sentences: Iterable[Sequence[str]], vocabulary: Numbering
) -> tuple[Int[Tensor, "batch src"], Int[Tensor, "batch"]]:
    """Turn the words of several sentences into numbers and lay them side by side.

    Returns
    -------
    ids : ``"batch src"``
        Each sentence, then `END`, then as many `PAD` as the longest needs.
    lengths : ``"batch"``
        How many words each sentence has, `END` included.

    Raises
    ------
    TypeError
        If a sentence is one string rather than a sequence of words.
    ValueError
        If there is no sentence, or a sentence has no word.
    """
    return _side_by_side([vocabulary.encode(words) for words in sentences])


def batch(pairs: Iterable[SentencePair], source_vocabulary: Numbering, target_vocabulary: Numbering) -> Batch:
    """Lay sentence pairs side by side, in their order. Errors as for `encode`."""
    return _batch(_numbered(pairs, source_vocabulary, target_vocabulary))


def batches(
    pairs: Iterable[SentencePair],
    source_vocabulary: Numbering,
    target_vocabulary: Numbering,
    *,
    words: int,
    seed: int,
    sentences: int | None = None,
) -> list[Batch]:
    """Cut a corpus into batches of pairs of about the same length, in random order.

    Few `PAD` are computed that way: neighbours in length share a batch, and which of several pairs of one length
    share it is left to `seed`.

    Parameters
    ----------
    pairs : sentence pairs
        Each comes in exactly one batch.
    source_vocabulary, target_vocabulary : Numbering
        They number the words.
    words : int
        The most words that a batch may hold on one side, `END` and `PAD` counted.
    seed : int
        The same seed gives the same batches in the same order.
    sentences : int, optional
        The most pairs that a batch may hold. None: as many as `words` admits.

    Returns
    -------
    list of Batch

    Raises
    ------
    TypeError
        If a sentence is one string rather than a sequence of words, or `words` or `seed` is no whole number.
    ValueError
        If there is no pair, or a sentence has no word, or is too long for any batch.
    """
    check_whole(0, seed=seed)
    numbered = _numbered(pairs, source_vocabulary, target_vocabulary)
    return [_batch(part) for part in _cut(numbered, words, sentences, Random(seed))]


def endless(
    pairs: Iterable[SentencePair],
    source_vocabulary: Numbering,
    target_vocabulary: Numbering,
    *,
    words: int,
    seed: int,
    sentences: int | None = None,
    skip: int = 0,
) -> Iterator[Batch]:
    """Give all `batches` of the corpus, then all again, cut and ordered anew, without end.

    Parameters
    ----------
    pairs, source_vocabulary, target_vocabulary, words, sentences
        As for `batches`, and refused as there, before the first batch is asked for.
    seed : int
        The same seed gives the same batches in the same order.
    skip : int
        How many batches to leave out at first: those that a training which goes on has learnt from already.

    Returns
    -------
    iterator of Batch
    """
    check_whole(0, seed=seed, skip=skip)
    numbered = _numbered(pairs, source_vocabulary, target_vocabulary)
    _check_fit(numbered, words, sentences)
    return map(_batch, islice(_endless(numbered, words, sentences, Random(seed)), skip, None))


def in_one_epoch(
    pairs: Iterable[SentencePair],
    source_vocabulary: Numbering,
    target_vocabulary: Numbering,
    *,
    words: int,
    sentences: int | None = None,
) -> int:
    """Count the `batches` that hold each pair once; it is the same number whatever the seed."""
    return len(_cut(_numbered(pairs, source_vocabulary, target_vocabulary), words, sentences, Random(0)))


def _endless(numbered: list[_Numbered], words: int, sentences: int | None, rng: Random) -> Iterator[list[_Numbered]]:
    while True:
        yield from _cut(numbered, words, sentences, Random(int(rng.random() * 2**32)))


def _numbered(pairs, source_vocabulary, target_vocabulary) -> list[_Numbered]:
    return [(source_vocabulary.encode(pair.source), target_vocabulary.encode(pair.target)) for pair in pairs]


def _batch(numbered: list[_Numbered]) -> Batch:
    if not numbered:
        raise ValueError("pairs is empty; expected at least one sentence pair")
    sources, targets = zip(*numbered, strict=True)
    source, lengths = _side_by_side(sources)
    return Batch(source, lengths, _side_by_side(targets)[0])


def _cut(numbered: list[_Numbered], words: int, sentences: int | None, rng: Random) -> list[list[_Numbered]]:
    """Cut the pairs into those of each batch, in random order."""
    _check_fit(numbered, words, sentences)
    shuffled = sorted(numbered, key=lambda pair: rng.random())
    by_length = sorted(shuffled, key=lambda pair: (_longest(pair), len(pair[0])))
    return sorted(_filled(by_length, words, sentences), key=lambda part: rng.random())


def _check_fit(numbered: list[_Numbered], words: int, sentences: int | None) -> None:
    check_whole(words=words)
    if sentences is not None:
        check_whole(sentences=sentences)
    if not numbered:
        raise ValueError("pairs is empty; expected at least one sentence pair")
    longest = max(map(_longest, numbered))
    if longest > words:
        raise ValueError(
            f"words is {words}; expected at least {longest}, which the longest sentence needs with its END"
        )


def _filled(by_length: list[_Numbered], words: int, sentences: int | None) -> Iterator[list[_Numbered]]:
    """Cut where one pair more, the longest so far, would take all to more than `words` or `sentences`."""
    first = 0
    for last, pair in enumerate(by_length):
        pairs = last + 1 - first
        if pairs * _longest(pair) > words or (sentences is not None and pairs > sentences):
            yield by_length[first:last]
            first = last
    yield by_length[first:]


def _longest(pair: _Numbered) -> int:
    return max(map(len, pair))


def _side_by_side(sentences: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
    if not sentences:
        raise ValueError("sentences is empty; expected at least one sentence")
    ids = pad_sequence([torch.tensor(ids) for ids in sentences], batch_first=True, padding_value=PAD)
    return ids, torch.tensor([len(ids) for ids in sentences])
