"""A text as arrays of ids, and the vocabularies that number it."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from attnlib.data import UNK, Corpus, SentencePair, Tokenizer, Vocabulary
from attnlib.text.config import TrainingConfig
from attnlib.text.subwords import Subwords


def build_vocabularies(pairs: Iterable[SentencePair], config: TrainingConfig) -> tuple[Tokenizer, Tokenizer]:
    """Build the vocabularies of source and target.

    Parameters
    ----------
    pairs : iterable of SentencePair
        The training text.
    config : TrainingConfig
        Settings of the training, among them ``words``, ``vocab_size`` and ``share_vocabulary``.

    Returns
    -------
    tuple of two Vocabulary or Subwords
        Source and target vocabulary; the same object twice if the vocabulary is shared.
    """
    if config.share_vocabulary:
        both = _subwords((pair.source + pair.target for pair in pairs), config.vocab_size, "whole")
        return both, both
    sides = ((pair.source for pair in pairs), "source"), ((pair.target for pair in pairs), "target")
    if config.words:
        limits = {"min_count": config.min_count or 2, "max_size": config.vocab_size}
        source, target = (Vocabulary.from_sentences(sentences, **limits) for sentences, _ in sides)
    else:
        source, target = (_subwords(sentences, config.vocab_size, name) for sentences, name in sides)
    return source, target


def _subwords(sentences: Iterable[Sequence[str]], size: int, name: str) -> Subwords:
    try:
        return Subwords.train(sentences, size)
    except ValueError as error:
        raise ValueError(f"vocab_{error} of the {name} text") from None


def encode_text(
    pairs: Iterable[SentencePair],
    vocabularies: tuple[Tokenizer, Tokenizer],
    config: TrainingConfig,
    log: Callable[[str], Any] = lambda line: None,
) -> Corpus:
    """Encode a text as arrays of ids, without the pairs that are too long.

    Parameters
    ----------
    pairs : iterable of SentencePair
        The training text.
    vocabularies : tuple of two Vocabulary or Subwords
        Source and target vocabulary.
    config : TrainingConfig
        Settings of the training, among them ``max_input_length``.
    log : callable, optional
        Called with each message about left-out pairs or a vocabulary's coverage.

    Returns
    -------
    Corpus
        The ids, in two or four bytes each.
    """
    longest, left_out, words, unknown = min(config.max_input_length, config.max_tokens - 1), 0, [0, 0], [0, 0]
    ids, lengths = array("H" if max(map(len, vocabularies)) <= 1 << 16 else "I"), array("I")
    for pair in pairs:
        sides = [known.encode(side) for known, side in zip(vocabularies, pair[:2], strict=True)]
        for n, side in enumerate(sides):
            words[n] += len(side) - 1
            unknown[n] += side.count(UNK)
        if max(map(len, sides)) - 1 > longest:
            left_out += 1
            continue
        for side in sides:
            ids.extend(side)
            lengths.append(len(side))
    if not lengths:
        raise ValueError(f"no pair is left: all are longer than {longest} subwords or words; expected a shorter pair")
    if left_out:
        log(f"left out: {left_out:,} pairs too long for the model")
    for name, known, part, whole in zip(("source", "target"), vocabularies, unknown, words, strict=True):
        if isinstance(known, Vocabulary):
            log(f"{name}: {len(known.words):,} words, which are {1 - part / whole:.2%} of the text")
    both = np.frombuffer(lengths, lengths.typecode).reshape(-1, 2)
    sizes = both.sum(1, dtype=np.int64)
    return Corpus(np.frombuffer(ids, ids.typecode), sizes.cumsum() - sizes, both)
