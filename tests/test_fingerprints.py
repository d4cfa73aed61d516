"""What of a module counts for its results: every line that computes, and none that only speaks or refuses."""

import pytest

from attnlib.fingerprints import essence

MODULE = '''"""Say."""

import math
from attnlib.scores import dot, check_width


def f(x, steps=3):
    """Say more.

    And more.
    """
    if x < 0:
        raise ValueError("x is too small")
    check_width(x)
    for _ in range(steps):
        if x > 9:
            break
        elif x == 7:
            raise ValueError("seven")
        x = math.sqrt(x) + 1
    return "text"


def _check_width(x):
    """Say."""
    limit = 8
    if x > limit:
        raise ValueError("x is too large")


def check_sum(x):
    return x + 1
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("more", "something else"),
        ('"""Say."""\n\nimport', '"""Say it.\n\nAt length."""\nimport'),
        ("x < 0", "x < 1 or x > 99"),
        ('    if x < 0:\n        raise ValueError("x is too small")\n', ""),
        ("    check_width(x)\n", ""),
        ("    check_width(x)\n", "    widths.check_width(x)\n"),
        (", check_width", ""),
        ("limit = 8", "limit = 80"),
        ("x == 7", "x == 8"),
        ("\n\n\ndef", "\n\n\n\n\ndef"),
    ],
)
def test_words_and_checks_do_not_count(old, new):
    assert old in MODULE
    assert essence(MODULE.replace(old, new)) == essence(MODULE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("steps=3", "steps=4"),
        ("x > 9", "x >= 9"),
        ("break", "continue"),
        ("+ 1\n    return", "+ 2\n    return"),
        ('"text"', '"another text"'),
        ("import dot", "import additive as dot"),
        ("import math", "import cmath as math"),
        ("return x + 1", "return x + 2"),  # it is named as a check, but gives a value
        ("    check_width(x)\n", "    x = check_width(x)\n"),
        ("    check_width(x)\n", "    checked(x)\n"),
        ("if x < 0:", "if (x := x + 1) < 0:"),
        ('raise ValueError("x is too small")', "x = 0"),
        ('raise ValueError("x is too small")', 'x = 0\n        raise ValueError("x is too small")'),
        ('        raise ValueError("x is too small")', "        raise ValueError\n    else:\n        x = 0"),
        ("    limit = 8\n", "    limit = 8\n    global steps\n"),
        ("    limit = 8\n", "    limit = 8\n    return limit\n"),
    ],
)
def test_what_computes_counts(old, new):
    assert old in MODULE
    assert essence(MODULE.replace(old, new)) != essence(MODULE)
