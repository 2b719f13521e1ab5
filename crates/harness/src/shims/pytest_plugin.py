"""What `assay bench` adds to pytest: pytest-benchmark does not describe the machine and the commit,
which takes seconds; two processes measure in turns (crates/harness/src/turns.rs); to find out what
each benchmark executes, each one runs in a process of its own, forked after all were collected."""

import os
import signal
import sys
import time
import warnings

import pytest
from _pytest.runner import runtestprotocol

# Benchmarks that take longer, or that hang because they were forked, run again alone.
_MOST_SECONDS = 20


class _Turns:
    def __init__(self, room, side):
        self._is_second = side == "b"
        self._own = os.open(os.path.join(room, side), os.O_RDONLY)
        self._other = os.open(os.path.join(room, "a" if self._is_second else "b"), os.O_WRONLY)
        self._ready = os.open(os.path.join(room, "ready"), os.O_WRONLY)
        self._has_begun = False
        self._is_alone = False
        self._has_other_ended = False

    def begin(self):
        """Passes the turn on, and waits for the next."""
        if not self._has_begun:
            self._has_begun = True
            os.write(self._ready, b"r")
        elif not self._is_alone:
            os.write(self._other, b"t")
        self._wait()

    def finish(self, has_next):
        """Waits until the other process has finished its test as well. Before another test, the
        second process also waits for its turn: the preparations of one process would disturb those
        of the other."""
        if not self._has_begun:
            return
        os.write(self._other, b"d")
        while not self._is_alone:
            self._wait()
        self._is_alone = self._has_other_ended
        if has_next and self._is_second:
            self._wait()

    def _wait(self):
        if not self._is_alone:
            byte = os.read(self._own, 1)
            self._has_other_ended = byte == b"e"
            self._is_alone = byte != b"t"


_turns = None
if "ASSAY_TURNS" in os.environ:
    _turns = _Turns(os.environ["ASSAY_TURNS"], os.environ["ASSAY_TURN"])


def _run_and_write(item):
    reports = runtestprotocol(item, log=False, nextitem=None)
    if all(report.passed for report in reports):
        sys.assay_write(item.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    if "ASSAY_EACH" not in os.environ:
        return None
    names = getattr(item, "fixturenames", ())
    if "benchmark" not in names and "benchmark_weave" not in names:
        return True
    with warnings.catch_warnings():
        # Python 3.12 warns if there are threads.
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            _run_and_write(item)
        finally:
            os._exit(0)
    end = time.monotonic() + _MOST_SECONDS
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            break
        time.sleep(0.002)
    return True


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_benchmark_generate_machine_info():
    return {}


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_benchmark_generate_commit_info():
    return {}


def pytest_configure():
    try:
        from pytest_benchmark.fixture import BenchmarkFixture

        make_runner = BenchmarkFixture._make_runner
    except (ImportError, AttributeError):
        return

    def with_turns(fixture, *described):
        runner = make_runner(fixture, *described)

        def run(*rounds, **options):
            # Before that, the harness looks for the number of iterations of a round.
            if fixture.stats is not None:
                _turns.begin()
            return runner(*rounds, **options)

        return run

    if _turns is not None:
        BenchmarkFixture._make_runner = with_turns


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(nextitem):
    if _turns is not None:
        _turns.finish(nextitem is not None)
    yield
