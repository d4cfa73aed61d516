"""Subwords cut words into pieces and put them together again; in scripts without spaces, letters are the units."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnbook.language.sentences import sample
from attnbook.pretrained.subwords import Subwords
from attnlib.data import BOS, EOS, PAD, UNK, Vocabulary
from attnlib.units import bleu_tokenizer, lacks_spaces, split_units, unit_weights

SENTENCES = [words for pair in sample(300, seed=0) for words in (pair.source, pair.target)]
SUBWORDS = Subwords.train(SENTENCES, 120)


def test_words_come_back():
    for words in SENTENCES:
        ids = SUBWORDS.encode(words)
        assert ids[-1] == EOS
        assert SUBWORDS.decode([*ids, PAD, PAD]) == SUBWORDS.decode(torch.tensor(ids)) == words
        assert sum(SUBWORDS.sizes(words)) == len(ids) - 1 > len(words)


LETTERS = st.characters(codec="utf-8", exclude_characters="\ufdd0\ufdd1")  # these two stand for ▁ and ▅ inside


@given(st.lists(st.text(LETTERS, min_size=1).filter(lambda word: [word] == word.split()), min_size=1))
@settings(max_examples=100, deadline=None)
def test_any_words_can_be_cut(words):
    ids = SUBWORDS.encode(words)
    assert len(SUBWORDS.surfaces(words)) == sum(SUBWORDS.sizes(words)) == len(ids) - 1 >= len(words)
    assert "".join(SUBWORDS.surfaces(words)) == "".join(words)
    assert not {PAD, BOS, EOS} & set(ids[:-1])


@given(st.lists(st.integers(0, len(SUBWORDS) - 1)))
@settings(max_examples=200, deadline=None)
def test_any_pieces_make_words_that_share_all_weight(ids):
    words, pieces, source = SUBWORDS.decode(ids), SUBWORDS.names(ids), SENTENCES[0]
    assert all(words)
    weights = np.random.default_rng(0).dirichlet(np.ones(sum(SUBWORDS.sizes(source))), len(pieces))
    shared = unit_weights(weights, (source, SUBWORDS.surfaces(source)), (words, pieces))
    assert shared.shape == (len(words), len(source))
    np.testing.assert_allclose(shared.sum(1), 1)


def test_a_letter_that_the_text_lacks_is_unknown():
    assert SUBWORDS.decode(SUBWORDS.encode(["the", "ω"])) == ("the", "<unknown>")
    assert UNK in SUBWORDS.encode(["ω"])


def test_letters_and_names_that_mean_something_to_sentencepiece_are_ordinary():
    known = Subwords.train([["zq", "▅", "w"], ["ab", "c"], ["▁x", "▁"], ["ab", "c"]], 8000)
    for words in (("zq", "▅", "w"), ("▁x", "▁"), ("q▅▁z",)):
        assert known.decode(known.encode(words)) == words
        assert "".join(known.surfaces(words)) == "".join(words)
    words = ("<pad>", "a", "b<pad>", "<unknown>", "<start>", "<end>", "pad")
    known = Subwords.train([words] * 50, 60)
    assert not {PAD, BOS, UNK} & set(known.encode(words))
    assert known.decode(known.encode(words)) == words
    assert known.decode([PAD, BOS, UNK]) == ("<pad><start><unknown>",)


def test_a_size_beyond_the_text_is_reduced_and_one_below_its_letters_refused():
    assert len(SUBWORDS) == 120
    assert 120 < len(Subwords.train(SENTENCES, 8000)) < 2000
    with pytest.raises(ValueError, match=r"vocab_size is 9; expected at least .* every letter"):
        Subwords.train(SENTENCES, 9)
    with pytest.raises(ValueError, match="sentences is empty"):
        Subwords.train([], 100)
    with pytest.raises(ValueError, match="ids holds 120"):
        SUBWORDS.decode([120])


def test_weights_are_summed_over_source_pieces_and_averaged_over_target_pieces():
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.1, 0.3], [0.0, 0.4, 0.6, 0.0]])
    by_hand = [[0.1 + 0.2, 0.3], [(0.5 + 0.1 + 0.0 + 0.4) / 2, (0.1 + 0.6) / 2]]
    sides = (("ab", "c"), ("a", "b", "c")), (("x", "yz"), ("x", "y", "z"))
    np.testing.assert_allclose(unit_weights(weights, *sides), by_hand)
    words = ("a", "b", "c"), ("x", "y")
    np.testing.assert_array_equal(unit_weights(weights, *zip(words, words, strict=True)), weights[:2, :3])
    rounded_up = np.array([[0.6015625, 0.40234375]])  # as by bfloat16
    assert unit_weights(rounded_up, (["ab"], "ab"), ("x", "x")) == 1


def test_units_share_what_their_piece_gets_and_average_what_their_pieces_give():
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.1, 0.3], [0.0, 0.4, 0.6, 0.0]])
    source = ("a", "看", "见", "bc"), ("", "a看", "见b", "c")  # the first piece is of no letter
    result = unit_weights(weights, source, (("x", "y"), ("x", "", "y")))
    first = [0.1 + 0.2 / 2, 0.2 / 2, 0.3 / 2, 0.3 / 2 + 0.4]
    second = [(0.5 + 0.0) / 2 + (0.1 + 0.4) / 4, (0.1 + 0.4) / 4, (0.1 + 0.6) / 4, (0.1 + 0.6) / 4 + 0.3 / 2]
    np.testing.assert_allclose(result, [first, second])
    whole = unit_weights(weights, (("ab",), ("a", "b")), (("c", "d"), ("cd",)))
    np.testing.assert_allclose(whole, [[0.1 + 0.2]] * 2)
    last = unit_weights(weights, (("a",), ("a", "")), (("x",), ("x", "")))  # pieces of no letter at the end
    np.testing.assert_allclose(last, [[(0.1 + 0.2 + 0.5 + 0.1) / 2]])


@pytest.mark.parametrize(
    ("text", "tokenizer"),
    [
        (["I see dogs .", "größe"], None),
        (["나는 개를 본다", "고양이"], None),
        (["我看见狗。", "我爱你"], "zh"),
        (["我 看见 狗 。", "他 喜欢 大 猫 。"], None),
        (["私は犬を見ます。", "猫"], "char"),
        (["ฉันเห็นสุนัข แล้วก็กลับบ้านของฉัน", "แมว"], "char"),
        (["ฉัน เห็น สุนัข ใน บ้าน"], None),
        (["我昨天用 iPhone 看见一只狗。"], "zh"),
    ],
)
def test_a_text_lacks_spaces_by_its_script_unless_it_was_cut_into_words(text, tokenizer):
    sentences = [tuple(line.split()) for line in text]
    assert lacks_spaces(sentences) == (tokenizer is not None)
    assert bleu_tokenizer(sentences) == tokenizer


def test_letters_stand_alone_with_their_marks_and_other_words_stay_whole():
    assert split_units(("the", "naïve", "cat's", "나는")) == ("the", "naïve", "cat's", "나는")
    assert split_units(("我用iPhone看。", "<unknown>狗")) == ("我", "用", "iPhone", "看", "。", "<unknown>", "狗")
    assert split_units(("เห็น",)) == ("เ", "ห็", "น")


def test_a_vocabulary_of_words_may_leave_out_the_rare():
    sentences = [("a", "b", "a"), ("c", "b", "d")]
    assert Vocabulary.from_sentences(sentences, min_count=2).words == ("a", "b")
    assert Vocabulary.from_sentences(sentences, max_size=3).words == ("a", "b", "c")
    assert Vocabulary.from_sentences(sentences).sizes(("a", "x")) == [1, 1]
