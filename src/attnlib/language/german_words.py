"""The words of a second small grammar: the English of the first, some words more, and a German of ours.

The German knows two cases, nominative and accusative. The plural of nouns and adjectives is always definite.
"""

from typing import NamedTuple

from attnlib.language.lexicon import read_table


class GermanNoun(NamedTuple):
    """A noun in both languages. Its kind, animal, person or thing, tells which words go with it."""

    english: str
    english_plural: str
    german: str
    german_plural: str
    gender: str
    kind: str


class GermanAdjective(NamedTuple):
    """An adjective, and the German stem that endings are put to."""

    english: str
    word_class: str
    stem: str
    kinds: str
    place = "before"  # of all


class GermanVerb(NamedTuple):
    """A verb in both languages, third person. A separable verb has a prefix that a main clause puts to its end."""

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
    """Choose the article, or with `definite` the relative pronoun, by gender (m, f, n; p in the plural) and case."""
    return _ARTICLES[case][0 if definite else 1][gender]


def ending(definite: bool, gender: str, case: str) -> str:
    """Choose the ending of an adjective by the article before it."""
    if gender == "p" or (gender, case) == ("m", "accusative"):
        return "en"
    return "e" if definite or gender == "f" else {"m": "er", "n": "es"}[gender]
