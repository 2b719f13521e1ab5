"""Measures the additional cost of a profiled call, once per process, at the first start: about five
milliseconds.

Both parts are the minimum of many short rounds, since interference can only add time. Generators
and coroutines are not calibrated.
"""

from __future__ import annotations

import types
from typing import Any, Callable, Sequence

from .._clock import now
from . import engine, monitoring, wrappers

_ROUNDS, _CALLS = 40, 100
_costs: tuple[float, float] | None = None
_monitored_costs: tuple[float, float] | None = None


def _nothing() -> None:
    pass


def _again() -> None:
    # A call directly within one of its own label.
    _inner()


#: Called by `_again`.
_inner: Callable[[], object] = _nothing


def _loop(function: Callable[[], object], clock: Callable[[], int] = now) -> float:
    began = clock()
    for _ in _range:
        function()
    return (clock() - began) / _CALLS


def _empty_loop(clock: Callable[[], int] = now) -> float:
    began = clock()
    for _ in _range:
        pass
    return (clock() - began) / _CALLS


_range = range(_CALLS)


def costs(*, monitored: bool) -> tuple[float, float]:
    """Returns `(inner, outer)` of one call, in nanoseconds: of a wrapper, or of a call reported by
    `sys.monitoring`."""
    return (_monitored_costs if monitored else None) or _costs or (0.0, 0.0)


def is_done(monitored: object) -> bool:
    """Returns whether the costs are known, those of `sys.monitoring` included if they are needed.
    Called at every start."""
    return _costs is not None and (not monitored or _monitored_costs is not None)


def calibrate(label: int, count: Callable[[int], object], *, monitored: bool) -> None:
    """Determines the missing costs. `label` is an unused number; `count` counts recordings, up with
    1, down with -1."""
    global _costs, _monitored_costs
    if _costs is None:
        probes: list[Any] = [wrappers.wrap(_nothing, label), wrappers.wrap(_again, label)]
        _costs = _measure(probes, label, count, monitored=False)
    if monitored and _monitored_costs is None:
        probes = [types.FunctionType(one.__code__.replace(), globals()) for one in (_nothing, _again)]
        for probe in probes:
            monitoring.watch(probe.__code__, label)
        try:
            _monitored_costs = _measure(probes, label, count, monitored=True)
        finally:
            for probe in probes:
                monitoring.unwatch(probe.__code__)


def _measure(
    probes: Sequence[Any], label: int, count: Callable[[int], object], *, monitored: bool
) -> tuple[float, float]:
    engine.set_costs(0.0, 0.0, 0.0, monitored=monitored)
    global _inner
    probe, outer_probe = probes
    _inner = probe
    recording = engine.Recording(None)
    token = engine.current.set(recording)
    count(1)
    try:
        recorded = profiled = plain = empty = direct = repeated = float("inf")
        for _ in range(_ROUNDS):
            before = _inclusive(recording, label)
            profiled = min(profiled, _loop(probe))
            recorded = min(recorded, (_inclusive(recording, label) - before) / _CALLS)
            plain = min(plain, _loop(_nothing))
            empty = min(empty, _empty_loop())
            repeated = min(repeated, _loop(outer_probe))
            _inner = _nothing
            direct = min(direct, _loop(outer_probe))
            _inner = probe
    finally:
        count(-1)
        engine.current.reset(token)
        recording.active = False
        _inner = _nothing
    outer = max(0.0, profiled - plain)
    inner = min(outer, max(0.0, recorded - (plain - empty)))
    engine.set_costs(inner, outer, min(outer, max(0.0, repeated - direct)), monitored=monitored)
    return inner, outer


def _inclusive(recording: Any, label: int) -> float:
    return float(recording.snapshot().get(label, (0, 0, 0, 0.0))[3])
