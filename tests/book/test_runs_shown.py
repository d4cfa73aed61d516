"""No page shows fewer runs of a row than are recorded, and none of the planned rows is shown nowhere."""

import re

import nbformat
import pytest

from attnbook.experiments import Recording, read_plan

ENTRY = re.compile(r'data-row="([\w-]+)/([\w-]+)" data-runs="(\d+)"')
# Rows of which a page has a picture with every run as a dot, or a band with their number, but no entry in a table.
WHOLE = {  # tables of a plan whose rows must stand together on a page
    "05-real-sentences": ("sentences", ["models", "french"]),
    "content": ("world", ["reordering"]),
    "transformers": ("world", ["transformers"]),
    "judging": ("world", ["path", "order"]),
    "papers-tables": ("sentences", ["changes"]),
}


@pytest.fixture(scope="module")
def shown(notebook_paths) -> dict[str, set[tuple[str, str, int]]]:
    """Return plan, row, and number of runs of every entry of a table, by notebook."""
    pages = {}
    for path in notebook_paths:
        cells = nbformat.read(path, as_version=4).cells
        html = [out.get("data", {}).get("text/html", "") for cell in cells for out in cell.get("outputs", ())]
        pages[path.stem] = {(plan, row, int(n)) for text in html for plan, row, n in ENTRY.findall(text)}
    return pages


def test_every_row_is_shown_with_all_its_runs(shown):
    entries = set().union(*shown.values())
    assert len(entries) > 40
    for plan, row, n in entries:
        assert n == sum(model == row for model, _ in Recording(plan).recorded), (plan, row, n)


def test_every_planned_row_is_shown(shown):
    rows = {(plan, row) for entries in shown.values() for plan, row, _ in entries}
    for plan in ("world", "sentences"):
        assert {row for of, row in rows if of == plan} == {*read_plan(plan).configs}


@pytest.mark.parametrize("page", WHOLE)
def test_a_page_shows_its_tables_whole(shown, page):
    plan, tables = WHOLE[page]
    planned = {row["name"] for name in tables for row in read_plan(plan).contents["tables"][name]["rows"]}
    assert planned <= {row for _, row, _ in shown[page]}
