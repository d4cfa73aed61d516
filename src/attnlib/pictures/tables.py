"""Tables of what a cell has computed: HTML where that is shown, columns of text elsewhere."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Table:
    """A table that a notebook, Colab and the book show where it is the value of a cell.

    Attributes
    ----------
    head : words
        The column headings.
    rows : sequences of str
        The first of each is the row's heading.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __post_init__(self) -> None:
        for n, row in enumerate(self.rows):
            if len(row) != len(self.head) or not row:
                raise ValueError(
                    f"rows[{n}] has {len(row)} cells; expected {len(self.head)}, as many as head, at least one"
                )

    @property
    def body(self) -> str:
        """Write the HTML of head and rows, everything escaped, without the table's own mark."""
        columns = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in self.head)
        lines = "\n".join(
            f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{_unbroken(cell)}</td>" for cell in cells)}</tr>'
            for first, *cells in self.rows
        )
        return f"<thead><tr>{columns}</tr></thead>\n<tbody>{lines}</tbody>"

    def _repr_html_(self) -> str:
        return f'<table class="table dataframe">\n{self.body}\n</table>'

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        lines = [
            "  ".join([first.ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(cells, widths[1:], strict=True))])
            for first, *cells in (self.head, *self.rows)
        ]
        return "\n".join(lines)


def _unbroken(cell: str) -> str:
    """Escape a cell, and keep what stands to both sides of a ± on one line."""
    return escape(cell).replace(" ± ", "\u00a0±\u00a0")


def table(head: Sequence[str], rows: Iterable[Sequence[object]], digits: int = 2) -> Table:
    """Lay out words and numbers, to be shown as the value of a cell.

    Parameters
    ----------
    head : words
        The column headings.
    rows : sequences
        What stands in each row; the first entry is its heading.
    digits : int
        The decimals of numbers that are not whole.
    """
    return Table(head, [[f"{x:.{digits}f}" if isinstance(x, float) else str(x) for x in row] for row in rows])
