"""Words to numbers and back."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlib.data import BOS, EOS, PAD, UNKNOWN, Vocabulary

VOCABULARY = Vocabulary.of([("the", "cat", "sleeps"), ("the", "dog")])


def test_three_words_by_hand():
    assert (PAD, BOS, EOS, UNKNOWN) == (0, 1, 2, 3)
    assert VOCABULARY.words == ("cat", "dog", "sleeps", "the")
    assert len(VOCABULARY) == 8
    assert VOCABULARY.encode(["the", "cat", "barks"]) == [7, 4, UNKNOWN, EOS]
    assert VOCABULARY.decode([7, 4, UNKNOWN, EOS, PAD, 5]) == ("the", "cat", "<unknown>")
    assert VOCABULARY.decode([7, 4]) == ("the", "cat")


@given(
    known=st.sets(st.text("aé '", min_size=1, max_size=2)),
    words=st.lists(st.text("aé '<", max_size=2), min_size=1),
)
def test_decoding_undoes_encoding_but_for_words_not_known(known, words):
    vocabulary = Vocabulary(tuple(sorted(known)))
    numbers = vocabulary.encode(words)
    expected = tuple(word if word in known else "<unknown>" for word in words)
    assert vocabulary.decode(numbers) == vocabulary.decode(torch.tensor(numbers)) == expected


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: Vocabulary(("cat", "cat")), ValueError, "words holds 2 words; expected each once"),
        (lambda: Vocabulary(("<unknown>",)), ValueError, "each once, and not <unknown>"),
        (lambda: Vocabulary("ab"), TypeError, "words is the string 'ab'; expected a sequence of words"),
        (lambda: Vocabulary.of([("the",), ()]), ValueError, "words is empty; expected at least one"),
        (lambda: Vocabulary.of(["the cat"]), TypeError, "words is the string 'the cat'"),
        (lambda: VOCABULARY.encode("the cat"), TypeError, "words is the string 'the cat'"),
        (lambda: VOCABULARY.encode([]), ValueError, "words is empty"),
        (lambda: VOCABULARY.decode([8]), ValueError, "ids holds 8; expected numbers from 0 to 7"),
        (lambda: VOCABULARY.decode([-1]), ValueError, "ids holds -1"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, says, refused):
    refused(call, error, says)


def test_names_of_special_numbers_are_ordinary_words_of_a_text():
    words = ("<end>", "a", "<pad>", "<start>", "<unknown>")
    known = Vocabulary.of([words])
    assert len({*known.encode(words), PAD, BOS}) == 8
    assert known.encode(words).index(EOS) == len(words)
    assert known.decode(known.encode(words)) == words
