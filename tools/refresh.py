"""Execute the notebooks in place, in order, and normalise what they store.

Two runs that print the same values write the same bytes: outputs that arrive in pieces are joined, and nothing is
kept of when, where or how fast a cell ran. A notebook is replaced as a whole or not at all. Cards are stored without
the scripts and weights that they carry. What the page folds, JupyterLab and Colab fold.

Run as ``python tools/refresh.py [notebook ...]``; without a name, all of them.
"""

import sys
from glob import glob
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from nbformat import NotebookNode

from attnbook.cards.card import without_assets
from attntext.atomic_files import write_atomically

NOTEBOOKS = sorted(map(Path, glob(f"{Path(__file__).parents[1]}/notebooks/**/*.ipynb", recursive=True)))
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "name": "python"},  # of what nbconvert makes a script
}
FOLDED = {  # what JupyterLab and Colab fold for a tag of the page; VS Code remembers what a reader folds, no more
    "hide-input": {"jupyter": {"source_hidden": True}, "cellView": "form"},
    "hide-output": {"jupyter": {"outputs_hidden": True}},
    "hide-cell": {"jupyter": {"source_hidden": True, "outputs_hidden": True}, "cellView": "form"},
}
NOT_KEPT = {"execution", "collapsed", "scrolled", "jupyter", "cellView"}


def code(cells: list[NotebookNode]) -> list[tuple[int, NotebookNode]]:
    """Return the code cells with their numbers."""
    return [(i, cell) for i, cell in enumerate(cells) if cell.cell_type == "code"]


def folds(cell: NotebookNode) -> dict[str, object]:
    """Return the metadata that fold a cell outside the page as its tags fold it there."""
    tags = cell.metadata.get("tags", [])
    return {key: value for tag in tags for key, value in FOLDED.get(tag, {}).items()}


def executed(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """Run every cell from top to bottom in a new kernel, in that folder; a cell that raises ends it."""
    where = {"metadata": {"path": folder}}
    return NotebookClient(notebook, timeout=600, kernel_name="python3", resources=where).execute()


def normalised(notebook: NotebookNode) -> NotebookNode:
    """Normalize a notebook: drop what differs from run to run."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat_minor = 5
    for cell in notebook.cells:
        cell.metadata = {key: value for key, value in cell.metadata.items() if key not in NOT_KEPT}
    for _, cell in code(notebook.cells):
        cell.metadata |= folds(cell)
        CoalesceStreamsPreprocessor().preprocess_cell(cell, {}, 0)
        for output in cell.outputs:
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = without_assets(output.data["text/html"])
    return notebook


def refresh(path: Path) -> bool:
    """Execute and normalize one notebook, and return whether its bytes changed."""
    before = path.read_text(encoding="utf-8")
    notebook = normalised(executed(nbformat.reads(before, as_version=4), path.parent))
    after = nbformat.writes(notebook) + "\n"
    write_atomically(path, after.encode())
    return after != before


if __name__ == "__main__":
    for path in [Path(name) for name in sys.argv[1:]] or NOTEBOOKS:
        print(path.name, "changed" if refresh(path) else "as it was", flush=True)
