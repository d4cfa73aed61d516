"""IBM Model 1, against a loop and by hand, and the tables that it left."""

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from ibm_model_1 import LEAST, NONE, align, results, train

from attnlib.experiments.captions import LANGUAGES, load_captions
from attnlib.experiments.runs import read_table

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


def test_a_word_is_linked_to_its_likeliest_source_or_to_none():
    t = {("a", "x"): 0.2, ("b", "x"): 0.3, (NONE, "y"): 0.5, ("a", "y"): 0.4}
    assert align(t, ["a", "b"], ["y", "x", "new"]) == {(1, 1)}
    assert align(t, ["a", "b"], ["y", "x", "new"], always=True) == {(0, 0), (1, 1)}


@pytest.fixture(scope="module")
def table():
    return read_table("ibm_model_1.probabilities")


def test_the_scores_are_those_of_the_probabilities(table):
    recorded = read_table("ibm_model_1")
    pd.testing.assert_frame_equal(results(table), recorded, atol=1e-4)


def test_the_table_holds_words_of_our_captions_and_nothing_else(table):
    assert table[["translation_given_english", "english_given_translation"]].max(axis=1).min() >= LEAST
    assert {*table.language} == {*LANGUAGES}
    for language, words in table.groupby("language"):
        pairs = [caption.pair for caption in load_captions(language)]
        together = {(e, f) for pair in pairs for e in (NONE, *pair.source) for f in (NONE, *pair.target)}
        assert {*zip(words.english, words.translation, strict=True)} <= together
