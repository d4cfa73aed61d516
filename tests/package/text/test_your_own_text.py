"""The commands of the page "Your own text" do what it says, on the text that it writes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "book" / "your-own-text.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.M | re.S)
SHORTER = {"toy .": "toy . --train 500 --dev 20", "--minutes 4": "--steps 2 --features 8", "node 2": "node 1"}


@pytest.mark.skipif(os.name != "posix", reason="the page's commands are a shell's")
def test_the_page_runs_from_top_to_bottom(tmp_path):
    for name, module in (("attnlib", "attnlib"), ("torchrun", "torch.distributed.run --standalone")):
        (tmp_path / name).write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
        (tmp_path / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "MPLBACKEND": "agg"}
    assert [kind for kind, _ in BLOCKS] == ["sh", "sh", "sh", "sh", "sh", "sh", "sh", "python"]
    for kind, block in BLOCKS:
        for long, short in SHORTER.items():
            block = block.replace(long, short)  # noqa: PLW2901
        command = ["sh", "-ec", block] if kind == "sh" else [sys.executable, "-c", block]
        ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in tmp_path.glob("*.*") if path.is_file()}
    assert lines["new.fr"] == lines["new.links"] == lines["dev.found"] == lines["dev.en"] == 20
    assert all((tmp_path / name).read_text("utf-8").startswith("<!doctype html>") for name in ("cat.html", "enfr.html"))
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"enfr", "two"}
