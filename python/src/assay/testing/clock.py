"""A clock that stands still until it is told, or until somebody sleeps on it; and the functions of `time` and `datetime` that
read it. The clocks that measure (`comparison/stopwatch.py`) never read it."""

from __future__ import annotations

import datetime as _datetime
import threading
import time as _time
from typing import Any, Callable


class Clock:
    """Begins at the real time, or at `now`: seconds since 1970, or a `datetime` (without a zone: local time)."""

    def __init__(self, now: float | _datetime.datetime | None = None) -> None:
        if isinstance(now, _datetime.datetime):
            now = now.timestamp()
        self._lock = threading.Lock()
        self._began = _time.time_ns() if now is None else round(now * 1e9)
        # A whole second: a deadline, `monotonic() + 3600`, is then the very number that the clock shows when the time is over. With
        # a fraction the two are rounded apart now and then, and a loop that waits for it turns once more.
        self._monotonic = -(-_time.monotonic_ns() // 10**9) * 10**9
        self._elapsed = 0

    @property
    def now(self) -> float:
        """Seconds since 1970."""
        return self.time_ns() / 1e9

    @property
    def elapsed(self) -> float:
        """Seconds by which it was advanced."""
        return self._elapsed / 1e9

    def advance(self, seconds: float) -> None:
        """Lets time pass. ValueError for a negative number: clocks that measure durations never go back."""
        if seconds < 0:
            raise ValueError(f"time does not go back by {-seconds} s")
        with self._lock:
            self._elapsed += round(seconds * 1e9)

    def time_ns(self) -> int:
        """Nanoseconds since 1970."""
        return self._began + self._elapsed

    def monotonic_ns(self) -> int:
        """Nanoseconds since some moment."""
        return self._monotonic + self._elapsed

    def members(self) -> dict[str, dict[str, object]]:
        """The members of `time` and `datetime` that read this clock."""

        def monotonic() -> float:
            return self.monotonic_ns() / 1e9

        def of_now(function: Callable[[float], object]) -> object:
            def faked(seconds: float | None = None) -> object:
                return function(self.now if seconds is None else seconds)

            return faked

        def strftime(form: str, t: Any = None) -> str:
            return _time.strftime(form, _time.localtime(self.now) if t is None else t)

        time: dict[str, object] = {
            "time": lambda: self.now,
            "time_ns": lambda: self.time_ns(),
            "monotonic": monotonic,
            "monotonic_ns": lambda: self.monotonic_ns(),
            "perf_counter": lambda: monotonic(),
            "perf_counter_ns": lambda: self.monotonic_ns(),
            "localtime": of_now(_time.localtime),
            "gmtime": of_now(_time.gmtime),
            "ctime": of_now(_time.ctime),
            "strftime": strftime,
        }
        return {"time": time, "datetime": {"datetime": _faked_datetime(self), "date": _faked_date(self)}}


class _AsTheReal(type):
    """What is an instance of the real class is one of the fake, too."""

    _assay_real: type

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls._assay_real)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls._assay_real)


def _faked_datetime(clock: Clock) -> type:
    genuine = _datetime.datetime

    class datetime(_datetime.datetime, metaclass=_AsTheReal):
        _assay_real = genuine

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            return genuine(*args, **kwargs)

        @classmethod
        def now(cls, tz: _datetime.tzinfo | None = None) -> Any:
            return genuine.fromtimestamp(clock.now, tz)

        @classmethod
        def utcnow(cls) -> Any:
            return genuine.fromtimestamp(clock.now, _datetime.timezone.utc).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return genuine.fromtimestamp(clock.now)

    return datetime


def _faked_date(clock: Clock) -> type:
    genuine = _datetime.date

    class date(_datetime.date, metaclass=_AsTheReal):
        _assay_real = genuine

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            return genuine(*args, **kwargs)

        @classmethod
        def today(cls) -> Any:
            return genuine.fromtimestamp(clock.now)

    return date
