"""From sentences to translations (chapter 5): words, attention weights, links, and probability."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from math import exp
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from attnlib.batching import encode_batch, parted
from attnlib.checks import check_whole, check_words
from attnlib.data import EOS, SPECIAL, UNK
from attnlib.ensembles import ensemble
from attnlib.metrics import hard_alignment
from attnlib.search import beam_search, greedy_search
from attnlib.seq2seq import EncoderDecoder, check_models
from attnlib.shapes import IntLike
from attnlib.units import Words, split_units, split_words, unit_weights, units_of

_ROWS = 320  # hypotheses that are stepped at once: with fewer, products of matrices are slow
_POSITIONS = 32_000  # of their sources, padding counted: memory grows with them


class Translation(NamedTuple):
    """Translation of one sentence; ``str(translation)`` is its text.

    Attributes
    ----------
    source, words : tuple of str
        The sentence and its translation.
    weights
        Attention weights between `units`: see `attnlib.units.unit_weights`. None for a model without attention.
    log_probability : float
        Natural logarithm of the probability of this translation under the model. Words that are never written, such as
        `PAD`, leave their share to the others.
    finished : bool
        Whether it ends in `EOS`, and was not cut.
    unspaced : tuple of bool
        Whether letters, instead of words, are the units of source and of translation: see `attnlib.units`.
    others : tuple of Translation
        The next best translations that the search found, if they were asked for.
    """

    source: Words
    words: Words
    weights: Float[np.ndarray, "tgt src"] | None
    log_probability: float
    finished: bool = True
    unspaced: tuple[bool, bool] = (False, False)
    others: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return " ".join(self.words)

    @property
    def probability(self) -> float:
        """Probability of this translation under the model; 0 for some very long ones, which have only a logarithm."""
        return exp(self.log_probability)

    @property
    def units(self) -> tuple[Words, Words]:
        """Units of source and translation: words, or letters without spaces."""
        return units_of(self.source, self.words, self.unspaced)

    def links(self) -> set[tuple[int, int]]:
        """Return links (source position, target position) from each unit to the source unit of greatest weight."""
        if self.weights is None:
            raise ValueError("model has no attention; expected a model with attention, for links and replaced words")
        return hard_alignment(self.weights, *self.units) if self.words else set()

    def with_unknown_replaced(self) -> "Translation":
        """Return a copy with unknown words replaced by their aligned source words.

        Luong et al. 2015, section 4.2, after Jean et al. 2015 and "Addressing the Rare Word Problem" by Luong et al.
        """
        others = tuple(one.with_unknown_replaced() for one in self.others)
        if not any(SPECIAL[UNK] in word for word in self.words):
            return self._replace(others=others) if others else self
        aligned = {t: self.units[0][i] for i, t in self.links()}
        known = iter(aligned[t] if SPECIAL[UNK] in unit else unit for t, unit in enumerate(self.units[1]))
        sizes = [len(split_units((word,))) if self.unspaced[1] else 1 for word in self.words]
        return self._replace(words=tuple("".join(islice(known, size)) for size in sizes), others=others)


def translate(
    model: EncoderDecoder, sentence: str, *, beam_size: IntLike = 5, max_length: IntLike | None = None
) -> Translation:
    """Translate one sentence, and warn of words that the model does not know.

    Parameters
    ----------
    model : EncoderDecoder
        A model with its vocabularies, in evaluation mode.
    sentence : str
        Words separated by spaces. Words that the vocabulary lacks are read as `UNK`.
    beam_size, max_length
        As for `translate_all`.

    Examples
    --------
    >>> from attnlib import translate
    >>> from attnbook import load_pretrained
    >>> translation = translate(load_pretrained("bahdanau"), "the cat sleeps")
    >>> str(translation), translation.weights.shape
    ('le chat dort', (3, 3))
    """
    words = split_words(sentence)
    check_models(model=model)
    (translation,) = translate_all(model, [words], beam_size=beam_size, max_length=max_length)
    if unknown := [word for word in words if UNK in model.source_vocabulary.encode([word])]:
        message, caller = f"read as unknown words: {' '.join(unknown)}", sys._getframe(1)
        # at the caller's line, every time: Python would show only the first of a line's equal warnings
        warnings.warn_explicit(message, UserWarning, caller.f_code.co_filename, caller.f_lineno, registry={})
    return translation


def translate_all(
    model: EncoderDecoder | Sequence[EncoderDecoder],
    sentences: Sequence[Sequence[str]],
    *,
    beam_size: IntLike = 5,
    max_length: IntLike | Sequence[IntLike] | None = None,
    replace_unknown: bool = False,
    allow_unknown: bool = True,
    n_best: IntLike = 1,
) -> list[Translation]:
    """Translate many sentences, in batches of similar length; the translations are in the order of the sentences.

    Parameters
    ----------
    model : EncoderDecoder, or sequence of EncoderDecoder
        A model with its vocabularies, in evaluation mode; or several, which translate together: see `ensemble`.
    sentences : sequence of sequence of str
        The words of each source sentence. An empty one has an empty translation.
    beam_size : int, default 5
        Hypotheses of `attnlib.search.beam_search`. With 1 the search is greedy.
    max_length : int, or sequence of int, optional
        The greatest number of words or subwords of a translation, `EOS` counted: of all, or of each. If None, twice
        those of the source and 50 more.
    replace_unknown : bool, default False
        Whether unknown words are replaced: see `Translation.with_unknown_replaced`.
    allow_unknown : bool, default True
        Whether a translation may hold unknown words.
    n_best : int, default 1
        How many translations of each sentence to return, as far as the beam holds them. All but the best are its
        `Translation.others`.

    Examples
    --------
    >>> from attnlib import translate_all
    >>> from attnbook import load_pretrained
    >>> [one.words for one in translate_all(load_pretrained("bahdanau"), [["the", "cat", "sleeps"]], beam_size=1)]
    [('le', 'chat', 'dort')]
    """
    if isinstance(model, Sequence):
        model = ensemble(model)
    check_models(model=model)
    for n, words in enumerate(sentences):
        check_words(f"sentences[{n}]", words)
    vocabulary, _ = model.vocabularies
    (beam_size,) = check_whole(beam_size=beam_size)
    (n_best,) = check_whole(1, beam_size, n_best=n_best)
    sizes = [sum(vocabulary.sizes(words)) for words in sentences]
    limits = _limits(max_length, sizes)
    order = sorted((n for n, size in enumerate(sizes) if size), key=sizes.__getitem__)
    how: dict[str, Any] = {"beam_size": beam_size, "allow_unknown": allow_unknown, "n_best": n_best}
    empty = np.zeros((0, 0)) if model.decoder.has_attention else None
    translations = [Translation((), (), empty, 0.0)] * len(sentences)
    for rows in parted([sizes[n] for n in order], _POSITIONS // beam_size, max(1, _ROWS // beam_size)):
        part = order[rows]
        given = [sentences[n] for n in part], [limits[n] for n in part]
        for n, one in zip(part, _search(model, *given, **how), strict=True):
            translations[n] = one.with_unknown_replaced() if replace_unknown else one
    return translations


def _limits(max_length: IntLike | Sequence[IntLike] | None, sizes: Sequence[int]) -> list[int]:
    """Return the greatest length of each translation."""
    if max_length is None:
        return [2 * size + 50 for size in sizes]
    limits = [max_length] * len(sizes) if isinstance(max_length, IntLike) else [*max_length]
    if len(limits) != len(sizes):
        raise ValueError(f"max_length has {len(limits)} numbers; expected {len(sizes)}, a number for each sentence")
    return [limit for each in limits for limit in check_whole(max_length=each)]


def _search(
    model: EncoderDecoder,
    sentences: Sequence[Sequence[str]],
    limits: Sequence[int],
    *,
    beam_size: int,
    allow_unknown: bool,
    n_best: int,
) -> Iterator[Translation]:
    """Yield the translations of one batch."""
    (source_vocabulary, target_vocabulary), device = model.vocabularies, next(model.parameters()).device
    source, lengths = (x.to(device) for x in encode_batch(sentences, source_vocabulary))
    longest = torch.tensor(limits, device=device)
    if beam_size == 1:
        best = greedy_search(model, source, lengths, longest, allow_unknown=allow_unknown)
    else:
        best = beam_search(model, source, lengths, longest, beam_size, allow_unknown=allow_unknown, n_best=n_best)
    found: list[dict[tuple, Translation]] = [{} for _ in sentences]  # by their ids: a search repeats what it lacks
    ends, log_p = best.lengths.tolist(), best.log_probabilities.tolist()
    all_weights = [None] * len(ends) if best.weights is None else best.weights.cpu().numpy()
    for k, (row, weights, end, number) in enumerate(zip(best.ids, all_weights, ends, log_p, strict=True)):
        ids, n = row[:end].tolist(), k * len(sentences) // len(ends)
        one = Translation(tuple(sentences[n]), target_vocabulary.decode(ids), None, number, EOS in ids, model.unspaced)
        if weights is not None:
            pieces = source_vocabulary.surfaces(one.source), target_vocabulary.names(ids)
            one = one._replace(weights=unit_weights(weights, *zip(one.units, pieces, strict=True)))
        found[n].setdefault(tuple(ids), one)
    for first, *others in (each.values() for each in found):
        yield first._replace(others=tuple(others))
