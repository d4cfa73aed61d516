"""How well a model translates a text: BLEU and chrF by sacrebleu, by length, exact match, alignment error rate."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from sacrebleu.metrics import BLEU, CHRF

from attnlib.metrics import alignment_error_rate, exact_match
from attnlib.text.files import Gold, Words
from attnlib.text.model import LONGEST, Model


class ByLength(NamedTuple):
    """The BLEU of the sentences whose source has from `shortest` to `longest` words."""

    shortest: int
    longest: int
    sentences: int
    bleu: float


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
    by_length : list of ByLength
        For sources of 1 to 10 words, 11 to 20, and so on.
    alignment_error : float, or None
        None: there were no gold links.
    """

    sentences: int
    bleu: float
    chrf: float
    signatures: tuple[str, str]
    exact: float
    by_length: list[ByLength]
    alignment_error: float | None

    def __str__(self) -> str:
        lines = [
            f"{self.sentences:,} sentences",
            f"BLEU {self.bleu:.2f}   {self.signatures[0]}",
            f"chrF {self.chrf:.2f}   {self.signatures[1]}",
            f"exact match {100 * self.exact:.2f} per cent",
            *(
                f"BLEU {part.bleu:.2f}   {part.sentences:,} sentences of {part.shortest} to {part.longest} source words"
                for part in self.by_length
            ),
        ]
        if self.alignment_error is not None:
            lines.append(f"alignment error rate {self.alignment_error:.4f}")
        return "\n".join(lines)


def evaluate(
    model: Model,
    pairs: Sequence[tuple[Words, Words]],
    *,
    beam: int = 5,
    max_length: int = LONGEST,
    tokenize: str | None = None,
    gold: Sequence[Gold] | None = None,
    replace: dict[str, str] | None = None,
) -> Evaluation:
    """Translate the sources and compare with the targets.

    Parameters
    ----------
    model : Model
    pairs : pairs of words
    beam, max_length
        As for `Model.translate`.
    tokenize : str, optional
        How BLEU cuts lines into words: sacrebleu's "13a", which is for raw text; "none", for text already cut into
        words; or another of its names. None: "none" for a model of words, "13a" for one of subwords.
    gold : list of Gold, optional
        Word links drawn by a person, for the alignment error rate of forced decoding.
    replace : dictionary, optional
        Replace unknown words through the attention: see `Translation.with_unknown_replaced`.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        If there is no pair, or attention is needed and the model has none, or a source is too long for the model.
    """
    if not len(pairs):
        raise ValueError("pairs is empty; expected at least one sentence pair")
    if replace is not None:
        model.check_attention("replacing unknown words")
    links = None if gold is None else model.links_of(pairs)
    found = model.translate_all([source for source, _ in pairs], beam=beam, max_length=max_length)
    words = [(f if replace is None else f.with_unknown_replaced(replace)).words for f in found]
    by_words = not hasattr(model.translator.target_vocabulary, "model")
    scores = compared(words, pairs, tokenize or ("none" if by_words else "13a"))
    if gold is None:
        return scores
    error = alignment_error_rate(links, [one.sure for one in gold], [one.possible for one in gold])
    return scores._replace(alignment_error=error)


def compared(translations: Sequence[Words], pairs: Sequence[tuple[Words, Words]], tokenize: str) -> Evaluation:
    """Compare translations of the sources with the targets; `tokenize` is as for `evaluate`.

    Raises
    ------
    ValueError
        If there is no pair, or not as many translations.
    """
    bleu, chrf = BLEU(tokenize=tokenize, force=True), CHRF()

    def score(metric: BLEU | CHRF, rows: Sequence[int]) -> float:
        references = [" ".join(pairs[n][1]) for n in rows]
        return metric.corpus_score([" ".join(translations[n]) for n in rows], [references]).score

    exact = exact_match(translations, [pair[1] for pair in pairs])
    everything = range(len(pairs))
    whole = score(bleu, everything), score(chrf, everything)
    signatures = str(bleu.get_signature()), str(chrf.get_signature())

    def ten(n: int) -> int:
        return max(0, len(pairs[n][0]) - 1) // 10

    parts = [(key, list(rows)) for key, rows in groupby(sorted(everything, key=ten), key=ten)]
    by_length = [ByLength(10 * key + 1, 10 * key + 10, len(rows), score(bleu, rows)) for key, rows in parts]
    return Evaluation(len(pairs), *whole, signatures, exact, by_length, None)
