"""Common code for the tests of the ready-made patches: libraries, and the number of statements that
a row and a server count for the same work."""

import pytest

from assay import MethodProfiler, patches


class Asked:
    """Returns the number of statements or commands according to a server: the difference of two
    readings."""

    def __init__(self, begin, end):
        self.begin, self.end = begin, end

    def __call__(self, work):
        before = self.begin()
        work()
        return self.end() - before


def library(name, module=None):
    """The library, or a skipped test with the line that installs it."""
    return pytest.importorskip(module or name, reason=f"needs {name}: pip install {name}")


def applied(*names):
    for outcome in patches.apply(*names):
        assert outcome.applied, outcome


def calls(row, work):
    """Returns the number of calls of the row in the meantime."""
    with MethodProfiler.profile() as profile:
        work()
    return profile[row]["calls"]


def same(row, ways, asked):
    """Checks that each of these ways of working counts the stated number, which is also the
    server's."""
    counted = {}
    for way, (_number, work) in ways.items():
        before = asked.begin()
        mine = calls(row, work)
        counted[way] = (mine, asked.end() - before)
    assert counted == {way: (number, number) for way, (number, _work) in ways.items()}
