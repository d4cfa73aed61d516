"""Experiments dealt out to several runs, on one machine or on many, that write into one folder.

Each run has a share of the rows, and writes them into files of its own. A run without a share joins them.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Share(NamedTuple):
    """The k-th of n shares, k from 1 to n."""

    k: int
    n: int

    @classmethod
    def written(cls, text: str) -> "Share":
        """Read a share as one writes it, "2/5".

        Raises
        ------
        ValueError
            If it is none.
        """
        found = re.fullmatch(r"(\d+)/(\d+)", text)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise ValueError(f"share is {text!r}; expected one as 2/5, the first number from 1 to the second")
        return cls(int(found[1]), int(found[2]))

    def of(self, rows: Sequence[Any]) -> list[Any]:
        """Deal the rows out, one to each share in turn, and take what falls to this one."""
        return list(rows[self.k - 1 :: self.n])


def file_of(name: str, folder: Path, share: Share | None = None) -> Path:
    """Name the file that holds what is recorded of a variant, or what one share has recorded of it."""
    return folder / (f"{name}.json" if share is None else f"{name}.{share.k}of{share.n}.json")


def shares_of(name: str, folder: Path) -> list[Share]:
    """List the shares that have recorded something of a variant."""
    there = (re.fullmatch(r"(\d+)of(\d+)", path.name[len(name) + 1 : -5]) for path in folder.glob(f"{name}.*of*.json"))
    return sorted(Share(int(found[1]), int(found[2])) for found in there if found)
