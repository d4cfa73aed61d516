"""The command that records, with runs that take no time: shared, interrupted and gone on with, each is done once."""

import time
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
import recording
import tyro
from recording import main, rates_to_try, record
from tables import Run

from attnbook.experiments.runs import Recording, mean_losses

SEEDS = {"local-p": 6, "no-attention": 2, "bahdanau": 3}
RATES = {(group, rate, seed) for group in ("early", "late") for rate in (0.002, 0.01, 0.05) for seed in (100, 101)}
PHASES = ["late 0.002 100", "local-p 10", "early 0.002 100", "bahdanau 12"]
WHOLE = RATES | {(model, 10 + n) for model, seeds in SEEDS.items() for n in range(seeds)}


def measure_rate(config, seed):
    rate = config.learning_rate
    line = {"tuning_group": config.tuning_group, "learning_rate": rate, "seed": seed, "loss": abs(rate - 0.01)}
    return Run({"learning_rates": [line | {"config": config.digest, "environment": "here"}]})


def measure(config, seed):
    line = {"model": config.name, "clauses": 1, "seed": seed, "exact_match": seed / 100}
    about = {"config": config.digest, "rate": config.learning_rate}
    return Run({"": [line]}, {"model": config.name, "seed": seed, **about})


def recorded(plan, folder):
    return recording.recorded(Recording(plan, folder))


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(recording, "measure_rate", measure_rate)
    monkeypatch.setattr(recording, "measure", measure)


def failing(model, seed, error):
    def run(config, its_seed):
        if (config.name, its_seed) == (model, seed):
            raise error
        return measure(config, its_seed)

    return run


def test_every_run_is_recorded_once_rates_first_and_said(small, tmp_path):
    messages = []
    record(small, tmp_path, log=messages.append)
    assert recorded(small, tmp_path) == WHOLE
    assert len(set(messages)) == len(messages) == len(WHOLE)
    assert [messages[n] for n in (0, 6, 12, -1)] == PHASES
    assert {run["rate"] for run in Recording(small, tmp_path).details} == {0.01}


def test_interrupted_it_goes_on_where_it_was_and_then_finds_nothing_to_do(small, tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "measure", failing("bahdanau", 11, KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        record(small, tmp_path, log=str)
    before, messages = recorded(small, tmp_path), []
    assert before < WHOLE
    monkeypatch.setattr(recording, "measure", measure)
    for _ in range(2):
        record(small, tmp_path, log=messages.append)
        assert recorded(small, tmp_path) == WHOLE
        assert len(messages) == len(WHOLE - before)


def test_a_share_does_its_runs_and_one_without_the_rest(small, tmp_path, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _: pytest.exit("waiting"))
    with pytest.raises(pytest.exit.Exception, match="waiting"):
        record(small, tmp_path, (2, 2), log=str)
    assert len(recorded(small, tmp_path)) == 3, "its learning rates, until those of the others are there"
    with pytest.raises(pytest.exit.Exception, match="waiting"):
        record(small, tmp_path, (1, 2), log=str)
    assert len(recorded(small, tmp_path)) == 6 + 3 + 3, "all rates, and half of the runs, of the first phase"
    record(small, tmp_path, log=str)
    assert recorded(small, tmp_path) == WHOLE


def test_a_run_that_cannot_be_trained_is_named_and_left_out(small, tmp_path, monkeypatch):
    messages = []
    monkeypatch.setattr(recording, "measure", failing("bahdanau", 11, FloatingPointError("loss is nan at step 3")))
    record(small, tmp_path, log=messages.append)
    assert recorded(small, tmp_path) == WHOLE - {("bahdanau", 11)}
    assert messages.count("bahdanau 11: loss is nan at step 3") == 1


@pytest.mark.parametrize(
    ("losses", "more"),
    [
        ({0.002: 2.0, 0.01: 1.0}, []),
        ({0.002: 2.0, 0.01: 1.0, 0.05: 3.0}, []),
        ({0.002: 1.0, 0.01: 2.0, 0.05: 3.0}, [0.001]),
        ({0.002: 1.0, 0.01: 2.0, 0.05: 3.0, 0.001: 0.5}, [0.001, 0.0005]),
        ({0.002: 3.0, 0.01: 2.0, 0.05: 1.0, 0.1: None}, [0.1]),
        ({0.002: None, 0.01: None, 0.05: None}, []),
    ],
)
def test_while_the_best_rate_is_the_last_another_is_tried(losses, more):
    runs = [(rate, seed, loss) for rate, loss in losses.items() for seed in (100, 101)]
    tuned = pd.DataFrame(
        [*runs, (0.05, 100, 0.0)][: len(runs) + (0.05 not in losses)], columns=["learning_rate", "seed", "loss"]
    )
    tried = rates_to_try(mean_losses(tuned, 2), [0.01, 0.002, 0.05])
    assert tried == sorted([0.002, 0.01, 0.05, *more])


def test_the_command(monkeypatch, capsys, small, tmp_path, refused):
    monkeypatch.setattr(recording, "read_plan", lambda name: small)
    monkeypatch.setattr(recording, "ProcessPoolExecutor", lambda *_: ThreadPoolExecutor(1))
    monkeypatch.setattr(recording, "measure_costs", lambda config: Run({"costs": [{"model": config.name}]}))
    where = ["--folder", str(tmp_path)]
    tyro.cli(main, args=["small", "--share", "1", "1", *where])
    assert len(capsys.readouterr().out.splitlines()) == len(WHOLE)
    tyro.cli(main, args=["small", "--costs", *where])
    assert len((tmp_path / "small.costs.csv").read_text().splitlines()) == 1 + len(small.configs)
    for wrong in ((0, 5), (6, 5)):
        refused(lambda wrong=wrong: main("small", share=wrong), r"share is \(.*; expected two numbers such as 2 5")
