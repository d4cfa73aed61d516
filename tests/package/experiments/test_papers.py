"""The papers' runs: each once, in order, no longer than there is time, and the ensemble when its members are there."""

from dataclasses import replace
from functools import partial

import pytest
import torch
from papers import Job, members_of, run_job

from attnbook.experiments.plan import read_plan

PLANS = {name: read_plan(name) for name in ("papers-captions", "papers-grammar")}
ROWS = {"local-p": (30, 31), "ensemble": (30,), "dot": (30, 31)}
TINY = {"max_steps": 2, "embedding_dim": 6, "hidden_size": 8, "max_length": 9, "beam_size": 2, "eval_every": 2}


@pytest.fixture
def plans():
    """Make small ones: three rows of captions, one of the grammar."""
    captions, grammar = PLANS.values()
    rows = {name: captions.configs[name].replace(seeds=seeds, **TINY) for name, seeds in ROWS.items()}
    small = {"num_pairs": 40, "test_clauses": (1, 2), "num_test_sentences": 3}
    one = grammar.configs["local-m"].replace(seeds=(30,), **TINY | small)
    return {
        "papers-captions": replace(captions, configs=rows),
        "papers-grammar": replace(grammar, configs={"local-m": one}),
    }


def names(jobs):
    return [str(job) for job in jobs]


def test_runs_and_their_ensemble_are_measured(plans, text_folder, tmp_path):
    """In this process, the ensemble last: it waits for its members."""
    models, captions = tmp_path / "models", plans["papers-captions"]
    ensemble = Job(captions.configs["ensemble"], 30)
    members = members_of(ensemble, captions)
    assert names(members) == ["papers-captions local-p 30", "papers-captions local-p 31"]
    run = partial(run_job, data=text_folder, models=models, device=torch.device("cpu"))
    alone = [run(job, []) for job in members]
    assert all(job.is_trained(models) for job in members)
    together = run(ensemble, members)
    lines = [each.tables[""][0] for each in (*alone, together)]
    perplexities = [line["perplexity"] for line in lines]
    assert perplexities[2] < sum(perplexities[:2]) / 2  # the mean of probabilities is above that of logarithms
    assert {*lines[2]} == {*lines[0]}
    assert lines[2]["known_sentences"] > 0
    assert {"settings", "search", "text", "environment"} <= {*together.details}
    (grammar,) = plans["papers-grammar"].configs.values()
    tables, details = run(Job(grammar, 30), [])
    assert [line["clauses"] for line in tables[""]] == [1, 2]
    assert details["config"] == grammar.digest
