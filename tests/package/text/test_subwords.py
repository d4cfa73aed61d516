"""Subwords cut words into pieces and put them together again, and their weights become the weights of words."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib.data import BOS, EOS, PAD, UNK, Vocabulary
from attnlib.language.grammar import sample
from attnlib.metrics import merge_subword_weights
from attnlib.text import subwords
from attnlib.text.subwords import Subwords

SENTENCES = [words for pair in sample(300, seed=0) for words in (pair.source, pair.target)]
SUBWORDS = Subwords.train(SENTENCES, 120)


@pytest.mark.parametrize("words", SENTENCES[:20])
def test_words_come_back(words):
    ids = SUBWORDS.encode(words)
    assert ids[-1] == EOS
    assert SUBWORDS.decode([*ids, PAD, PAD]) == SUBWORDS.decode(torch.tensor(ids)) == words
    assert SUBWORDS.grouped(ids) == (words, SUBWORDS.sizes(words))
    assert sum(SUBWORDS.sizes(words)) == len(ids) - 1 > len(words)


@given(st.lists(st.text(min_size=1).filter(lambda word: len(word.split()) == 1 and word == word.strip()), min_size=1))
@settings(max_examples=100, deadline=None)
def test_any_words_can_be_cut(words):
    ids = SUBWORDS.encode(words)
    assert sum(SUBWORDS.sizes(words)) == len(ids) - 1 >= len(words)
    assert not {PAD, BOS, EOS} & set(ids[:-1])


@given(st.lists(st.integers(0, len(SUBWORDS) - 1)))
@settings(max_examples=200, deadline=None)
def test_any_pieces_make_words_that_count_them_all(ids):
    words, sizes = SUBWORDS.grouped(ids)
    assert all(words)
    assert len(words) == len(sizes)
    before_end = ids.index(EOS) if EOS in ids else len(ids)
    assert sum(sizes) == before_end or not words


def test_a_letter_that_the_text_lacks_is_unknown():
    assert SUBWORDS.decode(SUBWORDS.encode(["the", "ω"])) == ("the", "<unknown>")
    assert UNK in SUBWORDS.encode(["ω"])


def test_names_of_special_numbers_are_ordinary_words_of_a_text():
    words = ("<pad>", "a", "b<pad>", "<unknown>", "<start>", "<end>", "pad")
    known = Subwords.train([words] * 50, 60)
    assert not {PAD, BOS, UNK} & set(known.encode(words))
    assert known.decode(known.encode(words)) == words
    assert known.decode([PAD, BOS, UNK]) == ("<pad><start><unknown>",)


def test_the_same_text_gives_the_same_model_and_the_model_all_of_it():
    again = Subwords.train(SENTENCES, 120)
    assert again.model == SUBWORDS.model
    assert Subwords(SUBWORDS.model).encode(SENTENCES[0]) == SUBWORDS.encode(SENTENCES[0])


def test_of_a_long_text_a_part_is_learnt_from_and_every_letter_known(monkeypatch):
    monkeypatch.setattr(subwords, "_LEARNT_FROM", 100)
    often, rare = [("abab", "cd")] * 250, [("zÄq",)]
    known = Subwords.train(iter(often + rare), 40)
    assert known.model == Subwords.train(often + rare, 40).model
    assert known.decode(known.encode(("zÄq", "cd"))) == ("zÄq", "cd")
    seen = [("other",) if n % 4 else ("abab", "cd") for n in range(300)]  # every fourth is what is learnt from
    assert Subwords.train(seen, 40).sizes(("abab", "other")) == [1, 6]


def test_a_size_beyond_the_text_is_reduced():
    assert len(SUBWORDS) == 120
    assert 120 < len(Subwords.train(SENTENCES, 8000)) < 1000


def test_a_size_below_the_letters_and_bad_models_are_refused():
    with pytest.raises(ValueError, match=r"size is 9; expected at least .* different letters"):
        Subwords.train(SENTENCES, 9)
    with pytest.raises(ValueError, match="sentences is empty"):
        Subwords.train([], 100)
    with pytest.raises(ValueError, match="no sentencepiece model"):
        Subwords(b"no model")
    with pytest.raises(ValueError, match="ids holds 120"):
        SUBWORDS.decode([120])


def test_weights_are_summed_over_source_pieces_and_averaged_over_target_pieces():
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.1, 0.3], [0.0, 0.4, 0.6, 0.0]])
    result = merge_subword_weights(weights, [2, 1], [1, 2])
    by_hand = [[0.1 + 0.2, 0.3], [(0.5 + 0.1 + 0.0 + 0.4) / 2, (0.1 + 0.6) / 2]]
    np.testing.assert_allclose(result, by_hand)
    np.testing.assert_array_equal(merge_subword_weights(weights, [1, 1, 1], [1, 1]), weights[:2, :3])
    assert merge_subword_weights(weights, [1], []).shape == (0, 1)
    assert merge_subword_weights(np.array([[0.6015625, 0.40234375]]), [2], [1]) == 1  # rounded up, as bfloat16 may be


def test_a_vocabulary_of_words_may_leave_out_the_rare():
    sentences = [("a", "b", "a"), ("c", "b", "d")]
    assert Vocabulary.from_sentences(sentences, min_count=2).words == ("a", "b")
    assert Vocabulary.from_sentences(sentences, max_size=3).words == ("a", "b", "c")
    assert Vocabulary.from_sentences(sentences).grouped([4, 6, EOS, 5]) == (("a", "c"), [1, 1])
    assert Vocabulary.from_sentences(sentences).sizes(("a", "x")) == [1, 1]
