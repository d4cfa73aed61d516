"""The runner: row by row, resumed after any end, begun anew when settings or code are others."""

import json
import re
import shutil
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr
from dataclasses import replace
from io import StringIO
from pathlib import Path

import psutil
import pytest

from attnlib.experiments import runner
from attnlib.experiments.record import read, write
from attnlib.experiments.runner import main, record_all, stale
from attnlib.experiments.shares import Share, shares_of
from attnlib.experiments.variants import VARIANTS, Budget

SMALL = Budget(emb=5, hid=4, pairs=40, words=150, steps=3, test_clauses=(1, 4), test_sentences=2, width=2)
NAMES = ["no-attention", "local-p-general-D2"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> tuple[Path, str]:
    """Two variants, recorded without an interruption, and what the bar showed."""
    folder, bar = tmp_path_factory.mktemp("results"), StringIO()
    with redirect_stderr(bar):
        record_all(NAMES, budget=SMALL, folder=folder, progress=True)
    return folder, bar.getvalue()


@pytest.fixture
def copied(shown, tmp_path) -> Path:
    return Path(shutil.copytree(shown[0], tmp_path / "results"))


def rows(folder: Path, name: str) -> dict:
    return read(name, folder)["rows"]


def count(folder: Path) -> int:
    return sum(len(rows(folder, name)) for name in NAMES if (folder / f"{name}.json").is_file())


def test_each_row_and_cost_is_recorded(shown):
    for name in NAMES:
        record = read(name, shown[0])
        assert record["settings"] == VARIANTS[name].settings(SMALL)
        assert [*record["rows"]] == [str(seed) for seed in VARIANTS[name].seeds]
        assert record["cost"]["parameters"] > 0
    assert stale(NAMES, SMALL, shown[0]) == []


def test_what_is_recorded_is_not_run_again(copied, monkeypatch):
    monkeypatch.setattr(runner, "_row", None)
    monkeypatch.setattr(runner, "_cost", None)
    before = {path.name: path.read_bytes() for path in copied.iterdir()}
    record_all(NAMES, budget=SMALL, folder=copied, progress=False)
    assert {path.name: path.read_bytes() for path in copied.iterdir()} == before


def test_only_what_is_missing_is_run(copied):
    name = NAMES[1]
    record = read(name, copied)
    kept = record["rows"]["0"] | {"losses": [123.0]}
    write(record | {"rows": {"0": kept, "2": record["rows"]["2"]}}, copied)
    assert stale(NAMES, SMALL, copied) == [name]
    record_all(NAMES, budget=SMALL, folder=copied, progress=False)
    assert rows(copied, name) == record["rows"] | {"0": kept}


def test_rows_under_other_settings_are_begun_anew(copied):
    other = replace(SMALL, steps=4)
    assert stale(NAMES, other, copied) == NAMES
    record_all(NAMES[1:], budget=other, folder=copied, progress=False)
    assert stale(NAMES, other, copied) == NAMES[:1]
    assert read(NAMES[1], copied)["settings"]["budget"]["steps"] == 4


@pytest.mark.parametrize(("factor", "begun_anew"), [(1 + 1e-6, False), (1 + 1e-3, True)])
def test_rows_of_another_probe_are_begun_anew(copied, factor, begun_anew):
    name = NAMES[1]
    record = read(name, copied)
    marked = record["rows"] | {"0": record["rows"]["0"] | {"losses": [123.0]}}
    losses = [loss * factor for loss in record["probe"]["losses"]]
    write(record | {"rows": marked, "probe": record["probe"] | {"losses": losses}}, copied)
    assert stale(NAMES, SMALL, copied) == [name] * begun_anew
    record_all([name], budget=SMALL, folder=copied, progress=False)
    assert rows(copied, name) == (record["rows"] if begun_anew else marked)
    assert read(name, copied)["probe"]["losses"] == (record["probe"]["losses"] if begun_anew else losses)


def test_killed_it_goes_on_where_it_was(shown, tmp_path):
    """Killed without warning after a row, twice; nothing half written, no process left, and the same in the end."""
    folder, script = tmp_path / "results", tmp_path / "go.py"
    script.write_text(
        textwrap.dedent(f"""
        from pathlib import Path
        from attnlib.experiments import Budget
        from attnlib.experiments.runner import record_all

        if __name__ == "__main__":
            record_all({NAMES!r}, budget={SMALL!r}, folder=Path({str(folder)!r}), progress=False)
        """)
    )
    for _ in range(2):
        before = count(folder)
        process = subprocess.Popen([sys.executable, script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while count(folder) == before:
            assert process.poll() is None, "it ended without a new row"
            time.sleep(0.005)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait()
        assert not psutil.wait_procs(children, timeout=300)[1]
    assert 2 <= count(folder) < 8
    record_all(NAMES, budget=SMALL, folder=folder, progress=False)
    for name in NAMES:
        assert rows(folder, name) == rows(shown[0], name)
    assert {path.name for path in folder.iterdir()} == {f"{name}.json" for name in NAMES}


@pytest.mark.parametrize(("rows", "n"), [(0, 1), (1, 3), (7, 1), (7, 2), (7, 3), (7, 11), (360, 7)])
def test_shares_deal_each_row_out_once(rows, n):
    dealt = [Share(k, n).of(range(rows)) for k in range(1, n + 1)]
    assert sorted(row for share in dealt for row in share) == list(range(rows))
    assert max(map(len, dealt)) - min(map(len, dealt)) <= 1


@pytest.fixture
def at_once(monkeypatch):
    """Run rows in this process, which starts none."""
    monkeypatch.setattr(runner, "_pool", ThreadPoolExecutor)


def test_two_shares_at_once_and_a_run_that_joins_them_record_what_one_run_does(shown, tmp_path, at_once):
    """The second share is killed after a row and begun again, and neither touches the other's files."""
    folder, script = tmp_path / "results", tmp_path / "go.py"
    script.write_text(
        textwrap.dedent(f"""
        import sys
        from concurrent.futures import ThreadPoolExecutor
        from pathlib import Path
        import torch
        from attnlib.experiments import Budget, runner
        from attnlib.experiments.shares import Share

        if __name__ == "__main__":
            share = Share.written(sys.argv[1])
            runner._pool = ThreadPoolExecutor
            torch.set_num_threads(1)
            options = dict(folder=Path({str(folder)!r}), progress=False, workers=1)
            runner.record_all({NAMES!r}, budget={SMALL!r}, share=share, **options)
        """)
    )
    one, other = (subprocess.Popen([sys.executable, script, share]) for share in ("1/2", "2/2"))
    while not (begun := [*folder.glob("*.2of2.json")]):
        assert other.poll() is None, "it ended without a row"
        time.sleep(0.005)
    other.kill()
    assert one.wait() == 0
    assert other.wait() != 0
    kept = begun[0].read_text()
    assert stale(NAMES, SMALL, folder) == NAMES
    record_all(NAMES, budget=SMALL, folder=folder, progress=False, workers=1, share=Share(2, 2))
    assert json.loads(kept)["rows"].items() <= json.loads(begun[0].read_text())["rows"].items()
    assert {path.name for path in folder.iterdir()} <= {f"{name}.{k}of2.json" for name in NAMES for k in (1, 2)}
    assert {share for name in NAMES for share in shares_of(name, folder)} == {Share(1, 2), Share(2, 2)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "_row", None)
        record_all(NAMES, budget=SMALL, folder=folder, progress=False)
    for name in NAMES:
        for part in ("settings", "probe", "rows"):
            assert read(name, folder)[part] == read(name, shown[0])[part]
        assert read(name, folder)["cost"]["parameters"] == read(name, shown[0])["cost"]["parameters"]
    assert {path.name for path in folder.iterdir()} == {f"{name}.json" for name in NAMES}


def test_shares_complete_what_was_recorded_before(copied, at_once):
    name = NAMES[1]
    record = read(name, copied)
    write(record | {"rows": {"0": record["rows"]["0"]}}, copied)
    for k in (1, 2, 3):
        record_all(NAMES, budget=SMALL, folder=copied, progress=False, workers=1, share=Share(k, 3))
    assert stale(NAMES, SMALL, copied) == [name]
    record_all(NAMES, budget=SMALL, folder=copied, progress=False)
    assert read(name, copied) == record
    assert {path.name for path in copied.iterdir()} == {f"{name}.json" for name in NAMES}


def test_a_row_that_fails_ends_it_and_keeps_what_was_done(tmp_path):
    impossible = replace(SMALL, words=5)  # no sentence fits
    with pytest.raises(ValueError, match="words is 5; expected at least"):
        record_all(NAMES, budget=impossible, folder=tmp_path / "results", progress=False)
    assert not (tmp_path / "results").exists()


def test_the_bar_shows_the_time_left(shown):
    left = dict(re.findall(r"(\d+)/10 \[[\d:]+<([\d:?]+)", shown[1]))
    first, *between, last = left  # of two steps that follow at once, the bar shows one
    assert (first, last) == ("0", "10")
    assert between
    assert re.fullmatch(r"\d+:\d+", left[between[-1]])
    assert left[last] == "00:00"


def test_the_command_takes_a_subset(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(runner, "record_all", lambda names, **options: asked.append((names, options)))
    main(["--only", *NAMES, "--workers", "3"])
    main(["--share", "2/5"])
    assert asked == [(NAMES, {"workers": 3, "share": None}), (list(VARIANTS), {"workers": 2, "share": Share(2, 5)})]
    main(["--list", "--only", *NAMES])
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [[name, "recorded"] for name in NAMES]
    with pytest.raises(SystemExit):
        main(["--only", "nothing"])
    assert "invalid choice: 'nothing'" in capsys.readouterr().err
    for wrong in ("0/5", "6/5", "2", "2/5/1", "-1/5"):
        with pytest.raises(SystemExit):
            main([f"--share={wrong}"])
        assert f"share is '{wrong}'; expected one as 2/5" in capsys.readouterr().err


def test_the_package_is_a_command():
    command = [sys.executable, "-m", "attnlib.experiments", "--help"]
    assert "python -m attnlib.experiments" in subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: stale(["rnn"]), "names holds 'rnn'; expected names of variants"),
        (lambda: record_all(["rnn"]), "names holds 'rnn'; expected names of variants"),
        (lambda: record_all([], workers=0), "workers is 0; expected at least 1"),
    ],
)
def test_what_is_no_variant_is_refused(refused, call, says):
    refused(call, ValueError, says)
