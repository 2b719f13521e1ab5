"""The bookkeeping of a profile in pure Python, equivalent to the C code in `csrc/`, for
installations without it.

Executions are nested within a thread, including steps of coroutines. So a few values per thread
replace a stack: every frame saves them in its own locals and restores them. Plain functions do that
in generated code (`wrappers.py`), which is faster than calling anything here; generators and
coroutines go through `Steps`.

Times are stored in seconds, since float sums are the fastest in this interpreter, and returned in
nanoseconds, without the profiler's own cost. This module knows neither names of labels nor when to
stop.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Callable

from .._clock import seconds

if TYPE_CHECKING:
    from .._types import Function

clock: Callable[[], float] = seconds
ident: Callable[[], int] = threading.get_ident

#: The recording of this context; its `active` is true until it is stopped.
current: ContextVar[Recording | None] = ContextVar("assay.profile", default=None)

GENERATOR, COROUTINE, FIRST_ITEM, NEXT_ITEM, CLOSING = range(5)


class Cell:
    """The counts of one label in one thread; the members are those of the C structure of the same
    name."""

    __slots__ = ("calls", "done", "errors", "inclusive", "exclusive", "elapsed", "running", "depth")

    calls: int
    done: int
    errors: int
    depth: int
    inclusive: float
    exclusive: float
    elapsed: float
    running: float

    def __init__(self) -> None:
        self.calls = self.done = self.errors = self.depth = 0
        self.inclusive = self.exclusive = self.elapsed = self.running = 0.0


class Flow:
    """The state of one thread within one recording: its cells by label, and the innermost frame.

    `top` is the cell of that frame, or the `Steps` of a coroutine; None if nothing is being
    executed.
    """

    __slots__ = ("thread", "cells", "top", "child", "priced")

    thread: int
    child: float
    priced: float

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.cells: list[Cell] = []
        self.top: Cell | Steps | None = None
        self.child = 0.0
        self.priced = 0.0

    def cell(self, label: int) -> Cell:
        """Returns the cell of this label, created if missing."""
        while len(self.cells) <= label:
            self.cells.append(Cell())
        return self.cells[label]


class Recording:
    """The counts of one profile, by thread."""

    __slots__ = ("parent", "owner", "active", "flows", "last", "__weakref__")

    parent: Recording | None
    active: bool
    last: Flow

    def __init__(self, parent: Recording | None = None) -> None:
        self.parent = parent
        self.owner: Any = None
        self.active = True
        self.flows: dict[int, Flow] = {}
        #: The most recently used flow: nearly always the one needed.
        self.last = self.flow()

    def flow(self) -> Flow:
        """Returns the flow of this thread."""
        me = ident()
        flow = self.flows.get(me)
        if flow is None:
            flow = self.flows[me] = Flow(me)
        self.last = flow
        return flow

    def snapshot(self) -> dict[int, tuple[Any, ...]]:
        """Returns `{label: (calls, done, errors, inclusive, exclusive, elapsed, running)}`, the sum
        of all threads."""
        sums: dict[int, tuple[Any, ...]] = {}
        for flow in list(self.flows.values()):
            for label, cell in enumerate(flow.cells):
                if cell.calls:
                    before = sums.get(label, (0, 0, 0, 0.0, 0.0, 0.0, 0.0))
                    times = (cell.inclusive, cell.exclusive, cell.elapsed, cell.running)
                    now = (cell.calls, cell.done, cell.errors, *(seconds * 1e9 for seconds in times))
                    sums[label] = tuple(a + b for a, b in zip(before, now))
        return sums

    def absorb(self, other: Recording) -> None:
        """Adds the counts of a profile nested in this one. If a label is being executed here, the
        time is part of its own call, which has not ended yet."""
        into = self.flow()
        me = ident()
        for thread, flow in other.flows.items():
            for label, cell in enumerate(flow.cells):
                total = into.cell(label)
                total.calls += cell.calls
                total.done += cell.done
                total.errors += cell.errors
                total.exclusive += cell.exclusive
                if not total.depth:
                    total.inclusive += cell.inclusive
                    total.elapsed += cell.elapsed
                    total.running += cell.running
            if thread == me:
                into.child += flow.child
                into.priced += flow.priced


class Steps:
    """A proxy between a coroutine or generator and its driver that times each of its steps (see
    `csrc/steps.c`)."""

    __slots__ = ("target", "label", "kind", "recording", "began", "ended", "outermost", "first", "child", "added")

    target: Any
    label: int
    kind: int
    recording: Recording
    began: bool
    ended: bool
    outermost: bool
    first: float
    child: float
    added: float

    def __init__(self, target: Any, label: int, kind: int, recording: Recording) -> None:
        self.target = target
        self.label = label
        self.kind = kind
        self.recording = recording
        self.began = self.ended = self.outermost = False
        self.first = 0.0
        self.child = self.added = 0.0

    def __iter__(self) -> Steps:
        return self

    __await__ = __iter__

    def __next__(self) -> Any:
        return self._step(self.target.send, (None,))

    def send(self, value: object) -> Any:
        return self._step(self.target.send, (value,))

    def throw(self, *args: Any) -> Any:
        return self._step(self.target.throw, args)

    def close(self) -> Any:
        if not self.began:
            return self.target.close()
        return self._step(self.target.close, (), closing=True)

    def _step(self, call: Function, args: tuple[Any, ...], closing: bool = False) -> Any:
        if not self.recording.active or self.ended:
            return call(*args)
        flow = self.recording.flow()
        cell = flow.cell(self.label)
        coroutine = self.kind != GENERATOR
        first = not self.began
        if first:
            self.began = True
            self.outermost = cell.depth == 0
            if self.kind <= FIRST_ITEM:
                cell.calls += 1
        top, child = flow.top, flow.child
        priced = flow.priced
        cell.depth += 1
        flow.top, flow.child = (self, self.child) if coroutine else (cell, 0.0)
        over = whole = error = False
        began = clock()
        if first:
            self.first = began
        try:
            result = call(*args)
            over = whole = closing
            return result
        except StopIteration:
            over = True
            whole = self.kind not in (FIRST_ITEM, NEXT_ITEM)
            raise
        except BaseException as problem:
            over = whole = True
            error = not isinstance(problem, (GeneratorExit, StopAsyncIteration))
            raise
        finally:
            now = clock()
            taken = now - began - (flow.priced - priced)
            beneath = flow.child
            cell.depth -= 1
            flow.top, flow.child = top, child
            in_coroutine = type(top) is Steps
            self.ended = over
            if not coroutine:
                if not cell.depth:
                    cell.inclusive += taken
                cell.exclusive += taken - beneath
                flow.child += taken
            else:
                self.child = beneath
                if not cell.depth:
                    cell.running += taken
                if not in_coroutine:
                    # Driven by an event loop, for example within a profiled function, which loses
                    # the steps, not the waits.
                    flow.child += taken
                    self.added += taken
                if over:
                    elapsed = now - self.first
                    if self.outermost:
                        cell.elapsed += elapsed
                    cell.exclusive += elapsed - self.child
                    if in_coroutine:
                        flow.child += elapsed - self.added
            cell.done += whole
            cell.errors += error
