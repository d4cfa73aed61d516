"""A file is written whole or not at all, or is continued where it is open already."""

import errno
import os
import subprocess
import sys
from io import TextIOWrapper
from pathlib import Path

import pytest

import attnlib
from attntext.writing import atomic_open, reopened, write_atomically

TWO_OUTPUTS = """
import sys
from pathlib import Path
from attntext.writing import open_output
with open_output(Path(sys.argv[1])) as file:
    for _ in range(2):
        file.write(b"link\\n")
        file.flush()
        print("word", flush=True)
"""


def shell(command, folder):
    """Run a command in which $P writes lines of two kinds: to the standard output, and to the file that it is given."""
    (folder / "two.py").write_text(TWO_OUTPUTS)
    source = str(Path(attnlib.__file__).parents[1])
    known = os.environ | {"P": f"{sys.executable} two.py", "PYTHONPATH": source}
    return subprocess.run(["sh", "-c", command], cwd=folder, env=known, capture_output=True, text=True, check=False)


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


def test_a_name_may_be_as_long_as_a_name_can_be(tmp_path):
    write_atomically(tmp_path / ("n" * 255), b"new")
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"new"]


def test_the_names_of_one_file_stay_names_of_one_file(tmp_path):
    (tmp_path / "one").write_bytes(b"an old and longer content")
    (tmp_path / "other").hardlink_to(tmp_path / "one")
    write_atomically(tmp_path / "one", b"new")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"one": b"new", "other": b"new"}


def test_a_file_is_written_where_none_can_be_created_and_refused_at_once_where_it_cannot(tmp_path, monkeypatch):
    path, true = tmp_path / "out", os.access
    path.write_bytes(b"an old and longer content")
    monkeypatch.setattr(os, "access", lambda where, mode: where != tmp_path and true(where, mode))
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    monkeypatch.setattr(Path, "open", lambda self, mode: (_ for _ in ()).throw(PermissionError(errno.EACCES, "no")))
    with pytest.raises(PermissionError) as caught, atomic_open(path):
        pytest.fail("the block was entered")
    assert caught.value.filename == str(path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device here that is always full")
def test_only_the_output_fails_and_only_once(monkeypatch):
    with open("/dev/full", "wb") as full:
        kept = os.dup(1), os.dup(2)
        try:
            os.dup2(full.fileno(), 1)
            os.dup2(full.fileno(), 2)
            out, log = reopened(sys.stdout, 1), reopened(sys.stderr, 2)
            log.write("nobody reads this\n" * 9999)
            log.flush()
            out.write("lost")
            with pytest.raises(OSError, match="No space left") as caught:
                out.flush()
            out.write("dropped")
            out.close()
        finally:
            for number, old in enumerate(kept, 1):
                os.dup2(old, number)
                os.close(old)
    assert caught.value.filename == "the output"


def test_a_log_that_does_not_wait_for_its_reader_is_lost_and_stops_nothing():
    end, begin = os.pipe()
    os.set_blocking(begin, False)
    kept = os.dup(2)
    try:
        os.dup2(begin, 2)
        log = reopened(sys.stderr, 2)
        for _ in range(9):
            log.write("much" * 9999)
            log.flush()
    finally:
        os.dup2(kept, 2)
        for number in (kept, end, begin):
            os.close(number)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_letters_that_an_encoding_lacks_are_replaced(tmp_path, encoding):
    name = tmp_path / "out"
    with name.open("wb") as file:
        out = TextIOWrapper(file, encoding, "attnlib.plain")
        out.write("• größe 猫")
        out.close()
    expected = "• größe 猫" if encoding == "utf-8" else "größe \\u732b"
    written = name.read_bytes().decode(encoding)
    assert written.endswith(expected) or encoding == "ascii"
    assert written.startswith("•" if encoding in ("utf-8", "cp1252") else "* ")


needs_descriptors = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="no names of descriptors here")


@needs_descriptors
@pytest.mark.parametrize(
    "command",
    [
        "$P /dev/stdout > out",
        "$P /dev/fd/1 >> out",
        "$P /dev/stderr 2> out >&2",
        "$P out > out",
        "$P /dev/stdout | cat > out",
        "mkfifo pipe; cat pipe > out & $P pipe > pipe; wait",
    ],
)
def test_two_outputs_into_one_file_are_both_there(tmp_path, command):
    ran = shell(command, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert sorted((tmp_path / "out").read_text().split()) == ["link", "link", "word", "word"]


@needs_descriptors
def test_devices_and_a_text_that_is_being_read_are_written_as_before(tmp_path):
    (tmp_path / "kept").write_text("old")
    ran = shell("$P /dev/null; $P kept < kept", tmp_path)
    assert (ran.stdout, ran.stderr) == ("word\n" * 4, "")
    assert (tmp_path / "kept").read_text() == "link\nlink\n"
