"""The lines of code that chapter 4 sets side by side are lines of chapters 2 and 3."""

import ast

import nbformat
import pytest


@pytest.mark.parametrize("name", ["chapter_2", "chapter_3"])
def test_the_lines_are_those_of_the_chapter(notebook_paths, name):
    sources = [
        [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        for path in notebook_paths[:4]
    ]
    (given,) = (ast.parse(source) for source in sources[3] if f"{name} = [" in source)
    (lines,) = (part.value for part in given.body if isinstance(part, ast.Assign) and part.targets[0].id == name)
    code = "\n".join(sources[int(name[-1]) - 1])
    assert [line for line in ast.literal_eval(lines) if line not in code] == []
