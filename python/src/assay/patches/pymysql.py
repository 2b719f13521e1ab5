"""PyMySQL. Every statement passes through one of the methods of its connection: `query` for those
of cursors, and one for each that the library sends itself, including those sent on connecting."""

from __future__ import annotations

import importlib
from typing import Any

from .library import Library, Target


class Pymysql(Library):
    """PyMySQL."""

    key = "pymysql"
    module = "pymysql"
    least = "1"
    below = "2"

    def version(self, module: Any) -> str:
        """Its own version: `__version__` is that of the mysqlclient for which it can substitute."""
        return str(module.VERSION_STRING)

    def targets(self, module: Any) -> list[Target]:
        """Rows of an unbuffered cursor that are fetched later are not timed."""
        connection = importlib.import_module("pymysql.connections").Connection
        charset = "set_character_set" if hasattr(connection, "set_character_set") else "set_charset"
        return [
            (connection, ["query", "commit", "rollback", "begin"], "sql", True),
            (connection, ["_send_autocommit_mode", charset, "show_warnings"], "sql", False),
        ]


LIBRARY: Pymysql = Pymysql()
