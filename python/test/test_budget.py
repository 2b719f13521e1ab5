"""Budgets: what counts and what does not, the list in a failure, and whole tests with a budget."""

import asyncio
import logging
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
import types
import unittest
from pathlib import Path

import pytest

from assay import testing
from assay.testing import _causes as causes
from assay.testing import assert_budget, budget

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def watched():
    """As for tests with the marker: connections that a test opens beforehand also count."""
    budget.watch(watched)
    yield
    budget.unwatch(watched)


def failure(block, **limits):
    with pytest.raises(AssertionError) as caught:
        with assert_budget(**limits):
            block()
    return str(caught.value)


def test_what_stays_within_passes():
    began = time.perf_counter()
    with assert_budget(max_sleep=60, max_processes=2, max_log_lines=1, max_sql=0) as done:
        time.sleep(0.001)
        subprocess.run(["true"])
        os.system("true")
        logging.getLogger("some").warning("one")
    assert [done.count(name) for name in ("max_processes", "max_log_lines", "max_sql")] == [2, 1, 0]
    assert 0.001 <= done.count("max_sleep") <= time.perf_counter() - began


def test_a_failure_says_how_many_and_which():
    def block():
        log = logging.getLogger("some")
        for user in (5, 77):
            log.warning("user %d at 10.0.0.%d", user, user)
            log.error(f'said "{user}" at 2026-11-2{user}')
        time.sleep(0.002)
        subprocess.run(["true", "second"])
        for _ in range(2):
            os.system("true")

    said = failure(block, max_log_lines=1, max_processes=2, max_sleep=0, max_http=0).split("\n")
    assert said[0] == "4 log records, at most 1 was allowed"
    assert sorted(said[1:3]) == ["  2 × ERROR some: said ? at ?", "  2 × WARNING some: user %d at ?.%d"]
    assert said[3:6] == ["3 started programs, at most 2 were allowed", "  2 × true", "  1 × true second"]
    assert said[6].startswith("0.0") and said[6].endswith(" seconds of sleep, at most 0 were allowed")
    assert f"× from {__file__}:" in said[7] and len(said) == 8


def test_what_is_faked_does_not_happen(fake_sleep, fake_system):
    module = sys.modules[__name__]
    fake_sleep(module)
    fake_system(module)
    with assert_budget(max_sleep=0, max_processes=0):
        time.sleep(1000)
        os.system("false")


def test_what_a_library_does_without_the_modules_name_counts():
    sleep = time.sleep
    assert "second" in failure(lambda: sleep(0.001), max_sleep=0)


def test_statements_without_their_values():
    base = sqlite3.connect(":memory:", isolation_level=None)
    base.execute("create table t1 (x, y)")

    def block():
        for row in range(3):
            base.execute(f"insert into t1 values ({row}, 'it''s {row}')")
        base.executemany("insert into t1 values (?, ?)", [(1, 2), (3, 4)])
        base.cursor().execute("select y from t1 where x = -1.5 and y <> ''")
        base.execute("select * from t1 where x in (1, 2)")

    said = failure(block, max_sql=6).split("\n")
    assert said[0] == "7 SQL statements, at most 6 were allowed"
    assert said[1] == "  5 × insert into t1 values (?, …)"
    assert sorted(said[2:]) == [
        "  1 × select * from t1 where x in (?, …)",
        "  1 × select y from t1 where x = ? and y <> ?",
    ]


def test_transactions_are_statements():
    base = sqlite3.connect(":memory:")
    base.execute("create table t (x)")

    def block():
        with base:
            base.execute("insert into t values (1)")

    assert failure(block, max_sql=2).split("\n")[0] == "3 SQL statements, at most 2 were allowed"


def test_what_stands_above_a_driver_counts_once():
    sqlalchemy = pytest.importorskip("sqlalchemy")
    engine = sqlalchemy.create_engine("sqlite://")
    engine.connect().close()  # It sends its own statements.

    def block():
        with engine.connect() as connection:
            connection.execute(sqlalchemy.text("select 1"))

    assert failure(block, max_sql=0).split("\n")[1] == "  1 × select ?"


def test_with_the_last_budget_everything_is_as_it_was():
    budget.unwatch(watched)
    before = [time.sleep, os.system, subprocess.Popen._execute_child, logging.Logger.handle, sqlite3.connect]
    with assert_budget(max_sql=5):
        assert type(sqlite3.connect(":memory:")) is not sqlite3.Connection
        assert time.sleep is not before[0]
    assert [time.sleep, os.system, subprocess.Popen._execute_child, logging.Logger.handle, sqlite3.connect] == before
    assert type(sqlite3.connect(":memory:")) is sqlite3.Connection


def test_other_threads_and_tasks_count():
    def block():
        thread = threading.Thread(target=os.system, args=("true",))
        thread.start()
        thread.join()

        async def task():
            process = await asyncio.create_subprocess_exec("true")
            await process.wait()

        asyncio.run(task())

    assert failure(block, max_processes=0).startswith("2 started programs")


def test_budgets_within_each_other_count_both():
    def block():
        with assert_budget(max_processes=1):
            os.system("true")
        os.system("true")

    assert failure(block, max_processes=1).startswith("2 started programs, at most 1 was allowed")


def test_after_an_exception_nothing_is_asserted():
    with pytest.raises(KeyError):
        with assert_budget(max_processes=0):
            os.system("true")
            raise KeyError


@pytest.mark.parametrize(
    "limits, said",
    [
        ({}, "at least one limit: max_sql, max_redis, "),
        ({"max_sql": 1.5}, "max_sql is a whole number, not 1.5"),
        ({"max_sql": True}, "max_sql is a whole number, not True"),
        ({"max_sleep": -1}, "max_sleep is a number of seconds, not -1"),
        ({"max_sleep": float("nan")}, "max_sleep is a number of seconds, not nan"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits, said):
    with pytest.raises(ValueError, match=said):
        assert_budget(**limits)


class CaseTest(testing.TestCase):
    def test_it_is_a_method_of_test_cases(self):
        with self.assert_budget(max_processes=1):
            os.system("true")
        with self.assertRaises(AssertionError), self.assert_budget(max_processes=0):
            os.system("true")
        assert isinstance(self, unittest.TestCase)


MARKED = """
import os, pytest

@pytest.fixture(scope="module")
def shared():
    os.system("true")

@pytest.fixture
def own():
    os.system("true")
    yield
    os.system("true")

pytestmark = pytest.mark.budget(max_processes=1)

def test_within(shared, own): pass
def test_too_much(own): os.system("true second")
@pytest.mark.budget(max_processes=3)
def test_may_do_more(own): [os.system("true") for _ in range(2)]
def test_fails_itself(own):
    os.system("true")
    assert 1 == 2
@pytest.mark.budget(max_time=1)
def test_wrong(): pass
def test_by_fixture(assert_budget):
    with assert_budget(max_processes=0):
        os.system("true third")
"""


def test_whole_tests_by_the_marker(pytester):
    pytester.makepyfile(MARKED)
    result = pytester.runpytest_subprocess("--strict-markers", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, failed=3, errors=1)
    out = result.stdout.str()
    assert re.search(r"2 started programs, at most 1 was allowed\n\W+1 × true\n\W+1 × true second\n", out)
    assert "assert 1 == 2" in out
    assert re.search(r"1 started program, at most 0 were allowed\nE +1 × true third\n", out)
    assert "unexpected keyword argument 'max_time'" in out


def test_the_points_are_those_of_the_hooks_of_assay_tests():
    hooks = Path(__file__).resolve().parents[2] / "crates/suites/src/hooks/python/assay_tests_causes.py"
    assert Path(causes.__file__).read_text() == hooks.read_text()


def test_what_a_module_took_while_a_budget_was_open_can_be_faked_afterwards():
    taken = types.ModuleType("taken")
    with testing.assert_budget(max_sleep=9):
        exec("import functools, os, time\nfrom time import sleep\nnap = functools.partial(time.sleep, 99)\n"
             "def wait(*, by=sleep): by(99)\ndef run(by=os.system): return by('false')", vars(taken))  # fmt: skip
    with testing.fake_sleep(taken) as sleeps, testing.fake_system(taken, results=[3]) as commands:
        taken.nap(), taken.wait(), taken.sleep(99)
        assert taken.run() == 3
    assert sleeps == [99, 99, 99] and commands == ["false"]
    with testing.assert_budget(max_sleep=9), testing.fake_sleep(taken) as sleeps:
        taken.nap(), taken.wait()
    assert sleeps == [99, 99]
