"""A page shows what a cell printed, line by line, however the kernel cut it into pieces."""

from lxml import html
from nbformat.v4 import new_code_cell

CELL = """
import time
print("half", end="", flush=True)
time.sleep(0.5)
print(" a line", flush=True)
display("shown")
print("and then another")
"""


def test_a_line_that_is_flushed_half_way_stays_one(chapter):
    _, page = chapter("bookext.execution", new_code_cell(CELL))
    shown = html.fromstring(page).xpath("//*[contains(@class, 'cell_output')]//pre")
    assert [pre.text_content() for pre in shown] == ["half a line\n", "'shown'\n", "and then another\n"]
