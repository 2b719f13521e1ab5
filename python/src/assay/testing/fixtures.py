"""The types of the pytest fixtures, for annotations in tests: `def test_it(fake_sleep: FakeSleep)
-> None`. They are documented in `assertions.py`, `fakes.py` and `processes.py`."""

from __future__ import annotations

from typing import Any, Callable, ContextManager, Mapping, Protocol, Sequence

from .assertions import Allocations, Argument, CallCount, Report
from .budget import Budget
from .clock import Clock, Moment
from .fakes import _MANY, Fake, Results
from .files import Content, FakeFiles


class AssertFaster(Protocol):
    """The fixture `assert_faster`."""

    def __call__(
        self,
        subject: Callable[[], object],
        than: Callable[[], object],
        *,
        by: str | float = 0.0,
        seconds: float = 5.0,
        clock: str = "auto",
        inconclusive: str | None = None,
        names: tuple[str, str] | None = None,
    ) -> Report:
        """See `assay.testing.assert_faster`."""
        ...


class AssertNoSlower(Protocol):
    """The fixture `assert_no_slower`."""

    def __call__(
        self,
        subject: Callable[[], object],
        than: Callable[[], object],
        *,
        by: str | float = "5%",
        seconds: float = 5.0,
        clock: str = "auto",
        inconclusive: str | None = None,
        names: tuple[str, str] | None = None,
    ) -> Report:
        """See `assay.testing.assert_no_slower`."""
        ...


class AssertComplexity(Protocol):
    """The fixture `assert_complexity`."""

    def __call__(
        self,
        growth: str,
        sizes: Sequence[int],
        function: Callable[[Argument], object],
        *,
        setup: Callable[[int], Argument] | None = None,
        tolerance: float = 0.25,
        seconds: float = 10.0,
        clock: str = "auto",
        inconclusive: str | None = None,
    ) -> Report:
        """See `assay.testing.assert_complexity`."""
        ...


class AssertAllocations(Protocol):
    """The fixture `assert_allocations`."""

    def __call__(
        self,
        function: Callable[[], object],
        *,
        calls: int | None = None,
        kept: int | None = None,
        peak_bytes: int | None = None,
    ) -> Allocations:
        """See `assay.testing.assert_allocations`."""
        ...


class AssertBudget(Protocol):
    """The fixture `assert_budget`."""

    def __call__(
        self,
        *,
        max_sql: int | None = None,
        max_redis: int | None = None,
        max_log_lines: int | None = None,
        max_http: int | None = None,
        max_processes: int | None = None,
        max_sleep: float | None = None,
        uncounted: str = "fail",
    ) -> Budget:
        """See `assay.testing.assert_budget`."""
        ...


class AssertCalls(Protocol):
    """The fixture `assert_calls`."""

    def __call__(
        self, target: object, name: str, times: int | None = None, *, at_most: int | None = None
    ) -> ContextManager[CallCount]:
        """See `assay.testing.assert_calls`."""
        ...


class FakeSleep(Protocol):
    """The fixture `fake_sleep`."""

    def __call__(
        self, target: object, *, results: Results = None, limit: int = _MANY, unused: str = "fail"
    ) -> Fake:
        """See `assay.testing.fake_sleep`."""
        ...


class FakeSystem(FakeSleep, Protocol):
    """The fixture `fake_system`."""


class FakeRun(FakeSleep, Protocol):
    """The fixture `fake_run`."""


class FakeClock(Protocol):
    """The fixture `fake_clock`."""

    def __call__(self, target: object, *, now: Moment | None = None, unused: str = "fail") -> Clock:
        """See `assay.testing.fake_clock`."""
        ...


class FakeOpen(Protocol):
    """The fixture `fake_open`."""

    def __call__(
        self, target: object, files: Mapping[Any, Content] | None = None, *, unused: str = "fail"
    ) -> FakeFiles:
        """See `assay.testing.fake_open`."""
        ...
