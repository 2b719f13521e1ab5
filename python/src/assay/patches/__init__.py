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

import logging
import sys

from ..profiler import MethodProfiler
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
    """Patches these libraries, or all by default, and returns an outcome for each. A library that
    is not loaded is not imported: it is `absent`, and is patched when the first profile after its
    import starts. Libraries already patched stay patched.

    `keep` leaves the wrappers in permanently (see `MethodProfiler.keep_installed`). Connections of
    psycopg2 and sqlite3 that were opened before are not counted.

    Raises ValueError for an unknown library, and if one of the methods is already patched under
    another name.
    """
    outcomes = [library.apply(keep=keep) for library in _found(names)]
    for outcome in outcomes:
        _awaited.pop(outcome.library, None)
        if outcome.status == "absent":
            _awaited[outcome.library] = keep
    MethodProfiler.before_start(_catch_up if _awaited else None)
    return outcomes


def remove(*names: str) -> list[str]:
    """Undoes `apply` for these libraries, or for all. Returns the names of those that had been
    applied."""
    found = _found(names)
    for library in found:
        _awaited.pop(library.key, None)
    return [library.key for library in found if library.remove()]


def rows() -> list[str]:
    """Returns the rows of the applied libraries."""
    return list(dict.fromkeys(row for library in _LIBRARIES.values() for row in library.rows))


#: The libraries that `apply` found absent, each with its `keep`.
_awaited: dict[str, bool] = {}
#: Number of loaded modules when they were last checked for one of these.
_modules = 0
_log = logging.getLogger("assay.profile")


def _catch_up() -> None:
    """Patches the awaited libraries that have been imported since. Called at every start of a
    profile, which must not fail because of them."""
    global _modules
    if len(sys.modules) == _modules:
        return
    _modules = len(sys.modules)
    for key, keep in list(_awaited.items()):
        module = sys.modules.get(_LIBRARIES[key].module)
        if module is None:
            continue
        if getattr(getattr(module, "__spec__", None), "_initializing", False):
            _modules = 0  # Being imported by another thread.
            continue
        _awaited.pop(key, None)
        try:
            outcome = _LIBRARIES[key].apply(keep=keep)
            if not outcome.applied:
                _log.warning("%s", outcome)
        except ValueError as problem:
            _log.warning("%s is not counted: %s", key, problem)


def _found(names: tuple[str, ...]) -> list[Library]:
    for name in names:
        if name not in _LIBRARIES:
            raise ValueError(
                f"there is no patch for {name!r}: there are those for {', '.join(_LIBRARIES)}. Other methods are patched by "
                "MethodProfiler.patch"
            )
    return [_LIBRARIES[name] for name in names] if names else list(_LIBRARIES.values())
