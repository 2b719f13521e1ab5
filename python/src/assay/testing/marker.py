"""The marker `budget` of pytest: what is called for tests of a session in which one has it. `assay.pytest_plugin` registers it then."""

from __future__ import annotations

from typing import Any, Iterator

import pytest

from .budget import Budget, assert_budget


class Budgets:
    """The budget of the test that runs. It covers the test's body and the setup that is its own."""

    def __init__(self) -> None:
        self._budget: Budget | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begins to count."""
        marker = item.get_closest_marker("budget")
        if marker is not None:
            self._budget = assert_budget(*marker.args, **marker.kwargs).__enter__()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """What is set up for several tests is none's."""
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
        """Asserts, behind the test's own call and only where that has passed."""
        __tracebackhide__ = True
        if self._budget is not None:
            self._budget.stop()
            self._budget.check()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self) -> None:
        """Ends it, however the test did."""
        if self._budget is not None:
            self._budget.stop()
            self._budget = None
