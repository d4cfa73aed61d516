"""The French of every construction, word for word, with its links."""

import pytest

from attnbook.language.dictionary import ADJECTIVES, NOUNS
from attnbook.language.lexicon import an
from attnbook.language.phrases import (
    clause,
    concatenate,
    course_sentence,
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


def gloss(pair):
    """Write behind each French word, after a slash, the English words that it is linked to."""
    english = ["+".join(pair.source[i] for i, t in sorted(pair.links) if t == n) for n in range(len(pair.target))]
    return " ".join(f"{word}/{words}" for word, words in zip(pair.target, english, strict=True))


@pytest.mark.parametrize(
    ("english", "expected"),
    [
        ("the famous european economic areas", "les zones économiques européennes célèbres"),
        ("an economic agreement", "un accord économique"),
        ("the old school", "la vieille école"),
        ("an old man", "un vieil homme"),
        ("the beautiful old tree", "le beau vieil arbre"),
        ("the beautiful small red cars", "les belles petites voitures rouges"),
    ],
)
def test_adjectives_stand_and_sound_as_in_french(english, expected):
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
    ("pair", "expected"),
    [
        (
            clause(the_cat, "see", possessive(noun_phrase("the european economic area"), the_man)),
            "le/the chat/cat voit/sees la/the zone/area économique/economic européenne/european de/of l'/the homme/man",
        ),
        (
            clause(possessive(noun_phrase("the house"), the_dogs), "love", the_man, negated=True),
            "la/the maison/house des/of+the chiens/dogs n'/not aime/does+love pas/not l'/the homme/man",
        ),
        (
            clause(the_dogs, "speak", the_cat, negated=True),
            "les/the chiens/dogs ne/not parlent/do+speak pas/not au/to+the chat/cat",
        ),
        (
            clause(subject_relative(the_woman, "listen", the_man), "sleep"),
            "la/the femme/woman qui/that écoute/listens+to l'/the homme/man dort/sleeps",
        ),
        (
            object_relative(the_dogs, noun_phrase("an old man"), "look", negated=True).pair,
            "les/the chiens/dogs qu'/that un/an vieil/old homme/man ne/not regarde/does+look+at pas/not",
        ),
    ],
)
def test_every_construction(pair, expected):
    assert gloss(pair) == expected


def test_joining_is_associative_whatever_is_contracted():
    parts = [words("the", "le"), words("dog", "chien"), words("of", "de"), words("the", "le"), words("cat", "chat")]
    at_once = concatenate(*parts)
    assert french(at_once) == "le chien du chat"
    for n in range(1, 5):
        assert concatenate(concatenate(*parts[:n]), concatenate(*parts[n:])) == at_once


WRONG = ["", "cat", "the", "the orange cat", "this cat", "the black big cat", "a old man", "an european man", "a cats"]


@pytest.mark.parametrize("english", [*WRONG, "the cat big"])
def test_what_is_no_noun_phrase_is_refused(english, refused):
    refused(lambda: noun_phrase(english), f"english is '{english}'; expected an article that fits")


def test_an_unknown_verb_is_refused(refused):
    refused(lambda: clause(the_cat, "eat"), "verb is 'eat'; expected one of sleep, sing")


def test_the_sentence_of_the_course():
    plain, negated = course_sentence(), course_sentence(negated=True)
    assert " ".join(plain.source) == "in the garden the black cat sees the dog"
    assert gloss(plain) == "le/the chat/cat noir/black voit/sees le/the chien/dog dans/in le/the jardin/garden"
    assert " ".join(negated.source) == "in the garden the black cat does not see the dog"
    assert french(negated) == "le chat noir ne voit pas le chien dans le jardin"
