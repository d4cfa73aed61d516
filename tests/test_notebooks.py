"""What a reader, on Colab, on GitHub, in JupyterLab or in the book, may rely on in every notebook.

Each rule is a function from a notebook to its complaints. Each is shown to bite: a good notebook, tampered with,
makes it complain. Then the same for the comparison of stored outputs: change a digit of any stored number,
and nbval says so.
"""

import ast
import copy
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbval.plugin import IPyNbCell, IPyNbFile, coalesce_streams, find_comment_markers

Rule = Callable[[NotebookNode], list[str]]

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
TAGS = {"hide-cell", "hide-input", "hide-output", "nbval-ignore-output"}
CELL_METADATA = {"tags", "mystnb", "jupyter", "cellView"}
PLAIN_OUTPUTS = {"text/plain", "text/html", "text/latex", "text/markdown", "image/png"}
PUBLISHED = {  # what the sources print to more than four decimals, and the book with them
    *("0.98522025", "1.74174051", "0.75652026"),
    *("0.90965265", "1.40965265"),
    *("0.99851226", "1.75849334", "0.75998108"),
    *("0.99560386", "1.90407309", "0.90846923"),
}
SILENT = {"append", "extend", "manual_seed", "set_num_threads", "set_printoptions", "sort", "update"}  # give None
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
UNWANTED = {
    "an object's address": r"0x[0-9a-fA-F]{6,}",
    "an absolute path": r"(?:^|[\s\"'(=,\[])(?:~?/[\w.+-]+/[\w.+-]|[A-Za-z]:\\\w|file://)",
    "a warning": r"\b\w*Warning\b|\bDeprecat",
    "a progress bar": r"\r|█|\d+%\||\d(?:it/s|s/it)\b",
    "a terminal's control code": r"\x1b",
    "something that loads from elsewhere": r"(?:src|href)=[\"']?(?:https?:)?//|@import|<iframe",
}


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def parsed(cell: NotebookNode) -> ast.Module:
    return ast.parse(TransformerManager().transform_cell(cell.source))


def tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def texts(cell: NotebookNode) -> list[str]:
    """Read what the cell's outputs say, apart from pictures."""
    streams = [output.text for output in cell.outputs if output.output_type == "stream"]
    shown = [text for output in cell.outputs for kind, text in output.get("data", {}).items() if kind != "image/png"]
    return streams + shown


def markdown(source: str) -> list[Token]:
    """Read the source as CommonMark with tables and dollar signs, inline tokens beside their blocks."""
    blocks = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, allow_labels=False).parse(source)
    return [token for block in blocks for token in (block, *(block.children or []))]


def prose(notebook: NotebookNode) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


# --- The rules ---


def executed_in_order(notebook: NotebookNode) -> list[str]:
    counts = [cell.execution_count for cell in code_cells(notebook)]
    return [] if counts == [*range(1, len(counts) + 1)] else [f"execution counts are {counts}"]


def runs_always(statements: list[ast.stmt]) -> Iterator[ast.expr]:
    """Yield the calls that running these statements makes, apart from those under a condition or in a definition."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.If | ast.Try):
            continue
        for field in ast.iter_child_nodes(statement):
            if isinstance(field, ast.expr):
                yield from (node for node in ast.walk(field) if isinstance(node, ast.Call))
        yield from runs_always([node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.stmt)])


def name(call: ast.Call) -> str:
    return ast.unparse(call.func).split(".")[-1]


def shows(cell: NotebookNode) -> bool:
    """Say whether a cell prints, draws or ends in a value, as far as its source tells."""
    statements = parsed(cell).body
    called = {name(call) for call in runs_always(statements)}
    if called & {"print", "display", "show", "subplots", "figure"}:
        return True
    last = statements[-1] if statements else None
    ends_in_value = isinstance(last, ast.Expr) and not cell.source.rstrip().endswith(";")
    return ends_in_value and not (isinstance(last.value, ast.Call) and name(last.value) in SILENT)


def stored_outputs(notebook: NotebookNode) -> list[str]:
    return [
        f"shows something, but stores nothing: {cell.source!r}"
        for cell in code_cells(notebook)
        if shows(cell) and not cell.outputs
    ]


def plain_markdown(notebook: NotebookNode) -> list[str]:
    complaints = [f"a cell that is {cell.cell_type}" for cell in notebook.cells if cell.cell_type == "raw"]
    tokens = markdown(prose(notebook))
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type in {"html_block", "html_inline"}:
            complaints.append(f"HTML: {token.content!r}")
        if token.type == "fence" and token.info.startswith("{"):
            complaints.append(f"a directive: {token.info}")
        if token.type == "code_inline" and before.type == "text" and re.search(r"\{[\w:-]+\}$", before.content):
            complaints.append(f"a role: {before.content[-20:]}{token.content}")
        if token.type == "inline":
            words = " ".join(part.content for part in token.children if part.type == "text")
            found = re.findall(r":::|^\([\w-]+\)=|^\+\+\+|^%|\{\{|\[\^|\[!\w+\]|\\begin\{|\$", words, re.MULTILINE)
            complaints += [f"only some readers understand {mark!r}: {words!r}" for mark in found]
        if token.type == "image" and not (token.content and token.attrs["src"].startswith("../")):
            complaints.append(f"a picture needs alt text and a relative path: {token.attrs['src']}")
    return complaints


def clean_metadata(notebook: NotebookNode) -> list[str]:
    complaints = [] if notebook.metadata == METADATA else [f"the notebook's metadata are {dict(notebook.metadata)}"]
    for cell in notebook.cells:
        complaints += [f"metadata of a cell: {key}" for key in cell.metadata if key not in CELL_METADATA]
        complaints += [
            f"metadata of a cell: jupyter.{key}" for key in set(cell.metadata.get("jupyter", {})) - {"source_hidden"}
        ]
        complaints += [f"metadata of a cell: mystnb.{key}" for key in set(cell.metadata.get("mystnb", {})) - {"image"}]
        complaints += [f"tag {tag}" for tag in tags(cell) if tag not in TAGS]
        complaints += [
            f"an output has metadata {dict(o.metadata)}" for o in cell.get("outputs", []) if o.get("metadata")
        ]
        complaints += ["a cell has attachments"] if cell.get("attachments") else []
    return complaints


def nothing_skipped(notebook: NotebookNode) -> list[str]:
    skipping = [tag for cell in notebook.cells for tag in tags(cell) if "skip" in tag or "raises" in tag]
    markers = [cell.source for cell in code_cells(notebook) if [*find_comment_markers(cell.source)]]
    return [f"tag {tag}" for tag in skipping] + [f"a comment for nbval, where a tag should be: {s}" for s in markers]


def valid_ids(notebook: NotebookNode) -> list[str]:
    ids = [cell.get("id", "") for cell in notebook.cells]
    complaints = [f"id {name!r}" for name in ids if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)]
    complaints += [f"id {name!r} occurs {n} times" for name, n in Counter(ids).items() if n > 1]
    return complaints + [error.message for error in nbformat.validator.iter_validate(notebook)]


def quiet_outputs(notebook: NotebookNode) -> list[str]:
    """Find in outputs what differs from machine to machine, or alarms, or is not there without a network."""
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    complaints = [f"an error: {output.ename}" for output in outputs if output.output_type == "error"]
    complaints += [f"stderr: {output.text}" for output in outputs if output.get("name") == "stderr"]
    said = [text for cell in code_cells(notebook) for text in texts(cell)]
    found = [(what, re.search(how, text)) for text in said for what, how in UNWANTED.items()]
    return complaints + [f"{what}: {match.group()!r}" for what, match in found if match]


def png_figures(notebook: NotebookNode) -> list[str]:
    kinds = {kind for cell in code_cells(notebook) for output in cell.outputs for kind in output.get("data", {})}
    return [f"an output is {kind}" for kind in sorted(kinds - PLAIN_OUTPUTS)]


def described_figures(notebook: NotebookNode) -> list[str]:
    complaints = []
    for cell in code_cells(notebook):
        figures = sum("image/png" in output.get("data", {}) for output in cell.outputs)
        image = cell.metadata.get("mystnb", {}).get("image", {})
        alt = image.get("alt", "")
        if figures > 1:
            complaints.append(f"{figures} figures share one description: {cell.source!r}")
        if figures and (len(alt) < 40 or " " not in alt or re.search(r"\.(png|svg|jpe?g)$", alt)):
            complaints.append(f"alt text {alt!r} does not say what there is to see")
        if figures and "dark-light" not in image.get("classes", ""):
            complaints.append(f"not legible in the dark theme, without the class dark-light: {cell.source!r}")
    return complaints


def checks(cell: NotebookNode) -> bool:
    nodes = [*ast.walk(parsed(cell))]
    return any(isinstance(n, ast.Assert) for n in nodes) or any(
        isinstance(n, ast.Call) and "assert" in ast.unparse(n.func) for n in nodes
    )


def ignored_are_checked(notebook: NotebookNode) -> list[str]:
    cells = code_cells(notebook)
    return [
        f"not compared, and the next cell asserts nothing: {cell.source!r}"
        for cell, after in zip(cells, [*cells[1:], None], strict=True)
        if "nbval-ignore-output" in tags(cell) and not (after and checks(after))
    ]


def few_decimals(notebook: NotebookNode) -> list[str]:
    """Find numbers that another processor might print otherwise."""
    said = [text for cell in code_cells(notebook) if "nbval-ignore-output" not in tags(cell) for text in texts(cell)]
    numbers = {number for text in said for number in re.findall(r"\d+\.\d{5,}", text)}
    return [f"more than four decimals: {number}" for number in sorted(numbers - PUBLISHED)]


def short_cells(notebook: NotebookNode) -> list[str]:
    """Count every line against 20, and against the median what is neither blank nor an assert that checks the text."""
    lines = [cell.source.splitlines() for cell in code_cells(notebook)]
    complaints = [f"a cell of {len(cell)} lines; 20 at most" for cell in lines if len(cell) > 20]
    code = [sum(bool(line.strip()) and not line.startswith("assert ") for line in cell) for cell in lines]
    median = statistics.median(code or [0])
    return complaints + ([f"the median cell has {median:g} lines; 6 at most"] if median > 6 else [])


def public_names(notebook: NotebookNode) -> list[str]:
    complaints = []
    for node in (node for cell in code_cells(notebook) for node in ast.walk(parsed(cell))):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "attnlib":
            names = [*node.module.split("."), *(alias.name for alias in node.names)]
            complaints += [f"imports {name} of {node.module}" for name in names if name.startswith(("_", "*"))]
        if isinstance(node, ast.Attribute) and re.match("_(?!_)", node.attr):
            complaints.append(f"uses {ast.unparse(node)}")
    return complaints


def imports_first(notebook: NotebookNode) -> list[str]:
    """Find imports outside the first code cell."""
    importing = [any(isinstance(n, ast.Import | ast.ImportFrom) for n in parsed(c).body) for c in code_cells(notebook)]
    complaints = [] if importing[:1] == [True] else ["the first code cell imports nothing"]
    return complaints + [f"code cell {i} imports, too" for i, found in enumerate(importing, 1) if found and i > 1]


def headings(source: str) -> list[tuple[int, str]]:
    """Read the levels and the texts of the headings."""
    tokens = markdown(source)
    pairs = pairwise(tokens)
    return [
        (int(token.tag[1]), "".join(part.content for part in text.children))
        for token, text in pairs
        if token.type == "heading_open"
    ]


def heading_levels(notebook: NotebookNode) -> list[str]:
    levels = [level for level, _ in headings(prose(notebook))]
    complaints = [] if levels[:1] == [1] and levels.count(1) == 1 else ["expected one title, and first"]
    steps = pairwise(levels)
    return complaints + [f"a heading of level {b} under one of level {a}" for a, b in steps if b > a + 1]


RULES = [
    executed_in_order,
    stored_outputs,
    plain_markdown,
    clean_metadata,
    nothing_skipped,
    valid_ids,
    quiet_outputs,
    png_figures,
    described_figures,
    ignored_are_checked,
    few_decimals,
    short_cells,
    public_names,
    imports_first,
    heading_levels,
]


# Two rules look beyond one notebook.


def slug(heading: str) -> str:
    """Name a heading as GitHub does."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(path: Path) -> set[str]:
    source = path.read_text(encoding="utf-8")
    return {slug(text) for _, text in headings(prose(nbformat.reads(source, 4)) if path.suffix == ".ipynb" else source)}


def dead_links(source: str, path: Path) -> list[str]:
    """Find relative links of a text at `path` that lead to no file, or to no heading in it."""
    complaints = []
    for token in markdown(source):
        link = token.attrs.get("href") or token.attrs.get("src") or "https:"
        if re.match(r"(https?|mailto):", link):
            continue
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        if file.startswith("/") or not target.is_file():
            complaints.append(f"{link}: no such file")
        elif anchor and anchor not in anchors(target):
            complaints.append(f"{link}: no such heading")
    return complaints


def definitions(tree: ast.AST) -> list[ast.FunctionDef | ast.ClassDef]:
    return [node for node in ast.iter_child_nodes(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def defined_twice(cells: list[ast.Module], modules: list[ast.Module] = ()) -> list[str]:
    """Find what is defined in more than one place: bodies anywhere, names in cells, or in a cell and a module.

    Two modules may each have a name of their own; a reader of the book, who sees no module, has only one meaning of it.
    """
    in_cells = [definition for tree in cells for definition in definitions(tree)]
    in_modules = [definition for tree in modules for definition in definitions(tree)]
    found = in_cells + in_modules
    names = Counter([*(definition.name for definition in in_cells), *{definition.name for definition in in_modules}])
    bodies = Counter(ast.dump(ast.Module([*definition.body], [])) for definition in found)
    complaints = [f"{name} is defined {n} times" for name, n in names.items() if n > 1]
    return complaints + [f"{n} definitions share one body: {body[:80]}" for body, n in bodies.items() if n > 1]


# --- Every notebook keeps every rule ---


def test_there_are_notebooks(notebook_paths):
    assert notebook_paths, "no notebook in notebooks/"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_notebook_keeps_the_rule(notebook_path, rule: Rule):
    assert rule(nbformat.read(notebook_path, as_version=4)) == []


def test_links_lead_somewhere(root):
    sources = {path: path.read_text(encoding="utf-8") for path in [*root.glob("*.md"), *root.glob("book/*.md")]}
    sources |= {path: prose(nbformat.read(path, as_version=4)) for path in root.glob("notebooks/*.ipynb")}
    assert {path.name: dead_links(source, path) for path, source in sources.items() if dead_links(source, path)} == {}


def test_nothing_is_defined_twice(root, notebook_paths):
    package = [ast.parse(path.read_text(encoding="utf-8")) for path in root.glob("src/attnlib/*.py")]
    for tree in package:  # what is private to a module is its own affair
        tree.body = [node for node in tree.body if not getattr(node, "name", "_").startswith("_")]
    notebooks = [nbformat.read(path, as_version=4) for path in notebook_paths]
    assert defined_twice([parsed(cell) for notebook in notebooks for cell in code_cells(notebook)], package) == []


# --- Every rule bites ---

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
ALT = "A square of one pixel, which is the smallest figure that there can be"


@cache
def _good() -> NotebookNode:
    drawing = {"text/plain": "<Figure size 1x1 with 1 Axes>", "image/png": PIXEL}
    cells = [
        new_markdown_cell("# Title\n\nText with $a < b$, `<code>` and a [link](other.md#some-heading)."),
        new_code_cell('if False:\n    %pip install "attnlib"\n\nimport numpy as np\nfrom attnlib import attention'),
        new_markdown_cell("## Section\n\n$$x \\tag{1}$$"),
        new_code_cell("print(0.25)", outputs=[new_output("stream", name="stdout", text="0.2500 0.98522025\n")]),
        new_code_cell("12 + 5", outputs=[new_output("execute_result", {"text/plain": "17"}, execution_count=3)]),
        new_code_cell(
            "figure, ax = plt.subplots()",
            metadata={"mystnb": {"image": {"alt": ALT, "classes": "dark-light"}}},
            outputs=[new_output("display_data", drawing)],
        ),
        new_code_cell(
            "print(seconds)",
            metadata={"tags": ["nbval-ignore-output"]},
            outputs=[new_output("stream", name="stdout", text="1.23456\n")],
        ),
        new_code_cell("assert seconds < 2"),
        new_code_cell(
            "y = 1", metadata={"tags": ["hide-cell"], "jupyter": {"source_hidden": True}, "cellView": "form"}
        ),
    ]
    for i, cell in enumerate(cells):
        cell.id = f"cell-{i}"
    notebook = new_notebook(cells=cells, metadata=METADATA)
    for count, cell in enumerate(code_cells(notebook), 1):
        cell.execution_count = count
    return notebook


def good() -> NotebookNode:
    """Copy a small notebook that keeps all the rules."""
    return copy.deepcopy(_good())


TITLE, IMPORTS, SECTION, STREAM, VALUE, FIGURE, IGNORED, CHECK, SOLUTION = range(9)


def says(text: str) -> Callable[[NotebookNode], None]:
    return lambda notebook: notebook.cells[STREAM].outputs[0].update(text=text)


def writes(text: str) -> Callable[[NotebookNode], None]:
    return lambda notebook: notebook.cells[SECTION].update(source=f"## Section\n\n{text}")


def runs(source: str) -> Callable[[NotebookNode], None]:
    return lambda notebook: notebook.cells[SOLUTION].update(source=source)


def holds(kind: str) -> Callable[[NotebookNode], None]:
    return lambda notebook: notebook.cells[VALUE].outputs[0].data.update({kind: "7"})


def at(index: int, **changes: object) -> Callable[[NotebookNode], None]:
    return lambda notebook: notebook.cells[index].update(nbformat.from_dict(changes))


def tagged(index: int, **metadata: object) -> Callable[[NotebookNode], None]:
    return lambda notebook: notebook.cells[index].metadata.update(nbformat.from_dict(metadata))


def image(**options: str) -> Callable[[NotebookNode], None]:
    return lambda notebook: notebook.cells[FIGURE].metadata.mystnb.image.update(options)


def top(**metadata: object) -> Callable[[NotebookNode], None]:
    return lambda notebook: notebook.metadata.update(nbformat.from_dict(metadata))


def drop(index: int) -> Callable[[NotebookNode], None]:
    return lambda notebook: notebook.cells.pop(index)


def outputs(index: int, *kept: NotebookNode) -> Callable[[NotebookNode], None]:
    return lambda notebook: notebook.cells[index].update(outputs=[*kept])


TAMPERINGS = [
    (executed_in_order, at(VALUE, execution_count=7)),
    (executed_in_order, at(SOLUTION, execution_count=None)),
    (executed_in_order, drop(STREAM)),
    (stored_outputs, outputs(STREAM)),
    (stored_outputs, outputs(VALUE)),
    (stored_outputs, outputs(FIGURE)),
    (stored_outputs, runs("weights.round(4)")),
    (stored_outputs, runs("for x in [1, 2]:\n    print(x)")),
    (plain_markdown, writes("```{note}\nA directive.\n```")),
    (plain_markdown, writes(":::{note}\nA directive.\n:::")),
    (plain_markdown, writes("A role: {cite:p}`bahdanau2015`.")),
    (plain_markdown, writes("(a-target)=\nText.")),
    (plain_markdown, writes("A footnote[^1].")),
    (plain_markdown, writes("Some <b>bold</b> text.")),
    (plain_markdown, writes("<!-- a comment -->")),
    (plain_markdown, writes("<img src='x.png'>")),
    (plain_markdown, writes("An open $a < b.")),
    (plain_markdown, writes("\\begin{align}\nx\n\\end{align}")),
    (plain_markdown, writes("![](../book/_static/logo.svg)")),
    (plain_markdown, writes("![alt text](https://example.org/logo.svg)")),
    (plain_markdown, at(SECTION, cell_type="raw")),
    (clean_metadata, top(widgets={})),
    (clean_metadata, top(language_info={"name": "python", "version": "3.11.2"})),
    (clean_metadata, top(kernelspec={"display_name": "mine", "language": "python", "name": "mine"})),
    (clean_metadata, tagged(STREAM, execution={"iopub.status.busy": "2026-01-01T00:00:00Z"})),
    (clean_metadata, tagged(STREAM, scrolled=True)),
    (clean_metadata, tagged(STREAM, jupyter={"outputs_hidden": True})),
    (clean_metadata, tagged(STREAM, tags=["remove-cell"])),
    (nothing_skipped, tagged(STREAM, tags=["nbval-skip"])),
    (nothing_skipped, tagged(STREAM, tags=["skip-execution"])),
    (nothing_skipped, tagged(STREAM, tags=["raises-exception"])),
    (nothing_skipped, runs("# NBVAL_IGNORE_OUTPUT\ny = 1")),
    (valid_ids, at(STREAM, id="cell-0")),
    (valid_ids, at(STREAM, id="two words")),
    (valid_ids, at(STREAM, outputs=[{"output_type": "stream"}])),
    (quiet_outputs, says("<object at 0x7f3a2b1c9d50>")),
    (quiet_outputs, says("/srv/someone/book.py")),
    (quiet_outputs, says("saved to 'C:\\book'")),
    (quiet_outputs, says("cell.py:1: UserWarning: mind this")),
    (quiet_outputs, says(" 50%|#####     | 5/10")),
    (quiet_outputs, says("one\rtwo")),
    (quiet_outputs, says("\x1b[31mred\x1b[0m")),
    (quiet_outputs, says('<script src="https://example.org/x.js">')),
    (quiet_outputs, outputs(STREAM, new_output("stream", name="stderr", text="hm"))),
    (quiet_outputs, outputs(STREAM, new_output("error", ename="ValueError", evalue="", traceback=[]))),
    (png_figures, holds("image/svg+xml")),
    (png_figures, holds("image/jpeg")),
    (png_figures, holds("application/vnd.jupyter.widget-view+json")),
    (described_figures, image(alt="")),
    (described_figures, image(alt="A heat map.")),
    (described_figures, image(alt="_build/jupyter_execute/1f3b1e7d132e3f24b5fda34050a0a720e3cb95.png")),
    (described_figures, image(classes="")),
    (described_figures, lambda notebook: notebook.cells[FIGURE].outputs.append(notebook.cells[FIGURE].outputs[0])),
    (described_figures, lambda notebook: notebook.cells[FIGURE].metadata.clear()),
    (ignored_are_checked, at(CHECK, source="seconds < 2")),
    (ignored_are_checked, tagged(SOLUTION, tags=["nbval-ignore-output"])),
    (few_decimals, says("0.123456")),
    (few_decimals, says("0.98522026")),
    (few_decimals, says("[1.23456789e-05]")),
    (short_cells, runs("y = 1\n" * 21)),
    (short_cells, lambda notebook: [cell.update(source="y = 1\n" * 7) for cell in code_cells(notebook)]),
    (public_names, runs("from attnlib.attention import _check_mask")),
    (public_names, runs("from attnlib._private import attention")),
    (public_names, runs("from attnlib.attention import *")),
    (public_names, runs("attention._check_mask()")),
    (imports_first, runs("import math")),
    (imports_first, at(IMPORTS, source="y = 1")),
    (heading_levels, writes("#### Too deep")),
    (heading_levels, writes("# Another title")),
    (heading_levels, drop(TITLE)),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_good_notebook_keeps_the_rule(rule: Rule):
    assert rule(good()) == []
    assert rule in [bitten for bitten, _ in TAMPERINGS]


@pytest.mark.parametrize(("rule", "tampering"), TAMPERINGS, ids=lambda x: getattr(x, "__name__", None))
def test_rule_bites(rule: Rule, tampering: Callable[[NotebookNode], None]):
    notebook = good()
    tampering(notebook)
    assert rule(notebook) != []


def test_dead_links_are_found(tmp_path):
    (tmp_path / "other.md").write_text("# Some *heading*, twice\n\n## The `code` of it\n")
    here = tmp_path / "here.md"
    here.write_text("# Here\n")
    alive = (
        "[a](other.md) [b](other.md#some-heading-twice) [c](other.md#the-code-of-it) [d](#here) [e](https://x.org/y#z)"
    )
    assert dead_links(alive, here) == []
    for dead in ["[a](another.md)", "[a](other.md#here)", "[a](#there)", "[a](/other.md)", "![a](picture.png)"]:
        assert len(dead_links(dead, here)) == 1, dead


def test_a_second_definition_is_found():
    one, same_name, same_body = "def f(x):\n    return x", "def f(x):\n    return 2 * x", "def g(x):\n    return x"
    assert defined_twice([ast.parse(one)]) == []
    assert len(defined_twice([ast.parse(one), ast.parse(same_name)])) == 1
    assert len(defined_twice([ast.parse(one), ast.parse(same_body)])) == 1
    assert len(defined_twice([ast.parse(one)], [ast.parse(same_name)])) == 1
    assert defined_twice([], [ast.parse(one), ast.parse(same_name)]) == []
    assert len(defined_twice([], [ast.parse(one), ast.parse(same_body)])) == 1


# --- nbval bites ---


def compared_cells(path: Path, session: pytest.Session) -> list[IPyNbCell]:
    """Make the cells that nbval would run and compare, as it makes them; no kernel is started."""
    collector = IPyNbFile.from_parent(session, path=path)
    collector.setup_sanitize_files()
    return [cell for cell in collector.collect() if cell.options["check"] and not cell.options["skip"]]


def agrees(cell: IPyNbCell, computed: list[NotebookNode], stored: list[NotebookNode]) -> bool:
    """Compare as nbval's own `runtest` does once the kernel has answered; it joins streams in place."""
    computed, stored = (coalesce_streams(copy.deepcopy(outputs)) for outputs in (computed, stored))
    return cell.compare_outputs(computed, stored)


def tampered(outputs: list[NotebookNode]) -> Iterator[tuple[str, list[NotebookNode]]]:
    """Yield each number of the outputs, with a copy of them in which its last digit is another."""
    for i, output in enumerate(outputs):
        places = [("text", output.text)] if output.output_type == "stream" else output.get("data", {}).items()
        for key, text in places:
            for number in NUMBER.finditer(text) if key != "image/png" else []:
                last = number.end() - 1
                changed = copy.deepcopy(outputs)
                holder = changed[i] if key == "text" else changed[i].data
                holder[key] = f"{text[:last]}{(int(text[last]) + 1) % 10}{text[last + 1 :]}"
                yield number.group(), changed


def test_nbval_notices_every_changed_number(notebook_path, request, monkeypatch, record_property):
    monkeypatch.setattr(IPyNbCell, "format_output_compare", lambda *_: None)  # how it words a difference takes long
    tried, missed = 0, []
    compared = compared_cells(notebook_path, request.session)
    for cell in compared:
        stored = cell.cell.outputs
        assert cell.cell.execution_count, "nbval does not compare a cell that has not run"
        assert agrees(cell, stored, stored)
        for number, changed in tampered(stored):
            tried += 1
            missed += [f"{cell.name}: {number}"] if agrees(cell, computed=stored, stored=changed) else []
    notebook = nbformat.read(notebook_path, as_version=4)
    exempt = len(code_cells(notebook)) - len(compared)
    counts = {"compared": len(compared), "tried": tried, "noticed": tried - len(missed)}
    counts |= {"exempt": exempt, "asserted": exempt - len(ignored_are_checked(notebook))}
    print(notebook_path.name, counts)
    for name, count in counts.items():
        record_property(name, count)
    assert missed == []
    assert tried, "nothing to compare"


def test_tampering_changes_every_number_and_nothing_else():
    outputs = [
        new_output("stream", name="stdout", text="a 1.50 and 2e-09\n"),
        new_output("execute_result", {"text/plain": "x3", "text/html": "<b>4</b>", "image/png": PIXEL}),
    ]
    changed = [*tampered(outputs)]
    assert [number for number, _ in changed] == ["1.50", "2e-09", "3", "4"]
    assert [copies[0].text for _, copies in changed[:2]] == ["a 1.51 and 2e-09\n", "a 1.50 and 2e-00\n"]
    assert changed[2][1][1].data["text/plain"] == "x4"
    assert changed[3][1][1].data["text/html"] == "<b>5</b>"


@pytest.mark.parametrize("printed", ["0.2500", "0.2501"])
def test_nbval_runs_and_compares(tmp_path, root, printed):
    stored = [new_output("stream", name="stdout", text=f"{printed}\n")]
    cell = new_code_cell('print(f"{1 / 4:.4f}")', execution_count=1, outputs=stored)
    path = tmp_path / "tiny.ipynb"
    nbformat.write(new_notebook(cells=[cell], metadata=METADATA), path)
    command = [sys.executable, "-m", "pytest", "-c", root / "pyproject.toml", "-p", "no:cacheprovider", "--nbval", path]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == (0 if printed == "0.2500" else 1), run.stdout + run.stderr
    assert ("1 passed" if printed == "0.2500" else "Cell outputs differ") in run.stdout
