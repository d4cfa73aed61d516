"""`pytest --nbval`, from any folder, runs each cell twice and compares what it prints both times."""

import shutil
import subprocess
import sys

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

CARD = "from IPython.display import HTML\n\nHTML(f'<p>a</p><!-- carried -->{word}<!-- /carried -->')"


def test_a_cell_fails_if_it_cannot_be_run_twice_and_what_a_card_carries_is_not_compared(root, tmp_path):
    for name in ("conftest.py", "pyproject.toml", "tests/carried.cfg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(root / name, tmp_path / name)
    drifts = "word = globals().get('word', '') + 'a'\nprint(word)"
    cells = {drifts: "FAILED", CARD: "PASSED", "count = 6 * 7\ncount": "PASSED", "del word": "FAILED"}
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    NotebookClient(notebook, kernel_name="python3").execute()
    (tmp_path / "notebooks").mkdir()
    nbformat.write(notebook, tmp_path / "notebooks" / "small.ipynb")
    command = [sys.executable, "-m", "pytest", "--nbval", "-p", "no:cacheprovider", "-rA", "--color=no", "small.ipynb"]
    run = subprocess.run(command, cwd=tmp_path / "notebooks", capture_output=True, text=True, check=False)
    for n, fate in enumerate(cells.values()):
        assert f"{fate} small.ipynb::Cell {n}" in run.stdout, run.stdout + run.stderr
