"""mysqlclient (MySQLdb). All statements of cursors, including those of `executemany` and
`callproc`, pass through `_query` once, which also reads the response."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Callable

from .library import Library, Seams, Target


class Mysqlclient(Library):
    """mysqlclient."""

    key = "mysqlclient"
    module = "MySQLdb"
    least = "1.4"
    below = "3"

    def version(self, module: Any) -> str:
        """Since 2.3 the version is not available as text."""
        return ".".join(map(str, module.version_info[:3]))

    def targets(self, module: Any) -> list[Target]:
        """Statements that bypass cursors, by `Connection.query`, and those sent on connecting are
        not counted."""
        cursor = importlib.import_module("MySQLdb.cursors").BaseCursor
        connection = importlib.import_module("MySQLdb.connections").Connection
        return [
            (cursor, ["_query"], "sql", True),
            (connection, ["commit", "rollback", "begin"], "sql", True),
            *self.counted("sql"),
        ]

    def seams(self, module: Any) -> Seams:
        """Switching `autocommit` is a statement if it changes something."""
        return [(importlib.import_module("MySQLdb.connections").Connection, {"autocommit": self._autocommit})]

    def _autocommit(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def autocommit(connection: Any, on: Any) -> Any:
            if bool(connection.get_autocommit()) == bool(on):
                return original(connection, on)
            return self.counter.run(original, connection, on)

        return autocommit


LIBRARY: Mysqlclient = Mysqlclient()
