"""`assay.compare` finds out which of several pieces of Python code is faster, by how much, and with
what confidence. It calibrates, measures in blocks of random order, and periodically asks the
program `assay` for the verdict. It computes no statistics itself.

    import assay

    assay.compare(join=lambda: ",".join(words), add=lambda: add(words), time=2, threshold="2%")

prints the verdict with its interval, and the allocations per iteration. It stops as soon as the
answer is clear: `faster`, `slower`, or `equivalent` (any difference is below the threshold). If the
time runs out first, the verdict is `inconclusive` with the bound known so far: a lack of data is
never taken for a lack of difference.

Under `assay run --samples`, the nanoseconds per iteration of every side are passed on as values of
metrics with the sides' names, and the allocations as `NAME allocations`.
"""

from __future__ import annotations

import json as _json
import re
import sys
from typing import Any, Callable, Mapping, Union

from .. import binary, samples
from .experiment import Experiment, loop_cost
from .plan import Plan
from .result import Comparison, Interval, Result
from .side import Side

__all__ = ["Comparison", "Interval", "Result", "compare"]

#: The forms of a side: a function without arguments, one that takes the number of iterations and
#: loops itself, or a text.
Code = Union[Callable[[], object], Callable[[int], object], str]


def compare(
    sides: Mapping[str, Code] | None = None,
    /,
    *,
    time: float = 5,
    warmup: float = 0.25,
    threshold: str | float = "1%",
    confidence: str | float = "95%",
    clock: str = "wall",
    seed: int | None = None,
    globals: dict[str, Any] | None = None,
    save: str | None = None,
    json: str | None = None,
    quiet: bool = False,
    **more: Code,
) -> Result:
    """Compares these named sides with the first of them: `compare(old=f, new=g)`, or
    `compare({"with a blank": f, "new": g})`.

    A side is a function, whose call is included in the time; a function of one argument, which
    receives the number of iterations and loops itself; or a string, which is compiled into a loop
    with access to `globals`.

    `time`: maximum measuring time per side in seconds. `warmup`: unmeasured warm-up time per side
    in seconds. `threshold`: smallest difference that matters, a share or an amount of time per
    iteration such as "50ns". `confidence`: confidence level of the verdict. `clock`: the deciding
    metric, "wall", or "cpu", the process's CPU time, for machines kept busy by other programs.
    `seed`: seed of the order within blocks. `save`: a file for the samples, for `assay compare
    FILE`; `json`: one for the analysis. `quiet`: prints nothing.

    Raises ValueError for invalid arguments. Raises `BinaryNotFound`, before anything is measured,
    if there is no `assay` program and no measuring process to receive the values.
    """
    plan = Plan(time=time, warmup=warmup, threshold=threshold, confidence=confidence, clock=clock, seed=seed)
    named = {**(sides or {}), **more}
    if len(named) < 2:
        raise ValueError(
            f"there must be two sides at least, and here {'is one' if named else 'are none'}: compare(old=f, new=g)"
        )
    if sides and set(sides) & set(more):
        raise ValueError(f"two sides are called {sorted(set(sides) & set(more))[0]!r}: names tell them apart")
    ours = [Side(name, code, globals) for name, code in named.items()]
    if not samples.wanted():
        binary.find()
    experiment = Experiment(ours, plan)
    try:
        experiment.run(_clear if binary.available() else None)
    except KeyboardInterrupt:  # It is for the program; but the results so far are shown first.
        if experiment.recording.blocks:
            _conclude(ours, experiment, save, json, quiet)
        raise
    return _conclude(ours, experiment, save, json, quiet)


def _clear(analysis: dict[str, Any]) -> bool:
    """Returns whether every comparison is settled, so that further measuring would change
    nothing."""
    return all(Comparison(fields).settled for fields in analysis["comparisons"] if fields["family"] == "primary")


def _conclude(sides: list[Side], experiment: Experiment, save: str | None, json: str | None, quiet: bool) -> Result:
    recording = experiment.recording
    if samples.wanted():
        for index, side in enumerate(sides):
            name = re.sub(r"[\x00-\x1f\x7f]", " ", side.name)
            samples.values(name[:100], [seconds * 1e9 for seconds in recording.times(index)], unit="ns")
            samples.values(f"{name[:88]} allocations", recording.counts(index))
    result = Result(sides, experiment, loop_cost())
    if save:
        result.save(save)
    if json:
        with open(json, "w", encoding="utf-8") as file:
            file.write(_json.dumps(result.to_dict(), indent=2) + "\n")
    if not quiet:
        if binary.available():
            sys.stdout.write(result.screen(colour=binary.colour_wanted(sys.stdout)))
        else:
            sys.stderr.write(
                "assay: the values were handed over; there is no verdict here, since the program `assay` was not found\n"
            )
    return result
