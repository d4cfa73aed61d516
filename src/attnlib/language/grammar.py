"""A small grammar of English and French, whose translations and word links are known: what to say, at random."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from hashlib import sha256
from random import Random
from typing import Any

from attnlib.checks import check_whole
from attnlib.data import SentencePair
from attnlib.language import lexicon
from attnlib.language.phrases import Phrase, both, clause, noun_phrase, of, sentence, who, whom

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


def _any_sentence(rng: Random, clauses: int) -> SentencePair:
    """Up to three clauses make a main clause with its relatives; what is left follows after "and".

    Of a clause without relatives the complement may get one, which is not counted: every record rests on these draws.
    """
    relatives = int(rng.random() * min(clauses, 3))
    first = _any_clause(rng, relatives)
    left = clauses - 1 - relatives
    return sentence(first, _any_sentence(rng, left)) if left else first


def _any_clause(rng: Random, relatives: int) -> SentencePair:
    verb = choose(rng, [verb for verb in lexicon.VERBS if verb.kinds or relatives < 2])
    of_subject = relatives - (1 if verb.kinds and (relatives == 2 or rng.random() < 0.5) else 0)
    negated = rng.random() < 0.25
    subject = _any_phrase(rng, _BEINGS, relative=of_subject > 0)
    if rng.random() < 0.1:
        subject = both(subject, _any_phrase(rng, _BEINGS))
    if not verb.kinds:
        return clause(subject, verb.english, negated=negated)
    definite = negated and not verb.to  # an indefinite object would turn to "de" after "ne ... pas"
    complement = _any_phrase(rng, verb.kinds, relative=relatives > of_subject, definite=definite)
    return clause(subject, verb.english, complement, negated=negated)


def _any_phrase(rng: Random, kinds: str, *, relative: bool = False, definite: bool = False) -> Phrase:
    noun = choose(rng, [noun for noun in lexicon.NOUNS if noun.kind in kinds])
    rate = 1 / 2 if noun.kind == "matter" else 1 / 8  # so that areas are often both european and economic
    phrase = noun_phrase(any_english(rng, noun, _BY_CLASS[noun.kind], definite, rate))
    if not relative:
        owned = noun.kind != "person" and rng.random() < 0.2
        return of(phrase, _any_phrase(rng, "person")) if owned else phrase
    negated = rng.random() < 0.25
    if noun.kind in _BEINGS and rng.random() < 0.5:
        verb = choose(rng, lexicon.VERBS)
        complement = _any_phrase(rng, verb.kinds, definite=negated and not verb.to) if verb.kinds else None
        return who(phrase, verb.english, complement, negated=negated)
    verb = choose(rng, [verb for verb in lexicon.VERBS if noun.kind in verb.kinds and not verb.to])
    return whom(phrase, _any_phrase(rng, _BEINGS), verb.english, negated=negated)


def by_class(adjectives: Sequence[Any]) -> dict[str, list[list[str]]]:
    """Sort the adjectives that go with each kind of noun by their classes, in the order in which they are given."""
    suitable = defaultdict(lambda: defaultdict(list))
    for adjective in adjectives:
        for kind in adjective.kinds.split(","):
            suitable[kind][adjective.word_class].append(adjective.english)
    return {kind: [*classes.values()] for kind, classes in suitable.items()}


def any_english(rng: Random, noun: Any, classes: Sequence[list[str]], definite: bool, rate: float = 1 / 8) -> str:
    """Name the noun with an article and a few adjectives, at most one of a class, and each class at this rate."""
    plural = rng.random() < 0.3
    chosen = [choose(rng, adjectives) for adjectives in classes if rng.random() < rate]
    named = [*chosen, noun.english_plural if plural else noun.english]
    return " ".join(["the" if definite or plural or rng.random() < 0.6 else lexicon.an(named[0]), *named])


def choose(rng: Random, options: Sequence[Any]) -> Any:
    """Take one of several, each equally likely."""
    return options[int(rng.random() * len(options))]  # of Random's methods, random() alone is fixed for good


_BY_CLASS = by_class(lexicon.ADJECTIVES)
