"""How good the alignments are, how good the translations, how probable the true ones (chapters 2, 4, and 5).

Alignments count links between words only: neither `EOS` nor padding is one.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as Links
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Real
from torch.nn.functional import cross_entropy

from attnlib.batching import Batch, collate, parted
from attnlib.checks import NUMBERS, brief, check_arrays, check_choice, check_words
from attnlib.data import PAD, SentencePair, as_pair
from attnlib.seq2seq import EncoderDecoder, check_models
from attnlib.shapes import Array
from attnlib.units import unit_weights, units_of

_PAIRS, _POSITIONS = 64, 6_400  # pairs of a batch, and the positions of one side of them: memory grows with both


class Score(NamedTuple):
    """A BLEU or chrF score.

    Attributes
    ----------
    score : float
        0 to 100.
    signature : str
        sacrebleu's description of how it was computed.
    """

    score: float
    signature: str


def alignment_error_rate(
    predicted: Links | Sequence[Links], sure: Links | Sequence[Links], possible: Links | Sequence[Links] | None = None
) -> float:
    r"""Compute the alignment error rate of links: 0 is perfect, 1 has no correct link.

    :math:`\mathrm{AER} = 1 - (|A \cap S| + |A \cap P|) / (|A| + |S|)`, counted over all sentences together.

    Parameters
    ----------
    predicted : set of (source position, target position), or a sequence of them
        The links :math:`A`, of one sentence or of each.
    sure : set of (source position, target position), or a sequence of them
        The links :math:`S` of the reference that are certain.
    possible : set of (source position, target position), or a sequence of them, optional
        The links :math:`P` of the reference that are possible, the sure ones among them. If None, the sure ones.

    Raises
    ------
    TypeError, ValueError
        If links are not a set, the numbers of sentences differ, a sure link is not possible, or there is no link.

    Notes
    -----
    Och and Ney 2003, eq. 20.
    """
    A, S = _sentences("predicted", predicted), _sentences("sure", sure)
    P = S if possible is None else _sentences("possible", possible)
    if not len(A) == len(S) == len(P):
        raise ValueError(
            f"predicted, sure, possible have {len(A)}, {len(S)}, {len(P)} sentences; expected equal numbers"
        )
    if impossible := sum(len(s - p) for s, p in zip(S, P, strict=True)):
        raise ValueError(f"possible lacks {impossible} of the links in sure; expected all of them")
    total = sum(map(len, A)) + sum(map(len, S))
    if not total:
        raise ValueError("predicted and sure hold no link; expected at least one")
    return 1 - sum(len(a & s) + len(a & p) for a, s, p in zip(A, S, P, strict=True)) / total


def oracle_alignment_error_rate(pairs: Sequence[SentencePair | tuple]) -> float:
    """Return the least alignment error rate of links that give each target word exactly one source word.

    It is above 0: "du" translates "of the", and one link cannot cover two words. For sentences of 1 to 3 clauses of
    `attnbook.language.sentences` it is about 0.03.

    The positions of the gold links are not checked.
    """
    given = [*map(as_pair, pairs)]
    if not any(pair.target for pair in given):
        raise ValueError(f"pairs has {len(given)} sentence pairs; expected at least one target word")
    # Each target word with a gold link keeps one of them; a word without any still has to choose, and is wrong.
    best = [{min((i, t) for i, t in pair.links if t == word) for _, word in pair.links} for pair in given]
    free = sum(len(pair.target) - len(links) for pair, links in zip(given, best, strict=True))
    linked, gold = sum(map(len, best)), sum(len(pair.links) for pair in given)
    return 1 - 2 * linked / (linked + free + gold)


def hard_alignment(
    weights: Real[Array, "tgt src"], source: Sequence[str], target: Sequence[str]
) -> set[tuple[int, int]]:
    """Return the link of each target word to the source word with the greatest weight, the first of equal ones.

    Parameters
    ----------
    weights
        At least a row for each target word and a column for each source word. Further rows and columns, of EOS and
        padding, are ignored.
    source, target : sequence of str
        The words of the sentences, without EOS.

    Notes
    -----
    The links of Luong et al. 2015, table 6.
    """
    check_arrays(weights=(weights, NUMBERS, "tgt src"))
    check_words("source", source)
    check_words("target", target)
    shape, words = tuple(weights.shape), (len(target), len(source))
    inside = _to_numpy(weights)[: len(target), : len(source)]
    if inside.shape != words or not len(source):
        expected = f"at least {words}, (target words, source words), and a source word"
        raise ValueError(f"weights has shape {shape}; expected {expected}")
    if np.isnan(inside).any():
        raise ValueError(f"weights has shape {shape} and holds NaN; expected a number for each pair of words")
    return {(i, t) for t, i in enumerate(inside.argmax(axis=1).tolist())}


def attention_weights(model: EncoderDecoder, pair: SentencePair | tuple) -> Float[np.ndarray, "tgt src"]:
    """Return the attention weights for a reference translation.

    Parameters
    ----------
    model : EncoderDecoder
        A model with attention and with its vocabularies, in evaluation mode.
    pair : SentencePair
        The source and the reference.

    Returns
    -------
    array
        The weights between the units of the pair, without the row and the column of EOS. A word that the model reads in
        pieces has their sum; one that it writes in pieces has their mean.
    """
    return next(_unit_weights(model, [as_pair(pair)]))


def forced_alignments(model: EncoderDecoder, pairs: Sequence[SentencePair | tuple]) -> list[set[tuple[int, int]]]:
    """Return the links between the units of each pair under forced decoding: a model is given the references.

    Parameters
    ----------
    model : EncoderDecoder
        A model with attention and with its vocabularies, in evaluation mode.
    pairs : sequence of SentencePair
        The sources and the references. A pair with an empty side has no links.

    Notes
    -----
    A target word has the weights of the step that writes it. For scores that compare content, Luong et al. 2015 take
    those of the step that reads it (footnote 14).
    """
    given = [*map(as_pair, pairs)]
    full = [pair for pair in given if all(pair[:2])]
    both = zip(_unit_weights(model, full), full, strict=True)
    links = (hard_alignment(weights, *units_of(*pair[:2], model.unspaced)) for weights, pair in both)
    return [next(links) if all(pair[:2]) else set() for pair in given]


def sentence_nll(model: EncoderDecoder, pairs: Sequence[SentencePair | tuple]) -> list[float]:
    """Compute the negative log probability of each reference translation, EOS included, in nats."""
    return [float(losses.sum()) for losses in token_nll(model, pairs)]


def token_nll(model: EncoderDecoder, pairs: Sequence[SentencePair | tuple]) -> list[Float[np.ndarray, "_"]]:
    """Compute the negative log probability of each word of reference translations, EOS included, in nats."""
    given = [*map(as_pair, pairs)]
    order = sorted(range(len(given)), key=lambda n: len(given[n].target))
    losses: dict[int, np.ndarray] = {}
    for _, batch, scored in _forced(model, [given[n] for n in order]):
        each = cross_entropy(scored.logits.mT, batch.target, ignore_index=PAD, reduction="none").double()
        for row, real in zip(each, batch.target != PAD, strict=True):
            losses[order[len(losses)]] = row[real].cpu().numpy()
    return [losses[n] for n in range(len(given))]


def bleu_metric(tokenize: str) -> Any:
    """Return sacrebleu's BLEU with a tokenizer, or raise a ValueError if sacrebleu has no such tokenizer here."""
    from sacrebleu.metrics import BLEU  # noqa: PLC0415, links and a translation need no sacrebleu

    check_choice(BLEU.TOKENIZERS, tokenize=tokenize)
    try:
        return BLEU(tokenize=tokenize, force=True)  # force: tokens that stand apart are what we have
    except (OSError, RuntimeError) as error:
        raise ValueError(f"tokenize is {tokenize!r}; expected a tokenizer that sacrebleu has here: {error}") from None


def bleu(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]], tokenize: str = "none") -> Score:
    """Compute corpus BLEU with sacrebleu.

    Parameters
    ----------
    translations, references : sequence of sequence of str
        The words of each.
    tokenize : str, default "none"
        One of sacrebleu's tokenizers. "none" keeps the words as they are.
    """
    return _scored(bleu_metric(tokenize), translations, references)


def chrf(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> Score:
    """Compute corpus chrF, which compares sequences of characters, with sacrebleu, as `bleu` does."""
    from sacrebleu.metrics import CHRF  # noqa: PLC0415

    return _scored(CHRF(), translations, references)


def exact_match(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    """Compute the share of translations that equal their reference word for word."""
    _check_translations(translations, references)
    pairs = zip(translations, references, strict=True)
    return sum(tuple(words) == tuple(reference) for words, reference in pairs) / len(references)


def _to_numpy(weights: Real[Array, "*batch tgt src"]) -> Real[np.ndarray, "*batch tgt src"]:
    """Return weights as a NumPy array, also those of a GPU or in bfloat16, which NumPy lacks."""
    if isinstance(weights, np.ndarray):
        return weights
    weights = weights.detach().cpu()
    return (weights.float() if weights.dtype == torch.bfloat16 else weights).numpy()


def _unit_weights(model: EncoderDecoder, pairs: Sequence[SentencePair]) -> Iterator[Float[np.ndarray, "tgt src"]]:
    """Yield the attention weights of reference translations, between the units of each pair."""
    for part, batch, scored in _forced(model, pairs):
        if scored.attention is None:
            raise ValueError("model has no attention; expected a model with attention")
        dense = _to_numpy(scored.attention.to_dense(batch.source.shape[1]))
        for weights, pair in zip(dense, part, strict=True):
            pieces = (known.surfaces(words) for known, words in zip(model.vocabularies, pair[:2], strict=True))
            yield unit_weights(weights, *zip(units_of(*pair[:2], model.unspaced), pieces, strict=True))


def _forced(
    model: EncoderDecoder, pairs: Sequence[SentencePair]
) -> Iterator[tuple[Sequence[SentencePair], Batch, Any]]:
    """Yield some pairs at a time, their batch, and the model's output for the true words."""
    check_models(model=model)
    vocabularies = model.vocabularies
    device = next(model.parameters()).device
    sizes = [max(sum(v.sizes(words)) for v, words in zip(vocabularies, pair[:2], strict=True)) for pair in pairs]
    for part in parted(sizes, _POSITIONS, _PAIRS):
        batch = Batch(*(x.to(device) for x in collate(pairs[part], *vocabularies)))
        with torch.no_grad(), torch.autocast("cpu", enabled=False):
            scored = model(*batch)
        yield pairs[part], batch, scored


def _scored(metric: Any, translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> Score:
    """Score all sentences together with one of sacrebleu's metrics."""
    _check_translations(translations, references)
    score = metric.corpus_score(list(map(" ".join, translations)), [list(map(" ".join, references))])
    return Score(min(score.score, 100.0), str(metric.get_signature()))


def _sentences(name: str, links: Links | Sequence[Links]) -> list[Links]:
    """Return the links of each sentence, or raise a TypeError if some are not a set."""
    sentences = [links] if isinstance(links, Links) else list(links)
    for each in sentences:
        if not isinstance(each, Links):
            raise TypeError(f"{name} holds {brief(each)}; expected a set of links, or one for each sentence")
    return sentences


def _check_translations(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> None:
    """Raise an error for strings in place of sentences, and for unequal numbers of sentences."""
    for name, sentences in (("translations", translations), ("references", references)):
        for n, words in enumerate(sentences):
            check_words(f"{name}[{n}]", words)
    if len(translations) != len(references) or not len(references):
        counts = f"{len(translations)} sentences, the references {len(references)}"
        raise ValueError(f"translations has {counts}; expected equal numbers of sentences, and at least one")
