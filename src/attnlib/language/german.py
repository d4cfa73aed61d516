"""A second small grammar, of English and a German of ours: phrases with their word links, and what to say, at random.

German moves the verb. A main clause has it second, and a separable verb's prefix at the end, with "nicht" before the
prefix: "the man looks at the cat", "der Mann sieht die Katze an". A subordinate clause has the whole verb at its end:
"the man that looks at the cat", "der Mann der die Katze ansieht". After a subordinate clause, the main clause begins
with its verb. There are no commas.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from random import Random
from typing import NamedTuple

from attnlib.checks import check_choice
from attnlib.data import SentencePair
from attnlib.language import german_words
from attnlib.language.grammar import any_english, by_class, choose, draw
from attnlib.language.phrases import words

_BEINGS = "animal,person"
_BY_CLASS = by_class(german_words.ADJECTIVES)
_NOUNS = {word: noun for noun in german_words.NOUNS for word in (noun.english, noun.english_plural)}
_ADJECTIVES = {adjective.english: adjective for adjective in german_words.ADJECTIVES}
_VERBS = {verb.english: verb for verb in german_words.VERBS}
_ORDERS = {
    "verb second": ("subject", "finite", "complement", "not", "prefix"),
    "verb first": ("finite", "subject", "complement", "not", "prefix"),
    "verb last": ("subject", "complement", "not", "whole"),
}


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


class GermanPhrase(NamedTuple):
    """A noun phrase in both languages, in each case, and its gender: m, f, n, or p in the plural."""

    pairs: dict[str, SentencePair]
    gender: str

    @property
    def plural(self) -> bool:
        """Whether its verb is plural."""
        return self.gender == "p"


@cache
def noun_phrase(english: str) -> GermanPhrase:
    """Translate an article, adjectives and a noun, such as "the small black cat", word by word.

    Raises
    ------
    ValueError
        If `english` holds words that the grammar does not know, or has no article.
    """
    first, *between, last = english.split() if " " in english else ("", "")
    if first not in ("the", "a", "an") or last not in _NOUNS or not _ADJECTIVES.keys() >= {*between}:
        raise ValueError(
            f"english is {english!r}; expected an article, then adjectives ({', '.join(_ADJECTIVES)}), "
            f"then a noun ({', '.join(_NOUNS)})"
        )
    noun, definite = _NOUNS[last], first == "the"
    plural = last == noun.english_plural
    gender = "p" if plural else noun.gender
    pairs = {}
    for case in ("nominative", "accusative"):
        ending = german_words.ending(definite, gender, case)
        german = [
            german_words.article(definite, gender, case),
            *(_ADJECTIVES[word].stem + ending for word in between),
            noun.german_plural if plural else noun.german,
        ]
        pairs[case] = together(*map(words, english.split(), german))
    return GermanPhrase(pairs, gender)


def both(first: GermanPhrase, second: GermanPhrase) -> GermanPhrase:
    """Join two phrases by "and", which makes a plural."""
    pairs = {case: together(pair, words("and", "und"), second.pairs[case]) for case, pair in first.pairs.items()}
    return GermanPhrase(pairs, "p")


def clause(
    subject: GermanPhrase,
    verb: str,
    complement: GermanPhrase | None = None,
    *,
    negated: bool = False,
    order: str = "verb second",
) -> SentencePair:
    """Say what the subject does, or does not, and to what. The verb is in its plain form, without its particle.

    Parameters
    ----------
    subject, complement : GermanPhrase
    verb : str
        In its plain form, without its particle.
    negated : bool
    order : str
        Of the German: "verb second", "verb first" or "verb last".

    Raises
    ------
    ValueError
        If the grammar does not know the verb, or `order` is none of these.
    """
    check_choice(_ORDERS, order=order)
    first, parts = subject.pairs["nominative"], _verb(verb, subject.plural, negated)
    english = [first, parts["whole"]]
    german = {"subject": (0, first)} | {name: (1, part) for name, part in parts.items()}
    if complement:
        english.append(complement.pairs["accusative"])
        german["complement"] = 2, english[2]
    return _laid(english, [german[name] for name in _ORDERS[order] if name in german])


def who(
    antecedent: GermanPhrase, verb: str, complement: GermanPhrase | None = None, *, negated: bool = False
) -> GermanPhrase:
    """Let the antecedent do something: "the cat that sees the man", "die Katze die den Mann sieht"."""
    pronoun = german_words.article(True, antecedent.gender, "nominative")
    that = GermanPhrase({"nominative": words("that", pronoun)}, antecedent.gender)
    return _followed(antecedent, clause(that, verb, complement, negated=negated, order="verb last"))


def whom(antecedent: GermanPhrase, subject: GermanPhrase, verb: str, *, negated: bool = False) -> GermanPhrase:
    """Let somebody do something to the antecedent: "the cat that the man sees", "die Katze die der Mann sieht"."""
    that = words("that", german_words.article(True, antecedent.gender, "accusative"))
    return _followed(antecedent, together(that, clause(subject, verb, negated=negated, order="verb last")))


def together(*parts: SentencePair) -> SentencePair:
    """Put phrases side by side, in the same order in both languages."""
    return _laid(parts, enumerate(parts))


def _any_sentence(rng: Random, clauses: int) -> SentencePair:
    """Make a main clause, often with a subordinate one, each with relatives; what is left follows after "and"."""
    relatives = int(rng.random() * min(clauses, 3))
    left = clauses - 1 - relatives
    subordinate = left > 0 and rng.random() < 0.5
    when = subordinate and rng.random() < 0.5
    main = _any_clause(rng, relatives, "verb first" if when else "verb second")
    if subordinate:
        relatives = int(rng.random() * min(left, 3))
        left -= 1 + relatives
        other = _any_clause(rng, relatives, "verb last")
        because = together(main, words("because", "weil"), other)
        main = together(words("when", "wenn"), other, main) if when else because
    return together(main, words("and", "und"), _any_sentence(rng, left)) if left else main


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
    phrase = noun_phrase(any_english(rng, noun, _BY_CLASS[noun.kind], definite))
    if not relative:
        return phrase
    negated = rng.random() < 0.25
    if noun.kind in _BEINGS and rng.random() < 0.5:
        verb = choose(rng, german_words.VERBS)
        complement = _any_phrase(rng, verb.kinds, definite=negated) if verb.kinds else None
        return who(phrase, verb.english, complement, negated=negated)
    verb = choose(rng, [verb for verb in german_words.VERBS if noun.kind in verb.kinds])
    return whom(phrase, _any_phrase(rng, _BEINGS), verb.english, negated=negated)


def _followed(antecedent: GermanPhrase, relative: SentencePair) -> GermanPhrase:
    pairs = {case: together(pair, relative) for case, pair in antecedent.pairs.items()}
    return GermanPhrase(pairs, antecedent.gender)


@cache
def _verb(verb: str, plural: bool, negated: bool) -> dict[str, SentencePair]:
    """Translate "looks at" or "does not look at": finite verb, prefix, both together, and "nicht"."""
    check_choice(_VERBS, verb=verb)
    english, particle, singular, several, prefix, _ = _VERBS[verb]
    finite = several if plural else singular
    inflected = english if plural or negated else f"{english}{'es' if english.endswith(('s', 'x')) else 's'}"
    source = [*(("do" if plural else "does", "not") if negated else ()), inflected, *particle.split()]
    meant = [i for i in range(len(source)) if not (negated and i == 1)]
    parts = {"finite": finite, "prefix": prefix, "whole": prefix + finite}
    linked = {name: _linked(source, word, meant) for name, word in parts.items() if word}
    return linked | ({"not": _linked(source, "nicht", [1])} if negated else {})


def _linked(source: list[str], german: str, positions: list[int]) -> SentencePair:
    return SentencePair(tuple(source), (german,), frozenset((i, 0) for i in positions))


def _laid(english: Sequence[SentencePair], german: Iterable[tuple[int, SentencePair]]) -> SentencePair:
    """Lay English parts side by side, and German ones, each with the number of the English part its links are of."""
    starts = [*accumulate((len(part.source) for part in english), initial=0)]
    target, links = (), set()
    for n, part in german:
        links |= {(i + starts[n], t + len(target)) for i, t in part.links}
        target += part.target
    return SentencePair(sum((part.source for part in english), ()), target, frozenset(links))
