"""If a claim does not hold on a reader's machine, every page is there all the same, and says what failed."""

from lxml import html
from nbformat.v4 import new_code_cell


def test_a_false_claim_is_on_the_page_and_in_the_report_and_what_follows_is_run(chapter, tmp_path):
    false = new_code_cell("assert 2 < 1, 'two is less'", metadata={"tags": ["remove-cell"]})
    cells = false, new_code_cell("print('went', 'on')")
    status, page = chapter("bookext.claims", *cells, nb_execution_allow_errors=True)
    assert status == 1
    text = html.fromstring(page).text_content()
    assert "cell 1: AssertionError: two is less" in text
    assert "assert 2 < 1" in text
    assert "went on" in text
    lines = (tmp_path / "out" / "claims.txt").read_text().splitlines()
    assert lines[1] == "  index, cell 1: AssertionError: two is less"
    assert "index.html" in lines[2]


def test_where_every_claim_holds_nothing_is_said(chapter, tmp_path):
    status, page = chapter("bookext.claims", new_code_cell("assert 1 < 2"))
    assert status == 0
    assert b"ended with an error" not in page
    assert not (tmp_path / "out" / "claims.txt").exists()
