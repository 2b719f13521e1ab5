"""Runs what `python -m unittest` runs, with the same arguments, and writes events. Names of tests
are class and method.

assay_unittest.py ARGUMENTS                     as python -m unittest ARGUMENTS
assay_unittest.py --script FILE ARGUMENTS       as python FILE ARGUMENTS, for a file that runs unittest itself (manage.py test)
assay_unittest.py --module MODULE ARGUMENTS     as python -m MODULE ARGUMENTS
"""

import os
import runpy
import sys
import unittest
import unittest.case
import unittest.suite

import assay_tests_events

# Frames of this module are omitted from tracebacks, like unittest's own.
__unittest = True


class Hooks:
    """Replacements of unittest's own methods."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.clock = recorder.clock
        self.tests = {}
        self.arranged = False
        self.begun = False
        # Names of classes, and whether the class that loads asyncio is hooked: asyncio is loaded only
        # by programs that need it.
        self.classes = {}
        self.awaits = False

    def install(self):
        case = unittest.TestCase
        self.wrap_test(case, "run")
        self.wrap_phases(case)
        suite = unittest.TestSuite
        self.wrap_group(suite, "_handleModuleFixture", "group_setup", _module_after, "setUpModule")
        self.wrap_group(suite, "_handleClassSetUp", "group_setup", _class_after, "setUpClass")
        self.wrap_group(suite, "_tearDownPreviousClass", "group_teardown", _class_before, "tearDownClass")
        self.wrap_module_teardown(suite)
        self.wrap_runner(unittest.TextTestRunner, "run")
        self.wrap_runner(unittest.TestProgram, "runTests")

    def wrap_phases(self, kind):
        for name, phase in (("_callSetUp", "setup"), ("_callTestMethod", "body"), ("_callTearDown", "teardown")):
            if name in vars(kind):
                self.wrap_phase(kind, name, phase)

    # The run. -----------------------------------------------------------------------------------------------------------

    def wrap_runner(self, owner, name):
        original = getattr(owner, name)

        def run(runner, *args, **kwargs):
            outermost = not self.begun
            if outermost:
                self.begun = True
                self.recorder.guarded(self.begin_run)
            if not self.arranged:
                self.arranged = True
                if args:
                    args = (self.recorder.guarded(self.arrange, args[0]) or args[0], *args[1:])
                elif getattr(runner, "test", None) is not None:
                    runner.test = self.recorder.guarded(self.arrange, runner.test) or runner.test
            try:
                if outermost:
                    return self.framed("run", None, original, runner, *args, **kwargs)
                return original(runner, *args, **kwargs)
            finally:
                if outermost:
                    self.begun = False
                    self.recorder.flush()

        setattr(owner, name, run)

    def framed(self, kind, name, original, *args, **kwargs):
        """Calls a function, beneath a frame if samplers should see what runs."""
        framed = self.recorder.framed
        return original(*args, **kwargs) if framed is None else framed(kind, name, lambda: original(*args, **kwargs))

    def begin_run(self):
        self.recorder.run_begins("unittest", "%d.%d.%d" % sys.version_info[:3])
        # Django does the work that belongs to a test around `run`.
        django = sys.modules.get("django.test.testcases")
        if django is not None and "__call__" in vars(django.SimpleTestCase):
            self.wrap_test(django.SimpleTestCase, "__call__")

    def arrange(self, suite):
        """Returns the suite in the requested order; without one, unchanged. Suites of other classes
        run unchanged, as a whole."""
        if self.recorder.cover is not None:
            modules = {_module_of(type(test)) for test in _flat(suite, every=True)}
            files = [getattr(module, "__file__", None) for module in modules]
            self.recorder.guarded(self.recorder.cover.tests_are, [file for file in files if file])
        if self.recorder.only is not None:
            by_name = {_name(test): test for test in _flat(suite, every=True)}
            return unittest.TestSuite(self.recorder.chosen(by_name, _file_of))
        if self.recorder.order is not None:
            modules, classes = {}, {}

            def groups(test):
                if not isinstance(test, unittest.TestCase):
                    return []
                kind = type(test)
                return [modules.setdefault(kind.__module__, object()), classes.setdefault(kind, object())]

            return unittest.TestSuite(assay_tests_events.shuffled(list(_flat(suite)), groups, self.recorder.order))
        return None

    # A test. ------------------------------------------------------------------------------------------------------------

    def wrap_test(self, owner, name):
        original = getattr(owner, name)
        tests, recorder, begin, end = self.tests, self.recorder, self.begin, self.end

        def run(test, result=None):
            if id(test) in tests:
                return original(test, result)
            try:
                running = begin(test, result)
            except Exception as problem:
                running = recorder.problem(problem)
            if running is None:
                return original(test, result)
            try:
                return self.framed("test", running.name, original, test, result)
            finally:
                try:
                    end(test, running, result)
                except Exception as problem:
                    recorder.problem(problem)

        run.__name__, run.__doc__ = name, original.__doc__
        setattr(owner, name, run)

    def begin(self, test, result):
        kind = type(test)
        group = self.classes.get(kind)
        if group is None:
            group = self.classes[kind] = _class(kind)
            if not self.awaits and "unittest.async_case" in sys.modules:
                self.awaits = True
                self.wrap_phases(sys.modules["unittest.async_case"].IsolatedAsyncioTestCase)
        name = getattr(test, "_testMethodName", "")
        code = _code(test)
        is_other = name == "runTest" and _is_other(test)
        name = f"{group}: {name}" if name and not is_other else _name(test)
        if code is None:
            running = self.recorder.begin_test(name, group, None, None)
        else:
            running = self.recorder.begin_test(name, group, code.co_filename, code.co_firstlineno)
        if running is not None:
            running.raised = None
            running.groups = (kind, kind.__module__)
            running.results = _counted(result)
            self.tests[id(test)] = running
        return running

    def wrap_phase(self, owner, name, phase):
        original = getattr(owner, name)
        tests, clock, recorder = self.tests, self.clock, self.recorder
        begin = recorder.begin_phase
        letter = ord(phase[0])

        def call(test, method=None):
            running = tests.get(id(test))
            if running is None:
                return original(test) if method is None else original(test, method)
            begin(running, phase, letter)
            try:
                return original(test) if method is None else original(test, method)
            except BaseException as problem:
                running.raised = [*(running.raised or ()), (phase, problem)]
                raise
            finally:
                setattr(running, phase, clock() - running.phase_begin - running.inner)
                running.end_gc(phase, recorder.gc_time)

        setattr(owner, name, call)

    def end(self, test, running, result):
        del self.tests[id(test)]
        raised = running.raised
        if raised is None and running.results is not None and _counted(result) == running.results:
            status, message = "passed", None
        else:
            status, message = _outcome(raised or [], running.results, result)
        if running.phase == "teardown":
            running.end_phase(self.clock(), self.recorder.gc_time)  # unittest's cleanups belong to the test.
        if raised is not None and any(phase == "setup" for phase, _ in raised):
            running.setup = None
        self.recorder.end_test(running, status, message)

    # Classes and modules. -----------------------------------------------------------------------------------------------

    def wrap_group(self, owner, name, kind, group, method):
        original = getattr(owner, name)

        def handle(suite, test, result):
            # Like the original methods, which are called before each test.
            if getattr(result, "_previousTestClass", None) is test.__class__:
                return None
            found = group(test, result)
            if found is None:
                return original(suite, test, result)
            announce = _own(found, method)
            span = self.recorder.guarded(self.recorder.begin_span, kind, _class(found), method, None, announce)
            cover = self.recorder.cover if kind == "group_setup" else None
            entered = None if cover is None else cover.enter()
            errors, skips = _besides(result)
            try:
                return self.framed(kind, _class(found), original, suite, test, result)
            finally:
                self.recorder.guarded(self.beside, result, errors, skips)
                if entered is not None:
                    self.recorder.guarded(cover.leave, found if isinstance(found, type) else found.__name__, entered)
                self.recorder.guarded(self.recorder.end_span, span)

        setattr(owner, name, handle)

    def beside(self, result, errors, skips):
        """A setup or teardown shared by several tests failed, or skipped them: unittest counts it
        in their place."""
        _, all_errors, all_skips, _ = _listed(result)
        for status, found, count in (("error", all_errors, errors), ("skipped", all_skips, skips)):
            for holder, text in found[count:]:
                lines = str(text).strip().splitlines()
                self.recorder.beside(str(holder), None, status, lines[-1] if lines else None)

    def wrap_module_teardown(self, owner):
        original = owner._handleModuleTearDown

        def handle(suite, result):
            module = _module_of(getattr(result, "_previousTestClass", None))
            if module is None or not hasattr(module, "tearDownModule"):
                return original(suite, result)
            begin = self.recorder.begin_span
            span = self.recorder.guarded(begin, "group_teardown", module.__name__, "tearDownModule")
            errors, skips = _besides(result)
            try:
                return self.framed("group_teardown", module.__name__, original, suite, result)
            finally:
                self.recorder.guarded(self.beside, result, errors, skips)
                self.recorder.guarded(self.recorder.end_span, span)

        owner._handleModuleTearDown = handle


def _own(group, method):
    """Returns whether a class or module has its own method of this name, other than that of
    TestCase, which does nothing."""
    inherited = getattr(getattr(unittest.TestCase, method, None), "__func__", None)
    found = getattr(group, method, None)
    return found is not None and getattr(found, "__func__", found) is not inherited


def _module_of(kind):
    return sys.modules.get(kind.__module__) if kind is not None else None


def _module_after(test, result):
    """Returns the module that is being entered, if any."""
    before = getattr(result, "_previousTestClass", None)
    module = _module_of(type(test))
    return None if module is None or _module_of(before) is module or not hasattr(module, "setUpModule") else module


def _class_after(test, result):
    before = getattr(result, "_previousTestClass", None)
    return None if before is type(test) else type(test)


def _class_before(test, result):
    """Returns the class that is being left, if any."""
    before = getattr(result, "_previousTestClass", None)
    return None if before is None or before is type(test) else before


def _class(kind):
    return f"{kind.__module__}.{kind.__qualname__}" if isinstance(kind, type) else kind.__name__


def _is_other(test):
    """Returns whether a test is not a method of a class, but a function or a text (doctest)."""
    return isinstance(test, unittest.FunctionTestCase) or hasattr(test, "_dt_test")


def _code(test):
    if hasattr(test, "_dt_test"):
        return None
    method = getattr(test, getattr(test, "_testMethodName", ""), None)
    return getattr(getattr(method, "__func__", method), "__code__", None)


def _file_of(test):
    code = _code(test)
    return "" if code is None else code.co_filename


def _name(test):
    method = getattr(test, "_testMethodName", None)
    if method is None or _is_other(test):
        group, _, last = str(test.id() if hasattr(test, "id") else test).rpartition(".")
        return "%s: %s" % (group, last) if group else last
    return f"{_class(type(test))}: {method}"


def _flat(suite, every=False):
    """Yields the tests of a suite, and, unless `every` is true, suites of other classes."""
    if isinstance(suite, unittest.BaseTestSuite) and (every or type(suite) is unittest.TestSuite):
        for part in suite:
            yield from _flat(part, every)
    else:
        yield suite


_KINDS = ("failures", "errors", "skipped", "unexpectedSuccesses")


def _listed(result):
    """The results of the tests so far. Results from Django's parallel workers store nothing."""
    lists = [getattr(result, kind, ()) for kind in _KINDS]
    return [found if isinstance(found, (list, tuple)) else () for found in lists]


def _counted(result):
    """Returns the number of results of each kind."""
    try:
        return [len(result.failures), len(result.errors), len(result.skipped), len(result.unexpectedSuccesses)]
    except (AttributeError, TypeError):
        return [len(found) for found in _listed(result)]


def _besides(result):
    _, errors, skips, _ = _listed(result)
    return len(errors), len(skips)


def _outcome(raised, before, result):
    failures, errors, skipped, unexpected = [found[count:] for found, count in zip(_listed(result), before)]
    wrong = [(phase, problem) for phase, problem in raised if not isinstance(problem, unittest.SkipTest)]
    kept_nothing = not isinstance(getattr(result, "failures", ()), (list, tuple))
    if failures or errors or (kept_nothing and wrong):
        sub = any(isinstance(test, unittest.case._SubTest) for test, _ in [*failures, *errors])
        status = "failed" if sub or any(phase == "body" for phase, _ in wrong) else "error"
        if wrong:
            return status, "%s: %s" % (type(wrong[0][1]).__name__, wrong[0][1])
        lines = str([*failures, *errors][0][1]).strip().splitlines()
        return status, lines[-1] if lines else None
    if unexpected:
        return "failed", "unexpected success"
    if skipped:
        return "skipped", str(skipped[0][1])
    if kept_nothing and raised:
        return "skipped", str(raised[0][1])
    return "passed", None


def main(arguments):
    """Installs the hooks, and runs what was requested."""
    recorder = assay_tests_events.start()
    if recorder is not None:
        recorder.guarded(Hooks(recorder).install)
    kind = arguments.pop(0) if arguments[:1] in (["--script"], ["--module"]) else None
    if kind == "--script":
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")
        return
    sys.path[0] = os.getcwd()
    module = arguments.pop(0) if kind else "unittest"
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
