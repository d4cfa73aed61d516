"""What several tests stand on: where the book is, how kernels begin, whose types are checked, and a browser."""

import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from jaxtyping import install_import_hook

if TYPE_CHECKING:
    from playwright.sync_api import Browser

torch.set_num_threads(1)  # the tests' tensors are too small to share out
os.environ.setdefault("OMP_NUM_THREADS", "1")  # nor is there a processor to share with, where tests run side by side
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore Ctrl-C; some tests press it
ROOT = Path(__file__).parents[1]
os.environ["PYTHONSTARTUP"] = str(ROOT / "tests" / "jitter.py")  # every kernel that a test starts, nbval's too
os.environ.setdefault("JITTER", "1")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # cut off from all other hosts, with its cache
]
OLDER = """
for (const { prototype } of [Array, Object.getPrototypeOf(Int8Array)])
    for (const name of ["with", "toReversed", "toSorted", "toSpliced"]) delete prototype[name];
for (const name of ["toWellFormed", "isWellFormed"]) delete String.prototype[name];
for (const name of ["showPopover", "hidePopover", "togglePopover"]) delete HTMLElement.prototype[name];
for (const { prototype } of [Document, DocumentFragment, Element])
    for (const name of ["querySelector", "querySelectorAll", "matches", "closest"]) {
        const find = prototype[name] ?? (() => {});
        prototype[name] = function (selector) {
            if (selector.includes(":has(")) throw new SyntaxError(`${selector} is not a valid selector`);
            return find.call(this, selector);
        };
    }
"""
# The grammar has no shapes, and draws so many words that checking its types would take longer than all else.
CHECKED = [f"{path.parent.name}.{path.stem}" for path in (ROOT / "src").glob("*/[a-z]*") if path.stem != "language"]
install_import_hook(CHECKED, "beartype.beartype")
LONGEST = {"test_pages.py", "test_processes.py", "test_touch.py", "test_your_own_text.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take minutes, so that two workers end together."""
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(scope="session")
def root() -> Path:
    """Where the repository is."""
    return ROOT


@pytest.fixture(scope="session")
def older() -> tuple[str, Callable[[str], str]]:
    """Make a browser as old as the oldest supported: a script that takes away what they lack, and a page's text."""
    return OLDER, lambda text: re.sub(r"light-dark\(|(?<=:)has\(|color-mix\(|\bpopover", r"unknown-\g<0>", text)


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """One browser for all tests, since two at a time do not get on in one thread.

    Without Chromium its tests are skipped, or fail where it is required.
    """
    executable = shutil.which("chromium")
    if not executable:
        without = pytest.fail if os.environ.get("REQUIRE_CHROMIUM") else pytest.skip
        without("chromium is not installed, so the pages are not looked at in a browser")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415, most tests need no browser

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()
