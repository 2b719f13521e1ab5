"""Where the time of a program goes, and tests of performance that know when they don't know.

- `assay.MethodProfiler`: how often were these methods called, and how long did they take, for every request.
- `assay.wsgi`, `assay.asgi`: middleware that gives each request's totals as a header, a log line, and samples.
- `assay.samples`: numbers of your own for `assay run`.
- `assay.testing`: assertions about speed, allocations, calls and growth, and fakes of sleep, clock and processes. For pytest the
  fixtures of `assay.pytest_plugin` are there without an import.
"""

from ._version import VERSION as __version__
from .profiler import MethodProfiler, NotRecording, Overhead, Profile, Section

__all__ = ["MethodProfiler", "NotRecording", "Overhead", "Profile", "Section", "__version__"]
