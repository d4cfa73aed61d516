"""Files that are whole, whenever a program ends, and errors that name them as their readers do."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file, so that a reader sees either the old content or the new.

    Parameters
    ----------
    path : Path
        The file. Its folder exists.
    content : bytes
        The whole content.
    """
    with atomic_open(path) as file:
        file.write(content)


@contextmanager
def atomic_open(path: Path) -> Iterator[BufferedWriter]:
    """Open a file for writing that replaces the old one when the block ends.

    A reader sees the old file or the new one, both whole. If writing fails, the old file stays.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    BufferedWriter
        The new file.

    Raises
    ------
    OSError
        If the file cannot be written, for instance because the disk is full. The error names the file.
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
    """Add a path to the system errors of the enclosed block.

    Parameters
    ----------
    path : Path or str
        The path that an error names, if it names none.
    beside : Path, optional
        A temporary path, which is replaced by `path` in errors. If None, there is none.

    Yields
    ------
    None
        The block runs once.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None or (beside and str(error.filename).startswith(str(beside))):
            error.filename, error.filename2 = str(path), None
        raise
