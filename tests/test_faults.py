"""What is killed leaves nothing half written: a sample of what `make verify` tries, and that it notices faults."""

import re
import sys
import textwrap

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from verify import faults
from verify.faults import Task, files, kills, refresh, rewritten


def test_a_refresh_that_is_killed_leaves_the_notebook_as_it_was_and_the_next_succeeds(tmp_path):
    notebook = tmp_path / "small.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("print(6 * 7)")]), notebook)
    row, wrong = kills(refresh(notebook), 1)
    assert wrong == []
    assert (row[1], row[3:-1]) == ("1", ["0", "1", "1"])


def test_a_write_that_is_killed_leaves_the_old_file_or_the_new_one():
    assert rewritten(3)[1] == []


IN_PLACE = """
    import time
    from pathlib import Path

    Path("file").write_text("ha")
    time.sleep(0.3)
    Path("file").write_text("half")
"""
LOCKED = """
    import time
    from pathlib import Path

    Path("lock").mkdir()
    time.sleep(0.3)
    Path("lock").rmdir()
"""
APPENDED = """
    import time
    with open("file", "a", buffering=1) as file:
        file.write("line\\n")
        time.sleep(0.3)
"""
ORPHANED = """
    import subprocess, sys, time
    sleeper = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(30)"])
    time.sleep(0.3)
    sleeper.kill()
    sleeper.wait()
"""


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        (IN_PLACE, "half written: file"),
        (LOCKED, "the next run fails: .*FileExistsError"),
        (APPENDED, "the next run makes something else"),
        (ORPHANED, "not ended after 0.1 s: .*sleep"),
    ],
    ids=["in place", "locked", "appended", "orphaned"],
)
def test_what_should_not_be_is_noticed(monkeypatch, script, complaint):
    monkeypatch.setattr(faults, "PATIENCE", 0.1)
    command = [sys.executable, "-S", "-c", textwrap.dedent(script)]
    _, wrong = kills(Task("a made-up run", lambda folder: None, command, files), 2)
    assert [what for what in wrong if re.search(complaint, what, re.DOTALL)], wrong


def test_a_run_that_ends_before_its_kill_is_not_counted_as_killed(monkeypatch):
    monkeypatch.setattr(faults, "killed", lambda *_, **__: None)
    task = Task("a made-up run", lambda folder: None, [sys.executable, "-S", "-c", ""], files)
    row, wrong = kills(task, 1)
    assert row[1:3] == ["0", str(faults.MISSES)]
    assert wrong == [f"a made-up run: {faults.MISSES} runs ended before their kill, and only 0 were killed"]
