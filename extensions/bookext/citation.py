"""How to cite the book: as BibTeX where a page says BIBTEX."""

from pathlib import Path
from typing import Any

import yaml
from sphinx.application import Sphinx

from bookext.address import read


def citation(folder: Path) -> dict[str, Any]:
    """Read `CITATION.cff`, with each author in one piece of text."""
    cited = yaml.safe_load(Path(folder, "CITATION.cff").read_text("utf-8"))
    people = [who.get("name") or f"{who['family-names']}, {who['given-names']}" for who in cited["authors"]]
    return cited | {"authors": people}


def bibtex(cited: dict[str, Any], site: str) -> str:
    """Write the entry of a bibliography; a name without a comma is that of a group."""
    names = (name if "," in name else f"{{{name}}}" for name in cited["authors"])
    fields = {"title": cited["title"], "author": " and ".join(names), "year": cited["date-released"].year}
    fields |= {"note": f"Version {cited['version']}"} | ({"url": site} if site else {})
    return "@misc{attnlib,\n" + "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items()) + "}"


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    """Insert the entry into a page."""
    entry = bibtex(citation(app.srcdir), read(app.srcdir).site)
    source[0] = source[0].replace("\nBIBTEX\n", f"\n{entry}\n")


def setup(app: Sphinx) -> None:
    """Register the extension."""
    app.connect("source-read", fill)
