"""Translation of a text of any length, line by line (``attnlib translate``)."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import IOBase
from itertools import accumulate
from pathlib import Path
from select import select
from typing import Any

from attnlib.checks import check_whole
from attnlib.data import UNK, Tokenizer
from attnlib.scores import Location
from attnlib.seq2seq import EncoderDecoder
from attnlib.translation import translate_all
from attnlib.units import Words, split_words
from attntext.files import decode_line, format_pharaoh, read_parts
from attntext.processes import ComputeSettings, cast_weights_once, compute_with, fastest_settings

INPUT = "the input"
"""What errors call the standard input."""

_LINES = 1000  # lines that are in memory at once


def translate_stream(
    model: EncoderDecoder,
    source: IOBase,
    target: IOBase,
    *,
    max_input_length: int = 1000,
    linked: IOBase | None = None,
    name: Path | str = INPUT,
    n_best: int | None = None,
    log: Callable[[str], Any] = lambda line: None,
    **options: Any,
) -> None:
    """Translate a text line by line, a thousand lines at a time, and fewer where more would have to be waited for.

    Parameters
    ----------
    model : EncoderDecoder
        The model.
    source, target : binary stream
        UTF-8 text in and out, the former packed or not. An empty line has an empty translation.
    max_input_length : int, default 1000
        Most words or subwords of a line. A longer line is cut. A model with the location score, unless it
        is an ensemble, has its own limit.
    linked : binary stream, optional
        Stream for the links, in the Pharaoh format, one line for each sentence.
    name : path or str, optional
        What messages call the source.
    n_best : int, optional
        For each sentence write this many translations, if the beam holds them, the best first: each in a line
        ``number ||| translation ||| natural logarithm of its probability``, sentences counted from 0, as Moses does.
        If None, the best one alone.
    log : callable, optional
        Called with a message about each line that was cut, each translation that reached its greatest length, whether
        bfloat16 and several threads were found to be faster, and how many words were unknown.
    **options
        Further arguments of `attnlib.translation.translate_all`.
    """
    beam_size = options.get("beam_size", 5)
    check_whole(max_input_length=max_input_length)
    max_input_length = min(max_input_length, longest_source(model) or max_input_length)
    (most,) = check_whole(n_best=n_best or 1)
    if most > beam_size:
        raise ValueError(f"n_best is {most}; expected at most beam_size, {beam_size}")
    begin, measured, settings = 1, 0, ComputeSettings()
    unknown = [0, 0]
    for raw in _together(source, name):
        lines = [split_words(decode_line(line, name, number)) for number, line in enumerate(raw, begin)]
        sentences = [_shortened(model.source_vocabulary, words, max_input_length) for words in lines]
        for number, (words, kept) in enumerate(zip(lines, sentences, strict=True), begin):
            if kept != words:
                log(f"{name}, line {number}: cut to {max_input_length:,} words or pieces of words")
        if len(lines) > measured:  # of more lines, a measurement may pay
            settings, measured = search_settings(model, sentences, beam_size, log), len(lines)
        with compute_with(settings), cast_weights_once():
            translations = translate_all(model, sentences, n_best=most, **options)
        if cut := [str(number) for number, one in enumerate(translations, begin) if not one.finished]:
            log(f"{name}, lines {', '.join(cut)}: translations cut at their greatest length (--max-length)")
        if linked:
            linked.writelines(f"{format_pharaoh(one.links())}\n".encode() for one in translations)
            linked.flush()  # whole lines, since both may go to one place
        for number, one in enumerate(translations, begin - 1):
            each = [one, *one.others] if n_best else [one]
            scored = [f"{number} ||| {other} ||| {other.log_probability:.4f}" if n_best else other for other in each]
            target.writelines(f"{line}\n".encode() for line in scored)
        target.flush()
        unknown = [sum(both) for both in zip(unknown, count_unknown(model.source_vocabulary, sentences), strict=True)]
        begin += len(lines)
    log_unknown(name, unknown[0], unknown[1], log)


def count_unknown(vocabulary: Tokenizer, sentences: Sequence[Words]) -> tuple[int, int]:
    """Return the number of unknown words in some sentences, and the number of all."""
    doubtful = (words for words in sentences if words and UNK in vocabulary.encode(words))
    return sum(UNK in vocabulary.encode([word]) for words in doubtful for word in words), sum(map(len, sentences))


def log_unknown(name: Path | str, unknown: int, words: int, log: Callable[[str], Any]) -> None:
    """Say how many words of a text were unknown, if there were any."""
    if unknown:
        log(f"{name}: {unknown:,} of {words:,} words unknown to the model")


def longest_source(model: EncoderDecoder) -> int | None:
    """Return how many words or subwords a model with the location score has positions for, beside EOS; else None."""
    score = getattr(getattr(model.decoder, "attention", None), "score", None)
    return len(score.W_a) - 1 if isinstance(score, Location) else None


def search_settings(
    model: EncoderDecoder, sentences: Sequence[Words], beam_size: int, log: Callable[[str], Any] = lambda line: None
) -> ComputeSettings:
    """Measure what `attntext.processes.fastest_settings` chooses for the translation of sentences."""
    work = cast_weights_once()(partial(translate_all, model, sentences[:64], beam_size=beam_size, max_length=2))
    return fastest_settings(work, next(model.parameters()).device, len(sentences), log=log)


def _together(source: Any, name: Path | str) -> Iterator[list[bytes]]:
    """Yield the lines of a stream, a thousand at a time, and fewer if no more come for a tenth of a second."""
    lines: list[bytes] = []
    for part in read_parts(source, name):
        lines += part
        while len(lines) >= _LINES or (lines and not _has_more(source)):
            yield lines[:_LINES]
            del lines[:_LINES]
    if lines:
        yield lines


def _has_more(source: Any) -> bool:
    try:
        return bool(select([source], [], [], 0.1)[0])
    except (OSError, ValueError):  # no stream that one waits for; at a terminal of Windows, each line is answered
        return not source.isatty()


def _shortened(vocabulary: Tokenizer, words: Words, longest: int) -> Words:
    """Return the first words that take at most `longest` positions.

    If the first word alone takes more, a part of it is returned.
    """
    ends = accumulate(vocabulary.sizes(words[:longest]))
    kept = words[: sum(end <= longest for end in ends)]
    return kept or tuple(word[: max(1, longest - 1)] for word in words[:1])
