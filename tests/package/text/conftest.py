"""What the tests of text share: the command, run in this process."""

import sys
from collections.abc import Callable
from io import BufferedReader, BytesIO
from types import SimpleNamespace

import pytest

from attntext.command import main


@pytest.fixture
def run(monkeypatch, capfd) -> Callable[..., tuple[int, str, str]]:
    """Run a command, `given` on its standard input, and give its status, output and errors."""

    def ran(*words: str, given: str | bytes = "", terminal: bool = False) -> tuple[int, str, str]:
        capfd.readouterr()
        stream = BufferedReader(BytesIO(given.encode() if isinstance(given, str) else given))
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream, isatty=lambda: terminal))
        try:
            status = main(words)
        except SystemExit as ended:
            status = ended.code
        sys.stdout.flush()
        return status, *capfd.readouterr()

    return ran
