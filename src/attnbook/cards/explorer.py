"""The attention explorer (chapters 5 and 6): the demo without a model, for weights that were computed before.

Without scripts, on paper and on GitHub, it is a table of the weights of one translation.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from attnbook.cards.card import Card, Question, card, check_all, checked_weights, weight_table
from attnlib.checks import brief

WHOLE = 10_000
"""Weights in a card's data are whole numbers of this part of 1."""

_FIRST = 4  # the id of the first target word: those below stand for no words of a sentence


def attention_explorer(
    weights: Mapping[str, Any],
    source: Sequence[str],
    target: Sequence[str] | Mapping[str, Sequence[str]],
    *,
    step: int = 0,
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
    step : int, default 0
        Position of the target word that is chosen first.
    question : Question, optional
        A question that is answered after each of the titles has been chosen.
    """
    if not isinstance(weights, Mapping):
        raise TypeError(f"weights is {brief(weights)}; expected a mapping from titles to weights")
    if not weights:
        raise ValueError("weights is empty; expected weights for at least one title")
    written: dict[str, Any] = dict(target) if isinstance(target, Mapping) else dict.fromkeys(weights, target)
    if missing := weights.keys() - written.keys():
        raise ValueError(f"target has no words for {min(missing)!r}; expected words for each title of weights")
    known = sorted({word for name in weights for word in written[name]})
    models: list[dict[str, Any]] = []
    for name, cells in weights.items():
        shares = checked_weights(f"weights[{name!r}]", cells, written[name], source)
        check_all((shares >= 0) & (shares <= 1 + 1e-6), shares, f"weights[{name!r}]", "weights from 0 to 1")
        rows = np.rint(np.minimum(shares, 1) * WHOLE).astype(int).tolist()
        ids = [_FIRST + known.index(word) for word in written[name]]
        steps = [{"word": word, "weights": row} for word, row in zip(ids, rows, strict=True)]
        models.append({"title": name, "steps": steps})
    data = shown_data(("source", "target", "", "", "word"), list(source), models, step) | {"target": known}
    if question:
        data["question"] = {"right": question.right, "titles": True}
    title, first = next(iter(weights)), models[0]["steps"]
    picture = still(title, source, written[title], [each["weights"] for each in first])
    text = f"Explorer of {len(first)} words that look at {len(source)}: {'; '.join(weights)}"
    return card("demo", f'<div class="at-still">{picture}</div>\n', data, text, question=question)


def shown_data(
    names: Sequence[str], words: Sequence[str], models: Sequence[Mapping[str, Any]], step: int = 0
) -> dict[str, Any]:
    """Return the data of a demo's script.

    Entries that only some demos need are empty: vocabularies, and sentences to draw.
    """
    empty = {"source": [], "target": [], "bar": 0, "first": [""], "pairs": []}
    return {**empty, "names": names, "words": words, "models": models, "step": step}


def still(title: str, source: Sequence[str], target: Sequence[str], weights: Any, *, language: str = "") -> str:
    """Return a translation with a table of its weights, for readers without scripts.

    The weights of each step are in ten-thousandths. If there are more of them than words, the last is that of the end.
    """
    translation = f'{escape(title)}: <span lang="{language}">{escape(" ".join(target))}</span>'
    if weights[0] is None:
        return f"<p>{translation}</p>\n"
    shares = np.asarray(weights) / WHOLE
    rows, columns = shares.shape
    table = weight_table([*source, "(end)"][:columns], [*target, "(end)"][:rows], shares)
    return f"<p>{translation}</p>\n{table}"
