"""What a page claims is tested after its cells, leaves no trace in what a reader has, and is told where it fails."""

import re
from pathlib import Path
from runpy import run_path

import nbformat
import pytest
from lxml import html
from nbformat.v4 import new_code_cell, new_notebook

from bookext.weaving import ASIDE, sections, weave

FALSE = "# %% after second\nx = 3\nassert x < 1, 'three is less'\n"


@pytest.fixture
def claims(tmp_path, root) -> Path:
    path = tmp_path / "tests" / "claims" / "index.py"
    path.parent.mkdir(parents=True)
    return path


def aside(reader: dict[str, object], code: str) -> None:
    run_path(ASIDE, {"reader": reader, "path": "claims.py", "above": 0, "code": code})


@pytest.mark.parametrize("extensions", ["bookext.claims", "bookext.claims bookext.execution"])
def test_a_false_claim_is_on_the_page_and_in_the_report_and_nowhere_else(chapter, claims, tmp_path, extensions):
    claims.write_text(FALSE)
    cells = [("first", "x = open('run', 'x') and 1"), ("second", "print('goes', 'on')"), ("third", "print(x, 1 / 0)")]
    made = [new_code_cell(source, id=name) for name, source in cells]
    status, page = chapter(extensions, *made, nb_execution_allow_errors=True)
    assert status == 1
    text = html.fromstring(page).text_content()
    assert "tests/claims/index.py, after second: AssertionError: three is less" in text
    assert "assert x < 1" in text
    assert "goes on" in text
    lines = (tmp_path / "out" / "claims.txt").read_text().splitlines()
    assert lines[1] == "  index, tests/claims/index.py, after second: AssertionError: three is less"
    assert lines[2] == "  index, cell 3: ZeroDivisionError: division by zero"
    assert "index.html" in lines[3]
    assert "run_path" not in (tmp_path / "out" / "_sources" / "index.ipynb.txt").read_text()


def test_claims_are_woven_behind_their_cells(claims):
    claims.write_text(f"# %% after first\nassert x\n\n\n{FALSE}")
    notebook = new_notebook(cells=[new_code_cell(f"{name} = 1", id=name) for name in ("first", "second")])
    woven = weave(notebook, claims)
    assert [cell.id for cell in woven.cells] == ["first", "after-first", "second", "after-second"]
    assert [cell.id for cell in notebook.cells] == ["first", "second"]
    assert sections(claims) == {"first": ("assert x", 1), "second": ("x = 3\nassert x < 1, 'three is less'", 5)}


def test_claims_see_what_the_reader_has_and_change_none_of_it():
    reader = {"x": 1}
    aside(reader, "y = x + 1\nx = 5\n\n\ndef ours():\n    return x, y")
    aside(reader, "assert (x, y, ours(), len([y])) == (1, 2, (5, 2), 1)")
    assert {name for name in reader if not name.startswith("__")} == {"x"}
    assert reader["x"] == 1
    with pytest.raises(NameError, match="'z'"):
        aside(reader, "z")


def test_each_section_follows_one_cell_of_its_notebook(notebook_path, root):
    text = (root / "tests" / "claims" / f"{notebook_path.stem}.py").read_text(encoding="utf-8")
    keys = re.findall(r"^# *%%.*?(\S+)$", text, re.MULTILINE)
    ids = [cell.id for cell in nbformat.read(notebook_path, as_version=4).cells if cell.cell_type == "code"]
    assert keys == [name for name in ids if name in keys]
    assert len({*ids}) == len(ids)
    assert text.startswith("# %% after ")


def test_every_file_of_claims_has_its_notebook(notebook_paths, root):
    files = {path.stem for path in (root / "tests" / "claims").glob("*.py")}
    assert files <= {path.stem for path in notebook_paths}


def test_what_is_not_compared_is_claimed_something_of(notebook_path, root):
    claimed = sections(root / "tests" / "claims" / f"{notebook_path.stem}.py")
    cells = [cell for cell in nbformat.read(notebook_path, as_version=4).cells if cell.cell_type == "code"]
    for cell, after in zip(cells, [*cells[1:], new_code_cell()], strict=True):
        if "nbval-ignore-output" in cell.metadata.get("tags", []):
            assert "assert" in str(claimed.get(cell.id)) + after.source, cell.id
