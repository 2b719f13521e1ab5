"""Common code of both kinds of middleware: their options, and the output of a request's totals as a
header, a log line, and samples. Knows nothing of HTTP or servers."""

from __future__ import annotations

import json
import logging
import re
from typing import Any, Callable, Dict, Generic, TypeVar, Union

from . import samples
from .profiler import MethodProfiler, Profile

logger: logging.Logger = logging.getLogger("assay.request")

_NO_TOKEN = re.compile(r"[^!#$%&'*+\-.^_`|~0-9A-Za-z]")
_PLAIN = re.compile(r"^[^\s\"=\\\x00-\x1f\x7f]+$")

#: Facts about a request: see `fields`.
Facts = Dict[str, Any]
#: Destination of lines: `logfmt`, `json`, None, or a function that is called with the facts.
Log = Union[str, Callable[[Facts], object], None]

App = TypeVar("App")
Request = TypeVar("Request")


def server_timing(profile: Profile) -> str:
    """Returns the value of the header `Server-Timing`: `redis;dur=1.200;desc="12 calls",
    total;dur=12.345`, durations in milliseconds."""
    parts = []
    for section in profile.sections.values():
        token = _NO_TOKEN.sub("_", section.name)
        calls = "1 call" if section.calls == 1 else f"{section.calls} calls"
        parts.append(f'{token};dur={section.duration * 1e3:.3f};desc="{calls}"')
    return ", ".join([*parts, f"total;dur={profile.total_duration * 1e3:.3f}"])


def fields(profile: Profile, **about: object) -> Facts:
    """Returns the facts of one request, in the order of output: times are in milliseconds. Facts
    that are None are omitted.

    `methods` has the calls, the time and, if any, the errors of every name that was called.
    """
    methods = {}
    for section in profile.sections.values():
        errors = {"errors": section.errors} if section.errors else {}
        methods[section.name] = {"calls": section.calls, "ms": _ms(section.duration), **errors}
    times = {"total_ms": _ms(profile.total_duration), "own_ms": _ms(profile.overhead.total)}
    error = about.pop("error", None)
    facts = {**about, **times, "error": error, "methods": methods}
    return {key: fact for key, fact in facts.items() if fact is not None}


def _ms(seconds: float) -> float:
    return round(seconds * 1e3, 3)


def logfmt(facts: Facts) -> str:
    """Returns one line of `key=value`; the keys of methods are `NAME_calls`, `NAME_ms` and
    `NAME_errors`. Values with blanks, quotes or line ends are quoted, so that no value can forge a
    second line."""
    flat = {key: fact for key, fact in facts.items() if key != "methods"}
    for name, totals in facts.get("methods", {}).items():
        flat.update((f"{name}_{key}", value) for key, value in totals.items())
    return " ".join(f"{_NO_TOKEN.sub('_', key)}={_quoted(fact)}" for key, fact in flat.items())


def _quoted(fact: object) -> str:
    text = str(fact)
    return text if _PLAIN.match(text) else json.dumps(text)


def as_json(facts: Facts) -> str:
    """One line of JSON."""
    return json.dumps(facts)


FORMATS: dict[str, Callable[[Facts], str]] = {"logfmt": logfmt, "json": as_json}


class Reporter:
    """Reports each finished request to `log`, and passes its totals to the `assay` that measures
    this process, if any."""

    def __init__(self, log: Log) -> None:
        if isinstance(log, str) and log not in FORMATS:
            raise ValueError(f"`log` is 'logfmt', 'json', None or a function, not {log!r}")
        self._log = log

    def __call__(self, profile: Profile, **about: object) -> None:
        if callable(self._log):
            self._log(fields(profile, **about))
        elif self._log is not None and logger.isEnabledFor(logging.INFO):
            logger.info("%s", FORMATS[self._log](fields(profile, **about)))
        if samples.wanted():
            samples.duration("request", profile.total_duration, take="median")
            # A request without calls has zero calls; it must not look like one with missing data.
            for name in dict.fromkeys([*MethodProfiler.names(), *profile.sections]):
                totals = profile[name]
                samples.duration(name, totals["duration"], take="median")
                samples.value(f"{name}_calls", totals["calls"], take="median")


class Middleware(Generic[App, Request]):
    """The options of a middleware. Its wrappers stay in between requests.

    `header` decides which clients get the header `Server-Timing`: it reveals internal timings,
    which not every client should see. `log` is as for `Reporter`.
    """

    def __init__(self, app: App, *, header: bool | Callable[[Request], bool] = True, log: Log = "logfmt") -> None:
        self._app = app
        self._header = header
        self._report = Reporter(log)
        MethodProfiler.keep_installed()

    def _wants_header(self, request: Request) -> bool:
        return self._header(request) if callable(self._header) else self._header
