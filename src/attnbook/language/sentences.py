"""English and French sentences at random (chapter 2), whose translations and word links are known.

A sentence is one group of clauses, or several with "and" between them. A group is a main clause, perhaps with a
subordinate one. Each of the two may have a place, and a relative clause.
"""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from random import Random
from typing import Any

from attnbook.language.dictionary import ADJECTIVES, CONJUNCTIONS, NOUNS, PREPOSITIONS, VERBS
from attnbook.language.lexicon import Noun, Verb, an
from attnbook.language.phrases import (
    Phrase,
    adjoin,
    clause,
    concatenate,
    noun_phrase,
    object_relative,
    place,
    possessive,
    subject_relative,
    subordinate,
    words,
)
from attnlib.checks import check_choice, check_finite, check_seed, check_whole
from attnlib.data import SentencePair, Vocabulary

_TEST = 64  # of 256: the share of all sentences that is kept for the part "test"
_SMALL_WORDS = "a an and do does not of that the", "au aux d' de des du et l' la le les n' ne pas qu' que qui un une à"


def sample(
    n: int, seed: int, clauses: Sequence[int] = (1, 2, 3), part: str = "train", reordering: float = 0.5
) -> list[SentencePair]:
    """Draw English-French sentence pairs from the grammar, with replacement, the same on every platform.

    Parameters
    ----------
    n : int
        The number of pairs.
    seed : int
        The same seed gives the same pairs.
    clauses : sequence of int, default (1, 2, 3)
        For each pair, one of these numbers is drawn with equal probability. The sentence has so many clauses, that is,
        finite verbs; relative clauses are counted.
    part : {"train", "test"}
        The part of all sentences. It depends on a hash of the French sentence, so that no sentence is in both parts,
        in whatever order.
    reordering : float, default 0.5
        How often English puts a subordinate clause first or, if it does not, a place; French puts both last. The seed
        decides on the French alone, which is the same for all values.

    Returns
    -------
    list of SentencePair
        The pairs, with their word links. An English sentence has one translation.

    Examples
    --------
    >>> from attnbook.language.sentences import sample
    >>> [pair] = sample(1, seed=5, clauses=[1])
    >>> " ".join(pair.source)
    'in the gardens the beautiful italian brother looks at the cups'
    >>> " ".join(pair.target)
    'le beau frère italien regarde les tasses dans les jardins'
    """
    check_whole(n=n)
    seed = check_seed(seed)
    check_choice(("train", "test"), part=part)
    check_finite(reordering=reordering)
    if not 0 <= reordering <= 1:
        raise ValueError(f"reordering is {reordering}; expected a share from 0 to 1")
    if not len(clauses):
        raise ValueError("clauses is empty; expected at least one number of clauses")
    numbers = [number for each in clauses for number in check_whole(clauses=each)]
    rng = Random(seed)
    pairs: list[SentencePair] = []
    while len(pairs) < n:
        pair = _any_sentence(rng, choose(rng, numbers), reordering)
        if part_of(pair.target) == part:
            pairs.append(pair)
    return pairs


def part_of(target: Sequence[str]) -> str:
    """Return the part of all sentences, "train" or "test", that a French sentence belongs to."""
    return "test" if sha256(" ".join(target).encode()).digest()[0] < _TEST else "train"


@cache
def vocabularies() -> tuple[Vocabulary, Vocabulary]:
    """Return the vocabularies of both languages: all words of the tables, in all their forms."""
    english = [word for noun in NOUNS for word in (noun.english, noun.english_plural)]
    english += [adjective.english for adjective in ADJECTIVES]
    english += [word for verb in VERBS for word in (verb.english, f"{verb.english}s", verb.particle)]
    french = [word for noun in NOUNS for word in (noun.french, noun.french_plural)]
    french += [word for adjective in ADJECTIVES for word in adjective[3:8]]
    french += [word for verb in VERBS for word in (verb.french, verb.french_plural)]
    for begins in (PREPOSITIONS, CONJUNCTIONS):
        english += begins
        french += begins.values()
    every = (" ".join([small, *table]).split() for small, table in zip(_SMALL_WORDS, (english, french), strict=True))
    source, target = (Vocabulary(tuple(sorted({*words}))) for words in every)
    return source, target


def choose(rng: Random, options: Sequence[Any]) -> Any:
    """Draw one of several options, each equally likely."""
    return options[int(rng.random() * len(options))]  # of Random's methods, random() alone is fixed for good


def arrange(
    main: SentencePair,
    place: SentencePair | None,
    subordinate: SentencePair | None,
    *,
    place_first: bool,
    subordinate_first: bool,
) -> SentencePair:
    """Put a main clause, its place, and a subordinate clause in order.

    In English a place goes first only where no subordinate clause does. Between the two, a reader could not know which
    it belongs to: *when the king sleeps in the garden the dog sings*.
    """
    subordinate_first = subordinate_first and subordinate is not None
    if place:
        main = adjoin(main, place, fronted=place_first and not subordinate_first)
    return adjoin(main, subordinate, fronted=subordinate_first) if subordinate else main


def _any_sentence(rng: Random, clauses: int, reordering: float) -> SentencePair:
    """Draw a main clause and, of what is left, perhaps a subordinate one; the others follow after "and"."""
    main, there, left = _any_clause(rng, clauses)
    second = None
    if left and rng.random() < 0.7:
        second, where, left = _any_clause(rng, left)
        second = subordinate(choose(rng, [*CONJUNCTIONS]), adjoin(second, where) if where else second)
    place_first, subordinate_first = rng.random() < reordering, rng.random() < reordering
    group = arrange(main, there, second, place_first=place_first, subordinate_first=subordinate_first)
    return concatenate(group, words("and", "et"), _any_sentence(rng, left, reordering)) if left else group


def _any_clause(rng: Random, clauses: int) -> tuple[SentencePair, SentencePair | None, int]:
    """Draw a clause, which may have a relative one, and perhaps its place; return both, and how many are left."""
    related = clauses > 1 and rng.random() < 0.5
    verb = choose(rng, VERBS)
    of_complement = related and bool(verb.kinds) and rng.random() < 0.5
    negated = rng.random() < 0.2
    subject = _any_phrase(rng, verb.subjects, relative=related and not of_complement)
    complement = _any_complement(rng, verb, negated, relative=of_complement)
    there = place(choose(rng, [*PREPOSITIONS]), _any_phrase(rng, "place")) if rng.random() < 0.5 else None
    return clause(subject, verb.english, complement, negated=negated), there, clauses - 1 - related


def _any_phrase(rng: Random, kinds: str, *, relative: bool = False, definite: bool = False) -> Phrase:
    kind = choose(rng, kinds.split(","))
    noun = choose(rng, [noun for noun in NOUNS if noun.kind == kind])
    phrase = noun_phrase(_any_english(rng, noun, definite))
    if not relative:
        owned = kind != "person" and rng.random() < 0.2
        return possessive(phrase, _any_phrase(rng, "person")) if owned else phrase
    negated = rng.random() < 0.2
    acts = [verb for verb in VERBS if kind in verb.subjects]
    if acts and rng.random() < 0.5:
        verb = choose(rng, acts)
        return subject_relative(phrase, verb.english, _any_complement(rng, verb, negated), negated=negated)
    verb = choose(rng, [verb for verb in VERBS if kind in verb.kinds and verb.direct])
    return object_relative(phrase, _any_phrase(rng, verb.subjects), verb.english, negated=negated)


def _any_complement(rng: Random, verb: Verb, negated: bool, *, relative: bool = False) -> Phrase | None:
    """Make up the verb's complement, if it has one; an indefinite one would change the negation, to "de"."""
    if not verb.kinds:
        return None
    return _any_phrase(rng, verb.kinds, relative=relative, definite=negated and verb.direct)


def _any_english(rng: Random, noun: Noun, definite: bool) -> str:
    """Name the noun with an article and a few adjectives, at most one of a class, in the order of the table."""
    plural = rng.random() < 0.3
    rate = 1 / 2 if noun.kind == "matter" else 1 / 8  # so that areas are often both european and economic
    named = [choose(rng, alike) for alike in _adjectives(noun.kind) if rng.random() < rate]
    named.append(noun.english_plural if plural else noun.english)
    return " ".join(["the" if definite or plural or rng.random() < 0.6 else an(named[0]), *named])


@cache
def _adjectives(kind: str) -> list[list[str]]:
    """Return the adjectives that go with a kind of noun, grouped by their classes."""
    suitable = [adjective for adjective in ADJECTIVES if kind in adjective.kinds.split(",")]
    classes = dict.fromkeys(adjective.word_class for adjective in suitable)
    return [[a.english for a in suitable if a.word_class == word_class] for word_class in classes]


def max_output_length(source: Sequence[str]) -> int:
    """Return the maximum length of a translation, EOS counted.

    It is twice the number of source words, plus five.
    """
    return 2 * len(source) + 5
