"""A page shows what a cell printed, line by line, however the kernel cut it into pieces."""

from lxml import html
from nbformat import write
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

CELL = """
import time
print("half", end="", flush=True)
time.sleep(0.5)
print(" a line", flush=True)
display("shown")
print("and then another")
"""
SETTINGS = {"extensions": ["myst_nb", "bookext.streams"], "nb_execution_mode": "force", "nb_merge_streams": True}


def test_a_line_that_is_flushed_half_way_stays_one(tmp_path):
    write(new_notebook(cells=[new_markdown_cell("# A page"), new_code_cell(CELL)]), tmp_path / "index.ipynb")
    out = tmp_path / "out"
    with patch_docutils(), docutils_namespace():
        Sphinx(tmp_path, None, out, tmp_path / "trees", "html", SETTINGS, status=None, warning=None).build()
    shown = html.fromstring((out / "index.html").read_bytes()).xpath("//*[contains(@class, 'cell_output')]//pre")
    assert [pre.text_content() for pre in shown] == ["half a line\n", "'shown'\n", "and then another\n"]
