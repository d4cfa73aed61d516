"""A second small grammar, of English and a German of ours: phrases with their word links, and what to say, at random.

German moves the verb. A main clause has it second, and a separable verb's prefix at the end, with "nicht" before the
prefix: "the man looks at the cat", "der Mann sieht die Katze an". A subordinate clause has the whole verb at its end:
"the man that looks at the cat", "der Mann der die Katze ansieht". After a subordinate clause, the main clause begins
with its verb. There are no commas.
"""

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from attnlib.checks import check_choice
from attnlib.data import SentencePair
from attnlib.language import german_words
from attnlib.language.grammar import Grammar, by_class, draw
from attnlib.language.phrases import combine, concatenate, english_verb, parsed, words

_NOUNS = {word: noun for noun in german_words.NOUNS for word in (noun.english, noun.english_plural)}
_ADJECTIVES = {adjective.english: adjective for adjective in german_words.ADJECTIVES}
_VERBS = {verb.english: verb for verb in german_words.VERBS}
_ORDERS = {
    "verb second": ("subject", "finite", "complement", "not", "prefix"),
    "verb first": ("finite", "subject", "complement", "not", "prefix"),
    "verb last": ("subject", "complement", "not", "whole"),
}


def sample(n: int, seed: int, clauses: Sequence[int] = (1, 2, 3), part: str = "train") -> list[SentencePair]:
    """Draw English-German sentence pairs, the same ones on every platform.

    Parameters
    ----------
    n : int
        The number of pairs.
    seed : int
        The same seed gives the same pairs.
    clauses : sequence of int, default (1, 2, 3)
        The least number of clauses of a sentence, relative and subordinate ones included. Each number is equally
        likely.
    part : {"train", "test"}
        The part of all sentences, as for `attnlib.language.grammar.sample`.

    Returns
    -------
    list of SentencePair
        Errors are those of `attnlib.language.grammar.sample`.
    """
    return draw(_any_sentence, n, seed, clauses, part)


class GermanPhrase(NamedTuple):
    """A noun phrase in English and German.

    Attributes
    ----------
    pairs : dict of str to SentencePair
        The phrase by its case, "nominative" or "accusative".
    gender : {"m", "f", "n", "p"}
        Masculine, feminine, neuter, or plural.
    """

    pairs: dict[str, SentencePair]
    gender: str

    @property
    def plural(self) -> bool:
        """Whether its verb is plural."""
        return self.gender == "p"


@cache
def noun_phrase(english: str) -> GermanPhrase:
    """Translate an article, adjectives, and a noun, such as "the small black cat", word by word.

    Parameters
    ----------
    english : str
        Words separated by spaces.

    Returns
    -------
    GermanPhrase
        The phrase in both languages.

    Raises
    ------
    ValueError
        If `english` contains words that the grammar does not know, or has no article that fits.
    """
    first, adjectives, last = parsed(english, _NOUNS, _ADJECTIVES)
    noun, definite = _NOUNS[last], first == "the"
    plural = last == noun.english_plural
    gender = "p" if plural else noun.gender
    pairs = {}
    for case in ("nominative", "accusative"):
        ending = german_words.ending(definite, gender, case)
        german = [
            german_words.article(definite, gender, case),
            *(adjective.stem + ending for adjective in adjectives),
            noun.german_plural if plural else noun.german,
        ]
        pairs[case] = concatenate(*map(words, english.split(), german))
    return GermanPhrase(pairs, gender)


def coordinate(first: GermanPhrase, second: GermanPhrase) -> GermanPhrase:
    """Combine two phrases by "and".

    Parameters
    ----------
    first, second : GermanPhrase
        The phrases.

    Returns
    -------
    GermanPhrase
        A plural phrase.
    """
    pairs = {case: concatenate(pair, words("and", "und"), second.pairs[case]) for case, pair in first.pairs.items()}
    return GermanPhrase(pairs, "p")


def clause(
    subject: GermanPhrase,
    verb: str,
    complement: GermanPhrase | None = None,
    *,
    negated: bool = False,
    order: str = "verb second",
) -> SentencePair:
    """Build a clause from a subject, a verb, and a complement.

    Parameters
    ----------
    subject : GermanPhrase
        The subject.
    verb : str
        The English verb in its plain form, without its particle.
    complement : GermanPhrase, optional
        The object, or the phrase after the particle. If None, the clause has none.
    negated : bool, default False
        Whether the clause is negated.
    order : {"verb second", "verb first", "verb last"}
        The word order of the German.

    Returns
    -------
    SentencePair
        The clause.

    Raises
    ------
    ValueError
        If the grammar does not know the verb or the order.
    """
    check_choice(_ORDERS, order=order)
    first, parts = subject.pairs["nominative"], _verb(verb, subject.plural, negated)
    english = [first, parts["whole"]]
    german = {"subject": (0, first)} | {name: (1, part) for name, part in parts.items()}
    if complement:
        english.append(complement.pairs["accusative"])
        german["complement"] = 2, english[2]
    return combine(english, [german[name] for name in _ORDERS[order] if name in german])


def subject_relative(
    antecedent: GermanPhrase, verb: str, complement: GermanPhrase | None = None, *, negated: bool = False
) -> GermanPhrase:
    """Add a relative clause with the antecedent as its subject, such as "that sees the man", "die den Mann sieht".

    Parameters
    ----------
    antecedent : GermanPhrase
        The phrase that the clause modifies.
    verb : str
        The English verb in its plain form, without its particle.
    complement : GermanPhrase, optional
        The object, or the phrase after the particle. If None, the clause has none.
    negated : bool, default False
        Whether the relative clause is negated.

    Returns
    -------
    GermanPhrase
        The longer phrase.
    """
    pronoun = german_words.article(True, antecedent.gender, "nominative")
    that = GermanPhrase({"nominative": words("that", pronoun)}, antecedent.gender)
    return _followed(antecedent, clause(that, verb, complement, negated=negated, order="verb last"))


def object_relative(
    antecedent: GermanPhrase, subject: GermanPhrase, verb: str, *, negated: bool = False
) -> GermanPhrase:
    """Add a relative clause with the antecedent as its object, such as "that the man sees", "die der Mann sieht".

    Parameters
    ----------
    antecedent : GermanPhrase
        The phrase that the clause modifies.
    subject : GermanPhrase
        The subject of the relative clause.
    verb : str
        The English verb in its plain form, without its particle.
    negated : bool, default False
        Whether the relative clause is negated.

    Returns
    -------
    GermanPhrase
        The longer phrase.
    """
    that = words("that", german_words.article(True, antecedent.gender, "accusative"))
    return _followed(antecedent, concatenate(that, clause(subject, verb, negated=negated, order="verb last")))


def _any_sentence(rng: Random, clauses: int) -> SentencePair:
    """Make a main clause, often with a subordinate one, each with relatives; what is left follows after "and"."""
    relatives = int(rng.random() * min(clauses, 3))
    left = clauses - 1 - relatives
    subordinate = left > 0 and rng.random() < 0.5
    when = subordinate and rng.random() < 0.5
    main = _GRAMMAR.any_clause(rng, relatives, order="verb first" if when else "verb second")
    if subordinate:
        relatives = int(rng.random() * min(left, 3))
        left -= 1 + relatives
        other = _GRAMMAR.any_clause(rng, relatives, order="verb last")
        because = concatenate(main, words("because", "weil"), other)
        main = concatenate(words("when", "wenn"), other, main) if when else because
    return concatenate(main, words("and", "und"), _any_sentence(rng, left)) if left else main


def _followed(antecedent: GermanPhrase, relative: SentencePair) -> GermanPhrase:
    pairs = {case: concatenate(pair, relative) for case, pair in antecedent.pairs.items()}
    return GermanPhrase(pairs, antecedent.gender)


@cache
def _verb(verb: str, plural: bool, negated: bool) -> dict[str, SentencePair]:
    """Translate "looks at" or "does not look at": finite verb, prefix, both together, and "nicht"."""
    check_choice(_VERBS, verb=verb)
    english, particle, singular, several, prefix, _ = _VERBS[verb]
    finite = several if plural else singular
    source = english_verb(english, particle, plural, negated)
    meant = [i for i in range(len(source)) if not (negated and i == 1)]
    parts = {"finite": finite, "prefix": prefix, "whole": prefix + finite}
    linked = {name: _linked(source, word, meant) for name, word in parts.items() if word}
    return linked | ({"not": _linked(source, "nicht", [1])} if negated else {})


def _linked(source: tuple[str, ...], german: str, positions: list[int]) -> SentencePair:
    return SentencePair(source, (german,), frozenset((i, 0) for i in positions))


_SORTED = by_class(german_words.ADJECTIVES)
_GRAMMAR = Grammar(
    german_words.NOUNS, _SORTED, german_words.VERBS, noun_phrase, coordinate, clause, subject_relative, object_relative
)
