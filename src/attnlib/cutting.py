"""Which pairs share a batch: found from their lengths alone, so that it takes little time and memory for any text.

A row of `lengths` holds how many words a pair's source and target have, EOS counted.
"""

from collections.abc import Iterator
from itertools import islice
from random import Random

import numpy as np
from jaxtyping import Integer

from attnlib.checks import check_whole


def cut(
    lengths: Integer[np.ndarray, "pairs 2"], max_tokens: int, max_sentences: int | None, rng: Random
) -> Iterator[Integer[np.ndarray, "batch"]]:
    """Cut a corpus into batches of pairs of about the same length, in random order.

    Parameters
    ----------
    lengths : ``"pairs 2"``
        What `check_fit` admits.
    max_tokens : int
        The most words that a batch may hold on one side, EOS and padding counted.
    max_sentences : int, optional
        The most pairs of a batch. None: as many as `max_tokens` admits.
    rng : Random
        It decides which of several pairs of one length share a batch, and the order of the batches.

    Yields
    ------
    rows : ``"batch"``
        The numbers of the pairs of a batch. Each pair is in exactly one.
    """
    uniform = _uniform(rng)
    longest = lengths.max(1)
    order = np.lexsort((uniform.random_sample(len(lengths)), lengths[:, 0], longest)).astype(np.int32)
    bounds = _bounds(longest[order], max_tokens, max_sentences)
    del longest
    for part in np.argsort(uniform.random_sample(len(bounds) - 1), kind="stable"):
        yield order[bounds[part] : bounds[part + 1]]


def shuffled_batches(
    lengths: Integer[np.ndarray, "pairs 2"], max_tokens: int, max_sentences: int | None, seed: int, skip: int
) -> Iterator[Integer[np.ndarray, "batch"]]:
    """Cut the corpus anew for each epoch, without end, and leave out the first `skip` batches. As for `cut`."""

    def epochs() -> Iterator[Integer[np.ndarray, "batch"]]:
        rng = Random(seed)
        while True:
            yield from cut(lengths, max_tokens, max_sentences, Random(int(rng.random() * 2**32)))

    return islice(epochs(), skip, None)


def in_one_epoch(lengths: Integer[np.ndarray, "pairs 2"], max_tokens: int, max_sentences: int | None) -> int:
    """Count the batches that `cut` gives; it is the same number whatever decides the order."""
    check_fit(lengths, max_tokens, max_sentences)
    return len(_bounds(np.sort(lengths.max(1)), max_tokens, max_sentences)) - 1


def check_fit(lengths: Integer[np.ndarray, "pairs 2"], max_tokens: int, max_sentences: int | None) -> None:
    """Refuse a corpus without a pair, and one that has a sentence too long for any batch."""
    check_whole(max_tokens=max_tokens)
    if max_sentences is not None:
        check_whole(max_sentences=max_sentences)
    if not len(lengths):
        raise ValueError("pairs is empty; expected at least one sentence pair")
    longest = lengths.max()
    if longest > max_tokens:
        raise ValueError(
            f"max_tokens is {max_tokens}; expected at least {longest}, which the longest sentence needs with its EOS"
        )


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
