"""Bahdanau's decoder learns to write digits backward: ``python examples/reverse.py``."""

from random import Random

from attnlib import SentencePair, Vocabulary, infinite_batches, rnn_search, train, translate_all
from attnlib.metrics import exact_match


def draw(n: int, seed: int) -> list[SentencePair]:
    """Draw rows of three to seven digits, each with its reverse."""
    rng = Random(seed)
    rows = [tuple(rng.choices("0123456789", k=rng.randint(3, 7))) for _ in range(n)]
    return [SentencePair(row, row[::-1]) for row in rows]


def main(steps: int = 300) -> float:
    """Train on rows, and return the share of other rows that are reversed without a mistake."""
    digits, lessons, tests = Vocabulary(tuple("0123456789")), draw(5000, seed=0), draw(100, seed=1)
    model = rnn_search(digits, digits, embedding_dim=32, hidden_size=64, seed=0)
    train(model, infinite_batches(lessons, digits, digits, max_tokens=500, seed=0), steps=steps, learning_rate=0.01)
    written = [one.words for one in translate_all(model, [pair.source for pair in tests])]
    print(" ".join(tests[0].source), "->", " ".join(written[0]))
    return exact_match(written, [pair.target for pair in tests])


if __name__ == "__main__":
    print(f"{main():.0%} of the rows are right")
