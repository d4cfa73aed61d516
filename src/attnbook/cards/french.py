"""The tables from which ``french.js`` reads English sentences and writes the French."""

from typing import Any

from attnbook.language import lexicon
from attnbook.language.dictionary import ADJECTIVES, CONJUNCTIONS, NOUNS, PREPOSITIONS, VERBS


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
