"""The real text, Multi30k: where its files are in a folder, and what they hold.

Elliott, Frank, Sima'an and Specia 2016, "Multi30K: Multilingual English-German Image Descriptions"; its French is of
Elliott, Frank, Barrault, Bougares and Specia 2017, "Findings of the Second Shared Task on Multimodal Machine
Translation and Multilingual Image Description".
"""

from html import unescape
from pathlib import Path
from typing import NamedTuple

from attnlib.data import SentencePair
from attnlib.real.captions import LANGUAGES
from attnlib.text.files import read_beside, words_of

SOURCE = "github.com/multi30k/dataset"
"""Where the text is from. Its files are in the folder data/task1/tok."""

PARTS = {"train": "train", "dev": "val", "test": "test_2017_flickr"}
"""What the files are called, by what they are for."""


class Data(NamedTuple):
    """English captions and their translations.

    Attributes
    ----------
    train, dev, test : lists of SentencePair
        To learn from, to choose the best weights by, and to measure.
    """

    train: list[SentencePair]
    dev: list[SentencePair]
    test: list[SentencePair]


def find_files(folder: Path, language: str) -> dict[str, tuple[Path, Path]]:
    """Find the English file of each part and that in the language.

    Parameters
    ----------
    folder : Path
    language : str
        One of `attnlib.real.captions.LANGUAGES`.

    Returns
    -------
    dict
        For each of `PARTS` two files: ``val.lc.norm.tok.en``, as the repository calls it, or ``val.en``, or either
        with ``.gz``.

    Raises
    ------
    ValueError
        If a file is missing: it names all that are.
    """
    ending = LANGUAGES[language]
    found = {part: (_file(folder, name, "en"), _file(folder, name, ending)) for part, name in PARTS.items()}
    missing = [
        f"{PARTS[part]}.lc.norm.tok.{end}"
        for part, files in found.items()
        for file, end in zip(files, ("en", ending), strict=True)
        if file is None
    ]
    if missing:
        raise ValueError(
            f"DATA is {folder}, which lacks {', '.join(missing)} (or .gz); expected the files of the folder "
            f"data/task1/tok of {SOURCE}"
        )
    return found


def read_data(folder: Path, language: str) -> Data:
    """Read all parts in English and the language, except pairs with an empty side.

    The files spell marks as HTML does, such as "&apos;". These are replaced by the marks that they stand for, so that a
    word is spelt in one way. This makes no two words alike, and leaves BLEU as it is.

    Raises
    ------
    OSError, ValueError
        As for `find_files` and `attnlib.text.files.read_beside`.
    """
    files = find_files(folder, language)
    return Data(*([_plain(*sides) for sides in read_beside(*files[part]) if all(sides)] for part in Data._fields))


def _plain(*sides: tuple[str, ...]) -> SentencePair:
    return SentencePair(*(words_of(unescape(" ".join(words))) for words in sides))


def _file(folder: Path, name: str, ending: str) -> Path | None:
    names = (f"{name}{middle}.{ending}{end}" for middle in (".lc.norm.tok", "") for end in ("", ".gz"))
    return next((folder / found for found in names if (folder / found).is_file()), None)
