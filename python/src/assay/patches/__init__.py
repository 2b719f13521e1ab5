"""Ready-made patches for the libraries with which a request communicates with other systems:

    import psycopg, redis
    from assay import patches

    for outcome in patches.apply():          # All that are loaded; or apply("psycopg", "redis").
        print(outcome)
    # psycopg 3.2.13: applied, rows sql
    # redis 7.0.1: applied, rows redis
    # ...

A call in the row `sql` is an executed statement, one in `redis` a command (a pipeline of ten counts
ten), one in `net` a request, one in `orm` a statement of SQLAlchemy or Django, with any driver;
`net_connect` counts connecting. The methods of each library that execute a statement or command are
in the files here, one per library. They must not count: the method profiler does.
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
    """Returns the names of the known libraries."""
    return list(_LIBRARIES)


def apply(*names: str, keep: bool = False) -> list[Outcome]:
    """Patches these libraries, or all loaded ones by default. Returns an outcome for each, or for
    all known libraries by default. A library that is not loaded is skipped, not imported: call this
    again after importing it. Libraries already patched stay patched.

    `keep` leaves the wrappers in permanently (see `MethodProfiler.keep_installed`). Connections of
    psycopg2 and sqlite3 that were opened before are not counted.

    Raises ValueError for an unknown library, and if one of the methods is already patched under
    another name.
    """
    return [library.apply(keep=keep) for library in _found(names)]


def remove(*names: str) -> list[str]:
    """Undoes `apply` for these libraries, or for all. Returns the names of those that had been
    applied."""
    return [library.key for library in _found(names) if library.remove()]


def rows() -> list[str]:
    """Returns the rows of the applied libraries."""
    return list(dict.fromkeys(row for library in _LIBRARIES.values() for row in library.rows))


def _found(names: tuple[str, ...]) -> list[Library]:
    for name in names:
        if name not in _LIBRARIES:
            raise ValueError(
                f"there is no patch for {name!r}: there are those for {', '.join(_LIBRARIES)}. Other methods are patched by "
                "MethodProfiler.patch"
            )
    return [_LIBRARIES[name] for name in names] if names else list(_LIBRARIES.values())
