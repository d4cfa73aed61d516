"""A file is written whole or not at all, or is continued where it is open already."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import attnlib
from attntext.writing import atomic_open, write_atomically

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
    (tmp_path / ".out.new").write_bytes(b"of a program that was killed")
    with atomic_open(path) as file:
        assert not (tmp_path / ".out.new").stat().st_mode & ~0o100000 & ~mode  # nor may others read it meanwhile
        file.write(b"new")
    assert (path.stat().st_mode & 0o777, path.read_bytes()) == (mode, b"new")
    assert [*tmp_path.iterdir()] == [path]


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
