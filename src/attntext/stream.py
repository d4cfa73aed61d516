"""Translation of a text of any length, line by line."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import IOBase
from itertools import accumulate, islice
from typing import Any

from attnlib.checks import check_whole
from attnlib.data import Tokenizer
from attnlib.processes import ComputeSettings, compute_with, fastest_settings
from attnlib.seq2seq import EncoderDecoder
from attnlib.translation import translate_all
from attnlib.units import Words, split_words
from attntext.files import decode_line, format_pharaoh
from attntext.writing import add_path_to_errors

_TOGETHER = 1000  # lines that are in memory at once


def translate_stream(
    model: EncoderDecoder,
    source: IOBase,
    target: IOBase,
    *,
    max_input_length: int = 1000,
    linked: IOBase | None = None,
    log: Callable[[str], Any] = lambda line: None,
    **options: Any,
) -> None:
    """Translate a text line by line, a thousand lines at a time.

    Parameters
    ----------
    model : EncoderDecoder
        The model.
    source, target : binary stream
        UTF-8 text in and out. An empty line has an empty translation.
    max_input_length : int, default 1000
        Most words or subwords of a line. A longer line is cut.
    linked : binary stream, optional
        Stream for the links, in the Pharaoh format, one line for each sentence.
    log : callable, optional
        Called with a message about each line that was cut, each translation that reached its greatest length, and
        whether bfloat16 and several threads were found to be faster.
    **options
        Further arguments of `attnlib.translation.translate_all`.

    Raises
    ------
    TypeError
        If `max_input_length` or a number in `options` is not a whole number.
    ValueError
        If a line is not UTF-8, after the thousands of lines before it are written; or attention is needed and the model
        has none.
    """
    check_whole(max_input_length=max_input_length)
    texts = (split_words(line) for line in _lines(source))
    begin, settings = 1, None
    while lines := [*islice(texts, _TOGETHER)]:
        sentences = [_shortened(model.source_vocabulary, words, max_input_length) for words in lines]
        for number, (words, kept) in enumerate(zip(lines, sentences, strict=True), begin):
            if kept != words:
                log(f"the input, line {number}: cut to {max_input_length:,} words or pieces of words")
        settings = settings or search_settings(model, sentences, options.get("beam_size", 5), log)
        with compute_with(settings):
            translations = translate_all(model, sentences, **options)
        if cut := [str(number) for number, one in enumerate(translations, begin) if not one.finished]:
            log(f"the input, lines {', '.join(cut)}: translations cut at their greatest length (--max-length)")
        if linked:
            linked.writelines(f"{format_pharaoh(one.links())}\n".encode() for one in translations)
            linked.flush()  # whole lines, since both may go to one place
        with add_path_to_errors("the output"):
            target.writelines(f"{one}\n".encode() for one in translations)
            target.flush()
        begin += len(lines)


def search_settings(
    model: EncoderDecoder, sentences: Sequence[Words], beam_size: int, log: Callable[[str], Any] = lambda line: None
) -> ComputeSettings:
    """Measure what `attnlib.processes.fastest_settings` chooses for the translation of sentences."""
    work = partial(translate_all, model, sentences[:64], beam_size=beam_size, max_length=2)
    return fastest_settings(work, next(model.parameters()).device, len(sentences), log=log)


def _lines(source: IOBase) -> Iterator[str]:
    with add_path_to_errors("the input"):
        for number, raw in enumerate(source, 1):
            yield decode_line(raw, "the input", number)


def _shortened(vocabulary: Tokenizer, words: Words, longest: int) -> Words:
    """Return the first words that take at most `longest` positions.

    If the first word alone takes more, a part of it is returned.
    """
    ends = accumulate(vocabulary.sizes(words[:longest]))
    kept = words[: sum(end <= longest for end in ends)]
    return kept or tuple(word[: max(1, longest - 1)] for word in words[:1])
