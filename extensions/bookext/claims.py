"""A claim that does not hold on somebody's machine: the pages are made all the same, and they say so."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

REPORT = "claims.txt"
_LOG = logging.getLogger(__name__)


class Failure(NamedTuple):
    """A cell that raised an error: its number, counted from 0, its code and its error."""

    number: int
    code: str
    error: str


def failures(app: Sphinx, page: str) -> list[Failure]:
    """List the cells of a page that raised when it was executed; a page without code has none."""
    path = Path(app.env.mystnb_config.output_folder, f"{page}.ipynb")
    cells = nbformat.read(path, as_version=4).cells if path.is_file() else []
    return [
        Failure(number, cell.source, f"{output.ename}: {output.evalue}")
        for number, cell in enumerate(cells)
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]


def listed(failed: list[Failure]) -> Iterator[str]:
    """List the claims that did not hold, and the first other error; the rest may follow from it."""
    others = [failure for failure in failed if not failure.error.startswith("AssertionError")]
    for failure in failed:
        if failure not in others[1:]:
            yield f"cell {failure.number}: {failure.error.splitlines()[0]}"
    if others[1:]:
        yield f"{len(others) - 1} more cells ended with an error, perhaps because of these"


def show(app: Sphinx, page: nodes.document) -> None:
    """Insert a list of the failed claims at the top of their page.

    It includes the code of the first one, which may not be on the page.
    """
    if failed := failures(app, app.env.docname):
        told = f"On the machine that made this page, {len(failed)} of its cells ended with an error."
        items = (nodes.list_item("", nodes.paragraph(text=line)) for line in listed(failed))
        code = nodes.literal_block(failed[0].code, failed[0].code, language="python")
        box = nodes.warning("", nodes.paragraph(text=told), nodes.bullet_list("", *items), code)
        section = next(page.findall(nodes.section), page)
        section.insert(section.first_child_matching_class(nodes.title) + 1, box)


def report(app: Sphinx, error: Exception | None) -> None:
    """Report the failed claims and their pages at the end, and fail the build."""
    path = Path(app.outdir, REPORT)
    path.unlink(missing_ok=True)
    pages = {} if error else {page: failures(app, page) for page in sorted(app.env.found_docs)}
    if not any(pages.values()):
        return
    told = [
        "These claims of the book did not hold on this machine:",
        *(f"  {page}, {line}" for page, failed in pages.items() for line in listed(failed)),
        f"All pages are there all the same, and each says what failed on it: open {path.with_name('index.html')}",
        "Please report these lines, and the output of 'python -m pip freeze' and your processor: "
        + (app.config.html_baseurl or "the book's repository"),
    ]
    app.statuscode = 1
    path.write_text("\n".join(told) + "\n", encoding="utf-8")
    _LOG.info("\n".join(told))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("doctree-read", show)
    app.connect("build-finished", report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
