"""What a reader, on Colab, on GitHub, in JupyterLab or in the book, may rely on in every notebook.

Each rule is a function from a notebook's cells to its complaints: the number of a cell, counted from 0, and what is
wrong with it. Run as ``python tools/notebook_rules.py [notebook ...]``; without a name, all of them, and then also what
concerns several.
"""

import ast
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

ROOT = Path(__file__).parents[1]
Cells = list[NotebookNode]
Complaints = Iterator[tuple[int, str]]

LONGEST, MEDIAN = 20, 6  # lines of a cell
UNCOMPARED = 12  # outputs, in all notebooks together
TAGS = {"remove-cell", "hide-cell", "hide-input", "hide-output", "nbval-ignore-output"}
METADATA = {"tags", "mystnb", "jupyter", "cellView"}
PLAIN_OUTPUTS = {"text/plain", "text/html", "text/latex", "text/markdown", "image/png"}
PUBLISHED = {  # what the sources print to more than four decimals, and the book with them
    *("0.98522025", "1.74174051", "0.75652026"),
    *("0.90965265", "1.40965265"),
    *("0.99851226", "1.75849334", "0.75998108"),
    *("0.99560386", "1.90407309", "0.90846923"),
}
NOT_PLAIN = {  # in Markdown whose code and mathematics are taken out
    "HTML": r"<(?!https?:)[a-zA-Z!/]",
    "a directive": r"^ *(?:`{3,}|:{3,}) *\{",
    "a role": r"\{[\w:-]+\}\0",
    "a target": r"^\([\w-]+\)=",
    "a footnote": r"\[\^",
    "an alert": r"\[!\w+\]",
    "a dollar without its pair": r"\$",
    "LaTeX outside of dollars": r"\\begin\{",
    "a picture without alt text": r"!\[\]",
    "a picture or a link by an absolute path": r"\]\(/",
    "a picture from elsewhere": r"!\[[^\]]*\]\(https?:",
}
NOT_QUIET = {  # in outputs
    "an object's address": r"0x[0-9a-fA-F]{6,}",
    "an absolute path": r"(?:^|[\s\"'(=,\[])(?:~?/[\w.+-]+/[\w.+-]|[A-Za-z]:\\\w|file://)",
    "a warning": r"\b\w*Warning\b|\bDeprecat",
    "a progress bar": r"\r|█|\d+%\||\d(?:it/s|s/it)\b",
    "a terminal's control code": r"\x1b",
    "something that loads from elsewhere": r"(?:src|href)=[\"']?(?:https?:)?//|@import|<iframe",
}
TIMES = {"how long it takes to read": r"Reading takes about ", "how long it takes to run": r"running all cells "}
OF_A_CHAPTER = {"what a reader gains": r"After this chapter you can "}
OF_AN_APPENDIX = {"what is known": r"What is known", "what is not known": r"What is not known"}


def code(cells: Cells) -> Iterator[tuple[int, NotebookNode]]:
    """Give the cells of code, with their numbers."""
    return ((i, cell) for i, cell in enumerate(cells) if cell.cell_type == "code")


def parsed(cell: NotebookNode) -> ast.Module:
    """Read a cell as Python, magics and all."""
    return ast.parse(TransformerManager().transform_cell(cell.source))


def tags(cell: NotebookNode) -> list[str]:
    """Give the tags of a cell."""
    return cell.metadata.get("tags", [])


def is_appendix(cells: Cells) -> bool:
    """Tell an appendix by its title. It has no exercises, and says at its top what is known and what is not."""
    return cells[0].source.lstrip().startswith("# Appendix ")


def texts(cell: NotebookNode) -> list[str]:
    """Read what the cell's outputs say, apart from pictures."""
    streams = [output.text for output in cell.outputs if output.output_type == "stream"]
    shown = [text for output in cell.outputs for kind, text in output.get("data", {}).items() if kind != "image/png"]
    return streams + shown


def prose(cell: NotebookNode) -> str:
    """Give the words of a text, with code and mathematics taken out."""
    without_code = re.sub(r"^```\w*\n.*?^```|`[^`\n]+`", "\0", cell.source, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"\$\$.+?\$\$|\$[^$]+\$", "\1", without_code, flags=re.DOTALL)


def asserts(node: ast.AST) -> bool:
    """Say whether a piece of code asserts something, itself or by a function such as `assert_allclose`."""
    nodes = [*ast.walk(node)]
    named = any(isinstance(n, ast.Call) and "assert" in ast.unparse(n.func) for n in nodes)
    return named or any(isinstance(n, ast.Assert) for n in nodes)


# --- The rules for one notebook ---


def executed_in_order(cells: Cells) -> Complaints:
    """Find cells that were not run once, from top to bottom."""
    for expected, (i, cell) in enumerate(code(cells), 1):
        if cell.execution_count != expected:
            yield i, f"execution count {cell.execution_count}, expected {expected}"


def stored_outputs(cells: Cells) -> Complaints:
    """Find cells that print or end in a value, and do not store it: nbval has nothing to compare."""
    for i, cell in code(cells):
        statements = [node for node in parsed(cell).body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
        prints = any(re.search(r"\b(print|display|show)\(", ast.unparse(node)) for node in statements)
        last = statements[-1] if statements and not cell.source.rstrip().endswith(";") else None
        value = isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call)
        if (prints or value) and not cell.outputs:
            yield i, "shows something, but stores nothing"


def plain_markdown(cells: Cells) -> Complaints:
    """Find in texts what not every reader of Markdown understands, or mathematics not between dollars."""
    for i, cell in enumerate(cells):
        if cell.cell_type == "raw":
            yield i, "neither text nor code"
        if cell.cell_type == "markdown":
            found = [(what, re.search(how, prose(cell), re.MULTILINE)) for what, how in NOT_PLAIN.items()]
            yield from ((i, f"{what}: {match.group()!r}") for what, match in found if match)


def known_metadata(cells: Cells) -> Complaints:
    """Find tags and settings that nobody reads, or that keep a cell from being run and compared."""
    for i, cell in enumerate(cells):
        unknown = {*(set(tags(cell)) - TAGS), *(set(cell.metadata) - METADATA), *cell.get("attachments", {})}
        yield from ((i, f"unknown: {what}") for what in sorted(unknown))
        if cell.cell_type == "code" and re.search("# *(NBVAL_|PYTEST_VALIDATE_)", cell.source):
            yield i, "a comment for nbval, where a tag should be"


def quiet_outputs(cells: Cells) -> Complaints:
    """Find in outputs what differs from machine to machine, or alarms, or is not there without a network."""
    for i, cell in code(cells):
        yield from ((i, f"an error: {output.ename}") for output in cell.outputs if output.output_type == "error")
        yield from ((i, f"stderr: {output.text}") for output in cell.outputs if output.get("name") == "stderr")
        found = [(what, re.search(how, text)) for text in texts(cell) for what, how in NOT_QUIET.items()]
        yield from ((i, f"{what}: {match.group()!r}") for what, match in found if match)
        kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
        yield from ((i, f"an output is {kind}") for kind in sorted(kinds - PLAIN_OUTPUTS))


def described_figures(cells: Cells) -> Complaints:
    """Find figures that do not say in words what there is to see, or turn their colours in the dark theme."""
    for i, cell in code(cells):
        figures = sum("image/png" in output.get("data", {}) for output in cell.outputs)
        image = cell.metadata.get("mystnb", {}).get("image", {})
        alt = image.get("alt", "")
        if figures > 1:
            yield i, f"{figures} figures share one description"
        if figures and (len(alt) < 40 or " " not in alt):
            yield i, f"alt text {alt!r} does not say what there is to see"
        if figures and "dark-light" not in image.get("classes", ""):
            yield i, "a figure without the class dark-light"


def ignored_are_checked(cells: Cells) -> Complaints:
    """Find cells whose output is not compared, and after which nothing is asserted of it."""
    numbered = [*code(cells)]
    for (i, cell), (_, after) in zip(numbered, [*numbered[1:], (0, None)], strict=True):
        if "nbval-ignore-output" in tags(cell) and not (after and asserts(parsed(after))):
            yield i, "not compared, and the next cell asserts nothing"


def folded_checks(cells: Cells) -> Complaints:
    """Find cells that only assert, show nothing, and are neither off the page nor folded."""
    for i, cell in code(cells):
        only = not cell.outputs and cell.source and all(map(asserts, parsed(cell).body))
        if only and not {"remove-cell", "hide-cell"} & {*tags(cell)}:
            yield i, "only asserts, and is not off the page by the tag remove-cell"


def counted_checks(cells: Cells) -> Complaints:
    """Find a wrong count of the checks that stand off the page: every assert, and every call named like one."""
    nodes = [n for _, cell in code(cells) if "remove-cell" in tags(cell) for n in ast.walk(parsed(cell))]
    calls = [n for n in nodes if isinstance(n, ast.Call) and "assert" in ast.unparse(n.func)]
    count = len(calls) + sum(isinstance(n, ast.Assert) for n in nodes)
    for i, cell in enumerate(cells):
        said = re.findall(r"(\d+) checks stand", prose(cell)) if cell.cell_type == "markdown" else []
        yield from ((i, f"{number} checks are said to stand here, {count} do") for number in {*said} - {f"{count}"})


def checks_give_nothing(cells: Cells) -> Complaints:
    """Find names that a page uses though only a cell that is not on it gives them."""
    off_the_page, on_it = set(), set()
    for i, cell in code(cells):
        names = [node for node in ast.walk(parsed(cell)) if isinstance(node, ast.Name)]
        given = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        given |= {node.name for node in parsed(cell).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        if "remove-cell" in tags(cell):
            off_the_page |= given - on_it
        else:
            on_it |= given
            used = {node.id for node in names} & off_the_page - on_it
            yield from ((i, f"{name} is given by a cell that is not on the page") for name in sorted(used))


def few_decimals(cells: Cells) -> Complaints:
    """Find numbers that another processor might print otherwise."""
    for i, cell in code(cells):
        numbers = {number for text in texts(cell) for number in re.findall(r"\d+\.\d{5,}", text)}
        if "nbval-ignore-output" not in tags(cell):
            yield from ((i, f"more than four decimals: {number}") for number in sorted(numbers - PUBLISHED))


def short_cells(cells: Cells) -> Complaints:
    """Find cells that are too long for a reader's head; what is blank or an assert is not counted."""
    lines = {i: sum(not re.match(r"\s*$|assert ", line) for line in c.source.splitlines()) for i, c in code(cells)}
    yield from ((i, f"{length} lines, {LONGEST} at most") for i, length in lines.items() if length > LONGEST)
    median = statistics.median(lines.values() or [0])
    if median > MEDIAN:
        yield 0, f"the median cell has {median:g} lines, {MEDIAN} at most"


def public_names(cells: Cells) -> Complaints:
    """Find what a chapter uses of the package though a reader should not."""
    for i, cell in code(cells):
        for node in ast.walk(parsed(cell)):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "attnlib":
                names = [*node.module.split("."), *(alias.name for alias in node.names)]
                yield from ((i, f"imports {name} of {node.module}") for name in names if name.startswith(("_", "*")))
            if isinstance(node, ast.Attribute) and re.match("_(?!_)", node.attr):
                yield i, f"uses {ast.unparse(node)}"


def imports_first(cells: Cells) -> Complaints:
    """Find imports outside the first code cell."""
    for n, (i, cell) in enumerate(code(cells)):
        imports = any(isinstance(node, ast.Import | ast.ImportFrom) for node in parsed(cell).body)
        if imports != (n == 0):
            yield i, "an import after the first code cell" if imports else "the first code cell imports nothing"


def minutes(cells: Cells) -> float:
    """Count a student's minutes, exercises apart: one for 120 words, a cell of code in sight, or a picture."""
    body = [*takewhile(lambda cell: not cell.source.startswith("## Exercises"), cells)]
    words = sum(len(prose(cell).split()) for cell in body if cell.cell_type == "markdown")
    in_sight = sum(not {"remove-cell", "hide-cell", "hide-input"} & {*tags(cell)} for _, cell in code(body))
    outputs = [output.get("data", {}) for _, cell in code(body) for output in cell.outputs]
    pictures = sum("image/png" in data or "attnlib-card" in str(data.get("text/html")) for data in outputs)
    return words / 120 + in_sight + pictures


def honest_minutes(cells: Cells) -> Complaints:
    """Find a promise of reading time that is more than three minutes off."""
    promised = re.search(r"Reading takes about (\d+) minutes", " ".join(cells[0].source.split()))
    if not promised or abs(int(promised[1]) - minutes(cells)) > 3:
        yield 0, f"reading takes about {minutes(cells):.0f} minutes"


def says_at_the_top(cells: Cells) -> Complaints:
    """Find what the first cell does not say of that which awaits a reader."""
    first = " ".join(cells[0].source.split())
    wanted = TIMES | (OF_AN_APPENDIX if is_appendix(cells) else OF_A_CHAPTER)
    yield from ((0, f"does not say {what}") for what, how in wanted.items() if not re.search(how, first))


RULES = [
    executed_in_order,
    stored_outputs,
    plain_markdown,
    known_metadata,
    quiet_outputs,
    described_figures,
    ignored_are_checked,
    folded_checks,
    checks_give_nothing,
    counted_checks,
    few_decimals,
    short_cells,
    public_names,
    imports_first,
    says_at_the_top,
    honest_minutes,
]


# --- The rules for all of them together ---


def misnumbered(chapters: list[Cells]) -> list[str]:
    """Find equations that are not numbered one after the other in their chapter, and references to none."""
    complaints, given = [], set()
    for place, cells in enumerate(chapters, 1):
        titled = re.match(r"# (?:Appendix )?(\d+|[A-Z])\. ", cells[0].source)
        chapter = titled[1] if titled else place
        numbers = [n for c in cells if c.cell_type == "markdown" for n in re.findall(r"\\tag\{(.*?)\}", c.source)]
        if numbers != [f"{chapter}.{n}" for n in range(1, len(numbers) + 1)]:
            complaints.append(f"chapter {chapter} numbers its equations {numbers}")
        given |= {*numbers}
    said = [prose(c) for cells in chapters for c in cells if c.cell_type == "markdown"]
    nodes = [node for cells in chapters for _, cell in code(cells) for node in ast.walk(parsed(cell))]
    said += [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    referred = {number for text in said for number in re.findall(r"\(((?:\d+|[A-Z])\.\d+)\)", text)}
    return complaints + [f"no equation has the number ({number})" for number in sorted(referred - given)]


def uncompared(chapters: list[Cells]) -> list[str]:
    """Count the outputs that nbval does not compare: clocks and live training, and no more of them than these."""
    many = sum("nbval-ignore-output" in tags(cell) for cells in chapters for _, cell in code(cells))
    return [f"{many} outputs are not compared; {UNCOMPARED} at most"] if many > UNCOMPARED else []


def defined_twice(cells: list[ast.Module], modules: list[ast.Module]) -> list[str]:
    """Find what cells define that another cell, or a module, defines too, by its name or with the same body."""
    in_cells, public = (
        [n for tree in trees for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
        for trees in (cells, modules)
    )
    names = Counter([*(d.name for d in in_cells), *{d.name for d in public}])
    bodies = Counter(ast.dump(ast.Module([*d.body], [])) for d in in_cells + public)
    twice = [d.name for d in in_cells if names[d.name] > 1 or bodies[ast.dump(ast.Module([*d.body], []))] > 1]
    return [f"{name} is defined more than once" for name in dict.fromkeys(twice)]


def main(named: list[str]) -> list[str]:
    """Give all complaints of the notebooks that are named, or of all."""
    paths = [*map(Path, named)] or sorted(ROOT.glob("notebooks/*.ipynb"))
    chapters = [nbformat.read(path, as_version=4).cells for path in paths]
    found = [
        f"{path.name}, cell {i}: {what} ({rule.__name__})"
        for path, cells in zip(paths, chapters, strict=True)
        for rule in RULES
        for i, what in rule(cells)
    ]
    modules = [ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.glob("src/attnlib/**/*.py")]
    trees = [parsed(cell) for cells in chapters for _, cell in code(cells)]
    return found + ([] if named else misnumbered(chapters) + uncompared(chapters) + defined_twice(trees, modules))


if __name__ == "__main__":
    complaints = main(sys.argv[1:])
    print(*complaints, sep="\n", end="\n" if complaints else "")
    sys.exit(bool(complaints))
