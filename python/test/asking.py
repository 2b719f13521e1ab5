"""What the tests of ready patches share: libraries, and how many statements a row and a server count for the same work."""

import pytest

from assay import MethodProfiler, patches


class Asked:
    """How many statements or commands a server says that something was: the difference of two readings."""

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
    """How often the row was called meanwhile."""
    with MethodProfiler.profile() as profile:
        work()
    return profile[row]["calls"]


def same(row, ways, asked):
    """Each of these ways to work counts as many as it says, and as the server says."""
    counted = {}
    for way, (_number, work) in ways.items():
        before = asked.begin()
        mine = calls(row, work)
        counted[way] = (mine, asked.end() - before)
    assert counted == {way: (number, number) for way, (number, _work) in ways.items()}
