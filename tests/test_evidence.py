"""The page of evidence: what it counts, what it measures, and that it tells what was executed from what was stored."""

import subprocess
import sys
from pathlib import Path

import psutil

from bookext.evidence import MEBIBYTE, Watch, checks, machine, peak_memory, revision


def test_checks_are_the_asserts():
    assert checks("assert 1\nfor i in [1]:\n    assert i, 'no'\nx = 'assert 2'  # assert 3") == 2
    assert checks("%pip install nothing\nassert 1") == 1


def test_peak_is_that_of_the_largest_child():
    watch = Watch()
    watch.start()
    size = 900  # MiB, more than this process has: a child begins as a copy of it
    child = f"import time; x = bytearray({size} * 2**20); del x; time.sleep(2)"
    subprocess.run([sys.executable, "-c", child], check=True)
    peak = watch.stop() / MEBIBYTE
    assert size < peak < size + 60


def test_peak_of_a_process_that_has_ended_is_nothing():
    ended = subprocess.Popen([sys.executable, "-c", ""])
    process = psutil.Process(ended.pid)
    ended.wait()
    assert peak_memory(process) == 0


def test_revision(clone, tmp_path):
    assert revision(tmp_path) == "not known"
    root = clone(tmp_path / "book")
    assert len(revision(root)) == 12
    (root / "new.txt").write_text("new", "utf-8")
    assert revision(root).endswith(" and changes to it")


def test_machine_names_no_place(root):
    class Env:
        srcdir = root

    rows = dict(machine(Env()))
    assert {"processor", "Python", "torch", "sphinx"} <= set(rows)
    assert not any(part in " ".join(rows.values()) for part in (str(root), str(Path.home()) + "/", "/home"))
