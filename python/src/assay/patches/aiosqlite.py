"""aiosqlite, also when used by SQLAlchemy. It passes every call to a thread of its connection. The
call is made there in the context of the awaiting code, so that the statements count for it; the
counting itself is done by `sqlite3`, which is patched as well."""

from __future__ import annotations

import contextvars
import functools
from typing import Any, Callable

from ..profiler import MethodProfiler
from . import sqlite3
from .library import Library, Outcome, Seams, Target


class Aiosqlite(Library):
    """aiosqlite."""

    key = "aiosqlite"
    module = "aiosqlite"
    least = "0.17"
    below = "1"

    def apply(self, *, keep: bool) -> Outcome:
        """See `patches.apply`."""
        outcome = super().apply(keep=keep)
        if outcome.applied:
            sqlite3.LIBRARY.apply(keep=keep)
        return outcome

    def targets(self, module: Any) -> list[Target]:
        """The targets of `sqlite3`. The time is that of the thread, without the wait for it."""
        return self.counted("sql")

    def seams(self, module: Any) -> Seams:
        """All calls of a connection and its cursors."""
        return [(module.Connection, {"_execute": self._in_context})]

    def _in_context(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        async def _execute(connection: Any, fn: Any, *args: Any, **kwargs: Any) -> Any:
            if MethodProfiler.current() is None:
                return await original(connection, fn, *args, **kwargs)
            return await original(connection, contextvars.copy_context().run, fn, *args, **kwargs)

        return _execute


LIBRARY: Aiosqlite = Aiosqlite()
