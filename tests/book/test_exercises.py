"""Exercises: every check accepts the solution, and says to each typical wrong answer what is wrong with it.

The first chapter is run from top to bottom. Before the check of an exercise come the wrong answers, each with a check
of its own, and then the solution once more. The other chapters train models for minutes: `make exercises` runs them.
"""

import os
import re
import tomllib
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

WRONG = Path(__file__).parent / "wrong_answers"


def exercises(notebook: NotebookNode) -> dict[str, tuple[NotebookNode, int]]:
    """Find the solution of each exercise, and where its check is: the first cell after it that asserts."""
    solutions, heading = {}, None
    for n, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            heading = re.search(r"^### (Exercise \d+)", cell.source, re.MULTILINE) or heading
        elif "hide-cell" in cell.metadata.get("tags", []) and heading and heading[1] not in solutions:
            after = range(n + 1, len(notebook.cells))
            solutions[heading[1]] = cell, next(k for k in after if "assert " in notebook.cells[k].source)
    return solutions


def wrong_answers(path: Path) -> dict[str, list[dict[str, str]]]:
    answers = WRONG / f"{path.stem}.toml"
    return tomllib.loads(answers.read_text(encoding="utf-8")) if answers.is_file() else {}


def test_every_exercise_has_three_wrong_answers(notebook_path):
    """A chapter has five exercises or more, a page of the laboratory none."""
    answers, notebook = wrong_answers(notebook_path), nbformat.read(notebook_path, as_version=4)
    assert answers.keys() == exercises(notebook).keys()
    assert not answers if notebook_path.parent.name == "laboratory" else len(answers) >= 5
    for exercise, wrong in answers.items():
        assert len({answer["answer"] for answer in wrong}) >= 3, exercise


def test_checks_say_what_is_wrong(notebook_paths):
    chapters = notebook_paths if os.environ.get("EXERCISES") == "all" else notebook_paths[:1]
    for path in filter(wrong_answers, chapters):
        try_wrong_answers(path)


def try_wrong_answers(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    tried = []
    for exercise, (solution, check) in reversed(exercises(notebook).items()):
        cells = []
        for wrong in wrong_answers(path)[exercise]:
            verdict = new_code_cell(notebook.cells[check].source, metadata={"tags": ["raises-exception"]})
            cells += [new_code_cell(wrong["answer"].strip()), verdict]
            tried.append((exercise, wrong, verdict))
        notebook.cells[check:check] = [*cells, new_code_cell(solution.source)]
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    for exercise, wrong, verdict in tried:
        errors = [f"{output.ename}: {output.evalue}" for output in verdict.outputs if output.output_type == "error"]
        assert len(errors) == 1, f"{exercise} accepts\n{wrong['answer']}"
        assert errors[0].startswith("AssertionError: "), f"{exercise} says {errors[0]} to\n{wrong['answer']}"
        assert re.search(wrong["message"], errors[0]), f"{exercise} says {errors[0]} to\n{wrong['answer']}"
