"""Evaluation of a model on a text (``attnlib evaluate``): BLEU and chrF, exact match, and alignment error rate."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from attnlib.batching import collate
from attnlib.data import EOS, PAD, GoldAlignment, SentencePair, Vocabulary
from attnlib.metrics import alignment_error_rate, bleu, bleu_metric, chrf, exact_match, forced_alignments
from attnlib.presets import LONGEST_LOCATION_SOURCE
from attnlib.seq2seq import EncoderDecoder
from attnlib.translation import translate_all
from attnlib.units import Words, bleu_tokenizer, lacks_spaces, split_units


class Bin(NamedTuple):
    """BLEU of the sentences in one range of source lengths.

    Attributes
    ----------
    shortest, longest : int
        The range, in words without EOS, both ends included; in letters if the sources have no spaces.
    sentences : int
        Number of sentences.
    bleu : float
        Their score, 0 to 100.
    """

    shortest: int
    longest: int
    sentences: int
    bleu: float


class EvaluationResult(NamedTuple):
    """Scores of a model's translations of a text.

    Attributes
    ----------
    sentences : int
        Number of sentence pairs.
    bleu, chrf : float
        Scores of the whole text, 0 to 100.
    signatures : tuple of str
        Sacrebleu's signatures of the two scores.
    exact_match : float
        Share of the translations that equal their reference word for word.
    by_length : list of Bin
        BLEU for sources of 1 to 10 words, 11 to 20, and so on.
    alignment_error_rate : float, or None
        Error rate of the links under forced decoding. None without gold links.
    """

    sentences: int
    bleu: float
    chrf: float
    signatures: tuple[str, str]
    exact_match: float
    by_length: list[Bin]
    alignment_error_rate: float | None = None

    def __str__(self) -> str:
        lines = [
            f"{self.sentences:,} sentences",
            f"BLEU {self.bleu:.2f}   {self.signatures[0]}",
            f"chrF {self.chrf:.2f}   {self.signatures[1]}",
            f"exact match {100 * self.exact_match:.2f} percent",
            *(
                f"BLEU {bleu:.2f}   {sentences:,} sentences of {shortest} to {longest} source words"
                for shortest, longest, sentences, bleu in self.by_length
            ),
        ]
        if self.alignment_error_rate is not None:
            lines.append(f"alignment error rate {self.alignment_error_rate:.4f}")
        return "\n".join(lines)


def evaluate(
    model: EncoderDecoder,
    pairs: Sequence[SentencePair | tuple],
    *,
    tokenize: str | None = None,
    gold: Sequence[GoldAlignment] | None = None,
    **options: Any,
) -> EvaluationResult:
    """Translate a text and score the translations against its references.

    Parameters
    ----------
    model : EncoderDecoder
        The model.
    pairs : sequence of SentencePair
        Sources and references.
    tokenize : str, optional
        Sacrebleu's tokenizer for BLEU: "13a" for raw text, "none" for tokenized text, or another of its names. If None,
        it is "none" for a model of words and "13a" for one of subwords; for references without spaces, "zh" or "char".
    gold : list of GoldAlignment, optional
        Gold links of each pair, for the alignment error rate of forced decoding.
    **options
        Further arguments of `attnlib.translation.translate_all`.
    """
    if not len(pairs):
        raise ValueError("pairs is empty; expected at least one sentence pair")
    by_words = isinstance(model.target_vocabulary, Vocabulary)
    tokenize = tokenize or bleu_tokenizer([pair[1] for pair in pairs]) or ("none" if by_words else "13a")
    bleu_metric(tokenize)  # refuses before anything is translated
    error = None
    if gold is not None:
        if len(gold) != len(pairs):
            raise ValueError(f"gold has {len(gold)} alignments; expected {len(pairs)}, one for each pair")
        sure, possible = zip(*gold, strict=True)
        error = alignment_error_rate(forced_alignments(model, pairs), sure, possible)
    translations = translate_all(model, [pair[0] for pair in pairs], **options)
    return score_translations([one.words for one in translations], pairs, tokenize)._replace(alignment_error_rate=error)


def score_translations(
    translations: Sequence[Words], pairs: Sequence[SentencePair | tuple], tokenize: str
) -> EvaluationResult:
    """Score translations against their references as `evaluate` does, without an alignment error rate."""
    sources, references = zip(*(sides[:2] for sides in pairs), strict=True)
    units = [*map(split_units, sources)] if lacks_spaces(sources) else sources
    whole, letters = bleu(translations, references, tokenize), chrf(translations, references)
    by_length = []
    for shortest in range(1, 1 + max(map(len, units)), 10):
        inside = [n for n, words in enumerate(units) if shortest <= len(words) < shortest + 10]
        if inside:
            score = bleu([translations[n] for n in inside], [references[n] for n in inside], tokenize)
            by_length.append(Bin(shortest, shortest + 9, len(inside), score.score))
    return EvaluationResult(
        sentences=len(pairs),
        bleu=whole.score,
        chrf=letters.score,
        signatures=(whole.signature, letters.signature),
        exact_match=exact_match(translations, references),
        by_length=by_length,
    )


def attention_warning(model: EncoderDecoder, pairs: Sequence[SentencePair]) -> str | None:
    """Return a sentence that says why the attention of a model would mislead, or None.

    It would if it leaves out more than two fifths of the source words, because it lies on the last one, on EOS or on
    some few; or if less than a fifth of it moves when the source is reversed, so that the source decides little. Looked
    at under forced decoding, for the first 32 pairs whose source has 6 to 99 words or subwords.
    """
    vocabularies, long = model.vocabularies, range(6, LONGEST_LOCATION_SOURCE)
    given = [pair for pair in pairs if sum(vocabularies[0].sizes(pair.source)) in long][:32]
    if not (model.decoder.has_attention and given):
        return None
    device = next(model.parameters()).device
    source, lengths, target = (x.to(device) for x in collate(given, *vocabularies))
    turned = source.clone()
    for row, length in zip(turned, lengths, strict=True):
        row[: length - 1] = row[: length - 1].flip(0)
    with torch.no_grad():
        before, after = (model(x, lengths, target).attention.to_dense(x.shape[1]) for x in (source, turned))
    words = (target != PAD) & (target != EOS)
    inside = torch.arange(source.shape[1], device=device) < lengths[:, None] - 1
    covered = ((before * words[:, :, None]).sum(1).clamp(max=1) * inside).sum(1)
    left_out = 1 - (covered / torch.minimum(lengths - 1, words.sum(1))).mean()
    moved = (before - after).abs().sum(2)[words].mean() / 2
    if left_out > 2 / 5:
        why = f"attention leaves out {100 * left_out:.0f} percent of the source words"
    elif moved < 1 / 5:
        why = f"attention moves by only {100 * moved:.0f} percent when the source is reversed"
    else:
        return None
    return f"{why}: its pictures and links would mislead; expected more text, or another --score or --preset"
