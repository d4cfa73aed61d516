"""Files that are whole, whenever a program ends."""

import os
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Write a file beside the old one, then put it in its place: a reader sees the old one or the new one, both whole.

    Parameters
    ----------
    path : Path
        Its folder is made if there is none. ``.tmp`` is put after its name for the file beside.
    text : str
        Written as UTF-8, line ends as they are.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.tmp")
    with beside.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
