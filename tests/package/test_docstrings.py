"""What linters do not demand of docstrings: parameters where there are several, an example of what is exported."""

import ast
from doctest import DocTestFinder, DocTestRunner
from pathlib import Path

import pytest

import attnlib

CONSTANTS = {"PAD", "BOS", "EOS", "UNK"}


def public(nodes: list[ast.stmt]) -> list[ast.stmt]:
    return [node for node in nodes if getattr(node, "name", "_")[0] != "_"]


def takes_several(function: ast.FunctionDef) -> bool:
    names = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    return len(names - {"self", "cls"}) > 1


def test_a_public_function_or_method_of_several_parameters_documents_them():
    found = {}
    for path in Path(attnlib.__file__).parent.rglob("*.py"):
        nodes = public(ast.parse(path.read_text("utf-8")).body)
        nodes += [method for node in nodes if isinstance(node, ast.ClassDef) for method in public(node.body)]
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and takes_several(node)]
        found |= {f"{path}:{node.lineno}": ast.get_docstring(node) or "" for node in functions}
    assert len(found) > 100
    assert [place for place, text in found.items() if "Parameters\n" not in text] == []


@pytest.mark.parametrize("name", sorted({*attnlib.__all__} - CONSTANTS))
def test_an_exported_name_has_an_example_that_runs(name):
    example, *_ = DocTestFinder(recurse=False).find(getattr(attnlib, name), name, globs={})
    assert example.examples
    assert DocTestRunner().run(example).failed == 0
