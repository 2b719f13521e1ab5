"""Assertions about speed, growth, allocations and calls. Measurements are judged by the program
`assay`; a question that the measurement cannot answer raises `Inconclusive`, which is neither a
pass nor a failure."""

from __future__ import annotations

import functools
import gc
import math
import os
import re
import sys
import tracemalloc
import unittest
from contextlib import AbstractContextManager
from typing import Any, Callable, Dict, Sequence, TypeVar

from .. import binary
from .._clock import now
from ..comparison.experiment import Experiment
from ..comparison.plan import FEWEST_BLOCKS, Plan
from ..comparison import driving, words, work
from ..comparison.side import Side
from ..profiler import engine
from . import replace


#: The output of `assay compare --json`, or a part of it.
Report = Dict[str, Any]
#: The argument of a function whose growth is measured.
Argument = TypeVar("Argument")


class Inconclusive(unittest.SkipTest):
    """The measurement is inconclusive. Test runners count it as skipped, with the reason."""


_OUTCOMES = ("skip", "fail", "pass")


def settle_inconclusive(how: str | None, reason: str) -> None:
    """Ends an inconclusive assertion: `skip` raises `Inconclusive`, `fail` AssertionError, `pass`
    nothing."""
    __tracebackhide__ = True
    how = how or os.environ.get("ASSAY_INCONCLUSIVE") or "skip"
    if how not in _OUTCOMES:
        raise ValueError(f"`inconclusive` is one of {', '.join(_OUTCOMES)}, not {how!r}")
    if how == "skip":
        raise Inconclusive(reason)
    if how == "fail":
        raise AssertionError(reason)


def share(text: str | float) -> float:
    """Parses `"5%"` or 0.05 into a fraction. Raises ValueError for other values, and negative
    ones."""
    if isinstance(text, str):
        found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*%\s*", text)
        if not found:
            raise ValueError(f"`by` is a share such as '5%' or 0.05, not {text!r}")
        return float(found.group(1)) / 100
    if not 0 <= text < math.inf:
        raise ValueError(f"`by` is a share such as '5%' or 0.05, not {text!r}")
    return float(text)


def _name(function: object, fallback: str) -> str:
    name = str(getattr(function, "__qualname__", fallback)).rsplit("<locals>.", 1)[-1]
    return fallback if name == "<lambda>" else name


#: Unmeasured warm-up time per side in seconds.
_WARMUP = 0.02
#: A plan's threshold must be below 100 %. Assertions do not use it as their bound.
_LARGEST_THRESHOLD = 0.99


def _experiment(
    sides: list[Side], seconds: float, clock: str, threshold: float = 0.01, scan: str | None = None
) -> Experiment:
    binary.find()  # Before anything is measured for nothing.
    plan = Plan(
        time=seconds / len(sides),
        warmup=_WARMUP,
        threshold=min(threshold, _LARGEST_THRESHOLD),
        confidence="95%",
        clock=clock,
        seed=None,
    )
    return Experiment(sides, plan, scan=scan, bare=True)


def _measured(experiment: Experiment, known: Callable[[Report], bool | None]) -> Report:
    """Measures until `known`, given a report, has an answer, or until the time is up; returns the
    last report."""
    experiment.run(lambda report: known(report) is not None)
    return experiment.analysis or {}


def _ratio(report: Report) -> tuple[float, float] | None:
    comparison = report["comparisons"][0]
    ratio = comparison["ratio"]
    if not ratio or ratio["lower"] is None or ratio["upper"] is None:
        return None
    # Differences below the clock's resolution count as none.
    step = (comparison["clock_step"] or 0.0) / 2
    return ratio["lower"] - step, ratio["upper"] + step


def _too_few(experiment: Experiment) -> str:
    if experiment.recording.blocks >= FEWEST_BLOCKS:
        return ""
    return f"; fewer than {FEWEST_BLOCKS} blocks tell nothing: give it more time by seconds="


def _assert_ratio(
    claim: str,
    subject: Callable[[], object],
    reference: Callable[[], object],
    bound: float,
    threshold: float,
    seconds: float,
    clock: str,
    inconclusive: str | None,
    names: tuple[str, str] | None,
) -> Report:
    """Passes if the ratio subject / reference is known to be at most `bound`, fails if it is known
    to be larger."""
    __tracebackhide__ = True
    names = names or (_name(subject, "subject"), _name(reference, "reference"))
    if names[0] == names[1]:
        names = (f"{names[0]} (first)", f"{names[1]} (second)")
    experiment = _experiment([Side(names[1], reference), Side(names[0], subject)], seconds, clock, threshold)

    def holds(report: Report) -> bool | None:
        found = _ratio(report)
        if found is None:
            return None
        if found[1] <= bound:
            return True
        # Being equally fast also refutes a claim to be faster.
        as_fast = bound == 1.0 and report["verdict"] == "equivalent"
        return False if found[0] > bound or as_fast else None

    report = _measured(experiment, holds)
    verdict = holds(report)
    if verdict:
        return report
    traced = "; a tracer is active (coverage, a debugger), and is in the times" if sys.gettrace() else ""
    warnings = [f["message"] for f in report["findings"] if f["severity"] != "note"]
    counted = f" [{experiment.recording.blocks} blocks]"
    said = words.told("".join([report["sentence"], counted, traced, *(f"; {warning}" for warning in warnings)]), words.ASSERT)
    if verdict is None:
        reason = f"not known whether {claim.format(*names)} after {seconds:g} s: {said}"
        settle_inconclusive(inconclusive, reason + _too_few(experiment))
        return report
    raise AssertionError(f"expected that {claim.format(*names)}, but {said}")


def assert_faster(
    subject: Callable[[], object],
    than: Callable[[], object],
    *,
    by: str | float = 0.0,
    seconds: float = 5.0,
    clock: str = "auto",
    inconclusive: str | None = None,
    names: tuple[str, str] | None = None,
) -> Report:
    """Asserts that calling `subject` takes less time than calling `than`; with `by="20%"`, at least
    that much less.

    Both are called alternately, in blocks of random order, until the answer is known, for at most
    `seconds`. `clock` is `cpu`, the CPU time of this process, which is least affected by other
    programs; or `wall` time; or `auto`: CPU time unless one of them awaits something or waits for
    more than 1 % of its time. Coroutine functions are run, by the running event loop if there is
    one, and generators are consumed to their end; a function that returns another kind of awaitable
    is a TypeError. `inconclusive` is the treatment of an unknown answer: `skip` (unless the
    variable `ASSAY_INCONCLUSIVE` overrides it), `fail` or `pass`. Returns the report of `assay
    compare --json`.
    """
    __tracebackhide__ = True
    fraction = share(by)
    if fraction >= 1:
        raise ValueError("nothing takes 100 % less time: `by` is below that")
    # Without `by` any difference is sufficient. Equal means that there is not even the smallest
    # difference that matters.
    bound = 1.0 - fraction
    claim = (
        f"{{0}} takes at least {fraction * 100:.3g} % less time than {{1}}" if fraction else "{0} is faster than {1}"
    )
    return _assert_ratio(claim, subject, than, bound, fraction or 0.01, seconds, clock, inconclusive, names)


def assert_no_slower(
    subject: Callable[[], object],
    than: Callable[[], object],
    *,
    by: str | float = "5%",
    seconds: float = 5.0,
    clock: str = "auto",
    inconclusive: str | None = None,
    names: tuple[str, str] | None = None,
) -> Report:
    """Asserts that calling `subject` takes at most the share `by` more time than calling `than`.
    See `assert_faster`."""
    __tracebackhide__ = True
    fraction = share(by)
    if fraction == 0:
        raise ValueError(
            "that nothing at all is lost can't be shown by measurement: say how much may be, such as by='1%'"
        )
    claim = f"{{0}} takes at most {fraction * 100:.3g} % more time than {{1}}"
    return _assert_ratio(claim, subject, than, 1.0 + fraction, fraction, seconds, clock, inconclusive, names)


# Growth. ---------------------------------------------------------------------------------------------------------------

#: The growth models by name, in ascending order.
GROWTH: dict[str, Callable[[float], float]] = {
    "constant": lambda n: 1.0,
    "logarithmic": lambda n: math.log(n),
    "linear": lambda n: n,
    "linearithmic": lambda n: n * math.log(n),
    "quadratic": lambda n: n**2,
    "cubic": lambda n: n**3,
}


def _exponent(model: Callable[[float], float], sizes: Sequence[float]) -> float:
    """Returns the exponent of n of this model over these sizes: the slope of its logarithm over
    that of the size."""
    xs = [math.log(size) for size in sizes]
    ys = [math.log(model(size)) for size in sizes]
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys)) / sum((x - middle_x) ** 2 for x in xs)


def assert_complexity(
    growth: str,
    sizes: Sequence[int],
    function: Callable[[Argument], object],
    *,
    setup: Callable[[int], Argument] | None = None,
    tolerance: float = 0.25,
    seconds: float = 10.0,
    clock: str = "auto",
    inconclusive: str | None = None,
) -> Report:
    """Asserts that the time of `function(n)` grows no faster than `growth`: `constant`,
    `logarithmic`, `linear`, `linearithmic`, `quadratic` or `cubic`.

    `sizes` are at least three numbers above 1; a wide range is more informative. With `setup` the
    function is called with `setup(n)`, created once and untimed. The exponent of n is fitted in
    every block; its interval must be below the exponent of the model over these sizes plus
    `tolerance`. If no single exponent fits (a fixed cost hides the small sizes), the largest three
    sizes decide. Returns the curve of `assay compare --json`. See `assert_faster` for the rest.
    """
    __tracebackhide__ = True
    if growth not in GROWTH:
        raise ValueError(f"`growth` is one of {', '.join(GROWTH)}, not {growth!r}")
    sizes = sorted(set(sizes))
    if len(sizes) < 3 or sizes[0] <= 1:
        raise ValueError(f"growth needs at least three different sizes above 1, not {sizes}: such as 1000, 2000, 4000")
    name = _name(function, "function")

    def bound_call(size: int) -> Callable[[], object]:
        argument: Any = size if setup is None else setup(size)
        return functools.partial(function, argument)

    sides = [Side(f"{name} {size}", bound_call(size), size=size) for size in sizes]
    experiment = _experiment(sides, seconds, clock, scan=f"{name} {{n}}")
    largest = range(len(sizes))[-3:]

    def judged(report: Report) -> tuple[bool | None, Report, float]:
        curve = report["curves"][0]
        over = [point["value"] for point in curve["points"]]
        bound = _exponent(GROWTH[growth], [float(value) for value in over]) + tolerance
        interval = curve["exponent_interval"]
        if not interval:
            return None, curve, bound
        # The end of an unbounded interval is missing.
        lower, upper = interval["lower"], interval["upper"]
        known = True if upper is not None and upper <= bound else False if lower is not None and lower > bound else None
        return known, curve, bound

    def answer(report: Report) -> tuple[bool | None, Report, float]:
        known, curve, bound = judged(report)
        if curve["curved"] and len(sizes) > 3:
            with experiment.recording.with_file(largest) as path:
                return judged(binary.compare(path))
        return known, curve, bound

    report = _measured(experiment, lambda report: answer(report)[0])
    known, curve, bound = answer(report)
    if known:
        return curve
    interval = curve["exponent_interval"]
    if interval and curve["exponent"] is not None:
        grows = f"n^{curve['exponent']:.2f} {_bounds(interval)}"
    elif interval:
        grows = f"n^{_bounds(interval)}"
    else:
        grows = words.told(f"no single power of n ({curve['reason'] or 'too few blocks'})", words.ASSERT)
    medians = ", ".join(f"{float(p['value']):g}: {p['median'] * 1e6:.4g} µs" for p in curve["points"])
    counted = f"{experiment.recording.blocks} blocks"
    said = f"it grows like {grows}, where at most n^{bound:.2f} was allowed ({medians}; {counted})"
    if known is None:
        reason = f"not known whether {name} is {growth} after {seconds:g} s: {said}"
        settle_inconclusive(inconclusive, reason + _too_few(experiment))
        return curve
    raise AssertionError(f"expected that {name} is {growth}, but {said}")


def _bounds(interval: dict[str, Any]) -> str:
    """Formats an interval of exponents, one end of which may be missing."""
    lower, upper = (interval[end] for end in ("lower", "upper"))
    return f"[{'?' if lower is None else format(lower, '.2f')} … {'?' if upper is None else format(upper, '.2f')}]"


# Allocations. ------------------------------------------------------------------------------------------------------------


class Allocations:
    """The allocations of one call of a function.

    `calls` and `bytes`: number and total size of requests to the interpreter's allocators in this
    thread (None without the accelerator). `kept`: additional blocks in use after the call.
    `peak_bytes`: increase of memory over its start.
    """

    def __init__(self, calls: int | None, size: int | None, kept: int, peak_bytes: int) -> None:
        self.calls = calls
        self.bytes = size
        self.kept = kept
        self.peak_bytes = peak_bytes

    def __repr__(self) -> str:
        return f"Allocations(calls={self.calls}, bytes={self.bytes}, kept={self.kept}, peak_bytes={self.peak_bytes})"


def allocations(function: Callable[[], object]) -> Allocations:
    """Counts the allocations of one call of `function` after warming up: the minimum of several
    calls, since caches are filled only once.

    Objects that Python takes from its free lists (most floats, small tuples and lists) are not
    allocated again and not counted, and neither are allocations of extensions directly from the C
    library.
    """
    function = work.whole(function, _name(function, "the function"))
    for _ in range(3):
        function()
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        counted = None
        if engine.count_allocations is not None:
            counted = min(engine.count_allocations(function) for _ in range(5))
        # The previous count is an object too.
        kept = _least_kept(function)
        peak = min(_peak(function) for _ in range(3))
    finally:
        if was_enabled:
            gc.enable()
        driving.close()
    calls, size = counted or (None, None)
    return Allocations(calls, size, kept, peak)


def _least_kept(function: Callable[[], object]) -> int:
    """Returns the number of blocks that a call keeps. Python itself keeps up to 80 lists or
    dictionaries for later use, so it takes as many calls to establish that nothing is kept; slow
    functions are called less often."""
    count = min(_kept(_nothing) for _ in range(5))
    least = min(_kept(function) for _ in range(5))
    until = now() + _LONGEST_FILLING
    for _ in range(_FREE_LISTS):
        if least <= count or now() > until:
            break
        least = min(least, _kept(function))
    return max(0, least - count)


#: Upper limit of the size of CPython's free lists, and maximum nanoseconds spent on filling one.
_FREE_LISTS, _LONGEST_FILLING = 120, 200_000_000


def _kept(function: Callable[[], object]) -> int:
    before = sys.getallocatedblocks()
    function()
    return sys.getallocatedblocks() - before


def _nothing() -> None:
    """Keeps nothing."""


def _peak(function: Callable[[], object]) -> int:
    traced_already = tracemalloc.is_tracing()
    if not traced_already:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        function()
        return max(0, tracemalloc.get_traced_memory()[1] - before)
    finally:
        if not traced_already:
            tracemalloc.stop()


def assert_allocations(
    function: Callable[[], object],
    *,
    calls: int | None = None,
    kept: int | None = None,
    peak_bytes: int | None = None,
) -> Allocations:
    """Asserts that one call of `function` stays within the given bounds: `calls` of the allocator,
    blocks `kept`, `peak_bytes` above its start. `allocations` documents these counts. They are
    exact: neither statistics nor the program is needed."""
    __tracebackhide__ = True
    if calls is None and kept is None and peak_bytes is None:
        raise ValueError("say what may be allocated at most: calls=, kept= or peak_bytes=")
    found = allocations(function)
    if calls is not None and found.calls is None:
        raise RuntimeError(
            "calls of the allocator are counted by the accelerator, which is not built here: install the package where a C compiler "
            "is, or bound kept= or peak_bytes="
        )
    over = [
        f"{what} are {getattr(found, what)}, at most {most} were allowed"
        for what, most in (("calls", calls), ("kept", kept), ("peak_bytes", peak_bytes))
        if most is not None and getattr(found, what) > most
    ]
    if over:
        raise AssertionError(
            f"one call of {_name(function, 'the function')} allocates too much: {'; '.join(over)} ({found!r})"
        )
    return found


# Calls. ------------------------------------------------------------------------------------------------------------------


class CallCount:
    """The number of calls up to now."""

    def __init__(self) -> None:
        self.count = 0


class _Calls(AbstractContextManager[CallCount]):
    """The `with` block of `assert_calls`. A class, so that a failure's traceback shows the block
    and not the internals of this package."""

    def __init__(self, target: object, name: str, times: int | None, at_most: int | None) -> None:
        self._called = f"`{name}` of {replace.describe(target)} was called"
        self._times = times
        self._at_most = at_most
        self._count = CallCount()
        self._counted = replace.counted(target, name, self._count)

    def __enter__(self) -> CallCount:
        __tracebackhide__ = True
        self._counted.__enter__()
        return self._count

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> None:
        __tracebackhide__ = True
        self._counted.__exit__(kind, problem, trace)
        if problem is not None:
            return
        count = self._count.count
        said = f"{self._called} {count} {'time' if count == 1 else 'times'}"
        if self._times is not None and count != self._times:
            raise AssertionError(f"{said}, expected {self._times}")
        if self._at_most is not None and count > self._at_most:
            raise AssertionError(f"{said}, at most {self._at_most} {'was' if self._at_most == 1 else 'were'} allowed")


def assert_calls(
    target: object, name: str, times: int | None = None, *, at_most: int | None = None
) -> AbstractContextManager[CallCount]:
    """Asserts that in the `with` block `name` of `target` (a class, a module, or one object) is
    called exactly `times` times, or at most `at_most` times. Calls of all threads and tasks count.
    After an exception in the block nothing is asserted."""
    __tracebackhide__ = True
    if (times is None) == (at_most is None):
        raise ValueError("say either how many calls there are, or `at_most` how many")
    return _Calls(target, name, times, at_most)
