"""Experiments: recorded row by row, resumed after any end, stale when what they rest on changes, summed up right."""

import json
import re
import shutil
import subprocess
import sys
import textwrap
import time
from contextlib import redirect_stderr
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import psutil
import pytest

from attnlib import experiments
from attnlib.experiments import (
    MODULES,
    RESULTS,
    fingerprint,
    main,
    mean_interval,
    prediction_interval,
    read,
    record_all,
    stale,
    values,
)
from attnlib.variants import VARIANTS, Budget

SMALL = Budget(emb=5, hid=4, pairs=40, words=150, steps=3, test_clauses=(1, 4), test_sentences=2, width=2)
NAMES = ["no-attention", "local-p-general-D2"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> tuple[Path, str]:
    """Two variants, recorded without an interruption, and what the bar showed."""
    folder, bar = tmp_path_factory.mktemp("results"), StringIO()
    with redirect_stderr(bar):
        record_all(NAMES, budget=SMALL, folder=folder, progress=True)
    return folder, bar.getvalue()


@pytest.fixture(scope="module")
def recorded(shown) -> Path:
    return shown[0]


@pytest.fixture
def copied(recorded, tmp_path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / "results"))


def rows(folder: Path, name: str) -> dict:
    return read(name, folder)["rows"]


# --- What is recorded in this repository ---


def test_the_recorded_results_are_not_stale():
    assert stale() == [], "run `make experiments`"


def test_every_variant_has_every_seed_and_measure():
    for name, variant in VARIANTS.items():
        record = read(name)
        assert [*record["rows"]] == [str(seed) for seed in variant.seeds]
        assert record["settings"] == variant.settings()
        assert {"date", "processor", "python", "numpy", "torch"} <= record["environment"].keys()
        perplexities = values(name, "perplexity")
        assert len(perplexities) == len(variant.seeds)
        assert (perplexities >= 1).all()
        assert np.isnan(values(name, "alignment_error")).all() == name.startswith("no-attention")
        assert np.isnan(values(name, "centre_distance")).all() == (not name.startswith("local"))


def test_nothing_else_lies_among_the_results():
    assert {path.name for path in RESULTS.iterdir()} == {f"{name}.json" for name in VARIANTS}


# --- Recording ---


def test_a_record_says_what_it_is_of(recorded):
    for name in NAMES:
        record = read(name, recorded)
        assert record["fingerprint"] == fingerprint(VARIANTS[name], SMALL)
        assert [*record["rows"]] == [str(seed) for seed in VARIANTS[name].seeds]
        assert record["cost"]["parameters"] > 0
        assert record["settings"]["budget"]["steps"] == 3
    assert stale(NAMES, SMALL, recorded) == []


def test_what_is_recorded_is_not_run_again(copied, monkeypatch):
    monkeypatch.setattr(experiments, "_pool", None)
    before = {path.name: path.read_bytes() for path in copied.iterdir()}
    with pytest.raises(TypeError, match="NoneType"):
        record_all(["global-dot"], budget=SMALL, folder=copied, progress=False)
    monkeypatch.undo()
    record_all(NAMES, budget=SMALL, folder=copied, progress=False)
    assert {path.name: path.read_bytes() for path in copied.iterdir()} == before


def test_only_what_is_missing_is_run(copied):
    name = NAMES[1]
    record = read(name, copied)
    kept = record["rows"]["0"] | {"losses": [123.0]}
    record["rows"] = {"0": kept, "2": record["rows"]["2"]}
    (copied / f"{name}.json").write_text(json.dumps(record))
    assert stale(NAMES, SMALL, copied) == [name]
    record_all(NAMES, budget=SMALL, folder=copied, progress=False)
    assert [*rows(copied, name)] == ["0", "1", "2"]
    assert rows(copied, name)["0"] == kept


def test_a_row_from_other_settings_is_run_again(copied):
    other = replace(SMALL, steps=4)
    assert stale(NAMES, other, copied) == NAMES
    record_all(NAMES[1:], budget=other, folder=copied, progress=False)
    assert stale(NAMES, other, copied) == NAMES[:1]
    assert read(NAMES[1], copied)["settings"]["budget"]["steps"] == 4


def test_killed_it_goes_on_where_it_was(recorded, tmp_path):
    """Killed without warning after the first row; nothing half written, no process left, and the same in the end."""
    folder = tmp_path / "results"
    script = tmp_path / "go.py"
    script.write_text(
        textwrap.dedent(f"""
        from pathlib import Path
        from attnlib.experiments import record_all
        from attnlib.variants import Budget

        if __name__ == "__main__":
            record_all({NAMES!r}, budget={SMALL!r}, folder=Path({str(folder)!r}), progress=False)
        """)
    )
    killed = 0
    for _ in range(3):
        process = subprocess.Popen([sys.executable, script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        count = sum(len(rows(folder, name)) for name in NAMES if (folder / f"{name}.json").is_file())
        while process.poll() is None:
            now = sum(len(rows(folder, name)) for name in NAMES if (folder / f"{name}.json").is_file())
            if now > count:
                children = psutil.Process(process.pid).children(recursive=True)
                process.kill()
                killed += 1
                assert not psutil.wait_procs(children, timeout=60)[1]
                break
            time.sleep(0.005)
        process.wait()
    assert killed
    record_all(NAMES, budget=SMALL, folder=folder, progress=False)
    for name in NAMES:
        assert rows(folder, name) == rows(recorded, name)
    assert stale(NAMES, SMALL, folder) == []


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_a_write_that_fails_leaves_the_old_record_as_it_was(tmp_path, monkeypatch, step):
    def fail(*_: object) -> None:
        raise OSError("no space left")

    experiments._write({"variant": "kept", "rows": {"0": {}}}, tmp_path)
    before = (tmp_path / "kept.json").read_bytes()
    monkeypatch.setattr(step, fail)
    with pytest.raises(OSError, match="no space left"):
        experiments._write({"variant": "kept", "rows": {}}, tmp_path)
    assert (tmp_path / "kept.json").read_bytes() == before
    monkeypatch.undo()
    experiments._write({"variant": "kept", "rows": {}}, tmp_path)
    assert [(path.name, json.loads(path.read_text())["rows"]) for path in tmp_path.iterdir()] == [("kept.json", {})]


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
    monkeypatch.setattr(experiments, "record_all", lambda names, **options: asked.append((names, options)))
    main(["--only", *NAMES, "--workers", "3"])
    main([])
    assert asked == [(NAMES, {"workers": 3}), (list(VARIANTS), {"workers": 2})]
    main(["--list", "--only", *NAMES])
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == NAMES
    with pytest.raises(SystemExit):
        main(["--only", "nothing"])
    assert "invalid choice: 'nothing'" in capsys.readouterr().err


# --- Fingerprints ---


@pytest.mark.parametrize("module", MODULES)
def test_a_changed_module_makes_results_stale(module, recorded, monkeypatch):
    code = experiments._code
    monkeypatch.setattr(experiments, "_code", lambda name: code(name) + ("\nx = 1" if name == module else ""))
    assert stale(NAMES, SMALL, recorded) == NAMES


def test_every_module_that_a_run_imports_counts(root):
    """All of the package, apart from what only draws, records, refuses, or names shapes."""
    package = {path.stem for path in (root / "src/attnlib").glob("*.py")}
    beside = {
        "__init__",
        "shapes",
        "checks",
        "fingerprints",
        "experiments",
        "cards",
        "explorer",
        "sharpening",
        "figures",
    }
    assert package - set(MODULES) <= beside
    assert set(MODULES) <= package


# --- Reading ---


def test_values_are_one_a_seed(recorded):
    expected = [row["groups"]["beyond"]["perplexity"] for row in rows(recorded, NAMES[0]).values()]
    assert values(NAMES[0], "perplexity", "beyond", folder=recorded).tolist() == expected
    assert np.isnan(values(NAMES[0], "alignment_error", folder=recorded)).all()


def test_a_missing_record_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"name is 'global-dot'; expected a variant with results"):
        read("global-dot", tmp_path)


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda text: text[: len(text) // 2], "no whole JSON file"),
        (lambda text: "", "no whole JSON file"),
        (lambda text: "[]", "not of format 1"),
        (lambda text: text.replace('"format": 1', '"format": 2'), "not of format 1"),
        (lambda text: text.replace('"rows"', '"lines"'), "not of format 1"),
    ],
)
def test_a_spoilt_record_is_refused(copied, spoil, complaint):
    path = copied / f"{NAMES[0]}.json"
    path.write_text(spoil(path.read_text()))
    with pytest.raises(ValueError, match=complaint):
        read(NAMES[0], copied)


@pytest.mark.parametrize(
    ("measure", "group", "complaint"),
    [
        ("blue", "within", "'blue' is not recorded of no-attention; expected one of alignment_error, beam_bleu"),
        ("bleu", "7 clauses", "'7 clauses' is not recorded of no-attention; expected one of .*1 clause"),
    ],
)
def test_an_unknown_measure_or_group_is_named(recorded, measure, group, complaint):
    with pytest.raises(ValueError, match=complaint):
        values("no-attention", measure, group, folder=recorded)


# --- Intervals ---


def test_intervals_by_hand():
    """Runs 1, 2, 3, 4: mean 2.5, s² = 5/3, and t for 3 degrees of freedom is 3.1824 in every table."""
    t, s = 3.182446, np.sqrt(5 / 3)
    mean, prediction = mean_interval([1.0, 2.0, 3.0, 4.0]), prediction_interval(np.arange(1, 5))
    assert mean == pytest.approx((2.5, 2.5 - t * s / 2, 2.5 + t * s / 2), rel=1e-6)
    assert prediction.high - 2.5 == pytest.approx(t * s * np.sqrt(1.25), rel=1e-6)
    assert 2.5 - prediction.low == pytest.approx(t * s * np.sqrt(1.25), rel=1e-6)


@pytest.mark.parametrize(("interval", "truth"), [(mean_interval, "mean"), (prediction_interval, "run")])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_hold_what_they_say_as_often_as_they_say(interval, truth, level):
    rng = np.random.default_rng(0)
    runs, new = rng.normal(7, 2, size=(2000, 5)), rng.normal(7, 2, size=2000)
    intervals = [interval(row, level) for row in runs]
    aims = np.full(2000, 7.0) if truth == "mean" else new
    share = np.mean([low <= aim <= high for (_, low, high), aim in zip(intervals, aims, strict=True)])
    assert share == pytest.approx(level, abs=0.03)


@pytest.mark.parametrize("interval", [mean_interval, prediction_interval])
def test_intervals_need_runs_and_a_level(interval):
    for runs in ([], [1.0]):
        with pytest.raises(ValueError, match=f"runs holds {len(runs)}; expected at least 2"):
            interval(runs)
    with pytest.raises(ValueError, match=r"level is 95\.0; expected a share between 0 and 1"):
        interval([1.0, 2.0], 95.0)
