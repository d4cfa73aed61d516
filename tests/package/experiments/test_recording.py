"""The command that records, with runs that take no time: each is done once, in the plan's order."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from recording import Job, list_jobs, record
from tables import Run

from attnbook.experiments.plan import Plan
from attnbook.experiments.runs import Recording
from attnbook.pretrained.folder import WEIGHTS

SEEDS = {"local-p": 6, "no-attention": 2, "bahdanau": 3}
RATES = {(group, rate, seed) for group in ("early", "late") for rate in (0.002, 0.01, 0.05) for seed in (100, 101)}
PHASES = ["small late 0.002 100", "small local-p 10", "small early 0.002 100", "small bahdanau 12"]
WHOLE = RATES | {(model, 10 + n) for model, seeds in SEEDS.items() for n in range(seeds)}


def run(job, members=()):
    config, seed, rate = job
    if rate is not None:
        line = {"tuning_group": config.tuning_group, "learning_rate": rate, "seed": seed, "loss": abs(rate - 0.01)}
        return Run({"learning_rates": [line | {"config": config.digest, "environment": "here"}]})
    line = {"model": config.name, "clauses": 1, "seed": seed, "exact_match": seed / 100}
    about = {"config": config.digest, "rate": config.learning_rate}
    return Run({"": [line]}, {"model": config.name, "seed": seed, **about})


def do(plan, folder, run=run, processes=1, **options):
    messages = []
    with ThreadPoolExecutor(processes) as pool:
        record([plan], folder, folder / "models", run, pool=pool, processes=processes, log=messages.append, **options)
    return messages


def recorded(plan, folder):
    recording = Recording(plan, folder)
    rates = recording.learning_rates[["tuning_group", "learning_rate", "seed"]]
    return {*rates.itertuples(index=False, name=None), *recording.recorded}


@pytest.mark.parametrize("processes", [1, 3])
def test_every_run_is_recorded_once_rates_first_and_said(small, tmp_path, processes):
    messages = do(small, tmp_path, processes=processes)
    assert recorded(small, tmp_path) == WHOLE
    assert len({*messages}) == len(messages) == len(WHOLE)
    if processes == 1:
        assert [messages[n] for n in (0, 6, 12, -1)] == PHASES
    assert {run["rate"] for run in Recording(small, tmp_path).details} == {0.01}


def test_a_run_that_fails_is_named_and_left_out_and_the_same_command_does_it_again(small, tmp_path):
    def failing(job, members):
        if str(job) == "small bahdanau 11":
            raise FloatingPointError("loss is nan at step 3")
        return run(job)

    messages = do(small, tmp_path, failing)
    assert recorded(small, tmp_path) == WHOLE - {("bahdanau", 11)}
    assert messages.count("small bahdanau 11: FloatingPointError: loss is nan at step 3") == 1
    assert do(small, tmp_path) == ["small bahdanau 11"]
    assert recorded(small, tmp_path) == WHOLE
    assert do(small, tmp_path) == []


def test_only_some_models_are_recorded(small, tmp_path):
    do(small, tmp_path, only=["bahdanau"])
    assert {key for key in recorded(small, tmp_path) if len(key) == 2} == {("bahdanau", 10 + n) for n in range(3)}


def test_an_ensemble_waits_for_the_models_of_its_members(small, tmp_path):
    row = small.configs["local-p"].replace(tuning_group="", seeds=(0, 1), learning_rate=0.01)
    both = {"members": row.replace(name="members"), "all": row.replace(name="all", members="members", seeds=(0,))}
    plan, given = Plan(small.name, small.contents, both), []

    def train(job, members):
        given.append((job.config.name, [str(member) for member in members]))
        if not members:
            job.folder(tmp_path / "models").mkdir(parents=True)
            (job.folder(tmp_path / "models") / WEIGHTS).touch()
        return run(job)

    assert [*map(str, list_jobs(plan, tmp_path))] == ["small members 0", "small all 0", "small members 1"]
    assert do(plan, tmp_path, train) == ["small members 0", "small members 1", "small all 0"]
    assert given[-1] == ("all", ["small members 0", "small members 1"])
    assert [Job(both["members"], n).is_trained(tmp_path / "models") for n in range(3)] == [True, True, False]
