"""The runs of a plan, with runs that take no time: shared, killed and gone on with, each is done once."""

import json
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from attnlib.experiments import jobs, runner
from attnlib.experiments.ledger import Ledger
from attnlib.experiments.runner import main, measure_costs, work
from attnlib.experiments.shares import Share

WHOLE = {"no-attention": 2, "bahdanau": 3, "local-p": 2, "local-p-times2": 2, "rate-early": 6, "rate-late": 6}
FAKES = textwrap.dedent("""
    import time
    from attnlib.experiments import jobs

    def rate(row, seed, rate, clauses):
        return {"loss": abs(rate - 0.01)}

    def row(row, seed, rate):
        time.sleep(pause)
        return {"learning_rate": rate, "measures": {"exact": [seed / 100]}}

    jobs._rate_run, jobs._row_run, jobs._row_head = rate, row, lambda row: {"groups": ["within"]}
""")


@pytest.fixture
def fakes(monkeypatch):
    for name in ("_rate_run", "_row_run", "_row_head"):
        monkeypatch.setattr(jobs, name, getattr(jobs, name))
    exec(FAKES, {"pause": 0})


def script(small_file, folder, share=None):
    return f"""
pause = 0.02
{FAKES}
from pathlib import Path
from attnlib.experiments.runner import work
from attnlib.experiments.shares import Share
print("begun", flush=True)
work(Path({str(small_file)!r}), Path({str(folder)!r}), {share!r}, lambda said: print(said, flush=True))
"""


def recorded(small, folder: Path) -> dict[str, int]:
    return {path.stem: len(Ledger(small, folder).runs(path.stem)) for path in folder.glob("*.json")}


def test_every_run_is_recorded_once_and_said(fakes, small, small_file, tmp_path):
    said = []
    work(small_file, tmp_path, say=said.append)
    assert recorded(small, tmp_path) == WHOLE
    runs = [line.split(":")[0] for line in said[::2]]
    assert len(set(runs)) == len(runs) == sum(WHOLE.values())
    assert runs[0] == "rate-early 0.002/100"
    assert runs[-1] == "local-p-times2 11"
    assert said[-1] == "0 runs can be begun now; all are done in about 0:00 hours"
    run = Ledger(small, tmp_path).runs("bahdanau")["12"]
    assert (run["learning_rate"], run["measures"]["exact"]) == (0.01, [0.12])
    assert run["seconds"] >= 0
    assert "processor" in run["environment"]


def test_what_is_recorded_is_not_run_again(fakes, monkeypatch, small_file, tmp_path):
    work(small_file, tmp_path, say=str)
    before = {path: path.read_bytes() for path in tmp_path.glob("*.json")}
    monkeypatch.setattr(jobs, "_row_run", None)
    work(small_file, tmp_path, say=str)
    assert {path: path.read_bytes() for path in tmp_path.glob("*.json")} == before


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
    said = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes[1:]] == [0, 0]
    assert recorded(small, folder) == WHOLE
    done = [line.split(":")[0] for text in said for line in text.splitlines() if line.endswith("seconds")]
    assert len(set(done)) == len(done) >= sum(WHOLE.values()) - 1, "the killed one may not have said its last"


def test_a_share_does_its_rows_and_one_without_the_rest(fakes, small, small_file, tmp_path):
    work(small_file, tmp_path, Share(1, 2), say=str)
    rates = {"rate-early": 6, "rate-late": 6}
    assert recorded(small, tmp_path) == rates | {"local-p": 1, "no-attention": 2, "bahdanau": 1}
    work(small_file, tmp_path, say=str)
    assert recorded(small, tmp_path) == WHOLE


def test_a_run_that_cannot_be_trained_is_named_and_left_out(fakes, monkeypatch, small, small_file, tmp_path):
    proper, said = jobs._row_run, []

    def fail(row, seed, rate):
        if row.variant.name == "bahdanau" and seed == 11:
            raise FloatingPointError("loss is nan at step 3")
        return proper(row, seed, rate)

    monkeypatch.setattr(jobs, "_row_run", fail)
    work(small_file, tmp_path, say=said.append)
    assert recorded(small, tmp_path) == WHOLE | {"bahdanau": 2}
    assert said.count("bahdanau 11: loss is nan at step 3") == 1


def test_another_error_ends_it_and_keeps_what_was_done(fakes, monkeypatch, small, small_file, tmp_path):
    monkeypatch.setattr(jobs, "_row_run", lambda *_: {}["nothing"])
    with pytest.raises(KeyError):
        work(small_file, tmp_path, say=str)
    assert recorded(small, tmp_path) == {"rate-early": 6, "rate-late": 6}


def test_the_time_left_is_that_of_all_that_is_left(fakes, monkeypatch, small_file, tmp_path):
    """A clock that ticks by an hour a run: what is left takes as many hours as there are runs of one size."""
    said, ticks = [], iter(range(0, 10**9, 1800))
    monkeypatch.setattr(runner.time, "perf_counter", lambda: float(next(ticks)))
    monkeypatch.setattr(jobs, "_size", lambda *_: 1.0)
    work(small_file, tmp_path, say=said.append)
    hours = [line.rpartition("about ")[2] for line in said[1::2]]
    left = [int(text.partition(":")[0]) for text in hours]
    assert left[0] > left[10] > left[-1] == 0


def test_costs_are_measured_in_one_sitting(monkeypatch, small, small_file, tmp_path):
    monkeypatch.setattr(runner, "ProcessPoolExecutor", lambda n, mp_context, initializer: ThreadPoolExecutor(n))
    monkeypatch.setattr(runner, "benchmark", lambda variant, budget: {"words_per_second": budget.hid})
    said = []
    measure_costs(small_file, tmp_path / "new", said.append)
    found = json.loads((tmp_path / "new" / "costs.json").read_text())
    assert found["plan"] == small.digest
    assert found["costs"] == {name: {"words_per_second": row.budget.hid} for name, row in small.rows.items()}
    assert len(said) == 3
    assert "torch" in found["environment"]


def test_the_command(monkeypatch, capsys, fakes, tmp_path):
    asked = []
    monkeypatch.setattr(runner, "work", lambda *given: asked.append(given[:3]))
    monkeypatch.setattr(runner, "measure_costs", lambda *given: asked.append(("costs", *given[:2])))
    main(["--workers", "1"])
    main(["comparison", "--workers", "1", "--share", "2/5", "--folder", str(tmp_path)])
    main(["--costs"])
    assert asked == [
        ("comparison", None, None),
        ("comparison", tmp_path, Share(2, 5)),
        ("costs", "comparison", None),
    ]
    for wrong in ("0/5", "6/5", "2", "2/5/1", "-1/5"):
        with pytest.raises(SystemExit):
            main([f"--share={wrong}"])
        assert f"share is '{wrong}'; expected one as 2/5" in capsys.readouterr().err


def test_what_is_recorded_is_listed(capsys, fakes, monkeypatch, small, tmp_path):
    monkeypatch.setattr(runner, "read_plan", lambda _: small)
    main(["--list", "--folder", str(tmp_path)])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["rate-early", "not", "chosen", "yet"]
    assert lines[-1] == ["local-p", "0", "of", "2"]


def test_two_workers_share_the_work(monkeypatch):
    asked = []
    monkeypatch.setattr(runner, "ProcessPoolExecutor", lambda n, mp_context, initializer: ThreadPoolExecutor(n))
    monkeypatch.setattr(runner, "work", lambda *given: asked.append(given[:3]))
    main([])
    assert asked == [("comparison", None, None)] * 2


@pytest.mark.parametrize(("rows", "n"), [(0, 1), (1, 3), (7, 1), (7, 2), (7, 3), (7, 11), (360, 7)])
def test_shares_deal_each_row_out_once(rows, n):
    dealt = [Share(k, n).of(range(rows)) for k in range(1, n + 1)]
    assert sorted(row for share in dealt for row in share) == list(range(rows))
    assert max(map(len, dealt)) - min(map(len, dealt)) <= 1


def test_the_package_is_a_command():
    command = [sys.executable, "-m", "attnlib.experiments", "--help"]
    assert "python -m attnlib.experiments" in subprocess.run(command, check=True, capture_output=True, text=True).stdout
