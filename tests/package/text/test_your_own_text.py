"""The commands of the page "Your own text" do what it says, on the text that it writes."""

import re
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from attnlib.__main__ import main

PAGE = (Path(__file__).parents[3] / "book" / "your-own-text.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.M | re.S)
SHORTER = {"toy .": "toy . --train 500 --dev 20", "--minutes 4": "--steps 2 --features 8", "node 2": "node 1"}
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone"]


def ran(line, monkeypatch):
    """Run a line as a shell would: the command in this process, its streams from and to the files that it names."""
    program, *words = shlex.split(line)
    if program == "torchrun":
        return subprocess.run([*TORCHRUN, *words], capture_output=True, check=False).returncode
    with monkeypatch.context() as streams, ExitStack() as closed:
        for sign, stream, mode in (("<", "stdin", "r"), (">", "stdout", "w")):
            if sign in words:
                where = words.index(sign)
                file = closed.enter_context(Path(words[where + 1]).open(mode, encoding="utf-8"))
                streams.setattr(sys, stream, file)
                del words[where : where + 2]
        assert program == "attnlib"
        return main(words)


def test_the_page_runs_from_top_to_bottom(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    assert [kind for kind, _ in BLOCKS] == ["sh", "sh", "python", "sh", "sh"]
    for kind, block in BLOCKS:
        for long, short in SHORTER.items():
            block = block.replace(long, short)  # noqa: PLW2901
        if kind == "python":
            subprocess.run([sys.executable, "-c", block], check=True)
        else:
            assert [ran(line, monkeypatch) for line in block.splitlines()] == [0] * len(block.splitlines())
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in tmp_path.glob("*.*") if path.is_file()}
    assert lines["new.fr"] == lines["new.links"] == lines["dev.model.links"] == lines["dev.en"] == 20
    assert all((tmp_path / name).read_text("utf-8").startswith("<!doctype html>") for name in ("enfr.html",))
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"enfr", "two"}
