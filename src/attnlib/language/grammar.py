"""A small grammar of English and French, whose translations and word links are known: what to say, at random."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple

from attnlib.checks import check_whole
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
    """Draw sentence pairs, the same on every platform.

    Parameters
    ----------
    n : int
        How many pairs.
    seed : int
        The same seed gives the same pairs.
    clauses : numbers
        How many clauses, relative ones among them, a sentence has at least; each number is equally likely.
    part : str
        "train" or "test". A hash of the English sentence tells which part it belongs to, so that they never share one.

    Returns
    -------
    list of SentencePair
        One clause has 3 words or more, 9 on average; three have 22, eight 59. The French has 6 per cent fewer.

    Raises
    ------
    TypeError
        If `n`, `seed` or a number of clauses is no whole number.
    ValueError
        If `n` or a number of clauses is below 1, or there is no number of clauses, or `part` is neither.
    """
    return draw(_any_sentence, n, seed, clauses, part)


def draw(
    any_sentence: Callable[[Random, int], SentencePair], n: int, seed: int, clauses: Sequence[int], part: str
) -> list[SentencePair]:
    """Draw sentence pairs of any grammar that makes one of so many clauses at random. For the rest see `sample`."""
    check_whole(n=n)
    check_whole(0, seed=seed)
    if any(isinstance(c, bool) or not isinstance(c, int) for c in clauses):
        raise TypeError(f"clauses is {clauses!r}; expected whole numbers")
    if not len(clauses) or min(clauses) < 1:
        raise ValueError(f"clauses is {clauses!r}; expected one or more numbers, each at least 1")
    if part not in ("train", "test"):
        raise ValueError(f"part is {part!r}; expected 'train' or 'test'")
    rng, pairs = Random(seed), []
    while len(pairs) < n:
        pair = any_sentence(rng, choose(rng, clauses))
        if (sha256(" ".join(pair.source).encode()).digest()[0] < _TEST) == (part == "test"):
            pairs.append(pair)
    return pairs


class Grammar(NamedTuple):
    """What makes up clauses and phrases at random: words, and the functions that put them together."""

    nouns: Sequence[Any]
    adjectives: Mapping[str, list[list[str]]]  # as `by_class` sorts them
    verbs: Sequence[Any]
    noun_phrase: Callable[[str], Any]
    coordinate: Callable[[Any, Any], Any]
    clause: Callable[..., SentencePair]
    subject_relative: Callable[..., Any]
    object_relative: Callable[..., Any]
    possessive: Callable[[Any, Any], Any] | None = None  # if the grammar says whose something is

    def any_clause(self, rng: Random, relatives: int, **order: str) -> SentencePair:
        """Make up a clause with so many relatives, and with its `order`, if the grammar has several."""
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
    """Sort the adjectives that go with each kind of noun by their classes, in the order in which they are given."""
    suitable = defaultdict(lambda: defaultdict(list))
    for adjective in adjectives:
        for kind in adjective.kinds.split(","):
            suitable[kind][adjective.word_class].append(adjective.english)
    return {kind: [*classes.values()] for kind, classes in suitable.items()}


def choose(rng: Random, options: Sequence[Any]) -> Any:
    """Take one of several, each equally likely."""
    return options[int(rng.random() * len(options))]  # of Random's methods, random() alone is fixed for good


def _any_sentence(rng: Random, clauses: int) -> SentencePair:
    """Up to three clauses make a main clause with its relatives; what is left follows after "and".

    Of a clause without relatives the complement may get one, which is not counted: every record rests on these draws.
    """
    relatives = int(rng.random() * min(clauses, 3))
    first = _GRAMMAR.any_clause(rng, relatives)
    left = clauses - 1 - relatives
    return concatenate(first, words("and", "et"), _any_sentence(rng, left)) if left else first


_SORTED = by_class(lexicon.ADJECTIVES)
_GRAMMAR = Grammar(
    lexicon.NOUNS,
    _SORTED,
    lexicon.VERBS,
    noun_phrase,
    coordinate,
    clause,
    subject_relative,
    object_relative,
    possessive,
)
