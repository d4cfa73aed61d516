"""The attention explorer (chapters 5 and 6): the demo without a model, for weights that were computed before.

Without scripts, on paper and on GitHub, it is a picture of one sentence with its translation and weights.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from attnbook.cards.card import Card, Question, card, check_all, checked_weights, two_decimals, width
from attnlib.checks import brief

WHOLE = 10_000
"""Weights in a card's data are whole numbers of this part of 1."""

_FIRST = 4  # the id of the first target word: those below stand for no words of a sentence
_PITCH, _BAR, _GAP = 26, 60, 90  # pixels of the still picture: from row to row, a bar of weight 1, the lines
_ROUNDED = 0.985  # what rounding can leave of 1
_BUNDLE = 12  # pixels: the lines of one target word together


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
    drawn = still(title, source, written[title], [each["weights"] for each in first], step)
    picture = f'<div class="at-still">{drawn}</div>\n'
    text = f"Explorer of {len(first)} words that look at {len(source)}: {'; '.join(weights)}"
    return card("demo", picture, data, text, question=question)


def shown_data(
    names: Sequence[str], words: Sequence[str], models: Sequence[Mapping[str, Any]], step: int = 0
) -> dict[str, Any]:
    """Return the data of a demo's script.

    Entries that only some demos need are empty: vocabularies, sentences to draw, possible next words, a question.
    """
    empty = {"source": [], "target": [], "bar": 0, "first": [""], "pairs": [], "kinds": [], "follow": {}}
    return {**empty, "names": names, "words": words, "models": models, "step": step}


def still(
    title: str,
    source: Sequence[str],
    target: Sequence[str],
    weights: Sequence[Any],
    step: int,
    *,
    language: str = "",
) -> str:
    """Draw the still picture of a translation, with words down both sides.

    The weights of each step are in ten-thousandths; those of the word at `step` are also drawn as bars.
    """
    translation = f'<p>{escape(title)}: <span lang="{language}">{escape(" ".join(target))}</span></p>\n'
    if weights[0] is None:
        return translation
    written = [*target, "(end)"] if len(weights) > len(target) else list(target)
    source_words = [*source, "(end)"] if len(weights[0]) > len(source) else list(source)
    if (whole := sum(weights[step]) / WHOLE) < _ROUNDED:
        translation += f"<p>The weights of {escape(written[step])} are {two_decimals(whole)} together.</p>\n"
    left = _BAR + 48 + width(source_words)
    right, size = left + _GAP, (left + _GAP + 12 + width(written), _PITCH * max(len(source_words), len(written)) + 4)
    middle = [_PITCH * n + 15 for n in range(max(len(source_words), len(written)))]
    rows = []
    for i, word in enumerate(source_words):
        share, bar = weights[step][i] / WHOLE, f'<rect x="0" y="{middle[i] - 9}" height="18"'
        rows.append(
            f'{bar} width="{_BAR}" fill="var(--raise, #f1f3f5)"></rect>'
            f'{bar} width="{_BAR * share:.1f}" fill="var(--weight, #0072b2)"></rect>'
            f'<text x="{_BAR + 6}" y="{middle[i] + 5}" font-size="12">{two_decimals(share)}</text>'
            f'<text x="{left - 6}" y="{middle[i] + 5}" text-anchor="end">{escape(word)}</text>'
        )
    for t, word in enumerate(written):
        bold = ' font-weight="700"' if t == step else ""
        rows.append(f'<text x="{right + 6}" y="{middle[t] + 5}"{bold}>{escape(word)}</text>')
    lines = "".join(
        _lines(row, middle, middle[t], (left, right), 0.8 if t == step else 0.2) for t, row in enumerate(weights)
    )
    strongest = [
        f"{word} attends most to {source_words[row.index(max(row))]}"
        for word, row in zip(written, weights, strict=True)
    ]
    lines_of = f"lines from {len(source_words)} words to {len(written)}, as thick as the weights"
    label = f"{title}: {lines_of}. {'; '.join(strongest)}."
    return (
        f'{translation}<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {size[0]} {size[1]}" font-size="14" '
        f'fill="currentColor" style="width: 100%; max-width: {size[0]}px">{lines}{"".join(rows)}</svg>\n'
    )


def _lines(row: Sequence[int], middle: Sequence[int], y: int, ends: tuple[int, int], opacity: float) -> str:
    """Draw the lines of one target word, side by side at its end."""
    (left, right), to, lines = ends, y - _BUNDLE / 2, []
    for i, weight in enumerate(row):
        thick = _BUNDLE * weight / WHOLE
        if weight >= 50:
            bend, end = (left + right) / 2, f"{to + thick / 2:.1f}"
            lines.append(
                f'<path d="M{left} {middle[i]}C{bend:g} {middle[i]} {bend:g} {end} {right} {end}" '
                f'stroke-width="{max(thick, 0.75):.2f}"></path>'
            )
        to += thick
    return f'<g fill="none" stroke="var(--weight, #0072b2)" opacity="{opacity}">{"".join(lines)}</g>'
