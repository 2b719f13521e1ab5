"""Events of the hooks for suites of pytest and unittest: names as in the framework's own report,
phases, groups, outcomes. The suite's output and behavior are the same with hooks and without."""

import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

import pytest
import servers
import suites

pytestmark = pytest.mark.once

PYTEST = """
import time
import pytest

@pytest.fixture(scope="session")
def base():
    time.sleep(0.02)
    yield
    time.sleep(0.02)

@pytest.fixture(scope="module")
def within(base):
    time.sleep(0.02)

@pytest.fixture
def own():
    time.sleep(0.003)
    yield
    time.sleep(0.003)

@pytest.fixture
def broken():
    raise RuntimeError("in setup")

@pytest.fixture
def late():
    yield
    raise RuntimeError("in teardown")

def setup_module():
    time.sleep(0.02)

def test_ok(within, own):
    time.sleep(0.003)

def test_fails(): assert 1 == 2
def test_skips(): pytest.skip("why not")

@pytest.mark.skip(reason="marked")
def test_marked(): pass

@pytest.mark.xfail
def test_xfails(): assert False

@pytest.mark.xfail(strict=True)
def test_xpasses(): pass

def test_setup(broken): pass
def test_teardown(late): pass

class TestGroup:
    @pytest.mark.parametrize("text", ["one", "a b", '"ü"'])
    def test_each(self, text): pass
"""

UNITTEST = """
import time
import unittest

def setUpModule(): time.sleep(0.002)
def tearDownModule(): time.sleep(0.002)

class Alpha(unittest.TestCase):
    @classmethod
    def setUpClass(cls): time.sleep(0.002)
    @classmethod
    def tearDownClass(cls): time.sleep(0.002)
    def setUp(self): time.sleep(0.002)
    def tearDown(self):
        if self._testMethodName == "test_teardown":
            raise ValueError("in teardown")
    def test_ok(self): pass
    def test_fails(self): self.assertEqual(1, 2)
    def test_raises(self): raise ValueError("raised")
    def test_skips(self): self.skipTest("why not")
    def test_teardown(self): pass
    def test_parts(self):
        for part in range(2):
            with self.subTest(part=part):
                self.assertEqual(part, 0)
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @unittest.expectedFailure
    def test_unexpected(self): pass

class Beta(unittest.IsolatedAsyncioTestCase):
    async def test_awaits(self): pass

class Gamma(unittest.TestCase):
    def setUp(self): raise ValueError("in setup")
    def test_setup(self): pass

class Delta(unittest.TestCase):
    def test_plain(self): pass

if __name__ == "__main__":
    unittest.main()
"""

PYTEST_RUN = ["-m", "pytest", "-v"]
UNITTEST_RUN = [str(suites.HOOKS / "assay_unittest.py"), "-v", "test_suite"]


def said(out):
    return re.sub(r"\d+\.\d+s", "N s", re.sub(r"\(?0x[0-9a-f]+", "ADDRESS", out))


def assert_whole(seen, framework):
    assert seen.of("problem") == []
    for file in seen.files:
        events = [event for event in seen.events if event.get("process", -1) == int(file.stem)]
        assert events[0]["framework"] == framework and events[0]["language"] == "python"
    assert seen.started == seen.names
    for test in seen.tests:
        inner = [s for s in seen.of("span") if test["begin"] <= s["begin"] and s["end"] <= test["end"]]
        took = test["end"] - test["begin"]
        assert sum(test.get(phase, 0) for phase in ("setup", "body", "teardown")) <= took + 1e-9
        if inner:
            own = sum(test.get(phase, 0) for phase in ("setup", "body", "teardown"))
            assert own + max(s["end"] - s["begin"] for s in inner) <= took + 1e-9
        assert test.get("gc", 0) >= 0


def test_pytest(tmp_path):
    sources = {"test_suite.py": PYTEST}
    seen = suites.watched(tmp_path, sources, [*PYTEST_RUN, "--junitxml=report.xml"])
    alone = suites.watched(tmp_path, sources, PYTEST_RUN, hooks=False)
    assert re.findall(r"^\S+::.* [A-Z]+ ", seen.out, re.M) == re.findall(r"^\S+::.* [A-Z]+ ", alone.out, re.M)
    assert seen.out.splitlines()[-1].split(" in ")[0] == alone.out.splitlines()[-1].split(" in ")[0]
    assert seen.status == alone.status == 1
    assert_whole(seen, "pytest")
    cases = xml.parse(tmp_path / "project/report.xml").getroot().iter("testcase")
    reported = [f"{case.get('classname')}.{case.get('name')}" for case in cases]
    # A test that fails in its teardown is listed twice.
    assert list(dict.fromkeys(reported)) == [name.replace(".py::", ".").replace("::", ".") for name in seen.names]
    assert seen.names[-1] == 'test_suite.py::TestGroup::test_each["\\xfc"]'
    assert seen.statuses == {
        "test_ok": "passed", "test_fails": "failed", "test_skips": "skipped", "test_marked": "skipped", "test_xfails": "passed",
        "test_xpasses": "failed", "test_setup": "error", "test_teardown": "error",
        "test_each[one]": "passed", "test_each[a b]": "passed", 'test_each["\\xfc"]': "passed",
    }  # fmt: skip
    assert seen.test("test_fails")["message"] == "assert 1 == 2"
    assert "setup" not in seen.test("test_setup")


def test_what_the_first_test_pays_for_all_is_not_its_own(tmp_path):
    seen = suites.watched(tmp_path, {"test_suite.py": PYTEST}, PYTEST_RUN, causes=True)
    first = seen.test("test_ok")
    assert first["setup"] >= 0.003 and first["body"] >= 0.003 and first["teardown"] >= 0.003
    assert first["end"] - first["begin"] >= 0.069
    assert first["causes"]["sleeps"] == 3
    base, within = [span for span in seen.spans("fixture") if span["name"] in ("base", "within")]
    assert [(s["name"], s["scope"], s["causes"]["sleeps"]) for s in (base, within)] == [
        ("base", "session", 1),
        ("within", "module", 1),
    ]
    assert [(s["name"], s["group"]) for s in seen.spans("group_setup")] == [("setup_module", "test_suite.py")]
    assert [s["name"] for s in seen.spans("fixture_teardown") if s["name"] in ("base", "within")] == ["within", "base"]
    assert [s["span"] for s in seen.of("span")[:2]] == ["load", "collect"]
    # Setup and teardown of the last test also belong to it.
    assert seen.tests[-1]["causes"]["sleeps"] == 0


def test_the_body_ends_behind_its_last_subtest(tmp_path):
    source = """
import time, unittest
class SubTest(unittest.TestCase):
    def test_parts(self):
        for part in range(3):
            with self.subTest(part=part):
                time.sleep(0.01)
        time.sleep(0.01)
"""
    for command in (PYTEST_RUN, UNITTEST_RUN):
        seen = suites.watched(tmp_path, {"test_suite.py": source}, command)
        assert [test["status"] for test in seen.tests] == ["passed"]
        assert seen.tests[0]["body"] >= 0.04


def test_unittest(tmp_path):
    sources = {"test_suite.py": UNITTEST}
    seen = suites.watched(tmp_path, sources, UNITTEST_RUN)
    alone = suites.watched(tmp_path, sources, ["-m", "unittest", "-v", "test_suite"], hooks=False)
    assert said(seen.out) == said(alone.out)
    assert seen.status == alone.status
    assert_whole(seen, "unittest")
    reported = re.findall(r"^(test_\w+) \(([\w.]+)\)", alone.out, re.M)
    named = {f"{path[: -len(name) - 1] if path.endswith('.' + name) else path}: {name}" for name, path in reported}
    assert named == set(seen.names)
    assert seen.statuses == {
        "test_ok": "passed", "test_fails": "failed", "test_raises": "failed", "test_skips": "skipped", "test_teardown": "error",
        "test_parts": "failed", "test_expected": "passed", "test_unexpected": "failed", "test_awaits": "passed",
        "test_setup": "error", "test_plain": "passed",
    }  # fmt: skip
    assert seen.test("test_raises")["message"] == "ValueError: raised"
    groups = [(s["span"], s["name"], s["group"]) for s in seen.of("span") if s["span"].startswith("group")]
    assert [group for group in groups if "Module" in group[1] or "Alpha" in group[2]] == [
        ("group_setup", "setUpModule", "test_suite"),
        ("group_setup", "setUpClass", "test_suite.Alpha"),
        ("group_teardown", "tearDownClass", "test_suite.Alpha"),
        ("group_teardown", "tearDownModule", "test_suite"),
    ]


BESIDE = """
import unittest
class Begins(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise ValueError("no begin")
    def test_never(self): pass
class Ends(unittest.TestCase):
    @classmethod
    def tearDownClass(cls): raise ValueError("no end")
    def test_ok(self): pass
class Skips(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise unittest.SkipTest("not here")
    def test_skipped(self): pass
def tearDownModule(): raise ValueError("no end of all")
"""


def test_what_fails_beside_tests_is_told(tmp_path):
    seen = suites.watched(tmp_path, {"test_suite.py": BESIDE}, UNITTEST_RUN)
    beside = [(event["test"], event["status"], event["message"]) for event in seen.of("beside")]
    assert beside == [
        ("setUpClass (test_suite.Begins)", "error", "ValueError: no begin"),
        ("tearDownClass (test_suite.Ends)", "error", "ValueError: no end"),
        ("setUpClass (test_suite.Skips)", "skipped", "not here"),
        ("tearDownModule (test_suite)", "error", "ValueError: no end of all"),
    ]
    sources = {"test_suite.py": "def test_ok(): pass\n", "test_broken.py": "import none_such\n"}
    seen = suites.watched(tmp_path / "project", sources, [*PYTEST_RUN, "--continue-on-collection-errors"])
    broken = seen.test("test_broken.py")
    assert (broken["status"], broken["beside"], broken["file"]) == ("error", True, "test_broken.py")
    assert broken["message"] == "ModuleNotFoundError: No module named 'none_such'"


def test_what_keeps_pytest_from_its_tests_is_a_fault(tmp_path):
    broken = {"test_suite.py": "def test_ok(): pass\n", "test_broken.py": "import none_such\n"}
    seen = suites.watched(tmp_path, broken, PYTEST_RUN)
    said = "test_broken.py could not be collected: ModuleNotFoundError: No module named 'none_such'"
    assert ([event["fault"] for event in seen.of("fault")], seen.tests) == ([said], [])
    ends = "import pytest\ndef test_ok(): pass\ndef test_ends(): pytest.exit('enough', %s)\ndef test_never(): pass\n"
    for status, faults in ((0, []), (2, ["pytest ended with status 2 before it was through"])):
        seen = suites.watched(tmp_path, {"test_suite.py": ends % status, "test_broken.py": ""}, PYTEST_RUN)
        assert (seen.status, [event["fault"] for event in seen.of("fault")]) == (status, faults)
        # The test that ended the session has not passed.
        assert [name.rpartition("::")[2] for name in seen.started] == ["test_ok", "test_ends"]
        assert [name.rpartition("::")[2] for name in seen.names] == ["test_ok"]


@pytest.mark.parametrize("how", [["--script", "test_suite.py"], ["--module", "test_suite"]])
def test_a_script_that_runs_unittest_itself(tmp_path, how):
    seen = suites.watched(tmp_path, {"test_suite.py": UNITTEST}, [UNITTEST_RUN[0], *how])
    assert len(seen.tests) == 11
    assert_whole(seen, "unittest")


def test_tests_that_are_chosen_run_in_exactly_that_order(tmp_path):
    names = [f"test_suite.py::{name}" for name in ("TestGroup::test_each[a b]", "test_ok", "TestGroup::test_each[one]")]
    seen = suites.watched(tmp_path, {"test_suite.py": PYTEST}, PYTEST_RUN, only=[names[0], "no such", *names[1:]])
    assert seen.started == names
    assert seen.of("missing") == [{"missing": ["no such"]}]
    assert "3 passed, 8 deselected" in seen.out
    names = ["test_suite.Gamma: test_setup", "test_suite.Alpha: test_ok", "test_suite.Delta: test_plain"]
    seen = suites.watched(tmp_path, {"test_suite.py": UNITTEST}, UNITTEST_RUN, only=names)
    assert seen.started == names


@pytest.mark.parametrize("source, command", [(PYTEST, PYTEST_RUN), (UNITTEST, UNITTEST_RUN)])
def test_all_tests_of_a_file_run_after_those_that_are_named(tmp_path, source, command):
    sources = {"test_suite.py": source}
    whole = suites.watched(tmp_path, sources, command).started
    only = [whole[-1], "no such", "file:test_suite.py", "file:test_other.py"]
    seen = suites.watched(tmp_path, sources, command, only=only)
    assert seen.started[0] == whole[-1] and sorted(seen.started) == sorted(whole)
    assert seen.of("missing") == [{"missing": ["no such"]}]


@pytest.mark.parametrize("source, command", [(PYTEST, PYTEST_RUN), (UNITTEST, UNITTEST_RUN)])
def test_a_seed_gives_an_order_that_keeps_groups_together(tmp_path, source, command):
    orders = [suites.watched(tmp_path, {"test_suite.py": source}, command, order=seed).started for seed in (1, 1, 2)]
    assert orders[0] == orders[1]
    assert len(set(map(tuple, orders))) > 1 and len({tuple(sorted(order)) for order in orders}) == 1
    for order in orders:
        grouped = [name.split(":")[0] if "::" not in name else "TestGroup" in name for name in order]
        inner = [group for group in grouped if group not in (False,)]
        places = [index for index, group in enumerate(grouped) if group == inner[0]]
        assert places == list(range(places[0], places[0] + len(places)))


def test_workers_of_xdist_write_files_of_their_own(tmp_path):
    pytest.importorskip("xdist")
    command = ["-m", "pytest", "-p", "xdist", "-n", "2"]
    seen = suites.watched(tmp_path, {"test_suite.py": PYTEST}, command, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert sorted(event["worker"] for event in seen.of("assay_tests")) == ["gw0", "gw1"]
    assert len(seen.names) == len(set(seen.names)) == 11


HOSTILE = """
import gc, os, subprocess, sys, time
import pytest

def test_changes_directory(): os.chdir("/")
def test_closes_descriptors(): os.closerange(50, 1024)
def test_forks():
    for child in range(2):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
def test_stubs(monkeypatch):
    for owner, name in ((time, "perf_counter_ns"), (time, "monotonic"), (time, "sleep"), (os, "write"), (os, "getpid"), (os, "open")):
        monkeypatch.setattr(owner, name, lambda *_: 1 / 0 if name != "sleep" else None)
def test_replaces_attributes_of_modules(monkeypatch):
    real = time.perf_counter_ns
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()):
            if value is real:
                monkeypatch.setattr(module, name, lambda: 0)
def test_collects(): gc.collect()
def test_clears_the_environment(monkeypatch):
    for name in list(os.environ):
        monkeypatch.delenv(name)
def test_runs_pytest(tmp_path):
    (tmp_path / "test_inner.py").write_text(
        "import pytest\\n@pytest.fixture(scope='session')\\ndef base(): yield\\ndef test_inner(base): pass")
    assert pytest.main([str(tmp_path), "-q"]) == 0
    assert subprocess.call([sys.executable, "-m", "pytest", "-q", str(tmp_path)]) == 0
def test_last(): pass
"""


def test_what_a_test_does_to_its_process_is_survived(tmp_path):
    seen = suites.watched(tmp_path, {"test_suite.py": HOSTILE}, PYTEST_RUN, causes=True)
    assert "9 passed" in seen.out
    assert len(seen.files) == 1
    assert_whole(seen, "pytest")
    assert len(seen.tests) == 9 and set(seen.events[-1]) == {"end"}
    assert seen.causes("test_forks")["processes"] == 2
    assert seen.causes("test_runs_pytest")["processes"] == 1
    assert seen.causes("test_collects")["gc_runs"] == 1 and seen.test("test_collects")["gc"] > 0
    assert seen.test("test_stubs")["end"] > seen.test("test_stubs")["begin"]


def test_a_crash_shows_which_test_ran(tmp_path):
    source = "import os\ndef test_1(): pass\ndef test_2(): os._exit(7)\n"
    seen = suites.watched(tmp_path, {"test_suite.py": source}, PYTEST_RUN)
    assert seen.status == 7
    assert seen.names == ["test_suite.py::test_1"]
    assert seen.events[-1]["start"] == "test_suite.py::test_2"


def test_a_hook_that_fails_says_so_and_the_suite_goes_on(tmp_path):
    source = "import assay_tests_pytest\nassay_tests_pytest.Hooks._begin = lambda *_: 1 / 0\ndef test_1(): pass\ndef test_2(): pass\n"
    seen = suites.watched(tmp_path, {"test_suite.py": source}, PYTEST_RUN)
    assert "2 passed" in seen.out
    assert seen.tests == []
    assert "ZeroDivisionError" in seen.of("problem")[0]["problem"]


def test_without_the_variable_nothing_is_registered_or_written(tmp_path):
    source = "def test_1(pytestconfig): assert not pytestconfig.pluginmanager.hasplugin('assay_tests')\n"
    seen = suites.watched(tmp_path, {"test_suite.py": source}, PYTEST_RUN, ASSAY_TESTS="")
    assert "1 failed" in seen.out  # `watched` sets it.
    seen = suites.watched(
        tmp_path,
        {"test_suite.py": source},
        PYTEST_RUN,
        hooks=False,
        PYTHONPATH=str(suites.HOOKS),
        PYTEST_PLUGINS="assay_tests_hook",
    )
    assert "1 passed" in seen.out and seen.files == []


CAUSES = """
import http.client, http.server, logging, os, sqlite3, subprocess, threading, time, unittest.mock
from time import sleep

def test_sleeps():
    time.sleep(0.002)
    sleep(0.002)

def test_stubbed():
    with unittest.mock.patch("time.sleep"), unittest.mock.patch("subprocess.Popen"), unittest.mock.patch("os.system"):
        time.sleep(9), subprocess.Popen(["false"]), os.system("false")

def test_programs():
    subprocess.run(["true"])
    subprocess.Popen("true", shell=True).wait()
    os.system("true")
    os.popen("true").read()
    subprocess.run(["true"], close_fds=False)
    pid = os.fork()
    os._exit(0) if pid == 0 else os.waitpid(pid, 0)

def test_logs():
    log = logging.getLogger("some.log")
    log.warning("one")
    log.error("two\\nlines")
    log.debug("none")

def test_sql():
    base = sqlite3.connect(":memory:", isolation_level=None)
    base.execute("create table a (x)")
    base.cursor().execute("insert into a values (1)")
    base.executemany("insert into a values (?)", [(1,), (2,), (3,)])
    base.executescript("select 1; select 2")
    assert len(base.execute("select * from a").fetchall()) == 4

def test_http():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(204)
            self.end_headers()
        def log_message(self, *_): pass
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.handle_request).start()
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
        connection.request("GET", "/")
        assert connection.getresponse().status == 204

def test_nothing(): pass
"""


def test_causes(tmp_path):
    seen = suites.watched(tmp_path, {"test_suite.py": CAUSES}, PYTEST_RUN, causes=True)
    assert "7 passed" in seen.out, seen.out
    nothing = {"log_lines": 0, "sql": 0, "redis": 0, "sleeps": 0, "http": 0, "processes": 0}
    counted = {name: {key: seen.causes(name)[key] for key in nothing} for name in seen.statuses}
    assert counted == {
        "test_sleeps": {**nothing, "sleeps": 2},
        "test_stubbed": nothing,
        "test_programs": {**nothing, "processes": 6},
        "test_logs": {**nothing, "log_lines": 2},
        "test_sql": {**nothing, "sql": 7},
        "test_http": {**nothing, "http": 1},
        "test_nothing": nothing,
    }
    assert seen.causes("test_sleeps")["sleep_time"] >= 0.004
    assert seen.causes("test_sql")["sql_time"] > 0 and seen.causes("test_http")["http_time"] > 0
    assert isinstance(seen.causes("test_nothing")["kept"], int)


DATABASES = """
import os
import psycopg, psycopg2, redis, sqlalchemy

DIRECTORY = os.environ["POSTGRES"]
ABOUT = f"host={DIRECTORY} user=postgres dbname=postgres"
REDIS = redis.Redis(unix_socket_path=os.environ["REDIS"])
REDIS.ping()
ENGINE = sqlalchemy.create_engine(f"postgresql+psycopg://postgres@/postgres?host={DIRECTORY}", poolclass=sqlalchemy.pool.StaticPool)
ENGINE.connect().close()

def test_psycopg():
    with psycopg.connect(ABOUT) as base:  # BEGIN, the statements, COMMIT.
        base.execute("SELECT 1")
        base.cursor().executemany("SELECT %s::int", [(1,), (2,)])

def test_psycopg2():
    with psycopg2.connect(ABOUT) as base:
        base.cursor().execute("SELECT pg_sleep(0.01)")

def test_autocommit():
    base = psycopg.connect(ABOUT, autocommit=True)
    base.execute("SELECT 1")
    base.close()

def test_sqlalchemy():
    with ENGINE.connect() as connection:  # BEGIN, the statement, ROLLBACK.
        connection.execute(sqlalchemy.text("SELECT 1"))

def test_redis():
    REDIS.set("a", 1)
    with REDIS.pipeline(transaction=False) as pipeline:
        [pipeline.incr("b") for _ in range(10)]
        pipeline.execute()

def test_redis_transaction():
    with REDIS.pipeline() as pipeline:
        pipeline.incr("b")
        pipeline.execute()
"""


def test_databases(tmp_path):
    for module in ("psycopg", "psycopg2", "redis", "sqlalchemy"):
        pytest.importorskip(module)
    try:
        postgres = servers.Postgres()
        try:
            redis = servers.Redis()
            try:
                seen = suites.watched(
                    tmp_path,
                    {"test_suite.py": DATABASES},
                    PYTEST_RUN,
                    causes=True,
                    POSTGRES=postgres.directory,
                    REDIS=redis.socket,
                )
            finally:
                redis.stop()
        finally:
            postgres.stop()
    except servers.Missing as missing:
        pytest.skip(str(missing))
    assert "6 passed" in seen.out, seen.out
    assert {name: seen.causes(name)["sql"] for name in seen.statuses if "redis" not in name} == {
        "test_psycopg": 5, "test_psycopg2": 3, "test_autocommit": 1, "test_sqlalchemy": 3,
    }  # fmt: skip
    assert [seen.causes(name)["redis"] for name in ("test_redis", "test_redis_transaction")] == [11, 3]
    assert seen.causes("test_psycopg2")["sql_time"] >= 0.01


NODE = """
import { test, describe, it } from "node:test";
import assert from "node:assert";
test("passes", () => {});
test("fails", () => assert.equal(1, 2));
test("skipped", { skip: "why not" }, () => {});
test("todo", { todo: true }, () => { throw new Error("later"); });
describe("group", () => {
  it("waits", () => new Promise((done) => setTimeout(done, 20)));
  describe("inner", () => { it("is deep", () => {}); });
});
test("parent", async (context) => { await context.test("child", () => {}); });
"""


def test_node(tmp_path):
    node = shutil.which("node")
    if node is None or int(subprocess.check_output([node, "-p", "process.versions.node.split('.')[0]"])) < 20:
        pytest.skip("needs Node 20: apt-get install nodejs")
    (tmp_path / "suite.test.mjs").write_text(NODE)
    (tmp_path / "events").mkdir()
    reporters = ["tap", str(suites.HOOKS_OF_JAVASCRIPT / "assay_node_reporter.mjs")]
    options = [part for name in reporters for part in (f"--test-reporter={name}", "--test-reporter-destination=stdout")]
    done = subprocess.run(
        [node, "--test", *options],
        cwd=tmp_path,
        env={**os.environ, "ASSAY_TESTS": f"path:{tmp_path / 'events'}"},
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    seen = suites.Seen(done, tmp_path / "events")
    names = ["passes", "fails", "skipped", "todo", "group: waits", "group: inner: is deep", "parent: child"]
    assert seen.names == names
    assert [test["status"] for test in seen.tests] == [
        "passed",
        "failed",
        "skipped",
        "passed",
        "passed",
        "passed",
        "passed",
    ]
    leaves = [
        line.strip().split(" - ")[1].split(" #")[0]
        for line in done.stdout.splitlines()
        if re.match(r" *(not )?ok ", line)
    ]
    assert [name for name in leaves if name not in ("group", "inner", "parent")] == [n.split(": ")[-1] for n in names]
    assert set(names) <= set(seen.started)
    assert seen.test("waits")["body"] >= 0.019 and seen.test("waits")["file"] == "suite.test.mjs"
    assert "1 == 2" in seen.test("fails")["message"]
    assert len(seen.files) == 1 and set(seen.events[-1]) == {"end"} and seen.of("problem") == []


JEST_AND_VITEST = """
import Reporter from "REPORTER";
const now = Date.now();
const jest = new Reporter();
jest.onRunStart();
const file = { path: `${process.cwd()}/src/a.test.js` };
jest.onTestCaseStart(file, { ancestorTitles: ["group"], title: "works" });
const works = { ancestorTitles: ["group"], title: "works", status: "passed", startedAt: now, duration: 12 };
jest.onTestCaseResult(file, works);
const fails = { ancestorTitles: [], title: "fails", status: "failed", startedAt: now + 12, duration: 1, failureMessages: ["no\\n    at there"] };
jest.onTestCaseResult(file, fails);
const skipped = { ancestorTitles: [], title: "skipped", status: "pending" };
jest.onTestFileResult(file, { perfStats: { start: now - 100, end: now + 20 }, testResults: [works, fails, skipped] });
jest.onTestCaseStart(file, null);
jest.onRunComplete();

const vitest = new Reporter();
vitest.onInit({ version: "4.1" });
const module = { type: "module", moduleId: `${process.cwd()}/b.test.ts` };
const suite = { type: "suite", name: "outer", parent: module };
const test = (name, state, errors) => ({
  type: "test", name, parent: suite, module, location: { line: 7 }, result: () => ({ state, errors }),
  diagnostic: () => (state === "skipped" ? undefined : { startTime: now, duration: 3.5 }),
});
vitest.onTestCaseReady(test("works", "pending"));
vitest.onTestCaseResult(test("works", "passed"));
vitest.onTestCaseResult(test("fails", "failed", [{ message: "\\u001b[31mred\\u001b[0m" }]));
vitest.onTestCaseResult(test("skipped", "skipped"));
const unloaded = (name) => ({ type: "module", moduleId: `${process.cwd()}/${name}`, errors: () => [{ message: "load" }] });
const [reported, unreported] = [unloaded("c.test.ts"), unloaded("d.test.ts")];
vitest.onTestModuleEnd(reported);
vitest.onTestRunEnd([module, reported, unreported]);
"""


def test_jest_and_vitest(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node: apt-get install nodejs")
    (tmp_path / "events").mkdir()
    reporter = str(suites.HOOKS_OF_JAVASCRIPT / "assay_jest_vitest_reporter.mjs")
    (tmp_path / "run.mjs").write_text(JEST_AND_VITEST.replace("REPORTER", reporter))
    env = {**os.environ, "ASSAY_TESTS": f"path:{tmp_path / 'events'}"}
    done = subprocess.run([node, "run.mjs"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert done.stdout + done.stderr == "" and done.returncode == 0
    seen = suites.Seen(done, tmp_path / "events")
    assert {header["framework"] for header in seen.of("assay_tests")} == {"jest", "vitest"}
    told = {(test["test"], test["status"], test.get("message"), test.get("body"), test["file"]) for test in seen.tests}
    assert told == {
        ("a.test.js: group works", "passed", None, 0.012, "src/a.test.js"),
        ("a.test.js: fails", "failed", "no", 0.001, "src/a.test.js"),
        ("a.test.js: skipped", "skipped", None, None, "src/a.test.js"),
        ("b.test.ts: outer works", "passed", None, 0.0035, "b.test.ts"),
        ("b.test.ts: outer fails", "failed", "red", 0.0035, "b.test.ts"),
        ("b.test.ts: outer skipped", "skipped", None, None, "b.test.ts"),
        ("c.test.ts", "failed", "load", None, "c.test.ts"),
        ("d.test.ts", "failed", "load", None, "d.test.ts"),
    }
    assert len(seen.tests) == len(told)
    assert sorted(seen.started) == ["a.test.js: group works", "b.test.ts: outer works"]
    (load,) = seen.spans("load")
    assert load["group"] == "src/a.test.js" and 0.099 < load["end"] - load["begin"] < 0.101
    assert ["TypeError" in event["problem"] for event in seen.of("problem")] == [True]
    assert len([event for event in seen.events if set(event) == {"end"}]) == 2
