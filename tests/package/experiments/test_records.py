"""Ledgers: read as they were written, whoever else writes, and refused rather than read wrong."""

import json
import subprocess
import sys

import numpy as np
import pytest

from attnlib.experiments import records
from attnlib.experiments.records import Ledger, environment, processor

GROUPS = ["within", "beyond"]


def run(*exact: float | None) -> dict:
    return {"measures": {"exact": list(exact)}}


@pytest.fixture
def ledger(small, tmp_path) -> Ledger:
    return Ledger(small, tmp_path / "runs")


@pytest.fixture
def filled(ledger) -> Ledger:
    for seed, exact in ((11, (0.5, 0.25)), (2, (1.0, None)), (10, (0.75, 0.0))):
        ledger.add("bahdanau", str(seed), run(*exact), lambda: {"groups": GROUPS})
    ledger.add("no-attention", "10", run(0.25, 0.0), lambda: {"groups": GROUPS})
    ledger.add("no-attention", "12", run(0.5, 0.5), lambda: {"groups": GROUPS})
    return ledger


def test_what_is_written_is_read_in_the_order_of_the_seeds(filled, small):
    record = filled.read("bahdanau")
    assert [*record["runs"]] == ["2", "10", "11"]
    assert (record["plan"], record["groups"]) == (small.digest, GROUPS)
    assert filled.column("bahdanau", "exact", "within") == {2: 1.0, 10: 0.75, 11: 0.5}
    assert np.isnan(filled.column("bahdanau", "exact", "beyond")[2])
    lines = (filled.folder / "bahdanau.json").read_text().splitlines()
    assert [line.partition(":")[0] for line in lines[1:-1]] == ['"2"', '"10"', '"11"']


def test_pairs_are_of_the_seeds_that_both_have(filled):
    first, second = filled.pairs("bahdanau", "no-attention", "exact")
    assert (first.tolist(), second.tolist()) == ([0.75], [0.25])
    assert filled.differences("bahdanau", "no-attention", "exact", "beyond").tolist() == [0.0]
    assert filled.differences("no-attention", "bahdanau", "exact").tolist() == [-0.5]


def test_several_rows_are_taken_each_with_all_its_runs(filled):
    values = filled.by_row(("no-attention", "bahdanau"), "exact")
    assert [*values.items()] == [("no-attention", [0.25, 0.5]), ("bahdanau", [1.0, 0.75, 0.5])]
    assert filled.by_row(["no-attention"], "exact", "beyond") == {"no-attention": [0.0, 0.5]}


def test_nothing_is_recorded_at_first(ledger):
    assert ledger.read("bahdanau") is None
    assert ledger.runs("bahdanau") == {}


def test_costs_are_those_of_the_plan(ledger, small):
    with pytest.raises(FileNotFoundError, match=r"costs\.json"):
        ledger.costs()
    written = {"plan": small.digest, "costs": {"bahdanau": {"seconds": 2.5}}}
    ledger.folder.mkdir()
    (ledger.folder / "costs.json").write_text(json.dumps(written))
    assert ledger.costs() == written["costs"]
    (ledger.folder / "costs.json").write_text(json.dumps(written | {"plan": "another"}))
    with pytest.raises(ValueError, match="under another plan"):
        ledger.costs()


def test_the_head_is_asked_for_once(ledger):
    asked = []
    for seed in "12":
        ledger.add("bahdanau", seed, run(1.0), lambda: asked.append(1) or {"groups": ["within"]})
    assert asked == [1]


def test_a_run_is_claimed_by_one(ledger):
    with ledger.claimed("bahdanau", "3") as mine, ledger.claimed("bahdanau", "3") as other:
        assert (mine, other) == (True, False)
        with ledger.claimed("bahdanau", "4") as another:
            assert another
    with ledger.claimed("bahdanau", "3") as mine:
        assert mine, "given back, not recorded"
        ledger.add("bahdanau", "3", run(1.0), dict)
    with ledger.claimed("bahdanau", "3") as mine:
        assert not mine, "recorded"


def test_the_claim_of_a_killed_process_is_free(ledger, small_file):
    script = f"""
import os, sys, time
from pathlib import Path
from attnlib.experiments.records import Ledger
from attnlib.experiments.plan import read_plan
ledger = Ledger(read_plan(Path({str(small_file)!r})), Path({str(ledger.folder)!r}))
with ledger.claimed("bahdanau", "3") as mine:
    print(mine, flush=True)
    time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "True\n"
    with ledger.claimed("bahdanau", "3") as mine:
        assert not mine
    process.kill()
    process.wait()
    process.stdout.close()
    with ledger.claimed("bahdanau", "3") as mine:
        assert mine


def test_cut_short_at_any_byte_it_is_refused(filled):
    path = filled.folder / "no-attention.json"
    whole = path.read_bytes().rstrip()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"no-attention\.json is no whole JSON file"):
            filled.read("no-attention")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": 2}, r"bahdanau\.json is not of format 3"),
        ({"runs": []}, r"bahdanau\.json is not of format 3"),
        ({"plan": "0"}, r"bahdanau\.json was recorded under another plan than small"),
        ({"name": "luong"}, r"bahdanau\.json was recorded under another plan than small, or another name"),
    ],
)
def test_what_is_of_something_else_is_refused(filled, change, says):
    path = filled.folder / "bahdanau.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    for call in (lambda: filled.read("bahdanau"), lambda: filled.add("bahdanau", "7", run(1.0), dict)):
        with pytest.raises(ValueError, match=says):
            call()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("luong", "exact"), "nothing is recorded of 'luong'"),
        (("bahdanau", "bleu"), "'bleu' is not recorded of bahdanau; expected one of exact"),
        (("bahdanau", "exact", "7 clauses"), "'7 clauses' is not recorded of bahdanau; expected one of beyond, within"),
    ],
)
def test_what_is_not_recorded_is_named(filled, refused, arguments, says):
    refused(lambda: filled.column(*arguments), ValueError, says)


def test_where_it_was_run_is_said(monkeypatch):
    environment.cache_clear()
    record = environment()
    assert record["processor"] == processor()
    assert {"revision", "date", "python", "numpy", "scipy", "torch", "sacrebleu"} < record.keys()
    environment.cache_clear()
    monkeypatch.setattr(records.subprocess, "run", lambda *_, **__: (_ for _ in ()).throw(FileNotFoundError("git")))
    assert environment()["revision"] == "unknown"
    environment.cache_clear()
