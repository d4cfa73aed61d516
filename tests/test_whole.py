"""A file is replaced as a whole or not at all, whatever happens in between."""

import os
import subprocess
from pathlib import Path

import pytest

from whole import write


@pytest.mark.parametrize("step", ["os.fsync", "shutil.copymode", "pathlib.Path.replace"])
def test_a_write_that_fails_leaves_the_old_file_as_it_was_and_the_next_succeeds(tmp_path, monkeypatch, step):
    path = tmp_path / "kept.txt"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(step, fail)
    with pytest.raises(OSError, match="no space left"):
        write(path, b"new and longer")
    assert path.read_bytes() == b"old"
    monkeypatch.undo()
    write(path, b"new")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("kept.txt", b"new")]


def test_what_lies_beside_a_file_until_it_is_replaced_is_whole_on_the_disk_and_ignored_by_git(
    root, tmp_path, monkeypatch
):
    path, seen, synchronised = tmp_path / "kept.txt", [], []
    monkeypatch.setattr(os, "fsync", lambda file: synchronised.append(os.fstat(file).st_size))
    monkeypatch.setattr(Path, "replace", lambda beside, _: seen.append((beside.name, beside.read_bytes())))
    write(path, b"new")
    (name, content), *others = seen
    assert (content, synchronised, others) == (b"new", [3], [])
    for beside in (name, f"notebooks/{name}", f"book/_static/{name}"):
        ignored = subprocess.run(["git", "-C", root, "check-ignore", "-q", beside], check=False)
        assert ignored.returncode == 0


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600])
def test_the_mode_is_kept(tmp_path, mode):
    path = tmp_path / "run"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(path, b"new")
    assert path.stat().st_mode & 0o777 == mode
    assert path.read_bytes() == b"new"


def test_a_file_that_is_not_there_yet_is_written(tmp_path):
    write(tmp_path / "new.txt", b"new")
    assert (tmp_path / "new.txt").read_bytes() == b"new"
