"""Rows dealt out to several runs of one command."""

import re
from argparse import ArgumentTypeError
from collections.abc import Sequence
from typing import Any, NamedTuple


class Share(NamedTuple):
    """The k-th of n shares, k from 1 to n."""

    k: int
    n: int

    @classmethod
    def argument(cls, text: str) -> "Share":
        """Read a share as one writes it, "2/5", on a command line; argparse shows the message of this error alone."""
        found = re.fullmatch(r"(\d+)/(\d+)", text)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise ArgumentTypeError(f"share is {text!r}; expected one as 2/5, the first number from 1 to the second")
        return cls(int(found[1]), int(found[2]))

    def of(self, rows: Sequence[Any]) -> list[Any]:
        """Deal the rows out, one to each share in turn, and take what falls to this one."""
        return list(rows[self.k - 1 :: self.n])
