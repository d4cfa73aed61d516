"""What a trained model does with sentences of words: translates them and links their words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import IOBase
from itertools import accumulate, islice
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attnlib.checks import check_whole
from attnlib.data import EOS, SPECIAL, UNK, SentencePair, Tokenizer
from attnlib.metrics import forced_weights, hard_alignment, merge_subword_weights
from attnlib.search import search_all
from attnlib.seq2seq import EncoderDecoder
from attnlib.text.files import Words, decode_line, format_pharaoh, split_words
from attnlib.text.folder import read_model
from attnlib.text.subwords import Subwords
from attnlib.text.units import split_units, unit_weights
from attnlib.writing import add_path_to_errors

MAX_LINE = 1000
"""The most words, or pieces of words, that are read of a line."""

_TOGETHER = 1000  # lines that are in memory at once


class Translation(NamedTuple):
    """One sentence translated.

    Attributes
    ----------
    source, words : words
        The sentence and its translation.
    weights : ``"tgt src"``, or None
        What each of the `units` of the translation looked at, also where the model knows pieces of words: the sum over
        a source word's pieces, the mean over a target word's. None: a model without attention.
    probability : float
        That the model gives to this translation of the sentence.
    finished : bool
        Whether it ended before it reached its greatest length.
    unspaced : (bool, bool)
        Whether letters, not words, are linked, of source and of translation: see `attnlib.text.units`.
    """

    source: Words
    words: Words
    weights: Float[np.ndarray, "tgt src"] | None
    probability: float
    finished: bool = True
    unspaced: tuple[bool, bool] = (False, False)

    def __str__(self) -> str:
        return " ".join(self.words)

    @property
    def units(self) -> tuple[Words, Words]:
        """What is linked, of source and translation: their words, or letters of a text without spaces."""
        return _units((self.source, self.words), self.unspaced)

    def links(self) -> set[tuple[int, int]]:
        """Link each unit to the source unit that it looked at most, as (source position, target position)."""
        return hard_alignment(self.weights, *self.units) if self.words else set()

    def with_unknown_replaced(self) -> "Translation":
        """Replace each unknown word by the source word that it looked at most.

        Notes
        -----
        Luong et al. 2015, section 4.1, after Jean et al. 2015.
        """
        if not any(SPECIAL[UNK] in word for word in self.words):
            return self
        asked = {t: self.units[0][i] for i, t in self.links()}
        known = iter(asked[t] if SPECIAL[UNK] in unit else unit for t, unit in enumerate(self.units[1]))
        sizes = [len(_units(((), (word,)), self.unspaced)[1]) for word in self.words]
        return self._replace(words=tuple("".join(islice(known, size)) for size in sizes))


@dataclass(frozen=True)
class TranslationModel:
    """A network and how it was made. ``attnlib.load`` opens one.

    Attributes
    ----------
    network : EncoderDecoder
        With its vocabularies, of words or of subwords.
    """

    network: EncoderDecoder

    @property
    def config(self) -> Mapping[str, Any]:
        """The configuration of the network, as ``config.json`` holds it."""
        return self.network.config

    @property
    def vocabularies(self) -> tuple[Tokenizer, Tokenizer]:
        """Those of source and target."""
        return self.network.source_vocabulary, self.network.target_vocabulary

    @property
    def unspaced(self) -> tuple[bool, bool]:
        """Tell whether source and target lack spaces, so that letters are linked. Whole words are always linked."""
        sides = zip(self.config.get("unspaced", (False, False)), self.vocabularies, strict=True)
        source, target = (lacks and isinstance(known, Subwords) for lacks, known in sides)
        return source, target

    def check_attention(self, wanted: str) -> None:
        """Refuse a model without attention, where `wanted` needs weights."""
        if not self.network.decoder.has_attention:
            raise ValueError(f"{wanted} needs attention, and this model has none (preset rnn_encdec)")

    def translate(self, sentence: str, *, beam_size: int = 5, max_length: int | None = None) -> Translation:
        """Translate one sentence.

        Parameters
        ----------
        sentence : str
            Words separated by spaces. Those that the model does not know are read as unknown.
        beam_size : int
            Hypotheses that the search keeps; 1 takes the most probable word at each step.
        max_length : int, optional
            The most words, or pieces of words, of a translation, EOS among them. None: twice those of the source, and
            50 more.
        """
        return self.translate_all([split_words(sentence)], beam_size=beam_size, max_length=max_length)[0]

    def translate_all(
        self,
        sentences: Sequence[Words],
        *,
        beam_size: int = 5,
        max_length: int | None = None,
        replace_unknown: bool = False,
        prefer_finished: bool = False,
    ) -> list[Translation]:
        """Translate many sentences of words, even empty ones, in batches of similar length; the order is kept.

        With `replace_unknown`, unknown words are replaced: see `Translation.with_unknown_replaced`. With
        `prefer_finished`, as runs are recorded, a translation that ended is always preferred to one that reached its
        greatest length. Without, one that is more probable per word and was cut is preferred to one shorter than half
        of the source, and to all where the greatest length is no greater than the source's. The rest is as for
        `translate`.
        """
        check_whole(beam_size=beam_size, **{} if max_length is None else {"max_length": max_length})
        if replace_unknown:
            self.check_attention("replacing unknown words")
        translations = [Translation((), (), np.zeros((0, 0)), 1.0)] * len(sentences)
        full = [n for n, words in enumerate(sentences) if words]
        sources = [sentences[n] for n in full]
        sizes = [sum(self.vocabularies[0].sizes(words)) for words in sources]
        limits = [2 * size + 50 if max_length is None else max_length for size in sizes]
        both = zip(sizes, limits, strict=True)
        shortest = None if prefer_finished else [size // 2 if size < limit else limit + 1 for size, limit in both]
        for n, ids, log_p, weights in search_all(self.network, sources, limits, beam_size, shortest):
            one = self._translation(sources[n], ids, log_p, weights)
            translations[full[n]] = one.with_unknown_replaced() if replace_unknown else one
        return translations

    def links_of(self, pairs: Sequence[tuple[Words, Words]]) -> list[set[tuple[int, int]]]:
        """Link the words of sentences and their given translations (forced decoding); an empty side has no links."""
        self.check_attention("align")
        full = [SentencePair(*sides) for sides in pairs if all(sides)]
        linked = map(self._forced_links, full, forced_weights(self.network, full))
        return [next(linked) if all(sides) else set() for sides in pairs]

    def units_of(self, pairs: Sequence[tuple[Words, Words]]) -> list[tuple[Words, Words]]:
        """List what `links_of` links of each pair: the words, or letters of a text without spaces."""
        return [_units(sides, self.unspaced) for sides in pairs]

    def _translation(self, source: Words, ids: Tensor, log_p: float, weights: Tensor | None) -> Translation:
        words, sizes = self.vocabularies[1].grouped(ids)
        one = Translation(source, words, None, exp(log_p), bool((ids == EOS).any()), self.unspaced)
        if weights is None:
            return one
        if not any(self.unspaced):
            return one._replace(
                weights=merge_subword_weights(weights.numpy(), self.vocabularies[0].sizes(source), sizes)
            )
        pieces = self.vocabularies[0].surfaces(source), self.vocabularies[1].names(ids)
        return one._replace(weights=unit_weights(weights.numpy(), *zip(one.units, pieces, strict=True)))

    def _forced_links(self, pair: SentencePair, weights: Float[np.ndarray, "tgt src"]) -> set[tuple[int, int]]:
        sides = [*zip(self.vocabularies, pair[:2], strict=True)]
        if not any(self.unspaced):
            return hard_alignment(
                merge_subword_weights(weights, *(known.sizes(words) for known, words in sides)), *pair[:2]
            )
        units, pieces = _units(pair[:2], self.unspaced), [known.surfaces(words) for known, words in sides]
        return hard_alignment(unit_weights(weights, *zip(units, pieces, strict=True)), *units)


def load(folder: str | Path, device: str | torch.device = "cpu") -> TranslationModel:
    """Open a model folder.

    Parameters
    ----------
    folder : path
        What ``attnlib train --model`` has made.
    device : str or torch.device
        Where it is to translate: see `attnlib.devices.resolve_device`.

    Raises
    ------
    OSError, ValueError
        If the folder is not a model folder or is not complete, or a file in it is damaged.

    Examples
    --------
    >>> from attnlib import load
    >>> from attnlib.pretrained import FOLDER
    >>> load(FOLDER / "bahdanau").translate("the cat sleeps").words
    ('le', 'chat', 'dort')
    """
    return TranslationModel(read_model(Path(folder)).to(device))


def translate_stream(
    model: TranslationModel,
    source: IOBase,
    target: IOBase,
    *,
    max_input_length: int = MAX_LINE,
    linked: IOBase | None = None,
    log: Callable[[str], Any] = lambda line: None,
    **options: Any,
) -> None:
    """Translate a text of any length, a line for each line, a thousand at a time.

    Parameters
    ----------
    model : TranslationModel
    source, target : binary streams
        UTF-8 text in and out. An empty line gives an empty line.
    max_input_length : int
        The most words, or pieces of words, that are read of a line. A longer one is cut.
    linked : binary stream, optional
        Where the links go, in the Pharaoh format, a line for each.
    log : function
        What to do with a sentence about a line that was cut, or whose translation was.
    **options
        As for `TranslationModel.translate_all`.

    Raises
    ------
    ValueError
        If a line is not UTF-8, once those before it are written; or attention is needed and the model has none.
    """
    check_whole(max_input_length=max_input_length)
    if linked:
        model.check_attention("linking words")
    for begin, lines, wrong in _parts(source):
        sentences = [_shortened(model.vocabularies[0], words, max_input_length) for words in lines]
        translations = model.translate_all(sentences, **options)
        for number, (words, one) in enumerate(zip(lines, translations, strict=True), begin):
            if len(one.source) < len(words) or (words and one.source[-1] != words[-1]):
                log(f"the input, line {number}: cut to {max_input_length:,} words or pieces of words")
        log_cut(translations, "the input", log, begin)
        if linked:
            linked.writelines(f"{format_pharaoh(one.links())}\n".encode() for one in translations)
        with add_path_to_errors("the output"):
            target.writelines(f"{one}\n".encode() for one in translations)
            target.flush()
        if wrong:
            raise wrong


def log_cut(translations: Sequence[Translation], name: str, log: Callable[[str], Any], first: int = 1) -> None:
    """Say which lines of a text have translations that did not end."""
    if cut := [str(number) for number, one in enumerate(translations, first) if not one.finished]:
        lines = f"line{'s' * (len(cut) > 1)} {', '.join(cut)}"
        log(f"{name}, {lines}: the translation reached the greatest length and is cut there; --max-length sets another")


def _parts(source: IOBase) -> Iterator[tuple[int, list[Words], ValueError | None]]:
    """Read some lines at a time: the number of the first, the lines, and what is wrong with the line after them."""
    begin = 1
    while part := [*islice(source, _TOGETHER)]:
        lines, wrong = [], None
        try:
            for number, raw in enumerate(part, begin):
                lines.append(split_words(decode_line(raw, "the input", number)))
        except ValueError as error:
            wrong = error
        yield begin, lines, wrong
        begin += len(part)


def _shortened(vocabulary: Tokenizer, words: Words, longest: int) -> Words:
    """Keep as many words, from the first, as take up to `longest` positions; of a word that takes more, a part."""
    ends = accumulate(vocabulary.sizes(words[:longest]))
    kept = words[: sum(end <= longest for end in ends)]
    return kept or tuple(word[: max(1, longest - 1)] for word in words[:1])


def _units(sides: tuple[Words, Words], unspaced: tuple[bool, bool]) -> tuple[Words, Words]:
    source, target = (split_units(words) if lacks else words for words, lacks in zip(sides, unspaced, strict=True))
    return source, target
