"""Cases of both front ends: profiles, the threads, tasks and generators that they count, and their results."""

import asyncio
import contextvars
import gc
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay import MethodProfiler, NotRecording


class Redis:
    def get(self, key="a"):
        return key

    def other(self):
        return self.get()

    def fail(self):
        raise KeyError

    async def wait(self, times=1):
        for _ in range(times):
            await asyncio.sleep(0)
        return times

    def items(self, count):
        got = []
        for n in range(count):
            got.append((yield n))
        return got


@pytest.fixture(autouse=True)
def redis():
    MethodProfiler.patch(Redis, ["get", "fail", "wait", "items"], "redis")
    return Redis()


def calls(profile):
    return profile["redis"]["calls"]


# Profiles. -----------------------------------------------------------------------------------------------------------------


@pytest.mark.wrappers
def test_original_is_in_place_without_a_profile(redis):
    before = vars(Redis)["get"]
    with MethodProfiler.profile():
        assert vars(Redis)["get"] is not before
    assert vars(Redis)["get"] is before


def test_kept_wrappers_count_only_within_a_profile(redis):
    MethodProfiler.keep_installed()
    redis.get()
    with MethodProfiler.profile() as profile:
        redis.get()
    redis.get()
    assert calls(profile) == 1


def test_nested_profiles_both_count(redis):
    with MethodProfiler.profile() as outer:
        redis.get()
        with MethodProfiler.profile() as inner:
            redis.get()
    assert (calls(outer), calls(inner)) == (2, 1)


def test_outer_stopped_before_inner(redis):
    outer = MethodProfiler.start()
    inner = MethodProfiler.start()
    redis.get()
    outer.stop()
    redis.get()
    inner.stop()
    assert (calls(outer), calls(inner)) == (0, 2)


def test_stop_without_start_is_refused():
    with pytest.raises(NotRecording, match="no profile goes on in this thread or task"):
        MethodProfiler.stop()


def test_stopped_twice_is_refused():
    profile = MethodProfiler.start()
    profile.stop()
    with pytest.raises(NotRecording, match="stopped before"):
        profile.stop()


def test_start_without_stop_does_not_leak(redis):
    def lose():
        for _ in range(1000):
            MethodProfiler.start()

    # The profiles of a context end with it; in a context that continues, lost ones are discarded.
    contextvars.copy_context().run(lose)
    gc.collect()
    assert MethodProfiler._running == 0 and MethodProfiler.current() is None
    for _ in range(3):
        lose()
        assert MethodProfiler._running <= 1000
    while MethodProfiler.current() is not None:
        MethodProfiler.stop()
    assert MethodProfiler._running == 0
    with MethodProfiler.profile() as profile:
        redis.get()
    assert calls(profile) == 1


def test_exception_ends_the_block(redis):
    with pytest.raises(KeyError):
        with MethodProfiler.profile() as profile:
            redis.fail()
    assert not profile.running and MethodProfiler.current() is None


def test_block_gives_its_value(redis):
    seen = []

    @MethodProfiler.profile(report=seen.append)
    def handle(x):
        return redis.get(x)

    assert handle(3) == 3 and calls(seen[0]) == 1


def test_many_starts_and_stops(redis):
    for n in range(1000):
        MethodProfiler.start()
        for _ in range(n % 3):
            redis.get()
        assert calls(MethodProfiler.stop()) == n % 3


def test_call_before_and_after_is_not_counted(redis):
    redis.get()
    MethodProfiler.start()
    redis.get()
    profile = MethodProfiler.stop()
    redis.get()
    assert calls(profile) == 1


def test_process_ends_while_profiled():
    code = "import sys\nfrom assay import MethodProfiler\nMethodProfiler.start()\nsys.exit(3)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_forked_process_starts_clean(redis):
    with MethodProfiler.profile() as profile:
        pid = os.fork()
        if pid == 0:
            redis.get()
            os._exit(0 if MethodProfiler.current() is None and not profile.running else 1)
        assert os.waitpid(pid, 0)[1] == 0
        redis.get()
    assert calls(profile) == 1


# Threads, tasks, fibers, generators. -------------------------------------------------------------------------------------------


def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_other_thread_is_not_counted(redis):
    with MethodProfiler.profile() as profile:
        in_thread(redis.get)
    assert calls(profile) == 0


def test_threads_profile_side_by_side(redis):
    found = {}

    def work(n):
        with MethodProfiler.profile() as profile:
            for _ in range(n):
                redis.get()
        found[n] = calls(profile)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: n for n in range(8)}


def test_thread_handed_over_is_counted(redis):
    with MethodProfiler.profile() as profile:
        in_thread(profile.bind(redis.get))
    assert calls(profile) == 1


def test_pool_worker_handed_over_is_counted(redis):
    with ThreadPoolExecutor(1) as pool, MethodProfiler.profile() as profile:
        pool.submit(profile.bind(redis.get)).result()
        pool.submit(redis.get).result()
    assert calls(profile) == 1


def test_thread_ends_while_profiled(redis):
    with MethodProfiler.profile() as profile:
        for _ in range(5):
            in_thread(profile.bind(redis.get))
    assert calls(profile) == 5


def test_tasks_of_the_context_are_counted(redis):
    async def main():
        with MethodProfiler.profile() as profile:
            await asyncio.gather(*(redis.wait() for _ in range(4)))
            await asyncio.create_task(redis.wait())
        return profile

    assert calls(asyncio.run(main())) == 5


def test_tasks_side_by_side_do_not_mix(redis):
    async def request(n):
        with MethodProfiler.profile() as profile:
            for _ in range(n):
                await redis.wait(3)
        return calls(profile)

    async def main():
        return await asyncio.gather(*(request(n) for n in range(10)))

    assert asyncio.run(main()) == list(range(10))


def test_abandoned_task_leaves_no_call_open(redis):
    async def main():
        with MethodProfiler.profile() as profile:
            task = asyncio.create_task(redis.wait(10**6))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            redis.get()
        return profile.sections["redis"]

    section = asyncio.run(main())
    assert (section.calls, section.unfinished) == (2, 0)


def test_generator_counts_when_it_is_asked(redis):
    with MethodProfiler.profile() as profile:
        items = redis.items(2)
        assert calls(profile) == 0
        next(items)
        assert calls(profile) == 1
        items.close()


def test_generator_is_timed_while_it_works(redis):
    with MethodProfiler.profile() as profile:
        for _ in redis.items(2):
            time.sleep(0.01)
    assert profile["redis"]["duration"] <= profile.total_duration - 0.019


def test_generator_passes_values_both_ways(redis):
    with MethodProfiler.profile():
        items = redis.items(2)
        assert next(items) == 0 and items.send("a") == 1
        with pytest.raises(StopIteration) as end:
            items.send("b")
    assert end.value.value == ["a", "b"]


def test_generator_left_unfinished(redis):
    with MethodProfiler.profile() as profile:
        items = redis.items(5)
        next(items)
        redis.get()
    section = profile.sections["redis"]
    assert (section.calls, section.unfinished) == (2, 1)
    items.close()


def test_start_and_stop_in_many_threads(redis):
    wrong = []

    def work():
        for n in range(200):
            with MethodProfiler.profile() as profile:
                for _ in range(n % 4):
                    redis.get()
            if calls(profile) != n % 4:
                wrong.append((n, calls(profile)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and MethodProfiler._running == 0


# Results. --------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def result(redis):
    MethodProfiler.patch(Redis, ["other"], "quiet")
    with MethodProfiler.profile() as profile:
        for _ in range(12):
            redis.get()
    return profile


def test_result_reads_as_in_the_article(result):
    assert result["redis"]["calls"] == 12 and result["redis"]["duration"] > 0
    assert result["total_duration"] == result.total_duration > 0


def test_result_as_json(result):
    assert json.loads(json.dumps(dict(result))) == result.to_dict()


def test_result_copied_to_a_dictionary(result):
    copied = dict(result)
    assert copied == result.to_dict() == {**result}
    assert type(copied["redis"]) is dict and type(copied["redis"]["calls"]) is int


def test_result_with_a_default(result):
    assert result.get("redis")["calls"] == 12 and result.get("nonesuch", 5) == 5 and result.get("nonesuch") is None


def test_result_of_a_name_that_was_not_called(result):
    assert result["quiet"] == {"duration": 0.0, "calls": 0}
    assert "quiet" not in result and "redis" in result


def test_result_of_a_name_that_is_not_known(result):
    with pytest.raises(KeyError, match="nothing is profiled as 'nonesuch'; names given to `patch`: .*'redis'"):
        result["nonesuch"]


def test_result_is_iterated(result):
    assert list(result) == list(result.keys()) == ["total_duration", "redis"] and len(result) == 2
    assert [value for _, value in result.items()] == list(result.values()) == [result["total_duration"], result["redis"]]


def test_result_is_serialised_and_read_back(result):
    again = pickle.loads(pickle.dumps(result))
    assert again == result and again.sections == result.sections and str(again) == str(result)
    assert again.overhead == result.overhead and not again.running


def test_result_matches_a_pattern(result):
    if sys.version_info < (3, 10):
        assert result["redis"]["calls"] == 12
        return
    scope = {"result": result}
    exec("match result:\n case {'redis': {'calls': calls}, 'total_duration': float()}: found = calls", scope)
    assert scope["found"] == 12


def test_result_equals_its_dictionary(result):
    assert result == result.to_dict() and result != {} and result in {result}


def test_result_is_printed_as_a_table(result):
    lines = str(result).splitlines()
    assert lines[0].startswith("total ") and "12 calls" in lines[1] and lines[1].startswith("redis ")
