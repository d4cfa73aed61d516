"""Words to numbers and back, and batches against sorted lists."""

from itertools import islice
from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.language.sentences import sample
from attnlib import BOS, EOS, PAD, SentencePair, Vocabulary, batches, collate, encode_batch, infinite_batches
from attnlib.batching import Corpus, parted
from attnlib.data import SPECIAL

VOCABULARY = Vocabulary.from_sentences([("the", "cat", "sleeps"), ("the", "dog")])


# --- Vocabularies ---


TEXT = st.lists(st.text("aé '", max_size=2) | st.sampled_from(SPECIAL), min_size=1)


@given(known=TEXT, words=TEXT)
def test_decoding_undoes_encoding_but_for_words_not_known_also_if_they_are_named_as_special_numbers(known, words):
    vocabulary = Vocabulary.from_sentences([known])
    *numbers, end = vocabulary.encode(words)
    assert end == EOS
    assert not {PAD, BOS, EOS} & {*numbers}
    expected = tuple(word if word in known else "<unknown>" for word in words)
    assert vocabulary.decode([*numbers, end, 4]) == vocabulary.decode(torch.tensor(numbers)) == expected


# --- Batches ---


def test_a_batch_is_filled_up_with_pad_and_its_lengths_count_end():
    ids, lengths = encode_batch([("the", "cat", "sleeps"), ("dog",)], VOCABULARY)
    assert ids.tolist() == [[7, 4, 6, EOS], [5, EOS, PAD, PAD]]
    assert lengths.tolist() == [4, 2]
    pairs = [SentencePair(("dog",), ("the", "dog")), SentencePair(("the", "cat"), ("cat",))]
    source, lengths, target = collate(pairs, VOCABULARY, VOCABULARY)
    assert source.tolist() == [[5, EOS, PAD], [7, 4, EOS]]
    assert lengths.tolist() == [2, 3]
    assert target.tolist() == [[7, 5, EOS], [4, EOS, PAD]]


def one_by_one(pairs, words, sentences, rng):
    """Cut as `batches` says, with lists alone: in random order, by length, as full as may be, in random order."""

    def longest(pair):
        return 1 + max(len(pair.source), len(pair.target))

    shuffled = sorted(pairs, key=lambda pair: rng.random())
    parts = [[]]
    for pair in sorted(shuffled, key=lambda pair: (longest(pair), len(pair.source))):
        if (len(parts[-1]) + 1) * longest(pair) > words or len(parts[-1]) == sentences:
            parts.append([])
        parts[-1].append(pair)
    return sorted(parts, key=lambda part: rng.random())


def equal(one, other):
    return all(torch.equal(a, b) and a.dtype == b.dtype for a, b in zip(one, other, strict=True))


GRAMMAR = [  # either side may be the longer one
    pair if n % 2 else SentencePair(pair.target, pair.source) for n, pair in enumerate(sample(211, seed=0))
]
BOTH = [Vocabulary.from_sentences(getattr(pair, side) for pair in GRAMMAR) for side in ("source", "target")]


CORPUS = Corpus.from_pairs(GRAMMAR, *BOTH)


@pytest.mark.parametrize(("words", "sentences"), [(96, None), (1009, 13), (10_007, None)])
def test_batches_are_those_of_sorted_lists(words, sentences):
    sizes, rng = {"max_tokens": words, "max_sentences": sentences}, Random(7)
    seeds = [int(rng.random() * 2**32) for _ in range(3)]
    epochs = [one_by_one(GRAMMAR, words, sentences, Random(seed)) for seed in seeds]
    expected = [collate(part, *BOTH) for epoch in epochs for part in epoch]
    if sentences is None:
        of_pairs = infinite_batches(GRAMMAR, *BOTH, max_tokens=words, seed=7)
        assert all(map(equal, islice(of_pairs, len(expected)), expected))
        assert all(map(equal, batches(GRAMMAR, *BOTH, max_tokens=words, seed=seeds[0]), expected))
    assert all(map(equal, islice(CORPUS.infinite_batches(**sizes, seed=7), len(expected)), expected))
    assert {CORPUS.in_one_epoch(**sizes)} == {*map(len, epochs)}
    assert all(map(equal, islice(CORPUS.infinite_batches(**sizes, seed=7, skip=2), len(expected) - 2), expected[2:]))


def test_a_batch_takes_what_fits_and_a_longer_sentence_has_its_own():
    lengths = [1, 2, 2, 9, 1, 3, 1, 1]
    assert [lengths[part] for part in parted(lengths, 6, None)] == [[1, 2, 2], [9], [1, 3], [1, 1]]


def draw(pairs, **options):
    return infinite_batches(pairs, VOCABULARY, VOCABULARY, **{"max_tokens": 10, "seed": 0} | options)


CAT = SentencePair(("cat",), ("cat",) * 9)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Vocabulary(("cat", "cat")), "words holds 2 words; expected distinct"),
        (lambda: Vocabulary(("<unknown>",)), "distinct words, without <unknown>"),
        (lambda: Vocabulary("ab"), "TypeError: words is the string 'ab'; expected a sequence of words"),
        (lambda: Vocabulary(["the", "cat"]), r"TypeError: words is \['the', 'cat'\]; expected a tuple"),
        (lambda: VOCABULARY.encode("the cat"), "TypeError: words is the string 'the cat'"),
        (lambda: VOCABULARY.encode([7]), "TypeError: words holds 7; expected words"),
        (lambda: VOCABULARY.encode([]), "words is empty"),
        (lambda: VOCABULARY.decode([8]), "ids holds 8; expected ids from 0 to 7"),
        (lambda: encode_batch([], VOCABULARY), "sentences is empty; expected at least one sentence"),
        (lambda: Vocabulary.from_sentences([["cat"]], max_size=0), "max_size is 0; expected at least 1"),
        (lambda: Vocabulary.from_sentences([["cat"]], min_count=2), "min_count is 2, and no word is as frequent; expe"),
        (lambda: draw([]), "pairs is empty; expected at least one sentence pair"),
        (lambda: draw([CAT], max_tokens=9), "max_tokens is 9; expected at least 10, which the longest sentence needs"),
        (lambda: draw([CAT], seed=None), "TypeError: seed is None; expected a whole number"),
        (lambda: batches([CAT], VOCABULARY, VOCABULARY, max_tokens=9, seed=0), "max_tokens is 9; expected at least"),
    ],
)
def test_what_does_not_fit_is_refused(call, says, refused):
    refused(call, says)
