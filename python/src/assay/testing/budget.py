"""Limits for a test: SQL statements, log records, requests, programs, seconds of sleep. The counts
are exact; neither statistics nor the program is needed. Faked or stubbed calls do not happen, and
are not counted. The intercepted functions are in `_causes.py`."""

from __future__ import annotations

import asyncio
import functools
import inspect
import re
import sys
import threading
import time
import types
from collections import Counter
from contextlib import AbstractContextManager
from typing import Any, Callable, Iterable, TypeVar

from .._clock import now
from . import _causes as causes
from ._causes import Causes

_Text = Callable[..., object]
_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Limit:
    """A limit: the index of its count, and its name in plural and singular."""

    def __init__(self, row: int, many: str, one: str) -> None:
        self.row = row
        self.many = many
        self.one = one


_LIMITS = {
    "max_sql": _Limit(causes.SQL, "SQL statements", "SQL statement"),
    "max_redis": _Limit(causes.REDIS, "Redis commands", "Redis command"),
    "max_log_lines": _Limit(causes.LOG_LINES, "log records", "log record"),
    "max_http": _Limit(causes.HTTP, "HTTP requests", "HTTP request"),
    "max_processes": _Limit(causes.PROCESSES, "started programs", "started program"),
    "max_sleep": _Limit(causes.SLEEP_TIME, "seconds of sleep", "second of sleep"),
}
#: Maximum number of statements, records or programs in a message, and of different ones that are
#: counted separately.
_LISTED = 8
_TOLD_APART = 10_000
_LONGEST = 160


def _stands_for(original: Any, counting: _Function) -> _Function:
    """Marks a counting function, so that fakes find it where a module took it for the original
    (`real` of replace.py)."""
    vars(counting)["_assay_real"] = original
    return counting


class _Points(Causes):  # type: ignore[misc,unused-ignore]
    """Notifies the open budgets of events. Nothing is counted while none is open."""

    def __init__(self, budgets: list[Budget]) -> None:
        super().__init__(_counts, now, lambda function, *args: function(*args))
        self.budgets = budgets
        self.libraries["trio"] = self.trio
        self.arrivals: Any = _Arrivals(self)
        #: The replacements of sleeping functions, by the address of the original, which is kept
        #: alive so that its address stays unique.
        self.sleepers: dict[int, tuple[Any, Any]] = {}
        self.searched: set[str] = set()

    def _put(self, owner: object, name: str, value: object) -> None:
        super().put(owner, name, value)  # type: ignore[no-untyped-call]

    def sleeps(self) -> None:
        """All ways to sleep: also those of asyncio, and waiting for an event until the timeout."""
        self.timed_sleep(time, "sleep")
        for module in (asyncio, asyncio.tasks):
            self.timed_sleep(module, "sleep")
        wait = threading.Event.wait

        @functools.wraps(wait)
        def waiting(event: threading.Event, timeout: float | None = None) -> bool:
            begin = self.clock()
            came = wait(event, timeout)
            if not came and timeout is not None and timeout > 0 and self.budgets:
                self._told(causes.SLEEPS, 1, self.clock() - begin, causes._caller)
            return came

        self._put(threading.Event, "wait", waiting)

    def trio(self, module: Any) -> None:
        """Its own sleep function, also used by anyio."""
        self.timed_sleep(module, "sleep")

    def timed_sleep(self, owner: Any, name: str) -> None:
        """Counts a sleeping function if its argument is positive."""
        original = getattr(owner, name)
        original = getattr(original, "_assay_sleeps", original)
        if id(original) not in self.sleepers:
            self.sleepers[id(original)] = original, self._sleeping(original)
        self._put(owner, name, self.sleepers[id(original)][1])

    def _sleeping(self, original: Any) -> Any:
        counted = self.around(original, causes.SLEEPS, text=causes._caller)

        def counts(seconds: Any) -> bool:
            return bool(self.budgets) and isinstance(seconds, (int, float)) and seconds > 0

        if inspect.iscoroutinefunction(original):

            @functools.wraps(original)
            async def wait(delay: Any, *args: Any, **kwargs: Any) -> Any:
                return await (counted if counts(delay) else original)(delay, *args, **kwargs)

            vars(wait)["_assay_sleeps"] = original
            return _stands_for(original, wait)

        @functools.wraps(original)
        def sleep(seconds: Any) -> Any:
            return (counted if counts(seconds) else original)(seconds)

        vars(sleep)["_assay_sleeps"] = original
        return _stands_for(original, sleep)

    def look(self) -> None:
        """Also installs the counting in modules that have imported a sleeping function directly
        (`from time import sleep`)."""
        super().look()
        for name, module in list(sys.modules.items()):
            if name in self.searched or type(module) is not types.ModuleType or name.startswith("assay."):
                continue
            if getattr(getattr(module, "__spec__", None), "_initializing", False):
                continue
            self.searched.add(name)
            for member, value in list(vars(module).items()):
                found = self.sleepers.get(id(value))
                if found is not None and found[0] is value:
                    self._put(module, member, found[1])

    def add(self, row: int, number: int, text: Callable[[], object]) -> None:
        """Notifies every budget."""
        if self.budgets:
            self._told(row, number, 0, text)

    def around(
        self,
        original: Callable[..., Any],
        row: int,
        number: Callable[..., int] | None = None,
        text: _Text | None = None,
    ) -> Callable[..., Any]:
        """Returns a function that notifies every budget when it is called."""

        def ended(begin: int, args: Any, kwargs: Any) -> None:
            times = 1 if number is None else number(*args, **kwargs)
            what = functools.partial(text or str, *(args if text else ["?"]), **(kwargs if text else {}))
            self._told(row, times, self.clock() - begin, what)

        if inspect.iscoroutinefunction(original):

            @functools.wraps(original)
            async def wait(*args: Any, **kwargs: Any) -> Any:
                if not self.budgets:
                    return await original(*args, **kwargs)
                begin = self.clock()
                try:
                    return await original(*args, **kwargs)
                finally:
                    ended(begin, args, kwargs)

            return _stands_for(original, wait)

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not self.budgets:
                return original(*args, **kwargs)
            begin = self.clock()
            try:
                return original(*args, **kwargs)
            finally:
                ended(begin, args, kwargs)

        return _stands_for(original, call)

    def _told(self, row: int, number: int, took: int, text: Callable[[], object]) -> None:
        self.counts[row] += number  # These show whether a driver counted.
        for budget in list(self.budgets):
            budget._add(row, number, took, text)


class _Arrivals:
    """Installs the counting in a library imported while a budget is open, as soon as it is loaded.
    A module finder that delegates to the others."""

    def __init__(self, points: _Points) -> None:
        self._points = points

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Returns the result of the other finders; for a counted library, with a loader that
        installs the counting."""
        if name not in self._points.libraries:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None and finder is not self else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader.exec_module = functools.partial(self._load, name, spec.loader.exec_module)
                return spec
        return None

    def _load(self, name: str, load: Callable[[Any], object], module: Any) -> None:
        load(module)
        count = self._points.libraries.pop(name, None)
        if count is not None:
            self._points.guarded(count, module)


_open: list[Budget] = []
#: All counts, by any points: connections outlive the budgets under which they were opened.
_counts = [0] * 10
_points: list[_Points] = []
_holders: list[object] = []
_lock = threading.RLock()


def watch(holder: object) -> None:
    """Starts counting until `unwatch` by the same holder, including libraries imported since.
    Connections of sqlite3 and psycopg2 that were opened before are not counted: pytest calls this
    before any fixture is set up if a test has a budget."""
    with _lock:
        _holders.append(holder)
        if not _points:
            points = _Points(_open)
            _points.append(points)
            points.put_into_python()
            sys.meta_path.insert(0, points.arrivals)
        _points[0].look()


def unwatch(holder: object) -> None:
    """Ends it. The last one restores the original functions."""
    with _lock:
        _holders[:] = [each for each in _holders if each is not holder]
        if not _holders and _points:
            points = _points.pop()
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not points.arrivals]
            points.undo()


class Uncounted(RuntimeError):
    """A budget that cannot be asserted, since the calls of a loaded library are not counted."""


#: Counted SQL drivers, by the module with `connect`, and their components.
_COUNTED_SQL = ("sqlite3", "psycopg", "psycopg2", "MySQLdb", "pymysql", "asyncpg", "aiosqlite")
#: Drivers that do not follow the Python Database API, by which others are recognized.
_OTHER_SQL = (
    "aiomysql",
    "asyncmy",
    "aiopg",
    "aioodbc",
    "apsw",
    "clickhouse_connect",
    "clickhouse_driver",
    "cassandra.cluster",
    "libsql",
    "psqlpy",
)
_OTHER_REDIS = ("aioredis", "coredis", "glide", "valkey")


def _uncounted_sql() -> list[str]:
    """Returns the loaded SQL drivers that are not counted: by PEP 249 each has `apilevel` and
    `connect`."""
    found = []
    for name, module in list(sys.modules.items()):
        if not isinstance(module, types.ModuleType) or name.split(".")[0] in _COUNTED_SQL:
            continue
        members = vars(module)
        if isinstance(members.get("apilevel"), str) and callable(members.get("connect")) and "paramstyle" in members:
            found.append(name)
    found = list(dict.fromkeys([*found, *(name for name in _OTHER_SQL if name in sys.modules)]))
    # A submodule of a package that is already named adds no information, nor does its part written
    # in C.
    return [name for name in found if not any(name.startswith((f"{other}.", f"_{other}")) for other in found)]


def _uncounted_redis() -> list[str]:
    return [name for name in _OTHER_REDIS if name in sys.modules]


class Budget(AbstractContextManager["Budget"]):
    """The `with` block of `assert_budget`, and its counts up to now."""

    def __init__(self, limits: dict[str, float], uncounted: str = "fail") -> None:
        self._limits = limits
        self._uncounted = uncounted
        self._counts: Counter[int] = Counter()
        self._texts: dict[int, Counter[str]] = {limit.row: Counter() for limit in _LIMITS.values()}

    def __enter__(self) -> Budget:
        watch(self)
        _open.append(self)
        return self

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> None:
        __tracebackhide__ = True
        self.stop()
        if problem is None:
            self.check()

    def stop(self) -> None:
        """Stops counting."""
        self.pause()
        unwatch(self)

    def pause(self) -> bool:
        """Stops counting until `resume`; returns whether it was counting."""
        # Budgets are compared by identity, not by their counts.
        counted = any(budget is self for budget in _open)
        _open[:] = [budget for budget in _open if budget is not self]
        return counted

    def resume(self) -> None:
        """Resumes counting."""
        _open.append(self)

    def count(self, limit: str) -> float:
        """Returns the count for a limit, such as `max_sql`."""
        return self._value(_LIMITS[limit])

    def check(self) -> None:
        """Raises AssertionError if a limit was exceeded."""
        __tracebackhide__ = True
        over = [
            self._said(_LIMITS[name], most) for name, most in self._limits.items() if self._value(_LIMITS[name]) > most
        ]
        if over:
            raise AssertionError("\n".join(over))
        if self._uncounted == "fail":
            for name, drivers in (("max_sql", _uncounted_sql), ("max_redis", _uncounted_redis)):
                found = drivers() if name in self._limits else []
                if found:
                    raise Uncounted(
                        f"{name} can't be asserted: {', '.join(f'`{each}`' for each in found)} {'is' if len(found) == 1 else 'are'} loaded, "
                        "and what goes through that is not counted. Patch it where your program calls it and use assert_calls, or say "
                        'uncounted="ok" if the test does not use it'
                    )

    def _add(self, row: int, number: int, took: int, text: Callable[[], object]) -> None:
        self._counts[row] += number
        self._counts[row + 1] += took
        row, amount = (causes.SLEEP_TIME, took) if row == causes.SLEEPS else (row, number)
        texts = self._texts.get(row)
        if texts is None or amount == 0:
            return
        shape = _shape(row, text())
        if shape in texts or len(texts) < _TOLD_APART:
            texts[shape] += amount

    def _value(self, limit: _Limit) -> float:
        value = self._counts[limit.row]
        return value / 1e9 if limit.row == causes.SLEEP_TIME else value

    def _said(self, limit: _Limit, most: float) -> str:
        value = self._value(limit)
        first = (
            f"{_number(value)} {limit.one if value == 1 else limit.many}, at most {_number(most)} "
            f"{'was' if most == 1 else 'were'} allowed"
        )
        scale = 1e9 if limit.row == causes.SLEEP_TIME else 1
        lines = [
            f"  {_number(times / scale if scale > 1 else times)} × {text}"
            for text, times in self._texts[limit.row].most_common(_LISTED)
        ]
        return "\n".join([first, *lines])


def assert_budget(
    *,
    max_sql: int | None = None,
    max_redis: int | None = None,
    max_log_lines: int | None = None,
    max_http: int | None = None,
    max_processes: int | None = None,
    max_sleep: float | None = None,
    uncounted: str = "fail",
) -> Budget:
    """Asserts limits for the `with` block, in all threads and tasks of the process: SQL statements,
    Redis commands, records that loggers handle, HTTP requests, started programs, seconds slept: by
    `time.sleep`, `asyncio.sleep`, `anyio.sleep`, `trio.sleep`, and by `Event.wait` until its
    timeout. Sleeps of several tasks or threads add up. A failure lists the most frequent ones, with
    their values replaced. After an exception in the block nothing is asserted.

    If an SQL or Redis driver is loaded that is not counted, its limit cannot be asserted, and
    `Uncounted` is raised, unless `uncounted="ok"` declares that the test does not use it.
    """
    given = {
        "max_sql": max_sql,
        "max_redis": max_redis,
        "max_log_lines": max_log_lines,
        "max_http": max_http,
        "max_processes": max_processes,
        "max_sleep": max_sleep,
    }
    limits = {name: most for name, most in given.items() if most is not None}
    if not limits:
        raise ValueError(f"a budget has at least one limit: {', '.join(_LIMITS)}")
    for name, most in limits.items():
        whole = name != "max_sleep"
        if isinstance(most, bool) or not isinstance(most, int if whole else (int, float)) or not most >= 0:
            raise ValueError(f"{name} is a {'whole number' if whole else 'number of seconds'}, not {most!r}")
    if uncounted not in ("fail", "ok"):
        raise ValueError(f'`uncounted` is "fail" or "ok", not {uncounted!r}')
    return Budget(limits, uncounted)


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3g}"


# Texts without their values. -------------------------------------------------------------------------------------------

_QUOTED = re.compile(r"'(?:[^']|'')*'")
_NUMBER = re.compile(r"(?<![\w$.%])-?\d+(?:\.\d+)?(?!\w)")
_LIST = re.compile(r"\(\s*(?:\?|%s|\$\d+)(?:\s*,\s*(?:\?|%s|\$\d+))+\s*\)")
_HEXADECIMAL = re.compile(r"\b(?=[0-9a-f-]*\d)[0-9a-f]{8,}(?:-[0-9a-f]+)*\b")
_DIGITS = re.compile(r"\d+(?:[-:.T]\d+)*")


def _shape(row: int, text: object) -> str:
    if isinstance(text, (list, tuple)):
        words: Iterable[object] = text
        text = " ".join(_plain(word) for word in words)
    line = " ".join(_plain(text).split()) or "(nothing)"
    if row == causes.SQL:
        line = _LIST.sub("(?, …)", _NUMBER.sub("?", _QUOTED.sub("?", line)))
    elif row == causes.LOG_LINES:
        line = _DIGITS.sub("?", _HEXADECIMAL.sub("?", re.sub(r'"[^"]*"', "?", line)))
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "…"


def _plain(text: object) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
