"""psycopg 3, including its asynchronous connections. Each cursor's `execute` is a statement and
each item of `executemany` another; the library's own commands (BEGIN, COMMIT, savepoints) pass
through `_exec_command`."""

from __future__ import annotations

import functools
from typing import Any, Callable

from .library import Counting, Library, Seams, Target

_COUNTED = "_assay_counted"
_IDLE = 0  # libpq's PQTRANS_IDLE.


class Psycopg(Library):
    """psycopg 3."""

    key = "psycopg"
    module = "psycopg"
    least = "3.1"
    below = "4"

    def targets(self, module: Any) -> list[Target]:
        """A COPY counts with the time of starting it, not that of its rows; a server-side cursor
        with that of its declaration. Its fetches count, without their time."""
        cursors = [module.Cursor, module.AsyncCursor]
        on_server = [module.ServerCursor, module.AsyncServerCursor]
        return [
            *[(cursor, ["execute", "executemany", "stream", "copy"], "sql", True) for cursor in cursors],
            *[(cursor, ["execute"], "sql", True) for cursor in on_server],
            *self.counted("sql"),
        ]

    def seams(self, module: Any) -> Seams:
        """Items of `executemany`, and commands of the library's own: one within COMMIT or ROLLBACK, which are timed, is counted there."""
        return [
            (module.Cursor, {"executemany": self._items}),
            (module.AsyncCursor, {"executemany": self._items_awaited}),
            (_base(module), {"_exec_command": self._command}),
            (module.Connection, {"commit": self._ended, "rollback": self._ended}),
            (module.AsyncConnection, {"commit": self._ended_awaited, "rollback": self._ended_awaited}),
            (module.Transaction, {"__enter__": self._block, "__exit__": self._block}),
            (module.AsyncTransaction, {"__aenter__": self._block_awaited, "__aexit__": self._block_awaited}),
        ]

    def _items(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def executemany(cursor: Any, query: Any, params_seq: Any, **options: Any) -> None:
            items = Counting(params_seq)
            original(cursor, query, items, **options)
            self.counter.further(items.count - 1)

        return executemany

    def _items_awaited(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        async def executemany(cursor: Any, query: Any, params_seq: Any, **options: Any) -> None:
            items = Counting(params_seq)
            await original(cursor, query, items, **options)
            self.counter.further(items.count - 1)

        return executemany

    def _command(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def _exec_command(connection: Any, *args: Any, **kwargs: Any) -> Any:
            if not vars(connection).pop(_COUNTED, False):
                self.counter.further(1)
            return original(connection, *args, **kwargs)

        return _exec_command

    def _ended(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def end(connection: Any) -> Any:
            if connection.pgconn.transaction_status == _IDLE:
                return original(connection)  # Nothing is sent.
            return _marked(connection, self.counter.run, original, connection)

        return end

    def _ended_awaited(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        async def end(connection: Any) -> Any:
            if connection.pgconn.transaction_status == _IDLE:
                return await original(connection)
            return await _marked_awaited(connection, self.counter.wait, original, connection)

        return end

    def _block(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def pass_through(transaction: Any, *args: Any) -> Any:
            return _marked(transaction._conn, self.counter.run, original, transaction, *args)

        return pass_through

    def _block_awaited(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        async def pass_through(transaction: Any, *args: Any) -> Any:
            return await _marked_awaited(transaction._conn, self.counter.wait, original, transaction, *args)

        return pass_through


def _marked(connection: Any, call: Callable[..., Any], *args: Any) -> Any:
    """Calls it; the first command that it sends is counted by that call."""
    vars(connection)[_COUNTED] = True
    try:
        return call(*args)
    finally:
        vars(connection).pop(_COUNTED, None)


async def _marked_awaited(connection: Any, call: Callable[..., Any], *args: Any) -> Any:
    vars(connection)[_COUNTED] = True
    try:
        return await call(*args)
    finally:
        vars(connection).pop(_COUNTED, None)


def _base(module: Any) -> Any:
    """Returns the common base class of both kinds of connection."""
    return next((kind for kind in module.Connection.__mro__ if "_exec_command" in vars(kind)), module.Connection)


LIBRARY: Psycopg = Psycopg()
