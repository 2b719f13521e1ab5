"""The experiment: sides warmed up and calibrated, then measured in blocks, every side once per block in random order, until the answer is
known or the time is spent. What is known, the program `assay` says; this only measures, and asks.

The garbage collector stays on, since its time is part of what a program costs. What was left over by the warm-up and by asking is
collected outside the clock. Within the blocks every side pays for its own: only allocating sets the collector off, so a batch of a side
that allocates is made long enough to hold several collections, and none is pushed out of the clock.
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

#: Shortest batch, in nanoseconds: long against the clock and its reading, short against the slices that a busy machine deals out.
_BATCH = 1_000_000
#: Collections that a batch should hold where a side allocates, and how long it may become for their sake.
_COLLECTIONS = 4
_LONGEST_BATCH = 50_000_000
#: Sides whose iterations take so much more at most share their number.
_ALIKE = 1.1
#: The time may be exceeded so many times where ten blocks need it, since fewer can't give a verdict.
_STRETCH = 10
#: Iterations over which allocations are counted at most.
_COUNTED = 1000
#: Limits of the warm-up, in iterations of a batch and in batches, for sides that take no measurable time.
_MOST_ITERATIONS = 1 << 40
_MOST_BATCHES = 10_000
#: Nanoseconds between two lines of progress: a terminal costs time, and nobody reads faster.
_PAUSE = 200_000_000


class Experiment:
    """A running comparison; with `scan`, a name, of one thing at several sizes.

    `bare` is for assertions: nothing but times is measured, nothing is drawn, and the plan's time holds also where it is too short for ten
    blocks.
    """

    def __init__(self, sides: list[Side], plan: Plan, *, scan: str | None = None, bare: bool = False) -> None:
        self.recording: Recording = Recording(sides, plan, scan)
        #: What the program said at the last look; None where it was never asked.
        self.analysis: dict[str, Any] | None = None
        #: Share of the garbage collector in each side's time, by name.
        self.collecting: dict[str, float] = {}
        #: Which sides wait, rather than compute.
        self.waiting: Waiting = Waiting(sides)
        self._sides = sides
        self._plan = plan
        self._random = random.Random(plan.seed)
        self._bare = bare
        self._progress = Progress() if not bare and sys.stderr is not None and sys.stderr.isatty() else None

    def run(self, settled: Callable[[dict[str, Any]], bool] | None) -> None:
        """Measures until `settled`, given the program's analysis, says that it is, or until the plan's time is spent. What was recorded
        when an exception ended it is whole blocks."""
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
        # Two passes, after one for what the interpreter makes for itself when code runs anew.
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
        """One block; gives the nanoseconds that it took."""
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
        # By a rule that does not look at the difference: wall time decides where a side waited in what was measured until now.
        if self._plan.clock == "auto":
            self.recording.primary = WALL if self.waiting.longest() else CPU

    def _ask(self) -> dict[str, Any]:
        self._choose_clock()
        with self.recording.with_file() as path:
            self.analysis = binary.compare(path)
        gc.collect()  # What asking left over must not be collected in somebody's batch.
        return self.analysis

    def _calibrate(self) -> None:
        # Batches last equally long on all sides. The same number of iterations for all would make the slower side's batches longer, so
        # that on a busy machine more of them are interrupted, and a difference of 2 would be told as one of 5.
        costs, batches = zip(*(self._warm_up(side) for side in self._sides))
        fastest, slowest = min(costs), max(costs)
        length = max(*batches, min(slowest, _LONGEST_BATCH))
        for side, cost in zip(self._sides, costs):
            shared = slowest if slowest <= fastest * _ALIKE else cost
            side.iterations = max(1, min(1 << 40, math.ceil(length / shared)))

    def _warm_up(self, side: Side) -> tuple[float, float]:
        """Runs the side for the time of the warm-up, in batches that double, and gives what an iteration takes at least and how long a
        batch should be, both in nanoseconds."""
        times, spent, long, batches, taken = 1, 0, 0, 0, 0
        # Two long ones in a row: a short batch that was interrupted is none.
        while (long < 2 or spent < self._plan.warmup * 1e9) and times < _MOST_ITERATIONS and batches < _MOST_BATCHES:
            batches += 1
            taken = stopwatch.read(side, times).nanoseconds
            spent += taken
            long = 0 if taken < _BATCH else long + (1 if taken < _LONGEST_BATCH else 2)
            if taken < _BATCH:
                times *= 2
        if taken >= _LONGEST_BATCH:  # Such a call holds all its collections, and further ones before the first block tell nothing new.
            self.collecting[side.name] = 0.0
            return taken / times, _BATCH
        return self._watch(side, times)

    def _watch(self, side: Side, times: int) -> tuple[float, float]:
        """Batches are longer where a side allocates: collections come every so often, and half a collection is no fair share."""
        readings: list[int] = []
        spent = 0
        with stopwatch.collections() as collections:
            while spent < _LONGEST_BATCH and len(readings) < _MOST_BATCHES:
                readings.append(stopwatch.read(side, times).nanoseconds)
                spent += readings[-1]
        self.collecting[side.name] = collections.nanoseconds / max(1, spent)
        cost = max(min(readings) / times, 1e-3)
        if not collections.count:
            return cost, _BATCH
        return cost, max(_BATCH, min(_LONGEST_BATCH, spent / collections.count * _COLLECTIONS))


def loop_cost() -> float:
    """Nanoseconds that the loop and the call of an empty function take for one iteration, the smallest of several batches: it is in the
    time of every side given as a function that does not loop itself."""
    empty = Side("nothing", lambda: None)
    return min(stopwatch.read(empty, 20_000).nanoseconds for _ in range(10)) / 20_000


class Progress:
    """Tells on a terminal, between two blocks, that something goes on: a line that is written over itself."""

    def __init__(self) -> None:
        self._next = 0

    def tell(self, blocks: int, measured: float, budget: float) -> None:
        """How far it is: blocks taken, and nanoseconds of so many."""
        if now() >= self._next:
            self._next = now() + _PAUSE
            sys.stderr.write(f"\rassay: block {blocks}, {measured / 1e9:.1f} s of {budget / 1e9:.1f} s at most ")
            sys.stderr.flush()

    def clear(self) -> None:
        """Wipes the line."""
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
