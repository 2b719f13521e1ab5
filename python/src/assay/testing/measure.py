"""Measures functions against each other: in blocks, each function once per block in random order, so that what disturbs the machine
disturbs all of them. Decides nothing: what was measured becomes a sample file, and `assay compare` decides.

The clocks are taken when this module is imported, so that a test may fake them for the code that it measures.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import tempfile
import time
import types
from typing import Any, Callable, Sequence

from .. import __version__, binary

_CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}
_now = time.perf_counter
_BATCH_NS = 2_000_000
_MOST_LOOPS = 1 << 24
#: The level of each look of a run that stops by itself; see "sequential" in docs/reference/sample-file.md.
_LOOK_LEVEL = 0.002
_MOST_BLOCKS = 1024


def _loop(function: Callable[[], object], loops: int, clock: Callable[[], int]) -> int:
    turns = itertools.repeat(None, loops)
    began = clock()
    for _ in turns:
        function()
    return clock() - began


class Subject:
    """A function with its name, and in a scan the size that it gets."""

    def __init__(
        self, name: str, function: Callable[[], object], label: str | None = None, size: float | None = None
    ) -> None:
        self.name = name
        self.function = function
        self.label = label
        self.size = size
        # Code of its own: Python makes a call fast for the function that it finds there, and the other would pay.
        self.loop: Any = types.FunctionType(_loop.__code__.replace(), globals())


class Experiment:
    """Measures subjects block by block. The first is the reference. `clock` is `wall` or `cpu` (of this process)."""

    def __init__(self, subjects: Sequence[Subject], *, clock: str = "wall", threshold: float = 0.01) -> None:
        if clock not in _CLOCKS:
            raise ValueError(f"`clock` is 'wall' or 'cpu', not {clock!r}")
        self.subjects: list[Subject] = list(subjects)
        self.threshold = threshold
        self.seed: int = random.SystemRandom().randrange(1 << 53)
        self._random = random.Random(self.seed)
        self._clock = _CLOCKS[clock]
        self._loops = [self._calibrated(subject) for subject in self.subjects]
        if subjects and subjects[0].size is None:
            # Sides of a comparison repeat equally often, so that nothing but the function differs.
            self._loops = [max(1, min(self._loops))] * len(self.subjects)
        self._observations: list[dict[str, Any]] = []
        self._began = _now()
        self.blocks: int = 0

    def _calibrated(self, subject: Subject) -> int:
        # Also warms up: the code is specialised and the caches are filled after it.
        loops = 1
        while True:
            taken = self._timed(subject, loops)
            if taken >= _BATCH_NS or loops >= _MOST_LOOPS:
                return loops
            loops = min(
                _MOST_LOOPS, max(loops * 2, int(loops * 1.2 * _BATCH_NS / max(taken, 1)) if taken > 50_000 else 0)
            )

    def _timed(self, subject: Subject, loops: int) -> int:
        return int(subject.loop(subject.function, loops, self._clock))

    def measure(self, blocks: int) -> None:
        """Takes so many blocks more."""
        for _ in range(blocks):
            order = list(range(len(self.subjects)))
            self._random.shuffle(order)
            for position, index in enumerate(order):
                at = _now() - self._began
                loops = self._loops[index]
                seconds = self._timed(self.subjects[index], loops) / loops / 1e9
                # A clock that does not move within a batch is too coarse for it, and no value.
                values = {"time": seconds} if seconds > 0 else {}
                self._observations.append(
                    {"kind": "obs", "subject": index, "block": self.blocks, "pos": position, "t": at, "values": values}
                )
            self.blocks += 1

    def report(self, stop: str, keep: Sequence[int] | None = None) -> dict[str, Any]:
        """What `assay compare` says of all blocks so far; of some subjects only, where `keep` gives their indices."""
        kept = list(range(len(self.subjects))) if keep is None else list(keep)
        number = {index: place for place, index in enumerate(kept)}
        plan = {
            "confidence": 0.95,
            "threshold": {"relative": self.threshold},
            "stop": {"rule": "sequential", "look_level": _LOOK_LEVEL, "max_blocks": _MOST_BLOCKS},
            "warmup": 0,
            "primary": "time",
            "seed": self.seed,
        }
        tool = f"assay for Python {__version__}"
        records: list[dict[str, Any]] = [
            {"assay": 1, "kind": "run", "tool": tool, "seed": self.seed, "argv": [], "plan": plan}
        ]
        # In a scan one function is one side, whatever its size.
        side_of = [self.subjects[index].label or self.subjects[index].name for index in kept]
        sides = list(dict.fromkeys(side_of))
        records.extend({"kind": "side", "name": name} for name in sides)
        records.append({"kind": "row", "name": ""})
        for index, side in zip(kept, side_of):
            subject = self.subjects[index]
            record: dict[str, Any] = {"kind": "subject", "side": sides.index(side), "row": 0, "name": subject.name}
            if subject.size is not None:
                size = subject.size if isinstance(subject.size, int) else str(subject.size)
                record.update(parameters=[["n", size]])
            records.append(record)
        records.append({"kind": "metric", "name": "time", "unit": "s", "better": "lower"})
        for observation in self._observations:
            if observation["subject"] in number:
                records.append({**observation, "subject": number[observation["subject"]]})
        records.append({"kind": "stop", "reason": stop, "blocks": self.blocks})
        handle, path = tempfile.mkstemp(suffix=".assay")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(record) + "\n" for record in records)
            return binary.compare(path)
        finally:
            os.unlink(path)


def decide(
    experiment: Experiment,
    settled: Callable[[dict[str, Any]], bool],
    budget: float,
    keep: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Measures until `settled` says that a report answers the question, or until `budget` seconds are over; gives the last report.

    Looks after 10 blocks, the fewest that can tell anything, and then after half as many more each time. Every interval holds however
    often one looked.
    """
    binary.find()  # Before anything is measured for nothing.
    end = _now() + budget
    target = 10
    while True:
        while experiment.blocks < target and (experiment.blocks < 1 or _now() < end):
            experiment.measure(1)
        over = _now() >= end or experiment.blocks >= _MOST_BLOCKS
        report = experiment.report("budget" if over else "clear", keep)
        if over or settled(report):
            return report
        target = min(_MOST_BLOCKS, target + target // 2)
