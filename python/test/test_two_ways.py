"""Wrappers and `sys.monitoring` give equal counts for random programs: methods, generators,
coroutines and asynchronous generators that call each other, fail, are closed, receive exceptions
and are cancelled, while profiles begin and end anywhere."""

import asyncio
import contextlib
import random

import pytest

from assay import MethodProfiler
from assay.profiler import engine

pytestmark = pytest.mark.skipif(engine.monitor is None, reason="needs Python 3.12 and the accelerator")


class Trouble(Exception):
    pass


def make_class():
    class Program:
        def __init__(self, chance):
            self.chance = chance
            self.profiles = []

        def begin(self):
            self.profiles.append(MethodProfiler.start())

        def end(self):
            if MethodProfiler.current() in self.profiles:
                MethodProfiler.stop()

        def plain(self, depth):
            for _ in range(self.chance.randrange(3) if depth > 0 else 0):
                what = self.chance.choice([self.plain, self.fails, self.consume, self.begin, self.end])
                if what in (self.begin, self.end):
                    what()
                else:
                    with contextlib.suppress(Trouble):
                        what(depth - 1)

        def fails(self, depth):
            self.plain(depth - 1)
            if self.chance.random() < 0.3:
                raise Trouble

        def consume(self, depth):
            items = self.items(depth - 1)
            with contextlib.suppress(Trouble, StopIteration):
                for _ in range(self.chance.randrange(5)):
                    if self.chance.random() < 0.2:
                        items.throw(Trouble())
                    next(items)
            if self.chance.random() < 0.5:
                items.close()

        def items(self, depth):
            try:
                for index in range(3):
                    self.plain(depth - 1)
                    yield index
            except Trouble:
                yield "caught"

        async def task(self, depth):
            for _ in range(self.chance.randrange(3) if depth > 0 else 0):
                what = self.chance.choice([self.task, self.waits, self.gather, self.cancel, self.loop, self.plain])
                with contextlib.suppress(Trouble):
                    made = what(depth - 1)
                    if made is not None:
                        await made

        async def waits(self, depth):
            await asyncio.sleep(0)
            await self.task(depth - 1)
            if self.chance.random() < 0.2:
                raise Trouble

        async def gather(self, depth):
            await asyncio.gather(*(self.waits(depth - 1) for _ in range(3)), return_exceptions=True)

        async def cancel(self, depth):
            task = asyncio.ensure_future(self.waits(depth - 1))
            for _ in range(self.chance.randrange(3)):
                await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

        async def loop(self, depth):
            stream = self.stream(depth - 1)
            async for index in stream:
                if index == 1 and self.chance.random() < 0.5:
                    break
            await stream.aclose()

        async def stream(self, depth):
            try:
                for index in range(3):
                    await self.task(depth - 1)
                    yield index
            finally:
                await asyncio.sleep(0)

    return Program


def counted(by, seed, asynchronous):
    kind = make_class()
    names = ["plain", "fails", "consume", "items", "task", "waits", "gather", "cancel", "loop", "stream"]
    for name in names:
        # Two names share one label, so that calls are directly within calls of the same label.
        MethodProfiler.patch(kind, [name], "fails" if name == "plain" else name, by=by)
    outcomes = []
    try:
        for turn in range(5):
            program = kind(random.Random(f"{seed} {turn}"))
            with MethodProfiler.profile() as outermost, contextlib.suppress(Trouble):
                if asynchronous:
                    asyncio.run(program.task(7))
                else:
                    program.plain(7)
            for profile in program.profiles:
                # Begun in a task, whose context is gone.
                if profile.running:
                    profile.stop()
            outcomes += [
                [(section.name, section.calls, section.errors, section.unfinished) for section in profile.sections.values()]
                for profile in [outermost, *program.profiles]
            ]
    finally:
        MethodProfiler.unpatch(kind)
    return outcomes


@pytest.mark.parametrize("asynchronous", [False, True])
def test_random_programs_are_counted_alike_in_both_ways(asynchronous):
    calls = 0
    for seed in range(25):
        by_wrapper = counted("wrapper", seed, asynchronous)
        assert counted("monitoring", seed, asynchronous) == by_wrapper, f"seed {seed}"
        calls += sum(section[1] for profile in by_wrapper for section in profile)
    assert calls > 500
