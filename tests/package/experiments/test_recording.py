"""The command that records, with runs that take no time: each is done once."""

import pytest
import recording
from recording import record
from tables import Run

from attnbook.experiments.runs import Recording

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


def test_a_run_that_cannot_be_trained_is_named_and_left_out(small, tmp_path, monkeypatch):
    messages = []
    monkeypatch.setattr(recording, "measure", failing("bahdanau", 11, FloatingPointError("loss is nan at step 3")))
    record(small, tmp_path, log=messages.append)
    assert recorded(small, tmp_path) == WHOLE - {("bahdanau", 11)}
    assert messages.count("bahdanau 11: loss is nan at step 3") == 1
