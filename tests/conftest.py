"""What several tests stand on: where the book is, its pages, the files that a clone would have, and a browser."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
import yaml
from jaxtyping import install_import_hook
from playwright.sync_api import Browser, sync_playwright

torch.set_num_threads(1)  # the tests' tensors are too small to share out
os.environ.setdefault("OMP_NUM_THREADS", "1")  # nor is there a processor to share with, where tests run side by side
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore Ctrl-C; some tests press it
ROOT = Path(__file__).parents[1]
os.environ["PYTHONSTARTUP"] = str(ROOT / "tests" / "jitter.py")  # every kernel that a test starts, nbval's too
os.environ.setdefault("JITTER", "1")
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # cut off from all other hosts, with its cache
]
# The grammar has no shapes, and draws so many words that checking its types would take longer than all else.
CHECKED = [f"attnlib.{path.stem}" for path in (ROOT / "src/attnlib").glob("[a-z]*") if path.stem != "language"]
install_import_hook(CHECKED, "beartype.beartype")
LONGEST = {"test_pages.py", "test_processes.py", "test_your_own_text.py"}
GIT = ["git", "-c", "user.name=Tests", "-c", "user.email=tests@localhost", "-c", "init.defaultBranch=main"]


def pages() -> list[str]:
    """Name the pages of the table of contents, in reading order, without their endings."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text())
    return [contents["root"], *(chapter["file"] for part in contents["parts"] for chapter in part["chapters"])]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for a path to a notebook, or for a page, once for each."""
    if "notebook_path" in metafunc.fixturenames:
        metafunc.parametrize("notebook_path", NOTEBOOKS, ids=lambda path: path.stem)
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", pages())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take minutes, so that two workers end together."""
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(scope="session")
def root() -> Path:
    """Where the repository is."""
    return ROOT


@pytest.fixture(scope="session")
def notebook_paths() -> list[Path]:
    """All notebooks, in reading order."""
    return NOTEBOOKS


@pytest.fixture(scope="session")
def page_names() -> list[str]:
    """All pages of the table of contents, in reading order, without their endings."""
    return pages()


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


def _chromium() -> str:
    found = shutil.which("chromium")
    if not found:
        without = pytest.fail if os.environ.get("REQUIRE_CHROMIUM") else pytest.skip
        without("chromium is not installed, so the pages are not looked at in a browser")
    return found


@pytest.fixture(scope="session")
def chromium() -> Callable[[], str]:
    """Return a function that finds Chromium; without it, it skips, or fails where Chromium is required."""
    return _chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests, since two at a time do not get on in one thread."""
    executable = _chromium()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()
