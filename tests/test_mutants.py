"""A change to an equation is noticed: a few changes of each module here, all of them in `make verify`."""

import pytest

from verify.hunting import KILLED, MODULES, SURVIVED, TIMED_OUT
from verify.mutants import hunt, judged, told
from verify.mutating import Mutants, Reason

SOURCE = '''
"""Say nothing."""


class Line:
    """A line through the origin."""

    slope: int = 2

    def __init__(self):
        """Begin at 0."""
        self.x: int = 0

    @staticmethod
    def at(x: int = 3) -> int:
        """Double it."""
        if len(x + 1) > 4:
            raise ValueError(f"x is {x + 1}")
        return sum(zip(x, x, strict=True))


@cache
def double(x):
    return x * 2


limit = 1 + 1
'''
CHANGES = {
    "self.x: int = None",
    "self.x: int = 1",
    "def at(x: int = 4) -> int:",
    "if len(x - 1) > 4:",
    "if len(x + 2) > 4:",
    "if len(x + 1) >= 4:",
    "if len(x + 1) > 5:",
    "return sum(None)",
    "return sum(zip(None, x, strict=True))",
    "return sum(zip(x, None, strict=True))",
    "return sum(zip(x, strict=True))",
    "return x / 2",
    "return x * 3",
}


def test_what_is_changed_and_what_is_not():
    """Nothing outside functions, no text, no annotation or decorator, no error, and no `strict`."""
    mutants = Mutants("lines", SOURCE).different()
    assert {mutant.becomes for mutant in mutants} == CHANGES
    for mutant in mutants:
        assert SOURCE.count(mutant.was) == 1
        assert mutant.source.splitlines() == SOURCE.replace(mutant.was, mutant.becomes).splitlines()
        assert SOURCE.splitlines()[mutant.lines.start - 1].strip() == mutant.was
    assert {mutant.function for mutant in mutants} == {"lines.Line.__init__", "lines.Line.at", "lines.double"}


def test_a_few_changes_of_each_module_are_noticed():
    outcomes = hunt("--sample", "2")
    assert [function.partition(".")[0] for function, *_ in outcomes] == [name for name in MODULES for _ in range(2)]
    for *key, outcome in outcomes:
        assert outcome != SURVIVED, told(key)


def outcomes(killed, timed_out, survived):
    number = {KILLED: killed, TIMED_OUT: timed_out, SURVIVED: survived}
    return [("search.beam", str(n), outcome, outcome) for outcome, most in number.items() for n in range(most)]


def reasons(number):
    return {("search.beam", str(n), SURVIVED): Reason(n == 0, "because") for n in range(number)}


def test_nine_of_ten_are_enough_if_each_survivor_has_a_reason():
    found = judged(outcomes(8, 1, 1), reasons(1))
    assert found.rows[-1] == ["all", "10", "8", "1", "1", "90.0"]
    assert ["search", "10", "8", "1", "1", "90.0"] in found.rows
    assert "1 of the 1 that survive" in found.said[1]
    assert found.failures == []


@pytest.mark.parametrize(
    ("survived", "explained", "failure"),
    [
        (2, 2, "89.5 per cent of the mutants are noticed; expected at least 90"),
        (1, 0, "survives without a reason: search.beam: '0' becomes 'survived'"),
        (0, 1, "has a reason, but does not survive: search.beam: '0' becomes 'survived'"),
    ],
)
def test_what_is_not_as_it_should_be(survived, explained, failure):
    assert judged(outcomes(16, 1, survived), reasons(explained)).failures == [failure]
