"""IBM Model 1, against a loop, and the table that it left."""

from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from ibm_model_1 import LEAST, NONE, train

from attnbook.experiments.captions import LANGUAGES, load_captions
from attnbook.experiments.runs import read_table

PAIRS = [(["a", "b", "a"], ["x", "x", "y"]), (["b", "c"], ["y", "z", "x"]), (["c"], ["z"])]


def by_loop(pairs, iterations):
    t = defaultdict(lambda: 1.0)
    for _ in range(iterations):
        counts, totals = defaultdict(float), defaultdict(float)
        for source, target in pairs:
            for f in target:
                total = sum(t[e, f] for e in [NONE, *source])
                for e in [NONE, *source]:
                    counts[e, f] += t[e, f] / total
                    totals[e] += t[e, f] / total
        t = defaultdict(float, {(e, f): n / totals[e] for (e, f), n in counts.items()})
    return t


@pytest.mark.parametrize("iterations", [1, 2, 7])
def test_probabilities_are_those_of_the_loop(iterations):
    t, expected = train(PAIRS, iterations), by_loop(PAIRS, iterations)
    assert {*t.index} == {*expected}
    assert all(np.isclose(t[cell], expected[cell]) for cell in expected)


def test_the_table_holds_likely_words_of_our_captions_and_nothing_else():
    table = read_table("ibm_model_1")
    assert table.probability.min() >= LEAST
    assert {*table.language} == {*LANGUAGES}
    for language, words in table.groupby("language"):
        together = {cell for caption in load_captions(language) for cell in product(*caption.pair[:2])}
        assert {*zip(words.english, words.translation, strict=True)} <= together
