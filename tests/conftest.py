"""What several tests stand on: the files that a clone would have, in a folder of their own."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GIT = ["git", "-c", "user.name=Tests", "-c", "user.email=tests@localhost", "-c", "init.defaultBranch=main"]


@pytest.fixture(scope="session")
def clone() -> Callable[[Path], Path]:
    """Return a function that lays a repository of this working tree out in a folder: all but what git ignores."""
    listed = [*GIT, "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split("\0")
    files = [ROOT / name for name in names if (ROOT / name).is_file()]

    def into(folder: Path) -> Path:
        for file in files:
            copy = folder / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
        for step in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "The working tree"]):
            subprocess.run([*GIT, "-C", folder, *step], check=True)
        return folder

    return into
