"""What holds of every sentence of `attnbook.language.sentences`, and of its words."""

from functools import cache
from hashlib import sha256
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnbook.language.dictionary import ADJECTIVES, CONJUNCTIONS, NOUNS, PREPOSITIONS, VERBS
from attnbook.language.phrases import adjoin, clause, concatenate, noun_phrase, place, subordinate, words
from attnbook.language.sentences import arrange, sample, vocabularies

SEEDS = st.integers(0, 10**6)
FINITE = {verb.english + ending for verb in VERBS for ending in ("", "s")}
ADJUNCTS = {*PREPOSITIONS, *CONJUNCTIONS}
ARTICLES = {"the", "a", "an"}
VOWELS = tuple("aeiouéhô")


@settings(max_examples=40)
@given(seed=SEEDS, clauses=st.integers(1, 8), reordering=st.sampled_from([0, 0.25, 0.5, 1]))
def test_every_word_is_linked_and_known_and_a_clause_has_a_finite_verb(seed, clauses, reordering):
    source, target = vocabularies()
    for pair in sample(3, seed, (clauses,), reordering=reordering):
        assert {i for i, _ in pair.links} == set(range(len(pair.source)))
        assert {t for _, t in pair.links} == set(range(len(pair.target)))
        assert {*pair.source} <= {*source.words}
        assert {*pair.target} <= {*target.words}
        assert sum(word in FINITE for word in pair.source) == clauses


def test_the_vocabularies_hold_no_word_that_no_sentence_has():
    sides = zip(*(pair[:2] for pair in sample(6000, 3)), strict=True)
    for known, side in zip(vocabularies(), sides, strict=True):
        assert {*known.words} == {word for sentence in side for word in sentence}


def test_each_english_word_is_there_once():
    english = [w for n in NOUNS for w in (n.english, n.english_plural)] + [a.english for a in ADJECTIVES]
    assert len([*english, *FINITE]) == len({*english, *FINITE})


@settings(max_examples=40)
@given(seed=SEEDS, part=st.sampled_from(["train", "test"]))
def test_the_french_does_not_depend_on_the_order_of_the_english(seed, part):
    straight, half, reordered = (sample(4, seed, (1, 2, 3, 5), part, reordering) for reordering in (0, 0.5, 1))
    for a, b, c in zip(straight, half, reordered, strict=True):
        assert a.target == b.target == c.target
        assert sorted(a.source) == sorted(b.source) == sorted(c.source)
        group = " ".join(a.source).split(" and ")[0].split()
        assert a.source[0] in ARTICLES
        assert (c.source[0] in ARTICLES) == ADJUNCTS.isdisjoint(group)


@cache
def groups(first, clauses):
    """Make all groups of one or two clauses, each "C" in English, and in French the clause of its number."""
    main, there, below, where, k = (words(english, f"{english}{first}") for english in ("C", "P", "D", "Q", "K"))
    seconds = [None] if clauses == 1 else [concatenate(k, below), concatenate(k, below, where)]
    options = product((None, there), seconds, (False, True), (False, True))
    made = (arrange(main, at, second, place_first=a, subordinate_first=b) for at, second, a, b in options)
    alike = str.maketrans("DQ", "CP")
    return {(" ".join(pair.source).translate(alike), " ".join(pair.target)) for pair in made}


@cache
def patterns(first, clauses):
    """Make all patterns of so many clauses."""
    together = groups(first, clauses) if clauses < 3 else set()
    return together.union(
        (f"{left} and {right}", f"{gauche} et {droite}")
        for size in (1, 2)
        if size < clauses
        for left, gauche in groups(first, size)
        for right, droite in patterns(first + size, clauses - size)
    )


@pytest.mark.parametrize("clauses", range(1, 9))
def test_one_english_sentence_has_one_translation_whatever_its_pattern(clauses):
    made = patterns(0, clauses)
    assert len({english for english, _ in made}) == len(made) >= 3**clauses


def test_the_parts_share_no_sentence_in_any_order_and_the_test_part_is_a_quarter():
    train, test = (sample(800, 0, (1,), part) for part in ("train", "test"))
    hashes = [sha256(" ".join(pair.target).encode()).digest()[0] for pair in test + train]
    assert max(hashes[:800]) < 64 <= min(hashes[800:])


@settings(max_examples=40)
@given(seed=SEEDS)
def test_nothing_stands_that_should_be_elided_or_contracted(seed):
    for pair in sample(5, seed, (1, 2, 5)):
        for left, right in pairwise(pair.target):
            before_vowel = right.startswith(VOWELS)
            assert not (left in {"le", "la", "de", "ne", "que", "beau", "nouveau"} and before_vowel), pair.target
            assert left not in {"de", "à"} or right not in {"le", "les"}, pair.target
            assert not left.endswith("'") or before_vowel, pair.target
            assert left not in {"bel", "vieil", "nouvel"} or before_vowel, pair.target
        assert pair.target.count("pas") == sum(word in {"ne", "n'"} for word in pair.target) == pair.source.count("not")
        assert pair.target[0] not in {"car", "quand", "si", "là", "dans", "près", "derrière", "hors"}


the_king_sings = clause(noun_phrase("the king"), "sing")


@pytest.mark.parametrize(
    ("adjunct", "expected"),
    [
        (place("near", noun_phrase("the old hotel")), "the cat sleeps near the old hotel | près du vieil hôtel"),
        (place("outside", noun_phrase("the church")), "the cat sleeps outside the church | hors de l' église"),
        (subordinate("because", the_king_sings), "the cat sleeps because the king sings | car le roi chante"),
        (subordinate("where", the_king_sings), "the cat sleeps where the king sings | là où le roi chante"),
    ],
)
def test_french_puts_places_and_subordinate_clauses_last(adjunct, expected):
    main = clause(noun_phrase("the cat"), "sleep")
    last, first = adjoin(main, adjunct), adjoin(main, adjunct, fronted=True)
    assert f"{' '.join(last.source)} | {' '.join(last.target[3:])}" == expected
    assert first.target == last.target
    assert first.source == adjunct.source + main.source


def test_the_sample_of_a_seed_is_the_same_on_every_platform():
    pairs = sample(500, 42, (1, 2, 3, 7))
    text = "\n".join(f"{' '.join(p.source)}|{' '.join(p.target)}|{sorted(p.links)}" for p in pairs)
    assert sha256(text.encode()).hexdigest() == "aa38b604f4b13c5b4afcd90035956d41b1f0631b606ea9525b3e7595536c0671"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"n": 0}, "n is 0; expected at least 1"),
        ({"n": 1.5}, "TypeError: n is 1.5"),
        ({"seed": "one"}, "TypeError: seed is 'one'"),
        ({"clauses": ()}, "clauses is empty; expected at least one number of clauses"),
        ({"clauses": (2, 0)}, "clauses is 0; expected at least 1"),
        ({"clauses": (1.5,)}, "TypeError: clauses is 1.5; expected a whole number"),
        ({"part": "dev"}, "part is 'dev'; expected one of train, test"),
        ({"reordering": 1.5}, "reordering is 1.5; expected a share from 0 to 1"),
        ({"reordering": "half"}, "reordering is 'half'; expected a finite number"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, says, refused):
    refused(lambda: sample(**{"n": 1, "seed": 0} | wrong), says)


def test_a_word_that_begins_no_place_and_no_clause_is_refused(refused):
    refused(lambda: place("over", noun_phrase("the house")), "preposition is 'over'; expected one of in, near")
    main = clause(noun_phrase("the cat"), "sleep")
    refused(lambda: subordinate("until", main), "conjunction is 'until'; expected one of when, because")
