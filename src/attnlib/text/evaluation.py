"""How well a model translates a text: BLEU and chrF by sacrebleu, by length, exact match, alignment error rate."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sacrebleu.metrics import CHRF

from attnlib.data import SentencePair, Vocabulary
from attnlib.metrics import Bin, alignment_error_rate, bleu, bleu_by_length, bleu_metric, exact_match
from attnlib.text.files import Gold, Words
from attnlib.text.model import Model


class Evaluation(NamedTuple):
    """What came of a text.

    Attributes
    ----------
    sentences : int
    bleu, chrf : float
        Of all sentences together, 0 to 100.
    signatures : tuple of str
        Sacrebleu's accounts of how the two were computed.
    exact : float
        The share of translations that are the reference word for word.
    by_length : list of Bin
        For sources of 1 to 10 words, 11 to 20, and so on.
    alignment_error : float, or None
        None: there were no gold links.
    """

    sentences: int
    bleu: float
    chrf: float
    signatures: tuple[str, str]
    exact: float
    by_length: list[Bin]
    alignment_error: float | None = None

    def __str__(self) -> str:
        lines = [
            f"{self.sentences:,} sentences",
            f"BLEU {self.bleu:.2f}   {self.signatures[0]}",
            f"chrF {self.chrf:.2f}   {self.signatures[1]}",
            f"exact match {100 * self.exact:.2f} per cent",
            *(
                f"BLEU {bleu.score:.2f}   {sentences:,} sentences of {shortest} to {longest} source words"
                for shortest, longest, sentences, bleu in self.by_length
            ),
        ]
        if self.alignment_error is not None:
            lines.append(f"alignment error rate {self.alignment_error:.4f}")
        return "\n".join(lines)


def evaluate(
    model: Model,
    pairs: Sequence[tuple[Words, Words]],
    *,
    tokenize: str | None = None,
    gold: Sequence[Gold] | None = None,
    **options: Any,
) -> Evaluation:
    """Translate the sources and compare with the targets.

    Parameters
    ----------
    model, pairs
    tokenize : str, optional
        How BLEU cuts lines into words: sacrebleu's "13a", which is for raw text; "none", for text already cut into
        words; or another of its names. None: "none" for a model of words, "13a" for one of subwords.
    gold : list of Gold, optional
        Word links drawn by a person, for the alignment error rate of forced decoding.
    **options
        As for `Model.translate_all`.

    Raises
    ------
    ValueError
        If there is no pair, or attention is needed and the model has none, or a source is too long for the model.
    """
    if not len(pairs):
        raise ValueError("pairs is empty; expected at least one sentence pair")
    by_words = isinstance(model.translator.target_vocabulary, Vocabulary)
    bleu_metric(tokenize := tokenize or ("none" if by_words else "13a"))  # refuses before anything is translated
    error = None
    if gold is not None:
        error = alignment_error_rate(model.links_of(pairs), [one.sure for one in gold], [one.possible for one in gold])
    words = [one.words for one in model.translate_all([source for source, _ in pairs], **options)]
    return compared(words, pairs, tokenize)._replace(alignment_error=error)


def compared(translations: Sequence[Words], pairs: Sequence[tuple[Words, Words]], tokenize: str) -> Evaluation:
    """Compare translations of the sources with the targets; `tokenize` is as for `evaluate`."""
    pairs = [SentencePair(*sides[:2]) for sides in pairs]
    references, chrf = [pair.target for pair in pairs], CHRF()
    whole = bleu(translations, references, tokenize)
    letters = chrf.corpus_score([" ".join(words) for words in translations], [[" ".join(r) for r in references]])
    longest = max(1, *(len(pair.source) for pair in pairs))
    return Evaluation(
        sentences=len(pairs),
        bleu=whole.score,
        chrf=letters.score,
        signatures=(whole.signature, str(chrf.get_signature())),
        exact=exact_match(translations, references),
        by_length=bleu_by_length(translations, pairs, range(1, longest + 11, 10), tokenize),
    )
