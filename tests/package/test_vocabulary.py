"""Words to numbers and back, and batches that hold every pair once."""

from collections import Counter
from inspect import unwrap

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib.batches import batch, batches, encode
from attnlib.vocabulary import END, PAD, START, UNKNOWN, SentencePair, Vocabulary

VOCABULARY = Vocabulary.of([("the", "cat", "sleeps"), ("the", "dog")])
SENTENCES = st.lists(st.sampled_from(["the", "cat", "dog", "sleeps"]), min_size=1, max_size=11).map(tuple)
PAIRS = st.lists(st.builds(SentencePair, SENTENCES, SENTENCES), min_size=1, max_size=23)


def test_three_words_by_hand():
    assert (PAD, START, END, UNKNOWN) == (0, 1, 2, 3)
    assert VOCABULARY.words == ("cat", "dog", "sleeps", "the")
    assert len(VOCABULARY) == 8
    assert VOCABULARY.encode(["the", "cat", "barks"]) == [7, 4, UNKNOWN, END]
    assert VOCABULARY.decode([7, 4, UNKNOWN, END, PAD, 5]) == ("the", "cat", "<unknown>")
    assert VOCABULARY.decode([7, 4]) == ("the", "cat")


@given(words=SENTENCES)
def test_decoding_undoes_encoding(words):
    assert VOCABULARY.decode(VOCABULARY.encode(words)) == words
    assert VOCABULARY.decode(torch.tensor(VOCABULARY.encode(words))) == words


def test_a_batch_is_filled_up_with_pad_and_its_lengths_count_end():
    ids, lengths = encode([("the", "cat", "sleeps"), ("dog",)], VOCABULARY)
    assert ids.tolist() == [[7, 4, 6, END], [5, END, PAD, PAD]]
    assert lengths.tolist() == [4, 2]
    pairs = [SentencePair(("dog",), ("the", "dog")), SentencePair(("the", "cat"), ("cat",))]
    source, lengths, target = batch(pairs, VOCABULARY, VOCABULARY)
    assert source.tolist() == [[5, END, PAD], [7, 4, END]]
    assert lengths.tolist() == [2, 3]
    assert target.tolist() == [[7, 5, END], [4, END, PAD]]


@settings(deadline=None, max_examples=50)
@given(pairs=PAIRS, words=st.integers(12, 60), seed=st.integers(0, 10))
def test_batches_hold_every_pair_once_and_never_too_many_words(pairs, words, seed):
    cut = batches(pairs, VOCABULARY, VOCABULARY, words=words, seed=seed)
    for source, lengths, target in cut:
        assert max(source.numel(), target.numel()) <= words
        assert ((source != PAD).sum(1) == lengths).all()
    found = Counter(
        (VOCABULARY.decode(s), VOCABULARY.decode(t))
        for part in cut
        for s, t in zip(part.source, part.target, strict=True)
    )
    assert found == Counter((pair.source, pair.target) for pair in pairs)


def test_neighbours_in_length_share_a_batch():
    pairs = [SentencePair(("cat",) * n, ("dog",) * n) for n in (1, 9, 2, 8, 1, 9, 2, 8)]
    for source, lengths, _ in batches(pairs, VOCABULARY, VOCABULARY, words=40, seed=0):
        assert source.shape[1] - lengths.min() <= 1


def test_the_seed_decides_the_batches():
    pairs = [SentencePair(("cat",) * (n % 5 + 1), ("dog",) * (n % 3 + 1)) for n in range(40)]

    def cut(seed):
        return [part.target.tolist() for part in batches(pairs, VOCABULARY, VOCABULARY, words=30, seed=seed)]

    assert cut(1) == cut(1)
    assert cut(1) != cut(2)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: VOCABULARY.encode("the cat"), TypeError, "words is the string 'the cat'"),
        (lambda: VOCABULARY.encode([]), ValueError, "words is empty"),
        (lambda: Vocabulary.of([("the",), ()]), ValueError, "words is empty"),
        (lambda: Vocabulary(("cat", "cat")), ValueError, "each once"),
        (lambda: Vocabulary(("<pad>",)), ValueError, "none of"),
        (lambda: VOCABULARY.decode([8]), ValueError, "ids holds 8; expected numbers from 0 to 7"),
        (lambda: VOCABULARY.decode([-1]), ValueError, "ids holds -1"),
        (lambda: encode([], VOCABULARY), ValueError, "sentences is empty"),
        (lambda: encode([("cat",), ()], VOCABULARY), ValueError, "words is empty"),
        (lambda: cut_into([], 9), ValueError, "pairs is empty"),
        (lambda: cut_into([SentencePair(("cat",), ("cat",) * 9)], 9), ValueError, "words is 9; expected at least 10"),
    ],
)
def test_bad_input_is_named(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()


def cut_into(pairs, words):
    return unwrap(batches)(pairs, VOCABULARY, VOCABULARY, words=words, seed=0)
