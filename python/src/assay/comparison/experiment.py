"""The experiment: sides are warmed up and calibrated, then measured in blocks (each side once per
block, in random order) until the answer is known or the time is up. The program `assay` decides
whether the answer is known; this module only measures.

The garbage collector stays enabled, since its time is part of a program's cost. Garbage from the
warm-up and from running `assay` is collected outside the timed section. Within the blocks every
side pays for its own: collections are triggered only by allocating, so batches of a side that
allocates are made long enough for several collections, and none is pushed out of the timed section.
"""

from __future__ import annotations

import functools
import gc
import math
import random
import sys
from typing import Any, Callable

from .. import binary
from .._clock import now
from . import driving, stopwatch
from .plan import FEWEST_BLOCKS, LONG_BLOCK, MOST_BLOCKS, Plan, look_after
from .recording import CPU, WALL, Recording
from .side import Side
from .waiting import Waiting

#: Shortest batch, in nanoseconds: long compared to reading the clock, short compared to the
#: scheduler's time slices on a busy machine.
_BATCH = 1_000_000
#: Number of collections that a batch of an allocating side should contain, and the limit up to
#: which it is lengthened for them.
_COLLECTIONS = 4
_LONGEST_BATCH = 50_000_000
#: Sides whose iteration times differ by at most this factor run the same number of iterations.
_ALIKE = 1.1
#: Factor by which the time limit may be exceeded to complete ten blocks, since fewer cannot give a
#: verdict.
_STRETCH = 10
#: Maximum number of iterations over which allocations are counted.
_COUNTED = 1000
#: Limits of the warm-up, in iterations per batch and in batches, for sides that take no measurable
#: time.
_MOST_ITERATIONS = 1 << 40
_MOST_BATCHES = 10_000
#: Minimum nanoseconds between two progress updates, since writing to a terminal takes time.
_PAUSE = 200_000_000


class Experiment:
    """A running comparison; with `scan`, a name, of one function at several sizes.

    `bare` is for assertions: only times are measured, nothing is displayed, and the plan's time
    limit applies even if it is too short for ten blocks.
    """

    def __init__(self, sides: list[Side], plan: Plan, *, scan: str | None = None, bare: bool = False) -> None:
        self.recording: Recording = Recording(sides, plan, scan)
        #: The program's latest analysis; None if it never ran.
        self.analysis: dict[str, Any] | None = None
        #: The garbage collector's share of each side's time, by name.
        self.collecting: dict[str, float] = {}
        #: The shares of time that sides spend waiting.
        self.waiting: Waiting = Waiting(sides)
        self._sides = sides
        self._plan = plan
        self._random = random.Random(plan.seed)
        self._bare = bare
        self._progress = Progress() if not bare and sys.stderr is not None and sys.stderr.isatty() else None

    def run(self, settled: Callable[[dict[str, Any]], bool] | None) -> None:
        """Measures until `settled`, given the program's analysis, returns true, or until the plan's
        time is up. After an exception, the recording has only complete blocks."""
        try:
            self._calibrate()
            self.recording.know(
                iterations={side.name: side.iterations for side in self._sides},
                forms={side.name: side.form for side in self._sides},
                collecting=self.collecting,
            )
            if not self._bare:
                self._count()
            gc.collect()
            self.recording.stop = self._measure(settled)
        except KeyboardInterrupt:
            self.recording.stop = "interrupted"
            raise
        finally:
            self.recording.know(waiting=self.waiting.shares())
            self._choose_clock()
            self.waiting.close()
            driving.close()
            if self._progress:
                self._progress.clear()

    def _count(self) -> None:
        # Two passes, after one for the objects that the interpreter allocates when code first runs.
        for number in range(3):
            counted = [stopwatch.allocations(side, min(side.iterations, _COUNTED)) for side in self._sides]
            if number and None not in counted:
                self.recording.count([count for count in counted if count is not None])

    def _measure(self, settled: Callable[[dict[str, Any]], bool] | None) -> str:
        budget = self._plan.time * len(self._sides) * 1e9
        stretch = 1 if self._bare else _STRETCH
        measured = self._block()
        look = FEWEST_BLOCKS if measured > LONG_BLOCK * 1e9 else look_after(0)
        while True:
            measured += self._block()
            blocks = self.recording.blocks
            if self._progress:
                self._progress.tell(blocks, measured, budget)
            over = ""
            if blocks >= MOST_BLOCKS:
                over = "blocks"
            elif measured >= budget * (stretch if blocks < FEWEST_BLOCKS else 1):
                over = "budget"
            if settled and (blocks >= look or over):
                look = look_after(blocks)
                self.recording.stop = over or "clear"
                if settled(self._ask()):
                    return self.recording.stop
            if over:
                return over

    def _block(self) -> int:
        """Measures one block and returns its duration in nanoseconds."""
        began = now()
        order = list(range(len(self._sides)))
        self._random.shuffle(order)
        turns = []
        for index in order:
            side = self._sides[index]
            reading = self.waiting.watch(side, functools.partial(stopwatch.read, side, side.iterations))
            turns.append((index, reading.nanoseconds / side.iterations * 1e-9, reading.cpu / side.iterations * 1e-9))
        self.recording.block(turns)
        return now() - began

    def _choose_clock(self) -> None:
        # This rule must not depend on the difference: wall time decides if a side waited in the
        # samples so far.
        if self._plan.clock == "auto":
            self.recording.primary = WALL if self.waiting.longest() else CPU

    def _ask(self) -> dict[str, Any]:
        self._choose_clock()
        with self.recording.with_file() as path:
            self.analysis = binary.compare(path)
        gc.collect()  # Garbage from asking must not be collected during a side's batch.
        return self.analysis

    def _calibrate(self) -> None:
        # Batches of all sides take equally long. With equal iteration counts the slower side's
        # batches would be longer, more of them would be interrupted on a busy machine, and a factor
        # of 2 would be reported as 5.
        costs, batches = zip(*(self._warm_up(side) for side in self._sides))
        fastest, slowest = min(costs), max(costs)
        length = max(*batches, min(slowest, _LONGEST_BATCH))
        for side, cost in zip(self._sides, costs):
            shared = slowest if slowest <= fastest * _ALIKE else cost
            side.iterations = max(1, min(1 << 40, math.ceil(length / shared)))

    def _warm_up(self, side: Side) -> tuple[float, float]:
        """Runs the side for the warm-up time in batches of doubling size. Returns the minimum time
        per iteration and the target length of a batch, both in nanoseconds."""
        times, spent, long, batches, taken = 1, 0, 0, 0, 0
        # Two long ones in a row, since a single one may be a short batch that was interrupted.
        while (long < 2 or spent < self._plan.warmup * 1e9) and times < _MOST_ITERATIONS and batches < _MOST_BATCHES:
            batches += 1
            taken = self._undisturbed(side, times)
            spent += taken
            long = 0 if taken < _BATCH else long + (1 if taken < _LONGEST_BATCH else 2)
            if taken < _BATCH:
                times *= 2
        if taken >= _LONGEST_BATCH:  # Such a call includes all its collections; further ones before the first block add no information.
            self.collecting[side.name] = 0.0
            return taken / times, _BATCH
        return self._watch(side, times)

    def _watch(self, side: Side, times: int) -> tuple[float, float]:
        """Returns the same; batches of a side that allocates are longer, since collections happen
        at intervals, and half a collection is not a fair share."""
        readings: list[int] = []
        spent = 0
        with stopwatch.collections() as collections:
            while spent < _LONGEST_BATCH and len(readings) < _MOST_BATCHES:
                readings.append(self._undisturbed(side, times))
                spent += readings[-1]
        self.collecting[side.name] = collections.nanoseconds / max(1, spent)
        cost = max(min(readings) / times, 1e-3)
        if not collections.count:
            return cost, _BATCH
        return cost, max(_BATCH, min(_LONGEST_BATCH, spent / collections.count * _COLLECTIONS))

    def _undisturbed(self, side: Side, times: int) -> int:
        """Returns the nanoseconds of a batch, without the time that other programs used the
        processor. Otherwise a side could look a thousand times as slow on a busy machine, and get
        batches so short that its iterations are measured with cold caches."""
        queued = self.waiting.queued()
        reading = stopwatch.read(side, times)
        # At least the CPU time: the thread may have been queued before the clock was read.
        return max(reading.nanoseconds - (self.waiting.queued() - queued), reading.cpu, 1)


def loop_cost() -> float:
    """Returns the nanoseconds per iteration for the loop and the call of an empty function, the
    minimum of several batches. This is included in the time of every side whose function does not
    loop itself."""
    empty = Side("nothing", lambda: None)
    return min(stopwatch.read(empty, 20_000).nanoseconds for _ in range(10)) / 20_000


class Progress:
    """Shows progress on a terminal between blocks, in a line that overwrites itself."""

    def __init__(self) -> None:
        self._next = 0

    def tell(self, blocks: int, measured: float, budget: float) -> None:
        """Shows the number of blocks and the elapsed and total nanoseconds."""
        if now() >= self._next:
            self._next = now() + _PAUSE
            sys.stderr.write(f"\rassay: block {blocks}, {measured / 1e9:.1f} s of {budget / 1e9:.1f} s at most ")
            sys.stderr.flush()

    def clear(self) -> None:
        """Erases the line."""
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
