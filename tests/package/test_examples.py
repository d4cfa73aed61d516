"""The examples run as they are, with attnlib alone; a few steps of them, which learn little."""

import runpy

import pytest


@pytest.mark.parametrize("name", ["reverse", "cosine"])
def test_an_example_trains_and_translates(root, name, capsys):
    share = runpy.run_path(str(root / "examples" / f"{name}.py"))["main"](steps=3)
    assert 0 <= share < 1
    assert " -> " in capsys.readouterr().out
