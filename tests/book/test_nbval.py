"""`pytest --nbval --twice`, from any folder, runs each cell twice and compares both outputs; claims follow."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from collector import Page

CLAIMS = """# %% after c0
assert word == "aa", "of the second run"
word = ""

# %% after c2


assert count == 41
"""
CARD = "from IPython.display import HTML\n\nHTML(f'<p>a</p><!-- carried -->{word}<!-- /carried -->')"


def test_a_cell_fails_if_it_cannot_be_run_twice_and_what_a_card_carries_is_not_compared(root, tmp_path):
    files = ["conftest.py", "pyproject.toml", "tests/carried.cfg", "tools/collector.py"]
    for name in (*files, *(f"extensions/bookext/{name}.py" for name in ("__init__", "weaving", "aside"))):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, tmp_path / name)
    (tmp_path / "tests" / "claims").mkdir()
    (tmp_path / "tests" / "claims" / "small.py").write_text(CLAIMS)
    drifts = "word = globals().get('word', '') + 'a'\nprint(word)"
    cells = {drifts: "FAILED", CARD: "PASSED", "count = 6 * 7\ncount": "PASSED", "del word": "FAILED"}
    notebook = new_notebook(cells=[new_code_cell(source, id=f"c{n}") for n, source in enumerate(cells)])
    NotebookClient(notebook, kernel_name="python3").execute()
    (tmp_path / "notebooks").mkdir()
    nbformat.write(notebook, tmp_path / "notebooks" / "small.ipynb")
    options = ["--nbval", "--twice", "-p", "no:cacheprovider", "-rA", "--color=no", "small.ipynb"]
    command = [sys.executable, "-m", "pytest", *options]
    run = subprocess.run(command, cwd=tmp_path / "notebooks", capture_output=True, text=True, check=False)
    for n, fate in enumerate(cells.values()):
        assert f"{fate} small.ipynb::Cell {n}" in run.stdout, run.stdout + run.stderr
    assert "PASSED small.ipynb::claims after c0" in run.stdout
    assert "FAILED small.ipynb::claims after c2" in run.stdout
    assert "claims/small.py:8" in run.stdout


def changed_digits(outputs: list[NotebookNode]) -> Iterator[list[NotebookNode]]:
    """Change the last digit of each text that a cell shows, one at a time."""
    for n, output in enumerate(outputs):
        for kind, text in ({"text": output.text} if "text" in output else output.get("data", {})).items():
            if kind.startswith("text") and (digit := re.search(r"(?s).*(\d)", text)):
                changed = deepcopy(outputs)
                held = changed[n] if "text" in output else changed[n].data
                held[kind] = f"{text[: digit.start(1)]}{9 - int(digit[1])}{text[digit.end(1) :]}"
                yield changed


def test_a_digit_that_changes_in_any_output_is_found(notebook_path, request):
    """Outputs of clocks and of live training are not compared; claims follow them."""
    page = Page.from_parent(request.session, path=notebook_path)
    page.setup_sanitize_files()
    items = [item for item in page.collect() if item.options["check"]]
    assert all(item.compare_outputs(item.cell.outputs, item.cell.outputs) for item in items)
    found = [
        item.compare_outputs(made, item.cell.outputs) for item in items for made in changed_digits(item.cell.outputs)
    ]
    assert len(found) > 3
    assert not any(found)
