"""What linters do not demand of docstrings: the parameters and an example of what is exported."""

import ast
from doctest import DocTestFinder, DocTestRunner
from pathlib import Path

import pytest

import attnbook
import attnlib

CONSTANTS = {"PAD", "BOS", "EOS", "UNK"}


def takes_several(function: ast.FunctionDef) -> bool:
    names = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    return len(names - {"self", "cls"}) > 1


def test_a_function_that_a_package_exports_documents_its_parameters():
    exported, found = {*attnlib.__all__, *attnbook.__all__}, {}
    for path in Path(attnlib.__file__).parents[1].rglob("*.py"):
        nodes = [node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]
        functions = [node for node in nodes if node.name in exported and takes_several(node)]
        found |= {f"{path}:{node.lineno}": ast.get_docstring(node) or "" for node in functions}
    assert len(found) > 15
    assert [place for place, text in found.items() if "Parameters\n" not in text] == []


@pytest.mark.parametrize("name", sorted({*attnlib.__all__} - CONSTANTS))
def test_an_exported_name_has_an_example_that_runs(name):
    example, *_ = DocTestFinder(recurse=False).find(getattr(attnlib, name), name, globs={})
    assert example.examples
    assert DocTestRunner().run(example).failed == 0
