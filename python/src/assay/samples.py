"""Your own numbers for `assay run --samples`: values, regions and durations, by the sample
protocol, version 1.

    from assay import samples

    with samples.region("parse"):
        document = parse(text)
    samples.value("rows", len(document.rows), better="higher", take="sum")

If nothing is measuring (`ASSAY_SAMPLES` is not set) every call returns immediately. Lines are
buffered and written whole, many at a time, at the latest when the program ends. A descriptor that
is full or closed is reported once on standard error, and the program goes on: it must not fail
because it is being measured.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import sys
import threading
from contextlib import contextmanager
from typing import Any, ContextManager, Iterable, Iterator

from ._clock import now as _clock

_FULL = 1 << 16
_LONGEST = 4096  # Values in one line: far below the protocol's limit of 1 MiB.


class Samples:
    """Writes the protocol to one destination: the value of `ASSAY_SAMPLES`, such as `fd:3` or
    `path:FILE`.

    Programs use the functions of the module, which write to the destination in the environment.
    Thread-safe.
    """

    def __init__(self, place: str | None = None) -> None:
        kind, _, rest = (place or "").partition(":")
        self._lock = threading.Lock()
        self._lines: list[bytes] = []
        self._size = 0
        self._told = False
        self._fd: int | None = None
        self._path: str | None = None
        if kind == "fd" and rest.isascii() and rest.isdigit():
            self._fd = int(rest)
        elif kind == "path" and rest:
            self._path = rest

    @property
    def wanted(self) -> bool:
        """Whether values are being recorded. Check this before computing a number that is
        expensive."""
        return self._fd is not None or self._path is not None

    def value(self, metric: str, value: float, **said: str) -> None:
        """Reports one value of a metric. `unit`, `better` (`lower`, `higher`) and `take` (`first`,
        `last`, `sum`, `mean`, `median`, `min`, `max`, `count`: how the values of a run are
        combined) may be given in any call, or consistently in several. Values that are not finite
        are skipped."""
        if self.wanted:
            if math.isfinite(value):
                self._give({"metric": metric, **_checked(said), "value": value})
            else:
                self._tell(f"a value of `{metric}` is {value}, which is no number: left out")

    def values(self, metric: str, values: Iterable[float], **said: str) -> None:
        """Reports several values of a metric, in order. Values that are not finite are skipped."""
        if self.wanted:
            all_values = list(values)
            finite = [value for value in all_values if math.isfinite(value)]
            if len(finite) < len(all_values):
                self._tell(f"{len(all_values) - len(finite)} values of `{metric}` are no numbers: left out")
            for start in range(0, len(finite), _LONGEST):
                self._give({"metric": metric, **_checked(said), "values": finite[start : start + _LONGEST]})

    def duration(self, region: str, seconds: float, **said: str) -> None:
        """Reports a duration in seconds that was measured by other means, as a value of the region
        of this name."""
        if self.wanted:
            if math.isfinite(seconds) and seconds >= 0:
                self._give({"region": region, **_checked(said), "ns": seconds * 1e9})
            else:
                self._tell(f"a duration of `{region}` is {seconds} s: left out")

    @contextmanager
    def region(self, name: str, **said: str) -> Iterator[None]:
        """Times the `with` block, even if it ends with an exception. May be nested, also in
        itself."""
        if not self.wanted:
            yield
            return
        began = _clock()
        try:
            yield
        finally:
            self._give({"region": name, **_checked(said), "ns": _clock() - began})

    def flush(self) -> None:
        """Writes the buffered lines. Automatic at the end, and before a fork."""
        with self._lock:
            lines, self._lines, self._size = self._lines, [], 0
            if lines:
                self._write(b"".join(lines))

    def _give(self, members: dict[str, Any]) -> None:
        line = json.dumps(members, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._lock:
            self._lines.append(line)
            self._size += len(line)
            full = self._size >= _FULL
        if full:
            self.flush()

    def _write(self, text: bytes) -> None:
        try:
            if self._fd is not None:
                _write_all(self._fd, text)
            elif self._path is not None:
                fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
                try:
                    _write_all(fd, text)
                finally:
                    os.close(fd)
        except OSError as problem:
            where = f"descriptor {self._fd}" if self._fd is not None else f"`{self._path}`"
            self._tell(f"could not write samples to {where}: {problem.strerror or problem}; these samples are lost")

    def _tell(self, what: str) -> None:
        if self._told:
            return
        self._told = True
        try:
            sys.stderr.write(f"assay.samples: {what} (told once)\n")
        except (OSError, ValueError, AttributeError):
            pass  # Standard error is also closed, so the problem cannot be reported.

    def _forget(self) -> None:
        # In a forked child: the parent keeps its buffered lines, and its lock may have been held by
        # another thread.
        self._lock = threading.Lock()
        self._lines, self._size = [], 0


def _write_all(fd: int, text: bytes) -> None:
    while text:
        text = text[os.write(fd, text) :]


_ALLOWED: dict[str, set[str] | None] = {
    "unit": None,
    "better": {"lower", "higher"},
    "take": {"first", "last", "sum", "mean", "median", "min", "max", "count"},
}


def _checked(said: dict[str, str]) -> dict[str, str]:
    for key, value in said.items():
        if key not in _ALLOWED:
            raise TypeError(f"a sample has no `{key}`: it may have `unit`, `better` and `take`")
        allowed = _ALLOWED[key]
        if allowed is not None and value not in allowed:
            raise ValueError(f"`{key}` is one of {', '.join(sorted(allowed))}, not {value!r}")
    return said


_of_environment = Samples(os.environ.get("ASSAY_SAMPLES"))


def value(metric: str, value: float, **said: str) -> None:
    """See `Samples.value`."""
    _of_environment.value(metric, value, **said)


def values(metric: str, values: Iterable[float], **said: str) -> None:
    """See `Samples.values`."""
    _of_environment.values(metric, values, **said)


def duration(region: str, seconds: float, **said: str) -> None:
    """See `Samples.duration`."""
    _of_environment.duration(region, seconds, **said)


def region(name: str, **said: str) -> ContextManager[None]:
    """See `Samples.region`."""
    return _of_environment.region(name, **said)


def flush() -> None:
    """See `Samples.flush`."""
    _of_environment.flush()


def wanted() -> bool:
    """Whether values are being recorded."""
    return _of_environment.wanted


atexit.register(_of_environment.flush)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_of_environment.flush, after_in_child=_of_environment._forget)
