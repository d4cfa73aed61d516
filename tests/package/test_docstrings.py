"""What linters do not demand of docstrings: the parameters of what chapters use, an example of what is exported."""

import ast
import json
import re
from doctest import DocTestFinder, DocTestRunner
from pathlib import Path

import pytest

import attnbook
import attnlib

CONSTANTS = {"PAD", "BOS", "EOS", "UNK"}


def takes_several(function: ast.FunctionDef) -> bool:
    names = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    return len(names - {"self", "cls"}) > 1


def test_a_function_that_a_chapter_uses_or_the_package_exports_documents_its_parameters(root):
    pages = [json.loads(path.read_text("utf-8")) for path in root.glob("notebooks/**/*.ipynb")]
    cells = ["".join(cell["source"]) for page in pages for cell in page["cells"] if cell["cell_type"] == "code"]
    code = "\n".join(cells)
    imports = re.findall(r"from attn[\w.]* import (\([^)]*\)|.*)", code)
    imported = {name for names in imports for name in re.findall(r"\w+", names)}
    used = {*attnlib.__all__, *attnbook.__all__, *imported, *re.findall(rf"\b(?:{'|'.join(imported)})\.(\w+)", code)}
    found = {}
    for path in Path(attnlib.__file__).parents[1].rglob("*.py"):
        nodes = [node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]
        functions = [node for node in nodes if node.name in used and takes_several(node)]
        found |= {f"{path}:{node.lineno}": ast.get_docstring(node) or "" for node in functions}
    assert len(found) > 50
    assert [place for place, text in found.items() if "Parameters\n" not in text] == []


@pytest.mark.parametrize("name", sorted({*attnlib.__all__} - CONSTANTS))
def test_an_exported_name_has_an_example_that_runs(name):
    example, *_ = DocTestFinder(recurse=False).find(getattr(attnlib, name), name, globs={})
    assert example.examples
    assert DocTestRunner().run(example).failed == 0
