"""The query plane (chapter 1): a query and keys that the reader drags, with their weights and the resulting output.

Without scripts it is a table of the initial state.
"""

from collections.abc import Sequence
from html import escape

import numpy as np
from jaxtyping import Real

from attnbook.cards.card import Card, Question, card, check_all, checked_numbers, still_table, two_decimals
from attnlib import attention
from attnlib.checks import check_words
from attnlib.shapes import Array

MOST_WORDS = 7
"""Greatest number of words; each has its own color of the Okabe-Ito palette."""

_FAR, _LONGEST = 3.0, 2.8  # how long a query and a key may be
_FEATURES = [2**k for k in range(1, 11)]


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
    shown = [*map(two_decimals, weights)]
    answer_text = ", ".join(f"{x:.1f} {unit}".strip() for x, (_, unit) in zip(answer, names, strict=True))
    rows = [
        f'<th scope="row">{escape(word)}</th><td>{_point(key)}</td><td>{_point(value)}</td><td>{weight}</td>'
        for word, key, value, weight in zip(words, keys, values, shown, strict=True)
    ]
    still = still_table(
        f"Query: {_point(start)}. The answer: {escape(answer_text)}.", ("", "key", "value", "weight"), rows
    )
    weighed = ", ".join(map(" ".join, zip(words, shown, strict=True)))
    return card("plane", still, data, f"Weights: {weighed}. The answer: {answer_text}.", question=question)


def _point(vector: Real[Array, "2"]) -> str:
    return f"({', '.join(f'{x:z.4g}' for x in vector)})"


def _hidden(src: int) -> list[list[float]]:
    """Return the hidden features' part of each query-key product, by dimension."""
    rng = np.random.default_rng(38)
    more = _FEATURES[-1] - 2
    products = rng.normal(size=(more, 1)) * rng.normal(size=(more, src))
    sums = np.concatenate([np.zeros((1, src)), products.cumsum(0)])
    return [sums[features - 2].round(4).tolist() for features in _FEATURES]
