"""Every stored number of every compared cell, changed one at a time, must make nbval's comparison fail."""

import sys

from verify import suites
from verify.record import ROOT, Found

HEAD = ["chapter", "cells compared", "numbers changed", "noticed", "cells exempt", "followed by an assert"]
COUNTS = ("compared", "tried", "noticed", "exempt", "asserted")


def verify() -> Found:
    """Run the tests that change the numbers, and add up what they counted."""
    chosen = [ROOT / "tests" / "test_notebooks.py", "-k", "test_nbval_notices_every_changed_number"]
    cases, failures = suites.pytest(sys.executable, {}, *chosen)
    if failures:
        return Found(HEAD, [], [], failures)
    chapters = [case.get("name").partition("[")[2].rstrip("]") for case in cases]
    known = [{item.get("name"): int(item.get("value")) for item in case.iter("property")} for case in cases]
    rows = [[chapter, *(str(counts[name]) for name in COUNTS)] for chapter, counts in zip(chapters, known, strict=True)]
    total = {name: sum(counts[name] for counts in known) for name in COUNTS}
    said = [
        f"Of {total['tried']} numbers, changed one at a time in their last digit, {total['noticed']} were noticed.",
        f"{total['exempt']} cells are exempt, since what they show differs between machines. After "
        f"{total['asserted']} of them an assert holds it to a tolerance.",
    ]
    if total["noticed"] < total["tried"] or total["asserted"] < total["exempt"]:
        failures.append("a changed number was not noticed, or no assert follows an exempt cell")
    return Found(HEAD, rows, said, failures)
