"""A clock that is frozen until it is advanced, explicitly or by a faked sleep; and the functions of
`time` and `datetime` that read it. Clocks used for measuring (`comparison/stopwatch.py`) never read
it."""

from __future__ import annotations

import datetime as _datetime
import threading
import time as _time
from typing import Any, Callable, Union

#: A moment that a clock can show.
Moment = Union[float, str, _datetime.date]


class Timer:
    """An action at a time of a clock, in nanoseconds of its `elapsed`."""

    def __init__(self, at: int, action: Callable[[], object]) -> None:
        self.at = at
        self.action = action


class Clock:
    """Starts at the real time, or at `now`: seconds since 1970, a date or a `datetime`, or a text
    as accepted by `datetime.fromisoformat`; without a zone it is local time."""

    def __init__(self, now: Moment | None = None) -> None:
        self._lock = threading.Lock()
        self._began = _time.time_ns() if now is None else _nanoseconds(now)
        # A whole second, so that a deadline, `monotonic() + 3600`, is exactly the clock's value
        # when the time is over. With a fraction the two are sometimes rounded differently, and a
        # loop that waits for the deadline runs once more.
        self._monotonic = -(-_time.monotonic_ns() // 10**9) * 10**9
        self._elapsed = 0
        self._timers: list[Timer] = []

    @property
    def now(self) -> float:
        """Seconds since 1970."""
        return self.time_ns() / 1e9

    @property
    def elapsed(self) -> float:
        """Seconds by which it was advanced."""
        return self._elapsed / 1e9

    def advance(self, seconds: float) -> None:
        """Advances the clock. Raises ValueError for a negative number: monotonic clocks never go
        back."""
        if seconds < 0:
            raise ValueError(f"time does not go back by {-seconds} s")
        left = round(seconds * 1e9)
        while left or self._due(0):
            with self._lock:
                due = self._due(left)
                step = max(0, due.at - self._elapsed) if due else left
                self._elapsed += step
                if due:
                    self._timers.remove(due)
            left -= step
            if due:
                due.action()

    # Timers, for the fakes of this package.

    def at(self, seconds: float, action: Callable[[], object]) -> Timer:
        """Calls `action` when the clock reaches this time, in seconds from now."""
        with self._lock:
            timer = Timer(self._elapsed + max(0, round(seconds * 1e9)), action)
            self._timers.append(timer)
        return timer

    def forget(self, timer: Timer) -> None:
        """Removes a timer."""
        with self._lock:
            if timer in self._timers:
                self._timers.remove(timer)

    def until(self, timer: Timer) -> float:
        """Seconds until the timer."""
        return max(0, timer.at - self._elapsed) / 1e9

    def until_next(self) -> float | None:
        """Seconds until the next timer; None if there is none."""
        return min((self.until(timer) for timer in list(self._timers)), default=None)

    def _due(self, within: int) -> Timer | None:
        """Returns the next timer within these nanoseconds."""
        due = [timer for timer in self._timers if timer.at <= self._elapsed + within]
        return min(due, key=lambda timer: timer.at, default=None)

    def travel_to(self, to: Moment) -> None:
        """Sets the time of day, in the past or the future. Monotonic clocks do not change, as when
        the system clock is set."""
        with self._lock:
            self._began = _nanoseconds(to) - self._elapsed

    def time_ns(self) -> int:
        """Nanoseconds since 1970."""
        return self._began + self._elapsed

    def monotonic_ns(self) -> int:
        """Nanoseconds from an arbitrary start."""
        return self._monotonic + self._elapsed

    def members(self, used: Callable[[], object] = lambda: None) -> dict[str, dict[str, object]]:
        """Returns the members of `time` and `datetime` that read this clock; each calls `used` when
        it is called."""

        def wall() -> int:
            used()
            return self.time_ns()

        def steady() -> int:
            used()
            return self.monotonic_ns()

        def monotonic() -> float:
            return steady() / 1e9

        def of_now(function: Callable[[float], object]) -> object:
            def faked(seconds: float | None = None) -> object:
                return function(wall() / 1e9 if seconds is None else seconds)

            return faked

        def strftime(form: str, t: Any = None) -> str:
            return _time.strftime(form, _time.localtime(wall() / 1e9) if t is None else t)

        def asctime(t: Any = None) -> str:
            return _time.asctime(_time.localtime(wall() / 1e9) if t is None else t)

        def clock_gettime_ns(clk_id: int) -> int:
            if clk_id == getattr(_time, "CLOCK_REALTIME", None):
                return wall()
            if clk_id in _STEADY:
                return steady()
            return _time.clock_gettime_ns(clk_id)

        def clock_gettime(clk_id: int) -> float:
            return clock_gettime_ns(clk_id) / 1e9

        time: dict[str, object] = {
            "time": lambda: wall() / 1e9,
            "time_ns": lambda: wall(),
            "monotonic": monotonic,
            "monotonic_ns": lambda: steady(),
            "perf_counter": lambda: monotonic(),
            "perf_counter_ns": lambda: steady(),
            "clock_gettime": clock_gettime,
            "clock_gettime_ns": clock_gettime_ns,
            "localtime": of_now(_time.localtime),
            "gmtime": of_now(_time.gmtime),
            "ctime": of_now(_time.ctime),
            "asctime": asctime,
            "strftime": strftime,
        }
        return {"time": time, "datetime": {"datetime": _faked_datetime(wall), "date": _faked_date(wall)}}


_STEADY = {getattr(_time, name, None) for name in ("CLOCK_MONOTONIC", "CLOCK_MONOTONIC_RAW", "CLOCK_BOOTTIME")} - {None}


def _nanoseconds(moment: Moment) -> int:
    """Converts a moment to nanoseconds since 1970."""
    if isinstance(moment, str):
        text = moment.strip()
        moment = _datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text[-1:] in "Zz" else text)
    if isinstance(moment, _datetime.date) and not isinstance(moment, _datetime.datetime):
        moment = _datetime.datetime(moment.year, moment.month, moment.day)
    if isinstance(moment, _datetime.datetime):
        since = moment.astimezone(_datetime.timezone.utc) - _datetime.datetime(1970, 1, 1, tzinfo=_datetime.timezone.utc)
        return (since.days * 86400 + since.seconds) * 10**9 + since.microseconds * 1000
    return round(moment * 1e9)


class _AsTheReal(type):
    """Instances of the real class are also instances of the fake."""

    _assay_real: type

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls._assay_real)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls._assay_real)


def _faked_datetime(wall: Callable[[], int]) -> type:
    genuine = _datetime.datetime

    class datetime(_datetime.datetime, metaclass=_AsTheReal):
        _assay_real = genuine

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            return genuine(*args, **kwargs)

        @classmethod
        def now(cls, tz: _datetime.tzinfo | None = None) -> Any:
            return genuine.fromtimestamp(wall() / 1e9, tz)

        @classmethod
        def utcnow(cls) -> Any:
            return genuine.fromtimestamp(wall() / 1e9, _datetime.timezone.utc).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return genuine.fromtimestamp(wall() / 1e9)

    return datetime


def _faked_date(wall: Callable[[], int]) -> type:
    genuine = _datetime.date

    class date(_datetime.date, metaclass=_AsTheReal):
        _assay_real = genuine

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            return genuine(*args, **kwargs)

        @classmethod
        def today(cls) -> Any:
            return genuine.fromtimestamp(wall() / 1e9)

    return date
