"""The fixture `benchmark`: measures one function, and asserts nothing. It reports the median
duration of a call. To find out whether a change made it faster, use `assert_faster`, or `assay run
--samples` on both revisions, which reads these values."""

from __future__ import annotations

import statistics
from typing import Any, Callable, NamedTuple, TypeVar

from .. import samples
from .._clock import now
from ..comparison import driving, work
from ..comparison.side import Side

T = TypeVar("T")

#: Measuring time in seconds, maximum number of batches, and minimum nanoseconds of a batch.
_SECONDS = 0.5
_BATCHES = 200
_SHORTEST = 100_000


class Measurement(NamedTuple):
    """The durations of calls, in seconds."""

    #: The test, and the name of the measurement if it has one.
    name: str
    #: Statistics of the batches: the median, its quartiles, the minimum.
    median: float
    lower: float
    upper: float
    least: float
    #: Number of batches, and calls per batch.
    batches: int
    calls: int


class Benchmark:
    """Measures a function: `benchmark(function, *args, **kwargs)` returns the function's result.
    `measured` is the last measurement."""

    def __init__(self, name: str, found: list[Measurement]) -> None:
        self._name = name
        self._found = found
        #: The last measurement; None before the first.
        self.measured: Measurement | None = None

    def __call__(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        """Calls the function for half a second, or once if a call takes longer. Coroutine functions
        are run, generators consumed to their end; the result is then None."""
        results: list[Any] = [None]
        kind = work.kind_of(function)
        if kind == work.PLAIN:
            results[0] = function(*args, **kwargs)
            kind = work.kind_of_result(getattr(function, "__name__", "the function"), results[0])
        side = Side(self._name, _bound(function, kind, args, kwargs))
        try:
            self._measure(side)
        finally:
            driving.close()
        result: T = results[0]
        return result

    def pedantic(
        self,
        function: Callable[..., T],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        **_how: Any,
    ) -> T:
        """Like a call of the fixture: the number of rounds is determined here."""
        return self(function, *args, **(kwargs or {}))

    def _measure(self, side: Side) -> None:
        times, took = 1, side.read(1)[0]
        while took < _SHORTEST and times < 1 << 30:
            times *= 2
            took = side.read(times)[0]
        end = now() + int(_SECONDS * 1e9)
        batches = [took]
        while now() < end and len(batches) < _BATCHES:
            batches.append(side.read(times)[0])
        each = sorted(nanoseconds / times * 1e-9 for nanoseconds in batches)
        lower, _, upper = statistics.quantiles(each, n=4) if len(each) > 1 else (each[0],) * 3
        self.measured = Measurement(self._name, statistics.median(each), lower, upper, each[0], len(each), times)
        self._found.append(self.measured)
        if samples.wanted():
            samples.values(self._name[:100], [seconds * 1e9 for seconds in each], unit="ns")


def _bound(function: Any, kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kind == work.COROUTINE:

        async def coroutine() -> None:
            await function(*args, **kwargs)

        return coroutine
    if kind == work.ASYNC_GENERATOR:

        async def consume() -> None:
            await work.consume(function(*args, **kwargs))

        return consume
    if kind == work.GENERATOR:
        return lambda: work.drain(function(*args, **kwargs))
    if not args and not kwargs:
        return lambda: function()
    return lambda: function(*args, **kwargs)


def table(found: list[Measurement]) -> list[str]:
    """Returns a line for each measurement."""
    width = max(len(one.name) for one in found)
    return [
        f"{one.name:<{width}}  {_time(one.median):>10}  [{_time(one.lower)} … {_time(one.upper)}]  {one.batches} × {one.calls} calls"
        for one in found
    ]


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"
