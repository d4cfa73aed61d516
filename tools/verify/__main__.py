"""Run the parts of the verification that are named, or all. Fail if any finds what should not be."""

import subprocess
import sys
from argparse import ArgumentParser
from datetime import UTC, datetime
from importlib import import_module

from verify import ROOT, Found

PARTS = ("versions", "environments", "tampering", "mutants")
RECORD = ROOT / "book" / "verification"


def table(found: Found) -> str:
    """Write the table in Markdown, and where and when it was found."""
    head, *rows = found.rows
    git = ["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"]
    revision = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    lines = [" | ".join(row) for row in (head, ["---"] * len(head), *rows)]
    return (
        "".join(f"| {line} |\n" for line in lines) + f"\nRun on {datetime.now(UTC):%Y-%m-%d} at revision {revision}.\n"
    )


if __name__ == "__main__":
    parser = ArgumentParser(prog="make verify", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART")
    parser.add_argument("--modules", nargs="+", help="whose mutants; nothing is kept then")
    arguments = parser.parse_args()
    failed = []
    for part in arguments.only:
        verify = import_module(f"verify.{part}").verify
        some = part == "mutants" and arguments.modules
        found = verify(arguments.modules) if some else verify()
        print(f"\n{part}\n\n{table(found)}", *found.failures, sep="\n", flush=True)
        if found.failures:
            failed.append(part)
        elif not some:  # the page shows what was found when all was well
            RECORD.mkdir(exist_ok=True)
            (RECORD / f"{part}.md").write_text(table(found), encoding="utf-8")
    sys.exit(f"Not as it should be: {', '.join(failed)}" if failed else 0)
