"""Ready patches for the libraries through which a request talks to others:

    import psycopg, redis
    from assay import patches

    for outcome in patches.apply():          # All that are loaded; or apply("psycopg", "redis").
        print(outcome)
    # psycopg 3.2.13: applied, rows sql
    # redis 7.0.1: applied, rows redis
    # ...

A call of the row `sql` is a statement that was executed, one of `redis` a command (a pipeline of ten is ten), one of `net` a request,
one of `orm` a statement of SQLAlchemy or Django, whatever the driver beneath; `net_connect` is connecting. Which methods of a library
carry a statement or a command is in the files here, one a library. They must not count: the method profiler does.
"""

from __future__ import annotations

from . import (
    aiosqlite,
    asyncpg,
    django,
    httpx,
    mysqlclient,
    psycopg,
    psycopg2,
    pymysql,
    redis,
    requests,
    sqlalchemy,
    sqlite3,
)
from .library import Library, Outcome

__all__ = ["Outcome", "apply", "libraries", "remove", "rows"]

_LIBRARIES: dict[str, Library] = {
    module.LIBRARY.key: module.LIBRARY
    for module in (
        psycopg,
        psycopg2,
        asyncpg,
        sqlite3,
        aiosqlite,
        mysqlclient,
        pymysql,
        redis,
        httpx,
        requests,
        sqlalchemy,
        django,
    )
}


def libraries() -> list[str]:
    """The names of the libraries that are known."""
    return list(_LIBRARIES)


def apply(*names: str, keep: bool = False) -> list[Outcome]:
    """Patches these libraries, or all that are loaded when none is named. Gives an outcome for each; for all that are known when none is
    named. A library that is not loaded is left out, not imported: apply once more when it is. What is applied already stays.

    `keep` leaves the wrappers in all the time (see `MethodProfiler.keep_installed`). Connections of psycopg2 and sqlite3 that were
    opened before are not counted.

    Raises ValueError for a library that is not known, and where one of the methods is patched under another name already.
    """
    return [library.apply(keep=keep) for library in _found(names)]


def remove(*names: str) -> list[str]:
    """Undoes `apply` for these libraries, or for all. Gives the names of those that had been applied."""
    return [library.key for library in _found(names) if library.remove()]


def rows() -> list[str]:
    """The rows under which the applied libraries count."""
    return list(dict.fromkeys(row for library in _LIBRARIES.values() for row in library.rows))


def _found(names: tuple[str, ...]) -> list[Library]:
    for name in names:
        if name not in _LIBRARIES:
            raise ValueError(
                f"there is no patch for {name!r}: there are those for {', '.join(_LIBRARIES)}. Other methods are patched by "
                "MethodProfiler.patch"
            )
    return [_LIBRARIES[name] for name in names] if names else list(_LIBRARIES.values())
