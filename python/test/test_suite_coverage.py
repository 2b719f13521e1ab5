"""The recorded uses of pytest and unittest tests (ASSAY_TESTS_COVERAGE): functions, files,
directories, programs, imports; together with coverage.py and other profilers, in threads, in forked
processes, under xdist; with every available way of watching functions."""

import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest
import suites

pytestmark = pytest.mark.once

LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "c/python_calls.c"
# Without plugins that are slow to load.
RUN = ["-m", "pytest", "-q", "-p", "no:hypothesispytest", "-p", "no:assay"]

LIB = """
    import functools
    from . import util
    def deco(f):
        @functools.wraps(f)
        def inner(*a):
            return f(*a)
        return inner
    @deco
    def decorated(x):
        return util.twice(x)
    plus = lambda x: x + 1
    def gen():
        yield from (n for n in range(2))
    async def co():
        return 3
    class Thing:
        def method(self):
            def nested():
                return 1
            return nested()
    def lazy():
        from . import late
        return late.VALUE
    space = {}
    exec("def made(): return 5", space)
    made = space["made"]
    """
CONFTEST = """
    import importlib
    import pytest
    importlib.import_module("lib.settings")
    from lib import core
    @pytest.fixture(scope="session")
    def base(): return core.decorated(2)
    @pytest.fixture(scope="module")
    def held(base): yield core.plus(1)
    """
TESTS = """
    import asyncio, os, pathlib, pkgutil, subprocess, sys, threading
    from lib import core
    def test_base(base): assert base == 4
    def test_again(base): assert base == 4
    def test_held(held): pass
    def test_none(): pass
    def test_opens():
        assert pathlib.Path("data/a.txt").read_text()
        os.listdir("data")
        assert not pathlib.Path("data/none.txt").exists()
        try: open("none.txt")
        except OSError: pass
        pathlib.Path("out.txt").write_text("x")
        pathlib.Path("out.txt").read_text()
        assert pkgutil.get_data("lib", "data.txt")
    def test_spawns():
        subprocess.run([sys.executable, "-c", "1", "script.py"])
        os.system("true a")
    def test_lazy(): assert core.lazy() == 7
    def test_lazily(): assert core.lazy() == 7
    def test_gen(): assert list(core.gen()) == [0, 1]
    def test_async(): assert asyncio.run(core.co()) == 3
    def test_method(): assert core.Thing().method() == 1
    def test_made(): assert core.made() == 5
    def test_thread():
        thread = threading.Thread(target=core.Thing().method)
        thread.start()
        thread.join()
    def test_fork():
        child = os.fork()
        if child == 0:
            core.plus(1)
            os._exit(0)
        os.waitpid(child, 0)
    def test_killed():
        child = os.fork()
        if child == 0:
            os.kill(os.getpid(), 9)
        os.waitpid(child, 0)
    def test_code():
        exec(compile("def f(): return 1\\nf()", os.path.abspath("page.html"), "exec"))
    def test_asserts(): assert core.plus(1) == 2
    """
PROJECT = {
    "lib/__init__.py": "",
    "lib/core.py": LIB,
    "lib/util.py": "def twice(x): return 2 * x\n",
    "lib/late.py": "VALUE = 7\n",
    "lib/settings.py": "VALUE = 8\n",
    "conftest.py": CONFTEST,
    "test_it.py": TESTS,
    "lib/data.txt": "a\n",
    "data/a.txt": "a\n",
}


def line(source, text):
    lines = textwrap.dedent(source).splitlines()
    (found,) = [number for number, one in enumerate(lines, 1) if text in one]
    return found


CORE = {
    name: line(LIB, text)
    for name, text in {
        "deco": "def deco(",
        "inner": "@functools",
        "decorated": "@deco",
        "plus": "lambda",
        "gen": "def gen",
        "genexpr": "yield from",
        "co": "async def",
        "method": "def method",
        "nested": "def nested",
        "lazy": "def lazy",
    }.items()
}


class Used:
    """Returns the coverage lines, with the names of files."""

    def __init__(self, seen):
        self.tests, self.outside, self.imports = {}, [], set()
        assert seen.of("problem") == []
        for file in seen.files:
            paths = {}
            for text in suites.written(file).splitlines():
                event = suites.json.loads(text)
                if "covers" in event or "source" in event or isinstance(event.get("loaded"), list):
                    # Readers identify these lines by their first member.
                    assert text.startswith(('{"covers":', '{"source":', '{"loaded":')), text
                if "source" in event:
                    paths[event["number"]] = event["source"]
                    continue
                if "covers" not in event and not isinstance(event.get("loaded"), list):
                    continue
                event["blocks"] = {paths[int(number)]: lines for number, lines in event.get("blocks", {}).items()}
                event["loads"] = [paths[number] for number in event.get("loads", event.get("loaded", []))]
                for number, others in event.get("imports", {}).items():
                    self.imports |= {(paths[int(number)], paths[other]) for other in others}
                if "covers" in event:
                    self.tests[event["covers"].rpartition("::")[2].rpartition(": ")[2]] = event
                else:
                    self.outside.append(event)

    def core(self, test):
        """Returns the functions of lib/core.py that a test entered."""
        lines = self.tests[test]["blocks"].get("lib/core.py", [])
        return sorted(name for name, number in CORE.items() if number in lines), len(lines)


@pytest.fixture(scope="session")
def with_library(tmp_path_factory):
    """Returns the hooks, with the library compiled from C."""
    folder = tmp_path_factory.mktemp("hooks") / "hooks"
    shutil.copytree(suites.HOOKS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    flags = ["-shared", "-fPIC", "-O2", "-nostdlib", "-ffreestanding"]
    subprocess.run(["cc", *flags, "-o", folder / "assay_python_calls.so", LIBRARY], check=True)
    return folder


@pytest.fixture(params=["best", "plain"])
def way(request, monkeypatch):
    """From 3.12 on there is one way; in earlier versions there are the library and Python."""
    if hasattr(sys, "monitoring"):
        if request.param == "plain":
            pytest.skip("there is sys.monitoring")
    elif request.param == "best":
        if not shutil.which("cc"):
            pytest.skip("there is no C compiler")
        monkeypatch.setattr(suites, "HOOKS", request.getfixturevalue("with_library"))
    return request.param


def used(folder, sources, command, **options):
    project = folder / "project"
    for name, source in sources.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(textwrap.dedent(source))
    seen = suites.watched(folder, {}, command, ASSAY_TESTS_COVERAGE=f"path:{project}", **options)
    assert seen.status == options.get("status", 0), seen.out
    return Used(seen)


def assert_all(found):
    assert [test for test in found.tests if "unseen" in found.tests[test]] == ["test_killed"]
    for name, expected in {
        "test_none": [],
        "test_lazy": ["lazy"],
        "test_lazily": ["lazy"],
        "test_gen": ["gen", "genexpr"],
        "test_async": ["co"],
        "test_method": ["method", "nested"],
        "test_made": [],
        "test_thread": ["method", "nested"],
        "test_fork": ["plus"],
        "test_asserts": ["plus"],
    }.items():
        assert found.core(name)[0] == expected, name
        assert found.tests[name]["blocks"]["test_it.py"] == [line(TESTS, f"def {name}(")], name
    # Fixtures shared by several tests count for all that use them, also indirectly.
    for name, expected in {
        "test_base": ["decorated", "inner"],
        "test_again": ["decorated", "inner"],
        "test_held": ["decorated", "inner", "plus"],
    }.items():
        assert found.core(name)[0] == expected, name
        assert found.tests[name]["blocks"]["lib/util.py"] == [1]
        assert line(CONFTEST, '"session"') in found.tests[name]["blocks"]["conftest.py"]
    opens = found.tests["test_opens"]
    assert (opens["opens"], opens["lists"]) == (["data/a.txt", "data/none.txt", "lib/data.txt", "none.txt"], ["data"])
    python, shell = found.tests["test_spawns"]["spawns"]
    assert python[1:] == ["-c", "1", "script.py"] and "python" in python[0]
    assert shell == ["/bin/sh", "-c", "true a"]
    assert found.tests["test_code"]["opens"] == ["page.html"]
    assert found.tests["test_none"].keys() == {"covers", "blocks", "loads"}
    loaders = [name for name in found.tests if found.tests[name]["loads"]]
    assert set(loaders) <= {"test_lazy", "test_lazily"} and loaders
    loaded = {path for event in found.outside for path in event["loads"]}
    assert loaded == {*PROJECT} - {"lib/late.py", "data/a.txt", "lib/data.txt"}
    assert found.imports >= {
        ("test_it.py", "lib/core.py"),
        ("test_it.py", "conftest.py"),
        ("conftest.py", "lib/core.py"),
        ("conftest.py", "lib/settings.py"),
        ("lib/core.py", "lib/util.py"),
        ("lib/core.py", "lib/late.py"),
        ("lib/core.py", "lib/__init__.py"),
    }
    assert not {pair for pair in found.imports if pair[1] == "test_it.py"}


def test_what_tests_of_pytest_use(tmp_path, way):
    assert_all(used(tmp_path, PROJECT, RUN))


CACHED = {
    "lib/__init__.py": "",
    "lib/core.py": """
        import functools
        from functools import lru_cache
        def rate():
            return 2
        @functools.lru_cache
        def plain(): return rate()
        @lru_cache(maxsize=8)
        def sized(n): return rate() * n
        class Thing:
            @functools.lru_cache()
            def method(self): return rate()
        thing = Thing()
        def other(): return 1
        """,
    "test_it.py": """
        from lib import core
        def test_first(): assert (core.plain(), core.sized(2), core.thing.method()) == (2, 4, 2)
        def test_plain(): assert core.plain() == 2
        def test_sized(): assert core.sized(2) == 4
        def test_method(): assert core.thing.method() == 2
        def test_other(): assert core.other() == 1
        def test_cleared():
            core.plain.cache_clear()
            assert core.plain() == 2
        """,
}


def test_kept_results_are_uses(tmp_path, way):
    found = used(tmp_path, CACHED, RUN)
    rate = line(CACHED["lib/core.py"], "def rate")
    users = {name for name, own in found.tests.items() if rate in own["blocks"].get("lib/core.py", [])}
    assert users == {"test_first", "test_plain", "test_sized", "test_method", "test_cleared"}


def test_under_xdist(tmp_path):
    assert_all(used(tmp_path, PROJECT, [*RUN, "-n", "2"]))


@pytest.mark.parametrize("core", ["ctrace", "sysmon"])
def test_beside_coverage_py(tmp_path, way, core):
    pytest.importorskip("coverage")
    if core == "sysmon" and not hasattr(sys, "monitoring"):
        pytest.skip("there is no sys.monitoring")
    command = ["-m", "coverage", "run", "--include=lib/*", *RUN]
    assert_all(used(tmp_path, PROJECT, command, COVERAGE_CORE=core))
    report = ["-m", "coverage", "report", "--fail-under=100"]
    done = subprocess.run([sys.executable, *report], cwd=tmp_path / "project", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_beside_another_profiler(tmp_path, way):
    tests = """
        import cProfile
        from lib import core
        def test_first(): assert core.plus(1) == 2
        def test_profiled():
            profile = cProfile.Profile()
            profile.enable()
            core.plus(1)
            profile.disable()
            assert any("lambda" in row.code.co_name for row in profile.getstats() if hasattr(row.code, "co_name"))
        def test_last(): assert core.plus(1) == 2
        """
    found = used(tmp_path, {**PROJECT, "test_it.py": tests}, RUN)
    assert found.core("test_first")[0] == found.core("test_last")[0] == ["plus"]
    assert "unseen" not in found.tests["test_last"]
    profiled = found.tests["test_profiled"]
    assert profiled.get("unseen") == "a profiler was active" or found.core("test_profiled")[0] == ["plus"]


def test_what_tests_of_unittest_use(tmp_path, way):
    tests = """
        import unittest
        from lib import core
        def setUpModule(): core.Thing().method()
        class First(unittest.TestCase):
            @classmethod
            def setUpClass(cls): core.plus(1)
            def setUp(self): core.deco(len)
            def test_first(self): pass
            def test_second(self): core.lazy()
        class Other(unittest.TestCase):
            def test_third(self): pass
        """
    command = [str(suites.HOOKS / "assay_unittest.py")]
    found = used(tmp_path, {**PROJECT, "test_it.py": tests}, command)
    assert found.core("test_first")[0] == ["deco", "method", "nested", "plus"]
    assert found.core("test_second")[0] == ["deco", "lazy", "method", "nested", "plus"]
    assert found.core("test_third")[0] == ["method", "nested"]
    assert {("test_it.py", "lib/core.py"), ("lib/core.py", "lib/util.py")} <= found.imports


def test_doctests_have_names_and_need_no_more_than_they_enter(tmp_path):
    words = '''
        def one():
            """
            >>> one()
            1
            """
            return 1
        def two():
            """
            >>> two()
            2
            """
            return 2
        '''
    tests = """
        import doctest
        import words
        def load_tests(loader, tests, pattern):
            tests.addTests(doctest.DocTestSuite(words))
            return tests
        """
    command = [str(suites.HOOKS / "assay_unittest.py")]
    found = used(tmp_path, {"words.py": words, "test_words.py": tests}, command)
    assert found.tests["one"]["blocks"] == {"words.py": [line(words, "def one(")]}
    assert found.tests["two"]["blocks"] == {"words.py": [line(words, "def two(")]}
    assert not [event for event in found.outside if "words.py" in event.get("opens", [])]


def test_what_is_loaded_for_all_tests_is_imported_by_all(tmp_path):
    sources = {
        "own_plugin.py": "import helper\n",
        "helper.py": "",
        "a/__init__.py": "",
        "a/conftest.py": "",
        "a/test_same.py": "def test_a(): pass\n",
        "b/__init__.py": "",
        "b/test_same.py": "import sys\nfrom . import near\ndef test_b(): near.f()\n",
        "b/near.py": "def f(): pass\n",
        "conftest.py": "",
    }
    found = used(tmp_path, sources, [*RUN, "-p", "own_plugin"])
    shared = {"own_plugin.py", "conftest.py"}
    by_test = {test: {path for own, path in found.imports if own == test} for test in ("a/test_same.py", "b/test_same.py")}
    assert by_test["a/test_same.py"] == shared | {"a/__init__.py", "a/conftest.py"}
    assert by_test["b/test_same.py"] == shared | {"b/__init__.py", "b/near.py"}
    assert ("own_plugin.py", "helper.py") in found.imports
    assert found.tests["test_b"]["blocks"] == {"b/near.py": [1], "b/test_same.py": [3]}


LOOKS = """
    import codecs, ctypes, glob, importlib.resources, inspect, io, linecache, os, pathlib, pickle, sqlite3, subprocess, traceback
    here = os.path.dirname(os.path.abspath(__file__))
    def test_exists(): assert os.path.exists(here + "/data/a.txt")
    def test_size(): os.path.getsize("./data/../data/a.txt")
    def test_source(): os.path.getsize("lib/late.py")
    def test_link(): assert not os.path.lexists("data/none")
    def test_glob(): assert glob.glob("data/a.txt")
    def test_walk(): assert list(os.walk("data"))
    def test_scan(): assert [entry.stat() for entry in os.scandir(pathlib.Path("data"))]
    def test_entries():
        with os.scandir("data") as entries: assert [os.fspath(entry) for entry in entries if entry.is_file() and entry.name != "a.db"] == ["data/a.txt"]
    def test_listdir(): assert os.listdir("data")
    def test_iterdir(): assert list(pathlib.Path("data").iterdir())
    def test_path_glob(): assert list(pathlib.Path("data").glob("*.txt"))
    def test_contents(): assert list(importlib.resources.files("lib").iterdir())
    def test_path(): assert pathlib.Path("data/a.txt").exists() and pathlib.Path("data/a.txt").is_file() and pathlib.Path("data").is_dir()
    def test_access(): assert os.access("data/a.txt", os.R_OK)
    def test_below():
        folder = os.open("data", os.O_RDONLY)
        assert os.listdir(folder) and os.stat("a.txt", dir_fd=folder)
        os.close(folder)
    def test_opened_below():
        folder = os.open("data", os.O_RDONLY)
        os.close(os.open("a.txt", os.O_RDONLY, dir_fd=folder))
        os.close(folder)
    def test_kept(): assert pickle.loads(pickle.dumps([os.stat, os.scandir])) == [os.stat, os.scandir] and inspect.signature(os.stat)
    def test_resolve(): assert pathlib.Path(here, "data", "a.txt").resolve()
    def test_io(): io.open("data/a.txt").close(); codecs.open(b"data/a.txt").close()
    def test_os(): os.close(os.open("data/a.txt", os.O_RDONLY))
    def test_sqlite(): sqlite3.connect("file:data/a.db?mode=ro&immutable=1", uri=True).close()
    def test_resource(): assert importlib.resources.files("lib").joinpath("data.txt").read_text()
    def test_library():
        try: ctypes.CDLL("./data/a.txt")
        except OSError: pass
    def test_executable(): subprocess.run(["cat", "x"], executable="/bin/true")
    def test_place(): subprocess.run(["true", "a.txt"], cwd="data")
    def test_shown():
        try: 1 / 0
        except ZeroDivisionError: assert traceback.format_exc()
        linecache.checkcache(here + "/lib/late.py")
    """


def test_what_tests_look_at_and_how_they_open_it(tmp_path):
    sources = {"test_it.py": LOOKS, **{name: PROJECT[name] for name in ("lib/__init__.py", "lib/late.py", "lib/data.txt", "data/a.txt")}}
    found = used(tmp_path, {**sources, "data/a.db": ""}, RUN)
    seen = {name[5:]: (event.get("opens", []), event.get("lists", [])) for name, event in found.tests.items()}
    a = (["data/a.txt"], [])
    names = ("exists", "size", "glob", "io", "os", "library", "access")
    assert {name: seen[name] for name in names} == dict.fromkeys(names, a)
    names = ("walk", "entries", "listdir", "iterdir", "path_glob")
    assert {name: seen[name] for name in names} == dict.fromkeys(names, ([], ["data"]))
    assert seen["scan"] == (["data/a.db", "data/a.txt"], ["data"])
    assert seen["path"] == (["data/a.txt"], ["data"])
    assert seen["contents"] == ([], ["lib"])
    for name in ("below", "opened_below"):
        assert "data/a.txt" in seen[name][0]
    assert seen["below"][1] == ["data"]
    assert seen["source"] == (["lib/late.py"], [])
    assert seen["link"] == (["data/none"], [])
    assert seen["sqlite"] == (["data/a.db"], [])
    assert "lib/data.txt" in seen["resource"][0]
    # Resolving a path or showing a source does not use the file.
    assert seen["resolve"] == seen["shown"] == ([], [])
    assert found.tests["test_executable"]["spawns"] == [["/bin/true", "x"]]
    assert found.tests["test_place"]["spawns"] == [{"words": ["true", "a.txt"], "in": str(tmp_path / "project/data")}]


def test_what_a_late_module_reads_while_it_is_loaded_is_used_by_later_tests(tmp_path):
    sources = {
        "late.py": "import os\nTEXT = open('data/a.txt').read()\nNAMES = os.listdir('data')\ndef more(): return open('data/b.txt').read()\n",
        "data/a.txt": "a",
        "data/b.txt": "b",
        "test_it.py": """
            def test_loads(): import late
            def test_uses():
                import late
                assert late.TEXT
            def test_reads():
                import late
                assert late.more()
            """,
    }
    found = used(tmp_path, sources, RUN)
    assert (found.tests["test_loads"]["opens"], found.tests["test_loads"]["lists"]) == (["data/a.txt"], ["data"])
    # Excludes what its functions read when a test calls them.
    assert found.tests["test_reads"]["opens"] == ["data/b.txt"]
    for kind, names in (("opens", ["data/a.txt"]), ("lists", ["data"])):
        assert [name for event in found.outside for name in event.get(kind, [])] == names


def test_without_it_nothing_of_it_is_loaded(tmp_path):
    test = "import sys\ndef test_it(): assert not [name for name in sys.modules if name.startswith('assay_tests_c')]\n"
    seen = suites.watched(tmp_path, {"test_it.py": test}, RUN)
    assert seen.statuses == {"test_it": "passed"} and seen.of("covers") == []
