"""The pytest fixtures `assert_faster`, `assert_no_slower`, `assert_complexity`,
`assert_allocations`, `assert_calls`, `assert_budget`, `fake_sleep`, `fake_system`, `fake_run`,
`fake_clock`, `fake_open`, and `benchmark` if pytest-benchmark is not installed. They are available
wherever the package is installed, and load nothing until a test uses one.

A test with an inconclusive result is skipped with the reason, unless `assay_inconclusive` (ini
file), the variable `ASSAY_INCONCLUSIVE` or the argument `inconclusive` is `fail` or `pass`.

The marker `budget(max_sql=10, …)` limits a test, including its function-scoped setup.

With the variable PROFILE_LOG the name of every test is logged before it begins, so that `assay
tests log` can attribute log lines to tests: a message `RUNNING` with the test's id, by the logger
`assay.tests`.
"""

from __future__ import annotations

import functools
import logging
import os
from typing import TYPE_CHECKING, Any, Callable, Iterator

import pytest

if TYPE_CHECKING:
    from .testing import Benchmark, Clock, Fake, FakeFiles
    from .testing.fixtures import (
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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "assay_inconclusive",
        "what becomes of a test whose measurement does not tell: skip, fail or pass",
        default="",
    )


def pytest_configure(config: pytest.Config) -> None:
    limits = "max_sql, max_redis, max_log_lines, max_http, max_processes, max_sleep"
    config.addinivalue_line("markers", f"budget({limits}): what the test may do at most")
    if not config.pluginmanager.hasplugin("benchmark"):
        config.pluginmanager.register(_Benchmark(), "assay_benchmark")


def pytest_collectstart(collector: pytest.Collector) -> None:
    # Connections of some libraries cannot be watched after they are opened, and a module may open
    # one on import.
    if isinstance(collector, pytest.Module) and not collector.config.stash.get(_watched_key, False):
        with open(str(getattr(collector, "path", None) or collector.fspath), "rb") as file:
            if b"budget" not in file.read():
                return
        _watch(collector.session)


def pytest_collection_finish(session: pytest.Session) -> None:
    if any(
        item.get_closest_marker("budget") or "assert_budget" in getattr(item, "fixturenames", ())
        for item in session.items
    ):
        from .testing import marker

        _watch(session)
        session.config.pluginmanager.register(marker.Budgets(), "assay_budgets")
    elif session.config.stash.get(_watched_key, False):
        from .testing import budget

        budget.unwatch(session)


def _watch(session: pytest.Session) -> None:
    if not session.config.stash.get(_watched_key, False):
        from .testing import budget

        session.config.stash[_watched_key] = True
        budget.watch(session)
        session.config.add_cleanup(lambda: budget.unwatch(session))


_watched_key: pytest.StashKey[bool] = pytest.StashKey()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid: str) -> None:
    if os.environ.get("PROFILE_LOG", "") not in ("", "0"):
        log = logging.getLogger("assay.tests")
        log.setLevel(logging.DEBUG)  # Handlers decide by their own levels.
        log.info("RUNNING %s", " ".join(nodeid.split()))


def _measured(request: pytest.FixtureRequest, name: str) -> Any:
    from . import testing

    function: Callable[..., Any] = getattr(testing, name)
    by_default = request.config.getini("assay_inconclusive") or None

    @functools.wraps(function)
    def assertion(*args: Any, inconclusive: str | None = None, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        try:
            return function(*args, inconclusive=inconclusive or by_default, **kwargs)
        except testing.Inconclusive as reason:
            pytest.skip(str(reason))

    return assertion


@pytest.fixture
def assert_faster(request: pytest.FixtureRequest) -> AssertFaster:
    """`assay.testing.assert_faster`; inconclusive is a skipped test."""
    found: AssertFaster = _measured(request, "assert_faster")
    return found


@pytest.fixture
def assert_no_slower(request: pytest.FixtureRequest) -> AssertNoSlower:
    """`assay.testing.assert_no_slower`; inconclusive is a skipped test."""
    found: AssertNoSlower = _measured(request, "assert_no_slower")
    return found


@pytest.fixture
def assert_complexity(request: pytest.FixtureRequest) -> AssertComplexity:
    """`assay.testing.assert_complexity`; inconclusive is a skipped test."""
    found: AssertComplexity = _measured(request, "assert_complexity")
    return found


@pytest.fixture
def assert_allocations() -> AssertAllocations:
    """`assay.testing.assert_allocations`."""
    from . import testing

    return testing.assert_allocations


@pytest.fixture
def assert_calls() -> AssertCalls:
    """`assay.testing.assert_calls`, a context manager."""
    from . import testing

    return testing.assert_calls


@pytest.fixture
def assert_budget() -> AssertBudget:
    """`assay.testing.assert_budget`, a context manager."""
    from . import testing

    return testing.assert_budget


@pytest.fixture
def _assay_clock() -> Clock:
    from .testing import Clock

    return Clock()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if call.when == "call" and call.excinfo is not None and "_assay_fakes" in getattr(item, "fixturenames", ()):
        vars(item)["_assay_problem"] = call.excinfo.value  # The exception of the failed test, until its fakes are checked.


@pytest.fixture
def _assay_fakes(request: pytest.FixtureRequest) -> Iterator[list[Fake]]:
    fakes: list[Fake] = []
    yield fakes
    for fake in reversed(fakes):
        fake.stop()
    problem = request.node.__dict__.pop("_assay_problem", None)
    for fake in fakes:
        # A test that has already failed needs no second report.
        fake.check(known=problem)


def _started(fakes: list[Fake], fake: Fake) -> Fake:
    __tracebackhide__ = True
    fake.start()
    fakes.append(fake)
    return fake


@pytest.fixture
def fake_sleep(_assay_fakes: list[Fake], _assay_clock: Clock) -> FakeSleep:
    """`fake_sleep(target, results=None)`: sleeping returns immediately and advances the clock of
    this test, until the test ends."""
    from . import testing

    def fixture(target: object, **options: Any) -> Fake:
        __tracebackhide__ = True
        return _started(_assay_fakes, testing.fake_sleep(target, clock=_assay_clock, **options))

    return fixture


@pytest.fixture
def fake_system(_assay_fakes: list[Fake]) -> FakeSystem:
    """`fake_system(target, results=None)`: `os.system` starts nothing, until the test ends."""
    from . import testing

    def fixture(target: object, **options: Any) -> Fake:
        __tracebackhide__ = True
        return _started(_assay_fakes, testing.fake_system(target, **options))

    return fixture


@pytest.fixture
def fake_run(_assay_fakes: list[Fake]) -> FakeRun:
    """`fake_run(target, results=None)`: `subprocess` starts nothing, until the test ends."""
    from . import testing

    def fixture(target: object, **options: Any) -> Fake:
        __tracebackhide__ = True
        return _started(_assay_fakes, testing.fake_run(target, **options))

    return fixture


@pytest.fixture
def fake_clock(_assay_fakes: list[Fake], _assay_clock: Clock) -> FakeClock:
    """`fake_clock(target)`: `time` and `datetime` are frozen until the test ends. Returns the
    clock, which `advance` moves."""
    from . import testing

    def fixture(target: object, **options: Any) -> Clock:
        __tracebackhide__ = True
        return _started(_assay_fakes, testing.fake_clock(target, clock=_assay_clock, **options)).clock

    return fixture


@pytest.fixture
def fake_open(_assay_fakes: list[Fake]) -> FakeOpen:
    """`fake_open(target, files)`: no file is opened, until the test ends."""
    from . import testing

    def fixture(target: object, files: Any = None, **options: Any) -> FakeFiles:
        __tracebackhide__ = True
        fake = testing.fake_open(target, files, **options)
        _started(_assay_fakes, fake)
        return fake

    return fixture


class _Benchmark:
    """The fixture `benchmark`, used if pytest-benchmark, which has one of this name, is not
    installed."""

    @pytest.fixture
    def benchmark(self, request: pytest.FixtureRequest) -> Benchmark:
        """`benchmark(function, *args)`: measures a function and returns its result."""
        from .testing import measuring

        config = request.config
        found: list[Any] = config.stash.setdefault(_measured_key, [])
        return measuring.Benchmark(request.node.nodeid, found)

    @pytest.hookimpl
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        """Prints a line for each measurement."""
        found = config.stash.get(_measured_key, [])
        if found:
            from .testing import measuring

            terminalreporter.section("benchmarks")
            for line in measuring.table(found):
                terminalreporter.write_line(line)


_measured_key: pytest.StashKey[list[Any]] = pytest.StashKey()
