"""Translation and word alignment with a trained model, for sentences of words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from io import IOBase
from itertools import accumulate, islice
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from attnlib.checks import check_whole
from attnlib.data import EOS, SPECIAL, UNK, SentencePair, Tokenizer
from attnlib.metrics import forced_weights, hard_alignment
from attnlib.processes import ComputeSettings, compute_with, fastest_settings
from attnlib.search import search_all
from attnlib.seq2seq import EncoderDecoder
from attnlib.text.files import Words, decode_line, format_pharaoh, split_words
from attnlib.text.folder import read_model
from attnlib.text.subwords import Subwords, split_units, unit_weights
from attnlib.text.writing import add_path_to_errors

_TOGETHER = 1000  # lines that are in memory at once


class Translation(NamedTuple):
    """Translation of one sentence.

    Attributes
    ----------
    source, words : tuple of str
        The sentence and its translation.
    weights : array, shape (tgt, src), or None
        Attention weights between `units`. Weights of subwords are summed over a source word and averaged over a target
        word: see `attnlib.text.subwords.unit_weights`. None for a model without attention.
    probability : float
        Probability of this translation under the model.
    finished : bool
        Whether it ended before its greatest length.
    unspaced : tuple of bool
        Whether letters, instead of words, are the units of source and of translation: see `attnlib.text.subwords`.
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
        """Units of source and translation: words, or letters without spaces."""
        sides = zip((self.source, self.words), self.unspaced, strict=True)
        source, target = (split_units(words) if lacks else words for words, lacks in sides)
        return source, target

    def links(self) -> set[tuple[int, int]]:
        """Return a link from each unit to the source unit of greatest weight.

        Returns
        -------
        set of (int, int)
            Links as (source position, target position).

        Raises
        ------
        ValueError
            If the model has no attention.
        """
        if self.weights is None:
            raise ValueError("model has no attention; expected a model with attention, for links and replaced words")
        return hard_alignment(self.weights, *self.units) if self.words else set()

    def with_unknown_replaced(self) -> "Translation":
        """Return a copy with unknown words replaced by their aligned source words.

        Returns
        -------
        Translation
            The copy.

        Notes
        -----
        Luong et al. 2015, section 4.1, after Jean et al. 2015.
        """
        if not any(SPECIAL[UNK] in word for word in self.words):
            return self
        asked = {t: self.units[0][i] for i, t in self.links()}
        known = iter(asked[t] if SPECIAL[UNK] in unit else unit for t, unit in enumerate(self.units[1]))
        sizes = [len(split_units((word,))) if self.unspaced[1] else 1 for word in self.words]
        return self._replace(words=tuple("".join(islice(known, size)) for size in sizes))


@dataclass(frozen=True)
class TranslationModel:
    """A trained network with its configuration, as `load` returns it.

    Attributes
    ----------
    network : EncoderDecoder
        The network, with its vocabularies of words or of subwords.
    """

    network: EncoderDecoder

    @property
    def vocabularies(self) -> tuple[Tokenizer, Tokenizer]:
        """Source and target vocabulary."""
        return self.network.source_vocabulary, self.network.target_vocabulary

    @property
    def unspaced(self) -> tuple[bool, bool]:
        """Whether source and target lack spaces, so that letters are linked."""
        source, target = self.network.config.get("unspaced", (False, False))
        return source, target

    def translate(self, sentence: str, *, beam_size: int = 5, max_length: int | None = None) -> Translation:
        """Translate one sentence.

        Parameters
        ----------
        sentence : str
            Words separated by spaces. Words outside the vocabulary are read as UNK.
        beam_size : int, default 5
            Hypotheses of the beam search. With 1 the search is greedy.
        max_length : int, optional
            Most words or subwords of a translation, EOS counted. If None, twice those of the source and 50 more.

        Returns
        -------
        Translation
            The translation, with its weights.
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
        """Translate sentences in batches of similar length.

        Parameters
        ----------
        sentences : sequence of words
            The sentences. An empty one has an empty translation.
        beam_size : int, default 5
            Hypotheses of the beam search. With 1 the search is greedy.
        max_length : int, optional
            Most words or subwords of a translation, EOS counted. If None, twice those of the source and 50 more.
        replace_unknown : bool, default False
            Whether unknown words are replaced: see `Translation.with_unknown_replaced`.
        prefer_finished : bool, default False
            Whether a translation that ended is always preferred to one that reached its greatest length. The recorded
            runs use True. If False, an unfinished translation of greater probability per word is preferred to a
            finished one shorter than half of the source, and to all of them if the greatest length does not exceed the
            source's.

        Returns
        -------
        list of Translation
            A translation for each sentence, in the order of the sentences.
        """
        beam_size, _ = check_whole(beam_size=beam_size, max_length=1 if max_length is None else max_length)
        translations = [Translation((), (), np.zeros((0, 0)), 1.0)] * len(sentences)
        full = [n for n, words in enumerate(sentences) if words]
        sources = [sentences[n] for n in full]
        sizes = [sum(self.vocabularies[0].sizes(words)) for words in sources]
        limits = [2 * size + 50 if max_length is None else max_length for size in sizes]
        both = zip(sizes, limits, strict=True)
        shortest = None if prefer_finished else [size // 2 if size < limit else limit + 1 for size, limit in both]
        known = self.vocabularies[1]
        for n, ids, log_p, weights in search_all(self.network, sources, limits, beam_size, shortest):
            words, finished = known.decode(ids), bool((ids == EOS).any())
            one = Translation(sources[n], words, None, exp(log_p), finished, self.unspaced)
            if weights is not None:
                pieces = known.names(ids) if isinstance(known, Subwords) else words
                one = self._with_weights(one, weights.numpy(), pieces)
            translations[full[n]] = one.with_unknown_replaced() if replace_unknown else one
        return translations

    def fastest_settings(
        self, sentences: Sequence[Words], beam_size: int, log: Callable[[str], Any] = lambda line: None
    ) -> ComputeSettings:
        """Measure what `attnlib.processes.fastest_settings` chooses for the translation of sentences.

        Parameters
        ----------
        sentences : sequence of words
            The sentences.
        beam_size : int
            Hypotheses of the beam search.
        log : callable, optional
            Called with the result, if anything was measured.

        Returns
        -------
        ComputeSettings
            The fastest.
        """
        work = partial(self.translate_all, sentences[:64], beam_size=beam_size, max_length=2)
        return fastest_settings(work, next(self.network.parameters()).device, len(sentences), log=log)

    def links_of(self, pairs: Sequence[tuple[Words, Words]]) -> list[set[tuple[int, int]]]:
        """Return word links of given translations, by forced decoding.

        Parameters
        ----------
        pairs : sequence of (words, words)
            Sentences and their translations. A pair with an empty side has no links.

        Returns
        -------
        list of set
            Links of each pair, as (source position, target position).
        """
        full = [Translation(*sides, None, 1.0, unspaced=self.unspaced) for sides in pairs if all(sides)]
        forced = forced_weights(self.network, [SentencePair(one.source, one.words) for one in full])
        known = self.vocabularies[1]
        linked = (
            self._with_weights(one, weights, _pieces(known, one.words)).links()
            for one, weights in zip(full, forced, strict=True)
        )
        return [next(linked) if all(sides) else set() for sides in pairs]

    def units_of(self, pairs: Sequence[tuple[Words, Words]]) -> list[tuple[Words, Words]]:
        """Return the units that `links_of` links: words, or letters without spaces.

        Parameters
        ----------
        pairs : sequence of (words, words)
            Sentences and their translations.

        Returns
        -------
        list of (units, units)
            Source and target units of each pair.
        """
        return [Translation(*sides, None, 1.0, unspaced=self.unspaced).units for sides in pairs]

    def _with_weights(
        self, one: Translation, weights: Float[np.ndarray, "tgt src"], written: Sequence[str]
    ) -> Translation:
        """Merge weights between subwords into weights between units; `written` are the translation's subwords."""
        read = _pieces(self.vocabularies[0], one.source)
        return one._replace(weights=unit_weights(weights, (one.units[0], read), (one.units[1], written)))


def load(folder: str | Path, device: str | torch.device = "cpu") -> TranslationModel:
    """Load a model that you trained, from the folder that ``attnlib train --model`` wrote.

    Parameters
    ----------
    folder : path
        The model folder.
    device : str or torch.device, default "cpu"
        Device of the network: see `attnlib.processes.resolve_device`.

    Returns
    -------
    TranslationModel
        The model. Its `network` is an `EncoderDecoder` in evaluation mode, with trainable weights in float32. Its
        `translate` returns a `Translation`.

    Raises
    ------
    OSError, ValueError
        If the folder is not a model folder or is not complete, or a file in it is damaged.

    Examples
    --------
    >>> from attnlib import load
    >>> from attnlib.pretrained import FOLDER
    >>> str(load(FOLDER / "bahdanau").translate("the cat sleeps"))
    'le chat dort'
    """
    return TranslationModel(read_model(Path(folder)).to(device))


def translate_stream(
    model: TranslationModel,
    source: IOBase,
    target: IOBase,
    *,
    max_input_length: int = 1000,
    linked: IOBase | None = None,
    log: Callable[[str], Any] = lambda line: None,
    **options: Any,
) -> None:
    """Translate a text of any length line by line, a thousand lines at a time.

    Parameters
    ----------
    model : TranslationModel
        The model.
    source, target : binary stream
        UTF-8 text in and out. An empty line has an empty translation.
    max_input_length : int, default 1000
        Most words or subwords of a line. A longer line is cut.
    linked : binary stream, optional
        Stream for the links, in the Pharaoh format, one line for each sentence.
    log : callable, optional
        Called with a message about each line that was cut, each translation that reached its greatest length, and
        whether bfloat16 and several threads were found to be faster.
    **options
        Further arguments of `TranslationModel.translate_all`.

    Raises
    ------
    TypeError
        If `max_input_length` or a number in `options` is not a whole number.
    ValueError
        If a line is not UTF-8, after the thousands of lines before it are written; or attention is needed and the model
        has none.
    """
    check_whole(max_input_length=max_input_length)
    texts = (split_words(line) for line in _lines(source))
    begin, settings = 1, None
    while lines := [*islice(texts, _TOGETHER)]:
        sentences = [_shortened(model.vocabularies[0], words, max_input_length) for words in lines]
        for number, (words, kept) in enumerate(zip(lines, sentences, strict=True), begin):
            if kept != words:
                log(f"the input, line {number}: cut to {max_input_length:,} words or pieces of words")
        settings = settings or model.fastest_settings(sentences, options.get("beam_size", 5), log)
        with compute_with(settings):
            translations = model.translate_all(sentences, **options)
        if cut := [str(number) for number, one in enumerate(translations, begin) if not one.finished]:
            log(f"the input, lines {', '.join(cut)}: translations cut at their greatest length (--max-length)")
        if linked:
            linked.writelines(f"{format_pharaoh(one.links())}\n".encode() for one in translations)
            linked.flush()  # whole lines, since both may go to one place
        with add_path_to_errors("the output"):
            target.writelines(f"{one}\n".encode() for one in translations)
            target.flush()
        begin += len(lines)


def _lines(source: IOBase) -> Iterator[str]:
    with add_path_to_errors("the input"):
        for number, raw in enumerate(source, 1):
            yield decode_line(raw, "the input", number)


def _shortened(vocabulary: Tokenizer, words: Words, longest: int) -> Words:
    """Return the first words that take at most `longest` positions.

    If the first word alone takes more, a part of it is returned.

    Returns
    -------
    tuple of str
        The words.
    """
    ends = accumulate(vocabulary.sizes(words[:longest]))
    kept = words[: sum(end <= longest for end in ends)]
    return kept or tuple(word[: max(1, longest - 1)] for word in words[:1])


def _pieces(vocabulary: Tokenizer, words: Words) -> Sequence[str]:
    return vocabulary.surfaces(words) if isinstance(vocabulary, Subwords) else words
