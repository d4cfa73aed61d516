"""A notebook's claims, woven between its cells where it is executed: in the book's build and by `pytest --nbval`.

A notebook is its page. What is claimed of it stands in ``tests/claims``, one file a notebook, in sections that begin
with ``# %% after`` and the id of the cell after which they run.
"""

import re
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

ASIDE = str(Path(__file__).with_name("aside.py"))
SECTION = re.compile(r"^# %% after (\S+)\n(.*?)(?=^# %% |\Z)", re.MULTILINE | re.DOTALL)


def sections(claims: Path) -> dict[str, tuple[str, int]]:
    """Map cells to what is claimed after them, and to the number of lines before it in the file."""
    text = claims.read_text(encoding="utf-8") if claims.is_file() else ""
    return {found[1]: (found[2].rstrip(), text.count("\n", 0, found.start(2))) for found in SECTION.finditer(text)}


def weave(notebook: NotebookNode, claims: Path) -> NotebookNode:
    """Insert each section of the claims behind its cell, as a cell that no page shows."""
    after, cells = sections(claims), []
    for cell in notebook.cells:
        cells.append(cell)
        if cell.get("id") in after:
            code, above = after[cell.id]
            given = f"dict(reader=globals(), path={str(claims)!r}, above={above}, code={code!r})"
            metadata = {"tags": ["remove-cell"], "claims": cell.id}
            source = f"__import__('runpy').run_path({ASIDE!r}, {given}) and None"
            cells.append(new_code_cell(source, id=f"after-{cell.id}", metadata=metadata))
    return NotebookNode(notebook | {"cells": cells})
