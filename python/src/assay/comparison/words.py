"""Adapts sentences of the program for this package, replacing the program's options by the
equivalent arguments."""

from __future__ import annotations

import re
from typing import Mapping

#: Options of the program and the corresponding arguments of `assay.compare`.
COMPARE: Mapping[str, str] = {"time": "time", "threshold": "threshold", "confidence": "confidence", "warmup": "warmup"}
#: The same for the arguments of the assertions.
ASSERT: Mapping[str, str] = {"time": "seconds", "threshold": "by"}

_OPTION = re.compile(
    r"--(?P<name>[a-z]+)(?:(?P<blank>[ =]|\n\s*)(?P<value>[0-9][0-9.]*(?:\s?[%a-zµ]+)?))?(?P<end>[.,;:)]?(?=\s|$)|)"
)


def told(text: str, arguments: Mapping[str, str]) -> str:
    """Returns the text with the options replaced by the given arguments; other options are
    unchanged."""

    def argument(found: re.Match[str]) -> str:
        name = arguments.get(found["name"])
        if name is None:
            return found[0]
        value = found["value"]
        if value is None:
            return f"{name}={'SECONDS' if found['name'] == 'time' else '...'}{found['end']}"
        quoted = value if re.fullmatch(r"[0-9.]+", value) else f'"{value}"'
        return f"{found['blank'] if found['blank'].startswith(chr(10)) else ''}{name}={quoted}{found['end']}"

    return _OPTION.sub(argument, text)
