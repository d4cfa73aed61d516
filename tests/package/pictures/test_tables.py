"""Tables as a cell shows them."""

import pytest
from lxml import html

from attnlib.pictures import table

HEAD = ["model", "exact", "runs"]
ROWS = [("<a> & b", 0.125, 5), ("longer", 1.0, 10)]


def test_html_holds_each_cell_under_its_heading():
    shown = html.fromstring(table(HEAD, ROWS, digits=3)._repr_html_())
    assert [cell.text for cell in shown.xpath("//th[@scope='col']")] == HEAD
    assert [cell.text for cell in shown.xpath("//th[@scope='row']")] == ["<a> & b", "longer"]
    assert [[cell.text for cell in row.xpath("td")] for row in shown.xpath("//tbody/tr")] == [
        ["0.125", "5"],
        ["1.000", "10"],
    ]


def test_text_has_straight_columns():
    assert repr(table(HEAD, ROWS)).splitlines() == [
        "model    exact  runs",
        "<a> & b   0.12     5",
        "longer    1.00    10",
    ]


@pytest.mark.parametrize("row", [("a", 1), ("a", 1, 2, 3), ()])
def test_rows_that_do_not_fit_are_refused(row):
    with pytest.raises(ValueError, match=rf"rows\[1\] has {len(row)} cells; expected 3"):
        table(HEAD, [("a", 1, 2), row])
