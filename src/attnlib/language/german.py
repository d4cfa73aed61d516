"""A second small grammar, of English and a simplified German: words, phrases with their word links, random sentences.

German moves the verb. A main clause has it second, and a separable verb's prefix at the end, with "nicht" before the
prefix: "the man looks at the cat", "der Mann sieht die Katze an". A subordinate clause has the whole verb at its end:
"the man that looks at the cat", "der Mann der die Katze ansieht". After a subordinate clause, the main clause begins
with its verb. There are no commas. There are two cases, nominative and accusative. A plural is always definite.
"""

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from attnlib.checks import check_choice
from attnlib.data import SentencePair
from attnlib.language.grammar import Grammar, by_class, draw
from attnlib.language.lexicon import read_table
from attnlib.language.phrases import combine, concatenate, english_verb, parsed, words


class GermanNoun(NamedTuple):
    """A noun in English and German.

    Attributes
    ----------
    english, english_plural, german, german_plural : str
        Its forms.
    gender : {"m", "f", "n"}
        The gender of the German noun.
    kind : {"animal", "person", "thing"}
        The class of meaning, which decides on the words that go with it.
    """

    english: str
    english_plural: str
    german: str
    german_plural: str
    gender: str
    kind: str


class GermanAdjective(NamedTuple):
    """An adjective in English and German.

    Attributes
    ----------
    english : str
        The English form.
    word_class : str
        The class of meaning. A noun has at most one adjective of a class.
    stem : str
        The German stem, to which endings are added.
    kinds : str
        The kinds of noun that it goes with, separated by commas.
    """

    english: str
    word_class: str
    stem: str
    kinds: str
    place = "before"  # of all


class GermanVerb(NamedTuple):
    """A verb in English and German, third person.

    Attributes
    ----------
    english : str
        The plain form.
    particle : str
        The words after it, or an empty string.
    german, german_plural : str
        The German forms, without the prefix.
    prefix : str
        The separable prefix, which stands at the end of a main clause, or an empty string.
    kinds : str
        The kinds of noun that its complement may be, separated by commas.
    """

    english: str
    particle: str
    german: str
    german_plural: str
    prefix: str
    kinds: str
    direct = True  # all of them


NOUNS: list[GermanNoun] = read_table(
    GermanNoun,
    """
    cat     cats      Katze   Katzen   f  animal
    dog     dogs      Hund    Hunde    m  animal
    horse   horses    Pferd   Pferde   n  animal
    child   children  Kind    Kinder   n  person
    man     men       Mann    Männer   m  person
    woman   women     Frau    Frauen   f  person
    queen   queens    Königin Königinnen f person
    book    books     Buch    Bücher   n  thing
    tree    trees     Baum    Bäume    m  thing
    house   houses    Haus    Häuser   n  thing
    door    doors     Tür     Türen    f  thing
    school  schools   Schule  Schulen  f  thing
    """,
)

ADJECTIVES: list[GermanAdjective] = read_table(  # in the order in which both languages put them
    GermanAdjective,
    """
    beautiful beauty schön   animal,person,thing
    big       size   groß    animal,person,thing
    small     size   klein   animal,person,thing
    old       age    alt     animal,person,thing
    famous    fame   berühmt animal,person,thing
    red       colour rot     thing
    black     colour schwarz animal,thing
    """,
)

VERBS: list[GermanVerb] = read_table(
    GermanVerb,
    """
    sleep  -   schläft schlafen -   -
    sing   -   singt   singen   -   -
    arrive -   kommt   kommen   an  -
    see    -   sieht   sehen    -   animal,person,thing
    love   -   liebt   lieben   -   animal,person,thing
    look   at  sieht   sehen    an  animal,person,thing
    open   -   macht   machen   auf thing
    close  -   macht   machen   zu  thing
    call   -   ruft    rufen    an  person
    invite -   lädt    laden    ein person
    """,
)

_ARTICLES = {  # definite: masculine, feminine, neuter, plural; then indefinite, which has no plural here
    "nominative": ({"m": "der", "f": "die", "n": "das", "p": "die"}, {"m": "ein", "f": "eine", "n": "ein"}),
    "accusative": ({"m": "den", "f": "die", "n": "das", "p": "die"}, {"m": "einen", "f": "eine", "n": "ein"}),
}


def article(definite: bool, gender: str, case: str) -> str:
    """Return the German article, or the relative pronoun, which is like the definite article.

    Parameters
    ----------
    definite : bool
        Whether the article is definite.
    gender : {"m", "f", "n", "p"}
        The gender of its noun, or "p" for the plural.
    case : {"nominative", "accusative"}
        The case.

    Returns
    -------
    str
        One word.
    """
    return _ARTICLES[case][0 if definite else 1][gender]


def ending(definite: bool, gender: str, case: str) -> str:
    """Return the ending of a German adjective after an article.

    Parameters
    ----------
    definite : bool
        Whether the article is definite.
    gender : {"m", "f", "n", "p"}
        The gender of the noun, or "p" for the plural.
    case : {"nominative", "accusative"}
        The case.

    Returns
    -------
    str
        The letters after the stem.
    """
    if gender == "p" or (gender, case) == ("m", "accusative"):
        return "en"
    return "e" if definite or gender == "f" else {"m": "er", "n": "es"}[gender]


_NOUNS = {word: noun for noun in NOUNS for word in (noun.english, noun.english_plural)}
_ADJECTIVES = {adjective.english: adjective for adjective in ADJECTIVES}
_VERBS = {verb.english: verb for verb in VERBS}
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
        The pairs, with their word links.

    Raises
    ------
    TypeError, ValueError
        As for `attnlib.language.grammar.sample`.
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
        german = [
            article(definite, gender, case),
            *(adjective.stem + ending(definite, gender, case) for adjective in adjectives),
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
    pronoun = article(True, antecedent.gender, "nominative")
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
    that = words("that", article(True, antecedent.gender, "accusative"))
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


_GRAMMAR = Grammar(
    NOUNS, by_class(ADJECTIVES), VERBS, noun_phrase, coordinate, clause, subject_relative, object_relative
)
