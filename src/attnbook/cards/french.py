"""The tables from which ``french.js`` reads and writes sentences, and glosses, for `attnbook.cards.demo` and others."""

from functools import cache
from typing import Any

from attnbook.language import lexicon
from attnbook.language.dictionary import ADJECTIVES, CONJUNCTIONS, NOUNS, PREPOSITIONS, VERBS

_SMALL_WORDS = {
    "the": "le la les l'",
    "a": "un une",
    "of": "de d'",
    "of the": "du des",
    "to": "à",
    "to the": "au aux",
    "not": "ne n' pas",
    "that": "que qu' qui",
    "and": "et",
    "where": "où",
    "there": "là",
}


def grammar_tables() -> dict[str, Any]:
    """Return the tables of the grammar, for ``french.js``."""
    nouns = {
        english: {"french": french, "feminine": int(noun.gender == "f"), "plural": plural, "kind": noun.kind}
        for noun in NOUNS
        for english, french, plural in ((noun.english, noun.french, 0), (noun.english_plural, noun.french_plural, 1))
    }
    adjectives = {
        one.english: {"before": one.place == "before", "forms": one[3:8], "type": one.word_class}
        | {"kinds": one.kinds.split(",")}
        for one in ADJECTIVES
    }
    verbs = {
        verb.english: {"forms": [verb.french, verb.french_plural], "particle": verb.particle, "to": verb.to}
        | {"kinds": verb.kinds.split(",") if verb.kinds else [], "subjects": verb.subjects.split(",")}
        for verb in VERBS
    }
    return {
        "nouns": nouns,
        "adjectives": adjectives,
        "verbs": verbs,
        "places": PREPOSITIONS,
        "conjunctions": CONJUNCTIONS,
        "elided": lexicon.ELIDED,
        "contracted": {" ".join(pair): word for pair, word in lexicon.CONTRACTED.items()},
    }


@cache
def glosses() -> dict[str, str]:
    """Return the English meaning of each French word of the grammar, for readers without French."""
    said = {french.split()[0]: english for english, french in {**PREPOSITIONS, **CONJUNCTIONS}.items()}
    said |= {word: english for english, words in _SMALL_WORDS.items() for word in words.split()}
    said |= {form: one.english for one in ADJECTIVES for form in one[3:8]}
    for verb in VERBS:
        said[verb.french_plural] = f"{verb.english} {verb.particle}".strip()
        said[verb.french] = f"{verb.english}s {verb.particle}".strip()
    for noun in NOUNS:
        said[noun.french_plural] = noun.english_plural
        said[noun.french] = noun.english  # last, where both forms are one word
    return said
