"""Fakes waits with a timeout, and timers, for `fake_sleep`. In the code of one module they end by
the fake clock; elsewhere they are real.

Other threads are real and may end a wait, so each wait is real for a moment before it ends by the
clock.
"""

from __future__ import annotations

import concurrent.futures
import concurrent.futures._base
import functools
import inspect
import queue
import select
import selectors
import sys
import threading
import types
from typing import Any, Callable, Iterable, Iterator, NamedTuple

from .clock import Clock
from .replace import Replacement

#: Seconds for which a wait is real: for a signal of another thread, and for the work of another
#: thread. Without other threads, nothing can end it.
_MOMENT = 0.02
_WORK = 1.0

#: Record a wait by its seconds; `Pass` also advances the clock.
Record = Callable[[float], object]
Pass = Callable[[float], object]


def _came(_waited: Any, result: Any) -> bool:
    return bool(result)


class _Wait(NamedTuple):
    """A method with the parameter `timeout`."""

    owner: type
    name: str
    #: The exception raised on a timeout; without one, `came` recognizes a timeout by the result.
    over: type[BaseException] | tuple[()] = ()
    came: Callable[[Any, Any], bool] = _came
    #: Whether the call can be faked.
    takes: Callable[[inspect.BoundArguments], bool] = lambda _call: True
    moment: float = _MOMENT


def _blocks(call: inspect.BoundArguments) -> bool:
    return bool(call.arguments.get("block", call.arguments.get("blocking", True)))


def _is_pending(call: inspect.BoundArguments) -> bool:
    return not call.arguments["self"].done()


def _selectors() -> Iterator[type]:
    found: list[Any] = [selectors.BaseSelector]
    while found:
        kind = found.pop()
        found += kind.__subclasses__()
        if "select" in vars(kind) and not inspect.isabstract(kind):
            yield kind


_WAITS = (
    _Wait(threading.Event, "wait"),
    _Wait(threading.Condition, "wait"),
    _Wait(threading.Condition, "wait_for"),
    _Wait(threading.Semaphore, "acquire", takes=_blocks),
    _Wait(threading.Thread, "join", came=lambda thread, _: not thread.is_alive(), moment=_WORK),
    _Wait(queue.Queue, "get", queue.Empty, takes=_blocks),
    _Wait(queue.Queue, "put", queue.Full, takes=_blocks),
    _Wait(concurrent.futures.Future, "result", concurrent.futures.TimeoutError, takes=_is_pending, moment=_WORK),
    _Wait(concurrent.futures.Future, "exception", concurrent.futures.TimeoutError, takes=_is_pending, moment=_WORK),
    # Without files it only sleeps. Other programs also write to files, so a wait for files is real.
    *(_Wait(kind, "select", takes=lambda call: not call.arguments["self"].get_map()) for kind in _selectors()),
)

#: A module that has one of these may wait.
_KNOWN: tuple[Any, ...] = (
    threading, queue, select, selectors, concurrent.futures, concurrent,
    *(wait.owner for wait in _WAITS if wait.owner is not threading.Thread), threading.Timer,
)  # fmt: skip


def others() -> bool:
    """Returns whether other threads are running that could end a wait."""
    return threading.active_count() > 1


def fake_waits(clock: Clock, record: Record, passes: Pass, replacement: Replacement, target: types.ModuleType) -> bool:
    """Fakes the methods for the code of this module. Returns whether it has anything to wait
    with."""
    timers = _Timers(clock, record, target)
    for wait in _WAITS:
        before = getattr(wait.owner, wait.name)
        replacement.set(wait.owner, wait.name, _waiting(wait, before, passes, timers, target))
    timers.install(replacement)
    values = list(vars(target).values())
    return any(any(value is known for known in _KNOWN) or isinstance(value, _INSTANCES) for value in values)


_INSTANCES = tuple(known for known in _KNOWN if isinstance(known, type))


@functools.lru_cache(maxsize=None)
def _signature(owner: type, name: str) -> inspect.Signature:
    return inspect.signature(getattr(owner, name))  # Also for a wrapper of this package.


def _waiting(wait: _Wait, before: Any, passes: Pass, timers: _Timers, target: types.ModuleType) -> Any:
    signature = _signature(wait.owner, wait.name)

    @functools.wraps(before)
    def waiting(*args: Any, **kwargs: Any) -> Any:
        if sys._getframe(1).f_globals is not vars(target):
            return before(*args, **kwargs)
        try:
            call = signature.bind(*args, **kwargs)
        except TypeError:
            return before(*args, **kwargs)  # This raises the usual error.
        timeout = call.arguments.get("timeout")
        if not wait.takes(call):
            return before(*args, **kwargs)
        this = args[0]

        def really(seconds: float) -> tuple[bool, Any]:
            call.arguments["timeout"] = seconds
            try:
                result = before(*call.args, **call.kwargs)
            except wait.over:
                return bool(isinstance(this, concurrent.futures.Future) and this.done()), None
            return wait.over != () or wait.came(this, result), result

        if timeout is None:
            # Advances the clock until a timer ends the wait.
            while timers.next() is not None:
                came, result = really(wait.moment if others() else 0)
                if came:
                    return result
                timers.pass_to_next()
            return before(*args, **kwargs)
        came, result = really(min(timeout, wait.moment if others() else 0))
        if came:
            return result
        passes(timeout)
        call.arguments["timeout"] = 0
        return before(*call.args, **call.kwargs)

    return waiting


class _Timers:
    """Timers started by the module. Each fires when the clock reaches its time."""

    def __init__(self, clock: Clock, record: Record, target: types.ModuleType) -> None:
        self._clock = clock
        self._record = record
        self._target = target
        #: The handles of pending timers; None for those that were cancelled.
        self._timers: dict[threading.Timer, Any] = {}

    def next(self) -> float | None:
        """Seconds until the next timer; None if there is none."""
        return self._clock.until_next()

    def pass_to_next(self) -> None:
        """Advances the clock to the next timer."""
        seconds = self.next()
        if seconds is not None:
            self._clock.advance(seconds)

    def install(self, replacement: Replacement) -> None:
        """Replaces methods of `threading.Timer`. All are real for other timers."""
        kind = threading.Timer
        start, join, cancel, is_alive = kind.start, kind.join, kind.cancel, kind.is_alive

        @functools.wraps(start)
        def start_timer(timer: threading.Timer) -> None:
            # An overridden `run` waits by itself, which is faked if it is the module's code.
            mine = sys._getframe(1).f_globals is vars(self._target)
            if not mine or type(timer).run is not kind.run or timer.is_alive() or timer.finished.is_set():
                return start(timer)

            def fire() -> None:
                del self._timers[timer]
                interval, timer.interval = timer.interval, 0
                start(timer)
                join(timer, _WORK)
                timer.interval = interval

            self._record(timer.interval)
            self._timers[timer] = self._clock.at(timer.interval, fire)

        @functools.wraps(join)
        def join_timer(timer: threading.Timer, timeout: float | None = None) -> None:
            handle = self._timers.get(timer)
            if handle is not None:
                left = self._clock.until(handle)
                self._clock.advance(left if timeout is None else min(left, max(0, timeout)))
            if timer not in self._timers:
                join(timer, timeout)

        @functools.wraps(cancel)
        def cancel_timer(timer: threading.Timer) -> None:
            handle = self._timers.get(timer)
            if handle is not None:
                self._clock.forget(handle)
                self._timers[timer] = None
            cancel(timer)

        @functools.wraps(is_alive)
        def timer_is_alive(timer: threading.Timer) -> bool:
            return self._timers[timer] is not None if timer in self._timers else is_alive(timer)

        for function in (start_timer, join_timer, cancel_timer, timer_is_alive):
            replacement.set(kind, function.__name__, function)
        replacement.exchange(lambda: None, self._drop)

    def _drop(self) -> None:
        for handle in self._timers.values():
            if handle is not None:
                self._clock.forget(handle)
        self._timers.clear()


def functions(clock: Clock, passes: Pass) -> dict[str, dict[str, object]]:
    """Returns the functions that wait with a timeout, by module."""

    def select_(rlist: Iterable[Any], wlist: Iterable[Any], xlist: Iterable[Any], timeout: float | None = None) -> Any:
        reads, writes, exceptions = list(rlist), list(wlist), list(xlist)
        if timeout is None or reads or writes or exceptions:
            return select.select(reads, writes, exceptions, timeout)
        passes(timeout)
        return [], [], []

    def wait(fs: Iterable[Any], timeout: float | None = None, return_when: str = concurrent.futures.ALL_COMPLETED) -> Any:
        fs = list(fs)
        if timeout is None:
            return concurrent.futures.wait(fs, None, return_when)
        result = concurrent.futures.wait(fs, min(timeout, _WORK if others() else 0), return_when)
        if _waits(result, return_when):
            passes(timeout)
            result = concurrent.futures.wait(fs, 0, return_when)
        return result

    def as_completed(fs: Iterable[Any], timeout: float | None = None) -> Iterator[Any]:
        pending = set(fs)
        count, began = len(pending), clock.elapsed
        while pending:
            left = None if timeout is None else max(0, timeout - (clock.elapsed - began))
            done, pending = wait(pending, left, concurrent.futures.FIRST_COMPLETED)
            if not done:
                raise concurrent.futures.TimeoutError(f"{len(pending)} (of {count}) futures unfinished")
            yield from done

    return {
        "select": {"select": select_},
        "concurrent.futures": {"wait": wait, "as_completed": as_completed},
        # The C class does not allow other methods; this one is for Pythons without it.
        "queue": {"SimpleQueue": queue.Queue},
    }


def _waits(result: Any, return_when: str) -> bool:
    """Returns whether such a wait would continue."""
    if not result.not_done:
        return False
    if return_when == concurrent.futures.FIRST_COMPLETED:
        return not result.done
    failed = any(not future.cancelled() and future.exception() is not None for future in result.done)
    return not (return_when == concurrent.futures.FIRST_EXCEPTION and failed)
