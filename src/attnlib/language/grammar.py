"""A small grammar of English and French, whose translations and word links are known: what to say, at random."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple

from attnlib.checks import check_choice, check_whole
from attnlib.data import SentencePair
from attnlib.language import lexicon
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

_BEINGS = "animal,person"
_TEST = 64  # of 256: the share of all sentences that is kept for the part "test"


def sample(n: int, seed: int, clauses: Sequence[int] = (1, 2, 3), part: str = "train") -> list[SentencePair]:
    """Draw English-French sentence pairs from the grammar, with replacement, the same on every platform.

    Parameters
    ----------
    n : int
        The number of pairs.
    seed : int
        The same seed gives the same pairs.
    clauses : sequence of int, default (1, 2, 3)
        For each pair, one of these numbers is drawn with equal probability. The sentence has at least so many clauses,
        relative clauses included.
    part : {"train", "test"}
        The part of all sentences. It depends on a hash of the English sentence, so that the parts share no sentence.

    Returns
    -------
    list of SentencePair
        The pairs, with their word links. An English sentence of one clause has at least 3 words and 9 on average, one
        of three clauses 22, and one of eight 59. The French sentences have 6 percent fewer words.

    Raises
    ------
    TypeError
        If `n`, `seed` or a number of clauses is not an integer.
    ValueError
        If `n` or a number of clauses is below 1, `clauses` is empty, or `part` is neither.

    Examples
    --------
    >>> from attnlib import sample
    >>> [pair] = sample(1, seed=0, clauses=[1])
    >>> " ".join(pair.target)
    "les hommes écoutent le chien européen qui aime l' arbre"
    """
    return draw(_any_sentence, n, seed, clauses, part)


def draw(
    any_sentence: Callable[[Random, int], SentencePair], n: int, seed: int, clauses: Sequence[int], part: str
) -> list[SentencePair]:
    """Draw sentence pairs of a grammar.

    Parameters
    ----------
    any_sentence : function
        Returns a random sentence pair, given a generator and a number of clauses.
    n, seed : int
        As for `sample`.
    clauses : sequence of int
        As for `sample`.
    part : {"train", "test"}
        As for `sample`.

    Returns
    -------
    list of SentencePair
        The pairs of the part, in the order in which they were drawn.
    """
    check_whole(n=n)
    (seed,) = check_whole(0, seed=seed)
    check_choice(("train", "test"), part=part)
    if not len(clauses):
        raise ValueError("clauses is empty; expected at least one number of clauses")
    for number in clauses:
        check_whole(clauses=number)
    rng, pairs = Random(seed), []
    while len(pairs) < n:
        pair = any_sentence(rng, choose(rng, clauses))
        if (sha256(" ".join(pair.source).encode()).digest()[0] < _TEST) == (part == "test"):
            pairs.append(pair)
    return pairs


class Grammar(NamedTuple):
    """Vocabulary of a grammar, with the functions that combine its words.

    Attributes
    ----------
    nouns, verbs : sequence
        The rows of the lexicon.
    adjectives : mapping of str to list of list of str
        The adjectives of each kind of noun, as `by_class` groups them.
    noun_phrase : function
        Translates an English noun phrase.
    coordinate, possessive : function
        Combine two phrases. If `possessive` is None, the grammar has no possessives.
    clause : function
        Builds a clause.
    subject_relative, object_relative : function
        Build a phrase with a relative clause.
    """

    nouns: Sequence[Any]
    adjectives: Mapping[str, list[list[str]]]
    verbs: Sequence[Any]
    noun_phrase: Callable[[str], Any]
    coordinate: Callable[[Any, Any], Any]
    clause: Callable[..., SentencePair]
    subject_relative: Callable[..., Any]
    object_relative: Callable[..., Any]
    possessive: Callable[[Any, Any], Any] | None = None

    def any_clause(self, rng: Random, relatives: int, **order: str) -> SentencePair:
        """Draw a clause.

        Parameters
        ----------
        rng : Random
            The generator.
        relatives : int
            The number of relative clauses, 0 to 2.
        **order : str
            The word order, if the grammar has several.

        Returns
        -------
        SentencePair
            The clause.
        """
        verb = choose(rng, [verb for verb in self.verbs if verb.kinds or relatives < 2])
        of_subject = relatives - (1 if verb.kinds and (relatives == 2 or rng.random() < 0.5) else 0)
        negated = rng.random() < 0.25
        subject = self._any_phrase(rng, _BEINGS, relative=of_subject > 0)
        if rng.random() < 0.1:
            subject = self.coordinate(subject, self._any_phrase(rng, _BEINGS))
        complement = self._any_complement(rng, verb, negated, relative=relatives > of_subject)
        return self.clause(subject, verb.english, complement, negated=negated, **order)

    def _any_phrase(self, rng: Random, kinds: str, *, relative: bool = False, definite: bool = False) -> Any:
        noun = choose(rng, [noun for noun in self.nouns if noun.kind in kinds])
        phrase = self.noun_phrase(self._any_english(rng, noun, definite))
        if not relative:
            owned = self.possessive and noun.kind != "person" and rng.random() < 0.2
            return self.possessive(phrase, self._any_phrase(rng, "person")) if owned else phrase
        negated = rng.random() < 0.25
        if noun.kind in _BEINGS and rng.random() < 0.5:
            verb = choose(rng, self.verbs)
            return self.subject_relative(
                phrase, verb.english, self._any_complement(rng, verb, negated), negated=negated
            )
        verb = choose(rng, [verb for verb in self.verbs if noun.kind in verb.kinds and verb.direct])
        return self.object_relative(phrase, self._any_phrase(rng, _BEINGS), verb.english, negated=negated)

    def _any_complement(self, rng: Random, verb: Any, negated: bool, *, relative: bool = False) -> Any:
        """Make up what the verb wants, if anything; an indefinite one would change the negation, to "de" or "kein"."""
        if not verb.kinds:
            return None
        return self._any_phrase(rng, verb.kinds, relative=relative, definite=negated and verb.direct)

    def _any_english(self, rng: Random, noun: Any, definite: bool) -> str:
        """Name the noun with an article and a few adjectives, at most one of a class, in the order of the table."""
        plural = rng.random() < 0.3
        rate = 1 / 2 if noun.kind == "matter" else 1 / 8  # so that areas are often both european and economic
        chosen = [choose(rng, adjectives) for adjectives in self.adjectives[noun.kind] if rng.random() < rate]
        named = [*chosen, noun.english_plural if plural else noun.english]
        return " ".join(["the" if definite or plural or rng.random() < 0.6 else lexicon.an(named[0]), *named])


def by_class(adjectives: Sequence[Any]) -> dict[str, list[list[str]]]:
    """Return the adjectives of each kind of noun, grouped by their classes."""
    suitable = defaultdict(lambda: defaultdict(list))
    for adjective in adjectives:
        for kind in adjective.kinds.split(","):
            suitable[kind][adjective.word_class].append(adjective.english)
    return {kind: [*classes.values()] for kind, classes in suitable.items()}


def choose(rng: Random, options: Sequence[Any]) -> Any:
    """Draw one of several options, each equally likely.

    Parameters
    ----------
    rng : Random
        The generator.
    options : sequence
        What to choose from.

    Returns
    -------
    object
        One option.
    """
    return options[int(rng.random() * len(options))]  # of Random's methods, random() alone is fixed for good


def _any_sentence(rng: Random, clauses: int) -> SentencePair:
    """Draw a main clause with its relatives, up to three clauses; the others follow after "and"."""
    # the complement of a clause without relatives may get one, which is not counted: all records rest on these draws
    relatives = int(rng.random() * min(clauses, 3))
    first = _GRAMMAR.any_clause(rng, relatives)
    left = clauses - 1 - relatives
    return concatenate(first, words("and", "et"), _any_sentence(rng, left)) if left else first


_GRAMMAR = Grammar(
    lexicon.NOUNS,
    by_class(lexicon.ADJECTIVES),
    lexicon.VERBS,
    noun_phrase,
    coordinate,
    clause,
    subject_relative,
    object_relative,
    possessive,
)
