"""What a cell prints reads the same however the kernel cuts it into pieces."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import myst_nb.core.render
from nbformat import NotebookNode
from nbformat.v4 import new_output
from sphinx.application import Sphinx


def joined(outputs: list[NotebookNode]) -> Iterator[NotebookNode]:
    """Join what comes between two displays, each stream's pieces as they are, standard output before errors."""
    for printed, neighbours in groupby(outputs, lambda output: output.output_type == "stream"):
        if not printed:
            yield from neighbours
            continue
        pieces = list(neighbours)
        for name in ("stdout", "stderr"):
            if text := "".join(piece.text for piece in pieces if piece.name == name):
                yield new_output("stream", name=name, text=text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Replace myst-nb's own function, which ends each piece with a new line, and so tears lines apart."""
    myst_nb.core.render.coalesce_streams = lambda outputs: list(joined(outputs))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
