"""How good the alignments are, how good the translations, and how probable the true ones.

Alignments count links between words only: neither `EOS` nor padding is one.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as Links
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Real
from sacrebleu.metrics import BLEU, CHRF
from torch.nn.functional import cross_entropy

from attnlib.checks import check_choice, check_vocabularies, check_words
from attnlib.data import PAD, Batch, SentencePair, collate
from attnlib.search import parted
from attnlib.seq2seq import EncoderDecoder
from attnlib.shapes import Array, typechecked

_TOGETHER, _POSITIONS = 64, 6_400  # pairs of a batch, and the positions of one side of them: memory grows with both


class Bleu(NamedTuple):
    """A BLEU or chrF score, 0 to 100, and sacrebleu's account of how it was computed."""

    score: float
    signature: str


class Bin(NamedTuple):
    """The BLEU of the sentences whose source has from `shortest` to `longest` words."""

    shortest: int
    longest: int
    sentences: int
    bleu: Bleu


def alignment_error_rate(
    predicted: Links | Sequence[Links], sure: Links | Sequence[Links], possible: Links | Sequence[Links] | None = None
) -> float:
    r"""Compare word links with a reference: 0 is perfect, 1 is all wrong.

    :math:`\mathrm{AER} = 1 - (|A \cap S| + |A \cap P|) / (|A| + |S|)`, counted over all sentences together.

    Parameters
    ----------
    predicted, sure, possible : set of (source position, target position), or a list of them
        The links :math:`A`, :math:`S` and :math:`P`, of one sentence or of one sentence after another. The possible
        links include the sure ones. None: they are the sure ones.

    Notes
    -----
    Och and Ney 2003, eq. 20.
    """
    A, S = _sentences(predicted), _sentences(sure)
    P = S if possible is None else _sentences(possible)
    if not len(A) == len(S) == len(P):
        raise ValueError(
            f"predicted, sure, possible have {len(A)}, {len(S)}, {len(P)} sentences; expected as many each"
        )
    impossible = sum(len(s - p) for s, p in zip(S, P, strict=True))
    if impossible:
        raise ValueError(f"possible lacks {impossible} of the links in sure; expected it to include them")
    total = sum(map(len, A)) + sum(map(len, S))
    if not total:
        raise ValueError("predicted and sure hold no link; expected at least one")
    return 1 - sum(len(a & s) + len(a & p) for a, s, p in zip(A, S, P, strict=True)) / total


def oracle_alignment_error_rate(pairs: Sequence[SentencePair]) -> float:
    """Find how good links can be that give each target word exactly one source word, as `links` does.

    It is not 0: "du" translates "of the", and one link cannot cover two words. For sentences of 1 to 3 clauses of
    `attnlib.language.grammar` it is about 0.05.
    """
    if not any(pair.target for pair in pairs):
        raise ValueError(f"pairs has {len(pairs)} sentence pairs; expected at least one target word")
    _check_links(pairs)
    best = [{min((i, t) for i, t in pair.links if t == word) for _, word in pair.links} for pair in pairs]
    free = sum(len(pair.target) - len(links) for pair, links in zip(pairs, best, strict=True))
    linked, gold = sum(map(len, best)), sum(len(pair.links) for pair in pairs)
    return 1 - 2 * linked / (linked + free + gold)


@typechecked
def hard_alignment(
    weights: Real[Array, "tgt src"], source: Sequence[str], target: Sequence[str]
) -> set[tuple[int, int]]:
    """Link each target word to the source word that it looked at most.

    Parameters
    ----------
    weights : ``"tgt src"``
        At least a row for each target word and a column for each source word. What comes after, the row and the
        column of EOS and padding, does not count.
    source, target : words
        The sentences, without EOS.

    Returns
    -------
    set of (source position, target position)
        One link for each target word. Of equal weights the first source word is taken.

    Notes
    -----
    The links of Luong et al. 2015, table 6.
    """
    check_words("source", source)
    check_words("target", target)
    cells = np.asarray(weights)
    if len(cells) < len(target) or cells.shape[1] < len(source) or not len(source):
        raise ValueError(
            f"weights has shape {cells.shape}; expected at least {(len(target), len(source))}, (target words, "
            "source words), and a source word"
        )
    if np.isnan(cells[: len(target), : len(source)]).any():
        raise ValueError(f"weights has shape {cells.shape} and holds NaN; expected a number for each pair of words")
    best = cells[: len(target), : len(source)].argmax(axis=1)
    return {(int(i), t) for t, i in enumerate(best)}


def attention_weights(model: EncoderDecoder, pair: SentencePair) -> Float[np.ndarray, "tgt src"]:
    """See what each target word looked at in a model that is given the true words.

    The weights are those of the words; those of EOS, beside and below them, are left out.
    """
    return next(_word_weights(model, [pair]))


def forced_alignments(model: EncoderDecoder, pairs: Sequence[SentencePair]) -> list[set[tuple[int, int]]]:
    """Read the links of sentence pairs off a model that is given the true words (forced decoding).

    They are in the order of `pairs`, as `alignment_error_rate` takes them.
    """
    both = zip(_word_weights(model, pairs), pairs, strict=True)
    return [hard_alignment(weights, pair.source, pair.target) for weights, pair in both]


def forced_weights(model: EncoderDecoder, pairs: Sequence[SentencePair]) -> Iterator[Float[np.ndarray, "tgt src"]]:
    """See what each number, of a word or of a piece of one, looked at, with rows and columns of EOS and padding."""
    for _, (source, _, _), scored in _forced(model, pairs):
        if scored.attention is None:
            raise ValueError("model has no attention; expected a model with attention")
        yield from scored.attention.to_dense(source.shape[1]).cpu().numpy()


def merge_subword_weights(
    weights: Float[np.ndarray, "tgt src"], source_sizes: Sequence[int], target_sizes: Sequence[int]
) -> Float[np.ndarray, "target_words source_words"]:
    """Turn the weights of pieces into weights of words: sum over a source word's pieces, mean over a target word's.

    Parameters
    ----------
    weights : ``"tgt src"``
        What comes after the last word's pieces, the row and the column of EOS and padding, does not count.
    source_sizes, target_sizes : numbers
        How many pieces each word has.
    """
    if not source_sizes or not target_sizes:
        return np.zeros((len(target_sizes), len(source_sizes)))
    inside = np.asarray(weights)[: sum(target_sizes), : sum(source_sizes)]
    begins = np.cumsum([0, *source_sizes[:-1]]), np.cumsum([0, *target_sizes[:-1]])
    summed = np.add.reduceat(np.add.reduceat(inside, begins[0], axis=1), begins[1], axis=0)
    return np.minimum(summed / np.asarray(target_sizes, dtype=inside.dtype)[:, None], 1)  # whatever rounding adds


def sentence_nll(model: EncoderDecoder, pairs: Sequence[SentencePair]) -> list[float]:
    """Take the negative log probability of each true translation, EOS included, in nats: see `token_nll`."""
    return [float(losses.sum()) for losses in token_nll(model, pairs)]


def token_nll(model: EncoderDecoder, pairs: Sequence[SentencePair]) -> list[Float[np.ndarray, "_"]]:
    """Take the negative log probability of each word of each true translation, EOS included, in nats."""
    order = sorted(range(len(pairs)), key=lambda n: len(pairs[n].target))
    losses: dict[int, np.ndarray] = {}
    for _, (_, _, target), scored in _forced(model, [pairs[n] for n in order]):
        each = cross_entropy(scored.logits.mT, target, ignore_index=PAD, reduction="none").double()
        for row, real in zip(each, target != PAD, strict=True):
            losses[order[len(losses)]] = row[real].cpu().numpy()
    return [losses[n] for n in range(len(pairs))]


def bleu_metric(tokenize: str) -> BLEU:
    """Make sacrebleu's BLEU, or refuse a way to cut words that it does not have, or cannot use here."""
    check_choice(BLEU.TOKENIZERS, tokenize=tokenize)
    try:
        return BLEU(tokenize=tokenize, force=True)  # force: tokens that stand apart are what we have
    except (OSError, RuntimeError) as error:
        raise ValueError(f"tokenize is {tokenize!r}, which sacrebleu cannot use here: {error}") from None


def bleu(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]], tokenize: str = "none") -> Bleu:
    """Compute BLEU with sacrebleu over all sentences together, words as they are or cut anew as `tokenize` says."""
    return _scored(bleu_metric(tokenize), translations, references)


def chrf(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> Bleu:
    """Compute chrF, which compares runs of letters, with sacrebleu over all sentences together."""
    return _scored(CHRF(), translations, references)


def bleu_by_length(
    translations: Sequence[Sequence[str]],
    pairs: Sequence[SentencePair],
    edges: Sequence[int],
    tokenize: str = "none",
) -> list[Bin]:
    """Compute BLEU for sentences of similar length.

    Parameters
    ----------
    translations : list of words
        What a model made of each source.
    pairs : sentence pairs
        The sources and the references.
    edges : int, ascending
        Where bins of source lengths begin; the last edge ends the last bin and is outside it. Sentences outside all
        bins do not count, and bins without a sentence are left out.
    tokenize : str
        As for `bleu`.

    Returns
    -------
    list of Bin
    """
    _check_translations(translations, [pair.target for pair in pairs])
    if len(edges) < 2 or any(first >= second for first, second in pairwise(edges)):
        raise ValueError(f"edges is {list(edges)}; expected at least 2 lengths, ascending")
    bins = []
    for shortest, beyond in pairwise(edges):
        inside = [
            (words, pair.target)
            for words, pair in zip(translations, pairs, strict=True)
            if shortest <= len(pair.source) < beyond
        ]
        if inside:
            bins.append(Bin(shortest, beyond - 1, len(inside), bleu(*zip(*inside, strict=True), tokenize)))
    return bins


def exact_match(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    """Give the share of translations, 0 to 1, that are the reference word for word."""
    _check_translations(translations, references)
    pairs = zip(translations, references, strict=True)
    return sum(tuple(words) == tuple(reference) for words, reference in pairs) / len(references)


def _word_weights(model: EncoderDecoder, pairs: Sequence[SentencePair]) -> Iterator[np.ndarray]:
    for weights, pair in zip(forced_weights(model, pairs), pairs, strict=True):
        yield merge_subword_weights(
            weights,
            model.source_vocabulary.sizes(pair.source),
            model.target_vocabulary.sizes(pair.target),
        )


def _forced(
    model: EncoderDecoder, pairs: Sequence[SentencePair]
) -> Iterator[tuple[Sequence[SentencePair], Batch, Any]]:
    """Give a model the true words of some pairs at a time: the pairs, their batch, and what comes of it."""
    check_vocabularies(model)
    device = next(model.parameters()).device
    known = model.source_vocabulary, model.target_vocabulary
    sizes = [max(sum(v.sizes(words)) for v, words in zip(known, pair[:2], strict=True)) for pair in pairs]
    for rows in parted(range(len(pairs)), sizes, _TOGETHER, _POSITIONS):
        part = [pairs[n] for n in rows]
        numbers = Batch(*(x.to(device) for x in collate(part, *known)))
        with torch.no_grad(), torch.autocast("cpu", enabled=False):
            scored = model(*numbers)
        yield part, numbers, scored


def _scored(metric: BLEU | CHRF, translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> Bleu:
    """Score all sentences together by a metric of sacrebleu's."""
    _check_translations(translations, references)
    score = metric.corpus_score(list(map(" ".join, translations)), [list(map(" ".join, references))])
    return Bleu(score.score, str(metric.get_signature()))


def _sentences(links: Links | Sequence[Links]) -> list[Links]:
    return [links] if isinstance(links, Links) else list(links)


def _check_translations(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> None:
    """Refuse strings in place of sentences, and other than one reference for each translation."""
    for name, sentences in (("translations", translations), ("references", references)):
        for n, words in enumerate(sentences):
            check_words(f"{name}[{n}]", words)
    if len(translations) != len(references) or not len(references):
        counts = f"{len(translations)} sentences, the references {len(references)}"
        raise ValueError(f"translations has {counts}; expected equally many, and at least one")


def _check_links(pairs: Sequence[SentencePair]) -> None:
    for n, pair in enumerate(pairs):
        src, tgt = len(pair.source), len(pair.target)
        for i, t in pair.links:
            if not (0 <= i < src and 0 <= t < tgt):
                raise ValueError(f"pairs[{n}] has the link {(i, t)}; expected positions below {src} and {tgt}, from 0")
