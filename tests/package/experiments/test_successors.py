"""The successors' plan: its rows are resumed, and what is recorded is complete and of this code."""

import json

from attnlib.experiments import record, successors
from attnlib.experiments.costs import parameters
from attnlib.experiments.probe import agree, probe
from attnlib.experiments.successors import RESULTS, SUCCESSORS, SUCCESSORS_BUDGET, record_successors
from attnlib.experiments.variants import VARIANTS, Budget, Variant
from attnlib.transformer import transformer


def test_what_is_recorded_is_whole_and_of_this_code():
    assert {path.stem for path in RESULTS.iterdir()} == {*SUCCESSORS}
    for name, (variant, budget) in SUCCESSORS.items():
        found = record.read(name, RESULTS)
        assert found["settings"] == variant.settings(budget)
        assert [*found["rows"]] == [str(seed) for seed in variant.seeds]
    assert agree(found["probe"], probe(variant, found["probe"]["sentences"]))


def test_sizes_are_such_that_weights_are_about_as_many_as_bahdanaus():
    mine = parameters(SUCCESSORS["transformer"][0].translator(0, SUCCESSORS_BUDGET))
    others = parameters(VARIANTS["bahdanau"].translator(0))
    assert (mine, others) == (242_368, 263_136)


def test_a_plan_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(successors, "probe", lambda variant: {"sentences": 0})
    small = Budget(emb=8, hid=4, pairs=40, words=150, steps=2, test_clauses=(1, 4), test_sentences=2, width=2)
    plan = {"transformer": (Variant("transformer", transformer, seeds=(0, 1)), small)}
    record_successors(tmp_path, plan)
    whole = record.read("transformer", tmp_path)
    half = whole | {"rows": {"1": whole["rows"]["1"]}}
    (tmp_path / "transformer.json").write_text(json.dumps(half), encoding="utf-8")
    run, measured = [], successors.train_and_measure
    monkeypatch.setattr(successors, "train_and_measure", lambda v, seed, b: run.append(seed) or measured(v, seed, b))
    record_successors(tmp_path, plan)
    assert run == [0]
    assert record.read("transformer", tmp_path) == whole
