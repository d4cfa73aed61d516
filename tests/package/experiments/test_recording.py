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


def do(plan, folder, run=run, *, processes=1, log=None, others=(), **options):
    messages = []
    how = {"processes": processes, "log": log or messages.append, "start": ThreadPoolExecutor}
    left = record([plan, *others], folder, folder / "models", run, **how, **options)
    return messages, [*map(str, left)]


def recorded(plan, folder):
    recording = Recording(plan, folder)
    rates = recording.learning_rates[["tuning_group", "learning_rate", "seed"]]
    return {*rates.itertuples(index=False, name=None), *recording.recorded}


@pytest.mark.parametrize("processes", [1, 3])
def test_every_run_is_recorded_once_rates_first_and_said(small, tmp_path, processes):
    messages, left = do(small, tmp_path, processes=processes)
    assert recorded(small, tmp_path) == WHOLE
    assert len({*messages}) == len(messages) == len(WHOLE)
    assert left == []
    if processes == 1:
        assert [messages[n] for n in (0, 6, 12, -1)] == PHASES
    assert {run["rate"] for run in Recording(small, tmp_path).details} == {0.01}


def test_stopped_it_goes_on_where_it_was_and_then_finds_nothing_to_do(small, tmp_path):
    messages = []

    def stop(message):
        messages.append(message)
        if len(messages) == 15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        do(small, tmp_path, log=stop)
    before = recorded(small, tmp_path)
    assert len(before) == 15
    after, _ = do(small, tmp_path)
    assert recorded(small, tmp_path) == WHOLE
    assert not {*messages} & {*after}
    assert do(small, tmp_path) == ([], [])


def test_a_run_that_fails_is_named_and_left_and_the_same_command_does_it_again(small, tmp_path):
    def failing(job, members):
        if str(job) == "small bahdanau 11":
            raise FloatingPointError("loss is nan at step 3")
        return run(job)

    messages, left = do(small, tmp_path, failing)
    assert recorded(small, tmp_path) == WHOLE - {("bahdanau", 11)}
    assert messages.count("small bahdanau 11: FloatingPointError: loss is nan at step 3") == 1
    assert left == ["small bahdanau 11"]
    assert do(small, tmp_path) == (left, [])
    assert recorded(small, tmp_path) == WHOLE


@pytest.mark.parametrize("model", ["bahdanau", "no-attention"])
def test_only_some_models_are_recorded_with_the_rates_of_their_group(small, tmp_path, model):
    do(small, tmp_path, only=[model])
    runs = {(model, 10 + n) for n in range(SEEDS[model])}
    assert recorded(small, tmp_path) == runs | {rate for rate in RATES if rate[0] == "early"}


def test_two_plans_are_recorded_together_a_phase_of_both_before_the_next(small, tmp_path):
    configs = {name: config.replace(plan="other") for name, config in small.configs.items()}
    other = Plan("other", small.contents, configs)
    messages, _ = do(small, tmp_path, others=[other])
    assert recorded(small, tmp_path) == recorded(other, tmp_path) == WHOLE
    second = [n for n, message in enumerate(messages) if "early" in message]
    assert max(n for n, message in enumerate(messages) if "local-p" in message) < min(second)


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
    assert do(plan, tmp_path / "kept", lambda job, _: run(job)) == (
        ["small members 0", "small members 1"],
        ["small all 0"],
    )
    assert do(plan, tmp_path, train) == (["small members 0", "small members 1", "small all 0"], [])
    assert given[-1] == ("all", ["small members 0", "small members 1"])
    assert [Job(both["members"], n).is_trained(tmp_path / "models") for n in range(3)] == [True, True, False]
