"""Python's own sqlite3. Its classes do not allow setting attributes, so connections are created
from subclasses while it is applied; existing ones are not counted. Statements sent by its
transaction control (BEGIN, COMMIT) are detected by changes of the connection's `in_transaction`."""

from __future__ import annotations

import functools
import platform
import sys
from typing import Any, Callable

from .library import Counting, Library, Seams, Target


class Sqlite3(Library):
    """sqlite3."""

    key = "sqlite3"
    module = "sqlite3"
    least = "3.9"
    below = "4"

    def version(self, module: Any) -> str:
        """It has no version of its own."""
        return platform.python_version()

    def targets(self, module: Any) -> list[Target]:
        """Several statements in one string (`executescript`) count as one call. Rows that are
        fetched later are not timed."""
        return self.counted("sql")

    def seams(self, module: Any) -> Seams:
        """Connections, under both names in the module."""
        return [
            (owner, {"connect": functools.partial(self._connect, module)})
            for owner in (module, sys.modules["sqlite3.dbapi2"])
        ]

    def _connect(self, module: Any, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def connect(*args: Any, **options: Any) -> Any:
            given = args[5] if len(args) > 5 else options.get("factory", module.Connection)
            if isinstance(given, type):
                factory = self.subclassed(given, self._connection)
                if len(args) > 5:
                    args = (*args[:5], factory, *args[6:])
                else:
                    options["factory"] = factory
            return original(*args, **options)

        return connect

    def _connection(self, base: type[Any]) -> dict[str, Any]:
        from sqlite3 import Cursor

        def cursor(connection: Any, factory: Any = Cursor) -> Any:
            return base.cursor(
                connection, self.subclassed(factory, self._cursor) if isinstance(factory, type) else factory
            )

        def ending(original: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(original)
            def end(connection: Any) -> Any:
                if not connection.in_transaction:
                    return original(connection)
                result = self.counter.run(original, connection)
                self.counter.further(int(connection.in_transaction))  # With `autocommit=False` the next one has begun.
                return result

            return end

        commit, rollback = ending(base.commit), ending(base.rollback)

        def leave(connection: Any, kind: Any, problem: Any, trace: Any) -> bool:
            # Like the C implementation, which on some versions of Python calls its own commit and
            # not this class's.
            if kind is not None:
                rollback(connection)
                return False
            try:
                commit(connection)
            except BaseException:
                rollback(connection)
                raise
            return False

        def shortcut(name: str) -> Callable[..., Any]:
            # On some versions of Python the C implementation creates its cursor without this class.
            @functools.wraps(getattr(base, name))
            def run(connection: Any, *args: Any) -> Any:
                cursor = connection.cursor()
                getattr(cursor, name)(*args)
                return cursor

            return run

        shortcuts = {name: shortcut(name) for name in ("execute", "executemany", "executescript")}
        return {**shortcuts, "cursor": cursor, "commit": commit, "rollback": rollback, "__exit__": leave}

    def _cursor(self, base: type[Any]) -> dict[str, Any]:
        @functools.wraps(base.execute)
        def execute(cursor: Any, sql: Any, *args: Any) -> Any:
            before = cursor.connection.in_transaction
            result = self.counter.run(base.execute, cursor, sql, *args)
            self.counter.further(self._begun(cursor, before) and not _begins(sql))
            return result

        @functools.wraps(base.executemany)
        def executemany(cursor: Any, sql: Any, items: Any) -> Any:
            counting = Counting(items)
            before = cursor.connection.in_transaction
            result = self.counter.run(base.executemany, cursor, sql, iter(counting))
            self.counter.further(counting.count - 1 + self._begun(cursor, before))
            return result

        @functools.wraps(base.executescript)
        def executescript(cursor: Any, script: str) -> Any:
            self.counter.further(int(cursor.connection.in_transaction))  # It is committed first.
            return self.counter.run(base.executescript, cursor, script)

        return {"execute": execute, "executemany": executemany, "executescript": executescript}

    def _begun(self, cursor: Any, before: bool) -> bool:
        return bool(cursor.connection.in_transaction) and not before


def _begins(sql: object) -> bool:
    return isinstance(sql, str) and sql.lstrip()[:9].upper().startswith(("BEGIN", "SAVEPOINT"))


LIBRARY: Sqlite3 = Sqlite3()
