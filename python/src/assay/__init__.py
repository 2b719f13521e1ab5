"""Finds out where a program spends its time, and tests performance with statistical assertions.

- `assay.MethodProfiler`: counts and times calls of chosen methods, for every request.
- `assay.compare`: which of several pieces of Python code is faster, by how much, and with what
  confidence.
- `assay.patches`: ready-made patches for databases, Redis and HTTP.
- `assay.wsgi`, `assay.asgi`: middleware that reports each request's totals as a header, a log line,
  and samples.
- `assay.samples`: your own numbers for `assay run`.
- `assay.testing`: assertions about speed, allocations, calls and growth, and fakes of sleep, clock
  and processes. For pytest, the fixtures of `assay.pytest_plugin` are available without an import.

Each part is loaded on first use, since pytest imports this package in every project whose
environment contains it.
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
