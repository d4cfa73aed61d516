"""The query plane (chapter 1): a query and keys that the reader drags, with their weights and the resulting output.

Without scripts it is a picture of the initial state.
"""

from collections.abc import Sequence
from html import escape

import numpy as np
from jaxtyping import Real

from attnbook.cards.card import Card, Question, card, check_all, checked_numbers, two_decimals
from attnlib import attention
from attnlib.checks import check_words
from attnlib.shapes import Array

MOST_WORDS = 7
"""Greatest number of words; each has its own color of the Okabe-Ito palette."""

_COLORS = ("#e69f00", "#0072b2", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#787878")
_FAR, _LONGEST = 3.0, 2.8  # how long a query and a key may be
_FEATURES = [2**k for k in range(1, 11)]
_SIZE, _UNIT, _BESIDE = 276, 42, 316  # pixels of the still picture: a plane, the length 1, where the next plane begins
_INK = "currentColor"
_FRAME = f'<rect width="{_SIZE}" height="{_SIZE}" fill="none" stroke="currentColor" opacity=".3"></rect>'
_OPENING = (
    '<svg role="img" aria-label="Left: keys and a query as arrows. Right: values, and the answer among them, pulled '
    f'by lines as thick as the weights." viewBox="0 0 {_BESIDE + _SIZE} {_SIZE}" font-size="13" fill="currentColor" '
    'style="width: 100%">'
)


def query_plane(
    query: Real[Array, "2"],
    keys: Real[Array, "src 2"],
    values: Real[Array, "src 2"],
    words: Sequence[str],
    *,
    names: Sequence[tuple[str, str]] = (("", ""), ("", "")),
    question: Question | None = None,
) -> Card:
    r"""Build a card of a query and keys to drag, with their weights and output.

    Attention is :math:`\mathrm{softmax}(q k^\top / \sqrt{d_k})`, or with another scale. The reader can add features:
    the plane shows two of them, and the others are random, with a fixed seed.

    Parameters
    ----------
    query
        The query, of length 3 at most.
    keys
        Keys, of length 2.8 at most.
    values
        Values.
    words : sequence of str
        Words of the keys, `MOST_WORDS` at most.
    names : sequence of (str, str), optional
        Name and unit of each of the two numbers of a value.
    question : Question, optional
        A question that is answered after the query has been dragged along its initial line: ``{"length": to this
        length}``.

    Notes
    -----
    For example ``query_plane(query, keys, values, winds, names=[("temperature", "°C"), ("humidity", "%")])``.
    """
    check_words("words", words)
    if len(words) > MOST_WORDS:
        raise ValueError(f"words has {len(words)} words; expected at most {MOST_WORDS} words")
    if question and set(question.tried) != {"length"}:
        raise ValueError(f"question.tried is {question.tried}; expected length")
    start = checked_numbers("query", query, (2,), "two features")
    keys = checked_numbers("keys", keys, (len(words), 2), "two features for each word")
    values = checked_numbers("values", values, (len(words), 2), "two numbers for each word")
    for name, vectors, longest in [("query", start[None], _FAR), ("keys", keys, _LONGEST)]:
        lengths = np.linalg.norm(vectors, axis=1)
        check_all(lengths <= longest, lengths, f"the length of {name}", f"at most {longest:g}")
    data = {
        "query": start.tolist(),
        "keys": keys.tolist(),
        "values": values.tolist(),
        "words": list(words),
        "names": [list(name) for name in names],
        "hidden": _hidden(len(words)),
        "question": {"right": question.right, "length": float(question.tried["length"])} if question else None,
    }
    output = attention(start[None], keys, values)
    weights, answer = output.weights[0], output.context[0]
    labels = [f"{word} {two_decimals(weight)}" for word, weight in zip(words, weights, strict=True)]
    answer_text = ", ".join(f"{x:.1f} {unit}".strip() for x, (_, unit) in zip(answer, names, strict=True))
    said = f"Weights: {', '.join(labels)}. The answer: {answer_text}."
    picture = (
        f'<div class="at-still">{_OPENING}<g>{_draw_keys(start, keys, labels)}</g>'
        f'<g transform="translate({_BESIDE} 0)">{_draw_values(values, answer, weights, words)}</g></svg>'
        f"<p>{escape(said)}</p></div>\n"
    )
    return card("plane", picture, data, said, question=question)


def _hidden(src: int) -> list[list[float]]:
    """Return the hidden features' part of each query-key product, by dimension."""
    rng = np.random.default_rng(38)
    more = _FEATURES[-1] - 2
    products = rng.normal(size=(more, 1)) * rng.normal(size=(more, src))
    sums = np.concatenate([np.zeros((1, src)), products.cumsum(0)])
    return [sums[features - 2].round(4).tolist() for features in _FEATURES]


def _draw_keys(query: Real[Array, "2"], keys: Real[Array, "src 2"], labels: Sequence[str]) -> str:
    """Draw keys and query as arrows."""
    middle = _SIZE / 2
    parts = []
    for (x, y), label, color in zip([*keys, query], [*labels, "query"], [*_COLORS[: len(keys)], _INK], strict=True):
        left, top, below = middle + _UNIT * x, middle - _UNIT * y, 18 if y < 0 else -8
        parts.append(
            f'<line x1="{middle}" y1="{middle}" x2="{left:.1f}" y2="{top:.1f}" stroke="{color}" stroke-width="3">'
            f'</line><text x="{left:.1f}" y="{top + below:.1f}" text-anchor="middle">{escape(label)}</text>'
        )
    return _FRAME + "".join(parts)


def _draw_values(
    values: Real[Array, "src 2"], answer: Real[Array, "2"], weights: Real[Array, "src"], words: Sequence[str]
) -> str:
    """Draw the values, and the output with lines as thick as the weights."""
    low, span = values.min(0), np.ptp(values, 0)
    shares = (np.vstack([values, answer]) - low) / np.where(span > 0, span, 1)
    *places, (x, y) = np.array([40, _SIZE - 32]) + np.array([190, -205]) * shares
    parts = [
        f'<line x1="{left:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{y:.1f}" stroke="{color}" '
        f'stroke-width="{14 * weight:.1f}"></line>'
        f'<circle cx="{left:.1f}" cy="{top:.1f}" r="8" fill="{color}"></circle>'
        f'<text x="{left:.1f}" y="{top - 12:.1f}" text-anchor="middle">{escape(word)}</text>'
        for (left, top), word, weight, color in zip(places, words, weights, _COLORS, strict=False)
    ]
    dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="none" stroke="currentColor" stroke-width="3"></circle>'
    return _FRAME + "".join(parts) + dot
