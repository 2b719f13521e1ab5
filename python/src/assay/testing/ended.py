"""The ending of a faked program, and the forms in which a script of results may specify it. Knows
nothing of processes."""

from __future__ import annotations

import subprocess
from typing import Any, NamedTuple


class Ended(NamedTuple):
    """The ending of a faked program: its exit status and its output."""

    returncode: int = 0
    stdout: str | bytes = b""
    stderr: str | bytes = b""


def ended(result: Any) -> Ended:
    if isinstance(result, Ended):
        return result
    if isinstance(result, subprocess.CompletedProcess):
        return Ended(result.returncode, result.stdout or b"", result.stderr or b"")
    if isinstance(result, bool):
        return Ended(0 if result else 1)
    if isinstance(result, int):
        return Ended(result)
    if isinstance(result, (str, bytes)):
        return Ended(0, result)
    if isinstance(result, tuple) and 1 <= len(result) <= 3:
        return Ended(*result)
    if result is None:
        return Ended()
    raise TypeError(
        f"a faked program can't end as {result!r}: script an exit status, what it prints, (status, stdout, stderr), or an exception"
    )


def in_form(text: str | bytes, as_text: bool, encoding: str) -> Any:
    if as_text:
        return text if isinstance(text, str) else text.decode(encoding)
    return text if isinstance(text, bytes) else text.encode(encoding)
