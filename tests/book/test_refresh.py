"""`make refresh`: what is printed twice is stored in the same bytes, and a notebook is replaced as a whole or not."""

from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

from refresh import METADATA, refresh


def notebook(path: Path, *sources: str) -> Path:
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in sources]), path)
    return path


CARD = "from IPython.display import HTML\n\nHTML('<p>a</p><!-- carried -->weights<!-- /carried -->')"


def test_two_runs_store_the_same_bytes_without_what_a_card_carries(tmp_path):
    path = notebook(tmp_path / "small.ipynb", "print(1, flush=True)\nprint(2)", "6 * 7", CARD)
    assert refresh(path)
    assert not refresh(path)
    first, value, card = nbformat.read(path, as_version=4).cells
    assert [output.text for output in first.outputs] == ["1\n2\n"]
    assert first.metadata == {}
    assert value.outputs[0].data["text/plain"] == "42"
    assert nbformat.read(path, as_version=4).metadata == METADATA
    assert card.outputs[0].data["text/html"] == "<p>a</p><!-- carried --><!-- /carried -->"


def test_a_refresh_that_fails_leaves_the_notebook_as_it_was(tmp_path):
    path = notebook(tmp_path / "small.ipynb", "x = 0", "assert x == 1")
    before = path.read_bytes()
    with pytest.raises(CellExecutionError):
        refresh(path)
    assert path.read_bytes() == before
