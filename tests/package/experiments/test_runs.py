"""Recorded runs: read as they were written, of their plan as it stands, at the chosen rates, and complete."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from sentences import settings_of, with_current_names
from tables import Run, add_lines, add_run, environment

from attnlib.experiments import runs
from attnlib.experiments.plan import read_plan
from attnlib.experiments.training import count_macs, count_parameters, train_from_config

OF_GRAMMAR = ("comparison", "places", "successors")
PROBES = json.loads(Path(__file__).with_name("probes.json").read_text())


def test_lines_are_read_as_they_were_written_and_replaced_by_those_of_the_same_run(tmp_path):
    lines = [{"model": name, "seed": seed, "x": 0.1 + seed / 3, "y": None} for name in "ba" for seed in (10, 9)]
    add_lines(lines, "some", tmp_path)
    add_lines([{"model": "a", "seed": 10, "x": 5.0, "y": 1.0}], "some", tmp_path, order=["b", "a"])
    table = runs.read_table("some", tmp_path)
    assert [*zip(table.model, table.seed, strict=True)] == [("b", 9), ("b", 10), ("a", 9), ("a", 10)]
    assert table.x.tolist() == [0.1 + 9 / 3, 0.1 + 10 / 3, 0.1 + 9 / 3, 5.0]
    assert table.y.isna().tolist() == [True, True, True, False]
    assert [path.name for path in tmp_path.glob("[a-z]*")] == ["some.csv"]
    assert runs.read_table("other", tmp_path).empty


def run_of(plan, model, seed, exact, **details):
    line = {"model": model, "test_set": "seen lengths", "seed": seed, "exact_match": exact}
    about = {"plan": plan.digest, "model": model, "seed": seed, "losses": [3.0, 2.0], "correct": f"{seed:02x}40"}
    return Run(
        {"": [line]}, about | {"alignment_offsets": None, "losses_by_position": [[4.0], [3.0, 2.0], [1.0]]} | details
    )


@pytest.fixture
def folder(small, tmp_path) -> Path:
    """Three runs of one model, one of another."""
    offsets = {"seen lengths": [1, *[0] * 4, 3, *[0] * 4, 2]}
    for seed in (12, 10, 11):
        add_run(run_of(small, "bahdanau", seed, 1 / seed, alignment_offsets=offsets), small, tmp_path)
    add_run(run_of(small, "no-attention", 10, 0.0), small, tmp_path)
    return tmp_path


def test_runs_are_tables(small, folder):
    table = runs.load_runs(small, folder=folder)
    of_bahdanau = [("bahdanau", seed) for seed in (10, 11, 12)]
    assert [*zip(table.model, table.seed, strict=True)] == [("no-attention", 10), *of_bahdanau]
    assert table.exact_match.tolist() == [0.0, 1 / 10, 1 / 11, 1 / 12]
    losses = runs.load_losses_by_position(small, folder).query("model == 'bahdanau' and seed == 11")
    assert losses[["clauses", "position", "loss"]].to_numpy().tolist() == [[1, 3, 4], [2, 3, 3], [2, 8, 2], [4, 3, 1]]
    offsets = runs.load_alignment_offsets(small, folder).groupby("offset")["links"].sum()
    assert offsets[offsets > 0].to_dict() == {-5: 3, 0: 9, 5: 6}


def test_which_sentences_are_right(small, folder):
    """Seed 11 has the bits 0b00001011 01000000: the sentences 4, 6, 7 and 9; of these seen, of bahdanau, 4."""
    assert runs.load_correct(small, "bahdanau", folder=folder).shape == (3, 6)
    assert runs.load_correct(small, "bahdanau", folder=folder)[1].nonzero()[0].tolist() == [4]
    assert runs.load_correct(small, "bahdanau", "longer", folder)[1].tolist() == [True, True, False]


def test_the_rate_with_the_least_loss_is_best(small, tmp_path):
    losses = {0.002: (2.0, 2.0), 0.01: (1.5, 1.5), 0.05: (1.0, None)}
    lines = [
        {"tuning_group": "early", "learning_rate": rate, "seed": seed, "loss": loss, "plan": small.digest}
        for rate, both in losses.items()
        for seed, loss in enumerate(both)
    ]
    add_lines(lines, "small.learning_rates", tmp_path)
    assert runs.best_learning_rate(small, "early", tmp_path) == 0.01
    assert [*runs.load_learning_rates(small, tmp_path)] == ["tuning_group", "learning_rate", "seed", "loss"]


def test_a_model_fails_when_all_its_runs_are_there_and_one_is_below_the_bar(small, tmp_path):
    for seed in range(10, 16):
        assert runs.failed_configs(small, tmp_path) == []
        add_run(run_of(small, "local-p", seed, 0.25 if seed == 10 else 1.0), small, tmp_path)
    (config,) = runs.failed_configs(small, tmp_path)
    assert (config.name, config.max_steps, config.num_pairs) == ("local-p-times2", 40, 120)
    assert config.seeds == (10, 11, 12, 13, 14), "five at most"


def test_what_is_missing_or_of_another_plan_is_refused(small, folder, refused, tmp_path):
    for call, says in (
        (lambda: runs.load_runs(small, "length"), "by is 'length'; expected one of test_set, clauses, words"),
        (lambda: runs.best_learning_rate("comparison", "nobody"), "group is 'nobody'; expected a tuning group"),
    ):
        refused(call, says)
    for name in ("small.jsonl", "small.learning_rates.csv"):
        path = folder / name
        path.write_text(path.read_text().replace(small.digest, "0" * 64) if path.exists() else "loss,plan\n1,0\n")
    for load in (runs.load_runs, runs.load_alignment_offsets, runs.load_learning_rates):
        refused(lambda load=load: load(small, folder=folder), "of another plan; expected .* with the hash of small")


def test_without_git_the_revision_is_unknown(monkeypatch):
    environment.cache_clear()
    monkeypatch.setenv("PATH", "")
    assert environment()["revision"] == "unknown"
    environment.cache_clear()


@pytest.mark.parametrize("name", OF_GRAMMAR)
def test_all_runs_of_a_plan_are_there_at_the_chosen_rates_of_one_committed_revision(name):
    plan, details = read_plan(name), runs.read_details(name)
    configs = [*plan.configs.values(), *runs.failed_configs(plan)]
    wanted = {(config.name, seed): config for config in configs for seed in config.seeds}
    assert {(run["model"], run["seed"]) for run in details} == wanted.keys()
    rates = {group: runs.best_learning_rate(plan, group) for group in plan.tuning_groups}
    assert all(run["learning_rate"] == rates[wanted[run["model"], run["seed"]].tuning_group] for run in details)
    of_rates = runs.read_table(f"{name}.learning_rates")["revision"]
    (revision,) = {*of_rates, *(run["environment"]["revision"] for run in details)}
    assert not revision.endswith("+")
    for by in runs.BY:
        assert runs.load_runs(plan, by).groupby(["model", "seed"]).ngroups == len(wanted)


def test_each_run_on_sentences_has_its_settings_and_the_same_text():
    plan, texts, details = read_plan("sentences"), {}, runs.read_details("sentences")
    assert {(run["model"], run["seed"]) for run in details} == {(config.name, seed) for config, seed in plan.runs()}
    for run in details:
        config = plan.configs[run["model"]]
        assert with_current_names(run["settings"]) == asdict(settings_of(config, run["seed"]))
        assert run["effort"] == plan.contents["effort"]
        assert texts.setdefault((config.language, config.num_pairs), run["text"]) == run["text"]
    assert len({text["test"] for (language, _), text in texts.items() if language == "german"}) == 1


@pytest.mark.parametrize("name", PROBES)
def test_the_recorded_runs_are_those_of_this_code(name):
    """Ten steps in miniature: another processor changes their losses by less than a millionth of their size."""
    plan, _, model = name.partition("/")
    recorded = read_plan(plan).configs[model]
    sizes = {"embedding_dim": 16, "hidden_size": 16, "num_pairs": 200, "max_tokens": 200, "max_steps": 10}
    made, history = train_from_config(recorded.replace(**sizes, learning_rate=1e-2), seed=0)
    assert history.losses == pytest.approx(PROBES[name]["losses"], rel=2e-5)
    assert count_parameters(made) == PROBES[name]["parameters"]
    assert count_macs(made, 20, 19) == PROBES[name]["macs"]
