"""The runs of a plan, with runs that take no time: shared, killed and gone on with, each is done once."""

import json
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from attnlib.experiments import runner
from attnlib.experiments.measures import grouped
from attnlib.experiments.records import Ledger
from attnlib.experiments.runner import chosen_rate, lost_rows, main, measure_costs, missing, work

RATES = ("0.002", "0.01", "0.05")
BEST_IN_THE_MIDDLE = dict(zip(RATES, (2.0, 1.0, 3.0), strict=True))
WHOLE = {"no-attention": 2, "bahdanau": 3, "local-p": 2, "local-p-times2": 2, "rate-early": 6, "rate-late": 6}
FAKES = textwrap.dedent("""
    import time
    from attnlib.experiments import runner

    def rate(row, seed, rate, clauses):
        return {"loss": abs(rate - 0.01)}

    def row(row, seed, rate):
        time.sleep(pause)
        return {"learning_rate": rate, "measures": {"exact": [seed / 100]}}

    runner.measure_rate, runner.measure, runner._row_head = rate, row, lambda row: {"groups": ["within"]}
""")


@pytest.fixture
def ledger(small, tmp_path) -> Ledger:
    return Ledger(small, tmp_path)


@pytest.fixture
def fakes(monkeypatch):
    for name in ("measure_rate", "measure", "_row_head"):
        monkeypatch.setattr(runner, name, getattr(runner, name))
    exec(FAKES, {"pause": 0})


def script(small_file, folder):
    return f"""
pause = 0.02
{FAKES}
from pathlib import Path
from attnlib.experiments.plan import read_plan
from attnlib.experiments.records import Ledger
from attnlib.experiments.runner import missing, work
print("begun", flush=True)
work(Ledger(read_plan(Path({str(small_file)!r})), Path({str(folder)!r})), missing, lambda line: print(line, flush=True))
"""


def recorded(small, folder: Path) -> dict[str, int]:
    return {path.stem: len(Ledger(small, folder).runs(path.stem)) for path in folder.glob("*.json")}


def test_every_run_is_recorded_once_and_said(fakes, ledger, small, tmp_path):
    messages = []
    work(ledger, missing, say=messages.append)
    assert recorded(small, tmp_path) == WHOLE
    runs = [line.split(":")[0] for line in messages]
    assert len(set(runs)) == len(runs) == sum(WHOLE.values())
    assert runs[0] == "rate-early 0.002/100"
    assert runs[-1] == "local-p-times2 11"
    run = Ledger(small, tmp_path).runs("bahdanau")["12"]
    assert (run["learning_rate"], run["measures"]["exact"]) == (0.01, [0.12])
    assert run["seconds"] >= 0
    assert "processor" in run["environment"]


def test_several_at_once_one_of_them_killed_record_each_run_once(small, small_file, tmp_path):
    folder = tmp_path / "runs"
    command = [sys.executable, "-c", script(small_file, folder)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for process in processes:
        assert process.stdout.readline() == "begun\n"
    while not (folder / "local-p.json").is_file():
        assert processes[0].poll() is None, "it ended without a row"
        time.sleep(0.005)
    processes[0].kill()
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes[1:]] == [0, 0]
    assert recorded(small, folder) == WHOLE
    done = [line.split(":")[0] for text in outputs for line in text.splitlines() if line.endswith("seconds")]
    assert len(set(done)) == len(done) >= sum(WHOLE.values()) - 1, "the killed one may not have said its last"


def test_a_share_does_its_rows_and_one_without_the_rest(fakes, ledger, small, tmp_path):
    work(ledger, partial(missing, share=slice(0, None, 2)), say=str)
    rates = {"rate-early": 6, "rate-late": 6}
    assert recorded(small, tmp_path) == rates | {"local-p": 1, "no-attention": 2, "bahdanau": 1}
    work(ledger, missing, say=str)
    assert recorded(small, tmp_path) == WHOLE


def test_a_run_that_cannot_be_trained_is_named_and_left_out(fakes, monkeypatch, ledger, small, tmp_path):
    proper, messages = runner.measure, []

    def fail(row, seed, rate):
        if row.variant.name == "bahdanau" and seed == 11:
            raise FloatingPointError("loss is nan at step 3")
        return proper(row, seed, rate)

    monkeypatch.setattr(runner, "measure", fail)
    work(ledger, missing, say=messages.append)
    assert recorded(small, tmp_path) == WHOLE | {"bahdanau": 2}
    assert messages.count("bahdanau 11: loss is nan at step 3") == 1


def test_costs_are_measured_in_one_sitting(monkeypatch, small, tmp_path):
    monkeypatch.setattr(runner, "ProcessPoolExecutor", lambda n, mp_context, initializer: ThreadPoolExecutor(n))
    monkeypatch.setattr(runner, "benchmark", lambda variant, budget: {"words_per_second": budget.hid})
    messages = []
    measure_costs(Ledger(small, tmp_path / "new"), messages.append)
    record = json.loads((tmp_path / "new" / "costs.json").read_text())
    assert record["plan"] == small.digest
    assert record["costs"] == {name: {"words_per_second": row.budget.hid} for name, row in small.rows.items()}
    assert len(messages) == 3
    assert "torch" in record["environment"]


def test_the_command(monkeypatch, capsys, ledger, small):
    asked = []
    monkeypatch.setattr(runner, "read_plan", lambda name: asked.append(name) or small)
    monkeypatch.setattr(runner, "ProcessPoolExecutor", lambda n, mp_context, initializer: ThreadPoolExecutor(n))
    monkeypatch.setattr(runner, "work", lambda ledger, listed, say: asked.append((ledger.folder, [*listed(ledger)])))
    monkeypatch.setattr(runner, "measure_costs", lambda ledger, say: asked.append("costs"))
    assert main(["--workers", "1", "--folder", str(ledger.folder)]) == 0
    ((name, (folder, jobs)),) = [asked]
    assert (name, folder) == ("comparison", ledger.folder)
    assert [job[:2] for job in jobs] == listed(ledger)
    have_rates(ledger)
    main(["other", "--share", "2/5", "--folder", str(ledger.folder)])
    assert asked[2] == "other"
    assert [[job[:2] for job in jobs] for _, jobs in asked[3:]] == [listed(ledger)[1::5]] * 2, "two workers"
    main(["--costs"])
    assert asked[-1] == "costs"
    for wrong, says in (("--only=x", "learns from no text; expected no --only"), ("--workers=0", "workers is 0")):
        assert main([wrong]) == 2
        assert says in capsys.readouterr().err
    monkeypatch.undo()
    assert main(["nope"]) == 2
    assert "plan is 'nope'; expected one of comparison, places, " in capsys.readouterr().err
    for wrong in ("0/5", "6/5", "2", "2/5/1", "-1/5"):
        with pytest.raises(SystemExit):
            main([f"--share={wrong}"])
        assert f"share is '{wrong}'; expected one as 2/5" in capsys.readouterr().err


def tried(ledger, family, losses):
    """Record losses of both seeds, by rate."""
    for rate, loss in losses.items():
        for seed in (100, 101):
            ledger.add(f"rate-{family}", f"{rate}/{seed}", {"loss": loss}, dict)


def have_rates(ledger):
    for family in ("early", "late"):
        tried(ledger, family, BEST_IN_THE_MIDDLE)


def ran(ledger, name, *exact):
    for seed, figure in enumerate(exact, start=10):
        ledger.add(name, str(seed), {"measures": {"exact": [figure]}}, lambda: {"groups": ["within"]})


def listed(ledger):
    return [job[:2] for job in missing(ledger)]


def test_learning_rates_come_first(ledger):
    rates = [f"{rate}/{seed}" for seed in (100, 101) for rate in RATES]
    assert listed(ledger) == [(f"rate-{family}", rate) for family in ("early", "late") for rate in rates]
    assert chosen_rate(ledger, "early") is None


def test_then_the_rows_whose_rate_is_chosen_by_phase_and_seed(ledger):
    tried(ledger, "early", BEST_IN_THE_MIDDLE)
    rows = [("no-attention", "10"), ("bahdanau", "10"), ("no-attention", "11"), ("bahdanau", "11"), ("bahdanau", "12")]
    assert listed(ledger)[6:] == rows
    assert {name for name, _ in listed(ledger)[:6]} == {"rate-late"}
    tried(ledger, "late", dict(zip(RATES, (2.0, 1.0, None), strict=True)))
    assert listed(ledger) == [("local-p", "10"), ("local-p", "11"), *rows]
    ran(ledger, "bahdanau", 0.75)
    assert listed(ledger) == [("local-p", "10"), ("local-p", "11"), rows[0], *rows[2:]]


def test_the_rate_with_the_least_loss_is_chosen(ledger):
    tried(ledger, "early", {"0.002": 2.0, "0.01": 1.5})
    assert chosen_rate(ledger, "early") is None, "one has no runs yet"
    ledger.add("rate-early", "0.05/100", {"loss": 1.25}, dict)
    assert chosen_rate(ledger, "early") is None, "one seed is missing"
    ledger.add("rate-early", "0.05/101", {"loss": 1.76}, dict)
    assert chosen_rate(ledger, "early") == 0.01, "1.5 is less than the mean of 1.25 and 1.76"


@pytest.mark.parametrize(
    ("losses", "next_rates", "more", "chosen"),
    [
        ((1.0, 2.0, 3.0), ["0.001"], {"0.001": 0.5, "0.0005": 0.75}, 0.001),
        ((3.0, 2.0, 1.0), ["0.1"], {"0.1": 1.5}, 0.05),
        ((3.0, 2.0, 1.0), ["0.1"], {"0.1": None}, 0.05),
    ],
)
def test_while_the_best_is_the_last_another_is_tried(ledger, losses, next_rates, more, chosen):
    tried(ledger, "early", dict(zip(RATES, losses, strict=True)))
    keys = [key for name, key in listed(ledger) if name == "rate-early"]
    assert keys == [f"{rate}/{seed}" for seed in (100, 101) for rate in next_rates]
    tried(ledger, "early", more)
    assert chosen_rate(ledger, "early") == chosen


def test_a_family_that_no_rate_trains_is_an_error(ledger):
    tried(ledger, "early", dict.fromkeys(RATES))
    with pytest.raises(ValueError, match=r"no learning rate of .* trains the family early"):
        chosen_rate(ledger, "early")


def test_a_row_that_loses_a_run_is_trained_again(ledger):
    have_rates(ledger)
    ran(ledger, "bahdanau", 0.0, 0.0, 0.0)  # not of a table whose rows may be lost
    ran(ledger, "no-attention", 0.0, 0.0)
    ran(ledger, "local-p", 0.25)
    assert lost_rows(ledger) == [], "not all of its runs are recorded"
    ran(ledger, "local-p", 0.25, 1.0)
    (row,) = lost_rows(ledger)
    assert (row.variant.name, row.budget.steps) == ("local-p-times2", 40)
    assert listed(ledger) == [("local-p-times2", "10"), ("local-p-times2", "11")]
    ran(ledger, "local-p", 0.5, 1.0)
    assert lost_rows(ledger) == []


def test_a_job_does_what_it_says(ledger, small, monkeypatch):
    """Recording who is called, and with what; what they give, their own tests say."""
    for name in ("measure_rate", "measure", "probe"):
        monkeypatch.setattr(runner, name, lambda *given, name=name, **more: {"called": (name, *given, *more.values())})
    rate = next(missing(ledger))
    row = small.shortened(small.rows["bahdanau"])
    assert rate.run() == {"called": ("measure_rate", row, 100, 0.002, [1, 2])}
    assert rate.head()["settings"]["budget"]["steps"] == 10
    have_rates(ledger)
    job, row = next(missing(ledger)), small.rows["local-p"]
    assert job.run() == {"called": ("measure", row, 10, 0.01)}
    head = job.head()
    assert head["probe"]["called"] == ("probe", row.variant)
    assert head["settings"]["budget"]["test_seed"] == 2000
    assert head["settings"]["options"] == row.variant.options
    assert head["groups"] == [*grouped(row.variant, row.budget)]
    assert json.loads(json.dumps(head["settings"]))["budget"]["test_clauses"] == [1, 2, 4]


def test_the_package_is_a_command():
    command = [sys.executable, "-m", "attnlib.experiments", "--help"]
    assert "python -m attnlib.experiments" in subprocess.run(command, check=True, capture_output=True, text=True).stdout
