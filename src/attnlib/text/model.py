"""What a trained model does with sentences of words: translates them and links them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import IOBase
from itertools import accumulate
from math import exp, inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attnlib.checks import check_whole
from attnlib.data import EOS, SPECIAL, UNKNOWN, SentencePair
from attnlib.metrics import forced_weights, links, word_weights
from attnlib.scores import Location
from attnlib.search import search_all
from attnlib.text.checkpoint import read_model
from attnlib.text.files import Words, decoded, pharaoh, words_of
from attnlib.text.settings import MAX_LINE
from attnlib.text.subwords import Subwords
from attnlib.text.units import split_units, unit_weights
from attnlib.translator import Translator
from attnlib.writing import errors_name

CUT = "its translation reached the greatest length and is cut there; --max-length sets another"
"""What is said of a translation that did not end."""

_READ = 1 << 16  # bytes of the input that are read at once, if as many are there


class Translation(NamedTuple):
    """One sentence translated.

    Attributes
    ----------
    source, words : words
        The sentence and its translation.
    weights : ``"tgt src"``, or None
        What each of the units of the translation looked at, also where the model knows pieces of words: the sum over a
        source word's pieces, the mean over a target word's. None: a model without attention.
    probability : float
        That the model gives to this translation of the sentence.
    finished : bool
        Whether it ended before it reached its greatest length.
    units : (words, words), optional
        What is linked, of source and translation. None: their words. Of a text that lacks spaces, its letters: see
        `attnlib.text.units`.
    """

    source: Words
    words: Words
    weights: Float[np.ndarray, "tgt src"] | None
    probability: float
    finished: bool = True
    units: tuple[Words, Words] | None = None

    def __str__(self) -> str:
        return " ".join(self.words)

    def links(self) -> set[tuple[int, int]]:
        """Link each unit to the source unit that it looked at most, as (source position, target position)."""
        return links(self.weights, *(self.units or self[:2])) if self.words else set()

    def with_unknown_replaced(self, dictionary: Mapping[str, str] | None = None) -> "Translation":
        """Replace each unknown word by the dictionary's entry for the source word it looked at most, or by that word.

        An entry may have several words, which then share the weights, or none.

        Notes
        -----
        Luong et al. 2015, section 4.1, after Jean et al. 2015.
        """
        unknown = SPECIAL[UNKNOWN]
        if not any(unknown in word for word in self.words) or self.units:
            return self
        beside = {t: self.source[i] for i, t in self.links()}
        known = dictionary or {}
        entries = [
            known.get(beside[t], beside[t]).split() if unknown in word else [word] for t, word in enumerate(self.words)
        ]
        return self._replace(
            words=tuple(word for entry in entries for word in entry),
            weights=np.repeat(self.weights, [len(entry) for entry in entries], axis=0),
        )


@dataclass(frozen=True)
class Model:
    """A translator and how it was made. ``attnlib.load`` opens one.

    Attributes
    ----------
    translator : Translator
        With its vocabularies, of words or of subwords.
    config : mapping
        As ``config.json`` holds it.
    """

    translator: Translator
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def positions(self) -> int | float:
        """How many words, or pieces, a source may have: as many as a location score has weights for, EOS apart."""
        score = getattr(getattr(self.translator.decoder, "align", None), "score", None)
        return len(score.W_a) - 1 if isinstance(score, Location) else inf

    @property
    def unspaced(self) -> tuple[bool, bool]:
        """Tell whether source and target lack spaces, so that letters are linked. Whole words are always linked."""
        sides = self.config.get("unspaced", (False, False))
        known = self.translator.source_vocabulary, self.translator.target_vocabulary
        source, target = (side and isinstance(one, Subwords) for side, one in zip(sides, known, strict=True))
        return source, target

    def check_attention(self, wanted: str) -> None:
        """Refuse a model without attention, where `wanted` needs weights."""
        if not self.translator.decoder.attends:
            raise ValueError(f"{wanted} needs attention, and this model has none (preset rnn_encdec)")

    def shortened(self, words: Words, longest: int) -> Words:
        """Keep as many words, from the first, as take up to `longest` positions; of a word that takes more, a part."""
        sizes = self.translator.source_vocabulary.sizes(words[:longest])
        kept = words[: sum(end <= longest for end in accumulate(sizes))]
        return kept or tuple(word[: max(1, longest - 1)] for word in words[:1])

    def check_longest(self, pairs: Sequence[tuple[Words, Words]], longest: int, name: str) -> None:
        """Refuse a side that takes more than `longest` positions, or than the model has, and name its line."""
        check_whole(longest=longest)
        known = self.translator.source_vocabulary, self.translator.target_vocabulary
        for number, sides in enumerate(pairs, 1):
            for words, vocabulary, limit in zip(sides, known, (min(longest, self.positions), longest), strict=True):
                if (size := sum(vocabulary.sizes(words))) > limit:
                    raise ValueError(
                        f"{name}, line {number}: {size:,} words or pieces of words; expected at most {limit:,}: "
                        "leave the line out, or give a greater --longest if that is less than the model reads"
                    )

    def translate(self, sentence: str, *, beam: int = 5, max_length: int | None = None) -> Translation:
        """Translate one sentence.

        Parameters
        ----------
        sentence : str
            Words separated by spaces. Those that the model does not know are read as unknown.
        beam : int
            Hypotheses that the search keeps; 1 takes the most probable word at each step.
        max_length : int, optional
            The most words, or pieces of words, of a translation, EOS among them. None: twice those of the source, and
            50 more.
        """
        return self.translate_all([words_of(sentence)], beam=beam, max_length=max_length)[0]

    def translate_all(
        self,
        sentences: Sequence[Words],
        *,
        beam: int = 5,
        max_length: int | None = None,
        replace: Mapping[str, str] | None = None,
        prefer_finished: bool = False,
    ) -> list[Translation]:
        """Translate many sentences of words, even empty ones, in batches of similar length; the order is kept.

        With `replace`, a dictionary that may be empty, unknown words are replaced: see
        `Translation.with_unknown_replaced`. With `prefer_finished`, as runs are recorded, a translation that ended is
        always preferred to one that reached its greatest length. Without, one that is more probable per word and was
        cut is preferred to one shorter than half of the source, and to all where the greatest length is no greater than
        the source's. The rest is as for `translate`.
        """
        check_whole(beam=beam, **{} if max_length is None else {"max_length": max_length})
        if replace is not None:
            self.check_attention("replacing unknown words")
        known = self.translator.source_vocabulary, self.translator.target_vocabulary
        translations = [Translation((), (), np.zeros((0, 0)), 1.0)] * len(sentences)
        full = [n for n, words in enumerate(sentences) if words]
        sources = [sentences[n] for n in full]
        sizes = [sum(known[0].sizes(words)) for words in sources]
        limits = [2 * size + 50 if max_length is None else max_length for size in sizes]
        both = zip(sizes, limits, strict=True)
        shortest = None if prefer_finished else [size // 2 if size < limit else limit + 1 for size, limit in both]
        for n, numbers, log_p, row in search_all(self.translator, sources, limits, beam, shortest):
            one = self._translation(sources[n], numbers, log_p, row)
            translations[full[n]] = one if replace is None else one.with_unknown_replaced(replace)
        return translations

    def _translation(self, source: Words, numbers: Tensor, log_p: float, row: Tensor | None) -> Translation:
        known = self.translator.source_vocabulary, self.translator.target_vocabulary
        words, sizes = known[1].grouped(numbers)
        one = Translation(source, words, None, exp(log_p), bool((numbers == EOS).any()))
        if row is None:
            return one
        if not any(self.unspaced):
            return one._replace(weights=word_weights(row.numpy(), known[0].sizes(source), sizes))
        pieces = known[0].surfaces(source), known[1].names(numbers)
        units = self._units(source, words)
        return one._replace(units=units, weights=_unit_weights(row.numpy(), units, pieces))

    def _units(self, *sides: Words) -> tuple[Words, Words]:
        source, target = (
            split_units(words) if unspaced else words for words, unspaced in zip(sides, self.unspaced, strict=True)
        )
        return source, target

    def links_of(self, pairs: Sequence[tuple[Words, Words]]) -> list[set[tuple[int, int]]]:
        """Link the words of sentences and their given translations (forced decoding); an empty side has no links."""
        self.check_attention("align")
        full = [SentencePair(*sides) for sides in pairs if all(sides)]
        linked = map(self._links, full, forced_weights(self.translator, full))
        return [next(linked) if all(sides) else set() for sides in pairs]

    def _links(self, pair: SentencePair, weights: Float[np.ndarray, "tgt src"]) -> set[tuple[int, int]]:
        known = self.translator.source_vocabulary, self.translator.target_vocabulary
        if not any(self.unspaced):
            sizes = (one.sizes(words) for one, words in zip(known, pair[:2], strict=True))
            return links(word_weights(weights, *sizes), *pair[:2])
        pieces = known[0].surfaces(pair.source), known[1].surfaces(pair.target)
        units = self._units(*pair[:2])
        return links(_unit_weights(weights, units, pieces), *units)


def _unit_weights(
    weights: Float[np.ndarray, "tgt src"], units: tuple[Words, Words], pieces: tuple[list[str], list[str]]
) -> Float[np.ndarray, "target_units source_units"]:
    (source, target), (read, written) = units, pieces
    return unit_weights(weights, (source, read), (target, written))


def load(folder: str | Path, device: str | torch.device = "cpu") -> Model:
    """Open a model folder.

    Parameters
    ----------
    folder : path
        What ``attnlib train --model`` has made.
    device : str or torch.device
        Where it is to translate: see `attnlib.devices.device_named`.

    Raises
    ------
    OSError, ValueError
        If the folder is not a model folder, is not complete or has another format, or a file in it is damaged.
    """
    translator, config = read_model(Path(folder))
    return Model(translator.to(device), config)


def translate_stream(
    model: Model,
    source: IOBase,
    target: IOBase,
    *,
    longest: int = MAX_LINE,
    linked: IOBase | None = None,
    say: Callable[[str], Any] = lambda line: None,
    **options: Any,
) -> None:
    """Translate line by line, as lines come in, and write a line for each.

    Parameters
    ----------
    model : Model
    source, target : binary streams
        UTF-8 text in and out. An empty line gives an empty line.
    longest : int
        The most words, or pieces of words, that are read of a line, if the model reads as many. A longer one is cut.
    linked : binary stream, optional
        Where the links go, in the Pharaoh format, a line for each.
    say : function
        What to do with a sentence about a line that was cut.
    **options
        As for `Model.translate_all`.

    Raises
    ------
    ValueError
        If a line is not UTF-8, once those before it are written; or attention is needed and the model has none.
    """
    check_whole(longest=longest)
    if linked:
        model.check_attention("linking words")
    done = 0
    for lines in _as_they_come(source):
        sentences, wrong = _readable(model, enumerate(lines, done + 1), min(longest, model.positions), say)
        translations = model.translate_all(sentences, **options)
        for number, one in enumerate(translations, done + 1):
            if not one.finished:
                say(f"the input, line {number}: {CUT}")
        if linked:
            linked.writelines(f"{pharaoh(one.links())}\n".encode() for one in translations)
        with errors_name("the output"):
            target.writelines(f"{one}\n".encode() for one in translations)
            target.flush()
        if wrong:
            raise wrong
        done += len(lines)


def _readable(
    model: Model, lines: Iterable[tuple[int, bytes]], longest: int, say: Callable[[str], Any]
) -> tuple[list[Words], ValueError | None]:
    """Read numbered lines, cut to `longest`, up to the first that is not UTF-8; give also the error that it raises."""
    sentences = []
    for number, line in lines:
        try:
            words = words_of(decoded(line, "the input", number))
        except ValueError as wrong:
            return sentences, wrong
        sentences.append(model.shortened(words, longest))
        if sentences[-1] != words:
            parts = f"{len(sentences[-1]):,} of its {len(words):,} words"
            say(f"the input, line {number}: cut to {longest:,} words or pieces of words, {parts}")
    return sentences, None


def _as_they_come(source: IOBase) -> Iterator[list[bytes]]:
    """Give the lines that are there to read, again and again until the end."""
    rest: list[bytes] = []
    while read := source.read1(_READ):
        first, *lines = read.split(b"\n")
        rest.append(first)
        if lines:
            lines, rest = [b"".join(rest), *lines[:-1]], lines[-1:]
            yield lines
    if line := b"".join(rest):
        yield [line]
