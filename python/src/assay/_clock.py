"""The clocks used for measuring, as provided by the interpreter.

Tests stop the clock: freezegun replaces the functions of `time` in every module, time-machine
replaces what some of them call, and a test may patch `time.perf_counter` itself. The functions here
are taken from a second copy of the module `time`, so that they are unaffected even if this package
is imported while the clock is stopped. Only functions that time-machine leaves alone are used.
"""

from __future__ import annotations

import importlib.util
import time as _time
from importlib.machinery import BuiltinImporter
from types import ModuleType
from typing import Any, Callable


def _genuine() -> ModuleType:
    """Returns a second copy of the built-in module `time`, or the module itself if the interpreter
    creates none."""
    try:
        spec = BuiltinImporter.find_spec("time")
        if spec is None or spec.loader is None:
            return _time
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except (ImportError, AttributeError, TypeError):
        return _time
    return module if hasattr(module, "perf_counter_ns") else _time


_functions: Any = _genuine()



def utc() -> str:
    """Returns the date and the time of day in UTC, as `2026-01-31T12:00:00Z`."""
    text: str = _functions.strftime("%Y-%m-%dT%H:%M:%SZ", _functions.gmtime())
    return text


#: Nanoseconds of the monotonic clock, from an arbitrary start.
now: Callable[[], int] = _functions.perf_counter_ns
#: The same in seconds.
seconds: Callable[[], float] = _functions.perf_counter
#: Nanoseconds of CPU time that this process has used.
cpu: Callable[[], int] = _functions.process_time_ns
#: Nanoseconds of CPU time used by this thread, or by the process on systems without per-thread
#: clocks.
cpu_of_thread: Callable[[], int] = getattr(_functions, "thread_time_ns", _functions.process_time_ns)
