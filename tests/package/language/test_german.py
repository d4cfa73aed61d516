"""The German of ours: its words, where its verbs go, and which word translates which."""

import pytest

from attnlib.language.german import clause, coordinate, noun_phrase, object_relative, subject_relative

CAT, MAN, DOGS = map(noun_phrase, ("the cat", "a small man", "the old dogs"))


@pytest.mark.parametrize(
    ("english", "nominative", "accusative"),
    [
        ("the man", "der Mann", "den Mann"),
        ("a man", "ein Mann", "einen Mann"),
        ("the old man", "der alte Mann", "den alten Mann"),
        ("an old man", "ein alter Mann", "einen alten Mann"),
        ("the old woman", "die alte Frau", "die alte Frau"),
        ("an old woman", "eine alte Frau", "eine alte Frau"),
        ("the old book", "das alte Buch", "das alte Buch"),
        ("an old book", "ein altes Buch", "ein altes Buch"),
        ("the old men", "die alten Männer", "die alten Männer"),
        ("the big old black door", "die große alte schwarze Tür", "die große alte schwarze Tür"),
    ],
)
def test_articles_and_endings_agree(english, nominative, accusative):
    pairs = noun_phrase(english).pairs
    assert [" ".join(pair.target) for pair in pairs.values()] == [nominative, accusative]
    size = len(english.split())
    assert pairs["nominative"].links == {(n, n) for n in range(size)}, "word by word"


@pytest.mark.parametrize(
    ("pair", "english", "german"),
    [
        (
            clause(DOGS, "see", MAN, negated=True),
            "the old dogs do not see a small man",
            "die/the alten/old Hunde/dogs sehen/do+see einen/a kleinen/small Mann/man nicht/not",
        ),
        (
            clause(CAT, "look", MAN, negated=True),
            "the cat does not look at a small man",
            "die/the Katze/cat sieht/does+look+at einen/a kleinen/small Mann/man nicht/not an/does+look+at",
        ),
        (
            clause(CAT, "call", MAN, order="verb first"),
            "the cat calls a small man",
            "ruft/calls die/the Katze/cat einen/a kleinen/small Mann/man an/calls",
        ),
        (
            clause(coordinate(CAT, MAN), "arrive", order="verb last", negated=True),
            "the cat and a small man do not arrive",
            "die/the Katze/cat und/and ein/a kleiner/small Mann/man nicht/not ankommen/do+arrive",
        ),
        (
            clause(subject_relative(MAN, "look", DOGS), "sleep"),
            "a small man that looks at the old dogs sleeps",
            "ein/a kleiner/small Mann/man der/that die/the alten/old Hunde/dogs ansieht/looks+at schläft/sleeps",
        ),
        (
            object_relative(MAN, CAT, "call", negated=True).pairs["accusative"],
            "a small man that the cat does not call",
            "einen/a kleinen/small Mann/man den/that die/the Katze/cat nicht/not anruft/does+call",
        ),
    ],
)
def test_verbs_go_where_german_wants_them(pair, english, german, gloss):
    assert " ".join(pair.source) == english
    assert gloss(pair) == german


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: noun_phrase("the green cat"), "english is 'the green cat'; expected an article that fits, then"),
        (lambda: clause(CAT, "fly"), "verb is 'fly'; expected one of sleep"),
        (lambda: clause(CAT, "sleep", order="verb third"), "order is 'verb third'; expected one of verb second"),
    ],
)
def test_what_is_no_phrase_is_refused(refused, call, says):
    refused(call, says)
