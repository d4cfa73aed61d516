"""What a run of a row is measured by: its groups of test sentences, and its cost."""

from attnlib.experiments.measure import benchmark, grouped
from attnlib.experiments.plan import read_plan
from attnlib.experiments.variants import Budget, held_out

SMALL = Budget(emb=7, hid=6, pairs=60, words=200, steps=25, test_clauses=(1, 2, 4), test_sentences=5, width=2)
PAIRS = [pair for clauses in SMALL.test_clauses for pair in held_out(clauses, SMALL)]


def variant(name):
    return read_plan("comparison").rows[name].variant


def test_groups_hold_each_sentence_where_it_belongs():
    groups = grouped(variant("bahdanau"), SMALL)
    assert groups["1 clause"] == [0, 1, 2, 3, 4]
    assert groups["within"] == [*range(10)]
    assert groups["beyond"] == [*range(10, 15)] == groups["4 clauses"]
    by_length = {name: rows for name, rows in groups.items() if name.endswith("words")}
    assert sorted(n for rows in by_length.values() for n in rows) == [*range(15)]
    for name, rows in by_length.items():
        first, last = map(int, name.removesuffix(" words").split("-"))
        assert all(first <= len(PAIRS[n].source) <= last for n in rows)
    assert "beyond" not in grouped(variant("bahdanau-longer"), SMALL)


def test_a_cost_is_measured(refused):
    found = benchmark(variant("global-dot"), SMALL, steps=3)
    untrained = variant("global-dot").translator(0, SMALL)
    assert found["parameters"] == sum(p.numel() for p in untrained.parameters())
    assert found["words_per_second"] > 0
    assert found["seconds"] > 0
    assert found["peak_memory"] >= 0
    assert benchmark(variant("global-concat"), SMALL, steps=1)["multiply_adds"] > found["multiply_adds"]
    refused(lambda: benchmark(variant("bahdanau"), SMALL, steps=0), ValueError, "steps is 0; expected at least 1")
