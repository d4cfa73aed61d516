"""Tables as a cell shows them, what all cards have in common, and what they refuse."""

import pytest
from hatchling.builders.wheel import WheelBuilder
from lxml import html

from attnlib.plotting import table
from attnlib.plotting.cards import Question, two_decimals, width

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


@pytest.mark.parametrize(("number", "text"), [(0.125, "0.13"), (0.285, "0.28"), (0.994, "0.99"), (2, "2.00")])
def test_two_decimals_round_a_half_up(number, text):
    assert two_decimals(number) == text


def test_wide_letters_get_room():
    assert width(["日本語"]) == width(["ABCDEF"]) > width(["ABC", "A"])


def test_scripts_and_styles_are_in_the_wheel(root):
    packed = {file.distribution_path for file in WheelBuilder(str(root)).recurse_included_files()}
    kinds = ("cards", "demo", "plane", "player", "page")
    assert {f"attnlib/plotting/{kind}.{ending}" for kind in kinds for ending in ("css", "js")} <= packed
    assert {"attnlib/plotting/equations.json", "attnlib/plotting/recurrent.js"} <= packed


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: table(HEAD, [("a", 1, 2), ("a", 1)]), r"rows\[1\] has 2 cells; expected 3, as many as"),
        (lambda: Question("?", ["a"], 1, "", {}), "right is 1; expected the position of one of 1 choices"),
        (lambda: table([], [()]), r"rows\[0\] has 0 cells; expected 0, as many as head, at least one"),
    ],
)
def test_what_does_not_fit_is_refused(call, says, refused):
    refused(call, says)
