"""Cases of both front ends: budgets and fakes."""

import asyncio
import concurrent.futures
import datetime
import logging
import os
import queue
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
import types

import pytest

from assay import testing
from assay.testing import UnexpectedCall, UnusedFake


def module(text, name="under_test"):
    made = types.ModuleType(name)
    exec(textwrap.dedent(text), vars(made))
    return made


# Budgets. ------------------------------------------------------------------------------------------------------------------


def test_budget_counts_sql():
    with pytest.raises(AssertionError, match="2 SQL statements, at most 1 was allowed"):
        with testing.assert_budget(max_sql=1):
            base = sqlite3.connect(":memory:")
            base.execute("SELECT 1")
            base.execute("SELECT 2")


def test_budget_of_sql_with_an_unknown_driver_is_refused(monkeypatch):
    driver = types.ModuleType("olddb")
    vars(driver).update(apilevel="2.0", paramstyle="qmark", connect=lambda: None)
    for name in ("olddb", "_olddb", "olddb.connections"):
        monkeypatch.setitem(sys.modules, name, driver)
    with pytest.raises(testing.Uncounted, match="max_sql can't be asserted: `olddb` is loaded"):
        with testing.assert_budget(max_sql=0):
            pass
    with testing.assert_budget(max_sql=0, uncounted="ok"), testing.assert_budget(max_log_lines=0):
        pass


def test_budget_counts_a_driver_that_is_loaded_within_it(tmp_path):
    code = textwrap.dedent("""
        from assay.testing import assert_budget
        with assert_budget(max_sql=0):
            import sqlite3
            sqlite3.connect(":memory:").execute("SELECT 1")
    """)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 1 and "1 SQL statement, at most 0 were allowed" in ended.stderr


def test_budget_counts_connections_that_the_module_opens(pytester):
    pytester.makepyfile("""
        import sqlite3, pytest
        base = sqlite3.connect(":memory:")

        @pytest.mark.budget(max_sql=0)
        def test_it():
            base.execute("SELECT 1")
    """)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*1 SQL statement, at most 0 were allowed*"])


sleep_taken_before = time.sleep


def test_budget_counts_sleep():
    async def anyio_sleep():
        anyio = pytest.importorskip("anyio")
        await anyio.sleep(0.003)

    for nap in (
        lambda: time.sleep(0.003),
        lambda: sleep_taken_before(0.003),
        lambda: asyncio.run(asyncio.sleep(0.003)),
        lambda: asyncio.run(anyio_sleep()),
        lambda: threading.Event().wait(0.003),
    ):
        with pytest.raises(AssertionError, match="seconds of sleep"):
            with testing.assert_budget(max_sleep=0.001):
                nap()
    came = threading.Event()
    came.set()
    with testing.assert_budget(max_sleep=0):
        time.sleep(0)
        asyncio.run(asyncio.sleep(0))
        came.wait(5)
        thread = threading.Thread(target=str)
        thread.start()
        thread.join()


def test_budget_counts_programs():
    with pytest.raises(AssertionError, match="3 started programs"):
        with testing.assert_budget(max_processes=0):
            subprocess.run(["true"])
            os.system("true")
            os.popen("true").close()


def test_budget_counts_log_lines():
    with pytest.raises(AssertionError, match="2 log records.*\n.*2 × WARNING assay.cases: page %d"):
        with testing.assert_budget(max_log_lines=1):
            for n in range(2):
                logging.getLogger("assay.cases").warning("page %d", n)


def test_budget_counts_other_threads():
    def work():
        sqlite3.connect(":memory:").execute("SELECT 1")

    with pytest.raises(AssertionError, match="1 SQL statement"):
        with testing.assert_budget(max_sql=0):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()


def test_budget_is_not_asserted_after_an_exception():
    with pytest.raises(KeyError):
        with testing.assert_budget(max_sql=0):
            sqlite3.connect(":memory:").execute("SELECT 1")
            raise KeyError


def test_budget_lists_what_was_done():
    with pytest.raises(AssertionError, match="2 × SELECT \\?\n  1 × CREATE TABLE t"):
        with testing.assert_budget(max_sql=0):
            base = sqlite3.connect(":memory:")
            for text in ("CREATE TABLE t (n)", "SELECT 7", "SELECT 8"):
                base.execute(text)


def test_budget_without_a_limit_is_refused():
    with pytest.raises(ValueError, match="at least one limit: max_sql"):
        testing.assert_budget()


# Fakes. ----------------------------------------------------------------------------------------------------------------------

SLEEPS = """
import asyncio, functools, threading, time, typing
from time import sleep, sleep as nap

class Cron:
    pause = staticmethod(time.sleep)
    def __init__(self): self.sleep = time.sleep
    def go(self, s): self.sleep(s)
    def rest(self, s): self.pause(s)

class Slots:
    __slots__ = ("nap", "more")
    def __init__(self): self.nap = time.sleep
class Retry(typing.NamedTuple):
    seconds: float
    nap: typing.Callable

slots, retry, pair = Slots(), Retry(8, time.sleep), (9, time.sleep)
cron, table, later = Cron(), {"nap": [sleep]}, functools.partial(time.sleep, 5)
stop = threading.Event()
def usual(s): time.sleep(s)
def other(s): nap(s)
def found(s):
    from time import sleep as s1
    import time as t
    s1(s)
    t.sleep(s)
def default(s, sleep=time.sleep): sleep(s)
def keyword(s, *, sleep=time.sleep): sleep(s)
def event(s): return threading.Event().wait(s)
def known_event(s): return stop.wait(s)
def thread(s):
    t = threading.Thread(target=time.sleep, args=(s,))
    t.start()
    t.join()
def forever():
    while True: time.sleep(1)
async def awaits(s):
    from asyncio import sleep
    await sleep(s)
async def limited():
    async with asyncio.timeout(10): await asyncio.sleep(50)
"""


@pytest.fixture
def sleeper():
    return module(SLEEPS)


def test_fake_sleep_by_the_usual_name(sleeper, fake_sleep):
    sleeps = fake_sleep(sleeper)
    sleeper.usual(99)
    assert sleeps == [99]


def test_fake_sleep_by_another_name(sleeper, fake_sleep):
    sleeps = fake_sleep(sleeper)
    sleeper.other(99)
    assert sleeps == [99]


def test_fake_sleep_found_when_called(sleeper, fake_sleep):
    sleeps = fake_sleep(sleeper)
    sleeper.found(99)
    asyncio.run(sleeper.awaits(98))
    assert sleeps == [99, 99, 98]
    by_call = module("def f(): __import__('time').sleep(96)", "by_call")
    with testing.fake_sleep(by_call, unused="ok") as called:
        by_call.f()
    assert called == [96]
    by_name = module("import importlib\ndef f(): importlib.import_module('time').sleep(95)", "by_name")
    with testing.fake_sleep(by_name) as called:
        by_name.f()
    assert called == [95]
    only_there = module("def f():\n    from time import sleep\n    sleep(97)", "only_there")
    sleeps = fake_sleep(only_there)
    only_there.f()
    assert sleeps == [97]


def test_fake_sleep_of_anyio(fake_sleep):
    anyio = pytest.importorskip("anyio")
    naps = module("import anyio\nfrom anyio import sleep\nasync def nap():\n    await anyio.sleep(99)\n    await sleep(98)", "naps")
    sleeps = fake_sleep(naps)
    anyio.run(naps.nap)
    assert sleeps == [99, 98] and sleeps.clock.elapsed == 197


def test_fake_sleep_held_as_a_value(sleeper):
    before = sleeper.default.__defaults__, vars(sleeper.cron).copy(), sleeper.later.func, sleeper.slots.nap, sleeper.retry, sleeper.pair
    with testing.fake_sleep(sleeper) as sleeps:
        sleeper.default(1)
        sleeper.keyword(2)
        sleeper.cron.go(3)
        sleeper.cron.rest(4)
        sleeper.later()
        sleeper.table["nap"][0](6)
        sleeper.slots.nap(7)
        sleeper.retry.nap(sleeper.retry.seconds)
        sleeper.pair[1](sleeper.pair[0])
    assert sleeps == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    after = sleeper.default.__defaults__, vars(sleeper.cron), sleeper.later.func, sleeper.slots.nap, sleeper.retry, sleeper.pair
    assert before == after and type(sleeper.retry) is sleeper.Retry
    assert sleeper.keyword.__kwdefaults__ == {"sleep": time.sleep} and sleeper.table == {"nap": [time.sleep]}


def test_fake_sleep_by_waiting_for_an_event(sleeper, fake_sleep):
    sleeps = fake_sleep(sleeper)
    assert sleeper.event(99) is False and sleeper.known_event(98) is False
    sleeper.stop.set()
    assert sleeper.known_event(97) is True
    assert sleeps == [99, 98] and threading.Event().wait(0.001) is False


def test_fake_sleep_by_waiting_for_a_condition(fake_sleep):
    waits = module("""
        import threading
        came = threading.Condition()
        def wait(seconds):
            with came:
                return came.wait(timeout=seconds)
        def told():
            with came:
                came.notify()
    """, "waits")  # fmt: skip
    sleeps = fake_sleep(waits)
    assert waits.wait(99) is False and sleeps == [99]
    other = threading.Thread(target=waits.told)
    with waits.came:
        other.start()
        assert waits.came.wait(60) is True  # The waiting code is not the module's.
    other.join()
    assert sleeps == [99]


WAITS = """
import concurrent.futures, queue, select, selectors, threading
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from queue import Empty, Full, LifoQueue, SimpleQueue
from threading import Timer

jobs, full = queue.Queue(), queue.Queue(1)
full.put(0)
def get(s):
    try: return jobs.get(timeout=s)
    except Empty: return "empty"
def get_by_position(s): return jobs.get(True, s)
def get_simple(s):
    try: return SimpleQueue().get(timeout=s)
    except Empty: return "empty"
def last(s): return LifoQueue().get(timeout=s)
def put(s):
    try: full.put(1, timeout=s)
    except Full: return "full"
def produced(s):
    threading.Thread(target=jobs.put, args=("made",)).start()
    return jobs.get(timeout=s)
def semaphore(s): return threading.Semaphore(0).acquire(timeout=s), threading.BoundedSemaphore(1).acquire(True, s)
def wait_for(s):
    condition = threading.Condition()
    with condition: return condition.wait_for(lambda: False, s)
def nothing(s): return select.select([], [], [], s), selectors.DefaultSelector().select(s)
def files(readable): return select.select([readable], [], [], 5)[0]
def result(s, function=None):
    try: return ThreadPoolExecutor(1).submit(function).result(timeout=s) if function else Future().result(s)
    except concurrent.futures.TimeoutError: return "late"
def error(s): return Future().exception(timeout=s)
def some(s):
    one, never = Future(), Future()
    one.set_result(1)
    done, not_done = concurrent.futures.wait([one, never], timeout=s)
    first = concurrent.futures.wait([one, never], s, concurrent.futures.FIRST_COMPLETED)
    return len(done), len(not_done), len(first.done)
def completed(s):
    one, never, found = Future(), Future(), []
    one.set_result(1)
    try:
        for future in as_completed([one, never], timeout=s): found.append(future.result())
    except concurrent.futures.TimeoutError as over: return found, str(over)
def joined(s, event):
    thread = threading.Thread(target=event.wait, daemon=True)
    thread.start()
    thread.join(s)
    return thread.is_alive()
def joins_work(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(3600)
    return thread.is_alive()
def timer(s, function): return Timer(s, function)
def started(s, function):
    timer = threading.Timer(s, function)
    timer.start()
    return timer
def pause(s): threading.Event().wait(s)
def until_told(s):
    told = threading.Event()
    started(s, told.set)
    return told.wait()
"""


@pytest.fixture
def waiter():
    return module(WAITS, "waiter")


def test_fake_sleep_by_waiting_for_a_queue(waiter, fake_sleep):
    sleeps = fake_sleep(waiter)
    assert [waiter.get(99), waiter.get_simple(98), waiter.put(97)] == ["empty", "empty", "full"]
    for call, seconds in ((waiter.get_by_position, 96), (waiter.last, 95)):
        with pytest.raises(queue.Empty):
            call(seconds)
    assert waiter.produced(94) == "made"
    waiter.jobs.put(0)
    assert waiter.get(93) == 0
    assert sleeps == [99, 98, 97, 96, 95] and sleeps.clock.elapsed == sum(sleeps)
    with pytest.raises(queue.Empty):
        queue.Queue().get(timeout=0.001)  # The waiting code is not the module's.
    assert len(sleeps) == 5


def test_fake_sleep_by_waiting_for_a_semaphore(waiter, fake_sleep):
    sleeps = fake_sleep(waiter)
    assert waiter.semaphore(99) == (False, True) and waiter.wait_for(98) is False and sleeps == [99, 98]


def test_fake_sleep_by_waiting_for_no_files(waiter, fake_sleep):
    sleeps = fake_sleep(waiter)
    assert waiter.nothing(99) == (([], [], []), []) and sleeps == [99, 99]
    reads, writes = os.pipe()
    os.write(writes, b"x")
    assert waiter.files(reads) == [reads] and len(sleeps) == 2
    os.close(reads), os.close(writes)


def test_fake_sleep_by_waiting_for_work(waiter, fake_sleep):
    sleeps = fake_sleep(waiter)
    # Work that ends in time is not affected, although it takes longer than 20 ms.
    assert waiter.result(3600, lambda: time.sleep(0.05) or "done") == "done" and not waiter.joins_work(lambda: time.sleep(0.05))
    assert sleeps == []
    assert waiter.result(99) == "late" and waiter.some(98) == (1, 1, 1) and waiter.completed(97) == ([1], "1 (of 2) futures unfinished")
    with pytest.raises(concurrent.futures.TimeoutError):
        waiter.error(96)
    event = threading.Event()
    assert waiter.joined(95, event) is True
    event.set()
    assert sleeps == [99, 98, 97, 96, 95]
    # The time limit of the work itself is its result.
    assert waiter.result(94, lambda: (_ for _ in ()).throw(concurrent.futures.TimeoutError)) == "late" and len(sleeps) == 5


def test_fake_timer_fires_when_the_clock_comes_to_it(waiter, fake_sleep):
    sleeps = fake_sleep(waiter)
    fired = []
    timers = [waiter.started(seconds, lambda seconds=seconds: fired.append(seconds)) for seconds in (30, 10, 20, 40)]
    assert sleeps == [30, 10, 20, 40] and fired == [] and all(timer.is_alive() for timer in timers)
    waiter.pause(15)
    assert fired == [10] and [timer.is_alive() for timer in timers] == [True, False, True, True]
    timers[2].cancel()
    timers[2].join()
    assert not timers[2].is_alive()
    timers[0].join(1)
    assert fired == [10] and sleeps.clock.elapsed == 16
    timers[0].join()
    assert fired == [10, 30] and sleeps.clock.elapsed == 30
    sleeps.clock.advance(10)
    assert fired == [10, 30, 40] and timers[0].interval == 30
    assert waiter.until_told(3600) is True and sleeps.clock.elapsed == 3640
    real = threading.Timer(0, fired.append, ["real"])  # Not the module's.
    real.start()
    real.join()
    assert fired[-1] == "real"


def test_fake_timers_end_with_the_fake(waiter):
    before = [dict(vars(kind)) for kind in (threading.Timer, threading.Thread, queue.Queue, concurrent.futures.Future)]
    fired = []
    with testing.fake_sleep(waiter) as sleeps:
        waiter.started(10, lambda: fired.append(1))
    sleeps.clock.advance(60)
    assert fired == []
    assert before == [dict(vars(kind)) for kind in (threading.Timer, threading.Thread, queue.Queue, concurrent.futures.Future)]


def test_fake_sleep_in_another_thread(sleeper, fake_sleep):
    sleeps = fake_sleep(sleeper)
    sleeper.thread(99)
    assert sleeps == [99]


def test_fake_sleep_advances_the_clock(sleeper, fake_sleep, fake_clock):
    clock = fake_clock(sleeper)
    fake_sleep(sleeper)
    before = sleeper.time.monotonic()
    sleeper.usual(3600)
    assert sleeper.time.monotonic() - before == clock.elapsed == 3600


def test_fake_sleep_without_end_is_stopped(sleeper):
    with pytest.raises(UnexpectedCall, match="a loop without an end"):
        with testing.fake_sleep(sleeper, limit=50):
            sleeper.forever()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.timeout came with Python 3.11")
def test_fake_sleep_ended_by_a_time_limit(sleeper, fake_sleep):
    sleeps = fake_sleep(sleeper)
    with pytest.raises(TimeoutError):
        asyncio.run(sleeper.limited())
    assert sleeps == [50] and 9 < sleeps.clock.elapsed <= 10


SHELL = """
import os, subprocess
from os import system
def both(c): return os.system(c), system(c)
def rescued():
    try: os.system("b")
    except AssertionError: pass
def output(): return subprocess.run(["date"], capture_output=True, text=True, check=True).stdout
def pipe():
    with os.popen("date") as p: return p.read()
def closed(): return os.popen("date").close()
def popen():
    p = subprocess.Popen(["date"], stdout=subprocess.PIPE, text=True)
    return p.communicate()[0], p.returncode, p.pid
def spawned():
    pid = os.posix_spawn("/bin/date", ["date", "-u"], {})
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if hasattr(os, "waitstatus_to_exitcode") else os.WEXITSTATUS(os.waitpid(pid, 0)[1])
def waited(): return os.spawnl(os.P_WAIT, "/bin/date", "date")
def forked():
    pid = os.fork()
    if pid == 0: os._exit(3)
    os.kill(pid, 9)
    return os.waitpid(pid, 0)[1] >> 8
def local():
    from subprocess import check_output
    return check_output(["date"])
def real_child(): return os.waitpid(os.spawnl(os.P_NOWAIT, "/bin/true", "true"), 0)
"""


@pytest.fixture
def shell():
    return module(SHELL)


def test_fake_shell_with_scripted_results(shell, fake_system):
    commands = fake_system(shell, results=[0, 3])
    assert shell.both("ls") == (0, 3) and commands == ["ls", "ls"]


def test_fake_shell_beyond_its_script(shell):
    with pytest.raises(UnexpectedCall, match=r"unexpected `system\('b'\)`: all 1 .* calls so far: system\('b'\)"):
        with testing.fake_system(shell, results=[0]):
            shell.rescued()
            shell.rescued()


def test_fake_program_with_output(shell, fake_run):
    runs = fake_run(shell, results=["noon\n", b"midnight"])
    assert shell.output() == "noon\n" and shell.local() == b"midnight" and runs == [["date"], ["date"]]


def test_fake_program_that_fails(shell, fake_run):
    fake_run(shell, results=[(3, "", "bad")])
    with pytest.raises(subprocess.CalledProcessError) as found:
        shell.output()
    assert (found.value.returncode, found.value.stderr) == (3, "bad")


def test_fake_program_by_a_pipe(shell, fake_run):
    runs = fake_run(shell, results=["noon", (2, "late"), "midnight"])
    assert shell.pipe() == "noon" and shell.closed() == 512
    out, status, pid = shell.popen()
    assert (out, status) == ("midnight", 0) and pid > 1 << 22
    assert runs == ["date", "date", ["date"]]


def test_fake_spawned_program_is_waited_for(shell, fake_run):
    runs = fake_run(shell, results=[4, 5])
    assert (shell.spawned(), shell.waited()) == (4, 5) and runs == [["date", "-u"], ["date"]]


def test_a_fake_group_of_processes_is_waited_for_and_gets_signals(shell, fake_run):
    fake_run(shell, results=[7])
    pid = shell.os.posix_spawn("/bin/date", ["date"], {})
    shell.os.killpg(shell.os.getpgid(pid), 15)
    assert shell.os.waitpid(-pid, 0) == (pid, 7 << 8)
    assert shell.os.getpgid(os.getpid()) == os.getpgid(0)


def test_fake_fork_starts_no_process(shell, fake_run):
    runs = fake_run(shell, results=[6])
    assert shell.forked() == 6 and runs == ["fork"]
    with pytest.raises(ChildProcessError):
        shell.os.waitpid((1 << 22) + 5, 0)  # Waiting for a child that was never started is real.


def test_a_fake_exec_ends_the_code_with_the_status_of_the_program(shell, fake_run):
    runs = fake_run(shell, results=[3, 0, 4])
    for work, status in (
        (lambda: shell.os.execvp("date", ["date", "-u"]), 3),
        (lambda: shell.os.execl("/bin/date", "date", "-u"), 0),
        (lambda: shell.os.execle("/bin/date", "date", "-u", {}), 4),
    ):
        with pytest.raises(SystemExit) as end:
            work()
        assert end.value.code == status
    assert runs == [["date", "-u"]] * 3


def test_a_fake_terminal_starts_no_process(fake_run):
    terminal = module("import os, pty\ndef spawned(): return pty.spawn(['date'])\ndef forked(): return os.waitpid(pty.fork()[0], 0)[1]")
    runs = fake_run(terminal, results=[2, 3])
    assert (terminal.spawned(), terminal.forked()) == (2 << 8, 3 << 8) and runs == [["date"], "fork"]


CLOCK = """
import datetime as dt, time
from datetime import date, datetime
def now(): return time.time(), time.monotonic(), datetime.now(), dt.datetime.utcnow(), date.today(), time.perf_counter_ns(), time.localtime()
def today():
    from datetime import date
    return date.today(), dt.date.today(), datetime.today().date()
def real(): return time.clock_gettime(time.CLOCK_REALTIME)
def held(today=date.today): return today()
stamp = datetime.now
"""


@pytest.fixture
def clocked():
    return module(CLOCK)


def test_fake_clock_stands_still(clocked, fake_clock):
    fake_clock(clocked)
    assert clocked.now() == clocked.now()


def test_a_fake_clock_shows_the_time_in_every_form(clocked, fake_clock):
    fake_clock(clocked, now="2012-01-14 12:00")
    time = clocked.time
    assert time.asctime() == time.ctime() == "Sat Jan 14 12:00:00 2012"
    assert time.asctime((2000, 1, 1, 0, 0, 0, 5, 1, 0)) == "Sat Jan  1 00:00:00 2000"


def test_fake_clock_dates(clocked, fake_clock):
    fake_clock(clocked, now="2012-01-14 12:00")
    assert clocked.today() == (datetime.date(2012, 1, 14),) * 3
    assert clocked.held() == clocked.stamp().date() == datetime.date(2012, 1, 14)
    assert clocked.date.today().isoformat() == "2012-01-14" and isinstance(datetime.date(2000, 1, 1), clocked.date)


@pytest.mark.parametrize(
    "when",
    ["1999-12-31", datetime.date(1999, 12, 31), datetime.datetime(1999, 12, 31), datetime.datetime(1999, 12, 31).timestamp()],
)
def test_travel_to_the_past(clocked, fake_clock, when):
    fake_clock(clocked, now=when)
    assert clocked.today()[0] == datetime.date(1999, 12, 31)
    assert clocked.real() == clocked.time.time() == datetime.datetime(1999, 12, 31).timestamp()


def test_travel_to_the_future(clocked, fake_clock):
    clock = fake_clock(clocked, now="2100-02-28T23:59:59+00:00")
    assert clocked.dt.datetime.utcnow() == datetime.datetime(2100, 2, 28, 23, 59, 59)
    before = clocked.time.monotonic()
    clock.travel_to(datetime.date(2200, 1, 1))
    assert clocked.today()[0] == datetime.date(2200, 1, 1) and clocked.time.monotonic() == before


def test_travel_moves_on_by_advance(clocked, fake_clock):
    clock = fake_clock(clocked, now="2012-01-14")
    before = clocked.time.monotonic()
    clock.advance(86400)
    assert clocked.today()[0] == datetime.date(2012, 1, 15) and clocked.time.monotonic() - before == 86400


def test_travel_ends_with_the_test(clocked):
    with testing.fake_clock(clocked, now="2012-01-14"):
        assert clocked.today()[0].year == 2012
    assert clocked.today()[0].year >= 2024 and clocked.time is time and clocked.date is datetime.date


def test_unused_fake_is_reported(sleeper, shell, clocked, pytester):
    for fake in (testing.fake_sleep(sleeper), testing.fake_run(shell), testing.fake_system(shell), testing.fake_clock(clocked)):
        with pytest.raises(UnusedFake, match=r"in module `under_test` was never called.*unused=\"ok\""):
            with fake:
                pass
    with pytest.raises(KeyError):
        with testing.fake_sleep(sleeper):
            raise KeyError
    pytester.makepyfile("import time\ndef test_it(fake_sleep):\n    fake_sleep(__name__)\n")
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*fake of `sleep`*never called*"])


def test_unused_fake_is_allowed(sleeper, fake_sleep):
    fake_sleep(sleeper, unused="ok")
    with pytest.raises(ValueError, match='`unused` is "fail" or "ok"'):
        fake_sleep(sleeper, unused="maybe")


def test_fake_ends_after_an_exception(sleeper):
    before = dict(vars(sleeper))
    imports = __import__
    with pytest.raises(ZeroDivisionError):
        with testing.fake_sleep(sleeper):
            1 / 0
    assert vars(sleeper) == before and __import__ is imports


def test_fake_over_a_fake(sleeper):
    with testing.fake_sleep(sleeper) as outer:
        sleeper.found(1)
        with testing.fake_sleep(sleeper) as inner:
            sleeper.usual(2)
            sleeper.default(3)
            sleeper.event(4)
        sleeper.usual(5)
        sleeper.default(6)
        sleeper.event(7)
    assert (outer, inner) == ([1, 1, 5, 6, 7], [2, 3, 4])
    assert sleeper.default.__defaults__ == (time.sleep,)


def test_fake_touches_nothing_else(sleeper):
    other, real = module(SLEEPS, "other"), time.sleep
    with testing.fake_sleep(sleeper, unused="ok"):
        assert other.time is time and time.sleep is real and other.default.__defaults__ == (real,)
        other.found(0)
        assert other.event(0.001) is False


def test_fake_with_nothing_to_replace_is_refused():
    with pytest.raises(LookupError, match="so there is nothing to fake there: give the module whose code makes the call"):
        testing.fake_sleep(module("x = 1")).start()


FILES = """
import io
def read(path):
    with open(path) as file: return file.read()
def write(path, text, mode="w"):
    with open(path, mode) as file: file.write(text)
def raw(path): return io.open(path, "rb").read()
"""


def test_fake_open_reads_and_keeps_what_is_written(fake_open):
    files = module(FILES)
    fake = fake_open(files, {"/etc/motd": "hello\n", "/secret": PermissionError(13, "no")})
    assert files.read("/etc/motd") == "hello\n" and files.raw("/etc/motd") == b"hello\n"
    files.write("/new", "one")
    files.write("/new", " two", "a")
    assert fake.files["/new"] == "one two" and not os.path.exists("/new")
    for path, problem in (("/secret", PermissionError), ("/nonexistent", FileNotFoundError)):
        with pytest.raises(problem):
            files.read(path)
    assert fake[:2] == ["/etc/motd", "/etc/motd"] and len(fake) == 6
