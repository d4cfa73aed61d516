"""What `make verify` found, as it recorded it."""

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

RECORD = "book/verification.json"
LONG = 80  # letters


class Verification(SphinxDirective):
    """Put here what a part of the verification found, and when."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Read the record, and come back when it changes."""
        self.env.note_dependency(RECORD)
        part = self.arguments[0]
        try:
            return found(json.loads(Path(self.env.srcdir, RECORD).read_text(encoding="utf-8"))[part])
        except (OSError, KeyError) as missing:
            raise self.error(f"{RECORD} does not say what {part!r} found ({missing!r}); run make verify") from missing


def found(kept: dict[str, Any]) -> list[nodes.Node]:
    """Write what a part found: its table, its sentences, what it found wrong, and when and where it ran."""
    cells = [list(map(entry, row)) for row in (kept["head"], *kept["rows"])]
    wrong = nodes.bullet_list("", *(nodes.list_item("", paragraph(failure)) for failure in kept["failures"]))
    verdict = "This failed:" if kept["failures"] else "Nothing failed."
    made = f"Run on {kept['date']} at revision {kept['revision']}; {kept['processor']}. {verdict}"
    return [
        table(cells),
        *map(paragraph, kept["said"]),
        paragraph(made),
        *([nodes.bullet_list("", *wrong)] * bool(wrong)),
    ]


def table(rows: list[list[nodes.entry]]) -> nodes.table:
    """Lay cells out as a table whose first row is its head."""
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in rows[0]), cols=len(rows[0]))
    for part, content in ((nodes.thead(), rows[:1]), (nodes.tbody(), rows[1:])):
        group += part
        part.extend(nodes.row("", *row) for row in content)
    return nodes.table("", group)


def entry(text: str) -> nodes.entry:
    """Make a cell. One that holds a long list is to be wide, rather than high."""
    return nodes.entry("", paragraph(text), classes=["long"] * (len(text) > LONG))


def paragraph(text: str) -> nodes.paragraph:
    """Make a paragraph of plain text."""
    return nodes.paragraph("", text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_directive("verification", Verification)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
