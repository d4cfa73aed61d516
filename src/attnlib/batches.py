"""Batches: encoded sentences side by side.

An encoded sentence, source or target, ends in `END`, and its length counts it. What fills up a batch is `PAD`.
"""

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from attnlib.checks import check_whole
from attnlib.vocabulary import PAD, SentencePair, Vocabulary


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
    sentences: Iterable[Sequence[str]], vocabulary: Vocabulary
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


def batch(pairs: Iterable[SentencePair], source_vocabulary: Vocabulary, target_vocabulary: Vocabulary) -> Batch:
    """Lay sentence pairs side by side, in their order. Errors as for `encode`."""
    pairs = list(pairs)
    source, lengths = encode((pair.source for pair in pairs), source_vocabulary)
    return Batch(source, lengths, encode((pair.target for pair in pairs), target_vocabulary)[0])


def batches(
    pairs: Iterable[SentencePair],
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    *,
    words: int,
    seed: int,
) -> list[Batch]:
    """Cut a corpus into batches of pairs of about the same length, in random order.

    Few `PAD` are computed that way: neighbours in length share a batch, and which of several pairs of one length
    share it is left to `seed`.

    Parameters
    ----------
    pairs : sentence pairs
        Each comes in exactly one batch.
    source_vocabulary, target_vocabulary : Vocabulary
        They number the words.
    words : int
        The most words that a batch may hold on one side, `END` and `PAD` counted.
    seed : int
        The same seed gives the same batches in the same order.

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
    check_whole(words=words)
    check_whole(0, seed=seed)
    rng = Random(seed)
    shuffled = sorted(pairs, key=lambda pair: rng.random())
    if not shuffled:
        raise ValueError("pairs is empty; expected at least one sentence pair")
    by_length = sorted(shuffled, key=lambda pair: (_longest(pair), len(pair.source)))
    if _longest(by_length[-1]) > words:
        longest = _longest(by_length[-1])
        raise ValueError(
            f"words is {words}; expected at least {longest}, which the longest sentence needs with its END"
        )
    cut = [batch(part, source_vocabulary, target_vocabulary) for part in _filled(by_length, words)]
    return sorted(cut, key=lambda part: rng.random())


def _filled(by_length: list[SentencePair], words: int) -> Iterator[list[SentencePair]]:
    """Cut where one pair more, the longest so far, would take all to more than `words`."""
    first = 0
    for last, pair in enumerate(by_length):
        if (last + 1 - first) * _longest(pair) > words:
            yield by_length[first:last]
            first = last
    yield by_length[first:]


def _longest(pair: SentencePair) -> int:
    return max(len(pair.source), len(pair.target)) + 1


def _side_by_side(sentences: list[list[int]]) -> tuple[Tensor, Tensor]:
    if not sentences:
        raise ValueError("sentences is empty; expected at least one sentence")
    ids = pad_sequence([torch.tensor(ids) for ids in sentences], batch_first=True, padding_value=PAD)
    return ids, torch.tensor([len(ids) for ids in sentences])
