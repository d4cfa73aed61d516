"""The attention explorer: recorded attention weights that the reader steps through.

It is the attention demo without a model, for the weights of one model or of several to compare.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnlib.plotting.cards import (
    Card,
    Question,
    card,
    check_all,
    checked_mapping,
    checked_numbers,
    checked_text,
    checked_words,
)
from attnlib.plotting.demo import shown_data, still

_WHOLE = 10_000  # weights are kept as whole numbers of ten-thousandths
_FIRST = 4  # the number of the first word: those below stand for no words of a sentence


def attention_explorer(
    weights: Mapping[str, Any],
    source: Sequence[str],
    target: Sequence[str] | Mapping[str, Sequence[str]],
    *,
    question: Question | None = None,
) -> Card:
    """Build a card of attention weights to point at, step through, and compare.

    Parameters
    ----------
    weights : mapping of str to array, shape (tgt, src)
        Weights by title, from 0 to 1, in the order of their buttons.
    source : sequence of str
        Source words.
    target : sequence of str, or mapping of str to sequence of str
        Target words; if the translations differ, a sequence for each title.
    question : Question, optional
        A question that is answered after each of the titles has been chosen.

    Returns
    -------
    Card
        The card, as the value of a cell.
    """
    checked_mapping(weights, "weights", "title")
    source = checked_words(source, "source")
    rows = {name: _checked(name, weights[name], len(source), target) for name in weights}
    known = sorted({word for words, _ in rows.values() for word in words})
    numbers = {word: n for n, word in enumerate(known, _FIRST)}
    models = [
        {
            "title": name,
            "steps": [{"word": numbers[word], "weights": row} for word, row in zip(words, shares, strict=True)],
        }
        for name, (words, shares) in rows.items()
    ]
    data = shown_data(("source", "target", "", "", "word"), source, models) | {"target": known}
    if question:
        data["question"] = {"right": question.right, "titles": True}
    title, (words, shares) = next(iter(rows.items()))
    picture = f'<div class="at-still">{still(title, source, words, shares, 0)}</div>\n'
    text = f"Explorer of {len(words)} words that look at {len(source)}: {'; '.join(weights)}"
    return card("demo", question.around(picture) if question else picture, data, text)


def _checked(name: Any, weights: Any, src: int, target: Any) -> tuple[list[str], list[list[int]]]:
    """Check the weights of a title, and return its words and rounded weights."""
    checked_text(name, "a title of weights")
    if isinstance(target, Mapping) and name not in target:
        raise ValueError(f"target has no words for {name!r}; expected words for each title of weights")
    words = target[name] if isinstance(target, Mapping) else target
    words = checked_words(words, f"target[{name!r}]" if isinstance(target, Mapping) else "target")
    place = f"weights[{name!r}]"
    shares = checked_numbers(weights, place, (len(words), src), "(target words, source words)")
    check_all((shares >= 0) & (shares <= 1 + 1e-6), shares, place, "weights from 0 to 1")
    return words, np.rint(np.minimum(shares, 1) * _WHOLE).astype(int).tolist()
