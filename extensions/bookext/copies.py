"""What readers take away: notebooks and Markdown whose links lead back to the book, and a list of them for machines."""

import re
from pathlib import Path
from typing import Any

import nbformat
from nbconvert import MarkdownExporter
from nbformat import NotebookNode
from sphinx.application import Sphinx
from traitlets.config import Config

from bookext.address import Address, read
from bookext.citation import citation

OFF_THE_PAGE = {"enabled": True, "remove_cell_tags": ["remove-cell"], "remove_input_tags": ["remove-input"]}
SHOWN = {"display_data_priority": ["text/markdown", "text/latex", "text/plain"]}
CLONE = re.compile(r'clone the book, and %pip install "FOLDER(\[[a-z,]+\])"')
EXPORTER = MarkdownExporter(config=Config(NbConvertBase=SHOWN, TagRemovePreprocessor=OFF_THE_PAGE))


def led_back(path: Path, address: Address, folder: str) -> NotebookNode:
    """Read a notebook, with the links of its text made absolute, and this version in place of a clone."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = address.absolute(cell.source, folder)
        elif address.repository:
            install = rf'%pip install "attnlib\1 @ git+{address.repository}@v{address.version}"'
            cell.source = CLONE.sub(install, cell.source)
    return notebook


def markdown(notebook: NotebookNode) -> str:
    """Convert a notebook with its outputs; in place of a figure stands its description."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output.data = {"text/markdown": f"*Figure: {cell.metadata.mystnb.image.alt}*"}
    return EXPORTER.from_notebook_node(notebook)[0]


def text(app: Sphinx, page: str, address: Address, folder: str) -> str:
    """Return a page as Markdown, with its outputs where it has some; a module's page is its code."""
    executed, source = Path(app.env.mystnb_config.output_folder, f"{page}.ipynb"), Path(app.env.doc2path(page))
    if executed.is_file():
        return markdown(led_back(executed, address, folder))
    made = [source.read_text("utf-8")]
    app.emit("source-read", page, made)
    return f"```python\n{made[0]}```\n" if source.suffix == ".py" else address.absolute(made[0], folder)


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the copies to the folder from which one downloads, and list them."""
    if error or app.builder.format != "html":
        return
    address, sources = read(app.srcdir), Path(app.outdir, "_sources")
    for page in address.pages:
        folder = page.rpartition("/")[0]
        (sources / f"{page}.md").write_text(text(app, page, address, folder), "utf-8")
        if (download := sources / f"{page}.ipynb").is_file():
            nbformat.write(led_back(download, address, folder), download)
    about = citation(app.srcdir)
    listed = [f"- [{app.env.titles[page].astext()}]({address.site}_sources/{page}.md)" for page in address.pages]
    lines = [f"# {about['title']}", "", f"> {about['abstract']}", "", "## Pages", "", *listed, ""]
    Path(app.outdir, "llms.txt").write_text("\n".join(lines), "utf-8")


def offer(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Add a button to the downloads that copies the page as Markdown."""
    copied = {"type": "javascript", "text": "Copy as Markdown", "tooltip": "Copy this page as Markdown"}
    for group in context.get("header_buttons", []):
        if group["label"] == "download-buttons":
            address = context["pathto"](f"_sources/{page}.md", 1)
            group["buttons"].append(copied | {"icon": "fas fa-file", "javascript": f"copyMarkdown('{address}')"})


def setup(app: Sphinx) -> None:
    """Register the extension."""
    app.connect("html-page-context", offer, priority=502)
    app.connect("build-finished", write)
