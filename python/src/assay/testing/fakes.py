"""Fakes of what tests must not really do: sleep, read the clock, start programs. Each returns at once, is recorded, and touches only
the module, class or object that is given.

    with fake_sleep(cron) as sleeps, fake_system(cron, results=[0, 1]) as commands:
        ...
    assert sleeps == [2**30]
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any, Callable, ClassVar, Iterable, Iterator, NamedTuple, NoReturn, Union, overload

from .clock import Clock
from .replace import Replacement, put

_MANY = 10_000
_used_up = object()


#: What a script of results may be: the results one after the other, a function of the call's arguments, or None for success.
Results = Union[Iterable[Any], Callable[..., Any], None]


class UnexpectedCall(AssertionError):
    """A fake was called more often than its results were scripted. Also raised where the fake ends, should the code under test
    have caught it."""


class Call(NamedTuple):
    """One recorded call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __repr__(self) -> str:
        parts = [repr(argument) for argument in self.args] + [f"{key}={value!r}" for key, value in self.kwargs.items()]
        return f"({', '.join(parts)})"


class Fake:
    """A fake in its place, from `with` to the end of the block, or from `start` to `stop`.

    It equals the list of its first arguments: `sleeps == [1, 2]`, `commands == ["ls"]`. `calls` has everything.
    """

    def __init__(self, name: str, target: object, results: Results, limit: int, clock: Clock) -> None:
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

    def start(self) -> Fake:
        """Puts the fake in its place. LookupError where there is nothing to fake."""
        __tracebackhide__ = True
        if self._replacement is not None:
            raise RuntimeError(f"this fake of `{self.name}` is in its place already")
        self._replacement = put(self._target, self._members, self._method, self._function)
        return self

    def stop(self) -> None:
        """Takes it out again. Does nothing where it is out."""
        if self._replacement is not None:
            self._replacement.undo()
            self._replacement = None

    def check(self, known: BaseException | None = None) -> None:
        """Raises again what the code under test caught: a call beyond the script. `known` is the exception that came of it anyway."""
        if self._unexpected is not None and not _comes_of(known, self._unexpected):
            raise self._unexpected

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
        """Records a call; its scripted result, or `default` where there is no script. Raises a scripted exception."""
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


def fake_sleep(target: object, *, results: Results = None, clock: Clock | None = None, limit: int = _MANY) -> Fake:
    """Sleeping returns at once and advances `clock` (one of its own, without): `time.sleep` and `asyncio.sleep` in a module, or the
    method `sleep` of a class or an object.

    `results` may be a list of what happens at each call, None or an exception, or a function of the seconds. Without it `limit` calls
    are allowed: a loop that only ever ends by sleeping long enough ends too.
    """
    fake = Fake("sleep", target, results, limit, clock or Clock())

    def sleep(seconds: float) -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        fake.called(None, seconds)
        fake.clock.advance(seconds)

    async def asyncio_sleep(delay: float, result: Any = None) -> Any:
        fake.called(None, delay)
        fake.clock.advance(max(0, delay))
        await asyncio.sleep(0)  # Others get their turn, as with a real sleep.
        return result

    fake._members = {"time": {"sleep": sleep}, "asyncio": {"sleep": asyncio_sleep}}
    own = inspect.getattr_static(target, "sleep", None)
    own = own.__func__ if isinstance(own, (staticmethod, classmethod)) else own
    fake._function = asyncio_sleep if inspect.iscoroutinefunction(own) else sleep
    return fake


def fake_system(target: object, *, results: Results = None, limit: int = _MANY) -> Fake:
    """No shell is started: `os.system` in a module, or the method `system` of a class or an object, gives the scripted results, 0
    without any."""
    fake = Fake("system", target, results, limit, Clock())

    def system(command: str) -> Any:
        return fake.called(0, command)

    fake._members = {"os": {"system": system}}
    fake._function = system
    return fake


def fake_clock(target: object, *, clock: Clock | None = None) -> Fake:
    """The functions of `time` and `datetime` that tell the time read a clock that stands still: in one module. The clock is the
    member `clock` of the result; with `fake_sleep(…, clock=…)` sleeping advances it."""
    fake = Fake("clock", target, None, _MANY, clock or Clock())
    fake._members = fake.clock.members()
    fake._method = "clock"
    fake._function = lambda: fake.clock.now
    return fake
