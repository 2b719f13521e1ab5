"""Ready-made patches for asyncpg, aiosqlite and PyMySQL: their counts compared with those of the
server, also for many concurrent requests."""

import asyncio
import random
import threading
import time

import pytest
from asking import Asked, applied, calls, library, same

from assay import MethodProfiler, patches
from assay.asgi import ProfileMiddleware
from assay.patches.asyncpg import statements

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def as_before():
    yield
    patches.remove()


@pytest.mark.parametrize(
    "text, number",
    [
        ("SELECT 1", 1),
        ("SELECT 1; SELECT 2;", 2),
        ("SELECT ';' AS \"a;b\" -- ;\n; /* ; */ SELECT 2", 2),
        ("DO $$ BEGIN PERFORM 1; END $$; SELECT $a$;$a$", 2),
        ("  ;\n", 0),
    ],
)
def test_statements_of_a_text_are_told_apart(text, number):
    assert statements(text) == number


def test_asyncpg_counts_what_the_server_says(postgres, asked_postgres):
    asyncpg = library("asyncpg")
    applied("asyncpg")
    loop = asyncio.new_event_loop()

    def done(work):
        return lambda: loop.run_until_complete(work())

    async def connect():
        return await asyncpg.connect(host=postgres.directory, user="postgres", database="postgres")

    connection = loop.run_until_complete(connect())
    loop.run_until_complete(connection.execute("CREATE TEMP TABLE numbers (n int)"))

    async def block():
        async with connection.transaction():
            await connection.execute("INSERT INTO numbers VALUES (1)")
            async with connection.transaction():
                await connection.fetchval("SELECT 1")

    async def failing():
        with pytest.raises(asyncpg.PostgresSyntaxError):
            await connection.fetch("SELEKT")

    async def prepared():
        statement = await connection.prepare("SELECT $1::int")
        for n in range(3):
            await statement.fetchval(n)

    async def cursor():
        async with connection.transaction():
            async for _row in connection.cursor("SELECT generate_series(1, 200)"):
                pass

    async def several():
        await asyncio.gather(*(one() for _ in range(4)))

    async def one():
        other = await connect()
        await other.fetchrow("SELECT 1")
        await other.close()

    async def copied():
        await connection.copy_records_to_table("numbers", records=[(1,), (2,)])

    async def pool():
        about = {"host": postgres.directory, "user": "postgres", "database": "postgres"}
        async with asyncpg.create_pool(min_size=1, max_size=1, **about) as made:
            for _ in range(2):
                async with made.acquire() as other:
                    await other.fetch("SELECT 1")

    same("sql", {
        "execute": (1, done(lambda: connection.execute("SELECT 1"))),
        "execute with arguments": (1, done(lambda: connection.execute("INSERT INTO numbers VALUES ($1)", 1))),
        "two statements in a text": (2, done(lambda: connection.execute("SELECT 1; SELECT 2"))),
        "fetch": (1, done(lambda: connection.fetch("SELECT 1"))),
        "executemany": (3, done(lambda: connection.executemany("INSERT INTO numbers VALUES ($1)", [(n,) for n in range(3)]))),
        "a prepared statement": (3, done(prepared)),
        "blocks: BEGIN, SAVEPOINT, RELEASE, COMMIT": (6, done(block)),
        "BEGIN, a cursor, COMMIT": (3, done(cursor)),
        "COPY": (1, done(copied)),
        "four connections at the same time": (4, done(several)),
        "a pool, that resets its connection with four": (10, done(pool)),
    }, asked_postgres)  # fmt: skip
    assert calls("sql", done(failing)) == 0  # It fails when it is prepared, so nothing is executed.
    with MethodProfiler.profile() as profile:
        loop.run_until_complete(connection.fetch("SELECT pg_sleep(0.02)"))
    assert profile["sql"]["duration"] > 0.02
    loop.run_until_complete(connection.close())
    loop.close()


def test_pymysql_counts_what_the_server_says(mariadb):
    pymysql = library("PyMySQL", "pymysql")
    watching = pymysql.connect(unix_socket=mariadb.socket, user="root")

    def questions():
        with watching.cursor() as cursor:
            cursor.execute("SHOW GLOBAL STATUS LIKE 'Questions'")
            return int(cursor.fetchone()[1])

    connection = pymysql.connect(unix_socket=mariadb.socket, user="root")
    cursor = connection.cursor()
    cursor.execute("CREATE DATABASE IF NOT EXISTS assay")
    cursor.execute("CREATE TEMPORARY TABLE assay.numbers (n int)")
    applied("pymysql")

    def streamed():
        with connection.cursor(pymysql.cursors.SSCursor) as rows:
            rows.execute("SELECT 1 UNION SELECT 2")
            assert len(rows.fetchall()) == 2

    def connecting():
        with pymysql.connect(unix_socket=mariadb.socket, user="root", init_command="SELECT 1") as other:
            other.query("SELECT 2")

    def failing():
        with pytest.raises(pymysql.ProgrammingError):
            cursor.execute("SELEKT")

    same("sql", {
        "execute": (1, lambda: cursor.execute("SELECT %s", (1,))),
        "executemany of an INSERT, one statement": (1, lambda: cursor.executemany("INSERT INTO assay.numbers VALUES (%s)", [(1,), (2,)])),
        "executemany of something else": (2, lambda: cursor.executemany("SELECT %s", [(1,), (2,)])),
        "streamed": (1, streamed),
        "past the cursor": (1, lambda: connection.query("SELECT 1")),
        "begin, commit, rollback": (3, lambda: (connection.begin(), connection.commit(), connection.rollback())),
        "autocommit, changed and not": (1, lambda: (connection.autocommit(True), connection.autocommit(True))),
        "one that fails": (1, failing),
    }, Asked(questions, lambda: questions() - 1))  # fmt: skip
    before = questions()
    mine = calls("sql", connecting)
    # Disconnecting is a query to the server, but not a statement. The server may count it later;
    # each reading is a query as well.
    for looks in range(1, 100):
        found = questions() - before - looks
        if found >= mine + 1:
            break
        time.sleep(0.05)
    assert found == mine + 1
    watching.close()


def traced(connect, seen):
    def connected(*args, **options):
        connection = connect(*args, **options)
        connection.set_trace_callback(lambda text: None if text.startswith("--") else seen.append(text))
        return connection

    return connected


def test_aiosqlite_counts_what_its_thread_executes(monkeypatch):
    aiosqlite = library("aiosqlite")
    import sqlite3

    seen = []
    applied("aiosqlite")
    monkeypatch.setattr(sqlite3, "connect", traced(sqlite3.connect, seen))

    async def work():
        async with aiosqlite.connect(":memory:") as connection:
            with MethodProfiler.profile() as profile:
                await connection.execute("CREATE TABLE numbers (n)")
                await connection.executemany("INSERT INTO numbers VALUES (?)", [(1,), (2,)])
                await connection.commit()
                await connection.commit()
                async with connection.execute("SELECT n FROM numbers") as cursor:
                    assert [row async for row in cursor] == [(1,), (2,)]
            await connection.execute("SELECT 'not counted'")
            return profile["sql"]["calls"]

    mine = asyncio.run(work())
    monkeypatch.undo()
    assert mine == len(seen) - 1 == 6  # Includes the implicit BEGIN, and one COMMIT.


def test_sqlalchemy_over_aiosqlite_has_both_rows():
    library("aiosqlite")
    library("greenlet")
    sqlalchemy = library("SQLAlchemy", "sqlalchemy")
    from sqlalchemy.ext.asyncio import create_async_engine

    applied("sqlalchemy", "aiosqlite")

    async def work():
        engine = create_async_engine("sqlite+aiosqlite:///:memory:")
        async with engine.connect() as connection:
            with MethodProfiler.profile() as profile:
                for _ in range(5):
                    await connection.execute(sqlalchemy.text("SELECT 1"))
        await engine.dispose()
        return profile

    profile = asyncio.run(work())
    assert (profile["orm"]["calls"], profile["sql"]["calls"]) == (5, 5)


REQUESTS, AT_ONCE = 1500, 20


def requests_answered(work, connection_of, at_once=AT_ONCE):
    """Sends requests to an application behind the middleware, this number at a time; each runs
    `work` with a number of statements and a connection. Returns the requested numbers, and those of
    the log lines."""
    lines, asked = [], []

    async def app(scope, receive, send):
        await work(scope["connection"], scope["statements"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "path": scope["path"]})

    wrapped = ProfileMiddleware(app, log=lines.append)

    async def main():
        connections = [await connection_of() for _ in range(at_once)]
        chance = random.Random(1)

        async def send(_message):
            await asyncio.sleep(0)

        async def client(connection):
            for _ in range(REQUESTS // at_once):
                number = chance.randint(0, 4)
                asked.append(number)
                scope = {"type": "http", "method": "GET", "path": f"/{number}", "statements": number, "connection": connection}
                await wrapped(scope, None, send)

        await asyncio.gather(*(client(connection) for connection in connections))
        for connection in connections:
            closed = connection.close()
            if closed is not None:
                await closed

    asyncio.run(main())
    wrong = [line for line in lines if line["methods"].get("sql", {}).get("calls", 0) != int(line["path"][1:])]
    assert len(lines) == REQUESTS and not wrong, wrong[:3]
    return sum(asked), sum(line["methods"].get("sql", {}).get("calls", 0) for line in lines)


def test_requests_at_the_same_time_have_their_own_statements_of_asyncpg(postgres, asked_postgres):
    asyncpg = library("asyncpg")
    applied("asyncpg")

    async def work(connection, number):
        for _ in range(number):
            await connection.fetchval("SELECT 1")

    async def connect():
        return await asyncpg.connect(host=postgres.directory, user="postgres", database="postgres")

    before = asked_postgres.begin()
    asked, counted = requests_answered(work, connect)
    assert asked == counted == asked_postgres.end() - before


def test_requests_at_the_same_time_have_their_own_statements_of_aiosqlite(monkeypatch):
    aiosqlite = library("aiosqlite")
    import sqlite3

    seen = []
    applied("aiosqlite")
    monkeypatch.setattr(sqlite3, "connect", traced(sqlite3.connect, seen))

    async def work(connection, number):
        for _ in range(number):
            await connection.execute("SELECT 1")

    async def connect():
        return await aiosqlite.connect(":memory:")

    asked, counted = requests_answered(work, connect)
    monkeypatch.undo()  # Before the patches are removed.
    assert asked == counted == len(seen)


def test_requests_in_threads_have_their_own_statements_of_pymysql(mariadb):
    pymysql = library("PyMySQL", "pymysql")
    applied("pymysql")

    async def work(connection, number):
        def run():
            with connection.cursor() as cursor:
                for _ in range(number):
                    cursor.execute("SELECT 1")

        await asyncio.to_thread(run)

    async def connect():
        return pymysql.connect(unix_socket=mariadb.socket, user="root")

    with pymysql.connect(unix_socket=mariadb.socket, user="root") as watching, watching.cursor() as cursor:

        def selects():
            cursor.execute("SHOW GLOBAL STATUS LIKE 'Com_select'")
            return int(cursor.fetchone()[1])

        before = selects()
        asked, counted = requests_answered(work, connect)
        assert asked == counted == selects() - before
    assert threading.active_count() < 100
