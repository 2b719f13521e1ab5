"""A preloaded process that is forked for every run: it does what the command would do, with the
current contents of files, and leaves nothing behind."""

import contextlib
import os
import pty
import signal
import socket
import subprocess
import sys
import textwrap

import preloaded
import pytest
import suites

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs Linux"),
]

PROJECT = {
    "lib/__init__.py": "",
    "lib/base.py": "VALUE = 1\n",
    "lib/more.py": "from lib import base\ndef twice():\n    return 2 * base.VALUE\n",
    "lib/late.py": "import fractions\nVALUE = 10\n",
    "tests/conftest.py": """
        import os, sys
        sys.path.insert(0, os.getcwd())
        import pytest
        from lib import more
        @pytest.fixture
        def value(): return more.twice()
        """,
    "tests/test_value.py": """
        def test_value(value): assert value == 2
        def test_other(): pass
        """,
    "tests/test_late.py": """
        from lib import late
        def test_late(): assert late.VALUE == 10
        """,
}
# Without plugins that are slow to load.
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:assay"]


@pytest.fixture
def start(tmp_path):
    processes = []

    def begin(command, sources, **variables):
        project = tmp_path / "project"
        for name, source in sources.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(textwrap.dedent(source))
        folder = tmp_path / f"warm{len(processes)}"
        folder.mkdir()
        processes.append(preloaded.Preloaded(folder, command, project, **variables))
        return processes[-1]

    yield begin
    for process in processes:
        process.end()
    for process in processes:
        process.until(lambda process=process: not process.alive(), "it leaves processes")


def test_pytest_in_stages_and_what_a_change_makes_anew(start):
    warm = start(PYTEST, PROJECT).ready()
    stages = warm.state()["stages"]
    assert [stage["name"] for stage in stages] == ["framework", "helpers"]
    assert all(stage["pid"] > 1 and stage["memory"] > 0 and stage["seconds"] > 0 for stage in stages)
    assert {"tests/conftest.py", "lib/more.py", "lib/base.py"} <= warm.loaded()
    status, said = warm.run()
    assert (status, "3 passed" in said) == ({"exit": 0}, True), said
    warm.improved("lib/late.py")
    # Standard library modules that a test's module needs, then project modules; none of them twice.
    assert [stage["name"] for stage in warm.state()["stages"]] == ["framework", "helpers", "framework", "application"]
    assert warm.state()["stages"][-1]["files"] == 1
    assert "tests/test_late.py" not in warm.loaded()

    # A run uses the contents of files at its start, and has its own session.
    run = warm.begin(only=["tests/test_value.py::test_value"])
    pid = run.pid
    status, said = run.end()
    assert (status, "1 passed" in said) == ({"exit": 0}, True), said
    assert pid not in [stage["pid"] for stage in warm.state()["stages"]]

    before = [stage["pid"] for stage in warm.state()["stages"]]
    assert warm.change("lib/late.py", "VALUE = 11\n") == "application"
    status, said = warm.run(only=["tests/test_late.py"])
    assert (status, "assert 11 == 10" in said) == ({"exit": 1}, True), said
    after = [stage["pid"] for stage in warm.state()["stages"]]
    assert after[:2] == before[:2] and after[-1] != before[-1]

    assert warm.change("lib/base.py", "VALUE = 2\n") == "helpers"
    status, said = warm.run(only=["tests/test_value.py"])
    assert (status, "1 failed, 1 passed" in said) == ({"exit": 1}, True), said
    # From the second time on, there is a stage directly before it.
    assert warm.change("lib/base.py", "VALUE = 1\n") == "helpers"
    assert warm.run(only=["tests/test_value.py"])[0] == {"exit": 0}

    # Tests are loaded by runs.
    assert warm.change("tests/test_value.py", "def test_new(): assert 0\n") is None
    status, said = warm.run(only=["tests/test_value.py"])
    assert (status, "test_new" in said) == ({"exit": 1}, True), said


def test_a_syntax_error_is_refused_until_it_is_repaired(start):
    warm = start(PYTEST, PROJECT).ready()
    assert warm.change("lib/base.py", "VALUE = = 1\n") == "helpers"
    (refused,), said = [warm.run()[0]], None
    assert f"{warm.project}/lib/base.py, line 1: " in refused["refused"] and said is None
    state = warm.state()
    assert (state["notes"], state["ready"]) == ([refused["refused"]], False)
    assert warm.change("lib/base.py", "VALUE = 1\n") == "application"
    assert warm.run()[0] == {"exit": 0}

    # Other errors are reported by the run.
    assert warm.change("lib/base.py", "raise ValueError('at the top')\n") == "helpers"
    status, said = warm.run()
    assert status == {"exit": 4} and "at the top" in said and "conftest.py" in said
    assert any("not everything" in note for note in warm.state()["notes"])
    assert warm.change("lib/base.py", "VALUE = 1\n") is not None
    assert warm.run()[0] == {"exit": 0}
    assert [stage["name"] for stage in warm.state()["stages"]][:2] == ["framework", "helpers"]


def test_configuration_that_was_read_at_first_starts_the_process_anew(start):
    warm = start(PYTEST, {**PROJECT, "pytest.ini": "[pytest]\naddopts = -k late\n"}).ready()
    assert "1 passed" in warm.run()[1]
    assert warm.change("pytest.ini", "[pytest]\naddopts = -k other\n") == "framework"
    warm.until(lambda: os.path.exists(warm.path), "is never ready again")
    assert "1 passed, 2 deselected" in warm.run()[1]


def test_runs_overlap_and_end_by_signals(start):
    waits = {"tests/test_wait.py": "import os, time\ndef test_wait():\n    open('begun', 'w').close()\n    time.sleep(60)\n"}
    warm = start(PYTEST, {**PROJECT, **waits}).ready()
    slow = warm.begin(only=["tests/test_wait.py"])
    warm.until((warm.project / "begun").exists, "does not begin")
    assert warm.run(only=["tests/test_value.py"])[0] == {"exit": 0}
    # Reloading does not end it.
    warm.change("lib/base.py", "VALUE = 1\n# more\n")
    assert warm.run(only=["tests/test_value.py"])[0] == {"exit": 0}
    os.killpg(slow.pid, signal.SIGINT)
    status, said = slow.end()
    assert status == {"exit": 2} and "KeyboardInterrupt" in said

    slow = warm.begin(only=["tests/test_wait.py"])
    os.killpg(slow.pid, signal.SIGKILL)
    assert slow.end()[0] == {"signal": signal.SIGKILL}
    # The client has gone.
    slow = warm.begin(only=["tests/test_wait.py"])
    pid = slow.pid
    slow.close()
    warm.until(lambda: preloaded.state_of(pid) == "Z", "goes on")
    # Its runs end with the process.
    slow = warm.begin(only=["tests/test_wait.py"])
    assert slow.pid
    assert warm.ask(stop=True) is None
    assert warm.process.wait(preloaded.WITHIN) == 0
    warm.until(lambda: not warm.alive(), "it leaves processes")


def test_stages_that_die_or_hang(start):
    warm = start(PYTEST, PROJECT).ready()
    last = warm.state()["stages"][-1]["pid"]
    os.kill(last, signal.SIGKILL)
    assert warm.run(only=["tests/test_value.py"])[0] in ({"exit": 0}, {"refused": "the preloaded process has died"})
    assert warm.run(only=["tests/test_value.py"])[0] == {"exit": 0}
    # Repeated, because runs leave the stage for one that has loaded more as soon as that is ready.
    warm.until(lambda: run_with_stopped_stage(warm) != {"exit": 0}, "runs never use the last stage")
    assert warm.run(only=["tests/test_value.py"])[0] == {"exit": 0}
    # Requests do not wait for a process that never finishes loading; it ends with the others (see
    # `start`).
    warm.change("lib/base.py", "import time\ntime.sleep(60)\n")
    assert warm.state()["version"] == 1
    assert warm.change("lib/base.py", "VALUE = 1\n") is not None
    assert warm.run(only=["tests/test_value.py"])[0] == {"exit": 0}
    warm.change("lib/base.py", "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)\n")


def run_with_stopped_stage(warm):
    """Returns the status of a run during which the last stage is stopped."""
    last = warm.state()["stages"][-1]["pid"]
    os.kill(last, signal.SIGSTOP)
    status = warm.run(only=["tests/test_value.py"])[0]
    if status == {"exit": 0}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(last, signal.SIGCONT)
    else:
        assert status == {"refused": "the preloaded process does not answer"}
    return status


class Forks:
    """A root in which every fork is the child, which has closed what it does not need."""

    def __init__(self, server):
        self.server = None
        self.module = server

    def go_on(self, message, descriptor):
        os.close(descriptor)
        self.server.forget()
        return True

    def run(self, request, streams, connection):
        for descriptor in (*streams, connection):
            os.close(descriptor)
        self.server.forget()
        return True


@pytest.fixture
def root(monkeypatch):
    monkeypatch.syspath_prepend(str(suites.HOOKS))
    import assay_warm_server

    warm = Forks(assay_warm_server)
    warm.given, warm.pytest, warm.seen = {}, None, None
    about = {"name": "framework", "last": False, "files": [], "notes": [], "seconds": 0.0, "natural": False}
    warm.server = assay_warm_server.Server(warm, about)
    return warm


def test_a_fork_keeps_no_connection_of_a_client(root):
    """Otherwise the client would wait for its end."""

    def given():
        """Returns a client's end, and the arguments of a run."""
        client, connection = socket.socketpair()
        client.settimeout(preloaded.WITHIN)
        streams = [os.open(os.devnull, os.O_RDWR) for _ in range(3)]
        return client, ({"env": {}}, streams, connection.detach(), 0.0)

    server = root.server
    # The last stage dies just before it is asked to run something: the root creates it again.
    ours, theirs = socket.socketpair()
    theirs.close()
    stage = root.module.Stage(ours)
    stage.pid, stage.about = 2**30, {**server.stages[0].about, "last": True}
    server.stages.append(stage)
    client, run = given()
    assert server.give(*run)
    assert client.recv(1) == b""

    # Two runs wait, and the root becomes the first.
    root.server = server = root.module.Server(root, {**stage.about})
    server.listener = socket.socket()
    clients = []
    for _ in range(2):
        client, run = given()
        clients.append(client)
        server.waiting.append(run)
    assert server.ready()
    assert [client.recv(1) for client in clients] == [b"", b""]


def test_runs_that_wait_are_refused_when_nothing_can_be_loaded(start):
    warm = start(PYTEST, PROJECT).ready()
    assert warm.change("lib/base.py", "import time\ntime.sleep(60)\n") is not None
    run = warm.begin(only=["tests/test_value.py"])
    warm.change("lib/base.py", "def (\n")
    answer = run.end()[0]
    assert "base.py, line 1" in answer["refused"], answer
    assert warm.change("lib/base.py", "VALUE = 1\n") is not None
    assert warm.run(only=["tests/test_value.py"])[0] == {"exit": 0}


def test_hooks_of_tests_are_loaded_by_the_run(start, tmp_path):
    plugins = {"PYTEST_PLUGINS": "assay_tests_hook", "PYTHONPATH": str(suites.HOOKS)}
    # Started without these options, and with them.
    for number, variables in enumerate(({}, plugins)):
        sources = {**PROJECT, "lib/more.py": PROJECT["lib/more.py"] + "def of_loading(): pass\nof_loading()\n"}
        warm = start(PYTEST, sources, **variables).ready()
        events = tmp_path / f"events{number}"
        events.mkdir()
        asked = {"ASSAY_TESTS": f"path:{events}", "ASSAY_TESTS_COVERAGE": f"path:{warm.project}", **plugins}
        status, said = warm.run(only=["tests/test_value.py"], env=asked)
        assert status == {"exit": 0}, said
        (file,) = events.glob("*.jsonl")
        text = file.read_text()
        assert '"problem"' not in text
        assert '"test":"tests/test_value.py::test_value"' in text and '"source":"lib/more.py"' in text
        # A function that was entered while loading may matter to all tests.
        (outside,) = [line for line in text.splitlines() if line.startswith('{"loaded":[')]
        assert '"blocks":{' in outside
        # conftest.py was loaded before the hooks, but is known nevertheless.
        assert '"covers":"tests/test_value.py::test_value"' in text and '"source":"tests/conftest.py"' in text


def test_other_arguments_of_pytest(start):
    warm = start(PYTEST, PROJECT).ready()
    words = ["pytest", *PYTEST[2:]]
    assert "1 passed, 2 deselected" in warm.run([*words, "-k", "late"])[1]
    assert "1 passed" in warm.run([*words, "tests/test_late.py"])[1]
    report = warm.project / "report.xml"
    assert warm.run([*words, f"--junit-xml={report}", "-o", "junit_suite_name=mine"])[0] == {"exit": 0}
    assert 'name="mine"' in report.read_text()
    status, said = warm.run([*words, "--no-such-option"])
    assert status == {"exit": 4} and "unrecognized arguments" in said
    for other in (["pytest", "-p", "no:terminal"], ["ruff", "check"]):
        refused, said = warm.run(other)
        assert "pytest" in refused["refused"] and said == ""
    # As before.
    assert "3 passed" in warm.run(words)[1]
    refused, _ = warm.run(words, env={"PYTHONHASHSEED": "7"})
    assert "PYTHONHASHSEED" in refused["refused"]
    refused, _ = warm.run(words, cwd=warm.project / "tests")
    assert "pytest was started in" in refused["refused"]


def test_fixtures_of_all_plugins_are_found(start):
    sources = {
        "conftest.py": "import pytest, sys\nsys.path.insert(0, '.')\npytest_plugins = ['with_one', 'bare', 'wrapped']\n",
        "with_one.py": "import pytest\n@pytest.fixture\ndef one(): return 1\n",
        # A module that gets a fixture when the run begins.
        "bare.py": """
            import pytest
            def pytest_configure():
                import bare
                bare.two = pytest.fixture(lambda: 2, name="two")
            """,
        # pytest warns about a fixture that is hidden by a wrapper.
        "wrapped.py": "import functools, pytest\nfrom with_one import one\n@functools.wraps(one)\ndef three(): return 3\n",
        "test_all.py": """
            def test_all(one, two, tmp_path, capsys, monkeypatch, caplog, recwarn, request, pytestconfig, record_property, cache): pass
            """,
    }
    words = ["-m", "pytest", "-q", "-p", "no:hypothesispytest", "-p", "no:assay"]
    warm = start(words, sources).ready()
    cold = subprocess.run([sys.executable, *words], cwd=warm.project, env=warm.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for _ in range(2):
        status, said = warm.run(["pytest", *words[2:]])
        assert status == {"exit": cold.returncode} and said.count("Warning") == cold.stdout.count("Warning"), (said, cold.stdout)
    assert "1 passed" in said
    state, quick = warm.state(), warm.ask(state="quick")
    assert all(stage.pop("memory") > 0 for stage in state["stages"]) and quick == state


SCRIPT = """
    import atexit, os, random, sys
    import lib.more
    atexit.register(print, "at exit")
    print(sys.argv, __name__, os.path.basename(__file__), os.environ.get("OWN"), os.getcwd())
    print("random", random.random(), sys.stdout.isatty(), sys.stdin.read())
    print(sorted(name for name in os.environ if name.startswith("ASSAY_WARM")), sys.path[0])
    print("open", [n for n in os.listdir("/proc/self/fd") if int(n) > 2 and os.path.exists("/proc/self/fd/" + n)])
    sys.exit(int(sys.argv[1]) if sys.argv[1:] else 0)
    """


def test_a_script_with_its_arguments_environment_and_directory(start):
    base = "import atexit\natexit.register(print, 'of the library')\nVALUE = 1\n"
    package = {"lib/base.py": base, "pkg/__main__.py": "import sys\nprint(sys.argv, __name__)\n"}
    warm = start(["script.py"], {**PROJECT, **package, "script.py": SCRIPT}).ready()
    assert [stage["name"] for stage in warm.state()["stages"]] == ["framework"]
    assert warm.state()["loaded"] == []
    status, first = warm.run(["script.py", "3"], env={"OWN": "mine"})
    assert status == {"exit": 3}
    lines = first.splitlines()
    assert lines[0] == f"['script.py', '3'] __main__ script.py mine {warm.project}"
    assert lines[2] == f"[] {warm.project}"
    assert lines[3] == "open []" and lines[4:] == ["at exit", "of the library"]
    warm.improved("lib/more.py")
    status, second = warm.run(["script.py"], cwd=warm.project / "tests")
    assert status == {"exit": 0} and f"None {warm.project}/tests" in second
    assert first.splitlines()[1] != second.splitlines()[1]
    # Everything that existed before the fork also ends with the run.
    assert second.splitlines()[4:] == ["at exit", "of the library"]

    # A program other than the one that was started.
    status, said = warm.run(["-m", "pkg", "a"])
    assert (status, said) == ({"exit": 0}, f"['{warm.project}/pkg/__main__.py', 'a'] __main__\nof the library\n")
    (warm.project / "other.py").write_text("import lib.base, sys\nprint(sys.argv, lib.base.VALUE)\nraise KeyError('own')\n")
    status, said = warm.run(["other.py", "b"])
    assert status == {"exit": 1} and said.startswith("['other.py', 'b'] 1\nTraceback") and "KeyError: 'own'" in said
    assert "assay" not in said
    assert warm.log.read_text() == ""


def test_what_prints_when_it_is_loaded_is_left_to_the_run(start):
    sources = {
        "script.py": "import first, loud, last\n",
        "first.py": "import loud\n",
        "loud.py": "print('loud')\n",
        "last.py": "",
    }
    warm = start(["script.py"], sources).ready()
    assert warm.run(["script.py"]) == ({"exit": 0}, "loud\n")
    warm.improved("last.py")
    assert warm.loaded() == {"last.py"}
    assert warm.run(["script.py"]) == ({"exit": 0}, "loud\n")


def test_a_terminal(start):
    script = "import sys\nprint(sys.stdin.isatty(), sys.stdout.isatty(), sys.stdout.line_buffering, input('? '))\n"
    warm = start(["script.py"], {"script.py": script}).ready()
    ours, theirs = pty.openpty()
    run = warm.begin(["script.py"], streams=(theirs, theirs, theirs))
    os.write(ours, b"yes\n")
    assert run.end()[0] == {"exit": 0}
    said = os.read(ours, 1000).decode()
    os.close(theirs)
    os.close(ours)
    assert "True True True yes" in said


def test_unittest(start, tmp_path):
    sources = {
        "lib/__init__.py": "",
        "lib/base.py": "VALUE = 1\n",
        "test_base.py": """
            import unittest
            from lib import base
            class Base(unittest.TestCase):
                def test_base(self): self.assertEqual(base.VALUE, 1)
                def test_other(self): pass
            """,
    }
    warm = start(["-m", "unittest"], sources).ready()
    status, said = warm.run(["-m", "unittest", "-v"])
    assert status == {"exit": 0} and "Ran 2 tests" in said
    warm.improved("lib/base.py")
    assert warm.change("lib/base.py", "VALUE = 2\n") == "application"
    status, said = warm.run(["unittest", "test_base.Base.test_base"])
    assert status == {"exit": 1} and "AssertionError: 2 != 1" in said
    events = tmp_path / "events"
    events.mkdir()
    runner = str(suites.HOOKS / "assay_unittest.py")
    assert warm.run([runner, "test_base.Base.test_other"], env={"ASSAY_TESTS": f"path:{events}"})[0] == {"exit": 0}
    (file,) = events.glob("*.jsonl")
    assert '"test":"test_base.Base: test_other"' in file.read_text()


def test_what_is_not_carried_over_is_named(start):
    conftest = """
        import sqlite3, threading
        threading.Thread(target=threading.Event().wait, name="own thread", daemon=True).start()
        database = sqlite3.connect(":memory:")
        """
    warm = start(PYTEST, {"conftest.py": conftest, "test_it.py": "def test_it(): pass\n"}).ready()
    notes = warm.state()["notes"]
    assert any("own thread" in note for note in notes), notes
    assert warm.run()[0] == {"exit": 0}


def test_a_program_that_never_waits_ends_as_ever(start):
    warm = start([*PYTEST, "--version"], {"test_it.py": "def test_it(): pass\n"})
    assert warm.process.wait(preloaded.WITHIN) == 0
    assert not os.path.exists(warm.path)
