"""asyncpg. Everything sent to the server passes through one of the methods of its protocol, from
any connection, pool, transaction, prepared statement or cursor; BEGIN, COMMIT and savepoints are
statements like others."""

from __future__ import annotations

import functools
import re
from typing import Any, Callable

from .library import Counting, Library, Seams, Target

#: Parts in which a semicolon does not end a statement: strings, names, comments, dollar-quoted
#: strings.
_OPAQUE = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$", re.DOTALL)


class Asyncpg(Library):
    """asyncpg."""

    key = "asyncpg"
    module = "asyncpg"
    least = "0.22"
    below = "1"

    def targets(self, module: Any) -> list[Target]:
        """A cursor counts once, when it is opened."""
        return self.counted("sql")

    def seams(self, module: Any) -> Seams:
        """A text without arguments may hold several statements, such as the one by which a pool resets a connection."""
        protocol = module.protocol.Protocol
        one = {name: self._awaited for name in ("bind_execute", "bind", "copy_in", "copy_out")}
        return [(protocol, {**one, "query": self._script, "bind_execute_many": self._items})]

    def _awaited(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        async def call(protocol: Any, *args: Any, **kwargs: Any) -> Any:
            return await self.counter.wait(original, protocol, *args, **kwargs)

        return call

    def _script(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        async def query(protocol: Any, text: Any, *args: Any, **kwargs: Any) -> Any:
            result = await self.counter.wait(original, protocol, text, *args, **kwargs)
            self.counter.further(statements(text) - 1)
            return result

        return query

    def _items(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        async def bind_execute_many(protocol: Any, state: Any, args: Any, *more: Any, **kwargs: Any) -> Any:
            items = Counting(args)
            result = await self.counter.wait(original, protocol, state, items, *more, **kwargs)
            self.counter.further(items.count - 1)
            return result

        return bind_execute_many


def statements(text: str) -> int:
    """Returns the number of statements in a text."""
    return sum(1 for part in _OPAQUE.sub("x", text).split(";") if part.strip())


LIBRARY: Asyncpg = Asyncpg()
