"""Assertions and fakes for tests of performance and of waiting, for every test runner.

With pytest they are fixtures (`assay.pytest_plugin`), with unittest methods of `assay.testing.TestCase` or of the class `Testing` that is
mixed into a test case of your own, and everywhere else plain functions and context managers.
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
from .budget import Budget, assert_budget
from .case import TestCase, Testing
from .clock import Clock
from .fakes import Call, Fake, UnexpectedCall, fake_clock, fake_sleep, fake_system
from .ended import Ended
from .fixtures import (
    AssertAllocations,
    AssertBudget,
    AssertCalls,
    AssertComplexity,
    AssertFaster,
    AssertNoSlower,
    FakeClock,
    FakeRun,
    FakeSleep,
    FakeSystem,
)
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
    "Budget",
    "Call",
    "CallCount",
    "Clock",
    "Ended",
    "Fake",
    "FakeAsyncProcess",
    "FakeClock",
    "FakeProcess",
    "FakeRun",
    "FakeSleep",
    "FakeSystem",
    "Inconclusive",
    "Report",
    "TestCase",
    "Testing",
    "UnexpectedCall",
    "allocations",
    "assert_allocations",
    "assert_budget",
    "assert_calls",
    "assert_complexity",
    "assert_faster",
    "assert_no_slower",
    "fake_clock",
    "fake_run",
    "fake_sleep",
    "fake_system",
    "sandbox",
]
