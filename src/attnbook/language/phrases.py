"""Phrases and sentences in English and French at once (chapter 2), with every word linked to its translation.

`combine` is the only way to put them together: the English stays in order, the French may take another, and where
two French words meet they are elided or contracted. So every phrase, of whatever size, is right as it stands, and
the French is a function of the English.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from attnbook.language import lexicon
from attnbook.language.dictionary import ADJECTIVES, CONJUNCTIONS, NOUNS, PREPOSITIONS, VERBS
from attnlib.checks import check_choice
from attnlib.data import SentencePair

_NOUNS = {word: noun for noun in NOUNS for word in (noun.english, noun.english_plural)}
_ADJECTIVES = {adjective.english: adjective for adjective in ADJECTIVES}
_VERBS = {verb.english: verb for verb in VERBS}


class Phrase(NamedTuple):
    """A noun phrase in English and French.

    Attributes
    ----------
    pair : SentencePair
        The words and their links.
    plural : bool
        Whether its verb is plural.
    """

    pair: SentencePair
    plural: bool


@cache
def words(english: str, french: str) -> SentencePair:
    """Return words with a link from every English word to every French word."""
    source, target = tuple(english.split()), tuple(french.split())
    return SentencePair(source, target, frozenset((i, t) for i in range(len(source)) for t in range(len(target))))


def concatenate(*parts: SentencePair, mirrored: bool = False) -> SentencePair:
    """Concatenate phrases, the English in order, the French in order or `mirrored`, with the last part first."""
    numbered = [*enumerate(parts)]
    return combine(parts, numbered[::-1] if mirrored else numbered)


def combine(english: Sequence[SentencePair], foreign: Iterable[tuple[int, SentencePair]]) -> SentencePair:
    """Combine English parts and foreign parts, which may have another order.

    Each foreign part comes with the index of the English part that its links belong to.
    """
    starts = [*accumulate((len(part.source) for part in english), initial=0)]
    numbers, parts = zip(*foreign, strict=True)
    target, places = _side_by_side([part.target for part in parts])
    placed = zip(numbers, parts, places, strict=True)
    links = frozenset((i + starts[n], t + place) for n, part, place in placed for i, t in part.links)
    return SentencePair(sum((part.source for part in english), ()), target, links)


@cache
def noun_phrase(english: str) -> Phrase:
    """Translate an article, adjectives, and a noun, such as "the european economic area".

    The adjectives that French puts before the noun come first. Those that follow it do so in reverse order, as in
    Bahdanau et al. 2015, figure 3: "la zone économique européenne".
    """
    article, adjectives, word = _parsed(english)
    noun = _NOUNS[word]
    plural = word == noun.english_plural
    after = [words(a.english, lexicon.agreeing(a, noun, plural)) for a in adjectives if a.place == "after"]
    pair = concatenate(*after, words(word, noun.french_plural if plural else noun.french), mirrored=True)
    for a in reversed([a for a in adjectives if a.place == "before"]):
        pair = concatenate(words(a.english, lexicon.agreeing(a, noun, plural, following=pair.target[0])), pair)
    return Phrase(concatenate(words(article, lexicon.article(article == "the", noun, plural)), pair), plural)


def possessive(possessed: Phrase, owner: Phrase) -> Phrase:
    """Combine a phrase with its owner: "the book of the man", "le livre de l' homme"."""
    return Phrase(concatenate(possessed.pair, words("of", "de"), owner.pair), possessed.plural)


def clause(subject: Phrase, verb: str, complement: Phrase | None = None, *, negated: bool = False) -> SentencePair:
    """Build a clause from a subject, a verb, and a complement.

    Parameters
    ----------
    subject : Phrase
        The subject.
    verb : str
        The English verb in its plain form, without its particle.
    complement : Phrase, optional
        The object, or the phrase after the particle. If None, the clause has none.
    negated : bool, default False
        Whether the clause is negated.
    """
    parts = [subject.pair, _verb(verb, subject.plural, negated)]
    return concatenate(*parts, complement.pair) if complement else concatenate(*parts)


def subject_relative(
    antecedent: Phrase, verb: str, complement: Phrase | None = None, *, negated: bool = False
) -> Phrase:
    """Add a relative clause whose subject is the antecedent: "the cat that sleeps", "le chat qui dort"."""
    that = Phrase(words("that", "qui"), antecedent.plural)
    return Phrase(concatenate(antecedent.pair, clause(that, verb, complement, negated=negated)), antecedent.plural)


def object_relative(antecedent: Phrase, subject: Phrase, verb: str, *, negated: bool = False) -> Phrase:
    """Add a relative clause whose object is the antecedent: "the cat that a man sees", "le chat qu' un homme voit"."""
    that = words("that", "que")
    return Phrase(concatenate(antecedent.pair, that, clause(subject, verb, negated=negated)), antecedent.plural)


def place(preposition: str, phrase: Phrase) -> SentencePair:
    """Build a place: "near the garden", "près du jardin"."""
    check_choice(PREPOSITIONS, preposition=preposition)
    return concatenate(words(preposition, PREPOSITIONS[preposition]), phrase.pair)


def subordinate(conjunction: str, clause: SentencePair) -> SentencePair:
    """Build a subordinate clause: "when the king sleeps", "quand le roi dort"."""
    check_choice(CONJUNCTIONS, conjunction=conjunction)
    return concatenate(words(conjunction, CONJUNCTIONS[conjunction]), clause)


def adjoin(main: SentencePair, adjunct: SentencePair, *, fronted: bool = False) -> SentencePair:
    """Add a place or a subordinate clause to a clause: "in the garden the cat sleeps", "le chat dort dans le jardin".

    French puts the adjunct last; English puts it first if it is `fronted`.
    """
    return combine([adjunct, main], [(1, main), (0, adjunct)]) if fronted else concatenate(main, adjunct)


def course_sentence(*, negated: bool = False) -> SentencePair:
    """Build the sentence that goes through all models of the course: "in the garden the black cat sees the dog"."""
    cat, dog, garden = map(noun_phrase, ("the black cat", "the dog", "the garden"))
    return adjoin(clause(cat, "see", dog, negated=negated), place("in", garden), fronted=True)


def _side_by_side(phrases: list[tuple[str, ...]]) -> tuple[tuple[str, ...], list[int]]:
    """Join foreign phrases, the last two first, and say where each begins; a word made of two belongs to both."""
    joined, sizes = phrases[-1], []
    for phrase in reversed(phrases[:-1]):
        seam = lexicon.meet(phrase[-1], joined[0])
        joined = phrase[:-1] + seam + joined[1:]
        sizes.append(len(phrase) + len(seam) - 2)
    return joined, [*accumulate(reversed(sizes), initial=0)]


@cache
def _verb(verb: str, plural: bool, negated: bool) -> SentencePair:
    """Translate "looks at" or "does not look at", with "ne" and "pas" around the French verb."""
    check_choice(_VERBS, verb=verb)
    english, particle, singular, several, to, *_ = _VERBS[verb]
    french = several if plural else singular
    auxiliary = ("do" if plural else "does", "not") if negated else ()
    source = (*auxiliary, english if plural or negated else f"{english}s", *("" if to else particle).split())
    object_marker = [words(particle, to)] if to else []
    if not negated:
        return concatenate(words(" ".join(source), french), *object_marker)
    links = {(i, 1) for i in range(len(source)) if i != 1} | {(1, 0), (1, 2)}
    return concatenate(SentencePair(source, (*lexicon.meet("ne", french), "pas"), frozenset(links)), *object_marker)


def _parsed(english: str) -> tuple[str, list[lexicon.Adjective], str]:
    """Split a noun phrase into its article, its adjectives, and its noun."""
    *given, word = english.split() or [""]
    between = [_ADJECTIVES[one] for one in given[1:] if one in _ADJECTIVES]
    places = [adjective.place for adjective in between]
    if word in _NOUNS and given and len(between) == len(given) - 1 and places == sorted(places, reverse=True):
        articles = ("the",) if word == _NOUNS[word].english_plural else ("the", lexicon.an([*given[1:], word][0]))
        if given[0] in articles:
            return given[0], between, word
    raise ValueError(
        f"english is {english!r}; expected an article that fits, then adjectives ({', '.join(_ADJECTIVES)}, "
        f"in this order), then a noun ({', '.join(_NOUNS)})"
    )
