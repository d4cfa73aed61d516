"""The lexicon: each word once, each form where it belongs."""

import pytest

from attnlib.language.lexicon import ADJECTIVES, NOUNS, agreeing, an, article, meet


def test_each_english_word_is_there_once_and_the_feminines_are_regular():
    english = [w for n in NOUNS for w in (n.english, n.english_plural)] + [a.english for a in ADJECTIVES]
    assert len(english) == len(set(english))
    for adjective in ADJECTIVES:
        assert adjective.feminine.endswith("e")
        assert adjective.feminine_plural == adjective.feminine + "s"


WAYS = (False, False), (True, False), (True, True)


def test_small_words_by_hand():
    cat, queen = NOUNS[0], NOUNS[6]
    assert [an(word) for word in ("cat", "agreement", "old", "european")] == ["a", "an", "an", "a"]
    assert [article(definite, cat, plural) for definite, plural in WAYS] == ["un", "le", "les"]
    assert [article(definite, queen, plural) for definite, plural in WAYS] == ["une", "la", "les"]
    assert agreeing(ADJECTIVES[3], cat, plural=False) == agreeing(ADJECTIVES[3], cat, plural=True) == "vieux"
    assert agreeing(ADJECTIVES[3], cat, plural=False, following="homme") == "vieil"
    assert agreeing(ADJECTIVES[3], queen, plural=True) == "vieilles"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [("le", "homme", ("l'", "homme")), ("que", "un", ("qu'", "un")), ("à", "le", ("au",)), ("de", "la", ("de", "la"))],
)
def test_two_words_meet(left, right, expected):
    assert meet(left, right) == expected
