"""The attention demo (chapters 2 and 3): models that translate in the page, with weights that the reader can edit.

Without scripts, on paper and on GitHub, it is one sentence with its translations and tables of their weights.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

import torch

from attnbook.cards.card import Card, Question, card, model_digest
from attnbook.cards.explorer import WHOLE, shown_data, still
from attnbook.cards.french import grammar_tables
from attnbook.cards.packing import pack_models
from attnbook.language.sentences import max_output_length, sample
from attnlib.batching import encode_batch
from attnlib.checks import check_whole
from attnlib.data import EOS, UNK, SentencePair, as_pair
from attnlib.search import greedy_search
from attnlib.seq2seq import EncoderDecoder
from attnlib.units import split_words

LEAST = 0.9
"""Least weight that a bar must be given to answer a question about it."""

_CLAUSES, _EACH = 8, 4  # sentences to draw: of so many clauses at most, and so many of each number
_LIKELIEST = 3


def attention_demo(
    models: Mapping[str, EncoderDecoder],
    sentence: str | SentencePair | tuple | None = None,
    *,
    question: Question | None = None,
    step: int = 0,
) -> Card:
    """Build a card of models that translate, with weights that can be edited.

    The reader types a sentence or draws one whose translation is known, chooses a word of the translation, and sees its
    weights as bars and as lines. The reader can drag bars, hide words, and choose other words; the following words are
    translated again, and marked where they change. The models run in the page.

    Parameters
    ----------
    models : mapping of str to EncoderDecoder
        One model, or two to compare, by title, of the grammar, with the same vocabularies.
    sentence : str or SentencePair, optional
        First sentence. A pair includes the right translation. If None, a sentence of two clauses.
    question : Question, optional
        A question that is answered after one of these experiments: ``{"target": word, "source": word}``, the first
        model gives a weight of at least `LEAST` to the source word where it writes the target word; ``{"hidden":
        words}``, exactly these source words are hidden; ``{"clauses": number}``, three sentences of at least so many
        clauses are drawn.
    step : int, default 0
        Position of the word of the translation that is chosen first, if the question names none.

    Notes
    -----
    In a chapter, with pretrained models::

        from attnbook import load_pretrained
        from attnbook.cards import attention_demo

        no_attention, bahdanau = (load_pretrained(name) for name in ("no-attention", "bahdanau"))
        attention_demo({"without attention": no_attention, "Bahdanau": bahdanau})
    """
    packed, networks = pack_models(models), list(models.values())
    first = _pair(sentence, networks[0])
    steps = [_steps(network, first.source) for network in networks]
    decode = networks[0].target_vocabulary.decode
    written = [decode([one["word"] for one in each]) for each in steps]
    task = _task(question, first.source, written[0]) if question else {}
    chosen = task.get("step", step)
    check_whole(0, len(steps[0]) - 1, step=chosen)
    shown = [
        {"title": title, "digest": model_digest(model), "D": model["parts"].get("D"), "steps": each}
        for title, model, each in zip(models, packed, steps, strict=True)
    ]
    data = {
        **shown_data(("English", "French", "en", "fr", "word"), first.source, shown, chosen),
        "source": networks[0].source_vocabulary.words,
        "target": networks[0].target_vocabulary.words,
        "bar": task.get("bar", 0),
        "first": [" ".join(side) for side in first[:2] if side],
        "pairs": _pairs(),
        "grammar": grammar_tables(),
        "question": task or None,
    }
    stills = "".join(
        still(title, first.source, words, [one.get("weights") for one in each], language="fr")
        for title, words, each in zip(models, written, steps, strict=True)
    )
    picture = f'<div class="at-still"><p>English: {escape(" ".join(first.source))}</p>\n{stills}</div>\n'
    translations = "; ".join(f"{title}: {' '.join(words)}" for title, words in zip(models, written, strict=True))
    return card("demo", picture, data, f"{' '.join(first.source)}. {translations}", packed, question=question)


def _pair(sentence: str | SentencePair | tuple | None, network: EncoderDecoder) -> SentencePair:
    if sentence is None:
        sentence = tuple(side.split() for side in _pairs()[1][0])
    pair = as_pair(sentence) if isinstance(sentence, tuple) else SentencePair(split_words(sentence), ())
    numbers = network.source_vocabulary.encode(pair.source)
    if UNK in numbers:
        raise ValueError(f"sentence holds {pair.source[numbers.index(UNK)]!r}; expected words that the models know")
    return pair


def _task(question: Question, source: Sequence[str], written: Sequence[str]) -> dict[str, Any]:
    """Return the required experiment of a question as ids, for the script."""

    def place(word: str, words: Sequence[str]) -> int:
        if word not in words:
            raise ValueError(f"question.tried names {word!r}; expected a word of {' '.join(words)!r}")
        return words.index(word)

    tried: dict[str, Any]
    match dict(question.tried):
        case {"target": target, "source": bar}:
            tried = {"step": place(target, written), "bar": place(bar, source), "least": LEAST}
        case {"hidden": words}:
            tried = {"hidden": sorted(place(word, source) for word in words)}
        case {"clauses": int(number)}:
            tried = {"clauses": number}
        case _:
            raise ValueError(f"question.tried is {question.tried}; expected target and source, or hidden, or clauses")
    return {"right": question.right, **tried}


@torch.no_grad()
def _steps(network: EncoderDecoder, words: Sequence[str]) -> list[dict[str, Any]]:
    """Translate a sentence as the script does, and return each step.

    A step has the word, EOS counted, its weights in ten-thousandths, and its likeliest words with their probabilities
    in thousandths.
    """
    source, lengths = encode_batch([words], network.source_vocabulary)
    best = greedy_search(network, source, lengths, max_output_length(words))
    logits, attended = network(source, lengths, best.ids)
    logits[..., :EOS] = -torch.inf
    shares, ids = logits[0].double().softmax(1).topk(_LIKELIEST)
    likely = torch.stack([ids, (1000 * shares).round().long()], 2)
    columns = {"word": best.ids[0].tolist(), "likely": likely.tolist()}
    if attended is not None:
        columns["weights"] = (attended.to_dense(source.shape[1])[0].double() * WHOLE).round().int().tolist()
        if attended.center is not None:
            columns["center"] = [round(center, 4) for center in attended.center[0].tolist()]
    return [dict(zip(columns, step, strict=True)) for step in zip(*columns.values(), strict=True)]


@cache
def _pairs() -> list[list[list[str]]]:
    """Return the sentences that the reader can draw, by least number of clauses.

    None of them is a training sentence.
    """
    drawn = (sample(_EACH, 38 + clauses, [clauses], part="test") for clauses in range(1, _CLAUSES + 1))
    return [[[" ".join(pair.source), " ".join(pair.target)] for pair in pairs] for pairs in drawn]
