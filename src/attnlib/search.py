"""From a model to a translation, word by word: the best one (`greedy_search`) or several (`beam_search`)."""

import warnings
from collections.abc import Iterator, Sequence
from math import inf
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnlib.alignment import sequence_mask
from attnlib.attention import AttentionOutput, join
from attnlib.checks import check_finite, check_range, check_vocabularies, check_whole
from attnlib.data import BOS, EOS, PAD, UNK, encode_batch, parted
from attnlib.processes import cast_weights_once
from attnlib.seq2seq import EncoderDecoder
from attnlib.shapes import FloatLike, IntLike, typechecked

_CHUNK = 64  # vocabulary chunk size for the two-stage top-k
_ROWS = 320  # hypotheses that are stepped at once: with fewer, products of matrices are slow
_POSITIONS = 32_000  # of sources that these look at, padding counted: memory grows with them


class Hypotheses(NamedTuple):
    """Translations of a batch of sentences, one for each.

    Attributes
    ----------
    ids : tensor of int, shape (batch, tgt)
        Ids of the words, padded with `PAD`.
    lengths : tensor of int, shape (batch,)
        The number of ids of each translation. It counts the `EOS`, which is missing where a translation was cut at the
        greatest length.
    log_probabilities : tensor, shape (batch,)
        Natural logarithm of each translation's probability, `EOS` included, not normalized by length.
    weights : tensor, shape (batch, tgt, src), or None
        Attention weights, one row per id, 0 after the end. None for a model without attention.
    """

    ids: Int[Tensor, "batch tgt"]
    lengths: Int[Tensor, "batch"]
    log_probabilities: Float[Tensor, "batch"]
    weights: Float[Tensor, "batch tgt src"] | None


@torch.no_grad()
@cast_weights_once()
@typechecked
def greedy_search(
    model: EncoderDecoder,
    source: Int[Tensor, "batch src"],
    lengths: Int[Tensor, "batch"],
    max_length: IntLike | Int[Tensor, "batch"],
) -> Hypotheses:
    """Return the translation that has the most probable word at every step.

    Parameters
    ----------
    model : EncoderDecoder
        A model in evaluation mode. In training mode, dropout is active in embeddings, the encoder, and a Transformer.
    source : tensor of int, shape (batch, src)
        Encoded sentences, as from `attnlib.data.encode_batch`.
    lengths : tensor of int, shape (batch,)
        The number of ids of each sentence, `EOS` included.
    max_length : int or tensor of int, shape (batch,)
        The greatest number of words of a translation, `EOS` included: of all, or of each.

    Returns
    -------
    Hypotheses
        One translation per sentence: `ids`, `lengths`, `log_probabilities`, `weights`. The ids end in `EOS`, unless the
        greatest length was reached, and have no `BOS`; the log probabilities are not normalized by length.

    Raises
    ------
    FloatingPointError
        If a translation's probability is not a number, as when the model's weights hold NaN.

    Notes
    -----
    Costs one step of the decoder for each word of the longest translation in the batch; finished sentences are not
    stepped any more.

    Examples
    --------
    >>> from attnlib import encode_batch, greedy_search, load_pretrained
    >>> model = load_pretrained("bahdanau")
    >>> ids, lengths = encode_batch([["the", "cat", "sleeps"]], model.source_vocabulary)
    >>> model.target_vocabulary.decode(greedy_search(model, ids, lengths, max_length=10).ids[0])
    ('le', 'chat', 'dort')
    """
    lengths, limits = lengths.long(), _limits(max_length, lengths)
    state = model.start(source, lengths)
    rows = torch.arange(len(source), device=source.device)
    words = torch.full_like(lengths, BOS)
    chosen, gains, outputs = [], [], []
    while len(rows):
        logits, attended, state = model.step(words, state)
        gain, words = (x.squeeze(1) for x in _likeliest(_log_probabilities(logits), 1))
        chosen.append(torch.full_like(lengths, PAD).index_copy(0, rows, words))
        gains.append(gain.new_zeros(len(source)).index_copy(0, rows, gain))
        outputs.append(_weights_of(attended, _places(rows, len(source))))
        unfinished = ((words != EOS) & (limits[rows] > len(chosen))).nonzero().squeeze(1)
        if len(unfinished) < len(rows):
            rows, words, state = rows[unfinished], words[unfinished], state.select(unfinished)
    translations = torch.stack(chosen, 1)
    log_p = torch.stack(gains).sum(0)
    return _hypotheses(translations, (translations != PAD).sum(1), log_p, outputs, source.shape[1])


@torch.no_grad()
@cast_weights_once()
@typechecked
def beam_search(
    model: EncoderDecoder,
    source: Int[Tensor, "batch src"],
    lengths: Int[Tensor, "batch"],
    max_length: IntLike | Int[Tensor, "batch"],
    beam_size: IntLike,
    *,
    length_penalty: FloatLike = 1.0,
    min_length: IntLike | Int[Tensor, "batch"] = 0,
) -> Hypotheses:
    """Return the best translation that a beam search finds.

    At every step, the `beam_size` most probable hypotheses are kept. A finished hypothesis keeps its place in the beam.
    The finished hypothesis with the greatest score, ``log_probability / length ** length_penalty``, is returned; if
    none is finished, the unfinished one with the greatest score.

    Parameters
    ----------
    model : EncoderDecoder
        A model in evaluation mode. In training mode, dropout is active in embeddings, the encoder, and a Transformer.
    source : tensor of int, shape (batch, src)
        Encoded sentences, as from `attnlib.data.encode_batch`.
    lengths : tensor of int, shape (batch,)
        The number of ids of each sentence, `EOS` included.
    max_length : int or tensor of int, shape (batch,)
        The greatest number of words of a translation, `EOS` included: of all, or of each.
    beam_size : int
        The number of hypotheses kept for each sentence. With 1, the result is that of `greedy_search`.
    length_penalty : float, default 1.0
        The exponent of the length. 0 favors short translations; 1 takes the mean of the words' log probabilities.
    min_length : int or tensor of int, shape (batch,), default 0
        No strict minimum: if the best finished hypothesis is shorter than this, an unfinished one of greater score is
        returned. Other toolkits forbid `EOS` before this length; this search does not.

    Returns
    -------
    Hypotheses
        One translation per sentence: `ids`, `lengths`, `log_probabilities`, `weights`. The ids end in `EOS`, unless the
        hypothesis is unfinished, and have no `BOS`; the log probabilities are sums, which `length_penalty` does not
        change.

    Raises
    ------
    TypeError, ValueError
        If `beam_size` is not a whole number from 1, or another argument is out of range.
    FloatingPointError
        If a translation's probability is not a number, as when the model's weights hold NaN.

    Notes
    -----
    A step costs at most `beam_size` times the cost of a step of `greedy_search`: finished hypotheses are not stepped
    any more. The weights of the others, at most ``batch * beam_size * src`` numbers, are kept for every step.

    Examples
    --------
    >>> from attnlib import beam_search, encode_batch, load_pretrained
    >>> model = load_pretrained("bahdanau")
    >>> ids, lengths = encode_batch([["the", "cat", "sleeps"]], model.source_vocabulary)
    >>> model.target_vocabulary.decode(beam_search(model, ids, lengths, max_length=10, beam_size=5).ids[0])
    ('le', 'chat', 'dort')
    """
    (beam_size,) = check_whole(beam_size=beam_size)
    (length_penalty,) = check_finite(length_penalty=length_penalty)
    if isinstance(min_length, IntLike):
        (min_length,) = check_whole(0, min_length=min_length)
    lengths, limits = lengths.long(), _limits(max_length, lengths)
    first_slot = torch.arange(len(source), device=source.device)[:, None] * beam_size
    state = model.start(source, lengths)
    log_p = torch.full((len(source), beam_size), -torch.inf, device=source.device)
    log_p[:, 0] = 0.0  # at first all slots would hold the same hypothesis: the others are empty
    ended, size = torch.zeros_like(log_p, dtype=torch.bool), torch.zeros_like(log_p, dtype=torch.long)
    live, words = first_slot.flatten(), torch.full_like(lengths, BOS)
    choices = []
    while len(live):
        logits, attended, state = model.step(words, state)
        gains, likely = _likeliest(_log_probabilities(logits), beam_size)
        stands = ended | (limits <= len(choices))[:, None]
        log_p, chosen, parents = _best(log_p, stands, live, gains, likely)
        places = _places(live, log_p.numel())
        choices.append((chosen, parents, _weights_of(attended, places)))
        size = size.gather(1, parents) + ~stands.gather(1, parents)
        ended = ended.gather(1, parents) | ((chosen == EOS) & (log_p > -torch.inf))
        unfinished = ~ended & (log_p > -torch.inf) & (limits > len(choices))[:, None]
        live = unfinished.flatten().nonzero().squeeze(1)
        words = chosen.flatten()[live]
        state = state.select(places[(first_slot + parents).flatten()[live]])
    score = log_p / size**length_penalty
    slot = score.masked_fill(~ended, -torch.inf).argmax(1)
    complete = ended.any(1) & (size.gather(1, slot[:, None])[:, 0] >= min_length)
    slot = torch.where(complete, slot, score.argmax(1))
    return _traced(choices, slot, size, log_p, source.shape[1])


@typechecked
def translate(model: EncoderDecoder, sentence: str, max_length: IntLike = 100) -> str:
    """Translate one sentence by greedy search.

    Parameters
    ----------
    model : EncoderDecoder
        A model with its vocabularies, in evaluation mode, as for `greedy_search`.
    sentence : str
        Words separated by spaces. Words that the vocabulary lacks are read as `UNK`, with a warning.
    max_length : int, default 100
        The greatest number of words of the translation, `EOS` included.

    Returns
    -------
    str
        Words separated by spaces.

    Examples
    --------
    >>> from attnlib import load_pretrained, translate
    >>> translate(load_pretrained("bahdanau"), "the cat sleeps")
    'le chat dort'
    """
    words = sentence.split()
    (translation,) = translate_all(model, [words], max_length=max_length)
    unknown = [word for word in words if UNK in model.source_vocabulary.encode([word])]
    if unknown:
        warnings.warn(f"read as unknown words: {' '.join(unknown)}", stacklevel=2)
    return " ".join(translation)


def translate_all(
    model: EncoderDecoder,
    sentences: Sequence[Sequence[str]],
    *,
    max_length: int | Sequence[int],
    beam_size: int = 1,
) -> list[tuple[str, ...]]:
    """Translate many sentences, in batches of similar length.

    Parameters
    ----------
    model : EncoderDecoder
        A model with its vocabularies, in evaluation mode, as for `greedy_search`.
    sentences : sequence of sequence of str
        The words of each source sentence.
    max_length : int, or sequence of int
        The greatest number of words of a translation, `EOS` included: of all, or of each.
    beam_size : int, default 1
        1 uses `greedy_search`; greater numbers use `beam_search` with as many hypotheses.

    Returns
    -------
    list of tuple of str
        The words of each translation, in the order of the sentences.

    Examples
    --------
    >>> from attnlib import load_pretrained, translate_all
    >>> translate_all(load_pretrained("bahdanau"), [["the", "cat", "sleeps"]], max_length=10, beam_size=5)
    [('le', 'chat', 'dort')]
    """
    check_vocabularies(model)
    (beam_size,) = check_whole(beam_size=beam_size)
    one = isinstance(max_length, IntLike)
    limits = check_whole(max_length=max_length) * len(sentences) if one else [*max_length]
    if len(limits) != len(sentences):
        raise ValueError(f"max_length has {len(limits)} numbers; expected {len(sentences)}, a number for each sentence")
    found = {n: ids for n, ids, *_ in search_all(model, sentences, limits, beam_size)}
    return [model.target_vocabulary.decode(found[n]) for n in range(len(sentences))]


def search_all(
    model: EncoderDecoder,
    sentences: Sequence[Sequence[str]],
    limits: Sequence[int],
    beam_size: int,
    min_lengths: Sequence[int] | None = None,
) -> Iterator[tuple[int, Int[Tensor, "tgt"], float, Float[Tensor, "tgt_ src"] | None]]:
    """Yield a translation of each sentence, shortest sentences first.

    Parameters
    ----------
    model : EncoderDecoder
        A model with its vocabularies, in evaluation mode, as for `greedy_search`.
    sentences : sequence of sequence of str
        The words of each source sentence.
    limits : sequence of int
        The greatest number of words of each translation, `EOS` included.
    beam_size : int
        1 uses `greedy_search`; greater numbers use `beam_search` with as many hypotheses.
    min_lengths : sequence of int, optional
        The least length of each translation: see `beam_search`. If None, 0.

    Yields
    ------
    n : int
        The index of the sentence.
    ids : tensor of int, shape (tgt,)
        The ids of its translation.
    log_probability : float
        Natural logarithm of the translation's probability.
    weights : tensor, shape (tgt, src), or None
        Attention weights, padding included. None for a model without attention.
    """
    device = next(model.parameters()).device
    sizes = [sum(model.source_vocabulary.sizes(words)) for words in sentences]
    order = sorted(range(len(sentences)), key=sizes.__getitem__)
    for each in parted(sorted(sizes), _POSITIONS // beam_size, max(1, _ROWS // beam_size)):
        part = order[each]
        ids, lengths = encode_batch([sentences[n] for n in part], model.source_vocabulary)
        longest = torch.tensor([limits[n] for n in part], device=device)
        arguments = model, ids.to(device), lengths.to(device), longest
        shortest = torch.tensor([min_lengths[n] for n in part], device=device) if min_lengths else 0
        best = greedy_search(*arguments) if beam_size == 1 else beam_search(*arguments, beam_size, min_length=shortest)
        weights = [None] * len(part) if best.weights is None else best.weights.cpu()
        rows = zip(part, best.ids, best.lengths.tolist(), best.log_probabilities.tolist(), weights, strict=True)
        yield from ((n, words[:length], log_p, row) for n, words, length, log_p, row in rows)


def _limits(max_length: IntLike | Tensor, lengths: Int[Tensor, "batch"]) -> Int[Tensor, "batch"]:
    """Give each sentence its greatest length."""
    if isinstance(max_length, IntLike):
        return torch.full_like(lengths, *check_whole(max_length=max_length), dtype=torch.long)
    limits = max_length.long()
    check_range(1, inf, max_length=limits)
    return limits


def _log_probabilities(logits: Float[Tensor, "rows vocab"]) -> Float[Tensor, "rows vocab"]:
    """Take the words' log probabilities; `PAD` and `BOS` are no words of a translation, and their scores are lost."""
    scores = logits.to(torch.promote_types(logits.dtype, torch.float32))
    scores[:, :EOS] = -torch.inf
    return torch.log_softmax(scores, -1, out=scores)


def _likeliest(
    log_p: Float[Tensor, "rows vocab"], most: int
) -> tuple[Float[Tensor, "rows likely"], Int[Tensor, "rows likely"]]:
    """Take the `most` greatest of each row, as `torch.topk` does: they are in the `most` chunks of greatest maxima."""
    rows, vocab = log_p.shape
    whole = vocab // _CHUNK * _CHUNK
    if whole <= most * _CHUNK:
        return log_p.topk(min(most, vocab))
    best = log_p[:, :whole].unflatten(1, (-1, _CHUNK)).amax(2).topk(most).indices
    numbers = torch.arange(vocab, device=log_p.device)
    chunks, rest = numbers[:whole].unflatten(0, (-1, _CHUNK)), numbers[whole:].expand(rows, -1)
    candidates = torch.cat([chunks[best].flatten(1), rest], 1)
    gains, places = log_p.gather(1, candidates).topk(most)
    return gains, candidates.gather(1, places)


def _weights_of(attended: AttentionOutput | None, rows: Int[Tensor, "rows"]) -> AttentionOutput | None:
    """Keep where a step looked, of the chosen rows, and not what it received, which takes more room."""
    return attended and attended._replace(context=attended.context[..., :0].clone()).select(rows)


def _places(live: Int[Tensor, "rows"], slots: int) -> Int[Tensor, "slots"]:
    """Find the row that each slot has in a step, if it goes on; the others have 0."""
    return live.new_zeros(slots).index_copy(0, live, torch.arange(len(live), device=live.device))


def _best(
    log_p: Float[Tensor, "batch beam"],
    ended: Bool[Tensor, "batch beam"],
    live: Int[Tensor, "rows"],
    gains: Float[Tensor, "rows likely"],
    likely: Int[Tensor, "rows likely"],
) -> tuple[Float[Tensor, "batch beam"], Int[Tensor, "batch beam"], Int[Tensor, "batch beam"]]:
    """Choose the next beam, all that has ended, then the most probable: log probabilities, words, slots they follow."""
    words = likely.new_full((ended.numel(), likely.shape[1]), PAD).index_copy(0, live, likely)
    totals = gains.new_full(words.shape, -torch.inf).index_copy(0, live, log_p.flatten()[live, None] + gains)
    totals[:, 0] = torch.where(ended.flatten(), torch.inf, totals[:, 0])
    best, places = totals.view(len(ended), -1).topk(ended.shape[1])
    parents = places // likely.shape[1]
    kept = torch.where(ended.gather(1, parents), log_p.gather(1, parents), best)
    return kept, words.view(len(ended), -1).gather(1, places), parents


def _traced(
    choices: list[tuple], slot: Int[Tensor, "batch"], size: Int[Tensor, "batch beam"], log_p: Tensor, src: int
) -> Hypotheses:
    """Follow the winners back: each slot's word of a step, the slot that it follows, and where it looked."""
    rows = torch.arange(len(slot), device=slot.device)
    length, log_probability = size[rows, slot], log_p[rows, slot]
    words, outputs = [], []
    for chosen, parents, attended in reversed(choices):
        words.append(chosen[rows, slot])
        slot = parents[rows, slot]
        outputs.append(attended and attended.select(rows * log_p.shape[1] + slot))
    longest = int(length.max())
    return _hypotheses(torch.stack(words[::-1], 1)[:, :longest], length, log_probability, outputs[::-1][:longest], src)


def _hypotheses(
    words: Int[Tensor, "batch tgt"],
    lengths: Int[Tensor, "batch"],
    log_probabilities: Float[Tensor, "batch"],
    outputs: list[AttentionOutput | None],
    src: int,
) -> Hypotheses:
    """Put translations together, and clear what was looked at after their ends."""
    if not log_probabilities.isfinite().all():
        raise FloatingPointError("a translation's log probability is not finite; expected a model of finite weights")
    if outputs[0] is None:
        return Hypotheses(words, lengths, log_probabilities, None)
    alive = sequence_mask(lengths, words.shape[1])[:, :, None].to(log_probabilities.dtype)
    return Hypotheses(words, lengths, log_probabilities, join(outputs).to_dense(src) * alive)
