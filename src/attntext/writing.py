"""Files that are whole, whenever a program ends, and errors that name them as their readers do."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter
from pathlib import Path
from shutil import copymode
from stat import S_ISREG


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file, so that a reader sees either the old content or the new."""
    with atomic_open(path) as file:
        file.write(content)


@contextmanager
def atomic_open(path: Path) -> Iterator[BufferedWriter]:
    """Open a file for writing that replaces the old one when the block ends.

    A reader sees the old file or the new one, both whole. If writing fails, the old file stays. The new file has the
    permissions of the old one.

    Raises
    ------
    OSError
        If the file cannot be written, for instance because the disk is full. The error names the file.
    """
    goal = path.resolve()  # where a link leads
    beside = goal.with_name(f".{goal.name}.new")
    with add_path_to_errors(path, beside):
        try:
            beside.unlink(missing_ok=True)  # of a program that was killed
            with beside.open("xb") as file:
                if goal.exists():
                    copymode(goal, beside)
                yield file
                file.flush()
                os.fsync(file.fileno())
            beside.replace(goal)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def open_output(path: Path) -> Iterator[BufferedWriter]:
    """Open a file for writing that the user named: by `atomic_open`, if nothing but the name leads to it.

    What this process writes to already, such as ``/dev/stdout``, is continued where it is. Devices and pipes are
    written to as they are.

    Raises
    ------
    OSError
        If the file cannot be written. The error names the file.
    """
    found = path.stat() if path.exists() else None
    if found and (descriptor := _find_descriptor(found)) is not None:
        opened = os.fdopen(os.dup(descriptor), "wb")
    elif found and not S_ISREG(found.st_mode):
        opened = path.open("wb")
    else:
        opened = atomic_open(path)
    with add_path_to_errors(path), opened as file:
        yield file


def _find_descriptor(found: os.stat_result) -> int | None:
    """Return the descriptor by which this process writes to a file already, if there is one."""
    numbers = map(int, os.listdir("/dev/fd")) if os.path.isdir("/dev/fd") else (1, 2)
    for number in sorted(numbers):
        with suppress(OSError):
            if os.path.samestat(os.fstat(number), found):
                os.write(number, b"")  # which a descriptor for reading refuses
                return number
    return None


@contextmanager
def add_path_to_errors(path: Path | str, beside: Path | None = None) -> Iterator[None]:
    """Add a path to the system errors of the enclosed block that name none, or the temporary path `beside`."""
    try:
        yield
    except OSError as error:
        if error.filename is None or (beside and str(error.filename).startswith(str(beside))):
            error.filename, error.filename2 = str(path), None
        raise
