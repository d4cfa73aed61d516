"""Write a file as a whole or not at all, so that nobody ever reads half of it."""

import os
import shutil
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Write beside the file, under a name that git ignores, and put it in the file's place in one step."""
    beside = path.with_name(f".{path.name}.new")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        shutil.copymode(path, beside)
    beside.replace(path)
