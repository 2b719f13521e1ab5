"""Common code for all tests: the counting engine, a clean profiler after every test, and the
program that decides."""

import os
import shutil

import pytest
import servers
from asking import Asked, library

from assay import MethodProfiler
from assay.profiler import engine

pytest_plugins = ["pytester"]

#: With `monitoring`, everything that can be is patched in that way, and the same tests must hold.
BY = os.environ.get("ASSAY_TEST_BY", "wrapper")


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "once: is tried with the accelerator and wrappers only, since the rest makes no difference to it"
    )
    config.addinivalue_line("markers", "wrappers: is about wrappers that stand in the place of what is profiled")


def pytest_report_header():
    return f"assay: calls are counted in {engine.NAME}, by {BY}"


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("once") and (
            BY == "monitoring" or os.environ.get("ASSAY_PURE", "") not in ("", "0")
        ):
            item.add_marker(pytest.mark.skip(reason="is tried once"))
        if BY == "monitoring" and item.get_closest_marker("wrappers"):
            item.add_marker(pytest.mark.skip(reason="is about wrappers"))


@pytest.fixture(autouse=True)
def patched_by(monkeypatch):
    if BY == "monitoring":
        patch = MethodProfiler.patch

        def patched(target, names, name, *, by=None):
            if by is not None:
                return patch(target, names, name, by=by)
            try:
                return patch(target, names, name, by="monitoring")
            except TypeError as problem:
                if 'without by="monitoring"' not in str(problem):
                    raise
            for one in [names] if isinstance(names, str) else names:
                # Code that is not written in Python, and inherited methods.
                try:
                    patch(target, one, name, by="monitoring")
                except TypeError:
                    patch(target, one, name)

        monkeypatch.setattr(MethodProfiler, "patch", patched)


@pytest.fixture(autouse=True)
def clean_profiler():
    yield
    left_running = MethodProfiler._running
    while MethodProfiler.current() is not None:
        MethodProfiler.stop()
    for target in [patch.target for patch in MethodProfiler._patches.values()]:
        MethodProfiler.unpatch(target)
    MethodProfiler._swaps = 0
    MethodProfiler.keep_installed(False)
    assert left_running == 0, "a test left a profile running"


@pytest.fixture
def program():
    """Returns the program `assay`; tests that need it are skipped without it."""
    found = shutil.which(os.environ.get("ASSAY", "assay"))
    if not found:
        pytest.skip("the program assay is not there (build it, and name it in ASSAY)")
    return found


def server(kind):
    @pytest.fixture(scope="session")
    def running():
        try:
            started = kind()
        except servers.Missing as missing:
            pytest.skip(str(missing))
        yield started
        started.stop()

    return running


postgres = server(servers.Postgres)
mariadb = server(servers.Mariadb)
redis_server = server(servers.Redis)
redis_cluster = server(servers.RedisCluster)
http = server(servers.Http)


@pytest.fixture
def asked_postgres(postgres):
    psycopg2 = library("psycopg2-binary", "psycopg2")
    with_it = psycopg2.connect(postgres.about)
    with_it.autocommit = True
    cursor = with_it.cursor()
    cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")

    def begin():
        cursor.execute("SELECT pg_stat_statements_reset()")
        return 0

    def end():
        cursor.execute(
            "SELECT coalesce(sum(calls), 0)::int FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'"
        )
        return cursor.fetchone()[0]

    yield Asked(begin, end)
    with_it.close()
