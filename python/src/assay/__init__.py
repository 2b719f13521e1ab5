"""Where the time of a program goes, and tests of performance that know when they don't know.

- `assay.MethodProfiler`: how often were these methods called, and how long did they take, for every request.
- `assay.compare`: which of several pieces of Python is faster, by how much, and how sure.
- `assay.patches`: ready patches for databases, Redis and HTTP.
- `assay.wsgi`, `assay.asgi`: middleware that gives each request's totals as a header, a log line, and samples.
- `assay.samples`: numbers of your own for `assay run`.
- `assay.testing`: assertions about speed, allocations, calls and growth, and fakes of sleep, clock and processes. For pytest the
  fixtures of `assay.pytest_plugin` are there without an import.

Each is loaded when it is first asked for: pytest imports this package in every project of an environment in which it is installed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._version import VERSION as __version__

if TYPE_CHECKING:
    from .comparison import compare
    from .profiler import MethodProfiler, NotRecording, Overhead, Profile, Profiling, Section, Totals

__all__ = [
    "MethodProfiler",
    "NotRecording",
    "Overhead",
    "Profile",
    "Profiling",
    "Section",
    "Totals",
    "__version__",
    "compare",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        module = ".comparison" if name == "compare" else ".profiler"
        value: object = getattr(importlib.import_module(module, __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
