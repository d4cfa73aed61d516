"""The commands of the page "Your own text" do what it says, on the text that it writes."""

import os
import re
import shlex
from pathlib import Path

PAGE = (Path(__file__).parents[3] / "book" / "your-own-text.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)^```", PAGE, re.M | re.S)
SHORT = "--steps 2 --features 8"
SHORTER = {
    "toy .": "toy . --train 500 --dev 20",
    "--features 128 --learning-rate 5e-3 --epochs 3": SHORT,
    "--epochs 1": "--steps 2",
}
AS_PRINTED = "AS_PRINTED" in os.environ  # once a week


def ran(line, run):
    """Run a line as a shell would: the command in this process, its output to the file that the line names.

    Of several processes one is enough here: `test_processes` starts them.
    """
    line = line.replace("torchrun --nproc-per-node 2 -m attntext", "attnlib")
    line, _, output = line.partition(" > ")
    program, *words = shlex.split(line)
    assert program == "attnlib"
    status, out, _ = run(*words)
    Path(output or "printed").write_text(out, "utf-8")
    return status


def test_the_page_runs_from_top_to_bottom(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    assert [kind for kind, _ in BLOCKS] == ["sh", "sh", "sh", "sh", "python", "sh", "sh"]
    scores = []
    for kind, block in BLOCKS:
        for long, short in {} if AS_PRINTED else SHORTER.items():
            block = block.replace(long, short)  # noqa: PLW2901
        if kind == "python":
            exec(block, {})
        else:
            assert [ran(line, run) for line in block.splitlines()] == [0] * len(block.splitlines())
            scores += re.findall(r"^BLEU ([0-9.]+)   nrefs", Path("printed").read_text("utf-8"), re.M)
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in tmp_path.glob("*.*") if path.is_file()}
    assert (
        lines["new.fr"]
        == lines["new.links"]
        == lines["dev.model.links"]
        == lines["dev.en"]
        == (200 if AS_PRINTED else 20)
    )
    assert len(scores) == 1
    assert float(scores[0]) > (80 if AS_PRINTED else -1)
    assert (tmp_path / "enfr.html").read_text("utf-8").startswith("<!doctype html>")
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"enfr", "further", "two"}
