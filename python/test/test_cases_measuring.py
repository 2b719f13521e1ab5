"""Cases of both front ends: clocks stopped by other code, comparisons and assertions. Nothing here
depends on durations."""

import asyncio
import concurrent.futures
import threading
import time
from unittest import mock

import pytest

import assay
from assay import MethodProfiler, testing
from assay.comparison import driving, work
from assay.comparison.side import Side

freezegun = pytest.importorskip("freezegun", reason="needs freezegun")


class Waits:
    def m(self):
        time.sleep(0.005)


def short():
    return sum(range(100))


def long():
    return sum(range(2000))


def durations():
    MethodProfiler.patch(Waits, ["m"], "it")
    with MethodProfiler.profile() as profile:
        Waits().m()
    return profile


# Clocks stopped by other code. --------------------------------------------------------------------


@freezegun.freeze_time("2012-01-14")
def test_frozen_clock_profile():
    profile = durations()
    assert profile.total_duration >= profile["it"]["duration"] >= 0.005


@pytest.mark.parametrize("options", [{}, {"tick": True}, {"auto_tick_seconds": 3600}], ids=str)
def test_frozen_clock_compare(program, options):
    # A busy machine takes longer for a verdict.
    for seconds in (0.5, 5, 20):
        with freezegun.freeze_time("2012-01-14", **options):
            answer = assay.compare(short=short, long=long, time=seconds, clock="cpu", quiet=True)
        if answer.verdict() != "inconclusive":
            break
    assert answer.verdict() == "slower"


@freezegun.freeze_time("2012-01-14")
def test_frozen_clock_assertion(program):
    testing.assert_faster(short, than=long)


def test_frozen_clock_budget_of_sleep():
    nap = time.sleep
    with freezegun.freeze_time("2012-01-14"), pytest.raises(AssertionError, match="seconds of sleep"):
        with testing.assert_budget(max_sleep=0.001):
            time.sleep(0.005)
    assert time.sleep is nap


def test_clock_set_back_within_a_profile():
    travel = pytest.importorskip("time_machine", reason="needs time-machine").travel
    MethodProfiler.patch(Waits, ["m"], "it")
    with travel(10**9), MethodProfiler.profile() as profile:
        with travel(0, tick=False):
            Waits().m()
    assert profile.total_duration >= profile["it"]["duration"] >= 0.005


def test_stubbed_clock_functions():
    names = ("time", "monotonic", "perf_counter", "time_ns", "monotonic_ns", "perf_counter_ns", "process_time_ns")
    with mock.patch.multiple(time, **{name: lambda: 0 for name in names}):
        profile = durations()
        took, cpu = Side("it", long).read(200)
    assert profile.total_duration >= profile["it"]["duration"] >= 0.005
    assert took > 0 and cpu > 0


# Comparisons and assertions. ---------------------------------------------------------------------------------------------------


async def quick():
    await asyncio.sleep(0)


async def slow():
    await asyncio.sleep(0.002)


def done(count):
    """Returns how often a side of each form does its work when it is run ten times."""
    done = []

    def generator():
        done.append(1)
        yield 1
        done.append(1)

    async def coroutine():
        done.append(1)
        await asyncio.sleep(0)
        done.append(1)

    async def items():
        done.append(1)
        yield 1
        done.append(1)

    forms = {
        "plain": lambda: done.extend([1, 1]),
        "generator": generator,
        "returned": lambda: (done.append(1) for _ in range(2)),
        "mapped": lambda: map(done.append, [1, 1]),
        "coroutine": coroutine,
        "items": items,
        "returned items": lambda: items(),
    }
    found = {}
    for name, form in forms.items():
        side = Side(name, form)
        side.read(1)
        done.clear()
        side.read(count)
        found[name] = len(done)
    driving.close()
    return found


def test_compared_work_is_done():
    assert set(done(10).values()) == {20}

    def loops(times):
        for _ in range(times):
            yield from ()
        ran.append(times)

    ran = []
    Side("it", loops).read(7)
    assert ran[-1] == 7


def test_lazy_results_are_drained(program):
    def rows():
        yield from range(10)

    def many():
        yield from range(20_000)

    with pytest.raises(AssertionError, match="many takes at most 10 % more time than rows"):
        testing.assert_no_slower(many, than=rows, by="10%")
    drained = []
    found = testing.allocations(lambda: (drained.append(1) for _ in range(3)))
    assert drained and found.kept >= 0


def test_coroutines_are_run(program):
    with pytest.raises(AssertionError, match="slow takes at most 10 % more time than quick"):
        testing.assert_no_slower(slow, than=quick, by="10%")
    assert testing.assert_faster(quick, than=slow)["verdict"] == "faster"


@pytest.mark.asyncio
async def test_coroutines_are_run_by_the_loop_that_runs_the_test(program):
    loops, lock = set(), asyncio.Lock()

    async def here():
        loops.add(asyncio.get_running_loop())
        async with lock:
            await asyncio.sleep(0)

    with pytest.raises(AssertionError, match="slow is faster than here"):
        testing.assert_faster(slow, than=here)
    assert loops == {asyncio.get_running_loop()}
    await asyncio.sleep(0.001)  # The loop continues.


def test_awaitable_of_a_plain_function_is_refused():
    for made in (lambda: slow(), lambda times: slow()):
        with pytest.raises(TypeError, match="`it` returns a `coroutine`, which is to be awaited.*`async def`"):
            Side("it", made).read(1)
    with pytest.raises(TypeError, match="only its making would be measured"):
        testing.allocations(lambda: slow())
    assert work.kind_of(mock.AsyncMock()) == work.COROUTINE


class Later:
    def __aiter__(self):
        return self

    async def __anext__(self):
        raise StopAsyncIteration


def test_work_done_elsewhere_is_refused():
    ended = threading.Event()
    pool = concurrent.futures.ThreadPoolExecutor(1)

    def started():
        thread = threading.Thread(target=ended.wait)
        thread.start()
        return thread

    for made, cure in ((started, "`.join"), (lambda: pool.submit(ended.wait), "`.result"), (Later, "consumes it")):
        with pytest.raises(TypeError, match=cure):
            work.kind_of_result("it", made())
    ended.set()
    pool.shutdown()
    thread = started()
    thread.join()
    assert work.kind_of_result("it", thread) == work.PLAIN


def test_exception_in_a_side_passes(program):
    async def later():
        await asyncio.sleep(0)
        raise KeyError("later")

    with pytest.raises(KeyError, match="later"):
        assay.compare(a=short, b=later, time=0.01, quiet=True)
    with pytest.raises(ZeroDivisionError):
        testing.assert_faster(lambda: 1 // 0, than=short)


def test_unknown_option_is_refused():
    with pytest.raises(TypeError, match="secnods"):
        testing.assert_faster(short, than=long, secnods=1)
    with pytest.raises(ValueError, match="clock: is 'wall' or 'cpu', or 'auto' for the one that suits, not 'sun'"):
        assay.compare(a=short, b=long, clock="sun")


def test_one_side_is_refused():
    with pytest.raises(ValueError, match=r"two sides at least, and here is one: compare\(old=f, new=g\)"):
        assay.compare(a=short)


@pytest.mark.parametrize("by", ["5", "-1%", float("nan"), "five%"])
def test_share_that_is_none_is_refused(by):
    with pytest.raises(ValueError, match="`by` is a share"):
        testing.assert_no_slower(short, than=long, by=by)


def test_messages_name_arguments_of_the_library(program):
    with pytest.raises(testing.Inconclusive) as found:
        testing.assert_no_slower(short, than=short, by="1%", seconds=1e-6, inconclusive="skip")
    said = str(found.value)
    # The advice to measure for longer depends on the measurements.
    for _ in range(10):
        said += assay.compare(a=short, b=short, time=0.02, warmup=0.01, quiet=True).screen()
        if "time=" in said:
            break
    for option in ("--time", "--threshold", "--runs", "--clock", "--budget", "--min"):
        assert option not in said, said
    assert "seconds=" in said and "time=" in said


def test_clock_by_default_is_the_same(program):
    # CPU time, as in Ruby; wall time if a side waits.
    report = testing.assert_faster(short, than=long, inconclusive="pass")
    assert report["plan"]["primary"] == "cpu"
    waits = testing.assert_faster(short, than=lambda: time.sleep(0.003), inconclusive="pass")
    assert waits["plan"]["primary"] == "wall"
    assert testing.assert_faster(quick, than=slow, inconclusive="pass")["plan"]["primary"] == "wall"


def test_side_that_takes_no_time_has_an_end(program):
    answer = assay.compare(a=lambda times: None, b=lambda: None, time=0.02, warmup=0.01, quiet=True)
    assert answer.verdict() in ("slower", "equivalent", "inconclusive", "faster")


def test_side_that_takes_long_has_an_end(program):
    calls = []

    def takes_long():
        calls.append(1)
        time.sleep(0.06)

    testing.assert_faster(short, than=takes_long, seconds=0.01, inconclusive="pass")
    assert len(calls) <= 8
