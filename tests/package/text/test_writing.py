"""A file is written whole or not at all."""

import errno

import pytest

from attnlib.text.writing import write_atomically


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
