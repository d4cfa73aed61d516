"""Each rule that `make lint` holds the notebooks to lets a chapter pass, and finds what offends it."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_output

import notebook_rules as rules
from notebook_rules import Cells

CHAPTER = nbformat.read(Path(__file__).parents[2] / "notebooks/03-luong-global-and-local.ipynb", as_version=4).cells
CODE = rules.code(CHAPTER)


def first(suits: Callable[[NotebookNode], bool]) -> int:
    return next(number for number, cell in CODE if suits(cell))


LAST = CODE[-1][0]
SECTION = next(number for number, cell in enumerate(CHAPTER) if cell.source.startswith("## "))
STREAM = first(lambda cell: any(output.output_type == "stream" for output in cell.outputs))
VALUE = first(lambda cell: any(output.output_type == "execute_result" for output in cell.outputs))
FIGURE = first(lambda cell: "image/png" in dict(rules.shown(cell)))


Tampering = Callable[[Cells], None]


def at(index: int, **changes: object) -> Tampering:
    return lambda made: made[index].update(nbformat.from_dict(changes))


def marked(index: int, **metadata: object) -> Tampering:
    return at(index, metadata=metadata)


def writes(text: str) -> Tampering:
    return at(SECTION, source=f"## Section\n\n{text}")


def runs(source: str) -> Tampering:
    return at(LAST, source=source)


def says(text: str, name: str = "stdout") -> Tampering:
    return at(STREAM, outputs=[new_output("stream", text=text, name=name)])


def image(**options: str) -> Tampering:
    return marked(FIGURE, mystnb={"image": CHAPTER[FIGURE].metadata.mystnb.image | options})


OFFENCES: dict[str, list[Tampering]] = {
    "executed_in_order": [
        *(at(VALUE, execution_count=99), at(LAST, execution_count=None), lambda made: made.pop(STREAM)),
        *(marked(LAST, tags=[tag]) for tag in ("nbval-skip", "raises-exception")),
    ],
    "plain_markdown": [
        *(writes(text) for text in ("```{note}\nA directive.\n```", ":::{note}\nText.\n:::", "{cite:p}`bahdanau`")),
        *(writes(text) for text in ("(target)=\nText.", "A note[^1].", "> [!NOTE]", "<b>bold</b>", "<!-- hidden -->")),
        writes("[a](/b.md)"),
    ],
    "quiet_outputs": [
        *(says(text) for text in ("/srv/someone/book.py", "saved to 'C:\\book'")),
        says("hm", name="stderr"),
        at(VALUE, outputs=[new_output("execute_result", {"image/svg+xml": "<svg/>"})]),
    ],
    "described_figures": [
        *(image(alt=alt) for alt in ("", "A heat map.", "_build/1f3b1e7d132e3f24b5fda34050a0a720e3cb95.png")),
        image(classes=""),
        marked(FIGURE),
        lambda made: made[FIGURE].outputs.extend(made[FIGURE].outputs),
    ],
    "folded_alike": [
        *(marked(LAST, tags=[tag]) for tag in rules.FOLDED),
        *(marked(LAST, **folding) for folding in rules.FOLDED.values()),
    ],
    "short_cells": [runs("y = 1\n" * 21)],
}


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_a_chapter_passes_and_each_offence_is_found(rule):
    assert [*rule(CHAPTER)] == []
    for number, tampering in enumerate(OFFENCES[rule.__name__]):
        made = deepcopy(CHAPTER)
        tampering(made)
        assert [*rule(made)], f"offence {number} is not found"
