"""Chooses the implementation of counting: C if the accelerator was built, otherwise (or with
`ASSAY_PURE=1`) pure Python.

The rest of this package uses this module and never one of the two directly. `recordings` is the
number of active recordings in the whole process: while it is 0, an installed wrapper does nothing
but call the wrapped function.
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
#: Counts the allocations of a function, and their bytes.
count_allocations: Callable[[Callable[[], object]], tuple[int, int]] | None = None
#: Receives the events of `sys.monitoring`, if available.
monitor: Any = None
#: Makes a probe stop counting.
retire: Any = None

if _chosen is None:

    def tune() -> None:
        """Does nothing: pure Python reads the clock as it is."""

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
    # Additional cost of a call in seconds: between its two clock readings, in total, and if it is
    # made directly within a call of its own label, which reads no clock.
    "_assay_inner": 0.0,
    "_assay_outer": 0.0,
    "_assay_repeated": 0.0,
    "_assay_steps": Steps,
}


def recording() -> pure.Recording | None:
    """Returns the recording of this context, or None if there is none."""
    found = current.get(None)
    return found if found is not None and found.active else None


wrapper_globals["_assay_recording"] = recording


def set_active(count: int) -> None:
    """Sets the number of active recordings in this process."""
    wrapper_globals["_assay_active"] = count
    if _chosen is not None:
        _chosen.set_active(count)


def set_costs(inner: float, outer: float, repeated: float, *, monitored: bool = False) -> None:
    """Sets the additional cost of a call in nanoseconds: between its two clock readings, in total,
    and if it is made directly within a call of its own label. Calls reported by `sys.monitoring`
    have separate costs."""
    if not monitored:
        wrapper_globals.update(_assay_inner=inner / 1e9, _assay_outer=outer / 1e9, _assay_repeated=repeated / 1e9)
    if _chosen is not None:
        _chosen.set_costs(inner, outer, repeated, monitored)
