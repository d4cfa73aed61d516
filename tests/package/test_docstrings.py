"""What linters do not demand of docstrings: parameters where there are several, an example of what is exported."""

import inspect
from collections.abc import Iterator
from doctest import DocTestFinder, DocTestRunner
from importlib import import_module
from pkgutil import walk_packages

import pytest

import attnlib

CONSTANTS = {"PAD", "BOS", "EOS", "UNK"}


def public_functions() -> Iterator[tuple[str, str | None]]:
    """Yield the name and the docstring of every public function and method with two or more parameters."""
    for found in walk_packages(attnlib.__path__, "attnlib."):
        module = import_module(found.name)
        own = [x for name, x in vars(module).items() if name[0] != "_" and getattr(x, "__module__", "") == found.name]
        functions = [x for x in own if inspect.isfunction(x)]
        for kind in filter(inspect.isclass, own):
            members = [getattr(x, "__func__", x) for name, x in vars(kind).items() if name[0] != "_"]
            functions += [x for x in members if inspect.isfunction(x) and x.__module__ == found.name]
        for function in functions:
            if len(inspect.signature(function).parameters.keys() - {"self", "cls"}) > 1:
                yield f"{found.name}.{function.__qualname__}", function.__doc__


def test_a_function_of_several_parameters_documents_them():
    found = dict(public_functions())
    assert len(found) > 100
    assert [name for name, text in found.items() if "Parameters\n" not in (text or "")] == []


@pytest.mark.parametrize("name", sorted({*attnlib.__all__} - CONSTANTS))
def test_an_exported_name_has_an_example_that_runs(name):
    example, *_ = DocTestFinder(recurse=False).find(getattr(attnlib, name), name, globs={})
    assert example.examples
    assert DocTestRunner().run(example).failed == 0
