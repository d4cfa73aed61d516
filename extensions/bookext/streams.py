"""What a cell prints reads the same however the kernel cuts it into pieces."""

import myst_nb.core.render
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from nbformat import NotebookNode
from sphinx.application import Sphinx


def joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join neighbouring pieces of one stream as they are."""
    cell, _ = CoalesceStreamsPreprocessor().preprocess_cell(NotebookNode(outputs=outputs), {}, 0)
    return cell.outputs


def setup(app: Sphinx) -> None:
    """Replace myst-nb's own function, which ends each piece with a new line, and so tears lines apart."""
    myst_nb.core.render.coalesce_streams = joined
