"""How well a model translates a text: BLEU and chrF by sacrebleu, by length, exact match, alignment error rate."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from attnlib.data import SentencePair, Vocabulary
from attnlib.metrics import Bin, alignment_error_rate, bleu, bleu_by_length, bleu_metric, chrf, exact_match
from attnlib.text.files import GoldAlignment, Words
from attnlib.text.model import TranslationModel, log_cut
from attnlib.text.units import bleu_tokenizer, lacks_spaces, split_units


class EvaluationResult(NamedTuple):
    """What came of a text.

    Attributes
    ----------
    sentences : int
    bleu, chrf : float
        Of all sentences together, 0 to 100.
    signatures : tuple of str
        Sacrebleu's accounts of how the two were computed.
    exact_match : float
        The share of translations that are the reference word for word.
    by_length : list of Bin
        For sources of 1 to 10 words, 11 to 20, and so on.
    alignment_error_rate : float, or None
        None: there were no gold links.
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
            f"exact match {100 * self.exact_match:.2f} per cent",
            *(
                f"BLEU {bleu.score:.2f}   {sentences:,} sentences of {shortest} to {longest} source words"
                for shortest, longest, sentences, bleu in self.by_length
            ),
        ]
        if self.alignment_error_rate is not None:
            lines.append(f"alignment error rate {self.alignment_error_rate:.4f}")
        return "\n".join(lines)


def evaluate(
    model: TranslationModel,
    pairs: Sequence[tuple[Words, Words]],
    *,
    tokenize: str | None = None,
    gold: Sequence[GoldAlignment] | None = None,
    log: Callable[[str], Any] = lambda line: None,
    **options: Any,
) -> EvaluationResult:
    """Translate the sources and compare with the targets.

    Parameters
    ----------
    model, pairs
    tokenize : str, optional
        How BLEU cuts lines into words: sacrebleu's "13a", which is for raw text; "none", for text already cut into
        words; or another of its names. None: "none" for a model of words, "13a" for one of subwords; for references
        without spaces "zh" or "char".
    gold : list of GoldAlignment, optional
        Word links drawn by a person, for the alignment error rate of forced decoding.
    log : function
        What to do with a sentence about translations that were cut, which names their lines.
    **options
        As for `TranslationModel.translate_all`.

    Raises
    ------
    ValueError
        If there is no pair, or attention is needed and the model has none, or a source is too long for the model.
    """
    if not len(pairs):
        raise ValueError("pairs is empty; expected at least one sentence pair")
    by_words = isinstance(model.network.target_vocabulary, Vocabulary)
    tokenize = tokenize or bleu_tokenizer([target for _, target in pairs]) or ("none" if by_words else "13a")
    bleu_metric(tokenize)  # refuses before anything is translated
    error = None
    if gold is not None:
        error = alignment_error_rate(model.links_of(pairs), [one.sure for one in gold], [one.possible for one in gold])
    translations = model.translate_all([source for source, _ in pairs], **options)
    log_cut(translations, "the source", log)
    return score_translations([one.words for one in translations], pairs, tokenize)._replace(alignment_error_rate=error)


def score_translations(
    translations: Sequence[Words], pairs: Sequence[tuple[Words, Words]], tokenize: str
) -> EvaluationResult:
    """Compare translations of the sources with the targets; `tokenize` is as for `evaluate`."""
    pairs = [SentencePair(*sides[:2]) for sides in pairs]
    if lacks_spaces([pair.source for pair in pairs]):
        pairs = [SentencePair(split_units(pair.source), pair.target) for pair in pairs]
    references = [pair.target for pair in pairs]
    whole, letters = bleu(translations, references, tokenize), chrf(translations, references)
    longest = max(1, *(len(pair.source) for pair in pairs))
    return EvaluationResult(
        sentences=len(pairs),
        bleu=whole.score,
        chrf=letters.score,
        signatures=(whole.signature, letters.signature),
        exact_match=exact_match(translations, references),
        by_length=bleu_by_length(translations, pairs, range(1, longest + 11, 10), tokenize),
    )
