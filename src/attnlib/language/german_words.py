"""The words of a second small grammar: the English of the first, some words more, and a German of ours.

The German knows two cases, nominative and accusative. The plural of nouns and adjectives is always definite.
"""

from typing import NamedTuple

from attnlib.language.lexicon import read_table


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
