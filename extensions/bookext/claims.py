"""A claim that does not hold on somebody's machine: the pages are made all the same, and they say so."""

from pathlib import Path

import nbformat
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from bookext.weaving import sections, weave

REPORT = "claims.txt"
_LOG = logging.getLogger(__name__)


def claims_of(app: Sphinx, page: str) -> Path:
    """Return the file with the claims of a page."""
    return Path(app.srcdir, "tests", "claims", f"{Path(page).name}.py")


def insert(app: Sphinx, page: str, source: list[str]) -> None:
    """Weave the claims into what is executed; what is copied and downloaded is the notebook alone."""
    if Path(app.env.doc2path(page)).suffix == ".ipynb":
        source[0] = nbformat.writes(weave(nbformat.reads(source[0], as_version=4), claims_of(app, page)))


def failures(app: Sphinx, page: str) -> dict[str, str]:
    """Map the first line of each error, with the number of its cell from 0 or its section, to its code.

    A page without code has no errors.
    """
    path, claims = Path(app.env.mystnb_config.output_folder, f"{page}.ipynb"), claims_of(app, page)
    cells = nbformat.read(path, as_version=4).cells if path.is_file() else []
    failed, number = {}, -1
    for cell in cells:
        after = cell.metadata.get("claims")
        number += not after
        place = f"tests/claims/{claims.name}, after {after}" if after else f"cell {number}"
        code = sections(claims)[after][0] if after else cell.source
        errors = (output for output in cell.get("outputs", []) if output.output_type == "error")
        failed |= {f"{place}: {each.ename}: {each.evalue}".splitlines()[0]: code for each in errors}
    return failed


def show(app: Sphinx, page: nodes.document) -> None:
    """Insert a list of the failed cells at the top of their page.

    It includes the code of the first one: claims are not on the page.
    """
    if failed := failures(app, app.env.docname):
        told = f"On the machine that made this page, {len(failed)} of its cells ended with an error."
        items = (nodes.list_item("", nodes.paragraph(text=line)) for line in failed)
        first = next(iter(failed.values()))
        code = nodes.literal_block(first, first, language="python")
        box = nodes.warning("", nodes.paragraph(text=told), nodes.bullet_list("", *items), code)
        section = next(page.findall(nodes.section), page)
        section.insert(section.first_child_matching_class(nodes.title) + 1, box)


def report(app: Sphinx, error: Exception | None) -> None:
    """Report the failed cells and their pages at the end, and fail the build."""
    path = Path(app.outdir, REPORT)
    path.unlink(missing_ok=True)
    pages = {} if error else {page: failures(app, page) for page in sorted(app.env.found_docs)}
    if not any(pages.values()):
        return
    told = [
        "These claims of the book did not hold on this machine:",
        *(f"  {page}, {line}" for page, failed in pages.items() for line in failed),
        f"All pages are there all the same, and each says what failed on it: open {path.with_name('index.html')}",
        "Please report these lines, and the output of 'python -m pip freeze' and your processor: "
        + (app.config.html_baseurl or "the book's repository"),
    ]
    app.statuscode = 1
    path.write_text("\n".join(told) + "\n", encoding="utf-8")
    _LOG.info("\n".join(told))


def setup(app: Sphinx) -> None:
    """Register the extension."""
    app.connect("source-read", insert)
    app.connect("doctree-read", show)
    app.connect("build-finished", report)
