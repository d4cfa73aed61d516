"""A second small grammar, of English and a German of ours, that moves verbs far: what to say, at random."""

from collections.abc import Sequence
from random import Random

from attnlib.language import german_words
from attnlib.language.german_phrases import GermanPhrase, both, clause, noun_phrase, together, who, whom
from attnlib.language.grammar import any_english, choose, draw
from attnlib.language.phrases import words
from attnlib.vocabulary import SentencePair

_BEINGS = "animal,person"


def sample(n: int, seed: int, clauses: Sequence[int] = (1, 2, 3), part: str = "train") -> list[SentencePair]:
    """Draw sentence pairs, the same on every platform.

    Parameters
    ----------
    n, seed, part
        As for `attnlib.language.grammar.sample`.
    clauses : numbers
        How many clauses, relative and subordinate ones among them, a sentence has at least; each is equally likely.

    Returns
    -------
    list of SentencePair
        Errors as for `attnlib.language.grammar.sample`.
    """
    return draw(_any_sentence, n, seed, clauses, part)


def _any_sentence(rng: Random, clauses: int) -> SentencePair:
    """Make a main clause, often with a subordinate one, each with relatives; what is left follows after "and"."""
    relatives = int(rng.random() * min(clauses, 3))
    left = clauses - 1 - relatives
    subordinate = left > 0 and rng.random() < 0.5
    when = subordinate and rng.random() < 0.5
    said = _any_clause(rng, relatives, "verb first" if when else "verb second")
    if subordinate:
        relatives = int(rng.random() * min(left, 3))
        left -= 1 + relatives
        other = _any_clause(rng, relatives, "verb last")
        because = together(said, words("because", "weil"), other)
        said = together(words("when", "wenn"), other, said) if when else because
    return together(said, words("and", "und"), _any_sentence(rng, left)) if left else said


def _any_clause(rng: Random, relatives: int, order: str) -> SentencePair:
    verb = choose(rng, [verb for verb in german_words.VERBS if verb.kinds or relatives < 2])
    of_subject = relatives - (1 if verb.kinds and (relatives == 2 or rng.random() < 0.5) else 0)
    negated = rng.random() < 0.25
    subject = _any_phrase(rng, _BEINGS, relative=of_subject > 0)
    if rng.random() < 0.1:
        subject = both(subject, _any_phrase(rng, _BEINGS))
    complement = None
    if verb.kinds:  # an indefinite complement would turn "nicht" to "kein"
        complement = _any_phrase(rng, verb.kinds, relative=relatives > of_subject, definite=negated)
    return clause(subject, verb.english, complement, negated=negated, order=order)


def _any_phrase(rng: Random, kinds: str, *, relative: bool = False, definite: bool = False) -> GermanPhrase:
    noun = choose(rng, [noun for noun in german_words.NOUNS if noun.kind in kinds])
    phrase = noun_phrase(any_english(rng, noun, german_words.ADJECTIVES, definite))
    if not relative:
        return phrase
    negated = rng.random() < 0.25
    if noun.kind in _BEINGS and rng.random() < 0.5:
        verb = choose(rng, german_words.VERBS)
        complement = _any_phrase(rng, verb.kinds, definite=negated) if verb.kinds else None
        return who(phrase, verb.english, complement, negated=negated)
    verb = choose(rng, [verb for verb in german_words.VERBS if noun.kind in verb.kinds])
    return whom(phrase, _any_phrase(rng, _BEINGS), verb.english, negated=negated)
