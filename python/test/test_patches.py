"""Ready-made patches: the counts of each library compared with those of its server."""

import asyncio
import os
import sqlite3
import subprocess
import sys

import pytest
from asking import Asked, applied, calls, library, same

from assay import MethodProfiler, patches, testing

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def as_before():
    yield
    patches.remove()


def test_psycopg2_counts_what_the_server_says(postgres, asked_postgres):
    psycopg2 = library("psycopg2-binary", "psycopg2")
    import psycopg2.extras

    applied("psycopg2")
    connection = psycopg2.connect(postgres.about)
    assert isinstance(connection, psycopg2.extensions.connection) and type(connection).__name__ == "connection"
    cursor = connection.cursor()
    cursor.execute("CREATE TEMP TABLE numbers (n int)")
    connection.commit()

    def block():
        with connection, connection.cursor() as inner:
            inner.execute("INSERT INTO numbers VALUES (%s)", (7,))

    def failing():
        with pytest.raises(psycopg2.errors.SyntaxError):
            cursor.execute("SELEKT")
        connection.rollback()

    def rows_by_name():
        with connection.cursor(cursor_factory=psycopg2.extras.RealDictCursor) as named:
            named.execute("SELECT 1 AS one")
            assert named.fetchone() == {"one": 1}

    def a_thousand():
        psycopg2.extras.execute_values(
            cursor, "INSERT INTO numbers VALUES %s", [(n,) for n in range(1000)], page_size=100
        )

    def by_the_server():
        with connection.cursor("on_the_server") as named:
            named.execute("SELECT 1")

    same("sql", {
        "with BEGIN, that comes by itself": (2, lambda: cursor.execute("SELECT 1")),
        "execute": (1, lambda: cursor.execute("SELECT %s", (1,))),
        "executemany": (3, lambda: cursor.executemany("INSERT INTO numbers VALUES (%s)", ((n,) for n in range(3)))),
        "callproc": (1, lambda: cursor.callproc("pg_backend_pid")),
        "a factory of cursors": (1, rows_by_name),
        "execute_values, ten pages": (10, a_thousand),
        "COPY": (1, lambda: cursor.copy_expert("COPY numbers TO STDOUT", open(os.devnull, "w"))),
        "commit": (1, connection.commit),
        "commit of nothing": (0, connection.commit),
        "a block": (3, block),
    }, asked_postgres)  # fmt: skip
    # The server counts neither failed statements nor the CLOSE of a cursor from which nothing is
    # fetched.
    assert calls("sql", failing) == 3 and asked_postgres(failing) == 2
    assert calls("sql", by_the_server) == 2
    connection.rollback()
    with MethodProfiler.profile() as profile:
        failing()
    assert profile.sections["sql"].errors == 1
    logging = psycopg2.connect(postgres.about, connection_factory=psycopg2.extras.LoggingConnection)
    logging.initialize(open(os.devnull, "w"))
    logging.autocommit = True
    assert calls("sql", lambda: logging.cursor().execute("SELECT 1")) == 1
    plain = psycopg2.connect(postgres.about, cursor_factory=psycopg2.extras.DictCursor)
    assert calls("sql", lambda: plain.cursor().execute("SELECT 1")) == 2
    patches.remove("psycopg2")
    assert type(psycopg2.connect(postgres.about)) is psycopg2.extensions.connection
    cursor.execute("SELECT 1")  # A connection opened earlier continues.


def test_psycopg_counts_what_the_server_says(postgres, asked_postgres):
    psycopg = library("psycopg[binary]", "psycopg")
    applied("psycopg")
    connection = psycopg.connect(postgres.about)
    cursor = connection.cursor()
    cursor.execute("CREATE TEMP TABLE numbers (n int)")
    connection.commit()

    def blocks():
        with connection.transaction():
            cursor.execute("SELECT 1")
            with connection.transaction():
                cursor.execute("SELECT 2")

    def rolled_back(another):
        with another, pytest.raises(LookupError), another.transaction():
            another.execute("SELECT 3")
            raise LookupError

    def copied():
        with cursor.copy("COPY numbers FROM STDIN") as copy:
            copy.write_row((1,))

    def from_the_server():
        with psycopg.ServerCursor(connection, "it") as named:
            named.execute("SELECT generate_series(1, 5)")
            assert len(named.fetchmany(2)) == 2 and len(named.fetchall()) == 3

    def in_a_pipeline():
        with connection.pipeline():
            for n in range(3):
                cursor.execute("INSERT INTO numbers VALUES (%s)", (n,))

    # Statements with parameters appear in the server's statistics with the next one or the end of
    # the transaction, so each way has its own transaction: an implicit BEGIN, and COMMIT.
    inside = {
        "execute": (1, lambda: cursor.execute("SELECT 1")),
        "execute with parameters": (1, lambda: cursor.execute("SELECT %s::int", (1,))),
        "execute of the connection": (1, lambda: connection.execute("SELECT 1")),
        "executemany": (3, lambda: cursor.executemany("INSERT INTO numbers VALUES (%s)", ((n,) for n in range(3)))),
        "stream": (1, lambda: list(cursor.stream("SELECT generate_series(1, 5)"))),
        "COPY": (1, copied),
        "a pipeline": (3, in_a_pipeline),
        "DECLARE, two times FETCH, CLOSE": (4, from_the_server),
    }
    same("sql", {
        **{way: (number + 2, lambda work=work: (work(), connection.commit())) for way, (number, work) in inside.items()},
        "commit of nothing": (0, connection.commit),
        "blocks: BEGIN, SAVEPOINT, RELEASE, COMMIT": (6, blocks),
    }, asked_postgres)  # fmt: skip
    # On ROLLBACK the library forgets its prepared statements; DEALLOCATE is a statement, but not in
    # the server's statistics.
    same("sql", {"a block that fails": (3, lambda: rolled_back(psycopg.connect(postgres.about)))}, asked_postgres)
    with MethodProfiler.profile() as profile:
        cursor.execute("SELECT pg_sleep(0.02)")
        connection.commit()
    assert profile["sql"]["duration"] > 0.02
    connection.close()


def test_psycopg_counts_the_same_when_it_is_asynchronous(postgres, asked_postgres):
    psycopg = library("psycopg[binary]", "psycopg")
    applied("psycopg")

    async def work(connection):
        cursor = connection.cursor()
        await cursor.execute("SELECT 1")  # Includes BEGIN.
        await cursor.executemany("SELECT %s::int", [(n,) for n in range(4)])
        async for _row in cursor.stream("SELECT generate_series(1, 5)"):
            pass
        await connection.commit()
        await connection.commit()
        async with connection.transaction():
            await cursor.execute("SELECT 1")

    async def all_of_it():
        async with await psycopg.AsyncConnection.connect(postgres.about) as connection:
            before = asked_postgres.begin()
            with MethodProfiler.profile() as profile:
                await work(connection)
            return profile["sql"], asked_postgres.end() - before

    section, said = asyncio.run(all_of_it())
    assert section["calls"] == said == 11


def test_sqlite3_counts_what_it_executes():
    applied("sqlite3")
    traced = []
    connection = sqlite3.connect(":memory:")
    connection.set_trace_callback(lambda statement: None if statement.startswith("--") else traced.append(statement))
    connection.execute("CREATE TABLE numbers (n)")
    connection.commit()
    cursor = connection.cursor()

    def block():
        with connection:
            connection.execute("INSERT INTO numbers VALUES (1)")

    def failing_block():
        with pytest.raises(LookupError), connection:
            connection.execute("INSERT INTO numbers VALUES (1)")
            raise LookupError

    same("sql", {
        "execute": (1, lambda: cursor.execute("SELECT 1").fetchall()),
        "execute of the connection": (1, lambda: connection.execute("SELECT 1").fetchall()),
        "BEGIN, that comes by itself": (2, lambda: cursor.execute("INSERT INTO numbers VALUES (?)", (1,))),
        "executemany": (3, lambda: cursor.executemany("INSERT INTO numbers VALUES (?)", ((n,) for n in range(3)))),
        "commit": (1, connection.commit),
        "commit of nothing": (0, connection.commit),
        "a block": (3, block),
        "a block that fails": (3, failing_block),
        "SAVEPOINT": (1, lambda: cursor.execute("SAVEPOINT a")),
        "a script, that commits first": (2, lambda: cursor.executescript("SELECT 1")),
    }, Asked(lambda: len(traced), lambda: len(traced)))  # fmt: skip

    class Own(sqlite3.Connection):
        pass

    class OwnCursor(sqlite3.Cursor):
        def execute(self, *args):
            return super().execute(*args)

    own = sqlite3.connect(":memory:", factory=Own)
    assert isinstance(own, Own) and type(own).__name__ == "Own"
    assert calls("sql", lambda: own.cursor(OwnCursor).execute("SELECT 1")) == 1
    patches.remove("sqlite3")
    assert type(sqlite3.connect(":memory:")) is sqlite3.Connection


@pytest.fixture
def mysql(mariadb):
    MySQLdb = library("mysqlclient", "MySQLdb")
    watching = MySQLdb.connect(unix_socket=mariadb.socket, user="root")

    def questions():
        with watching.cursor() as cursor:
            cursor.execute("SHOW GLOBAL STATUS LIKE 'Questions'")
            return int(cursor.fetchone()[1])

    # The query itself counts as one.
    yield MySQLdb, mariadb, Asked(questions, lambda: questions() - 1)
    watching.close()


def test_mysqlclient_counts_what_the_server_says(mysql):
    MySQLdb, server, asked = mysql
    connection = MySQLdb.connect(unix_socket=server.socket, user="root")
    cursor = connection.cursor()
    cursor.execute("CREATE DATABASE IF NOT EXISTS assay")
    cursor.execute("CREATE TEMPORARY TABLE assay.numbers (n int)")
    applied("mysqlclient")
    streamed = connection.cursor(MySQLdb.cursors.SSCursor)

    def stream():
        streamed.execute("SELECT 1 UNION SELECT 2")
        assert len(streamed.fetchall()) == 2

    same("sql", {
        "execute": (1, lambda: cursor.execute("SELECT %s", (1,))),
        "executemany of an INSERT, one statement": (1, lambda: cursor.executemany("INSERT INTO assay.numbers VALUES (%s)", [(1,), (2,)])),
        "executemany of something else": (2, lambda: cursor.executemany("SELECT %s", [(1,), (2,)])),
        "streamed": (1, stream),
        "begin, commit, rollback": (3, lambda: (connection.begin(), connection.commit(), connection.rollback())),
    }, asked)  # fmt: skip
    connection.close()


@pytest.fixture
def asked_redis(redis_server):
    redis = library("redis")
    watching = redis.Redis(unix_socket_path=redis_server.socket)

    def commands():
        ours = ("cmdstat_info", "cmdstat_config", "cmdstat_client", "cmdstat_hello")
        return sum(one["calls"] for name, one in watching.info("commandstats").items() if not name.startswith(ours))

    yield Asked(commands, commands)
    watching.close()


def test_redis_counts_what_the_server_says(redis_server, asked_redis):
    redis = library("redis")
    applied("redis")
    client = redis.Redis(unix_socket_path=redis_server.socket)

    def pipeline(transaction):
        with client.pipeline(transaction=transaction) as pipe:
            for n in range(10):
                pipe.set(f"key:{n}", n)
            assert pipe.execute() == [True] * 10

    def watched():
        with client.pipeline() as pipe:
            pipe.watch("key:1")
            assert pipe.get("key:1") == b"1"
            pipe.multi()
            pipe.set("key:1", 2)
            pipe.execute()

    def subscribed():
        with client.pubsub() as listener:
            listener.subscribe("news")
            listener.get_message(timeout=1)

    same("redis", {
        "a command": (1, lambda: client.set("a", 1)),
        "mget": (1, lambda: client.mget("a", "b")),
        "a pipeline of 10": (10, lambda: pipeline(False)),
        "10 in MULTI and EXEC": (12, lambda: pipeline(True)),
        "WATCH, GET, MULTI, SET, EXEC": (5, watched),
        "subscribe": (1, subscribed),
    }, asked_redis)  # fmt: skip

    async def asynchronous():
        async with redis.asyncio.Redis(unix_socket_path=redis_server.socket) as client:
            await asyncio.gather(*(client.get("a") for _ in range(3)))
            async with client.pipeline(transaction=False) as pipe:
                for _ in range(10):
                    pipe.get("a")
                await pipe.execute()
            async with client.pipeline() as pipe:
                await pipe.set("a", 1).get("a").execute()

    same("redis", {"asynchronous": (17, lambda: asyncio.run(asynchronous()))}, asked_redis)


@pytest.fixture
def asked_cluster(redis_cluster):
    redis = library("redis")
    watching = redis.Redis(unix_socket_path=redis_cluster.socket)

    def commands():
        return sum(one["calls"] for name, one in watching.info("commandstats").items() if name in ("cmdstat_get", "cmdstat_set"))

    yield Asked(commands, commands)
    watching.close()


def test_a_cluster_of_redis_counts_what_the_server_says(redis_cluster, asked_cluster):
    redis = library("redis")
    client = redis.RedisCluster(host="127.0.0.1", port=redis_cluster.port)
    applied("redis")

    def pipeline(many):
        with client.pipeline() as pipe:
            for n in range(many):
                pipe.set(f"key:{n}", n)
            assert pipe.execute() == [True] * many

    async def asynchronous():
        async with redis.asyncio.RedisCluster(host="127.0.0.1", port=redis_cluster.port) as client:
            await asyncio.gather(*(client.get("a") for _ in range(3)))
            pipe = client.pipeline()
            for n in range(4):
                pipe.set(f"key:{n}", n)
            await pipe.execute()

    same("redis", {
        "a command": (1, lambda: client.set("a", 1)),
        "a pipeline of 10": (10, lambda: pipeline(10)),
        "a pipeline of none": (0, lambda: pipeline(0)),
        "asynchronous": (7, lambda: asyncio.run(asynchronous())),
    }, asked_cluster)  # fmt: skip
    patches.remove("redis")
    for work, count in ((lambda: client.set("a", 1), 1), (lambda: pipeline(10), 10), (lambda: asyncio.run(asynchronous()), 7)):
        with testing.assert_budget(max_redis=count) as budget:
            work()
        assert budget.count("max_redis") == count
    client.close()


def test_requests_and_httpx_count_what_the_server_says(http):
    requests, httpx = library("requests"), library("httpx")
    applied("requests", "httpx")
    asked = Asked(lambda: http.asked, lambda: http.asked)
    session, client = requests.Session(), httpx.Client(trust_env=False)

    async def asynchronous():
        async with httpx.AsyncClient(follow_redirects=True, trust_env=False) as client:
            await asyncio.gather(*(client.get(f"{http.url}/{n}") for n in range(3)))

    def streamed():
        with client.stream("GET", f"{http.url}/0") as response:
            response.read()

    same("net", {
        "requests": (1, lambda: session.get(f"{http.url}/0")),
        "requests, two redirects": (3, lambda: session.get(f"{http.url}/2")),
        "httpx": (1, lambda: client.get(f"{http.url}/0")),
        "httpx, a redirect that is not followed": (1, lambda: client.get(f"{http.url}/1")),
        "httpx, two redirects": (3, lambda: client.get(f"{http.url}/2", follow_redirects=True)),
        "httpx, streamed": (1, streamed),
        "httpx, asynchronous": (6, lambda: asyncio.run(asynchronous())),
    }, asked)  # fmt: skip
    assert calls("net_connect", lambda: [requests.Session().get(f"{http.url}/0") for _ in range(2)]) == 2
    assert calls("net_connect", lambda: [client.get(f"{http.url}/0") for _ in range(2)]) == 0


def test_sqlalchemy_counts_statements_of_its_own_and_of_the_driver(postgres, asked_postgres):
    sqlalchemy = library("SQLAlchemy", "sqlalchemy")
    library("psycopg[binary]", "psycopg")
    from sqlalchemy import orm

    class Base(orm.DeclarativeBase):
        pass

    class User(Base):
        __tablename__ = "users"
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        name: orm.Mapped[str]

    applied("sqlalchemy", "psycopg", "psycopg2")
    for driver in ("psycopg", "psycopg2"):
        engine = sqlalchemy.create_engine(f"postgresql+{driver}://postgres@/postgres?host={postgres.directory}")
        Base.metadata.drop_all(engine)
        Base.metadata.create_all(engine)

        def work():
            with orm.Session(engine) as session:
                session.add(User(name="a"))
                session.commit()  # BEGIN, INSERT, COMMIT
                session.scalars(sqlalchemy.select(User)).all()  # BEGIN, SELECT
                session.rollback()

        work()
        before = asked_postgres.begin()
        with MethodProfiler.profile() as profile:
            work()
        said = asked_postgres.end() - before
        assert (profile["orm"]["calls"], profile["sql"]["calls"], said) == (2, 6, 6), driver
        engine.dispose()


DJANGO = """
import django, sys
from django.conf import settings
engine, place = sys.argv[1:]
databases = {
    "postgresql": {"ENGINE": "django.db.backends.postgresql", "HOST": place, "USER": "postgres", "NAME": "postgres"},
    "mysql": {"ENGINE": "django.db.backends.mysql", "HOST": place, "USER": "root", "NAME": "assay"},
    "sqlite3": {"ENGINE": "django.db.backends.sqlite3", "NAME": place},
}
settings.configure(DATABASES={"default": databases[engine]}, INSTALLED_APPS=[], USE_TZ=True)
django.setup()
from django.db import connection, models, transaction
from assay import MethodProfiler, patches
connection.vendor  # Loads the driver.
for outcome in patches.apply("django", {"postgresql": "psycopg", "mysql": "mysqlclient", "sqlite3": "sqlite3"}[engine]):
    assert outcome.applied, outcome

class Person(models.Model):
    name = models.TextField()
    class Meta:
        app_label = "people"

with connection.schema_editor() as editor:
    editor.create_model(Person)
# The statistics are read through a separate connection.
if engine == "mysql":
    import MySQLdb
    watching = MySQLdb.connect(unix_socket=place, user="root").cursor()
elif engine == "postgresql":
    import psycopg2
    other = psycopg2.connect("host=%s user=postgres" % place)
    other.autocommit = True
    watching = other.cursor()

def asked():
    if engine == "mysql":
        watching.execute("SHOW GLOBAL STATUS LIKE 'Com\\_%'")
        return sum(int(value) for name, value in watching.fetchall() if name != "Com_show_status")
    if engine == "postgresql":
        watching.execute("SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'")
        return int(watching.fetchone()[0])
    return 0

before = asked()
with MethodProfiler.profile() as profile:
    Person.objects.create(name="a")                       # autocommit: 1
    Person.objects.bulk_create([Person(name="b"), Person(name="c")])
    list(Person.objects.filter(name="a"))                 # 1
    Person.objects.update(name="z")                       # 1
    with transaction.atomic():
        Person.objects.count()                            # 1
print(profile["orm"]["calls"], profile["sql"]["calls"], asked() - before)
with connection.schema_editor() as editor:
    editor.delete_model(Person)
"""


@pytest.mark.parametrize("engine", ["postgresql", "mysql", "sqlite3"])
def test_django_counts_statements_of_its_own_and_of_the_driver(engine, request, tmp_path):
    library("Django", "django")
    if engine == "mysql":
        MySQLdb, server, _asked = request.getfixturevalue("mysql")
        MySQLdb.connect(unix_socket=server.socket, user="root").cursor().execute("CREATE DATABASE IF NOT EXISTS assay")
        place = server.socket
    elif engine == "postgresql":
        library("psycopg[binary]", "psycopg")
        place = request.getfixturevalue("postgres").directory
        request.getfixturevalue("asked_postgres")
    else:
        place = str(tmp_path / "file")
    done = subprocess.run([sys.executable, "-c", DJANGO, engine, place], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    # The driver counts Django's statements, and BEGIN and COMMIT of `bulk_create` and `atomic`. For
    # sqlite3, Django itself sends BEGIN. For MySQL, it sends SET autocommit before and after.
    orm, sql, said = map(int, done.stdout.split())
    assert (orm, sql) == {"postgresql": (5, 9), "mysql": (5, 11), "sqlite3": (7, 9)}[engine]
    assert engine == "sqlite3" or said == sql


def test_what_is_not_loaded_is_left_out():
    code = (
        "from assay import patches\n"
        "for outcome in patches.apply(): print(outcome)\n"
        "print(patches.rows(), patches.remove())\n"
        "import sqlite3\n"
        "print(*patches.apply('sqlite3', keep=True), patches.rows(), patches.remove(), patches.rows())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    *absent, nothing, then = done.stdout.splitlines()
    assert absent == [f"{name}: absent: it is not loaded; once it is, the next profile counts it" for name in patches.libraries()]
    assert nothing == "[] []"
    version = ".".join(map(str, sys.version_info[:3]))
    assert then == f"sqlite3 {version}: applied, rows sql ['sql'] ['sqlite3'] []"


def test_what_is_not_known_is_refused(monkeypatch):
    redis = library("redis")
    monkeypatch.setattr(redis, "__version__", "99.0")
    (outcome,) = patches.apply("redis")
    assert outcome.status == "unsupported" and "from 4 to below 9" in outcome.reason and not outcome.rows
    monkeypatch.undo()
    monkeypatch.delattr(redis.client.PubSub, "execute_command")
    (outcome,) = patches.apply("redis")
    assert str(outcome).endswith("it lacks what its calls are looked for in: PubSub.execute_command")
    with pytest.raises(ValueError, match="there is no patch for 'mongo'"):
        patches.apply("mongo")


def test_a_library_that_is_loaded_after_apply_counts_from_the_next_profile_on():
    script = """
import sys
from assay import MethodProfiler, patches
assert "absent" in str(patches.apply("sqlite3", "redis")[0])
def calls():
    with MethodProfiler.profile() as profile:
        sqlite3.connect(":memory:").execute("SELECT 1")
    return profile.get("sql", {}).get("calls")
with MethodProfiler.profile():
    import sqlite3
print(calls(), patches.rows(), patches.remove())
sys.modules.pop("redis", None)
patches.apply("redis")
patches.remove("redis")
print(MethodProfiler.profile().__enter__().notes)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1 ['sql'] ['sqlite3']\n[]\n", "")


def test_a_late_library_that_cannot_be_patched_is_reported_once_and_profiles_go_on(monkeypatch, caplog):
    redis = library("redis")
    monkeypatch.delitem(sys.modules, "redis")
    assert patches.apply("redis")[0].status == "absent"
    monkeypatch.setitem(sys.modules, "redis", redis)
    monkeypatch.setitem(sys.modules, "one more module", redis)
    monkeypatch.setattr(redis, "__version__", "99.0")
    for _ in range(2):
        with MethodProfiler.profile():
            pass
    assert [record.getMessage().split(":")[0] for record in caplog.records] == ["redis 99.0"]
