"""The small grammar's sentences as files, for those who have no text at hand."""

from collections.abc import Sequence
from pathlib import Path

from attnlib.language.grammar import sample
from attnlib.text.files import pharaoh
from attnlib.vocabulary import SentencePair
from attnlib.writing import write_atomically


def write_toy(folder: str | Path, *, train: int = 20_000, dev: int = 200, seed: int = 1) -> None:
    """Write English sentences, their French translations and the links of their words.

    Parameters
    ----------
    folder : path
        Where ``train.en``, ``train.fr``, ``train.links`` and the same of ``dev`` will be. It is made if it is missing.
    train, dev : int
        How many pairs of each. None of ``dev`` is in ``train``.
    seed : int
        The same seed gives the same sentences.

    Raises
    ------
    OSError
        If a file cannot be written.
    ValueError
        If one of the files is there already.
    """
    parts = {"train": sample(train, seed=seed, part="train"), "dev": sample(dev, seed=seed, part="test")}
    files = {Path(folder) / f"{name}.{end}": text for name, pairs in parts.items() for end, text in _files(pairs)}
    for path in files:
        if path.exists():
            raise ValueError(f"{path} is there already; expected a folder without it")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        write_atomically(path, text.encode())


def _files(pairs: Sequence[SentencePair]) -> Sequence[tuple[str, str]]:
    rows = [(" ".join(pair.source), " ".join(pair.target), pharaoh(pair.links)) for pair in pairs]
    sides = zip(*rows, strict=True)
    return [(end, "".join(f"{row}\n" for row in side)) for end, side in zip(("en", "fr", "links"), sides, strict=True)]
