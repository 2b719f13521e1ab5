"""Chooses how calls are counted: in C where the accelerator was built, else (or where `ASSAY_PURE=1` says so) in pure Python.

Everything else in this package asks here and never one of the two. `recordings` is the number of recordings that go on in the
whole process: while it is 0, a wrapper that stands in its place does nothing but call what it wraps.
"""

from __future__ import annotations

import importlib
import os
from contextvars import ContextVar
from typing import Any, Callable

from . import pure

_chosen: Any = None
try:
    if os.environ.get("ASSAY_PURE", "") not in ("", "0"):
        raise ImportError("ASSAY_PURE asks for pure Python")
    _chosen = importlib.import_module("assay._speedups")
except ImportError:
    pass

#: `c` or `python`.
NAME = "python" if _chosen is None else "c"

Probe: Any = None
Recording: type[pure.Recording] = pure.Recording
Steps: type[pure.Steps] = pure.Steps
current: ContextVar[pure.Recording | None] = pure.current
#: Counts what a function allocates: how often, and how many bytes.
count_allocations: Callable[[Callable[[], object]], tuple[int, int]] | None = None
#: What listens to `sys.monitoring`, where there is such a thing.
monitor: Any = None
#: Makes a probe count no longer.
retire: Any = None

if _chosen is None:

    def tune() -> None:
        """Pure Python reads the clock as it is."""

else:
    Probe = _chosen.Probe
    Recording = _chosen.Recording
    Steps = _chosen.Steps
    current = _chosen.current
    count_allocations = _chosen.count_allocations
    tune = _chosen.tune
    retire = _chosen.retire
    monitor = _chosen if hasattr(_chosen, "watch") else None

#: The globals of all generated wrappers, so that one assignment switches all of them.
wrapper_globals: dict[str, Any] = {
    "__builtins__": __builtins__,
    "__name__": "assay.profiler.wrappers",
    "_assay_active": 0,
    "_assay_current": current.get,
    "_assay_recording": None,
    "_assay_clock": pure.clock,
    "_assay_ident": pure.ident,
    # What one call costs on top of itself, in seconds: between its two clock readings, in all, and where it is made directly
    # within a call of its own label and reads no clock.
    "_assay_inner": 0.0,
    "_assay_outer": 0.0,
    "_assay_repeated": 0.0,
    "_assay_steps": Steps,
}


def recording() -> pure.Recording | None:
    """The recording of this context, or None where nobody records here."""
    found = current.get(None)
    return found if found is not None and found.active else None


wrapper_globals["_assay_recording"] = recording


def set_active(count: int) -> None:
    """Says how many recordings go on in this process."""
    wrapper_globals["_assay_active"] = count
    if _chosen is not None:
        _chosen.set_active(count)


def set_costs(inner: float, outer: float, repeated: float, *, monitored: bool = False) -> None:
    """Says what a call costs on top of itself, in nanoseconds: between its two clock readings, in all, and where it is made directly
    within a call of its own label. Calls that `sys.monitoring` tells of have costs of their own."""
    if not monitored:
        wrapper_globals.update(_assay_inner=inner / 1e9, _assay_outer=outer / 1e9, _assay_repeated=repeated / 1e9)
    if _chosen is not None:
        _chosen.set_costs(inner, outer, repeated, monitored)
