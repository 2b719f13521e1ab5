# mypy: ignore-errors
"""Instruments the operations of Python and of well-known libraries that make a test slow: log
records, SQL statements, Redis commands, sleeps, requests, started programs. This file has two uses:
the budgets of the package, and the hooks of `assay tests`, where `assay_tests_causes.py` is a link
to it.

Methods are chosen such that each operation of a library passes through exactly one of them; stubbed
calls never arrive here. Layers above drivers (SQLAlchemy, Django) count only statements that no
driver below has counted.
"""

import functools
import inspect
import logging
import os
import subprocess
import sys
import time

# Indices of the counts. Each time, in nanoseconds, follows its count.
LOG_LINES, SQL, SQL_TIME, REDIS, REDIS_TIME, SLEEPS, SLEEP_TIME, HTTP, HTTP_TIME, PROCESSES = range(10)

_BEGUN = 2  # STATUS_BEGIN of psycopg2; _READY is its STATUS_READY.
_READY = 1


def _none(*_args, **_kwargs):
    return 0


class Causes:
    """Counts into a list. Subclasses may also use a description of each operation: the `text`
    argument is a function of the call's arguments that only they call."""

    def __init__(self, counts, clock, guarded) -> None:
        self.counts = counts
        self.clock = clock
        self.guarded = guarded
        self.modules = -1
        self.starting = False
        self.subclasses = {}
        self.replaced = []
        self.libraries = {
            "sqlite3": self.sqlite3,
            "psycopg": self.psycopg,
            "psycopg2": self.psycopg2,
            "asyncpg.protocol": self.asyncpg,
            "MySQLdb.cursors": self.mysqlclient,
            "pymysql.connections": self.pymysql,
            "sqlalchemy.engine.base": self.sqlalchemy,
            "django.db.backends.utils": self.django,
            "redis.client": self.redis,
            "redis.asyncio.client": self.redis,
            "redis.cluster": self.redis_cluster,
            "redis.asyncio.cluster": self.redis_cluster,
            "http.client": self.http,
            "httpx": self.httpx,
            "aiohttp.client": self.aiohttp,
        }

    def look(self) -> None:
        """Installs the counting in libraries that were imported since the last time."""
        if len(sys.modules) == self.modules:
            return
        self.modules = len(sys.modules)
        for name in list(self.libraries):
            module = sys.modules.get(name)
            # A module that is being imported is incomplete.
            if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
                self.guarded(self.libraries.pop(name), module)

    def put(self, owner, name, value):
        """Replaces a function by another."""
        own = name in vars(owner)
        self.replaced.append((owner, name, value, own, vars(owner)[name] if own else None))
        setattr(owner, name, value)

    def undo(self) -> None:
        """Restores everything, except members that other code has replaced in the meantime.
        References taken in the meantime stay."""
        while self.replaced:
            owner, name, value, own, before = self.replaced.pop()
            if vars(owner).get(name) is value:
                setattr(owner, name, before) if own else delattr(owner, name)

    # Counting. ----------------------------------------------------------------------------------------------------------

    def add(self, row, number, _text):
        """Counts without a time."""
        self.counts[row] += number

    def around(self, original, row, number=None, text=None):
        """Returns a function that counts and times its calls. `number`, called with the arguments
        when the call has ended, returns how many one call counts."""
        counts, clock = self.counts, self.clock
        if inspect.iscoroutinefunction(original):

            @functools.wraps(original)
            async def wait(*args, **kwargs):
                begin = clock()
                try:
                    return await original(*args, **kwargs)
                finally:
                    counts[row] += 1 if number is None else number(*args, **kwargs)
                    counts[row + 1] += clock() - begin

            return wait

        @functools.wraps(original)
        def call(*args, **kwargs):
            begin = clock()
            try:
                return original(*args, **kwargs)
            finally:
                counts[row] += 1 if number is None else number(*args, **kwargs)
                counts[row + 1] += clock() - begin

        return call

    def timed(self, owner, name, row, number=None, text=None):
        """Counts and times calls of a method, if it is there."""
        original = getattr(owner, name, None)
        if original is not None:
            self.put(owner, name, self.around(original, row, number, text))

    def before(self, owner, name, row, text):
        """Counts calls of a method, without their time."""
        original = getattr(owner, name)

        @functools.wraps(original)
        def call(*args, **kwargs):
            self.add(row, 1, lambda: text(*args, **kwargs))
            return original(*args, **kwargs)

        self.put(owner, name, call)

    def above(self, owner, name):
        """Counts a statement of a layer above drivers, unless a driver did."""
        original = getattr(owner, name)
        counts = self.counts
        counted = self.around(_none, SQL, text=_second)

        @functools.wraps(original)
        def call(*args, **kwargs):
            before, begin = counts[SQL], self.clock()
            try:
                return original(*args, **kwargs)
            finally:
                if counts[SQL] == before:
                    counted(*args, **kwargs)
                    counts[SQL_TIME] += self.clock() - begin

        self.put(owner, name, call)

    def subclassed(self, base, make):
        """Returns a look-alike subclass with replaced methods, for classes whose attributes cannot
        be set."""
        if base in self.subclasses.values():
            return base
        if base not in self.subclasses:
            about = {name: getattr(base, name) for name in ("__module__", "__qualname__", "__doc__")}
            self.subclasses[base] = type(base.__name__, (base,), {"__slots__": (), **about, **make(base)})
        return self.subclasses[base]

    def counting(self, items, text):
        """Passes items on; each counts as a statement, except the first, which the call itself
        counts."""
        more = 0
        for item in items:
            if more:
                self.add(SQL, 1, text)
            more = 1
            yield item

    # Python's own. ------------------------------------------------------------------------------------------------------

    def put_into_python(self) -> None:
        """Sleeps, programs and logs."""
        self.sleeps()
        for name in ("system", "fork", "forkpty", "posix_spawn", "posix_spawnp"):
            if hasattr(os, name):
                self.started(name)
        execute = subprocess.Popen._execute_child

        @functools.wraps(execute)
        def _execute_child(popen, args, *others, **options):
            self.add(PROCESSES, 1, lambda: args)
            self.starting = True  # It may go on by `os.posix_spawn`.
            try:
                return execute(popen, args, *others, **options)
            finally:
                self.starting = False

        self.put(subprocess.Popen, "_execute_child", _execute_child)
        self.before(
            logging.Logger,
            "handle",
            LOG_LINES,
            lambda _logger, record: f"{record.levelname} {record.name}: {record.msg}",
        )

    def sleeps(self):
        """Instruments sleeping functions."""
        self.timed(time, "sleep", SLEEPS, text=_caller)

    def started(self, name):
        """Instruments programs that are started without `subprocess`."""
        original = getattr(os, name)

        @functools.wraps(original)
        def start(*args, **kwargs):
            if not self.starting:
                self.add(PROCESSES, 1, lambda: args[0] if args else name)
            return original(*args, **kwargs)

        self.put(os, name, start)

    # Databases. ---------------------------------------------------------------------------------------------------------

    def sqlite3(self, module):
        """Connections are created from subclasses from now on."""
        for owner in (module, sys.modules["sqlite3.dbapi2"]):
            original = owner.connect

            def connect(*args, original=original, **options):
                given = args[5] if len(args) > 5 else options.get("factory", module.Connection)
                if isinstance(given, type):
                    factory = self.subclassed(given, self.sqlite3_connection)
                    if len(args) > 5:
                        args = (*args[:5], factory, *args[6:])
                    else:
                        options["factory"] = factory
                return original(*args, **options)

            self.put(owner, "connect", functools.wraps(original)(connect))

    def sqlite3_connection(self, base):
        from sqlite3 import Cursor

        def cursor(connection, factory=Cursor):
            made = self.subclassed(factory, self.sqlite3_cursor) if isinstance(factory, type) else factory
            return base.cursor(connection, made)

        def ending(original, text):
            counted = self.around(original, SQL, text=lambda *_: text)

            @functools.wraps(original)
            def end(connection):
                return counted(connection) if connection.in_transaction else original(connection)

            return end

        commit, rollback = ending(base.commit, "COMMIT"), ending(base.rollback, "ROLLBACK")

        def leave(connection, kind, problem, trace):
            # In some versions of Python the C implementation calls its own commit instead of this
            # class's.
            if kind is not None:
                rollback(connection)
                return False
            try:
                commit(connection)
            except BaseException:
                rollback(connection)
                raise
            return False

        def shortcut(name):
            # The same holds for its cursor.
            @functools.wraps(getattr(base, name))
            def run(connection, *args):
                made = connection.cursor()
                getattr(made, name)(*args)
                return made

            return run

        shortcuts = {name: shortcut(name) for name in ("execute", "executemany", "executescript")}
        return {**shortcuts, "cursor": cursor, "commit": commit, "rollback": rollback, "__exit__": leave}

    def sqlite3_cursor(self, base):
        execute, executemany = (
            self.around(base.execute, SQL, text=_second),
            self.around(base.executemany, SQL, text=_second),
        )

        # A BEGIN sent implicitly by the module also counts as a statement.
        def run(cursor, sql, *args):
            connection = cursor.connection
            before = connection.in_transaction
            result = execute(cursor, sql, *args)
            begins = sql.lstrip()[:9].upper().startswith(("BEGIN", "SAVEPOINT"))
            if not before and connection.in_transaction and not begins:
                self.add(SQL, 1, _begin)
            return result

        def run_many(cursor, sql, items):
            before = cursor.connection.in_transaction
            result = executemany(cursor, sql, self.counting(items, lambda: sql))
            if not before and cursor.connection.in_transaction:
                self.add(SQL, 1, _begin)
            return result

        return {
            "execute": functools.wraps(base.execute)(run),
            "executemany": functools.wraps(base.executemany)(run_many),
            "executescript": self.around(base.executescript, SQL, text=_second),
        }

    def psycopg(self, module):
        """Statements of cursors; the library's own commands (BEGIN, COMMIT, savepoints) pass
        through `_exec_command`."""
        for cursor in (module.Cursor, module.AsyncCursor):
            for name in ("execute", "stream", "copy"):
                self.timed(cursor, name, SQL, text=_second)
            self.many(cursor)
        for cursor in (module.ServerCursor, module.AsyncServerCursor):
            if "execute" in vars(cursor):
                self.timed(cursor, "execute", SQL, text=_second)
        base = next((kind for kind in module.Connection.__mro__ if "_exec_command" in vars(kind)), None)
        if base is not None:
            self.before(base, "_exec_command", SQL, _second)
        # Counted above; only the time is added here.
        for connection in (module.Connection, module.AsyncConnection):
            for name in ("commit", "rollback"):
                self.timed(connection, name, SQL, _none)

    def many(self, cursor):
        """`executemany`, each item of which is a statement."""
        original = self.around(cursor.executemany, SQL, text=_second)

        @functools.wraps(cursor.executemany)
        def executemany(this, query, params_seq, **options):
            return original(this, query, self.counting(params_seq, lambda: query), **options)

        self.put(cursor, "executemany", executemany)

    def psycopg2(self, module):
        """Connections are created from subclasses from now on. Outside a transaction a statement is
        preceded by BEGIN."""
        original = module.connect

        @functools.wraps(original)
        def connect(dsn=None, connection_factory=None, cursor_factory=None, **options):
            factory = connection_factory or module.extensions.connection
            if isinstance(factory, type) and issubclass(factory, module.extensions.connection):
                factory = self.subclassed(factory, self.psycopg2_connection)
            return original(dsn, connection_factory=factory, cursor_factory=cursor_factory, **options)

        self.put(module, "connect", connect)

    def psycopg2_connection(self, base):
        def cursor(connection, name=None, cursor_factory=None, *args, **options):
            factory = cursor_factory or connection.cursor_factory
            if factory is None and base.__module__ == "psycopg2.extensions":
                from psycopg2.extensions import cursor as factory
            if isinstance(factory, type):
                return base.cursor(connection, name, self.subclassed(factory, self.psycopg2_cursor), *args, **options)
            return base.cursor(connection, *([name] if name is not None else []), *args, **options)

        def ending(original, text):
            counted = self.around(original, SQL, text=lambda *_: text)

            @functools.wraps(original)
            def end(connection):
                return counted(connection) if connection.status == _BEGUN else original(connection)

            return end

        commit, rollback = ending(base.commit, "COMMIT"), ending(base.rollback, "ROLLBACK")
        return {"cursor": cursor, "commit": commit, "rollback": rollback}

    def psycopg2_cursor(self, base):
        def statement(original):
            counted = self.around(original, SQL, text=_second)

            @functools.wraps(original)
            def run(cursor, *args, **kwargs):
                if cursor.connection.status == _READY and not cursor.connection.autocommit:
                    self.add(SQL, 1, _begin)
                return counted(cursor, *args, **kwargs)

            return run

        names = ("execute", "callproc", "copy_from", "copy_to", "copy_expert")
        many = statement(base.executemany)

        @functools.wraps(base.executemany)
        def executemany(cursor, query, vars_list):
            return many(cursor, query, self.counting(vars_list, lambda: query))

        return {"executemany": executemany, **{name: statement(getattr(base, name)) for name in names}}

    def asyncpg(self, module):
        """Everything passes through its protocol, whose methods are compiled and not recognizable
        as awaitable."""
        protocol = module.Protocol
        for name in ("query", "bind_execute", "bind", "copy_in", "copy_out"):
            self.put(protocol, name, self.around(_awaited(getattr(protocol, name)), SQL, text=_asyncpg))
        many = self.around(_awaited(protocol.bind_execute_many), SQL, text=_asyncpg)

        @functools.wraps(protocol.bind_execute_many)
        async def bind_execute_many(this, state, args, *others, **options):
            items = self.counting(args, lambda: _asyncpg(this, state))
            return await many(this, state, items, *others, **options)

        self.put(protocol, "bind_execute_many", bind_execute_many)

    def mysqlclient(self, module):
        """All statements of cursors pass through `_query`."""
        self.timed(module.BaseCursor, "_query", SQL, text=_second)
        self.transactions(sys.modules["MySQLdb.connections"].Connection)

    def pymysql(self, module):
        """All statements of cursors pass through `query` of their connection."""
        self.timed(module.Connection, "query", SQL, text=_second)
        self.transactions(module.Connection)

    def transactions(self, connection):
        """Methods that begin and end transactions."""
        for name in ("commit", "rollback", "begin"):
            self.timed(connection, name, SQL, text=lambda *_, name=name: name.upper())

    def sqlalchemy(self, module):
        """For unknown drivers."""
        self.above(module.Connection, "_execute_context")

    def django(self, module):
        """The same."""
        for name in ("_execute", "_executemany", "callproc"):
            self.above(module.CursorWrapper, name)

    def redis(self, module):
        """A pipeline counts as many commands as it contains, plus MULTI and EXEC for a
        transaction."""
        for owner in (module.Redis, module.PubSub):
            self.timed(owner, "execute_command", REDIS, text=_second)
        pipeline = module.Pipeline
        self.timed(pipeline, "immediate_execute_command", REDIS, text=_second)
        commands = (("_execute_transaction", 2), ("_execute_pipeline", 0))
        for name, more in commands:
            self.timed(
                pipeline,
                name,
                REDIS,
                lambda _self, _to, stack, *_, more=more, **__: len(stack) + more,
                lambda *_, **__: "(pipeline)",
            )

    def redis_cluster(self, module):
        """Cluster clients send commands themselves, and pipelines their contents."""
        self.timed(module.RedisCluster, "execute_command", REDIS, text=_second)
        execute = module.ClusterPipeline.execute
        timed = self.around(execute, REDIS, _none)

        @functools.wraps(execute)
        def run(pipeline, *args, **kwargs):
            self.add(REDIS, len(pipeline), lambda: "(pipeline)")
            return timed(pipeline, *args, **kwargs)

        self.put(module.ClusterPipeline, "execute", run)

    # HTTP. --------------------------------------------------------------------------------------------------------------

    def http(self, module):
        """Python's own client, used by urllib3, requests and boto. Connecting and sending is in
        `endheaders`."""
        connection = module.HTTPConnection
        self.before(
            connection,
            "putrequest",
            HTTP,
            lambda this, method, url, *_, **__: f"{method} {this.host}{url.partition('?')[0]}",
        )
        for name in ("endheaders", "getresponse"):
            self.timed(connection, name, HTTP, _none)

    def httpx(self, module):
        """Transports that use the network; others are stand-ins."""
        self.timed(module.HTTPTransport, "handle_request", HTTP, text=_httpx)
        self.timed(module.AsyncHTTPTransport, "handle_async_request", HTTP, text=_httpx)

    def aiohttp(self, module):
        """One call is one request, including its redirects."""
        text = lambda _self, method, url, *_, **__: f"{method} {str(url).partition('?')[0]}"  # noqa: E731
        self.timed(module.ClientSession, "_request", HTTP, text=text)


def _second(*args, **_kwargs):
    """Returns the first argument of a method after its object."""
    return args[1] if len(args) > 1 else "(statement)"


def _awaited(function):
    @functools.wraps(function)
    async def call(*args, **kwargs):
        return await function(*args, **kwargs)

    return call


def _asyncpg(_protocol, statement=None, *_args, **options):
    statement = statement or options.get("state") or options.get("query") or options.get("copy_stmt")
    return getattr(statement, "query", statement)


def _begin():
    return "BEGIN"


def _httpx(_self, request, *_args, **_kwargs):
    return f"{request.method} {request.url.host}{request.url.path}"


def _caller(*_args, **_kwargs):
    """Returns the location of the code that sleeps."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("Causes") is not None:
        frame = frame.f_back
    return f"from {frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "from somewhere"


def watch(recorder):
    """Starts counting for the hooks. Returns a function that looks for newly imported libraries."""
    causes = Causes(recorder.counts, recorder.clock, recorder.guarded)
    causes.put_into_python()
    causes.look()
    return causes.look
