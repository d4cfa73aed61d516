"""Every stored number of every compared cell, changed one at a time, must make nbval's comparison fail."""

import copy
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from nbformat import NotebookNode
from nbval.plugin import IPyNbCell, coalesce_streams

from verify import Found, notebooks

NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


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


def agrees(cell: IPyNbCell, computed: list[NotebookNode], stored: list[NotebookNode]) -> bool:
    """Compare as nbval's own `runtest` does once the kernel has answered; it joins streams in place."""
    return cell.compare_outputs(*(coalesce_streams(copy.deepcopy(outputs)) for outputs in (computed, stored)))


class Tampering:
    """A plugin for pytest: in the place of running the chapters' cells, it alters what they store, and compares."""

    def __init__(self):
        self.counts, self.failures = Counter(), []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Count cells, numbers and what was noticed, by chapter."""
        for cell in session.items:
            chapter, stored = cell.path.stem, cell.cell.outputs
            cell.format_output_compare = lambda *_: None  # how it words a difference takes long
            if not cell.options["check"] or cell.options["skip"]:
                self.counts[chapter, "exempt"] += 1
                continue
            self.counts[chapter, "compared"] += 1
            if not (cell.cell.execution_count and agrees(cell, stored, stored)):
                self.failures.append(f"{cell.name}: it is not compared with what it stores")
            for number, changed in tampered(stored):
                noticed = not agrees(cell, stored, changed)
                self.counts[chapter, "changed"] += 1
                self.counts[chapter, "noticed"] += noticed
                self.failures += [] if noticed else [f"{chapter}, {cell.name}: {number} may be another number"]
        return True


def verify() -> Found:
    """Alter all chapters."""
    plugin, chapters = Tampering(), notebooks()
    imported = "ignore::pytest.PytestAssertRewriteWarning"  # nbval is, above
    pytest.main(["-q", "-W", imported, "-p", "no:cacheprovider", "--nbval", *map(str, chapters)], plugins=[plugin])
    kinds = ("compared", "exempt", "changed", "noticed")
    rows = [[path.stem, *(str(plugin.counts[path.stem, kind]) for kind in kinds)] for path in chapters]
    silent = [f"{row[0]}: no number was changed" for row in rows if row[3] == "0"]
    head = ["chapter", "cells compared", "cells exempt", "numbers changed", "noticed"]
    return Found([head, *rows], plugin.failures + silent)
