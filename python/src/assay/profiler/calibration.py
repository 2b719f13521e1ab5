"""Measures what a profiled call costs on top of itself, once per process, at the first start: about five milliseconds.

Both parts are the least of many short rounds, since disturbance only ever adds. Generators and coroutines are not calibrated.
"""

from __future__ import annotations

import time

from . import engine, wrappers

_ROUNDS, _CALLS = 40, 100
_costs: tuple[float, float] | None = None


def _nothing() -> None:
    pass


def _again(self_or_none=None) -> None:
    # A call directly within one of its own label: what it calls is filled in below.
    _again.inner()


def _loop(function, clock=time.perf_counter_ns) -> float:
    began = clock()
    for _ in _range:
        function()
    return (clock() - began) / _CALLS


def _empty_loop(clock=time.perf_counter_ns) -> float:
    began = clock()
    for _ in _range:
        pass
    return (clock() - began) / _CALLS


_range = range(_CALLS)


def costs(label: int, activate, deactivate) -> tuple[float, float]:
    """`(inner, outer)` in nanoseconds. `label` is a number that no name has; the two functions count recordings up and down."""
    global _costs
    if _costs is not None:
        return _costs
    engine.set_costs(0.0, 0.0, 0.0)
    probe = wrappers.wrap(_nothing, label)
    _again.inner = probe
    outer_probe = wrappers.wrap(_again, label)
    recording = engine.Recording(None)
    token = engine.current.set(recording)
    activate()
    try:
        recorded = profiled = plain = empty = direct = repeated = float("inf")
        for _ in range(_ROUNDS):
            before = _inclusive(recording, label)
            profiled = min(profiled, _loop(probe))
            recorded = min(recorded, (_inclusive(recording, label) - before) / _CALLS)
            plain = min(plain, _loop(_nothing))
            empty = min(empty, _empty_loop())
            repeated = min(repeated, _loop(outer_probe))
            _again.inner = _nothing
            direct = min(direct, _loop(outer_probe))
            _again.inner = probe
    finally:
        deactivate()
        engine.current.reset(token)
        recording.active = False
        _again.inner = _nothing
    outer = max(0.0, profiled - plain)
    inner = min(outer, max(0.0, recorded - (plain - empty)))
    engine.set_costs(inner, outer, min(outer, max(0.0, repeated - direct)))
    _costs = (inner, outer)
    return _costs


def _inclusive(recording, label: int) -> float:
    return recording.snapshot().get(label, (0, 0, 0, 0.0))[3]
