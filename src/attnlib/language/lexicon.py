"""The words of the small grammar, and how the French ones change with what stands beside them."""

from typing import NamedTuple


class Noun(NamedTuple):
    """A noun in both languages. Its kind (animal, person, thing or matter) tells which words go with it."""

    english: str
    english_plural: str
    french: str
    french_plural: str
    gender: str
    kind: str


class Adjective(NamedTuple):
    """An adjective, with the French forms that agree with the noun, and the kinds of noun it goes with.

    A noun has at most one adjective of a class, such as the colours. The place is where French puts the adjective.
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
    """A verb in both languages, third person. ``to`` translates the particle, where it has a word of its own."""

    english: str
    particle: str
    french: str
    french_plural: str
    to: str
    kinds: str

    @property
    def direct(self) -> bool:
        """Whether nothing stands between the French verb and what it is done to."""
        return not self.to


def read_table(row: type, text: str) -> list:
    """Read one row a line. A dash is an empty cell."""
    return [row(*("" if cell == "-" else cell for cell in line.split())) for line in text.strip().splitlines()]


NOUNS: list[Noun] = read_table(
    Noun,
    """
    cat        cats        chat     chats     m  animal
    dog        dogs        chien    chiens    m  animal
    bird       birds       oiseau   oiseaux   m  animal
    child      children    enfant   enfants   m  person
    man        men         homme    hommes    m  person
    woman      women       femme    femmes    f  person
    queen      queens      reine    reines    f  person
    book       books       livre    livres    m  thing
    tree       trees       arbre    arbres    m  thing
    house      houses      maison   maisons   f  thing
    car        cars        voiture  voitures  f  thing
    school     schools     école    écoles    f  thing
    agreement  agreements  accord   accords   m  matter
    area       areas       zone     zones     f  matter
    """,
)

ADJECTIVES: list[Adjective] = read_table(  # in the order in which English puts them
    Adjective,
    """
    beautiful before beauty beau       bel        belle      beaux       belles      animal,person,thing,matter
    big       before size   grand      grand      grande     grands      grandes     animal,person,thing,matter
    small     before size   petit      petit      petite     petits      petites     animal,person,thing,matter
    old       before size   vieux      vieil      vieille    vieux       vieilles    animal,person,thing,matter
    famous    after  fame   célèbre    célèbre    célèbre    célèbres    célèbres    animal,person,thing,matter
    red       after  colour rouge      rouge      rouge      rouges      rouges      thing
    black     after  colour noir       noir       noire      noirs       noires      animal,thing
    european  after  origin européen   européen   européenne européens   européennes animal,person,thing,matter
    economic  after  domain économique économique économique économiques économiques matter
    """,
)

VERBS: list[Verb] = read_table(
    Verb,
    """
    sleep   -   dort     dorment    -  -
    sing    -   chante   chantent   -  -
    see     -   voit     voient     -  animal,person,thing,matter
    love    -   aime     aiment     -  animal,person,thing
    look    at  regarde  regardent  -  animal,person,thing,matter
    listen  to  écoute   écoutent   -  animal,person
    speak   to  parle    parlent    à  animal,person
    """,
)

_ELIDED = {"le": "l'", "la": "l'", "de": "d'", "ne": "n'", "que": "qu'"}
_CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def an(english: str) -> str:
    """Choose the English indefinite article by the word after it."""
    return "an" if english[0] in "aeiou" and english != "european" else "a"


def article(definite: bool, noun: Noun, plural: bool) -> str:
    """Choose the French article by gender and number, before any elision. An indefinite noun is never plural here."""
    return "les" if plural else {"m": ("un", "le"), "f": ("une", "la")}[noun.gender][definite]


def agreeing(adjective: Adjective, noun: Noun, plural: bool, following: str = "") -> str:
    """Choose the French form of an adjective by its noun and by the word after it, such as "vieil" before "homme"."""
    if noun.gender == "f":
        return adjective.feminine_plural if plural else adjective.feminine
    if plural:
        return adjective.masculine_plural
    return adjective.before_vowel if _sounds_like_vowel(following) else adjective.masculine


def meet(left: str, right: str) -> tuple[str, ...]:
    """Write two French words side by side: elided before a vowel, contracted to one word, or as they are."""
    if left in _ELIDED and _sounds_like_vowel(right):
        return _ELIDED[left], right
    if (left, right) in _CONTRACTED:
        return (_CONTRACTED[left, right],)
    return left, right


def _sounds_like_vowel(french: str) -> bool:
    return french[:1] in tuple("aeéiouh")  # every h of this lexicon is mute
