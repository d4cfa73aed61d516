"""Bad input ends in a clear error or in the documented behaviour, never in a wrong number: what the tests count."""

import re
import sys
from collections import Counter

from verify import suites
from verify.record import ROOT, Found


def verify() -> Found:
    """Run the tests of bad input, and count the cases of each."""
    cases, failures = suites.pytest(sys.executable, {}, *sorted(ROOT.glob("tests/test_bad_*.py")))
    counts = Counter(re.sub(r"\[.*", "", case.get("name"), flags=re.DOTALL) for case in cases)
    rows = [[name.removeprefix("test_").replace("_", " "), str(count)] for name, count in counts.items()]
    return Found(["what is tested", "cases"], rows, [], failures)
