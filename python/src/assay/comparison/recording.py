"""Stores the measurements as a sample file (docs/reference/sample-file.md). Blocks are preserved,
so that each side is compared with measurements from the same block. Reads no clocks."""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from contextlib import contextmanager
from typing import Any, Iterator, Sequence

from .. import __version__, _clock
from .plan import Plan
from .side import Side

#: Metrics: wall time and CPU time of the process, in seconds per iteration.
WALL, CPU = "wall", "cpu"
#: Metric: allocator calls per iteration, counted in a separate pass as in `assay run --alloc`.
ALLOCATIONS = "allocations"


class Recording:
    """The samples of one comparison. The sides become the subjects in the same order, the first
    being the reference; with `scan`, a name, they are one subject at several sizes."""

    def __init__(self, sides: list[Side], plan: Plan, scan: str | None = None) -> None:
        #: Number of recorded blocks with times.
        self.blocks: int = 0
        #: Reason for stopping: "clear", "budget", "blocks" or "interrupted".
        self.stop: str | None = None
        #: The clock of the deciding metric.
        self.primary: str = CPU if plan.clock == "auto" else plan.clock
        self._sides = sides
        self._plan = plan
        self._scan = scan
        self._times: list[dict[str, Any]] = []
        self._counted: list[list[float]] = []
        self._facts: dict[str, Any] = {}
        self._started = _clock.utc()

    def know(self, **facts: Any) -> None:
        """Adds facts about the machine or the measurement."""
        self._facts.update(facts)

    def block(self, turns: list[tuple[int, float, float]]) -> None:
        """Adds a block: for each side, in the order of measuring, its index and its wall and CPU
        time per iteration in seconds."""
        for position, (side, wall, cpu) in enumerate(turns):
            values = {WALL: wall, CPU: cpu}
            self._times.append(
                {"kind": "obs", "subject": side, "block": self.blocks, "pos": position, "values": values}
            )
        self.blocks += 1

    def count(self, allocations: list[float]) -> None:
        """Adds a counting pass: the allocations per iteration of every side."""
        self._counted.append(allocations)

    def counts(self, side: int) -> list[float]:
        """Returns the allocation counts of a side by its index: one number per pass."""
        return [counted[side] for counted in self._counted]

    def times(self, side: int) -> list[float]:
        """Returns the seconds per iteration of a side, one per block, by the deciding clock."""
        return [turn["values"][self.primary] for turn in self._times if turn["subject"] == side]

    def write(self, path: str, only: Sequence[int] | None = None) -> None:
        """Writes the file, optionally with only the sides of these indices."""
        kept = range(len(self._sides)) if only is None else only
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in self._lines(kept))

    @contextmanager
    def with_file(self, only: Sequence[int] | None = None) -> Iterator[str]:
        """Yields the path of a temporary file with the samples as written by `write`, deleted after
        the `with` block."""
        handle, path = tempfile.mkstemp(suffix=".assay")
        os.close(handle)
        try:
            self.write(path, only)
            yield path
        finally:
            os.unlink(path)

    def _lines(self, kept: Sequence[int]) -> Iterator[dict[str, Any]]:
        place = {index: number for number, index in enumerate(kept)}
        tool = f"assay for Python {__version__}"
        argv = ["python", *sys.argv[:1]]
        yield {
            "assay": 1,
            "kind": "run",
            "tool": tool,
            "time": self._started,
            "seed": self._plan.seed,
            "argv": argv,
            "plan": {**self._plan.to_dict(), "primary": self.primary},
        }
        python = f"{platform.python_implementation()} {platform.python_version()}"
        yield {"kind": "environment", "python": python, "os": sys.platform, "cpus": os.cpu_count(), **self._facts}
        sides = [self._sides[index] for index in kept]
        for name in [side.name for side in sides] if self._scan is None else [self._scan]:
            yield {"kind": "side", "name": name}
        yield {"kind": "row", "name": ""}
        for index, side in enumerate(sides):
            subject = {"kind": "subject", "side": 0 if self._scan else index, "row": 0, "name": side.name}
            if side.size is not None:
                subject["parameters"] = [["n", side.size if isinstance(side.size, int) else str(side.size)]]
            yield subject
        for clock in (WALL, CPU):
            yield {"kind": "metric", "name": clock, "unit": "s", "better": "lower"}
        if self._counted:
            yield {"kind": "metric", "name": ALLOCATIONS, "unit": "1", "better": "lower", "exact": True}
        for turn in self._times:
            if turn["subject"] in place:
                yield {**turn, "subject": place[turn["subject"]]}
        for number, counted in enumerate(self._counted):
            for index, subject_of in place.items():
                yield {
                    "kind": "obs",
                    "subject": subject_of,
                    "pass": ALLOCATIONS,
                    "block": number,
                    "pos": subject_of,
                    "values": {ALLOCATIONS: counted[index]},
                }
        if self.stop:
            yield {"kind": "stop", "reason": self.stop, "blocks": self.blocks}
