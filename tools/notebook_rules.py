"""Hold the notebooks to what a reader, on Colab, on GitHub, in JupyterLab or in the book, may rely on.

What nbval compares, and what the tests of the built pages see, is left to them. Each rule is a function from a
notebook's cells to its complaints: the number of a cell, counted from 0, and what is wrong with it. Run as
``python tools/notebook_rules.py [notebook ...]``; without a name, all of them.
"""

import re
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from refresh import FOLDED, NOTEBOOKS, code, normalised

Cells = list[NotebookNode]
Complaints = Iterator[tuple[int, str]]

LONGEST = 20  # lines of a cell
TAGS = {*FOLDED, "nbval-ignore-output"}
OUTPUTS = {"text/plain", "text/html", "text/latex", "text/markdown", "image/png"}
NOT_PLAIN = {  # in Markdown whose code and mathematics are taken out
    "HTML, except for folded answers": r"<(?!https?:|/?(?:details|summary)>)[a-zA-Z!/]",
    "a directive": r"^ *(?:`{3,}|:{3,}) *\{",
    "a role": r"\{[\w:-]+\}\0",
    "a target": r"^\([\w-]+\)=",
    "a footnote or an alert": r"\[\^|\[!\w+\]",
    "an absolute path": r"\]\(/",
}
PATH = r"(?:^|[\s\"'(=,\[])(?:~?/[\w.+-]+/[\w.+-]|[A-Za-z]:\\\w|file://)"


def tags(cell: NotebookNode) -> set[str]:
    """List the tags of a cell."""
    return {*cell.metadata.get("tags", [])}


def shown(cell: NotebookNode) -> list[tuple[str, str]]:
    """List what a cell's outputs show, with its kind; what the cell prints is plain text."""
    printed = [("text/plain", output.text) for output in cell.outputs if output.output_type == "stream"]
    return printed + [kind_and_text for output in cell.outputs for kind_and_text in output.get("data", {}).items()]


def prose(cell: NotebookNode) -> str:
    """Remove code and mathematics from a text."""
    without_code = re.sub(r"^```\w*\n.*?^```|`[^`\n]+`", "\0", cell.source, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"\$\$.+?\$\$|\$[^$]+\$", "\1", without_code, flags=re.DOTALL)


def executed_in_order(cells: Cells) -> Complaints:
    """Find cells that were not run once, from top to bottom, or whose tags keep them from being run and compared."""
    for expected, (i, cell) in enumerate(code(cells), 1):
        if cell.execution_count != expected:
            yield i, f"execution count {cell.execution_count}, expected {expected}"
        if unknown := tags(cell) - TAGS:
            yield i, f"unknown tags {unknown}"


def quiet_outputs(cells: Cells) -> Complaints:
    """Find in outputs what alarms, what names a path of one machine, and kinds that some readers do not see."""
    for i, cell in code(cells):
        yield from ((i, f"stderr: {output.text}") for output in cell.outputs if output.get("name") == "stderr")
        for kind, text in shown(cell):
            if kind not in OUTPUTS:
                yield i, f"an output is {kind}"
            elif kind != "image/png" and re.search(PATH, text):
                yield i, "an absolute path"


def described_figures(cells: Cells) -> Complaints:
    """Find figures that do not say in words what there is to see, or turn their colors in the dark theme."""
    for i, cell in code(cells):
        figures = [kind for kind, _ in shown(cell)].count("image/png")
        image = {"alt": "", "classes": ""} | cell.metadata.get("mystnb", {}).get("image", {})
        if figures > 1:
            yield i, f"{figures} figures share one description"
        if figures and (len(image["alt"]) < 40 or " " not in image["alt"]):
            yield i, f"alt text {image['alt']!r} does not say what there is to see"
        if figures and "dark-light" not in image["classes"]:
            yield i, "a figure without the class dark-light"


def plain_markdown(cells: Cells) -> Complaints:
    """Find in texts what not every reader of Markdown understands, or mathematics not between dollars."""
    for i, cell in enumerate(cells):
        if cell.cell_type == "markdown":
            matches = [(what, re.search(how, prose(cell), re.MULTILINE)) for what, how in NOT_PLAIN.items()]
            yield from ((i, f"{what}: {match.group()!r}") for what, match in matches if match)


def short_cells(cells: Cells) -> Complaints:
    """Find cells that are too long for a reader's head; what is blank or an assert is not counted."""
    for i, cell in code(cells):
        lines = sum(not re.match(r"\s*$|assert ", line) for line in cell.source.splitlines())
        if lines > LONGEST:
            yield i, f"{lines} lines, {LONGEST} at most"


RULES = [executed_in_order, quiet_outputs, described_figures, plain_markdown, short_cells]


def main(paths: list[Path]) -> list[str]:
    """List all complaints of these notebooks."""
    complaints = []
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        if normalised(deepcopy(notebook)) != notebook:
            complaints.append(f"{path.name}: its metadata or folds are not those that `make refresh` stores")
        complaints += [
            f"{path.name}, cell {i}: {what} ({rule.__name__})" for rule in RULES for i, what in rule(notebook.cells)
        ]
    return complaints


if __name__ == "__main__":
    complaints = main([*map(Path, sys.argv[1:])] or NOTEBOOKS)
    print(*complaints, sep="\n", end="\n" if complaints else "")
    sys.exit(bool(complaints))
