"""Where the book is published, the links of a notebook that one downloads or opens on Colab lead back to it."""

import posixpath
import re
from pathlib import Path
from typing import Any

import nbformat
from sphinx.application import Sphinx

LINK = re.compile(r"`[^`]*`|(?<=\]\()(?!\w+:|#)([^)\s#]+)(#[^)\s]*)?")  # code is passed over


def absolute(text: str, folder: str, site: str, repository: str) -> str:
    """Make the relative links of Markdown in a folder absolute: to pages of the site, or files of the repository."""

    def link(found: re.Match) -> str:
        if not found[1]:
            return found[0]
        page, ending = posixpath.splitext(posixpath.normpath(posixpath.join(folder, found[1])))
        anchor = re.sub("-+", "-", found[2] or "")  # a place on a page has single hyphens
        is_page = ending in {".ipynb", ".md", ".py"}
        return f"{site}{page}.html{anchor}" if is_page else f"{repository}/blob/main/{page}{ending}"

    return LINK.sub(link, text)


def lead_back(app: Sphinx, error: Exception | None) -> None:
    """Change the links of the notebooks that lie beside the pages."""
    sources, site = Path(app.outdir, "_sources"), app.config.html_baseurl
    for path in sources.rglob("*.ipynb") if site and not error else ():
        notebook, folder = nbformat.read(path, as_version=4), path.parent.relative_to(sources).as_posix()
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = absolute(cell.source, folder, site, app.config.html_theme_options["repository_url"])
        nbformat.write(notebook, path)


def launch(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Open on Colab the notebook that lies beside the pages."""
    for button in (button for group in context.get("header_buttons", []) for button in group.get("buttons", [])):
        if "colab" in button.get("url", ""):
            button["url"] = button["url"].replace("/blob/main/", "/blob/gh-pages/_sources/")


def setup(app: Sphinx) -> None:
    """Register the extension."""
    app.connect("html-page-context", launch, priority=502)
    app.connect("build-finished", lead_back)
