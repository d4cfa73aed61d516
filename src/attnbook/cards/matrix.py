"""Sliders for the matrix of a general score (chapter 1), with the weights of every word.

Without scripts it is a table of the initial weights.
"""

from collections.abc import Sequence

from jaxtyping import Real

from attnbook.cards.card import Card, Question, card, check_all, checked_numbers, two_decimals, weight_table
from attnlib import attention
from attnlib.checks import check_choice, check_words
from attnlib.shapes import Array

FAR = 4.0
"""How large a number of the matrix may be, and how small."""


def score_matrix(
    matrix: Real[Array, "features features"],
    vectors: Real[Array, "words features"],
    words: Sequence[str],
    features: Sequence[str],
    *,
    question: Question | None = None,
) -> Card:
    r"""Build a card of the matrix :math:`W_Q W_K^\top`, with a slider for each number.

    Words :math:`i` and :math:`j` have the score :math:`x_i W_Q W_K^\top x_j^\top`, divided by the root of the number of
    features. The card shows the weights of all words.

    Parameters
    ----------
    matrix
        The matrix at the beginning, from -4 to 4.
    vectors
        A vector for each word.
    words, features : sequence of str
        The words, and what each number of a vector says of a word.
    question : Question, optional
        A question that is answered after a word gives another one at least this weight: ``{"query": word, "key":
        word, "weight": weight}``.
    """
    check_words("words", words)
    check_words("features", features)
    count, size = len(words), len(features)
    start = checked_numbers("matrix", matrix, (size, size), "a row and a column for each feature")
    vectors = checked_numbers("vectors", vectors, (count, size), "the features of each word")
    check_all(abs(start) <= FAR, start, "matrix", f"numbers from {-FAR:g} to {FAR:g}")
    data = {"matrix": start.tolist(), "vectors": vectors.tolist(), "words": list(words), "features": list(features)}
    if question:
        if question.tried.keys() != {"query", "key", "weight"}:
            raise ValueError(f"question.tried is {question.tried}; expected query, key, and weight")
        asked = {role: question.tried[role] for role in ("query", "key")}
        check_choice(words, **asked)
        places = {role: words.index(word) for role, word in asked.items()}
        data["question"] = {"right": question.right, "weight": float(question.tried["weight"]), **places}
    weights = attention(vectors @ start, vectors, vectors).weights
    still = f'<div class="at-still">{weight_table(words, words, weights)}</div>\n'
    rows = (f"{word} {', '.join(map(two_decimals, row))}" for word, row in zip(words, weights, strict=True))
    return card("matrix", still, data, f"Weights: {'; '.join(rows)}", question=question)
