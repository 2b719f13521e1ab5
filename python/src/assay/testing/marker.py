"""The pytest marker `budget`: hooks for sessions in which a test has it. Registered by
`assay.pytest_plugin` in that case."""

from __future__ import annotations

from typing import Any, Iterator

import pytest

from .budget import Budget, assert_budget


class Budgets:
    """The budget of the running test. It covers the test's body and its function-scoped setup."""

    def __init__(self) -> None:
        self._budget: Budget | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Starts counting."""
        marker = item.get_closest_marker("budget")
        if marker is not None:
            self._budget = assert_budget(*marker.args, **marker.kwargs).__enter__()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """Excludes setup shared by several tests."""
        budget = self._budget
        if budget is None or fixturedef.scope == "function":
            yield
            return
        counted = budget.pause()
        yield
        if counted:
            budget.resume()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_call(self) -> None:
        """Asserts the budget, after the test's own call and only if that has passed."""
        __tracebackhide__ = True
        if self._budget is not None:
            self._budget.stop()
            self._budget.check()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self) -> None:
        """Ends it, regardless of the result of the test."""
        if self._budget is not None:
            self._budget.stop()
            self._budget = None
