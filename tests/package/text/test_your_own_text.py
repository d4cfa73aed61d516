"""The commands of the page "Your own text" do what it says, on the text that it writes."""

import re
import shlex
from pathlib import Path

PAGE = (Path(__file__).parents[3] / "book" / "your-own-text.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.M | re.S)
SHORTER = {"toy .": "toy . --train 500 --dev 20", "--minutes 4": "--steps 2 --features 8"}


def ran(line, run):
    """Run a line as a shell would: the command in this process, its streams from and to the files that it names.

    Of several processes one is enough here: `test_processes` starts them.
    """
    line = line.replace("torchrun --nproc-per-node 2 -m attntext", "attnlib")
    line, _, output = line.partition(" > ")
    line, _, given = line.partition(" < ")
    program, *words = shlex.split(line)
    assert program == "attnlib"
    status, out, _ = run(*words, given=Path(given).read_bytes() if given else "")
    if output:
        Path(output).write_text(out, "utf-8")
    return status


def test_the_page_runs_from_top_to_bottom(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    assert [kind for kind, _ in BLOCKS] == ["sh", "sh", "python", "sh", "sh"]
    for kind, block in BLOCKS:
        for long, short in SHORTER.items():
            block = block.replace(long, short)  # noqa: PLW2901
        if kind == "python":
            exec(block, {})
        else:
            assert [ran(line, run) for line in block.splitlines()] == [0] * len(block.splitlines())
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in tmp_path.glob("*.*") if path.is_file()}
    assert lines["new.fr"] == lines["new.links"] == lines["dev.model.links"] == lines["dev.en"] == 20
    assert (tmp_path / "enfr.html").read_text("utf-8").startswith("<!doctype html>")
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"enfr", "two"}
