"""Files that are whole, whenever a program ends, and errors that name them as their readers do."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file, in a folder that is there, as `atomic_open` does."""
    with atomic_open(path) as file:
        file.write(content)


@contextmanager
def atomic_open(path: Path) -> Iterator[BufferedWriter]:
    """Write a file beside the old one, then put it in its place: a reader sees the old one or the new one, both whole.

    Raises
    ------
    OSError
        With the name of the file, if there is no space left, for instance; what was there before stays.
    """
    if path.exists() and not path.is_file():  # a device or a pipe, which nothing may replace
        with add_path_to_errors(path), path.open("wb") as file:
            yield file
        return
    goal = path.resolve()  # where a link leads
    beside = goal.with_name(f".{goal.name}.new")
    with add_path_to_errors(path, beside):
        try:
            with beside.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            beside.replace(goal)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def add_path_to_errors(path: Path | str, beside: Path | None = None) -> Iterator[None]:
    """Let an error of the system name the path that was asked for, where it names none, or what is written beside."""
    try:
        yield
    except OSError as error:
        if error.filename is None or (beside and str(error.filename).startswith(str(beside))):
            error.filename, error.filename2 = str(path), None
        raise
