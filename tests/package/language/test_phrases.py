"""The French of every construction, word for word, with its links."""

import pytest

from attnlib.language.lexicon import ADJECTIVES, NOUNS, an
from attnlib.language.phrases import (
    clause,
    concatenate,
    coordinate,
    noun_phrase,
    object_relative,
    possessive,
    subject_relative,
    words,
)

the_cat, the_man, the_woman = noun_phrase("the cat"), noun_phrase("the man"), noun_phrase("the woman")
the_dogs = noun_phrase("the dogs")


def french(pair):
    return " ".join(pair.target)


def test_each_english_word_is_there_once_and_the_feminines_are_regular():
    english = [w for n in NOUNS for w in (n.english, n.english_plural)] + [a.english for a in ADJECTIVES]
    assert len(english) == len(set(english))
    for adjective in ADJECTIVES:
        assert adjective.feminine.endswith("e")
        assert adjective.feminine_plural == adjective.feminine + "s"


@pytest.mark.parametrize(
    ("english", "expected"),
    [
        ("the famous european economic areas", "les zones économiques européennes célèbres"),
        ("an economic agreement", "un accord économique"),
        ("the school", "l' école"),
        ("the old school", "la vieille école"),
        ("the man", "l' homme"),
        ("an old man", "un vieil homme"),
        ("the beautiful bird", "le bel oiseau"),
        ("the beautiful old tree", "le beau vieil arbre"),
        ("the beautiful old queens", "les belles vieilles reines"),
        ("the beautiful small red cars", "les belles petites voitures rouges"),
        ("a beautiful famous black european dog", "un beau chien européen noir célèbre"),
    ],
)
def test_noun_phrases(english, expected):
    phrase = noun_phrase(english)
    assert french(phrase.pair) == expected
    assert phrase.pair.source == tuple(english.split())


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.english)
def test_articles_and_adjectives_agree_with_their_noun(noun):
    feminine = noun.gender == "f"
    for adjective in ADJECTIVES:
        one = {adjective.feminine} if feminine else {adjective.masculine, adjective.before_vowel}
        many = {adjective.feminine_plural if feminine else adjective.masculine_plural}
        for article, word, articles, forms in [
            ("the", noun.english, {"la" if feminine else "le", "l'"}, one),
            (an(adjective.english), noun.english, {"une" if feminine else "un"}, one),
            ("the", noun.english_plural, {"les"}, many),
        ]:
            first, *others = french(noun_phrase(f"{article} {adjective.english} {word}").pair).split()
            assert first in articles
            assert len(forms & {*others}) == 1


@pytest.mark.parametrize(
    ("pair", "english", "expected", "links"),
    [
        (
            clause(the_cat, "see", possessive(noun_phrase("the european economic area"), the_man)),
            "the cat sees the european economic area of the man",
            "le chat voit la zone économique européenne de l' homme",
            "0-0 1-1 2-2 3-3 4-6 5-5 6-4 7-7 8-8 9-9",
        ),
        (
            clause(possessive(noun_phrase("the house"), noun_phrase("the old men")), "sing", negated=True),
            "the house of the old men does not sing",
            "la maison des vieux hommes ne chante pas",
            "0-0 1-1 2-2 3-2 4-3 5-4 6-6 7-5 7-7 8-6",
        ),
        (
            clause(the_dogs, "love", the_woman, negated=True),
            "the dogs do not love the woman",
            "les chiens n' aiment pas la femme",
            "0-0 1-1 2-3 3-2 3-4 4-3 5-5 6-6",
        ),
        (
            clause(the_woman, "look", the_dogs, negated=True),
            "the woman does not look at the dogs",
            "la femme ne regarde pas les chiens",
            "0-0 1-1 2-3 3-2 3-4 4-3 5-3 6-5 7-6",
        ),
        (
            clause(the_cat, "speak", noun_phrase("the men"), negated=True),
            "the cat does not speak to the men",
            "le chat ne parle pas aux hommes",
            "0-0 1-1 2-3 3-2 3-4 4-3 5-5 6-5 7-6",
        ),
        (
            clause(the_cat, "speak", the_man),
            "the cat speaks to the man",
            "le chat parle à l' homme",
            "0-0 1-1 2-2 3-3 4-4 5-5",
        ),
        (
            clause(subject_relative(the_cat, "listen", the_woman), "sleep"),
            "the cat that listens to the woman sleeps",
            "le chat qui écoute la femme dort",
            "0-0 1-1 2-2 3-3 4-3 5-4 6-5 7-6",
        ),
        (
            clause(the_woman, "see", object_relative(the_dogs, noun_phrase("an old man"), "look", negated=True)),
            "the woman sees the dogs that an old man does not look at",
            "la femme voit les chiens qu' un vieil homme ne regarde pas",
            "0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7 8-8 9-10 10-9 10-11 11-10 12-10",
        ),
        (
            clause(coordinate(the_cat, noun_phrase("the queen")), "sleep"),
            "the cat and the queen sleep",
            "le chat et la reine dorment",
            "0-0 1-1 2-2 3-3 4-4 5-5",
        ),
    ],
)
def test_whole_sentences(pair, english, expected, links):
    assert " ".join(pair.source) == english
    assert french(pair) == expected
    assert pair.links == {tuple(map(int, link.split("-"))) for link in links.split()}


def test_the_contractions():
    owned = noun_phrase("the book")
    phrases = {
        "the cat": "du chat",
        "the cats": "des chats",
        "the woman": "de la femme",
        "the man": "de l' homme",
        "the old man": "du vieil homme",
        "a man": "d' un homme",
        "a woman": "d' une femme",
    }
    for owner, expected in phrases.items():
        assert french(possessive(owned, noun_phrase(owner)).pair) == f"le livre {expected}"


def test_joining_is_associative_whatever_is_contracted():
    parts = [words("the", "le"), words("dog", "chien"), words("of", "de"), words("the", "le"), words("cat", "chat")]
    at_once = concatenate(*parts)
    assert french(at_once) == "le chien du chat"
    assert at_once.links == {(0, 0), (1, 1), (2, 2), (3, 2), (4, 3)}
    for n in range(1, 5):
        assert concatenate(concatenate(*parts[:n]), concatenate(*parts[n:])) == at_once


WRONG = ["", "cat", "the", "the blue cat", "this cat", "the black big cat", "a old man", "an european man", "a cats"]


@pytest.mark.parametrize("english", [*WRONG, "the cat big"])
def test_what_is_no_noun_phrase_is_refused(english, refused):
    refused(lambda: noun_phrase(english), f"english is '{english}'; expected an article that fits")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: clause(the_cat, "eat"), "verb is 'eat'; expected one of sleep, sing"),
        (lambda: subject_relative(the_cat, ""), "verb is ''"),
        (lambda: object_relative(the_cat, the_man, None), "verb is None"),
        (concatenate, "parts is empty; expected at least one phrase"),
    ],
)
def test_what_does_not_fit_is_refused(call, says, refused):
    refused(call, says)
