"""Profiling by `sys.monitoring`: what it detects beyond wrappers, what it refuses, and how it
coexists with other tools. All other tests, run with ASSAY_TEST_BY=monitoring, check that it counts
like wrappers."""

import asyncio
import cProfile
import functools
import gc
import inspect
import pickle
import sys
import threading
import types

import pytest
import things
from things import Child, Slotted, Thing, calls_of, profiled

from assay import MethodProfiler
from assay.profiler import engine, monitoring

pytestmark = pytest.mark.skipif(engine.monitor is None, reason="needs Python 3.12 and the accelerator")


def watch(target, names, name="it"):
    MethodProfiler.patch(target, names, name, by="monitoring")


def test_a_function_that_was_taken_out_before_is_counted():
    taken, bound = things.function, Thing().other
    watch(things, ["function"])
    watch(Thing, ["other"])
    assert calls_of(lambda: (taken(1), bound(), functools.partial(taken, 2)())) == 3


def test_a_class_that_lets_nobody_set_attributes_is_profiled():
    class Frozen(type):
        def __setattr__(cls, name, value):
            raise AttributeError(f"{cls.__name__} is frozen")

    class Stone(metaclass=Frozen):
        def weight(self):
            return 1

    watch(Stone, ["weight"])
    assert calls_of(lambda: Stone().weight()) == 1


def test_nothing_is_put_in_anybodys_place():
    before = {name: vars(Thing)[name] for name in ("plain", "of_class", "static", "prop", "cached")}
    watch(Thing, list(before))
    with MethodProfiler.profile():
        assert all(vars(Thing)[name] is before[name] for name in before)
        assert inspect.signature(Thing.plain) == inspect.signature(before["plain"])
        assert pickle.loads(pickle.dumps(Thing.plain)) is before["plain"]
        Thing.plain.tag = "red"
        del before["plain"].tag


def test_calls_from_subclasses_are_counted():
    watch(Thing, ["plain", "other"])
    assert calls_of(lambda: (Child().plain(1), Child().other())) == 2


def test_of_functions_with_one_code_only_the_patched_one_is_counted():
    def theirs(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args)

        return wrapper

    class Shop:
        @theirs
        def buy(self):
            return "bought"

        @theirs
        def look(self):
            return "looked"

    code = vars(Shop)["buy"].__code__
    assert code is vars(Shop)["look"].__code__
    watch(Shop, ["buy"])
    assert calls_of(lambda: (Shop().buy(), Shop().look(), Shop().look())) == 1
    MethodProfiler.unpatch(Shop)
    assert vars(Shop)["buy"].__code__ is code


def test_one_function_under_two_names_is_counted_once():
    class Shop:
        def buy(self):
            return "bought"

        purchase = buy

    watch(Shop, ["buy", "purchase"])
    assert calls_of(lambda: (Shop().buy(), Shop().purchase())) == 2
    MethodProfiler.unpatch(Shop, "buy")
    assert calls_of(lambda: (Shop().buy(), Shop().purchase())) == 2
    with pytest.raises(ValueError, match="the same function as `purchase` of class .*Shop`"):
        watch(Shop, ["buy"], "else")
    assert "else" not in MethodProfiler._names


def test_calls_that_began_before_the_profile_are_not_counted_when_they_end():
    class Deep:
        def go(self, n):
            if n == 2:
                MethodProfiler.start()
            if n < 5:
                self.go(n + 1)

    watch(Deep, ["go"])
    Deep().go(0)
    section = MethodProfiler.stop().sections["it"]
    assert (section.calls, section.unfinished) == (3, 0)


def test_profiles_that_begin_and_end_within_calls_are_not_mixed_up():
    profiles = []

    class Deep:
        def go(self, n):
            if n % 3 == 0:
                MethodProfiler.start()
            if n < 9:
                self.go(n + 1)
            if n % 3 == 1 and MethodProfiler.current():
                profiles.append(MethodProfiler.stop())

    watch(Deep, ["go"])
    for _ in range(3):
        Deep().go(0)
        while MethodProfiler.current():
            profiles.append(MethodProfiler.stop())
    counted = [(p.sections["it"].calls, p.sections["it"].unfinished) if "it" in p else None for p in profiles]
    assert counted == counted[:4] * 3
    assert all(one is None or 0 <= one[1] <= one[0] for one in counted)


def test_a_generator_that_is_thrown_away_is_counted_and_does_not_disturb_the_next_one():
    class Service:
        def items(self):
            yield 1
            yield 2

    watch(Service, ["items"])

    def use():
        for _ in range(100):
            next(Service().items())
        assert list(Service().items()) == [1, 2]

    section = profiled(use)
    assert (section.calls, section.errors) == (101, 0)
    # Started without a recording, at the address of an earlier, recorded one.
    items = Service().items()
    next(items)
    with MethodProfiler.profile() as profile:
        assert next(items) == 2
    assert "it" not in profile


def test_an_asynchronous_generator_is_timed_while_it_works_and_not_while_its_consumer_does():
    class Service:
        async def stream(self):
            for index in range(3):
                await asyncio.sleep(0.005)
                yield index

    watch(Service, ["stream"])

    async def use():
        async for _ in Service().stream():
            await asyncio.sleep(0.05)

    with MethodProfiler.profile() as profile:
        asyncio.run(use())
    section = profile.sections["it"]
    assert (section.calls, section.errors, section.unfinished) == (1, 0, 0)
    assert 0.014 <= section.duration <= profile.total_duration - 0.14
    assert section.running < section.duration


def test_a_coroutine_into_which_an_exception_is_thrown_goes_on():
    class Service:
        async def fetch(self):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                await asyncio.sleep(0)
                return "cancelled"

        async def outer(self):
            return await self.fetch()

    watch(Service, ["fetch"], "fetch")
    watch(Service, ["outer"], "outer")

    async def use():
        task = asyncio.ensure_future(Service().outer())
        await asyncio.sleep(0.001)
        task.cancel()
        return await task

    with MethodProfiler.profile() as profile:
        assert asyncio.run(use()) == "cancelled"
    for name in ("fetch", "outer"):
        section = profile.sections[name]
        assert (section.calls, section.errors, section.unfinished) == (1, 0, 0)
    assert profile.sections["fetch"].duration <= profile.sections["outer"].duration


def test_the_interpreter_tells_of_nothing_while_nobody_profiles():
    def told():
        return sys.monitoring.get_local_events(monitoring.tool(), Thing.other.__code__)

    watch(Thing, ["other"])
    assert told() == 0
    with MethodProfiler.profile():
        assert told() != 0
    assert told() == 0
    MethodProfiler.keep_installed()
    assert told() != 0
    assert calls_of(lambda: Thing().other()) == 1
    MethodProfiler.keep_installed(False)
    assert told() == 0


def test_many_threads_count_right_at_once():
    class Deep:
        def go(self, n):
            return n and self.go(n - 1)

    watch(Deep, ["go"])
    totals = []

    def request(n):
        for _ in range(20):
            with MethodProfiler.profile() as profile:
                Deep().go(n)
            section = profile.sections["it"]
            totals.append((n + 1, section.calls, section.unfinished))

    threads = [threading.Thread(target=request, args=(n,)) for n in range(1, 80, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(totals) == 200 and all(wanted == calls and unfinished == 0 for wanted, calls, unfinished in totals)


def test_watching_again_and_again_keeps_no_memory():
    class Service:
        def work(self):
            return 1

        def items(self):
            yield 1

        def stop(self):
            MethodProfiler.stop()

    def once():
        watch(Service, ["work", "items", "stop"])
        MethodProfiler.start()
        Service().work()
        next(Service().items())
        Service().stop()
        MethodProfiler.unpatch(Service)

    for _ in range(100):
        once()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(300):
        once()
    gc.collect()
    assert sys.getallocatedblocks() - before < 100


def test_what_is_not_written_in_python_is_refused():
    with pytest.raises(TypeError, match="`builtin` of class `Thing` is a `builtin_function_or_method` and no function of Python"):
        watch(Thing, ["builtin"])
    with pytest.raises(TypeError, match="_lru_cache_wrapper"):
        watch(Thing, ["other", "remembered"])
    with pytest.raises(TypeError, match="built in"):
        watch(list, ["append"])
    with pytest.raises(AttributeError, match="did you mean `plain`"):
        watch(Thing, ["plane"])
    assert not MethodProfiler._patches


def test_an_inherited_method_is_refused_and_its_class_named():
    with pytest.raises(TypeError, match="`other` of class `Child` is inherited from `Thing`.*patch it in `Thing`"):
        watch(Child, ["other"])


def test_one_function_is_not_profiled_in_two_ways():
    MethodProfiler.patch(Child, ["other"], "it", by="wrapper")
    with pytest.raises(ValueError, match="is the same function as"):
        watch(Thing, ["other"])
    MethodProfiler.unpatch(Child)
    watch(Thing, ["other"])
    with pytest.raises(ValueError, match="by monitoring already: unpatch it first"):
        MethodProfiler.patch(Thing, ["other"], "it", by="wrapper")
    with pytest.raises(ValueError, match="is the same function as"):
        MethodProfiler.patch(Child, ["other"], "it", by="wrapper")


def test_both_ways_may_share_a_name():
    watch(Thing, ["other"])
    MethodProfiler.patch(Thing, ["remembered"], "it", by="wrapper")
    with MethodProfiler.profile() as profile:
        Thing().other()
        Thing().remembered()
    assert profile["it"]["calls"] == 2
    assert profile.overhead.per_call > 0


def test_it_goes_to_the_next_number_where_another_tool_has_one():
    sys.monitoring.use_tool_id(monitoring.TOOLS[0], "another")
    try:
        watch(Slotted, ["get"])
        assert sys.monitoring.get_tool(monitoring.TOOLS[1]) == "assay"
        assert calls_of(lambda: Slotted().get()) == 1
        MethodProfiler.unpatch(Slotted)
        assert sys.monitoring.get_tool(monitoring.TOOLS[1]) is None
    finally:
        sys.monitoring.free_tool_id(monitoring.TOOLS[0])


def test_where_other_tools_have_all_numbers_they_are_named_and_nothing_is_patched():
    for number in monitoring.TOOLS:
        sys.monitoring.use_tool_id(number, f"tool {number}")
    try:
        with pytest.raises(RuntimeError, match="4: tool 4, 3: tool 3, 2: tool 2"):
            watch(Slotted, ["get"])
        assert not MethodProfiler._patches
    finally:
        for number in monitoring.TOOLS:
            sys.monitoring.free_tool_id(number)
    watch(Slotted, ["get"])
    assert calls_of(lambda: Slotted().get()) == 1


def test_it_works_beside_cprofile():
    watch(Thing, ["other"])
    profiler = cProfile.Profile()

    def use():
        profiler.enable()
        Thing().other()
        profiler.disable()
        Thing().other()

    assert calls_of(use) == 2
    assert any(entry.code is Thing.other.__code__ for entry in profiler.getstats())


def test_where_there_is_no_accelerator_it_says_so(monkeypatch):
    monkeypatch.setattr(engine, "monitor", None)
    with pytest.raises(RuntimeError, match="needs Python 3.12 or later and the accelerator, and this has no accelerator"):
        watch(Thing, ["other"])


def test_the_events_take_no_nonsense():
    for event in ("on_start", "on_resume", "on_yield", "on_return", "on_unwind"):
        assert getattr(engine.monitor, event)() is None
        assert getattr(engine.monitor, event)(1, 2, 3) is None
    with pytest.raises(TypeError):
        engine.monitor.watch(1, 2)
    with pytest.raises(TypeError):
        engine.monitor.unwatch(types)
