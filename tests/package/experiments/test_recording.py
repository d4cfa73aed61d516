"""The command that records, with runs that take no time: shared, killed and gone on with, each is done once."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import recording
from attnlib.experiments.runs import read_details
from recording import list_jobs, list_rate_jobs, main, rates_to_try, record, recorded
from tables import Run, add_lines

RATES = {("early", 0.002), ("early", 0.01), ("early", 0.05), ("late", 0.002), ("late", 0.01), ("late", 0.05)}
WHOLE = {(*rate, seed) for rate in RATES for seed in (100, 101)} | {
    *(("local-p", seed) for seed in (10, 11)),
    *(("no-attention", seed) for seed in (10, 11)),
    *(("bahdanau", seed) for seed in (10, 11, 12)),
    *(("local-p-times2", seed) for seed in (10, 11)),
}
FAKES = """
import time
import recording
from tables import Run

def measure_rate(plan, group, config, seed, clauses):
    rate = config.learning_rate
    line = {"tuning_group": group, "learning_rate": rate, "seed": seed, "loss": abs(rate - 0.01), "plan": plan.digest}
    return Run({"learning_rates": [line]})

def measure(plan, config, seed):
    time.sleep(pause)
    line = {"model": config.name, "test_set": "seen lengths", "seed": seed, "exact_match": seed / 100}
    return Run({"": [line]}, {"plan": plan.digest, "model": config.name, "seed": seed, "rate": config.learning_rate})

recording.measure_rate, recording.measure = measure_rate, measure
"""


@pytest.fixture(autouse=True)
def _fakes(monkeypatch):
    for name in ("measure_rate", "measure"):
        monkeypatch.setattr(recording, name, getattr(recording, name))
    exec(FAKES, {"pause": 0})


def test_every_run_is_recorded_once_rates_first_and_said(small, tmp_path):
    messages = []
    record(small, tmp_path, 1, say=messages.append)
    assert recorded(small, tmp_path) == WHOLE
    runs = [line.partition(":")[0] for line in messages]
    assert len(set(runs)) == len(runs) == len(WHOLE)
    assert (runs[0], runs[12], runs[-1]) == ("early 0.002 100", "local-p 10", "local-p-times2 11")
    assert {run["rate"] for run in read_details(small, tmp_path)} == {0.01}
    record(small, tmp_path, 1, say=messages.append)
    assert len(messages) == len(WHOLE)


def test_killed_it_goes_on_where_it_was(small, small_file, tmp_path):
    script = f"""
pause = 0.05
{FAKES}
from pathlib import Path
from attnlib.experiments.plan import read_plan
plan, folder = read_plan(Path({str(small_file)!r})), Path({str(tmp_path)!r})
recording.record(plan, folder, 1, say=lambda line: print(line, flush=True))
"""
    path = {"PYTHONPATH": str(Path(recording.__file__).parent), "PATH": ""}
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=path)
    said = [process.stdout.readline() for _ in range(14)]
    process.kill()
    process.communicate()
    assert len(recorded(small, tmp_path)) in (14, 15), said
    messages = []
    record(small, tmp_path, 1, say=messages.append)
    assert recorded(small, tmp_path) == WHOLE
    assert len(messages) in (len(WHOLE) - 14, len(WHOLE) - 15)


def test_a_share_does_its_runs_and_one_without_the_rest(small, tmp_path, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.exit("waiting") if seconds == 2 else None)
    with pytest.raises(pytest.exit.Exception, match="waiting"):
        record(small, tmp_path, 1, slice(1, None, 2), say=str)
    assert len(recorded(small, tmp_path)) == 6, "its learning rates, until those of the others are there"
    record(small, tmp_path, 1, slice(0, None, 2), say=str)
    assert len(recorded(small, tmp_path)) == 12 + 4
    record(small, tmp_path, 1, say=str)
    assert recorded(small, tmp_path) == WHOLE


def test_a_run_that_cannot_be_trained_is_named_and_left_out(small, tmp_path, monkeypatch):
    proper, messages = recording.measure, []

    def fail(plan, config, seed):
        if (config.name, seed) == ("bahdanau", 11):
            raise FloatingPointError("loss is nan at step 3")
        return proper(plan, config, seed)

    monkeypatch.setattr(recording, "measure", fail)
    record(small, tmp_path, 1, say=messages.append)
    assert recorded(small, tmp_path) == WHOLE - {("bahdanau", 11)}
    assert messages.count("bahdanau 11: loss is nan at step 3") == 1


@pytest.mark.parametrize(
    ("losses", "tried"),
    [
        ({}, [0.002, 0.01, 0.05]),
        ({0.002: 2.0, 0.01: 1.0}, [0.002, 0.01, 0.05]),
        ({0.002: 2.0, 0.01: 1.0, 0.05: 3.0}, [0.002, 0.01, 0.05]),
        ({0.002: 1.0, 0.01: 2.0, 0.05: 3.0}, [0.001, 0.002, 0.01, 0.05]),
        ({0.002: 1.0, 0.01: 2.0, 0.05: 3.0, 0.001: 0.5}, [0.0005, 0.001, 0.002, 0.01, 0.05]),
        ({0.002: 3.0, 0.01: 2.0, 0.05: 1.0, 0.1: None}, [0.002, 0.01, 0.05, 0.1]),
        ({0.002: None, 0.01: None, 0.05: None}, [0.002, 0.01, 0.05]),
    ],
)
def test_while_the_best_rate_is_the_last_another_is_tried(small, tmp_path, losses, tried):
    lines = [
        {"tuning_group": "early", "learning_rate": rate, "seed": seed, "loss": loss}
        for rate, loss in losses.items()
        for seed in (100, 101)
    ]
    if lines:
        add_lines(lines, "small.learning_rates", tmp_path)
    rates = recording.load_learning_rates(small, tmp_path)
    assert rates_to_try(rates, "early", small.contents["learning_rates"]) == tried
    assert {rate for group, rate, _ in list_rate_jobs(small, tmp_path) if group == "early"} == {*tried}


def test_the_command(monkeypatch, capsys, small, tmp_path):
    monkeypatch.setattr(recording, "read_plan", lambda name: small)
    where = ["--workers", "1", "--folder", str(tmp_path)]
    assert main(["small", *where]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(WHOLE)
    assert [*list_jobs(small, tmp_path)][:2] == [("local-p", 10), ("local-p", 11)]
    monkeypatch.setattr(
        recording, "measure_costs", lambda plan, config: Run({"costs": [{"model": config.name, "macs": 7}]})
    )
    monkeypatch.setattr(recording, "_pool", ThreadPoolExecutor)
    assert main(["small", "--costs", *where]) == 0
    assert len((tmp_path / "small.costs.csv").read_text().splitlines()) == 1 + len(small.configs)
    for wrong, says in (("--only=x", "learns from no text; expected no --only"), ("--workers=0", "workers is 0")):
        assert main([wrong]) == 2
        assert says in capsys.readouterr().err
    for wrong in ("0/5", "6/5", "2", "2/5/1", "-1/5"):
        with pytest.raises(SystemExit):
            main([f"--share={wrong}"])
        assert f"share is '{wrong}'; expected one as 2/5" in capsys.readouterr().err
