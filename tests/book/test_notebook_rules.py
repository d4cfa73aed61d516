"""Each rule that `make lint` holds the notebooks to lets a good notebook pass, and finds what offends it."""

from collections.abc import Callable

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import notebook_rules as rules
from notebook_rules import Cells

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
ALT = "A square of one pixel, which is the smallest figure that there can be"
TOP = "Reading takes about 5 minutes, running all cells about 20 seconds."
FOLDED = f"<details>\n<summary>Why</summary>\n\n{'word ' * 999}\n\n</details>"
TITLE, IMPORTS, SECTION, STREAM, VALUE, FIGURE, IGNORED, CHECK, LAST = range(9)


def cells() -> Cells:
    """Make the cells of a small notebook that keeps all the rules."""
    image = {"mystnb": {"image": {"alt": ALT, "classes": "dark-light"}}}
    made = [
        new_markdown_cell(f"# Title\n\nText with $a < b$, `<code>` and a [link](other.md).\n\n{TOP}"),
        new_code_cell("if False:\n    %pip install attnlib\n\nfrom attnlib import attention"),
        new_markdown_cell(
            f"## Section\n\n{FOLDED}\n\n$$x \\tag{{1.1}}$$\n\nBy (1.1), so:\n\n```python\nx = {{}}[`<b>`]\n```"
        ),
        new_code_cell("print(0.25)", outputs=[new_output("stream", text="0.2500 0.98522025\n")]),
        new_code_cell("12 + 5", outputs=[new_output("execute_result", {"text/plain": "17"})]),
        new_code_cell("draw()", metadata=image, outputs=[new_output("display_data", {"image/png": PIXEL})]),
        new_code_cell(
            "print(seconds)",
            metadata={"tags": ["nbval-ignore-output"]},
            outputs=[new_output("stream", text="1.23456\n")],
        ),
        new_code_cell("assert seconds < 2", metadata={"tags": ["hide-cell"]}),
        new_code_cell("y = 1", metadata={"tags": ["hide-cell"]}),
    ]
    for count, (_, cell) in enumerate(rules.code(made), 1):
        cell.execution_count = count
    return made


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
    return marked(FIGURE, mystnb={"image": {"alt": ALT, "classes": "dark-light"} | options})


OFFENCES: dict[str, list[Tampering]] = {
    "executed_in_order": [
        *(at(VALUE, execution_count=7), at(LAST, execution_count=None), lambda made: made.pop(STREAM)),
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
        lambda made: made[FIGURE].outputs.append(made[FIGURE].outputs[0]),
    ],
    "ignored_are_checked": [at(CHECK, source="seconds < 2"), marked(LAST, tags=["nbval-ignore-output"])],
    "short_cells": [runs("y = 1\n" * 21)],
    "honest_minutes": [
        *(at(TITLE, source=f"# Title\n\n{TOP}".replace("5", minutes)) for minutes in ("some", "15")),
        writes("word " * 1200),
        lambda made: made.extend(new_code_cell("y = 1") for _ in range(90)),
    ],
}


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_a_good_notebook_passes_and_each_offence_is_found(rule):
    assert [*rule(cells())] == []
    for number, tampering in enumerate(OFFENCES[rule.__name__]):
        made = cells()
        tampering(made)
        assert [*rule(made)], f"offence {number} is not found"


def test_the_cell_and_the_rule_are_said(tmp_path):
    path = tmp_path / "tiny.ipynb"
    made = cells()
    runs("y = 1\n" * 21)(made)
    nbformat.write(new_notebook(cells=made), path)
    assert rules.main([path]) == ["tiny.ipynb, cell 8: 21 lines, 20 at most (short_cells)"]
