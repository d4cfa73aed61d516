"""Where a script puts no spaces, letters are linked and counted; elsewhere words are."""

import numpy as np
import pytest

from attnlib.text.subwords import bleu_tokenizer, lacks_spaces, split_units, unit_weights


@pytest.mark.parametrize(
    ("text", "tokenizer"),
    [
        (["I see dogs .", "größe"], None),
        (["나는 개를 본다", "고양이"], None),
        (["Я вижу собак", "да"], None),
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


def test_units_share_what_their_piece_gets_and_average_what_their_pieces_give():
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.1, 0.3], [0.0, 0.4, 0.6, 0.0]])
    source = ("a", "看", "见", "bc"), ("", "a看", "见b", "c")  # the first piece is of no letter
    target = ("x", "y"), ("x", "x"[:0], "y")
    result = unit_weights(weights, source, target)
    first = [0.1 + 0.2 / 2, 0.2 / 2, 0.3 / 2, 0.3 / 2 + 0.4]
    second = [(0.5 + 0.0) / 2 + (0.1 + 0.4) / 4, (0.1 + 0.4) / 4, (0.1 + 0.6) / 4, (0.1 + 0.6) / 4 + 0.3 / 2]
    np.testing.assert_allclose(result, [first, second])
    whole = unit_weights(weights, (("ab",), ("a", "b")), (("c", "d"), ("cd",)))
    np.testing.assert_allclose(whole, [[0.1 + 0.2]] * 2)
