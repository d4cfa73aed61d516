"""Files that are whole, whenever a program ends."""

import os
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file beside the old one, then put it in its place: a reader sees the old one or the new one, both whole.

    Parameters
    ----------
    path : Path
        In a folder that is there.
    content : bytes

    Raises
    ------
    OSError
        With the name of the file, if there is no space left, for instance; what was there before stays.
    """
    beside = path.with_name(f".{path.name}.new")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        error.filename = str(path)
        raise
