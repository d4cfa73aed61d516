"""Fonts for words of any language: Matplotlib's own has the letters of Europe, and few of Asia."""

from collections.abc import Iterable
from functools import cache
from warnings import warn

from matplotlib import rcParams
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

INSTEAD = "□"
"""What is drawn for a letter that no installed font has."""


def drawable(words: Iterable[str]) -> tuple[list[str], list[str]]:
    """Find fonts that have the letters of some words.

    Returns
    -------
    list of str
        The words. A letter that no installed font has is `INSTEAD`, and a warning names it.
    list of str
        The families of fonts: those of ``rcParams``, then as few others as it takes.
    """
    words, families = list(words), list(rcParams["font.family"])
    missing = {*"".join(words)} - {"\n"}
    for family in families:
        missing -= _known(missing, findfont(FontProperties(family=[family])))
    fonts = ((font.name, font.fname) for font in fontManager.ttflist if (font.style, font.weight) == ("normal", 400))
    others = _enough(frozenset(missing), tuple(sorted(fonts))) if missing else {}
    missing = missing.difference(*others.values())
    if missing:
        warn(
            f"no installed font has {' '.join(sorted(missing))}: {INSTEAD} is drawn instead. Install a font that has "
            "these letters, or add its file by matplotlib.font_manager.fontManager.addfont",
            stacklevel=3,
        )
        words = [word.translate(dict.fromkeys(map(ord, missing), INSTEAD)) for word in words]
    return words, families + list(others)


@cache
def _enough(letters: frozenset[str], fonts: tuple[tuple[str, str], ...]) -> dict[str, set[str]]:
    """Choose, for letters, the families of fonts that have most of them, and say which letters each has."""
    fonts = [(name, path) for name, path in fonts if not name.startswith("Last Resort")]  # a sign for every letter
    chosen, left = {}, {*letters}
    while left:
        name, path = max(fonts, key=lambda font: len(_known(left, font[1])))
        if not (known := _known(left, path)):
            break
        chosen[name] = known
        left -= known
    return chosen


def _known(letters: Iterable[str], path: str) -> set[str]:
    font = get_font(path)
    return {letter for letter in letters if font.get_char_index(ord(letter))}
