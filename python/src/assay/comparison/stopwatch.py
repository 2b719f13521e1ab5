"""Measures the cost of a batch: wall time and CPU time, and separately the time of the garbage
collector and the number of allocations.

The clocks are those of `_clock.py`, which tests cannot stop. All times are whole nanoseconds.
"""

from __future__ import annotations

import functools
import gc
from contextlib import contextmanager
from typing import Iterator, NamedTuple

from .._clock import now
from ..profiler import engine
from .side import Side


class Reading(NamedTuple):
    """The cost of one batch."""

    #: Nanoseconds of wall time.
    nanoseconds: int
    #: Nanoseconds of the process's CPU time.
    cpu: int


def read(side: Side, times: int) -> Reading:
    """Runs a batch of the side, `times` iterations."""
    return Reading(*side.read(times))


class Collections:
    """The garbage collector's activity during a measurement."""

    def __init__(self) -> None:
        self.count: int = 0
        self.nanoseconds: int = 0
        self._began = 0

    def told(self, phase: str, _info: dict[str, int]) -> None:
        """For `gc.callbacks`."""
        if phase == "start":
            self._began = now()
        else:
            self.count += 1
            self.nanoseconds += now() - self._began


@contextmanager
def collections() -> Iterator[Collections]:
    """Watches the garbage collector in the `with` block. Its callbacks cost time, so nothing that
    counts is measured in the block."""
    found = Collections()
    gc.callbacks.append(found.told)
    try:
        yield found
    finally:
        gc.callbacks.remove(found.told)


def allocations(side: Side, times: int) -> float | None:
    """Returns how often the side calls the interpreter's allocators, per iteration: an int if it is
    a whole number. None without the accelerator."""
    if engine.count_allocations is None:
        return None
    once, _ = engine.count_allocations(functools.partial(side.run, times))
    twice, _ = engine.count_allocations(functools.partial(side.run, 2 * times))
    count = max(0, twice - once)  # Both include the allocations of the loop itself.
    return count // times if count % times == 0 else count / times
