"""Files that are whole whenever the command ends, and errors that name them as their readers do."""

import codecs
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from secrets import token_hex
from shutil import copyfileobj, copymode
from stat import S_ISREG
from tempfile import gettempdir
from typing import Any

OUTPUT = "the output"
"""What errors call the standard output."""

UNFINISHED = ".new"
"""How the name ends of a file that is being written."""


class _Standard(FileIO):
    """The output, or the log: after a first failure, which only the output's raises, what is written is dropped."""

    failed = False

    def write(self, content: Any) -> int | None:  # type: ignore[override]
        is_log = self.fileno() == 2
        try:
            written = len(content) if self.failed else super().write(content)
        except OSError as error:
            self.failed, written, error.filename = True, None, OUTPUT
            if not is_log:
                raise
        return len(content) if is_log and written is None else written  # None: nobody reads a pipe that does not wait


def reopened(stream: Any, number: int) -> Any:
    """Reopen the output, 1, or the log, 2, so that no reader of the log can end a program by going away.

    Letters that the stream's encoding does not have are replaced. What is closed, or no stream of the system, stays as
    it is. So does a console of Windows, for which Python has a writer of its own.
    """
    if getattr(stream, "name", os.devnull) == os.devnull or (os.name == "nt" and stream.isatty()):
        return stream
    raw = _Standard(number, "wb", closefd=False)
    by_line = number == 2 or raw.isatty()
    return TextIOWrapper(BufferedWriter(raw), stream.encoding, "attnlib.plain", line_buffering=by_line)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Return letters that every encoding has in place of those that one lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join("*" if letter == "•" else ascii(letter)[1:-1] for letter in letters), error.end


codecs.register_error("attnlib.plain", _plain)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file, so that a reader sees either the old content or the new."""
    with atomic_open(path) as file:
        file.write(content)


@contextmanager
def atomic_open(path: Path) -> Iterator[BufferedWriter]:
    """Open a file for writing that replaces the old one when the block ends.

    A reader sees the old file or the new one, both whole. If writing fails, the old file stays. The new file has the
    permissions of the old one. A file that has several names, or that lies in a folder where nothing can be created,
    keeps its place: it gets the new content at the end, but not in one step.

    Raises
    ------
    OSError
        If the file cannot be written, for instance because the disk is full, or if another program has written it
        since the block began. The error names the file.
    """
    goal = path.resolve()  # where a link leads
    old = goal.stat() if goal.exists() else None
    creates = not old or os.access(goal.parent, os.W_OK)
    beside = (goal.parent if creates else Path(gettempdir())) / f".{token_hex(8)}{UNFINISHED}"
    with add_path_to_errors(path, beside):
        stays = old and (old.st_nlink > 1 or not creates)
        if stays:
            goal.open("r+b").close()  # which may be refused, and at the end it would be too late
        try:
            with beside.open("xb") as file:
                if old:
                    copymode(goal, beside)
                yield file
                file.flush()
                os.fsync(file.fileno())
            if goal.exists() and (not old or _version(goal.stat()) != _version(old)):
                raise OSError(errno.EBUSY, "another program has written it meanwhile; expected one writer at a time")
            if stays:
                with beside.open("rb") as new, goal.open("r+b") as file:
                    copyfileobj(new, file)
                    file.truncate()
            else:
                beside.replace(goal)
        finally:
            beside.unlink(missing_ok=True)


def _version(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_ino, found.st_size, found.st_mtime_ns


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
    name: Path | str = path
    if found and (descriptor := _find_descriptor(found)) is not None:
        opened: Any = os.fdopen(os.dup(descriptor), "wb")
        name = OUTPUT if descriptor == 1 else path
    elif found and not S_ISREG(found.st_mode):
        opened = path.open("wb")
    else:
        opened = atomic_open(path)
    with add_path_to_errors(name), opened as file:
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
