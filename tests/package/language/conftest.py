"""A phrase with its links, as a line to read."""

from collections.abc import Callable

import pytest

from attnlib.data import SentencePair


@pytest.fixture(scope="session")
def gloss() -> Callable[[SentencePair], str]:
    """Write behind each foreign word, after a slash, the English words that it is linked to."""

    def glossed(pair: SentencePair) -> str:
        english = ["+".join(pair.source[i] for i, t in sorted(pair.links) if t == n) for n in range(len(pair.target))]
        return " ".join(f"{word}/{words}" for word, words in zip(pair.target, english, strict=True))

    return glossed
