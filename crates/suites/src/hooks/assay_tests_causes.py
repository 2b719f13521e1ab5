"""Counts what makes a test slow: records of logs, statements of SQL, Redis commands, sleeps, requests, started programs. Loaded only where
ASSAY_TESTS_CAUSES asks for it; put into a library once it is imported, its own modules at once.

Methods are chosen such that what a library does once passes one of them once; what is stubbed never comes here, and is not counted. What
is above drivers (SQLAlchemy, Django) counts only what no driver below it has counted.
"""

import functools
import inspect
import logging
import os
import subprocess
import sys
import time

from assay_tests_events import HTTP, LOG_LINES, PROCESSES, REDIS, SLEEPS, SQL, SQL_TIME

_BUSY = 2  # STATUS_BEGIN of psycopg2; _READY: STATUS_READY.
_READY = 1


class Causes:
    """Where libraries are counted."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.counts = recorder.counts
        self.clock = recorder.clock
        self.modules = -1
        self.starting = False
        self.subclasses = {}
        self.libraries = {
            "sqlite3": self.sqlite3,
            "psycopg": self.psycopg,
            "psycopg2": self.psycopg2,
            "MySQLdb.cursors": self.mysqlclient,
            "pymysql.cursors": self.pymysql,
            "sqlalchemy.engine.base": self.sqlalchemy,
            "django.db.backends.utils": self.django,
            "redis.client": self.redis,
            "redis.asyncio.client": self.redis,
            "http.client": self.http,
            "httpx": self.httpx,
            "aiohttp.client": self.aiohttp,
        }

    def look(self):
        """Puts the counting into libraries that were imported since the last time."""
        if len(sys.modules) == self.modules:
            return
        self.modules = len(sys.modules)
        for name in list(self.libraries):
            module = sys.modules.get(name)
            # One that is being imported is not yet there as a whole.
            if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
                self.recorder.guarded(self.libraries.pop(name), module)

    # Python's own. ------------------------------------------------------------------------------------------------------

    def put_into_python(self):
        """Sleeps, programs and logs."""
        counts = self.counts
        self.timed(time, "sleep", SLEEPS)
        for name in ("system", "fork", "forkpty", "posix_spawn", "posix_spawnp"):
            if hasattr(os, name):
                self.started(name)
        execute = subprocess.Popen._execute_child

        @functools.wraps(execute)
        def _execute_child(*args, **kwargs):
            counts[PROCESSES] += 1
            self.starting = True  # It may go on by `os.posix_spawn`.
            try:
                return execute(*args, **kwargs)
            finally:
                self.starting = False

        subprocess.Popen._execute_child = _execute_child
        handle = logging.Logger.handle

        @functools.wraps(handle)
        def handle_record(logger, record):
            counts[LOG_LINES] += 1
            return handle(logger, record)

        logging.Logger.handle = handle_record

    def started(self, name):
        counts, original = self.counts, getattr(os, name)

        @functools.wraps(original)
        def start(*args, **kwargs):
            if not self.starting:
                counts[PROCESSES] += 1
            return original(*args, **kwargs)

        setattr(os, name, start)

    # Tools. -------------------------------------------------------------------------------------------------------------

    def timed(self, owner, name, row, number=None):
        """Counts and times calls of a method. `number` says how many one call is, of its arguments."""
        original = getattr(owner, name, None)
        if original is not None:
            setattr(owner, name, self.around(original, row, number))

    def around(self, original, row, number=None):
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

    def above(self, owner, name):
        """Counts a statement of what stands above drivers, unless a driver did."""
        counts, clock = self.counts, self.clock
        original = getattr(owner, name)

        @functools.wraps(original)
        def call(*args, **kwargs):
            before, begin = counts[SQL], clock()
            try:
                return original(*args, **kwargs)
            finally:
                if counts[SQL] == before:
                    counts[SQL] += 1
                    counts[SQL_TIME] += clock() - begin

        setattr(owner, name, call)

    def subclassed(self, base, make):
        """A class that looks like this one, with methods before its own: for classes that let nobody set attributes."""
        if base in self.subclasses.values():
            return base
        if base not in self.subclasses:
            about = {"__slots__": (), "__module__": base.__module__, "__qualname__": base.__qualname__, "__doc__": base.__doc__}
            self.subclasses[base] = type(base.__name__, (base,), {**about, **make(base)})
        return self.subclasses[base]

    def counting(self, items):
        """Hands items on; each counts as a statement, but for the first, which the call is counted for."""
        counts, more = self.counts, 0
        for item in items:
            counts[SQL] += more
            more = 1
            yield item

    # Databases. ---------------------------------------------------------------------------------------------------------

    def sqlite3(self, module):
        """Connections are made of subclasses: those that are opened from now on."""
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

            owner.connect = functools.wraps(original)(connect)

    def sqlite3_connection(self, base):
        from sqlite3 import Cursor

        def cursor(connection, factory=Cursor):
            made = self.subclassed(factory, self.sqlite3_cursor) if isinstance(factory, type) else factory
            return base.cursor(connection, made)

        def ending(original):
            counted = self.around(original, SQL)

            @functools.wraps(original)
            def end(connection):
                return counted(connection) if connection.in_transaction else original(connection)

            return end

        commit, rollback = ending(base.commit), ending(base.rollback)

        def leave(connection, kind, problem, trace):
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
            @functools.wraps(getattr(base, name))
            def run(connection, *args):
                made = connection.cursor()
                getattr(made, name)(*args)
                return made

            return run

        shortcuts = {name: shortcut(name) for name in ("execute", "executemany", "executescript")}
        return {**shortcuts, "cursor": cursor, "commit": commit, "rollback": rollback, "__exit__": leave}

    def sqlite3_cursor(self, base):
        execute, executemany = self.around(base.execute, SQL), self.around(base.executemany, SQL)

        # A BEGIN that the module sends by itself is a statement, too.
        def run(cursor, sql, *args):
            connection = cursor.connection
            before = connection.in_transaction
            result = execute(cursor, sql, *args)
            if not before and connection.in_transaction and not sql.lstrip()[:9].upper().startswith(("BEGIN", "SAVEPOINT")):
                self.counts[SQL] += 1
            return result

        def run_many(cursor, sql, items):
            before = cursor.connection.in_transaction
            result = executemany(cursor, sql, self.counting(items))
            self.counts[SQL] += int(cursor.connection.in_transaction and not before)
            return result

        return {
            "execute": functools.wraps(base.execute)(run),
            "executemany": functools.wraps(base.executemany)(run_many),
            "executescript": self.around(base.executescript, SQL),
        }

    def psycopg(self, module):
        """Statements of cursors; what the library sends by itself (BEGIN, COMMIT, savepoints) passes `_exec_command`."""
        for cursor in (module.Cursor, module.AsyncCursor):
            for name in ("execute", "stream", "copy"):
                self.timed(cursor, name, SQL)
            self.many(cursor)
        for cursor in (module.ServerCursor, module.AsyncServerCursor):
            if "execute" in vars(cursor):
                self.timed(cursor, "execute", SQL)
        base = next((kind for kind in module.Connection.__mro__ if "_exec_command" in vars(kind)), None)
        if base is not None:
            counts, original = self.counts, base._exec_command

            @functools.wraps(original)
            def command(*args, **kwargs):
                counts[SQL] += 1
                return original(*args, **kwargs)

            base._exec_command = command
        # Counted above; here is its time.
        for connection in (module.Connection, module.AsyncConnection):
            for name in ("commit", "rollback"):
                self.timed(connection, name, SQL, lambda *args, **kwargs: 0)

    def many(self, cursor):
        original = self.around(cursor.executemany, SQL)

        @functools.wraps(cursor.executemany)
        def executemany(this, query, params_seq, **options):
            return original(this, query, self.counting(params_seq), **options)

        cursor.executemany = executemany

    def psycopg2(self, module):
        """Connections are made of subclasses: those that are opened from now on. Within no transaction a statement is preceded by BEGIN."""
        original = module.connect

        @functools.wraps(original)
        def connect(dsn=None, connection_factory=None, cursor_factory=None, **options):
            factory = connection_factory or module.extensions.connection
            if isinstance(factory, type) and issubclass(factory, module.extensions.connection):
                factory = self.subclassed(factory, self.psycopg2_connection)
            return original(dsn, connection_factory=factory, cursor_factory=cursor_factory, **options)

        module.connect = connect

    def psycopg2_connection(self, base):
        def cursor(connection, name=None, cursor_factory=None, *args, **options):
            factory = cursor_factory or connection.cursor_factory
            if factory is None and base.__module__ == "psycopg2.extensions":
                from psycopg2.extensions import cursor as factory
            if isinstance(factory, type):
                return base.cursor(connection, name, self.subclassed(factory, self.psycopg2_cursor), *args, **options)
            return base.cursor(connection, *([name] if name is not None else []), *args, **options)

        def ending(original):
            counted = self.around(original, SQL)

            @functools.wraps(original)
            def end(connection):
                return counted(connection) if connection.status == _BUSY else original(connection)

            return end

        return {"cursor": cursor, "commit": ending(base.commit), "rollback": ending(base.rollback)}

    def psycopg2_cursor(self, base):
        def begun(cursor):
            self.counts[SQL] += int(cursor.connection.status == _READY and not cursor.connection.autocommit)

        def statement(original):
            counted = self.around(original, SQL)

            @functools.wraps(original)
            def run(cursor, *args, **kwargs):
                begun(cursor)
                return counted(cursor, *args, **kwargs)

            return run

        executemany = statement(base.executemany)
        named = {name: statement(getattr(base, name)) for name in ("execute", "callproc", "copy_from", "copy_to", "copy_expert")}
        return {**named, "executemany": lambda cursor, query, items: executemany(cursor, query, self.counting(items))}

    def mysqlclient(self, module):
        """All statements of cursors pass `_query`."""
        self.timed(module.BaseCursor, "_query", SQL)
        self.transactions(sys.modules["MySQLdb.connections"].Connection)

    def pymysql(self, module):
        """The same."""
        self.timed(module.Cursor, "_query", SQL)
        self.transactions(sys.modules["pymysql.connections"].Connection)

    def transactions(self, connection):
        for name in ("commit", "rollback", "begin"):
            self.timed(connection, name, SQL)

    def sqlalchemy(self, module):
        """For drivers that are not known."""
        self.above(module.Connection, "_execute_context")

    def django(self, module):
        """The same."""
        for name in ("_execute", "_executemany", "callproc"):
            self.above(module.CursorWrapper, name)

    def redis(self, module):
        """A pipeline is as many commands as it holds, with MULTI and EXEC where it is a transaction."""
        for owner in (module.Redis, module.PubSub):
            self.timed(owner, "execute_command", REDIS)
        pipeline = module.Pipeline
        self.timed(pipeline, "immediate_execute_command", REDIS)
        self.timed(pipeline, "_execute_transaction", REDIS, lambda this, connection, commands, *_, **__: len(commands) + 2)
        self.timed(pipeline, "_execute_pipeline", REDIS, lambda this, connection, commands, *_, **__: len(commands))

    # HTTP. --------------------------------------------------------------------------------------------------------------

    def http(self, module):
        """Python's own client, upon which urllib3, requests and boto stand. Connecting and sending is in `endheaders`."""
        counts, clock = self.counts, self.clock
        connection = module.HTTPConnection
        putrequest = connection.putrequest

        @functools.wraps(putrequest)
        def put(*args, **kwargs):
            counts[HTTP] += 1
            return putrequest(*args, **kwargs)

        connection.putrequest = put
        for name in ("endheaders", "getresponse"):
            self.timed(connection, name, HTTP, lambda *args, **kwargs: 0)

    def httpx(self, module):
        """Transports that go out; others are stand-ins."""
        self.timed(module.HTTPTransport, "handle_request", HTTP)
        self.timed(module.AsyncHTTPTransport, "handle_async_request", HTTP)

    def aiohttp(self, module):
        """One call is one request, its redirects included."""
        self.timed(module.ClientSession, "_request", HTTP)


def watch(recorder):
    """Begins to count. Gives what looks for libraries that were imported since."""
    causes = Causes(recorder)
    causes.put_into_python()
    causes.look()
    return causes.look
