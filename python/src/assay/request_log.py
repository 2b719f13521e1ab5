"""What both kinds of middleware have in common: their options, and what they do with the totals of a request, which is a header, a log line,
and samples. No HTTP, no servers here."""

from __future__ import annotations

import json
import logging
import re
from typing import Callable

from . import samples
from .profiler import MethodProfiler, Profile

logger = logging.getLogger("assay.request")

_NO_TOKEN = re.compile(r"[^!#$%&'*+\-.^_`|~0-9A-Za-z]")
_PLAIN = re.compile(r"^[^\s\"=\\\x00-\x1f\x7f]+$")


def server_timing(profile: Profile) -> str:
    """The value of the header `Server-Timing`: `total;dur=12.345, redis;dur=1.200;desc="12 calls"`, durations in milliseconds."""
    parts = [f"total;dur={profile.total_duration * 1e3:.3f}"]
    for section in profile.sections.values():
        token = _NO_TOKEN.sub("_", section.name)
        calls = "1 call" if section.calls == 1 else f"{section.calls} calls"
        errors = f", {section.errors} failed" if section.errors else ""
        parts.append(f'{token};dur={section.duration * 1e3:.3f};desc="{calls}{errors}"')
    return ", ".join(parts)


def fields(profile: Profile, **about) -> dict:
    """The facts of one request, flat, in the order in which they are written: times in milliseconds."""
    facts = {key: fact for key, fact in about.items() if fact is not None}
    facts["total_ms"] = round(profile.total_duration * 1e3, 3)
    for section in profile.sections.values():
        facts[f"{section.name}_ms"] = round(section.duration * 1e3, 3)
        facts[f"{section.name}_calls"] = section.calls
        if section.errors:
            facts[f"{section.name}_errors"] = section.errors
    return facts


def logfmt(facts: dict) -> str:
    """One line of `key=value`. What has blanks, quotes or line ends in it is quoted, so that nobody can write a second line."""
    return " ".join(f"{_NO_TOKEN.sub('_', key)}={_quoted(fact)}" for key, fact in facts.items())


def _quoted(fact) -> str:
    text = str(fact)
    return text if _PLAIN.match(text) else json.dumps(text)


def as_json(facts: dict) -> str:
    """One line of JSON."""
    return json.dumps(facts)


FORMATS: dict[str, Callable[[dict], str]] = {"logfmt": logfmt, "json": as_json}


class Reporter:
    """Reports each finished request: `log` is `logfmt`, `json`, None, or a function that gets the facts."""

    def __init__(self, log: str | Callable[[dict], object] | None) -> None:
        if isinstance(log, str) and log not in FORMATS:
            raise ValueError(f"`log` is 'logfmt', 'json', None or a function, not {log!r}")
        self._log = log

    def __call__(self, profile: Profile, **about) -> None:
        if self._log is not None:
            facts = fields(profile, **about)
            if callable(self._log):
                self._log(facts)
            elif logger.isEnabledFor(logging.INFO):
                logger.info("%s", FORMATS[self._log](facts))
        if samples.wanted():
            samples.duration("request", profile.total_duration, take="median")
            for section in profile.sections.values():
                samples.duration(section.name, section.duration, take="median")
                samples.value(f"{section.name} calls", section.calls, take="median")


class Middleware:
    """The options of a middleware. Its wrappers stay in between requests.

    `header` says who gets the header `Server-Timing`: it tells how long things take inside, which not everybody need know. `log` is
    as for `Reporter`.
    """

    def __init__(self, app, *, header: bool | Callable[[dict], bool] = True, log="logfmt") -> None:
        self._app = app
        self._header = header
        self._report = Reporter(log)
        MethodProfiler.keep_installed()

    def _wants_header(self, request: dict) -> bool:
        return bool(self._header(request) if callable(self._header) else self._header)
