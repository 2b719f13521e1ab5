"""Assertions and fakes for tests of performance and of waiting, for every test runner.

With pytest they are fixtures (`assay.pytest_plugin`), with unittest methods of
`assay.testing.TestCase` or of the mixin `Testing`, and everywhere else plain functions and context
managers.
"""

from .assertions import (
    Allocations,
    CallCount,
    Inconclusive,
    Report,
    allocations,
    assert_allocations,
    assert_calls,
    assert_complexity,
    assert_faster,
    assert_no_slower,
)
from .async_processes import FakeAsyncProcess
from .budget import Budget, Uncounted, assert_budget
from .case import TestCase, Testing
from .clock import Clock
from .fakes import Call, Fake, UnexpectedCall, UnusedFake, fake_clock, fake_sleep, fake_system
from .files import FakeFiles, fake_open
from .ended import Ended
from .fixtures import (
    AssertAllocations,
    AssertBudget,
    AssertCalls,
    AssertComplexity,
    AssertFaster,
    AssertNoSlower,
    FakeClock,
    FakeOpen,
    FakeRun,
    FakeSleep,
    FakeSystem,
)
from .measuring import Benchmark, Measurement
from .processes import FakeProcess, fake_run
from .sandbox import sandbox

__all__ = [
    "Allocations",
    "AssertAllocations",
    "AssertBudget",
    "AssertCalls",
    "AssertComplexity",
    "AssertFaster",
    "AssertNoSlower",
    "Benchmark",
    "Budget",
    "Call",
    "CallCount",
    "Clock",
    "Ended",
    "Fake",
    "FakeAsyncProcess",
    "FakeClock",
    "FakeFiles",
    "FakeOpen",
    "FakeProcess",
    "FakeRun",
    "FakeSleep",
    "FakeSystem",
    "Inconclusive",
    "Measurement",
    "Report",
    "TestCase",
    "Testing",
    "Uncounted",
    "UnexpectedCall",
    "UnusedFake",
    "allocations",
    "assert_allocations",
    "assert_budget",
    "assert_calls",
    "assert_complexity",
    "assert_faster",
    "assert_no_slower",
    "fake_clock",
    "fake_open",
    "fake_run",
    "fake_sleep",
    "fake_system",
    "sandbox",
]
