"""Recorded runs: read as they were written, of their plan's configurations, and at the chosen rates."""

import json
from pathlib import Path

import numpy as np
import pytest
from sentences import search_of, settings_of
from tables import Run, add_run, write_lines

from attnbook.experiments import Recording, count_macs, count_parameters, read_plan, read_table, train_from_config
from attnbook.experiments.ledger import judge_plan, second_round
from attnbook.experiments.plan import PLANS
from attntext.loss import fused_backward
from attntext.settings import TrainingConfig

PROBES = json.loads(Path(__file__).with_name("probes.json").read_text())


def test_lines_are_read_as_they_were_written_and_replaced_by_those_of_the_same_run(tmp_path):
    lines = [{"model": name, "seed": seed, "x": 0.1 + seed / 3, "y": None} for name in "ba" for seed in (10, 9)]
    write_lines(lines, "some", tmp_path)
    write_lines([{"model": "a", "seed": 10, "x": 5.0, "y": 1.0}], "some", tmp_path, order=["b", "a"])
    table = read_table("some", tmp_path)
    assert [*zip(table.model, table.seed, strict=True)] == [("b", 9), ("b", 10), ("a", 9), ("a", 10)]
    assert table.x.tolist() == [0.1 + 9 / 3, 0.1 + 10 / 3, 0.1 + 9 / 3, 5.0]
    assert table.y.isna().tolist() == [True, True, True, False]
    assert [path.name for path in tmp_path.glob("[a-z]*")] == ["some.csv"]
    assert read_table("other", tmp_path).empty


def run_of(plan, model, seed, exact):
    line = {"model": model, "clauses": 1, "seed": seed, "exact_match": exact}
    digest = plan.configs[model].digest
    losses = {"losses_by_position": [[4.0], [3.0, 2.0], [1.0]]}
    return Run({"": [line]}, losses | {"model": model, "seed": seed, "config": digest, "correct": f"{seed:02x}40"})


@pytest.fixture
def folder(small, tmp_path) -> Path:
    """Three runs of one model, one of another."""
    for seed in (12, 10, 11):
        add_run(run_of(small, "bahdanau", seed, 1 / seed), small, tmp_path)
    add_run(run_of(small, "no-attention", 10, 0.0), small, tmp_path)
    return tmp_path


def test_runs_are_tables(small, folder):
    recording = Recording(small, folder)
    table = recording.runs()
    of_bahdanau = [("bahdanau", seed) for seed in (10, 11, 12)]
    assert [*zip(table.model, table.seed, strict=True)] == [("no-attention", 10), *of_bahdanau]
    assert table.exact_match.tolist() == pytest.approx([0.0, 1 / 10, 1 / 11, 1 / 12])
    losses = recording.losses_by_position().query("model == 'bahdanau' and seed == 11")
    assert losses[["clauses", "position", "loss"]].to_numpy().tolist() == [[1, 3, 4], [2, 3, 3], [2, 8, 2], [4, 3, 1]]


def test_half_a_run_is_not_recorded(small, folder):
    recorded = {("no-attention", 10), *(("bahdanau", seed) for seed in (10, 11, 12))}
    line = {"model": "no-attention", "clauses": 4, "seed": 11, "exact_match": 0.5}
    write_lines([line], "small", folder)
    recording = Recording(small, folder)
    assert recording.recorded == recorded
    assert {*recording.runs()[["model", "seed"]].itertuples(index=False, name=None)} == recorded
    assert Recording(small, folder / "empty").runs().empty


def test_which_sentences_are_right(small, folder):
    """Seed 11 has the bits 0b00001011 01000000: the sentences 4, 6, 7 and 9; of these seen, of bahdanau, 4."""
    recording = Recording(small, folder)
    assert recording.correct("bahdanau").shape == (3, 6)
    assert recording.correct("bahdanau")[1].nonzero()[0].tolist() == [4]
    assert recording.correct("bahdanau", 4)[1].tolist() == [True, True, False]
    assert recording.correct("bahdanau", 2)[1].tolist() == [False, True, False]


def rates_of(plan, losses, group="early"):
    digest = plan.tuning_config(group).digest
    about = {"tuning_group": group, "config": digest, "environment": "12345678"}
    return [
        about | {"learning_rate": rate, "seed": seed, "loss": loss}
        for rate, both in losses.items()
        for seed, loss in enumerate(both)
    ]


def test_the_rate_with_the_least_loss_is_best(small, tmp_path, refused):
    lines = rates_of(small, {0.002: (2.0, 2.0), 0.01: (1.5, 1.5), 0.05: (1.0, None)})
    write_lines(lines, "small.learning_rates", tmp_path)
    recording = Recording(small, tmp_path)
    assert recording.best_learning_rate("early") == 0.01
    assert {*recording.learning_rates} == {"tuning_group", "learning_rate", "seed", "loss"}
    refused(lambda: recording.best_learning_rate("late"), "group is 'late'; expected a tuning group with a finite loss")


def test_runs_of_another_configuration_are_refused_by_name(small, small_file, folder, refused):
    write_lines(rates_of(small, {0.01: (1.0,)}), "small.learning_rates", folder)
    text = small_file.read_text()
    other = folder / "small.toml"
    other.write_text(text.replace("num_seeds = 3\nclauses = [1, 2]", "num_seeds = 3\nclauses = [1, 2, 3]"))
    says = "has {} by another configuration; expected those of the plan"
    for load in (lambda x: x.details, lambda x: x.runs()):
        refused(lambda load=load: load(Recording(other, folder)), r"small\.jsonl " + says.format("bahdanau"))
    refused(lambda: Recording(other, folder).learning_rates, r"small\.learning_rates\.csv " + says.format("early"))
    refused(lambda: Recording(small, folder).runs("length"), "by is 'length'; expected one of clauses")


@pytest.mark.parametrize("name", sorted(path.stem for path in PLANS.glob("*.toml")))
def test_recorded_runs_are_at_the_chosen_rates_and_in_all_tables(name):
    recording = Recording(name)
    for run in recording.details:
        config = recording.plan.configs[run["model"]]
        assert run["seed"] in config.seeds
        if config.tuning_group:
            assert run["learning_rate"] == recording.best_learning_rate(config.tuning_group)
    environments = read_table(f"{name}.environments")
    assert {run["environment"] for run in recording.details} <= {*environments.get("id", ())}
    for by in recording.plan.groupings:
        assert recording.runs(by).groupby(["model", "seed"]).ngroups == len(recording.recorded)


def test_a_finished_plan_is_recorded_whole():
    recording = Recording("sentences")
    assert recording.recorded == {(config.name, seed) for config, seed in recording.plan.runs()}


def test_each_run_on_sentences_has_its_settings_and_the_same_text():
    texts, papers = {}, Recording("papers-captions")
    recordings = [Recording("sentences"), papers, second_round(papers, judge_plan(papers))]
    for plan, run in [(recording.plan, run) for recording in recordings for run in recording.details]:
        config = plan.configs[run["model"]]
        assert TrainingConfig(**run["settings"]) == settings_of(config, run["seed"])
        assert run["search"] == search_of(config)
        assert texts.setdefault((config.language, config.num_pairs), run["text"]) == run["text"]
    assert len({text["test"] for (language, _), text in texts.items() if language == "german"}) == 1


@pytest.mark.parametrize("name", PROBES)
def test_the_recorded_runs_are_those_of_this_code(name):
    """Ten steps in miniature: another processor changes their losses by less than a millionth of their size."""
    plan, _, model = name.partition("/")
    recorded = read_plan(plan).configs[model]
    sizes = {"embedding_dim": 16, "hidden_size": 16, "num_pairs": 200, "max_tokens": 200, "max_steps": 10}
    made, history = train_from_config(recorded.replace(**sizes, learning_rate=1e-2), seed=0, backward=fused_backward)
    assert history.losses == pytest.approx(PROBES[name]["losses"], rel=2e-5)
    assert count_parameters(made) == PROBES[name]["parameters"]
    assert count_macs(made, 20, 19) == PROBES[name]["macs"]


@pytest.mark.parametrize("name", Recording("world").costs.index)
def test_recorded_costs_are_those_that_the_code_counts(name):
    recording = Recording("world")
    model, row = recording.plan.configs[name].build_model(0), recording.costs.loc[name]
    assert (count_parameters(model), count_macs(model, 20, 19)) == (row["parameters"], row["macs"])


def test_exact_match_is_the_share_of_the_sentences_recorded_as_right():
    recording = Recording("world")
    shares = recording.runs().set_index(["model", "seed", "clauses"])["exact_match"].sort_index()
    for run in recording.details:
        config = recording.plan.configs[run["model"]]
        bits = np.unpackbits(np.frombuffer(bytes.fromhex(run["correct"]), np.uint8))
        of_length = bits[: len(config.test_clauses) * config.num_test_sentences].reshape(len(config.test_clauses), -1)
        assert shares.loc[run["model"], run["seed"]].to_numpy() == pytest.approx(of_length.mean(axis=1), abs=1e-4)


@pytest.mark.parametrize("name", ["local-m", "local-m-D10", "local-m-reordering-0"])
def test_links_in_a_moving_window_are_those_that_can_be_counted(name):
    recording = Recording("world")
    config = recording.plan.configs[name]
    runs = recording.runs().query("model == @name").groupby("clauses")["links_in_window"]
    for clauses in config.clauses:
        pairs = config.test_sentences(clauses)
        away = [abs(i - min(t, len(pair.source))) for pair in pairs for i, t in pair.links]
        inside = np.mean(np.array(away) <= config.options["half_width"])
        assert runs.get_group(clauses).to_numpy() == pytest.approx(inside, abs=1e-4)
