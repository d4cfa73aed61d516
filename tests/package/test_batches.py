"""Batches hold every pair once, and never too many words."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib.batches import batch, batches, encode
from attnlib.vocabulary import END, PAD, SentencePair, Vocabulary

VOCABULARY = Vocabulary.of([("the", "cat", "sleeps"), ("the", "dog")])
SENTENCES = st.lists(st.sampled_from(["the", "cat", "dog", "sleeps"]), min_size=1, max_size=11).map(tuple)
PAIRS = st.lists(st.builds(SentencePair, SENTENCES, SENTENCES), min_size=1, max_size=23)


def cut(pairs, words, seed=0):
    return batches(pairs, VOCABULARY, VOCABULARY, words=words, seed=seed)


def test_a_batch_is_filled_up_with_pad_and_its_lengths_count_end():
    ids, lengths = encode([("the", "cat", "sleeps"), ("dog",)], VOCABULARY)
    assert ids.tolist() == [[7, 4, 6, END], [5, END, PAD, PAD]]
    assert lengths.tolist() == [4, 2]
    pairs = [SentencePair(("dog",), ("the", "dog")), SentencePair(("the", "cat"), ("cat",))]
    source, lengths, target = batch(pairs, VOCABULARY, VOCABULARY)
    assert source.tolist() == [[5, END, PAD], [7, 4, END]]
    assert lengths.tolist() == [2, 3]
    assert target.tolist() == [[7, 5, END], [4, END, PAD]]


@settings(max_examples=50)
@given(pairs=PAIRS, words=st.integers(12, 60), seed=st.integers(0, 10))
def test_batches_hold_every_pair_once_and_never_too_many_words(pairs, words, seed):
    parts = cut(pairs, words, seed)
    for source, lengths, target in parts:
        assert max(source.numel(), target.numel()) <= words
        assert ((source != PAD).sum(1) == lengths).all()
    found = Counter(
        (VOCABULARY.decode(s), VOCABULARY.decode(t))
        for part in parts
        for s, t in zip(part.source, part.target, strict=True)
    )
    assert found == Counter((pair.source, pair.target) for pair in pairs)


def test_neighbours_in_length_share_a_batch():
    pairs = [SentencePair(("cat",) * n, ("dog",) * n) for n in (1, 9, 2, 8, 1, 9, 2, 8)]
    for source, lengths, _ in cut(pairs, 40):
        assert source.shape[1] - lengths.min() <= 1


def test_the_seed_decides_the_batches():
    pairs = [SentencePair(("cat",) * (n % 5 + 1), ("dog",) * (n % 3 + 1)) for n in range(40)]
    first, again, other = ([part.target.tolist() for part in cut(pairs, 30, seed)] for seed in (1, 1, 2))
    assert first == again != other


CAT = SentencePair(("cat",), ("cat",) * 9)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: encode([], VOCABULARY), ValueError, "sentences is empty; expected at least one sentence"),
        (lambda: encode([("cat",), ()], VOCABULARY), ValueError, "words is empty"),
        (lambda: encode(["cat"], VOCABULARY), TypeError, "words is the string 'cat'"),
        (lambda: batch([], VOCABULARY, VOCABULARY), ValueError, "pairs is empty"),
        (lambda: cut([], 9), ValueError, "pairs is empty; expected at least one sentence pair"),
        (lambda: cut([CAT], 9), ValueError, "words is 9; expected at least 10, which the longest sentence needs"),
        (lambda: cut([CAT._replace(source=())], 10), ValueError, "words is empty"),
        (lambda: cut([CAT], 10.5), TypeError, "words is 10.5; expected a whole number"),
        (lambda: cut([CAT], 10, None), TypeError, "seed is None"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, says, refused):
    refused(call, error, says)
