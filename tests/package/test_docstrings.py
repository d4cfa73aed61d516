"""Each name at the front door has an example that runs."""

from doctest import DocTestFinder, DocTestRunner

import pytest

import attnlib

CONSTANTS = {"PAD", "BOS", "EOS", "UNK"}


@pytest.mark.parametrize("name", sorted({*attnlib.__all__} - CONSTANTS))
def test_an_exported_name_has_an_example_that_runs(name):
    example, *_ = DocTestFinder(recurse=False).find(getattr(attnlib, name), name, globs={})
    assert example.examples
    assert DocTestRunner().run(example).failed == 0
