"""A file is written whole or not at all."""

import errno
import os
from types import SimpleNamespace

import pytest

from attntext.atomic_files import atomic_open, reopened, write_atomically


def test_a_console_of_windows_keeps_its_own_writer(monkeypatch):
    console = SimpleNamespace(name="<stdout>", isatty=lambda: True, encoding="utf-8")
    with monkeypatch.context() as windows:
        windows.setattr(os, "name", "nt")
        assert reopened(console, 1) is console
    assert reopened(console, 1) is not console


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    (tmp_path / "link").symlink_to("kept.json")
    for content in (b"old", b"new"):
        write_atomically(tmp_path / "link", content)
    assert (tmp_path / "link").is_symlink()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"kept.json": b"new", "link": b"new"}


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_a_write_that_fails_leaves_the_old_file_as_it_was(tmp_path, monkeypatch, step):
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    path = tmp_path / "kept.json"
    write_atomically(path, b"old")
    monkeypatch.setattr(step, fail)
    with pytest.raises(OSError, match="no space left") as caught:
        write_atomically(path, b"new")
    assert caught.value.filename == str(path)
    monkeypatch.undo()
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("kept.json", "old")]


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_a_new_content_leaves_the_permissions_as_they_were(tmp_path, mode):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    path.chmod(mode)
    with atomic_open(path) as file:
        (beside,) = tmp_path.glob(".*.new")
        assert not beside.stat().st_mode & ~0o100000 & ~mode  # nor may others read it meanwhile
        file.write(b"new")
    assert (path.stat().st_mode & 0o777, path.read_bytes()) == (mode, b"new")
    assert [*tmp_path.iterdir()] == [path]


def write_beside_another(path):
    with atomic_open(path) as one:
        one.write(b"one")
        write_atomically(path, b"the other's")


def test_of_two_that_write_one_file_the_second_to_end_is_refused_and_both_contents_are_whole(tmp_path):
    path = tmp_path / "out"
    for old in (None, b"old"):
        if old:
            path.write_bytes(old)
        with pytest.raises(OSError, match="another program has written it meanwhile") as caught:
            write_beside_another(path)
        assert caught.value.filename == str(path)
        assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("out", b"the other's")]
