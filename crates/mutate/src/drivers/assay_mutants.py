"""Loads the tests of a project once, and forks a process for each change, which replaces the loaded
function by the changed one and runs the requested tests. Nothing is written to disk.

ASSAY_MUTANTS=path:SOCKET python assay_mutants.py ARGUMENTS                       as python -m unittest ARGUMENTS
ASSAY_MUTANTS=path:SOCKET PYTEST_PLUGINS=assay_mutants PYTHONPATH=. pytest        with any arguments

A single client sends a JSON object per line, and receives one: {"ready":N,"early":true} when N
tests are loaded, or {"unable":"why"}; then for each change, with the function alone in its
surrounding code, the line on which that text begins, and the line that identifies the function

    {"path":"/p/a.py","text":"def push…","first":3,"name":"push","line":3,"tests":["t.T: test_a",…],"limit":1.5,"computing":0.3,"stops":true}

{"failed":["t.T: test_a"],"run":4,"seconds":0.02}, {"timeout":true}, {"crashed":"why"}, or
{"unable":"why"} if it must be tried in another way. `computing` is an optional limit of CPU time:
{"timeout":true,"computing":true} if it was exceeded. Without a text nothing is changed. Without
`stops` all tests run, even after a failure. Names of tests are those of assay_unittest.py and of
pytest's node ids. All processes end when the client does. Needs Python 3.8 and nothing else.

If "early" is true, another process, which has loaded only the framework, waits at SOCKET.early. It
tries a file that was changed on disk, for code that runs while tests are loaded; its requests have
no text, first, name and line.
"""

import __future__
import gc
import json
import os
import random
import select
import signal
import socket
import sys
import threading
import time
import types


def outermost(code, found):
    """Returns the functions of a module by name and first line, without functions nested in
    others."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            # The body of a class is not a function: it has no fast local variables.
            if constant.co_flags & 0x2:
                found[(constant.co_name, constant.co_firstlineno)] = constant
            else:
                outermost(constant, found)
    return found


# Compiler flags requested by a file.
FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names if name != "nested_scopes")


class Unable(Exception):
    """The change cannot be tried in this way."""


def loaded():
    """The loaded functions, by file, name and first line."""
    found = {}
    paths = {}
    for own in gc.get_objects():
        if isinstance(own, types.FunctionType):
            code = own.__code__
            path = paths.get(code.co_filename)
            if path is None:
                path = paths[code.co_filename] = os.path.realpath(code.co_filename)
            found.setdefault((path, code.co_name, code.co_firstlineno), []).append(own)
    return found


def put(functions, asked):
    """Replaces the loaded function by the changed one."""
    # The first line of a decorated function is that of its first decorator.
    key = (asked["name"], asked["line"])
    own = functions.get((os.path.realpath(asked["path"]), *key), ())
    if not own:
        raise Unable("the function was not loaded")
    # Its functions use the same `__future__` imports as the file.
    flags = own[0].__code__.co_flags & FUTURES
    text = "\n" * (asked["first"] - 1) + asked["text"]
    code = outermost(compile(text, asked["path"], "exec", flags, dont_inherit=True), {}).get(key)
    if code is None:
        raise Unable("the changed function is not found")
    for function in own:
        if function.__code__.co_freevars != code.co_freevars:
            raise Unable("it uses other variables of what is around it")
        function.__code__ = code


class Driver:
    """Common code of the frameworks. Subclasses provide the tests by name, and run some of them."""

    def __init__(self, address):
        self.address = address
        self.server = bound(address)
        self.tests = {}
        self.functions = {}
        self.has_early = False
        # The change that a process which loads the tests for this change alone must try, and the
        # pipe for its answer.
        self.asked = None
        self.writer = None
        # Whether tests can be loaded by file, as their names contain it.
        self.divides = False
        keep_compiled()
        try:
            import ctypes

            self.prctl = ctypes.CDLL(None).prctl
        except (ImportError, OSError, AttributeError):
            self.prctl = None

    def early(self):
        """Leaves behind this process, which has loaded only the framework. Returns only in
        children: in the one that loads its tests for all changes, and in those that load them for
        one."""
        if threading.active_count() > 1 or self.prctl is None:
            return
        # Changes of modules that are already loaded would have no effect.
        files = [getattr(own, "__file__", None) for own in list(sys.modules.values())]
        known = {os.path.realpath(own) for own in files if isinstance(own, str)}
        server = bound(self.address + ".early")
        gc.collect()
        gc.freeze()
        if os.fork() == 0:
            self.ends_with_parent()
            server.close()
            self.has_early = True
            return
        self.server.close()
        self.server = server
        client, _ = server.accept()
        lines = client.makefile("rw", encoding="utf-8", newline="\n")
        while True:
            line = lines.readline()
            if not line:
                os._exit(0)
            asked = json.loads(line)
            if os.path.realpath(asked["path"]) in known:
                self.say(lines, {"unable": "it was loaded together with the framework"})
                continue
            # If a test of the first file fails alone, it also fails with the others, which need not
            # be loaded then.
            first = [name for name in asked["tests"] if name.partition("::")[0] == asked["tests"][0].partition("::")[0]]
            parts = [{**asked, "tests": first, "alone": True}] if self.divides and asked["tests"] and asked.get("stops", True) else []
            for part in [*parts, asked]:
                answer = self.attempt(client, part, None)
                if self.asked is not None:
                    return
                if answer.get("failed") or "unable" not in answer and "failed" not in answer:
                    break
            self.say(lines, answer)

    def serve(self, tests, run):
        """Answers requests until the client disconnects, then exits."""
        self.tests = tests
        if self.asked is not None:
            self.tried(self.asked, run)
        client, _ = self.server.accept()
        lines = client.makefile("rw", encoding="utf-8", newline="\n")
        if threading.active_count() > 1:
            self.say(lines, {"unable": "threads run when the tests are loaded"})
            os._exit(0)
        gc.collect()
        self.functions = loaded()
        # A garbage collection would write to all pages, which are shared by forks.
        gc.freeze()
        gc.disable()
        self.say(lines, {"ready": len(tests), "early": self.has_early})
        while True:
            line = lines.readline()
            if not line:
                os._exit(0)
            self.say(lines, self.attempt(client, json.loads(line), run))

    def broken(self, how):
        """Reports, in a process that loads the tests for one change, that they cannot be loaded."""
        if self.asked is not None:
            self.answer({"crashed": how})

    @staticmethod
    def say(lines, what):
        lines.write(json.dumps(what) + "\n")
        lines.flush()

    def attempt(self, client, asked, run):
        """Forks, and waits for the answer. Without `run`, the child returns from here."""
        missing = None if run is None else self.missing(asked)
        if missing:
            return {"unable": missing}
        reader, writer = os.pipe()
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            self.begin(writer, client)
            if run is None:
                self.asked = asked
                return None
            self.tried(asked, run)
        os.close(writer)
        try:
            return self.wait(reader, client, pid, began, asked["limit"])
        finally:
            os.close(reader)
            # Kills all remaining processes of its group.
            try:
                os.killpg(pid, signal.SIGKILL)
            except OSError:
                pass

    def missing(self, asked):
        missing = [name for name in asked["tests"] if name not in self.tests]
        return "no test is called %s" % missing[0] if missing else None

    @staticmethod
    def wait(reader, client, pid, began, limit):
        said = b""
        while True:
            left = began + limit - time.monotonic()
            ready = select.select([reader, client], [], [], max(left, 0))[0] if left > 0 else []
            if not ready or client in ready:
                try:
                    os.killpg(pid, signal.SIGKILL)
                except OSError:
                    os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                if client in ready:
                    os._exit(0)  # Nobody waits for an answer any more.
                return {"timeout": True}
            piece = os.read(reader, 65536)
            if not piece:
                break
            said += piece
            if said.endswith(b"\n"):
                break
        if said.endswith(b"\n"):
            # The process's exit handlers are irrelevant.
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            answer = json.loads(said.decode("utf-8"))
            answer["seconds"] = time.monotonic() - began
            return answer
        status = os.waitpid(pid, 0)[1]
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
            return {"timeout": True, "computing": True}
        if os.WIFSIGNALED(status):
            return {"crashed": "was ended by signal %d" % os.WTERMSIG(status)}
        return {"crashed": "exited with status %d before the tests were over" % os.WEXITSTATUS(status)}

    def ends_with_parent(self):
        if self.prctl is not None:
            self.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: however that ends.

    def begin(self, writer, client):
        """Called in a child: becomes a group leader, and closes its parent's connections."""
        self.writer = writer
        os.setpgid(0, 0)
        self.ends_with_parent()
        client.close()
        self.server.close()
        silence()
        random.seed()
        gc.enable()

    def answer(self, answer):
        """Sends the message and exits."""
        try:
            os.write(self.writer, (json.dumps(answer) + "\n").encode("utf-8"))
        finally:
            os._exit(0)

    def tried(self, asked, run):
        """Called in a child: applies the change, unless that was done on disk, and runs the tests.
        Does not return."""
        try:
            missing = self.missing(asked)
            if missing:
                raise Unable(missing)
            if asked.get("text"):
                put(self.functions, asked)
            if asked.get("computing"):
                signal.signal(signal.SIGPROF, signal.SIG_DFL)
                signal.setitimer(signal.ITIMER_PROF, asked["computing"])
            failed, count = run([self.tests[name] for name in asked["tests"]], asked.get("stops", True))
            self.answer({"failed": failed, "run": count})
        except (Unable, SyntaxError) as problem:
            self.answer({"unable": str(problem)})
        except BaseException as problem:  # Also SystemExit: the parent's code must not continue.
            self.answer({"crashed": "ended with " + repr(problem)[:500]})


def keep_compiled():
    """Lets Python write bytecode for files in this copy, even if the user disables bytecode files:
    otherwise every process that loads the tests for one change would compile all of them. Code that
    changes a file here also removes its bytecode. Nothing additional is written elsewhere."""
    if not sys.dont_write_bytecode:
        return
    from importlib.machinery import SourceFileLoader

    top = os.path.realpath(os.getcwd()) + os.sep
    write = SourceFileLoader.set_data

    def set_data(self, path, data, **options):
        if os.path.realpath(path).startswith(top):
            write(self, path, data, **options)

    SourceFileLoader.set_data = set_data
    sys.dont_write_bytecode = False


def bound(address):
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen(1)
    return server


# unittest -------------------------------------------------------------------------------------------------------------------


def with_unittest(driver, arguments):
    import unittest

    def flat(suite):
        if isinstance(suite, unittest.BaseTestSuite):
            for part in suite:
                yield from flat(part)
        else:
            yield suite

    def named(test):
        method = getattr(test, "_testMethodName", None)
        kind = type(test)
        if method is None or isinstance(test, unittest.FunctionTestCase):
            group, _, last = str(test.id() if hasattr(test, "id") else test).rpartition(".")
            return "%s: %s" % (group, last) if group else last
        return "%s.%s: %s" % (kind.__module__, kind.__qualname__, method)

    class Program(unittest.TestProgram):
        def runTests(self):
            pass

    sys.path[0] = os.getcwd()
    driver.early()
    program = Program(module=None, argv=["python -m unittest", *arguments], exit=False)
    tests = {named(test): test for test in flat(program.test)}
    if any(type(test).__name__ == "_FailedTest" for test in tests.values()):
        driver.broken("ended since the tests can't be loaded")

    def run(chosen, stops):
        result = unittest.TestResult()
        result.failfast = stops
        unittest.TestSuite(chosen).run(result)
        wrong = [test for test, _ in [*result.failures, *result.errors]] + list(result.unexpectedSuccesses)
        names = []
        for test in wrong:
            test = getattr(test, "test_case", test)
            # The setup of a class or a module is not a test: the tests that need it failed.
            names.append(named(test) if isinstance(test, unittest.TestCase) else named(chosen[0]))
        return sorted(set(names)), result.testsRun

    driver.serve(tests, run)


# pytest ---------------------------------------------------------------------------------------------------------------------


def pytest_configure(config):
    address = asked_for()
    if address is None:
        return
    import pytest

    class Plugin:
        driver = None

        @pytest.hookimpl(tryfirst=True)
        def pytest_collection(self, session):
            self.driver = Driver(address)
            # Failures are not formatted in detail: that takes ten times as long as a small test.
            say_little()
            self.driver.divides = True
            self.driver.early()
            if self.driver.asked is not None and "alone" in self.driver.asked:
                root = getattr(session.config, "rootpath", None) or session.config.rootdir
                session.config.args = [os.path.join(str(root), self.driver.asked["tests"][0].partition("::")[0])]

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session):
            if session.testsfailed and not session.config.option.continue_on_collection_errors:
                self.driver.broken("ended since the tests can't be collected")
            failed = []

            class Listening:
                def pytest_runtest_logreport(self, report):
                    if report.failed:
                        failed.append(report.nodeid)

            session.config.pluginmanager.register(Listening(), "assay_mutants_listening")

            def run(chosen, stops):
                for index, item in enumerate(chosen):
                    following = chosen[index + 1] if index + 1 < len(chosen) else None
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                    if failed and stops:
                        return failed[:1], index + 1
                return sorted(set(failed)), len(chosen)

            self.driver.serve({item.nodeid: item for item in getattr(session, "items", ())}, run)
            return True

    config.pluginmanager.register(Plugin(), "assay_mutants_driver")


def say_little():
    import _pytest.assertion.util
    import _pytest.nodes

    _pytest.nodes.Node._repr_failure_py = lambda self, excinfo, style=None: excinfo.exconly()
    _pytest.assertion.util.assertrepr_compare = lambda *args, **kwargs: None


def silence():
    """Discards the output of tests: nobody reads it, and a full pipe would block them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def asked_for():
    """Returns the address of the socket, and hides it from processes started from here."""
    address = os.environ.pop("ASSAY_MUTANTS", "")
    return address[len("path:") :] if address.startswith("path:") else None


def main():
    address = asked_for()
    if address is None:
        sys.exit("ASSAY_MUTANTS names no socket")
    with_unittest(Driver(address), sys.argv[1:])


if __name__ == "__main__":
    main()
