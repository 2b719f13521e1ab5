"""The assertions and fakes as methods of a `unittest` test case. All fakes are undone when the test
ends."""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import Any, Callable, ClassVar, Mapping, cast

from . import assertions, budget, fakes, processes
from .clock import Clock, Moment
from .fakes import Fake, Results
from .files import Content, FakeFiles, fake_open
from .fixtures import AssertAllocations, AssertBudget, AssertCalls, AssertComplexity, AssertFaster, AssertNoSlower
from .sandbox import sandbox


class Testing:
    """A mixin for any class with `addCleanup`, such as a test case."""

    #: Provided by the test case.
    addCleanup: Callable[..., Any]

    @property
    def clock(self) -> Clock:
        """The clock of this test, shared by all its fakes."""
        if "_assay_clock" not in self.__dict__:
            self.__dict__["_assay_clock"] = Clock()
        found: Clock = self.__dict__["_assay_clock"]
        return found

    def sandbox(self) -> Path:
        """Works in an empty directory until the test ends; see `assay.testing.sandbox`."""
        place = sandbox()
        path = place.__enter__()
        self.addCleanup(place.__exit__, None, None, None)
        return path

    def fake_sleep(
        self, target: object, *, results: Results = None, limit: int = fakes._MANY, unused: str = "fail"
    ) -> Fake:
        """See `assay.testing.fake_sleep`."""
        return self._use(fakes.fake_sleep(target, results=results, limit=limit, clock=self.clock, unused=unused))

    def fake_system(
        self, target: object, *, results: Results = None, limit: int = fakes._MANY, unused: str = "fail"
    ) -> Fake:
        """See `assay.testing.fake_system`."""
        return self._use(fakes.fake_system(target, results=results, limit=limit, unused=unused))

    def fake_run(
        self, target: object, *, results: Results = None, limit: int = fakes._MANY, unused: str = "fail"
    ) -> Fake:
        """See `assay.testing.fake_run`."""
        return self._use(processes.fake_run(target, results=results, limit=limit, unused=unused))

    def fake_clock(self, target: object, *, now: Moment | None = None, unused: str = "fail") -> Clock:
        """See `assay.testing.fake_clock`. Returns the clock."""
        return self._use(fakes.fake_clock(target, now=now, clock=self.clock, unused=unused)).clock

    def fake_open(
        self, target: object, files: Mapping[Any, Content] | None = None, *, unused: str = "fail"
    ) -> FakeFiles:
        """See `assay.testing.fake_open`."""
        fake = fake_open(target, files, unused=unused)
        self._use(fake)
        return fake

    def _use(self, fake: Fake) -> Fake:
        fake.start()
        self.addCleanup(self._check, fake)
        self.addCleanup(fake.stop)
        return fake

    def _check(self, fake: Fake) -> None:
        outcome = getattr(self, "_outcome", None)
        if outcome is None or getattr(outcome, "success", True):
            fake.check()
        elif fake.calls:
            fake.check()  # The failure may have hidden a call beyond the script.

    assert_faster: ClassVar[AssertFaster] = cast("AssertFaster", staticmethod(assertions.assert_faster))
    assert_no_slower: ClassVar[AssertNoSlower] = cast("AssertNoSlower", staticmethod(assertions.assert_no_slower))
    assert_complexity: ClassVar[AssertComplexity] = cast("AssertComplexity", staticmethod(assertions.assert_complexity))
    assert_allocations: ClassVar[AssertAllocations] = cast(
        "AssertAllocations", staticmethod(assertions.assert_allocations)
    )
    assert_calls: ClassVar[AssertCalls] = cast("AssertCalls", staticmethod(assertions.assert_calls))
    assert_budget: ClassVar[AssertBudget] = cast("AssertBudget", staticmethod(budget.assert_budget))


class TestCase(Testing, unittest.TestCase):
    """`unittest.TestCase` with the assertions and fakes of `assay.testing`."""
