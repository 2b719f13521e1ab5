"""Fakes for operations that tests must not perform for real: sleeping, reading the clock, starting
programs. Each returns immediately, is recorded, and affects only the given module, class or object.

    with fake_sleep(cron) as sleeps, fake_system(cron, results=[0, 1]) as commands:
        ...
    assert sleeps == [2**30]
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import sys
import threading
from typing import Any, Callable, ClassVar, Iterable, Iterator, NamedTuple, NoReturn, Union, overload

from . import waits
from .clock import Clock, Moment
from .replace import Also, Replacement, describe, put

_MANY = 10_000
_used_up = object()


#: The forms of a script of results: the results in order, a function of the call's arguments, or
#: None for success.
Results = Union[Iterable[Any], Callable[..., Any], None]


class UnexpectedCall(AssertionError):
    """A fake was called more often than its results were scripted. Raised again where the fake
    ends, in case the code under test caught it."""


class UnusedFake(AssertionError):
    """A fake was never called. The operation it replaces was performed for real, or not at all."""


class Call(NamedTuple):
    """One recorded call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __repr__(self) -> str:
        parts = [repr(argument) for argument in self.args] + [f"{key}={value!r}" for key, value in self.kwargs.items()]
        return f"({', '.join(parts)})"


class Fake:
    """An installed fake, from `with` to the end of the block, or from `start` to `stop`.

    It equals the list of its first arguments: `sleeps == [1, 2]`, `commands == ["ls"]`. `calls` has
    everything.
    """

    def __init__(
        self, name: str, target: object, results: Results, limit: int, clock: Clock, unused: str = "fail"
    ) -> None:
        if unused not in ("fail", "ok"):
            raise ValueError(f'`unused` is "fail" or "ok", not {unused!r}')
        if isinstance(results, (str, bytes)):
            raise TypeError(
                f"`results` is a list of what the calls give, one after the other, not a text: [{results!r}]"
            )
        self.name = name
        self.clock = clock
        self.calls: list[Call] = []
        self._target = target
        self._limit = limit
        self._compute: Callable[..., Any] | None = results if callable(results) else None
        self._script: Iterator[Any] | None = None if results is None or callable(results) else iter(list(results))
        self._lock = threading.Lock()
        self._unexpected: UnexpectedCall | None = None
        self._replacement: Replacement | None = None
        self._members: dict[str, dict[str, object]] = {}
        self._method = name
        self._function: Callable[..., Any] | None = None
        self._also: Also | None = None
        self._unused = unused
        self._used = False

    def start(self) -> Fake:
        """Installs the fake. Raises LookupError if there is nothing to fake."""
        __tracebackhide__ = True
        if self._replacement is not None:
            raise RuntimeError(f"this fake of `{self.name}` is in its place already")
        self._replacement = put(self._target, self._members, self._method, self._function, self._also)
        return self

    def stop(self) -> None:
        """Removes the fake. Does nothing if it is not installed."""
        if self._replacement is not None:
            self._replacement.undo()
            self._replacement = None

    def check(self, known: BaseException | None = None) -> None:
        """Raises errors again that the code under test caught: a call beyond the script. `known` is
        the exception that it led to. Raises `UnusedFake` if there was no call at all."""
        if self._unexpected is not None and not _comes_of(known, self._unexpected):
            raise self._unexpected
        if known is None and self._unused == "fail" and not self.calls and not self._used:
            target = f"module `{self._target}`" if isinstance(self._target, str) else describe(self._target)
            raise UnusedFake(
                f"the fake of `{self.name}` in {target} was never called, so that it has replaced nothing that the test does: give "
                f'the module whose code makes the call, leave the fake out, or say unused="ok" if a call may be missing'
            )

    def __enter__(self) -> Fake:
        return self.start()

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        self.stop()
        if problem is None:
            self.check()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (list, tuple)):
            return list(self) == list(other)
        return self is other

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # Compared by what was recorded, which changes.

    def __iter__(self) -> Iterator[Any]:
        return iter([call.args[0] if call.args else None for call in self.calls])

    def __len__(self) -> int:
        return len(self.calls)

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        return list(self)[index]

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<fake {self.name} {list(self)!r}>"

    # For the fakes of this package.

    def called(self, default: object, *args: Any, **kwargs: Any) -> Any:
        """Records a call; returns its scripted result, or `default` if there is no script. Raises a
        scripted exception."""
        call = Call(args, kwargs)
        with self._lock:
            before = len(self.calls)
            if self._script is None and self._compute is None:
                if before >= self._limit:
                    self._unexpect(
                        f"`{self.name}{call!r}` is call {before + 1}, and {self._limit} are allowed (limit=): a loop without an end?"
                    )
                result = default
            elif self._script is not None:
                result = next(self._script, _used_up)
                if result is _used_up:
                    shown = ", ".join(f"{self.name}{c!r}" for c in self.calls[-10:]) or "none"
                    more = "… " if before > 10 else ""
                    self._unexpect(
                        f"unexpected `{self.name}{call!r}`: all {before} scripted results are used up; calls so far: {more}{shown}"
                    )
            self.calls.append(call)
        if self._compute is not None:
            result = self._compute(*args, **kwargs)
        if isinstance(result, BaseException) or (isinstance(result, type) and issubclass(result, BaseException)):
            raise result
        return result

    def _unexpect(self, message: str) -> NoReturn:
        problem = UnexpectedCall(message)
        if self._unexpected is None:
            self._unexpected = problem
        raise problem


def _comes_of(problem: BaseException | None, cause: BaseException) -> bool:
    while problem is not None and problem is not cause:
        problem = problem.__cause__ or problem.__context__
    return problem is cause


def fake_sleep(
    target: object, *, results: Results = None, clock: Clock | None = None, limit: int = _MANY, unused: str = "fail"
) -> Fake:
    """Sleeping returns immediately and advances `clock` (by default a new one): `time.sleep`,
    `asyncio.sleep` and `anyio.sleep` in a module; or the method `sleep` of a class or an object. A time limit by
    `asyncio.timeout` that would end a sleep ends it. A fake that is never called is an error, unless
    `unused` is "ok".

    In a module waits with a timeout are faked as well, of an Event, a Condition, a Semaphore, a
    Queue, a Thread, a Future, `concurrent.futures.wait` and `as_completed`, and of `select` without
    files. The actions of other threads are real, so a wait is real for a moment (20 ms; a second
    for a Thread or a Future) before it ends by the clock. A `threading.Timer` fires when the clock
    reaches its time. Waits for files, processes and locks stay real, as do time limits of `asyncio`
    other than `asyncio.timeout`.

    `results` may be a list with the result of each call, None or an exception, or a function of the
    seconds. Without it `limit` calls are allowed, so that a loop that would sleep forever ends too.
    """
    fake = Fake("sleep", target, results, limit, clock or Clock(), unused)

    def sleep(seconds: float) -> None:
        if seconds < 0:
            fake._used = True
            raise ValueError("sleep length must be non-negative")
        fake.called(None, seconds)
        fake.clock.advance(seconds)

    async def asyncio_sleep(delay: float, result: Any = None) -> Any:
        fake.called(None, delay)
        limit = _time_limit()
        if limit is not None and limit.when() - asyncio.get_running_loop().time() < delay:
            delay = limit.when() - asyncio.get_running_loop().time()
            limit.reschedule(asyncio.get_running_loop().time())
        fake.clock.advance(max(0, delay))
        await asyncio.sleep(0)  # Lets other tasks run, as a real sleep does; an expired limit ends it.
        return result

    def record(seconds: float) -> None:
        fake.called(None, seconds)

    def passes(seconds: float) -> None:
        record(seconds)
        fake.clock.advance(max(0, seconds))

    async def anyio_sleep(delay: float) -> None:
        passes(delay)
        await importlib.import_module("anyio.lowlevel").checkpoint()

    waiting = waits.functions(fake.clock, passes)
    fake._members = {"time": {"sleep": sleep}, "asyncio": {"sleep": asyncio_sleep}, **waiting}
    if "anyio" in sys.modules:
        fake._members["anyio"] = {"sleep": anyio_sleep}
    own = inspect.getattr_static(target, "sleep", None)
    own = own.__func__ if isinstance(own, (staticmethod, classmethod)) else own
    fake._function = asyncio_sleep if inspect.iscoroutinefunction(own) else sleep
    fake._also = functools.partial(waits.fake_waits, fake.clock, record, passes)
    return fake


def _time_limit() -> Any:
    """Returns the `asyncio.timeout` of the running task that ends next, None if there is none.
    Those used internally by `asyncio.wait_for`, from Python 3.12 on, are excluded."""
    kind = getattr(getattr(asyncio, "timeouts", None), "Timeout", None)
    task = asyncio.current_task()
    if kind is None or task is None:
        return None
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code is asyncio.wait_for.__code__:
            return None
        frame = frame.f_back
    limits: list[Any] = [getattr(handle, "_callback", None) for handle in getattr(asyncio.get_running_loop(), "_scheduled", ())]
    mine = [
        limit.__self__
        for limit in limits
        if isinstance(getattr(limit, "__self__", None), kind) and limit.__self__._task is task
    ]
    return min((limit for limit in mine if limit.when() is not None), key=lambda limit: limit.when(), default=None)


def fake_system(target: object, *, results: Results = None, limit: int = _MANY, unused: str = "fail") -> Fake:
    """No shell is started: `os.system` in a module, or the method `system` of a class or an object,
    returns the scripted results, 0 by default."""
    fake = Fake("system", target, results, limit, Clock(), unused)

    def system(command: str) -> Any:
        return fake.called(0, command)

    fake._members = {"os": {"system": system}}
    fake._function = system
    return fake


def fake_clock(target: object, *, now: Moment | None = None, clock: Clock | None = None, unused: str = "fail") -> Fake:
    """The functions of `time` and `datetime` that read the time use a frozen clock, in one module.
    `now` is its initial time, past or future: a date or a `datetime`, a text such as "2012-01-14"
    or "2012-01-14 12:00", or seconds since 1970; by default the real time. The clock is the
    attribute `clock` of the result; with `fake_sleep(…, clock=…)` sleeping advances it."""
    clock = clock or Clock()
    if now is not None:
        clock.travel_to(now)
    fake = Fake("clock", target, None, _MANY, clock, unused)

    def used() -> None:
        fake._used = True

    def told() -> float:
        used()
        return clock.now

    fake._members = clock.members(used)
    fake._method = "clock"
    fake._function = told
    return fake
