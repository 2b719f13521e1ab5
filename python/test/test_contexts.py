"""The calls that a profile counts: of coroutines, generators, tasks, threads and processes."""

import asyncio
import contextvars
import inspect
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay import MethodProfiler, NotRecording


class Service:
    """Methods whose work continues after they return."""

    async def fetch(self, seconds=0.0, fail=False):
        await asyncio.sleep(seconds)
        if fail:
            raise LookupError("gone")
        return "fetched"

    async def twice(self):
        return await self.fetch() + await self.fetch()

    def items(self, n):
        """Yields n items, and finally the last value sent to it."""
        got = None
        for index in range(n):
            try:
                got = yield index
            except KeyError:
                got = "caught"
        return got

    async def stream(self, n):
        for index in range(n):
            await asyncio.sleep(0)
            got = yield index
            if got:
                yield got

    def work(self):
        return 1


@pytest.fixture(autouse=True)
def patched():
    MethodProfiler.patch(Service, ["fetch"], "fetch")
    MethodProfiler.patch(Service, ["items"], "items")
    MethodProfiler.patch(Service, ["stream"], "stream")
    MethodProfiler.patch(Service, ["work"], "work")
    MethodProfiler.patch(Service, ["twice"], "twice")


def test_kinds_of_functions_are_the_same_while_profiled():
    with MethodProfiler.profile():
        assert inspect.iscoroutinefunction(Service.fetch) and asyncio.iscoroutinefunction(Service().fetch)
        assert inspect.isgeneratorfunction(Service.items)
        assert inspect.isasyncgenfunction(Service.stream)
        assert Service.items.__doc__.startswith("Yields n items")
        assert inspect.signature(Service.fetch).parameters["seconds"].default == 0.0


def test_a_coroutine_is_timed_from_its_first_step_to_its_end():
    with MethodProfiler.profile() as profile:
        assert asyncio.run(Service().fetch(0.02)) == "fetched"
    fetch = profile.sections["fetch"]
    assert (fetch.calls, fetch.errors, fetch.unfinished) == (1, 0, 0)
    assert 0.019 <= fetch.duration <= profile.total_duration
    assert fetch.running < fetch.duration


def test_a_coroutine_that_fails_or_is_cancelled_is_counted_as_an_error():
    async def use():
        with pytest.raises(LookupError):
            await Service().fetch(fail=True)
        task = asyncio.ensure_future(Service().fetch(60))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with MethodProfiler.profile() as profile:
        asyncio.run(use())
    fetch = profile.sections["fetch"]
    assert (fetch.calls, fetch.errors, fetch.unfinished) == (2, 2, 0)


def test_a_coroutine_within_another_is_not_in_the_others_exclusive_time():
    async def use():
        class Slow(Service):
            async def twice(self):
                return await self.fetch(0.02)

        MethodProfiler.patch(Slow, ["twice"], "twice")
        await Slow().twice()

    with MethodProfiler.profile() as profile:
        asyncio.run(use())
    assert profile.sections["twice"].duration >= profile.sections["fetch"].duration >= 0.019
    assert profile.sections["twice"].exclusive <= profile.sections["twice"].duration - 0.019


def test_a_coroutine_that_was_never_awaited_is_not_counted():
    with MethodProfiler.profile() as profile:
        Service().fetch().close()
    assert "fetch" not in profile


def test_tasks_side_by_side_are_all_counted_and_not_taken_for_recursion():
    async def use():
        await asyncio.gather(*(Service().fetch(0.02) for _ in range(5)))

    with MethodProfiler.profile() as profile:
        asyncio.run(use())
    fetch = profile.sections["fetch"]
    assert fetch.calls == 5
    assert fetch.duration >= 5 * 0.019


def test_a_profile_counts_its_own_task_and_what_that_starts_but_no_other():
    async def request(n):
        with MethodProfiler.profile() as profile:
            for _ in range(n):
                await Service().fetch(0.001)
            await asyncio.gather(Service().fetch(), Service().fetch())
            Service().work()
        return profile

    async def bystander():
        for _ in range(20):
            await Service().fetch()
            Service().work()

    async def use():
        return await asyncio.gather(request(1), request(3), bystander(), request(5))

    one, three, _nobody, five = asyncio.run(use())
    assert [p.sections["fetch"].calls for p in (one, three, five)] == [3, 5, 7]
    assert [p.sections["work"].calls for p in (one, three, five)] == [1, 1, 1]


def test_a_task_that_outlives_its_profile_is_not_counted_any_more():
    async def use():
        profile = MethodProfiler.start()
        task = asyncio.ensure_future(Service().twice())
        await asyncio.sleep(0)
        profile.stop()
        before = profile.sections
        assert await task == "fetchedfetched"
        assert profile.sections == before
        return profile

    assert asyncio.run(use()).sections["twice"].unfinished == 1


def test_a_generator_is_timed_only_while_it_works():
    with MethodProfiler.profile() as profile:
        items = Service().items(3)
        assert next(items) == 0
        time.sleep(0.02)
        assert list(items) == [1, 2]
    section = profile.sections["items"]
    assert (section.calls, section.errors, section.unfinished) == (1, 0, 0)
    assert section.duration <= profile.total_duration - 0.019


def test_a_generator_gets_what_is_sent_and_thrown_and_gives_its_result():
    for active in (False, True):
        with MethodProfiler.profile() as profile:
            if not active:
                MethodProfiler.unpatch(Service, "items")
            items = Service().items(3)
            next(items)
            assert items.send("hello") == 1
            assert items.throw(KeyError("x")) == 2
            with pytest.raises(StopIteration) as end:
                items.send("last")
            assert end.value.value == "last"
            broken = Service().items(3)
            next(broken)
            with pytest.raises(ValueError):
                broken.throw(ValueError("y"))
            if not active:
                MethodProfiler.patch(Service, ["items"], "items")
    assert (profile.sections["items"].calls, profile.sections["items"].errors) == (2, 1)


def test_a_generator_that_is_closed_early_has_ended_and_one_that_is_left_has_not():
    with MethodProfiler.profile() as profile:
        closed, left = Service().items(3), Service().items(3)
        next(closed)
        next(left)
        closed.close()
        section = profile.sections["items"]
    assert (section.calls, section.errors, section.unfinished) == (2, 0, 1)
    left.close()


def test_generators_may_take_turns():
    with MethodProfiler.profile() as profile:
        pairs = list(zip(Service().items(4), Service().items(4)))
    assert pairs == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert profile.sections["items"].calls == 2
    assert profile.sections["items"].duration <= profile.total_duration


def test_an_asynchronous_generator_works_as_before_and_is_counted():
    async def use():
        assert [item async for item in Service().stream(3)] == [0, 1, 2]
        stream = Service().stream(2)
        assert await stream.__anext__() == 0
        assert await stream.asend("sent") == "sent"
        assert await stream.__anext__() == 1
        with pytest.raises(StopAsyncIteration):
            await stream.__anext__()
        thrown = Service().stream(2)
        await thrown.__anext__()
        with pytest.raises(OSError):
            await thrown.athrow(OSError())
        closed = Service().stream(2)
        await closed.__anext__()
        await closed.aclose()

    asyncio.run(use())
    with MethodProfiler.profile() as profile:
        asyncio.run(use())
    section = profile.sections["stream"]
    assert (section.calls, section.errors, section.unfinished) == (4, 1, 0)


def test_other_threads_are_not_counted():
    with MethodProfiler.profile() as profile:
        thread = threading.Thread(target=Service().work)
        thread.start()
        thread.join()
        Service().work()
    if contextvars.copy_context() is not None and hasattr(threading.Thread, "context"):
        pytest.skip("threads of this Python inherit the context")
    assert profile.sections["work"].calls == 1


def test_a_profile_is_carried_into_other_threads():
    with MethodProfiler.profile() as profile:

        def attached():
            with profile.attach():
                Service().work()

        with ThreadPoolExecutor(3) as pool:
            jobs = [pool.submit(profile.bind(Service().work)) for _ in range(50)] + [
                pool.submit(attached) for _ in range(50)
            ]
            assert all(job.exception() is None for job in jobs)
        Service().work()
    assert profile.sections["work"].calls == 101
    assert profile.sections["work"].unfinished == 0


def test_a_profile_is_carried_into_a_task_that_another_task_started():
    async def use():
        work: asyncio.Queue = asyncio.Queue()

        async def worker():
            while True:
                await (await work.get())()
                work.task_done()

        task = asyncio.ensure_future(worker())
        with MethodProfiler.profile() as profile:
            work.put_nowait(profile.bind(Service().fetch))
            work.put_nowait(Service().fetch)
            await work.join()
        task.cancel()
        return profile

    assert asyncio.run(use()).sections["fetch"].calls == 1


def test_a_thread_that_asyncio_starts_is_counted():
    async def use():
        # Like `asyncio.to_thread` (from 3.9 on), which uses a copy of the context.
        await asyncio.to_thread(Service().work)

    with MethodProfiler.profile() as profile:
        asyncio.run(use())
    assert profile.sections["work"].calls == 1


def test_many_threads_count_right_at_once():
    totals = []

    def request(n):
        with MethodProfiler.profile() as profile:
            for _ in range(n):
                Service().work()
        totals.append((n, profile.sections["work"].calls))

    threads = [threading.Thread(target=request, args=(n,)) for n in range(1, 400, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(totals) == 10 and all(n == counted for n, counted in totals)


def test_a_profile_can_be_stopped_from_another_thread():
    profile = MethodProfiler.start()
    Service().work()
    thread = threading.Thread(target=profile.stop)
    thread.start()
    thread.join()
    Service().work()
    assert profile.sections["work"].calls == 1
    assert MethodProfiler.current() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_worker_starts_without_its_parents_profile():
    with MethodProfiler.profile() as profile:
        Service().work()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            said = "nothing"
            try:
                assert MethodProfiler.current() is None and not profile.running
                with pytest.raises(NotRecording, match="forked"):
                    profile.stop()
                Service().work()
                with MethodProfiler.profile() as own:
                    Service().work()
                said = str(own.sections["work"].calls)
            except BaseException as problem:
                said = repr(problem)
            finally:
                os.write(write, said.encode())
                os._exit(0)
        os.close(write)
        said = os.read(read, 1000).decode()
        os.close(read)
        os.waitpid(child, 0)
        Service().work()
    assert said == "1"
    assert profile.sections["work"].calls == 2


def test_generator_based_coroutines_stay_awaitable():
    import types

    class Old:
        @types.coroutine
        def pause(self):
            yield
            return 3

    MethodProfiler.patch(Old, ["pause"], "pause")

    async def use():
        return await Old().pause()

    with MethodProfiler.profile() as profile:
        assert asyncio.run(use()) == 3
    assert profile.sections["pause"].calls == 1


def test_profiling_again_and_again_keeps_no_memory():
    import gc
    import sys

    async def use():
        await Service().twice()
        with pytest.raises(LookupError):
            await Service().fetch(fail=True)
        async for _ in Service().stream(2):
            pass

    def once():
        with MethodProfiler.profile() as profile:
            Service().work()
            list(Service().items(3))
            with MethodProfiler.profile():
                Service().work()
            # The cost of a separate loop would hide everything else.
            drive(use())
        return profile.to_dict()

    def drive(coroutine):
        try:
            while True:
                coroutine.send(None)
        except StopIteration:
            pass

    MethodProfiler.keep_installed()
    for _ in range(100):
        once()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(300):
        once()
    gc.collect()
    assert sys.getallocatedblocks() - before < 100
