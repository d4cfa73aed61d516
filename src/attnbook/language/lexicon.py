"""What a word of the grammar is, and how French words change with neighbors: for `attnbook.language.dictionary`."""

from typing import NamedTuple


class Noun(NamedTuple):
    """A noun in English and French.

    Attributes
    ----------
    english, english_plural, french, french_plural : str
        Its forms.
    gender : {"m", "f"}
        The gender of the French noun.
    kind : {"animal", "person", "thing", "place", "matter"}
        The class of meaning, which decides on the words that go with it.
    """

    english: str
    english_plural: str
    french: str
    french_plural: str
    gender: str
    kind: str


class Adjective(NamedTuple):
    """An adjective in English and French.

    Attributes
    ----------
    english : str
        The English form.
    place : {"before", "after"}
        The place of the French adjective beside its noun.
    word_class : str
        The class of meaning, such as the colors. A noun has at most one adjective of a class.
    masculine, before_vowel, feminine, masculine_plural, feminine_plural : str
        The French forms. The second is masculine too.
    kinds : str
        The kinds of noun that it goes with, separated by commas.
    """

    english: str
    place: str
    word_class: str
    masculine: str
    before_vowel: str
    feminine: str
    masculine_plural: str
    feminine_plural: str
    kinds: str


class Verb(NamedTuple):
    """A verb in English and French, third person.

    Attributes
    ----------
    english : str
        The plain form.
    particle : str
        The words after it, or an empty string.
    french, french_plural : str
        The French forms.
    to : str
        The French word for the particle, or an empty string.
    kinds : str
        The kinds of noun that its complement may be, separated by commas.
    subjects : str
        The kinds of noun that its subject may be.
    """

    english: str
    particle: str
    french: str
    french_plural: str
    to: str
    kinds: str
    subjects: str

    @property
    def direct(self) -> bool:
        """Whether the French verb has a direct object."""
        return not self.to


def read_table(row: type, text: str) -> list:
    """Read rows from the lines of a table, in which a dash is an empty cell."""
    lines = filter(None, map(str.split, text.splitlines()))
    return [row(*("" if cell == "-" else cell for cell in line)) for line in lines]


ELIDED = {"le": "l'", "la": "l'", "de": "d'", "ne": "n'", "que": "qu'"}
CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def an(english: str) -> str:
    """Return the English indefinite article before a word."""
    return "an" if english[0] in "aeiou" and english != "european" else "a"


def article(definite: bool, noun: Noun, plural: bool) -> str:
    """Return the French article before any elision.

    The indefinite article has no plural here.
    """
    return "les" if plural else {"m": ("un", "le"), "f": ("une", "la")}[noun.gender][definite]


def agreeing(adjective: Adjective, noun: Noun, plural: bool, following: str = "") -> str:
    """Return the French form of an adjective that agrees with its noun.

    The `following` word decides, such as "homme" after "vieil".
    """
    if noun.gender == "f":
        return adjective.feminine_plural if plural else adjective.feminine
    if plural:
        return adjective.masculine_plural
    return adjective.before_vowel if _sounds_like_vowel(following) else adjective.masculine


def meet(left: str, right: str) -> tuple[str, ...]:
    """Return two adjacent French words: elided before a vowel, contracted to one word, or unchanged."""
    if left in ELIDED and _sounds_like_vowel(right):
        return ELIDED[left], right
    if (left, right) in CONTRACTED:
        return (CONTRACTED[left, right],)
    return left, right


def _sounds_like_vowel(french: str) -> bool:
    return french[:1] in tuple("aeéiouh")  # every h of this lexicon is mute
