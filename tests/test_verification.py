"""The verification: its parts, its record, and the page that shows the record."""

import json
import sys
from importlib import import_module

import pytest
from docutils import nodes

from bookext.verification import found
from verify import processors, suites, versions
from verify.__main__ import PARTS, show
from verify.record import RECORD, ROOT, Found, keep, read

FOUND = Found(["what", "how many"], [["mice", "3"], ["cats", "11"]], ["All are grey."], [])


@pytest.mark.parametrize("part", PARTS)
def test_each_part_can_be_run_and_has_its_place_on_the_page(part):
    assert callable(import_module(f"verify.{part}").verify)
    assert f"```{{verification}} {part}\n" in (ROOT / "book" / "verification.md").read_text(encoding="utf-8")


def test_the_record_has_every_part_and_nothing_failed():
    assert set(read()) == set(PARTS)
    assert {part: kept["failures"] for part, kept in read().items() if kept["failures"]} == {}


def test_a_part_takes_the_place_of_what_it_found_before(tmp_path):
    path = tmp_path / "record.json"
    assert read(path) == {}
    keep("one", FOUND, path)
    keep("other", FOUND._replace(failures=["a dog"]), path)
    keep("one", FOUND._replace(rows=[]), path)
    record = read(path)
    assert {part: (kept["rows"], kept["failures"]) for part, kept in record.items()} == {
        "one": ([], []),
        "other": (FOUND.rows, ["a dog"]),
    }
    assert all(set(kept) == {"date", "revision", "processor", *Found._fields} for kept in record.values())


def test_the_table_lines_up_and_failures_are_said(capsys):
    show("animals", FOUND._replace(failures=["a dog"]))
    assert capsys.readouterr().out.splitlines() == [
        "",
        "animals",
        "  what  how many",
        "  mice  3",
        "  cats  11",
        "  All are grey.",
        "  FAILED: a dog",
    ]


@pytest.mark.parametrize("failures", [[], ["a dog", "a horse"]])
def test_the_page_shows_the_record_whole(tmp_path, failures):
    keep("one", FOUND._replace(failures=failures), tmp_path / "record.json")
    kept = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))["one"]
    page = nodes.container("", *found(kept))
    assert [cell.astext() for cell in page.findall(nodes.entry)] == ["what", "how many", "mice", "3", "cats", "11"]
    text = page.astext()
    assert all(said in text for said in ["All are grey.", kept["date"], kept["revision"], *failures])
    assert ("Nothing failed." in text) == (not failures)


def test_processors_are_what_they_say_or_it_is_noticed():
    plain = {"threads": 4, "torch": "AVX512", "numpy": ["X86_V3", "X86_V4"], "openblas": ["SkylakeX"]}
    asis, one, scalar, narrower, narrow, old, every = (known.shows for known in processors.processors(plain))
    imitated = {"threads": 1, "torch": "DEFAULT", "numpy": [], "openblas": ["Katmai"]}
    assert asis(plain)
    assert not asis(imitated)
    assert narrower(plain | {"torch": "AVX2"})
    assert [shows(plain) for shows in (one, scalar, narrower, narrow, old, every)] == [False] * 6
    assert [shows(imitated) for shows in (one, scalar, narrow, old, every)] == [True] * 5
    assert [every(imitated | {name: plain[name]}) for name in plain] == [False] * 4


def test_numpy_can_be_made_to_do_without_vector_instructions():
    plain = processors.probe({})
    narrow = processors.processors(plain)[4]
    assert processors.probe(narrow.environment)["numpy"] == []


def test_versions_are_pinned_to_the_lower_bound():
    pins = {versions.oldest(requirement) for requirement in versions.requirements()}
    assert {"numpy==2.0", "jupyter-book==1.0.4"} <= pins
    assert len(pins) == len(versions.requirements())


def test_a_python_that_is_not_there_is_not_found(monkeypatch, tmp_path):
    assert versions.interpreter("3.99") is None
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    folder = tmp_path / "versions" / "3.99.1" / "bin"
    folder.mkdir(parents=True)
    (folder / "python").write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    (folder / "python").chmod(0o755)
    assert versions.interpreter("3.99") == str(folder / "python")
    (folder / "python").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    assert versions.interpreter("3.99") is None


def test_what_pytest_says_is_counted(tmp_path):
    file = tmp_path / "test_small.py"
    source = "import pytest\n\n\ndef test_a():\n    pass\n\n\ndef test_b():\n    assert False\n\n\n"
    file.write_text(source + "@pytest.mark.skip\ndef test_c():\n    pass\n", encoding="utf-8")
    cases, failures = suites.pytest(sys.executable, {}, file)
    assert len(cases) == 3
    assert [failure.split(": ")[1] for failure in failures] == ["test_b", "test_c"]
    cases, (reason,) = suites.pytest(sys.executable, {}, "--no-such-option")
    assert cases == []
    assert "--no-such-option" in reason
    assert str(ROOT) not in reason


def test_the_unit_tests_are_those_of_the_package():
    names = {file.name for file in suites.unit_tests()}
    assert {"test_attention.py", "test_experiments.py", "test_bugs.py"} <= names
    assert not {"test_book.py", "test_environments.py", "test_notebooks.py"} & names
    assert RECORD.parent == ROOT / "book"
