"""One run of one variant: the same again, of the model that training gives, and grouped right."""

import pytest

from attnlib.experiments.evaluation import evaluate, summarise
from attnlib.experiments.measure import benchmark, grouped, train_and_measure, train_variant
from attnlib.experiments.variants import VARIANTS, Budget, held_out

SMALL = Budget(emb=7, hid=6, pairs=60, words=200, steps=25, test_clauses=(1, 2, 4), test_sentences=5, width=2)
PAIRS = [pair for clauses in SMALL.test_clauses for pair in held_out(clauses, SMALL)]


def test_groups_hold_each_sentence_where_it_belongs():
    groups = grouped(VARIANTS["bahdanau"], SMALL)
    assert groups["1 clause"] == [0, 1, 2, 3, 4]
    assert groups["within"] == [*range(10)]
    assert groups["beyond"] == [*range(10, 15)] == groups["4 clauses"]
    by_length = {name: rows for name, rows in groups.items() if name.endswith("words")}
    assert sorted(n for rows in by_length.values() for n in rows) == [*range(15)]
    for name, rows in by_length.items():
        first, last = map(int, name.removesuffix(" words").split("-"))
        assert all(first <= len(PAIRS[n].source) <= last for n in rows)
    assert "beyond" not in grouped(VARIANTS["bahdanau-longer"], SMALL)


def test_a_row_is_the_same_again_and_another_with_another_seed():
    variant = VARIANTS["local-p-dot"]
    first, again, other = (train_and_measure(variant, seed, SMALL) for seed in (0, 0, 1))
    assert first == again != other
    assert first["groups"].keys() == grouped(variant, SMALL).keys()


def test_a_row_is_of_the_model_that_training_gives():
    variant = VARIANTS["bahdanau"]
    translator, history = train_variant(variant, 2, SMALL, progress=False)
    row = train_and_measure(variant, 2, SMALL)
    means = [history.losses[n : n + 10].mean() for n in (0, 10, 20)]
    assert row["losses"] == pytest.approx(means, abs=1e-4)
    assert row["groups"]["within"] == summarise(evaluate(translator, PAIRS, SMALL.width).select(range(10)))


def test_a_cost_is_measured(refused):
    found = benchmark(VARIANTS["global-dot"], SMALL, steps=3)
    untrained = VARIANTS["global-dot"].translator(0, SMALL)
    assert found["parameters"] == sum(p.numel() for p in untrained.parameters())
    assert found["words_per_second"] > 0
    assert found["seconds"] > 0
    assert found["peak_memory"] >= 0
    assert benchmark(VARIANTS["global-concat"], SMALL, steps=1)["multiply_adds"] > found["multiply_adds"]
    refused(lambda: benchmark(VARIANTS["bahdanau"], SMALL, steps=0), ValueError, "steps is 0; expected at least 1")
