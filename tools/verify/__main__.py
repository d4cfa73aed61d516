"""Run the parts of the verification that are named, or all. Fail if any finds what should not be."""

import sys
from argparse import ArgumentParser
from importlib import import_module

from verify.record import Found, keep

PARTS = ("processors", "versions", "tampering", "mutants", "bad_input", "faults", "packages", "next_engine")


def show(part: str, found: Found) -> None:
    """Print what a part found, as a table of columns that line up."""
    widths = [max(map(len, column)) for column in zip(found.head, *found.rows, strict=True)]
    print(f"\n{part}")
    for row in (found.head, *found.rows):
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for line in (*found.said, *(f"FAILED: {failure}" for failure in found.failures)):
        print(f"  {line}")


if __name__ == "__main__":
    parser = ArgumentParser(prog="make verify", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART")
    failed = []
    for part in parser.parse_args().only:
        found = import_module(f"verify.{part}").verify()
        show(part, found)
        keep(part, found)
        failed += [part] if found.failures else []
    sys.exit(f"Not as it should be: {', '.join(failed)}" if failed else 0)
