"""What `make verify` stands on: that it notices what it looks for."""

import pytest
from nbformat.v4 import new_output
from packaging.requirements import Requirement

from verify import Found, mutants, versions
from verify.__main__ import PARTS, table
from verify.mutating import change
from verify.mutating import mutants as mutants_of
from verify.tampering import tampered

SOURCE = '''
"""Say nothing."""


class Line:
    """A line through the origin."""

    slope: int = 2

    def __init__(self):
        """Begin at 0."""
        self.x: int = 0

    @staticmethod
    def at(x: int = 3) -> int:
        """Double it."""
        if len(x + 1) > 4:
            raise ValueError(f"x is {x + 1}")
        return sum(zip(x, x, strict=True))


@cache
def double(x):
    return x * 2


limit = 1 + 1
'''
CHANGES = {
    *("self.x: int = None", "self.x: int = 1", "def at(x: int = 4) -> int:", "return x / 2", "return x * 3"),
    *("if len(x - 1) > 4:", "if len(x + 2) > 4:", "if len(x + 1) >= 4:", "if len(x + 1) > 5:"),
    *("return sum(None)", "return sum(zip(None, x, strict=True))", "return sum(zip(x, None, strict=True))"),
    "return sum(zip(x, strict=True))",
}


def test_mutants_change_one_thing_in_a_function_and_no_text_annotation_decorator_error_or_strict():
    made = [*mutants_of(SOURCE)]
    assert {change(SOURCE, mutant.source).split("becomes ")[1].strip("'") for mutant in made} == CHANGES
    assert {mutant.function for mutant in made} == {"Line.__init__", "Line.at", "double"}
    assert all(len(mutant.source.splitlines()) == len(SOURCE.splitlines()) for mutant in made)


def test_mutants_survive_where_a_test_looks_away_and_are_noticed_where_it_looks(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    source = "def double(x):\n    return x * 2\n\n\ndef count():\n    while x := 0:\n        pass\n    return x\n"
    (tmp_path / "lines.py").write_text(source, encoding="utf-8")
    test = tmp_path / "test_lines.py"
    test.write_text(
        "from lines import count, double\n\ndef test():\n    assert double(3) > 4 and count() == 0\n", encoding="utf-8"
    )
    tried, survivors = mutants.hunt("lines", [test])
    assert survivors == ["lines.double: 'return x * 2' becomes 'return x * 3'"]
    assert tried == 3  # of the two that are noticed, one computes something else, and one counts for ever


@pytest.mark.parametrize(("survivors", "enough"), [(3, True), (4, False)])
def test_97_of_100_mutants_of_each_module_have_to_be_noticed(survivors, enough):
    rows, failures = mutants.judged({"search": (100, ["a"] * survivors), "scores": (1000, [])})
    assert rows[1:] == [
        ["search", "100", str(100 - survivors), f"{100 - survivors}.0"],
        ["scores", "1000", "1000", "100.0"],
    ]
    assert failures == ([] if enough else ["search: expected at least 97 per cent"])


def test_tampering_changes_every_number_and_nothing_else():
    outputs = [
        new_output("stream", name="stdout", text="a 1.50 and 2e-09\n"),
        new_output("execute_result", {"text/plain": "x3", "image/png": "aGk0"}),
    ]
    changed = [*tampered(outputs)]
    assert [number for number, _ in changed] == ["1.50", "2e-09", "3"]
    assert [copies[0].text for _, copies in changed[:2]] == ["a 1.51 and 2e-09\n", "a 1.50 and 2e-00\n"]
    assert changed[2][1][1].data == {"text/plain": "x4", "image/png": "aGk0"}


def test_versions_are_pinned_to_the_lower_bound():
    assert versions.oldest(Requirement("jupyter-book<2,>=1.0.4")) == "jupyter-book==1.0.4"
    assert len({versions.oldest(requirement) for requirement in versions.requirements()}) == len(
        versions.requirements()
    )


def test_the_page_shows_every_part_as_a_table(root):
    page = (root / "book" / "verification.md").read_text(encoding="utf-8")
    assert [part for part in PARTS if f"```{{include}} verification/{part}.md\n" not in page] == []
    head, rule, row, *_ = table(Found([["what", "how many"], ["mice", "3"]], [])).splitlines()
    assert (head, rule, row) == ("| what | how many |", "| --- | --- |", "| mice | 3 |")
