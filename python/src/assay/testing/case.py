"""The assertions and fakes as methods of a `unittest` test case. All that a test faked is undone when it ends."""

from __future__ import annotations

import unittest
from pathlib import Path

from . import assertions, fakes, processes
from .clock import Clock
from .fakes import Fake
from .sandbox import sandbox


class Testing:
    """To be mixed into any class with `addCleanup`, such as a test case of your own."""

    @property
    def clock(self) -> Clock:
        """The clock of this test, which all its fakes share."""
        if "_assay_clock" not in self.__dict__:
            self._assay_clock = Clock()
        return self._assay_clock

    def sandbox(self) -> Path:
        """Works in an empty directory until the test ends; see `assay.testing.sandbox`."""
        place = sandbox()
        path = place.__enter__()
        self.addCleanup(place.__exit__, None, None, None)
        return path

    def fake_sleep(self, target, *, results=None, limit: int = fakes._MANY) -> Fake:
        """See `assay.testing.fake_sleep`."""
        return self._use(fakes.fake_sleep(target, results=results, limit=limit, clock=self.clock))

    def fake_system(self, target, *, results=None, limit: int = fakes._MANY) -> Fake:
        """See `assay.testing.fake_system`."""
        return self._use(fakes.fake_system(target, results=results, limit=limit))

    def fake_run(self, target, *, results=None, limit: int = fakes._MANY) -> Fake:
        """See `assay.testing.fake_run`."""
        return self._use(processes.fake_run(target, results=results, limit=limit))

    def fake_clock(self, target) -> Clock:
        """See `assay.testing.fake_clock`. Returns the clock."""
        return self._use(fakes.fake_clock(target, clock=self.clock)).clock

    def _use(self, fake: Fake) -> Fake:
        fake.start()
        self.addCleanup(fake.check)
        self.addCleanup(fake.stop)
        return fake

    assert_faster = staticmethod(assertions.assert_faster)
    assert_no_slower = staticmethod(assertions.assert_no_slower)
    assert_complexity = staticmethod(assertions.assert_complexity)
    assert_allocations = staticmethod(assertions.assert_allocations)
    assert_calls = staticmethod(assertions.assert_calls)


class TestCase(Testing, unittest.TestCase):
    """`unittest.TestCase` with the assertions and fakes of `assay.testing`."""
