"""The vocabularies of a text, from one reading of it."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from attnlib.text.settings import Settings
from attnlib.text.subwords import Sample, Subwords
from attnlib.vocabulary import SentencePair, Tokenizer, Vocabulary


class VocabularyMaker:
    """Makes the vocabularies of both sides from the pairs that were added to it.

    Parameters
    ----------
    settings : Settings
        Whether it is words or subwords that the model knows, and how many.
    """

    def __init__(self, settings: Settings):
        self.settings = settings
        self._sides = (Sample(), Sample()) if settings.subwords else (Counter(), Counter())

    def add(self, pair: SentencePair) -> None:
        """Look at one pair more."""
        for side, words in zip(self._sides, pair[:2], strict=True):
            side.add(words) if self.settings.subwords else side.update(words)

    def make(self, say: Callable[[str], Any] = lambda line: None) -> tuple[Tokenizer, Tokenizer]:
        """Give the vocabularies of source and target, which may be one and the same.

        Raises
        ------
        ValueError
            As for `Vocabulary.of` and `Subwords.of`.
        """
        size = self.settings.vocabulary
        if not self.settings.subwords:
            source, target = (
                Vocabulary.of_counts(side, min_count=self.settings.least, max_size=size) for side in self._sides
            )
            return source, target
        parts = [self._sides] * 2 if self.settings.shared else [[side] for side in self._sides]
        source = Subwords.of_samples(parts[0], size)
        target = source if self.settings.shared else Subwords.of_samples(parts[1], size)
        for known, name in ((source, "source"), (target, "target")):
            if len(known) < size:
                say(f"{name}: the text has no more than {len(known):,} subwords, so not {size:,}")
        return source, target
