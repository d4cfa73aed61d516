"""From a model to a translation, word by word (chapter 2): greedy search, and beam search (chapter 4)."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnlib.alignment import sequence_mask
from attnlib.checks import INTEGERS, check_arrays, check_range, check_whole
from attnlib.data import BOS, EOS, PAD, UNK
from attnlib.mechanism import AttentionOutput, join
from attnlib.seq2seq import EncoderDecoder, check_models
from attnlib.shapes import IntLike

_WIDEST = 2**16  # hypotheses of a beam: memory grows with them
_CHUNK = 64  # vocabulary chunk size for the two-stage top-k


class Hypotheses(NamedTuple):
    """Translations of a batch of sentences, or `n_best` of each: first the best of all sentences, then the second best.

    Attributes
    ----------
    ids
        Ids of the words, padded with `PAD`.
    lengths
        The number of ids of each translation. It counts the `EOS`, which a translation that was cut does not have.
    log_probabilities
        Natural logarithm of each translation's probability, `EOS` included, not normalized by length. Words that are
        never written, such as `PAD`, leave their share to the others.
    weights
        Attention weights, one row per id, 0 after the end. None for a model without attention.
    """

    ids: Int[Tensor, "batch tgt"]
    lengths: Int[Tensor, "batch"]
    log_probabilities: Float[Tensor, "batch"]
    weights: Float[Tensor, "batch tgt src"] | None


@torch.no_grad()
def greedy_search(
    model: EncoderDecoder,
    source: Int[Tensor, "batch src"],
    lengths: Int[Tensor, "batch"],
    max_length: IntLike | Int[Tensor, "batch"],
    *,
    allow_unknown: bool = True,
) -> Hypotheses:
    """Return the translation that has the most probable word at every step.

    Parameters
    ----------
    model : EncoderDecoder
        A model in evaluation mode. In training mode, dropout is active in embeddings, the encoder, and a Transformer.
    source
        Encoded sentences, as from `attnlib.batching.encode_batch`.
    lengths
        The number of ids of each sentence, `EOS` included.
    max_length : int or tensor of int
        The greatest number of words of a translation, `EOS` included: of all, or of each.
    allow_unknown : bool, default True
        Whether `UNK` may be written. If not, the other words share its probability.

    Returns
    -------
    Hypotheses
        One translation per sentence. The ids end in `EOS`, unless the greatest length was reached, and have no `BOS`.

    Raises
    ------
    FloatingPointError
        If a translation's probability is not a number, as when the model's weights hold NaN.

    Notes
    -----
    Costs a step of the decoder per word of the longest translation; finished sentences are not stepped any more.

    Examples
    --------
    >>> from attnlib import encode_batch, greedy_search
    >>> from attnbook import load_pretrained
    >>> model = load_pretrained("bahdanau")
    >>> ids, lengths = encode_batch([["the", "cat", "sleeps"]], model.source_vocabulary)
    >>> model.target_vocabulary.decode(greedy_search(model, ids, lengths, max_length=10).ids[0])
    ('le', 'chat', 'dort')
    """
    check_models(model=model)
    state = model.start(source, lengths)
    lengths, limits = lengths.long(), _limits(max_length, lengths)
    rows = torch.arange(len(source), device=source.device)
    words = torch.full_like(lengths, BOS)
    chosen, gains, outputs = [], [], []
    while len(rows):
        logits, attended, state = model.step(words, state)
        gain, words = (x.squeeze(1) for x in _top_words(_log_probabilities(logits, allow_unknown), 1))
        chosen.append(torch.full_like(lengths, PAD).index_copy(0, rows, words))
        gains.append(gain.new_zeros(len(source)).index_copy(0, rows, gain))
        outputs.append(_weights(attended, _rows_of_slots(rows, len(source))))
        unfinished = ((words != EOS) & (limits[rows] > len(chosen))).nonzero().squeeze(1)
        if len(unfinished) < len(rows):
            rows, words, state = rows[unfinished], words[unfinished], state.select(unfinished)
    translations = torch.stack(chosen, 1)
    log_p = torch.stack(gains).sum(0)
    return _hypotheses(translations, (translations != PAD).sum(1), log_p, outputs, source.shape[1])


@torch.no_grad()
def beam_search(
    model: EncoderDecoder,
    source: Int[Tensor, "batch src"],
    lengths: Int[Tensor, "batch"],
    max_length: IntLike | Int[Tensor, "batch"],
    beam_size: IntLike,
    *,
    allow_unknown: bool = True,
    n_best: IntLike = 1,
) -> Hypotheses:
    """Return the best translation that a beam search finds, or the `n_best` best.

    At every step, the `beam_size` most probable hypotheses are kept. A finished hypothesis keeps its place in the beam.
    The finished hypothesis whose words have the greatest mean log probability is returned; if none is finished, the
    unfinished one of which this holds.

    Parameters
    ----------
    model, source, lengths, max_length
        As for `greedy_search`.
    beam_size : int
        The number of hypotheses kept for each sentence. With 1, the result is that of `greedy_search`.
    allow_unknown
        As for `greedy_search`.
    n_best : int, default 1
        The number of rows for each sentence, the best first. If fewer translations are finished, the best is repeated.

    Notes
    -----
    A step costs at most `beam_size` times the cost of a step of `greedy_search`: finished hypotheses are not stepped
    any more. The weights of the others, at most ``batch * beam_size * src`` numbers, are kept for every step. The keys
    and values of the source are copied only at steps where hypotheses end, and at the first.

    Examples
    --------
    >>> from attnlib import beam_search, encode_batch
    >>> from attnbook import load_pretrained
    >>> model = load_pretrained("bahdanau")
    >>> ids, lengths = encode_batch([["the", "cat", "sleeps"]], model.source_vocabulary)
    >>> model.target_vocabulary.decode(beam_search(model, ids, lengths, max_length=10, beam_size=5).ids[0])
    ('le', 'chat', 'dort')
    """
    check_models(model=model)
    (beam_size,) = check_whole(1, _WIDEST, beam_size=beam_size)
    (n_best,) = check_whole(1, beam_size, n_best=n_best)
    # The plain way is a list of hypotheses for one sentence. A step extends each by every word, and keeps the
    # `beam_size` best: those that have ended, then the most probable of the others. Here the hypotheses of all
    # sentences are rows of one batch, so that one call of `model.step` extends them all, and the lists are tensors.
    #
    # A sentence has `beam_size` slots, one for each hypothesis. Only unfinished hypotheses are stepped: they are the
    # rows of `words`, `state` and `logits`, without gaps. Two sentences with three slots each, four unfinished:
    #
    #     slot       0     1     2  |  3     4     5
    #                le    EOS   la |  un    une   EOS        the last words; slots 1 and 5 have ended
    #     row        0           1  |  2     3                live[row] is the row's slot
    #
    # A step fills every slot anew, with a word (`chosen`) after the hypothesis of a slot before (`parents`, from 0 in
    # each sentence). What has ended stays as it is.
    state = model.start(source, lengths)
    lengths, limits = lengths.long(), _limits(max_length, lengths)
    first_slot = torch.arange(len(source), device=source.device)[:, None] * beam_size
    log_p = torch.full((len(source), beam_size), -torch.inf, dtype=torch.float32, device=source.device)
    log_p[:, 0] = 0.0  # the other slots are empty at first: they would hold the same hypothesis
    ended, size = torch.zeros_like(log_p, dtype=torch.bool), torch.zeros_like(log_p, dtype=torch.long)
    live, words = first_slot.flatten(), torch.full_like(lengths, BOS)
    steps: list[tuple[Tensor, Tensor, AttentionOutput | None]] = []
    while len(live):
        logits, attended, state = model.step(words, state)
        gains, likely = _top_words(_log_probabilities(logits, allow_unknown), beam_size)
        stands = ended | (limits <= len(steps))[:, None]
        log_p, chosen, parents = _next_beam(log_p, stands, live, gains, likely)
        rows = _rows_of_slots(live, log_p.numel())
        steps.append((chosen, parents, _weights(attended, rows)))
        size = size.gather(1, parents) + ~stands.gather(1, parents)
        ended = ended.gather(1, parents) | ((chosen == EOS) & (log_p > -torch.inf))
        unfinished = ~ended & (log_p > -torch.inf) & (limits > len(steps))[:, None]
        stepped, live = live, unfinished.flatten().nonzero().squeeze(1)
        words = chosen.flatten()[live]
        slots_before = (first_slot + parents).flatten()[live]
        same_sources = torch.equal(stepped // beam_size, live // beam_size)  # the same sentences, in the same order
        state = state.select(rows[slots_before], same_sources=same_sources)
    # Every further word lowers log_p, so the sum alone prefers short translations; the mean does not.
    score = (log_p / size).masked_fill(~ended & ended.any(1, keepdim=True), -torch.inf)
    score, order = score.sort(descending=True, stable=True)
    slots = torch.where(score > -torch.inf, order, order[:, :1])[:, :n_best]
    return _hypotheses_in(slots, steps, size, log_p, source.shape[1])


def _limits(max_length: IntLike | Tensor, lengths: Int[Tensor, "batch"]) -> Int[Tensor, "batch"]:
    """Return the greatest length of each sentence's translation."""
    if isinstance(max_length, Tensor) and max_length.ndim:
        check_arrays(lengths=(lengths, INTEGERS, "batch"), max_length=(max_length, INTEGERS, "batch"))
        check_range(1, inf, max_length=max_length)
        return max_length.long()
    return torch.full_like(lengths, *check_whole(max_length=max_length), dtype=torch.long)


def _log_probabilities(logits: Float[Tensor, "rows vocab"], allow_unknown: bool) -> Float[Tensor, "rows vocab"]:
    """Return the log probabilities of all words. Those not to be written are minus infinity, in `logits` too."""
    scores = logits.to(torch.promote_types(logits.dtype, torch.float32))
    # PAD and BOS, the ids below EOS, are never written; the other words share their probability.
    scores[:, :EOS] = -torch.inf
    if not allow_unknown:
        scores[:, UNK] = -torch.inf
    return torch.log_softmax(scores, -1, out=scores)


def _top_words(
    log_p: Float[Tensor, "rows vocab"], k: int
) -> tuple[Float[Tensor, "rows likely"], Int[Tensor, "rows likely"]]:
    """Return the greatest numbers of each row and their ids: `torch.topk` of the chunks with the greatest maxima."""
    rows, vocab = log_p.shape
    whole = vocab // _CHUNK * _CHUNK
    if whole <= k * _CHUNK:
        return log_p.topk(min(k, vocab))
    # The k greatest numbers lie in the k chunks with the greatest maxima, and those are few numbers to sort.
    best = log_p[:, :whole].unflatten(1, (-1, _CHUNK)).amax(2).topk(k).indices
    numbers = torch.arange(vocab, device=log_p.device)
    chunks, rest = numbers[:whole].unflatten(0, (-1, _CHUNK)), numbers[whole:].expand(rows, -1)
    candidates = torch.cat([chunks[best].flatten(1), rest], 1)
    gains, places = log_p.gather(1, candidates).topk(k)
    return gains, candidates.gather(1, places)


def _weights(attended: AttentionOutput | None, rows: Int[Tensor, "slots"]) -> AttentionOutput | None:
    """Return the attention of chosen rows without its contexts, whose memory is freed."""
    return attended and attended._replace(context=attended.context[..., :0].clone()).select(rows)


def _rows_of_slots(live: Int[Tensor, "rows"], slots: int) -> Int[Tensor, "slots"]:
    """Return the row of each slot that was stepped; 0 for the others."""
    return live.new_zeros(slots).index_copy(0, live, torch.arange(len(live), device=live.device))


def _next_beam(
    log_p: Float[Tensor, "batch beam"],
    ended: Bool[Tensor, "batch beam"],
    live: Int[Tensor, "rows"],
    gains: Float[Tensor, "rows likely"],
    likely: Int[Tensor, "rows likely"],
) -> tuple[Float[Tensor, "batch beam"], Int[Tensor, "batch beam"], Int[Tensor, "batch beam"]]:
    """Choose the hypotheses of the next beam: all that have ended, then the most probable of the others.

    For each slot return its log probability, its word, and the slot before.
    """
    words = likely.new_full((ended.numel(), likely.shape[1]), PAD).index_copy(0, live, likely)
    totals = gains.new_full(words.shape, -torch.inf).index_copy(0, live, log_p.flatten()[live, None] + gains)
    # What has ended must stay in the beam: for the choice its total is infinite, and `kept` gets the true one back.
    totals[:, 0] = torch.where(ended.flatten(), torch.inf, totals[:, 0])
    best, places = totals.view(len(ended), -1).topk(ended.shape[1])
    parents = places // likely.shape[1]
    kept = torch.where(ended.gather(1, parents), log_p.gather(1, parents), best)
    return kept, words.view(len(ended), -1).gather(1, places), parents


def _hypotheses_in(
    slots: Int[Tensor, "batch best"],
    steps: list[tuple],
    size: Int[Tensor, "batch beam"],
    log_p: Float[Tensor, "batch beam"],
    src: int,
) -> Hypotheses:
    """Collect the words and weights of the hypotheses that end in the given slots, from the last step back."""
    sentence, slot = torch.arange(len(slots), device=slots.device).repeat_interleave(slots.shape[1]), slots.flatten()
    length, log_probability = size[sentence, slot], log_p[sentence, slot]
    words, outputs = [], []
    for chosen, parents, attended in reversed(steps):
        words.append(chosen[sentence, slot])
        slot = parents[sentence, slot]
        outputs.append(attended and attended.select(sentence * log_p.shape[1] + slot))
    longest = int(length.max())
    return _hypotheses(torch.stack(words[::-1], 1)[:, :longest], length, log_probability, outputs[::-1][:longest], src)


def _hypotheses(
    words: Int[Tensor, "batch tgt"],
    lengths: Int[Tensor, "batch"],
    log_probabilities: Float[Tensor, "batch"],
    outputs: Sequence[AttentionOutput | None],
    src: int,
) -> Hypotheses:
    """Build the result of a search, with weights of 0 after the end of each translation."""
    if not log_probabilities.isfinite().all():
        raise FloatingPointError("a translation's log probability is not finite; expected a model of finite weights")
    attended = [output for output in outputs if output is not None]
    if not attended:
        return Hypotheses(words, lengths, log_probabilities, None)
    alive = sequence_mask(lengths, words.shape[1])[:, :, None].to(log_probabilities.dtype)
    return Hypotheses(words, lengths, log_probabilities, join(attended).to_dense(src) * alive)
