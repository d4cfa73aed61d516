"""The German of ours: its words, where its verbs go, and which word translates which."""

import pytest

from attnlib.language.german import VERBS, clause, coordinate, noun_phrase, object_relative, sample, subject_relative

CAT, MAN, DOGS = map(noun_phrase, ("the cat", "a small man", "the old dogs"))


def sides(pair) -> tuple[str, str]:
    return " ".join(pair.source), " ".join(pair.target)


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
        (clause(MAN, "see", CAT), "a small man sees the cat", "ein kleiner Mann sieht die Katze"),
        (clause(MAN, "look", CAT), "a small man looks at the cat", "ein kleiner Mann sieht die Katze an"),
        (clause(DOGS, "sleep", negated=True), "the old dogs do not sleep", "die alten Hunde schlafen nicht"),
        (
            clause(CAT, "call", MAN, negated=True),
            "the cat does not call a small man",
            "die Katze ruft einen kleinen Mann nicht an",
        ),
        (
            clause(CAT, "call", MAN, order="verb first"),
            "the cat calls a small man",
            "ruft die Katze einen kleinen Mann an",
        ),
        (
            clause(CAT, "call", MAN, order="verb last"),
            "the cat calls a small man",
            "die Katze einen kleinen Mann anruft",
        ),
        (
            clause(coordinate(CAT, MAN), "arrive", order="verb last", negated=True),
            "the cat and a small man do not arrive",
            "die Katze und ein kleiner Mann nicht ankommen",
        ),
        (
            clause(subject_relative(MAN, "look", DOGS), "love", object_relative(CAT, DOGS, "see")),
            "a small man that looks at the old dogs loves the cat that the old dogs see",
            "ein kleiner Mann der die alten Hunde ansieht liebt die Katze die die alten Hunde sehen",
        ),
        (
            clause(CAT, "see", object_relative(MAN, CAT, "call", negated=True)),
            "the cat sees a small man that the cat does not call",
            "die Katze sieht einen kleinen Mann den die Katze nicht anruft",
        ),
    ],
)
def test_verbs_go_where_german_wants_them(pair, english, german):
    assert sides(pair) == (english, german)


def linked(pair) -> set[tuple[str, str]]:
    return {(pair.source[i], pair.target[t]) for i, t in pair.links}


def test_every_part_of_a_verb_is_linked_to_all_of_it():
    pair = clause(CAT, "look", noun_phrase("the man"), negated=True)
    assert sides(pair) == ("the cat does not look at the man", "die Katze sieht den Mann nicht an")
    verb = {(english, german) for english in ("does", "look", "at") for german in ("sieht", "an")}
    assert linked(pair) == verb | {("not", "nicht"), ("cat", "Katze"), ("man", "Mann"), ("the", "die"), ("the", "den")}
    last = clause(CAT, "look", noun_phrase("the man"), negated=True, order="verb last")
    verb = {(english, "ansieht") for english in ("does", "look", "at")}
    assert linked(last) == verb | {("not", "nicht"), ("cat", "Katze"), ("man", "Mann"), ("the", "die"), ("the", "den")}


def test_every_word_is_said():
    german = {word for pair in sample(1000, seed=0) for word in pair.target}
    assert 80 < len(german) < 110
    prefixed = {verb.prefix + verb.german for verb in VERBS}
    assert prefixed < german
    assert {"weil", "wenn", "und", "nicht"} < german


def test_links_reach_further_than_a_step():
    furthest = max(abs(i - t) for pair in sample(100, seed=3, clauses=(5,)) for i, t in pair.links)
    assert furthest > 10


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
