"""Subwords (chapter 5): frequent pieces of words, so that no word is unknown.

Sentencepiece splits each word by itself, so that no piece contains a space and each piece belongs to one word.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from io import BytesIO
from typing import Any

from jaxtyping import Int
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from torch import Tensor

from attnlib.checks import check_number, check_sentence, check_whole
from attnlib.data import BOS, EOS, PAD, SPECIAL, UNK, until_end

_SPACE = "\u2581"  # begins a piece that begins a word
_INSIDE = str.maketrans({_SPACE: "\ufdd0", "\u2585": "\ufdd1"})  # sentencepiece's own symbols; noncharacters for them
_OUTSIDE = str.maketrans({inside: chr(outside) for outside, inside in _INSIDE.items()})
_LEARNT_FROM = 100_000  # sentences at most, and half as many at least where there are more
_REMEMBERED = 100_000  # words whose pieces need not be found again
_NAMES = ("pad", "bos", "eos", "unk")  # sentencepiece's; as pieces with a space, which no text can have


class Subwords:
    """A vocabulary of subwords: a mapping between pieces of words and integer ids.

    Parameters
    ----------
    model : bytes
        A sentencepiece model, as `Subwords.train` makes it.
    """

    def __init__(self, model: bytes):
        self.model, self._cutter = model, SentencePieceProcessor(model_proto=model)
        self._pieces = lru_cache(_REMEMBERED)(self._cut)

    def __reduce__(self) -> tuple[type["Subwords"], tuple[bytes]]:
        """Say what a copy of the vocabulary is made from, without the words that it remembers."""
        return Subwords, (self.model,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subwords) and self.model == other.model

    def __hash__(self) -> int:
        return hash(self.model)

    @classmethod
    def train(cls, sentences: Iterable[Sequence[str]], vocab_size: int) -> "Subwords":
        """Train a vocabulary of subwords.

        Parameters
        ----------
        sentences : iterable of words
            The training text, read once. Of more than 100,000 sentences every second one is used, of more than 200,000
            every fourth, and so on; the letters of all sentences are kept.
        vocab_size : int
            Number of pieces, special symbols counted. There are fewer if the text does not have as many.
        """
        check_whole(vocab_size=vocab_size)
        lines: list[str] = []
        letters: set[str] = set()
        every = 1
        for seen, words in enumerate(sentences):
            line = " ".join(words).translate(_INSIDE)
            letters.update(line)
            if seen % every == 0:
                lines.append(line)
            if len(lines) > _LEARNT_FROM:
                del lines[1::2]
                every *= 2
        letters.discard(" ")
        if not letters:
            raise ValueError("sentences is empty; expected at least one word")
        if vocab_size < (least := len(letters) + 1 + len(_NAMES)):
            raise ValueError(f"vocab_size is {vocab_size}; expected at least {least}, to hold every letter of the text")
        lines.extend(sorted(letters.difference(*lines)))  # sentencepiece before 0.2.3 dies of unused required_chars
        ids: dict[str, Any] = {f"{name}_id": n for name, n in zip(_NAMES, (PAD, BOS, EOS, UNK), strict=True)}
        model = BytesIO()
        SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            model_type="bpe",
            vocab_size=vocab_size,
            hard_vocab_limit=False,
            character_coverage=1.0,
            normalization_rule_name="identity",
            max_sentence_length=1 << 20,
            num_threads=1,
            minloglevel=2,
            **(ids | {f"{name}_piece": f" {name}" for name in _NAMES}),
        )
        return cls(model.getvalue())

    def __len__(self) -> int:
        return len(self._cutter)

    @property
    def pieces(self) -> list[str]:
        """Pieces in the order of their ids, from 4 on, which is the order of merging."""
        return [self._cutter.id_to_piece(number) for number in range(len(SPECIAL), len(self))]

    def encode(self, words: Sequence[str]) -> list[int]:
        """Return the ids of a sentence's pieces, followed by EOS."""
        check_sentence(words)
        return [piece for word in words for piece in self._pieces(word)] + [EOS]

    def sizes(self, words: Sequence[str]) -> list[int]:
        """Return the number of pieces of each word."""
        return [len(self._pieces(word)) for word in words]

    def surfaces(self, words: Sequence[str]) -> list[str]:
        """Return the letters of each piece of a sentence, without EOS.

        Unknown pieces keep their letters.
        """
        cut = (self._cutter.encode(word.translate(_INSIDE), out_type=str) or [word] for word in words)
        return [_letters(piece) for pieces in cut for piece in pieces]

    def names(self, ids: Iterable[int] | Int[Tensor, "tgt"]) -> list[str]:
        """Return the letters of each piece up to the first EOS."""
        return [_letters(self._named(number)) for number in until_end(ids)]

    def decode(self, ids: Iterable[int] | Int[Tensor, "tgt"]) -> tuple[str, ...]:
        """Return the words up to the first EOS, or all words if there is none."""
        words = "".join(map(self._named, until_end(ids))).split(_SPACE)
        return tuple(word.translate(_OUTSIDE) for word in words if word)

    def _cut(self, word: str) -> list[int]:
        return self._cutter.encode(word.translate(_INSIDE)) or [UNK]

    def _named(self, number: int) -> str:
        check_number(number, len(self))
        return SPECIAL[number] if number < len(SPECIAL) else self._cutter.id_to_piece(number)


def _letters(piece: str) -> str:
    return piece.removeprefix(_SPACE).translate(_OUTSIDE)
