"""psycopg2. Its classes are written in C and do not allow setting attributes, so connections are
created from subclasses while it is applied; existing ones are not counted. A statement outside a
transaction is preceded by a BEGIN that the library sends itself."""

from __future__ import annotations

import functools
from typing import Any, Callable

from .library import Counting, Library, Seams, Target

_READY, _BEGUN = 1, 2  # STATUS_READY and STATUS_BEGIN of psycopg2.extensions.


class Psycopg2(Library):
    """psycopg2, and psycopg2-binary."""

    key = "psycopg2"
    module = "psycopg2"
    least = "2.8"
    below = "3"

    def targets(self, module: Any) -> list[Target]:
        """Rows of a named cursor that are fetched later are not counted."""
        return self.counted("sql")

    def seams(self, module: Any) -> Seams:
        """Connections."""
        return [(module, {"connect": functools.partial(self._connect, module)})]

    def _connect(self, module: Any, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def connect(dsn: Any = None, connection_factory: Any = None, cursor_factory: Any = None, **options: Any) -> Any:
            factory = connection_factory or module.extensions.connection
            if isinstance(factory, type) and issubclass(factory, module.extensions.connection):
                factory = self.subclassed(factory, self._connection)
            return original(dsn, connection_factory=factory, cursor_factory=cursor_factory, **options)

        return connect

    def _connection(self, base: type[Any]) -> dict[str, Any]:
        def cursor(connection: Any, name: Any = None, cursor_factory: Any = None, *args: Any, **options: Any) -> Any:
            factory = cursor_factory or connection.cursor_factory
            if factory is None and base.__module__ == "psycopg2.extensions":
                factory = _cursor_of_c()
            if isinstance(factory, type):
                return base.cursor(connection, name, self.subclassed(factory, self._cursor), *args, **options)
            made = base.cursor(connection, *([name] if name is not None else []), *args, **options)
            if type(made).__module__ != "psycopg2.extensions":
                made.__class__ = self.subclassed(type(made), self._cursor)
            return made

        def ending(original: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(original)
            def end(connection: Any) -> Any:
                begun = connection.status == _BEGUN
                return self.counter.run(original, connection) if begun else original(connection)

            return end

        return {"cursor": cursor, "commit": ending(base.commit), "rollback": ending(base.rollback)}

    def _cursor(self, base: type[Any]) -> dict[str, Any]:
        def statement(original: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(original)
            def run(cursor: Any, *args: Any, **kwargs: Any) -> Any:
                self.counter.further(_begins(cursor.connection))
                return self.counter.run(original, cursor, *args, **kwargs)

            return run

        @functools.wraps(base.executemany)
        def executemany(cursor: Any, query: Any, vars_list: Any) -> Any:
            items = Counting(vars_list)
            self.counter.further(_begins(cursor.connection))
            result = self.counter.run(base.executemany, cursor, query, iter(items))
            self.counter.further(items.count - 1)
            return result

        named = ["execute", "callproc", "copy_from", "copy_to", "copy_expert"]
        return {"executemany": executemany, **{name: statement(getattr(base, name)) for name in named}}


def _begins(connection: Any) -> int:
    return 1 if connection.status == _READY and not connection.autocommit else 0


def _cursor_of_c() -> Any:
    from psycopg2.extensions import cursor  # type: ignore[import-untyped,import-not-found,unused-ignore]

    return cursor


LIBRARY: Psycopg2 = Psycopg2()
