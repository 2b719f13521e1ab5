"""Decides whether CPU time can replace wall time, that is, whether the sides wait (for a clock, a
disk, another program, another thread) or only compute. Time during which a side is runnable but
other programs have the processor does not count as waiting: Linux reports it separately. The
decision must not depend on how long the sides take relative to each other."""

from __future__ import annotations

import os
import statistics
from typing import Callable, TypeVar

from .._clock import cpu, cpu_of_thread, now
from .side import Side

T = TypeVar("T")

#: A side that waits for less than this share of its time counts as computing; no verdict can be off
#: by more.
_MOST = 0.01


class Waiting:
    """The share of its time that each side waits."""

    def __init__(self, sides: list[Side]) -> None:
        self._shares: dict[str, list[float]] = {side.name: [] for side in sides}
        self._awaits = [side.name for side in sides if side.awaits]
        # Time that this thread spent in the run queue. If the kernel does not report it, a busy
        # machine looks like waiting.
        self._queue: int | None = None
        try:
            self._queue = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
            self.queued()
        except (OSError, IndexError, ValueError):
            self.close()

    def queued(self) -> int:
        """Returns the nanoseconds that this thread has spent in the run queue."""
        return int(os.pread(self._queue, 80, 0).split()[1]) if self._queue is not None else 0

    def close(self) -> None:
        """Closes the file it reads."""
        if self._queue is not None:
            os.close(self._queue)
            self._queue = None

    def watch(self, side: Side, work: Callable[[], T]) -> T:
        """Calls `work`, which runs only this side, and returns its value."""
        before = self._read()
        result = work()
        wall, computed, queued, all_threads = (after - one for after, one in zip(self._read(), before))
        self._shares[side.name].append(max(0, wall - computed - queued, all_threads - computed) / max(1, wall))
        return result

    def shares(self) -> dict[str, float]:
        """Returns the share of its time that each side waits, or lets other threads compute. It is
        the median of the batches, since a short pause of a virtual machine looks like waiting."""
        return {name: statistics.median(shares) if shares else 0.0 for name, shares in self._shares.items()}

    def longest(self) -> tuple[str, float] | None:
        """Returns the side that waits most, with its share; None if all of them compute. Awaited
        work may wait, however little it did so."""
        name, share = max(self.shares().items(), key=lambda each: each[1])
        if self._awaits and share <= _MOST:
            return self._awaits[0], self.shares()[self._awaits[0]]
        return (name, share) if share > _MOST else None

    def _read(self) -> tuple[int, int, int, int]:
        return now(), cpu_of_thread(), self.queued(), cpu()
