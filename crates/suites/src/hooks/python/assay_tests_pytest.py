"""Converts pytest's calls to events, for the plugin in assay_tests_hook.py. Names of tests are
their node ids.

Nothing is registered unless ASSAY_TESTS is set. Only the first session of a process is watched;
further ones are started by tests of pytest itself.
"""

import os
import re

import pluggy
import pytest

import assay_tests_events

# Before 1.2 pluggy has only the older kind of wrapper. The code here works with both.
_WRAPPER = {"hookwrapper": True}
if tuple(map(int, re.findall(r"\d+", pluggy.__version__)[:2])) >= (1, 2):
    _WRAPPER = {"wrapper": True}

# Statuses of pytest, which has names for them from version 5 on.
_INTERRUPTED = 2
_INTERNAL_ERROR = 3

_STARTED = assay_tests_events.start()
_taken = []


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    # With xdist, the process that distributes tests does not run any.
    if (
        _STARTED is None
        or _taken
        or config.pluginmanager.hasplugin("dsession")
        or getattr(config.option, "numprocesses", None)
    ):
        return
    _taken.append(config)
    _STARTED.worker = os.environ.get("PYTEST_XDIST_WORKER")
    # The fallback report for runs without this plugin is not needed here, and costs time.
    path = getattr(config.option, "xmlpath", None)
    if path and os.path.dirname(path) == os.path.dirname(os.environ.get("ASSAY_TESTS", "")[len("path:") :]):
        config.option.xmlpath = None
    hooks = Hooks(_STARTED)
    config.pluginmanager.register(hooks, "assay_tests")
    if _STARTED.framed is not None:
        import assay_tests_frames

        _STARTED.guarded(assay_tests_frames.frame_pytest, hooks, config)
    if _STARTED.cover is not None:
        import assay_tests_coverage

        _STARTED.guarded(assay_tests_coverage.watch_fixtures, _STARTED.cover)
    _STARTED.guarded(_watch_finishing, _STARTED, hooks.fixtures)


def pytest_unconfigure(config):
    if _STARTED is not None and config in _taken:
        _STARTED.flush()


def _file_of(item):
    # `location` is relative to pytest's root, which may differ from the directory in which the
    # suite was started.
    return str(getattr(item, "path", None) or getattr(item, "fspath", item.location[0]))


class Hooks:
    """The hooks for one session."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.clock = recorder.clock
        self.test = None
        self.finished = None
        # Reports of files and classes that could not be collected.
        self.broken = []
        # Fixtures of more than one test that were set up in this session.
        self.fixtures = set()

    # Collection and the end of the session. -----------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True, **_WRAPPER)
    def pytest_collection(self):
        self.recorder.guarded(self.recorder.run_begins, "pytest", pytest.__version__)
        begin = self.clock()
        try:
            return (yield)
        finally:
            self.recorder.guarded(self.recorder.span, "collect", None, begin, self.clock())
            self.recorder.look_again()

    @pytest.hookimpl(tryfirst=True, **_WRAPPER)
    def pytest_collection_modifyitems(self, config, items):
        self.recorder.guarded(self._shuffle, config, items)
        result = yield
        self.recorder.guarded(self._choose, config, items)
        return result

    def _shuffle(self, config, items):
        if self.recorder.order is not None:
            # pytest-randomly runs later and would choose its own order.
            config.option.randomly_reorganize = False
            items[:] = assay_tests_events.shuffled(items, lambda item: item.listchain()[1:-1], self.recorder.order)

    def _choose(self, config, items):
        if self.recorder.only is None:
            return
        chosen = self.recorder.chosen({item.nodeid: item for item in items}, _file_of)
        kept = {id(item) for item in chosen}
        others = [item for item in items if id(item) not in kept]
        items[:] = chosen
        if others:
            config.hook.pytest_deselected(items=others)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report):
        if report.failed:
            self.broken.append(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        # Otherwise such errors prevent all tests from running.
        if session.config.option.continue_on_collection_errors:
            for report in self.broken:
                self.recorder.guarded(self._not_collected, report, str(session.config.rootpath))

    def _not_collected(self, report, root):
        file = os.path.join(root, report.nodeid.partition("::")[0])
        self.recorder.beside(report.nodeid, file, "error", _last_line(self._said(report)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session):
        if self.recorder.cover is not None:
            paths = {str(getattr(item, "path", None) or item.fspath) for item in session.items}
            self.recorder.guarded(self.recorder.cover.tests_are, paths)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session, exitstatus):
        self.finished = self.clock()
        self.recorder.guarded(self._faults, session, exitstatus)
        self.recorder.flush()

    def _faults(self, session, exitstatus):
        # The command may ignore pytest's exit status, as a pipe does.
        if not session.config.option.continue_on_collection_errors:
            for report in self.broken:
                said = _last_line(self._said(report))
                self.recorder.fault("%s could not be collected: %s" % (report.nodeid or "the suite", said))
        if int(exitstatus) in (_INTERRUPTED, _INTERNAL_ERROR) and not (self.broken or session.testsfailed):
            self.recorder.fault("pytest ended with status %d before it was through" % exitstatus)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self):
        if self.finished is not None:
            self.recorder.guarded(self.recorder.span, "suite_teardown", None, self.finished, self.clock())

    # A test. ------------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True, **_WRAPPER)
    def pytest_runtest_protocol(self, item):
        test = self.test = self.recorder.guarded(self._begin, item)
        result = yield
        # A test in which the session is ended (pytest.exit, Ctrl-C) stays unfinished.
        self.test = None
        if test is not None and getattr(result, "excinfo", None) is None:
            self.recorder.guarded(self.recorder.end_test, test, test.status or "passed", test.message)
        return result

    def _begin(self, item):
        line = item.location[1]
        name = item.nodeid
        group = name[: -len(item.name) - 2] if name.endswith("::" + item.name) else name.partition("::")[0]
        return self.recorder.begin_test(name, group, _file_of(item), None if line is None else line + 1)

    @pytest.hookimpl(tryfirst=True, **_WRAPPER)
    def pytest_runtest_setup(self):
        return (yield from self._phase("setup", 115))

    @pytest.hookimpl(tryfirst=True, **_WRAPPER)
    def pytest_runtest_call(self):
        return (yield from self._phase("body", 98))

    @pytest.hookimpl(tryfirst=True, **_WRAPPER)
    def pytest_runtest_teardown(self):
        return (yield from self._phase("teardown", 116))

    def _phase(self, phase, letter):
        # Outermost, around all other plugins, like pytest's own measurement.
        test = self.test
        if test is not None:
            self.recorder.begin_phase(test, phase, letter)
        try:
            return (yield)
        finally:
            if test is not None:
                test.end_phase(self.clock(), self.recorder.gc_time)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        test = self.test
        if test is not None and report.outcome != "passed":
            self.recorder.guarded(self._not_passed, test, report)

    def _not_passed(self, test, report):
        if report.nodeid != test.name:
            return
        # Reported by pytest-rerunfailures and pytest-retry.
        if report.outcome in ("rerun", "retried"):
            test.retries += 1
            test.status, test.message = None, self._said(report)
        elif report.outcome == "failed" and test.status not in ("failed", "error"):
            test.status = "failed" if report.when == "call" else "error"
            test.message = self._said(report)
            if report.when == "setup":
                # Its time is counted nevertheless.
                test.took, test.setup = test.setup, None
        elif report.outcome == "skipped" and test.status is None and not hasattr(report, "wasxfail"):
            test.status = "skipped"
            reason = report.longrepr
            test.message = str(reason[2]) if isinstance(reason, tuple) and len(reason) == 3 else None

    def _said(self, report):
        crash = getattr(report.longrepr, "reprcrash", None)
        return crash.message if crash is not None else str(report.longrepr)

    # Fixtures of more than one test. ------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True, **_WRAPPER)
    def pytest_fixture_setup(self, fixturedef, request):
        if fixturedef.scope == "function":
            return (yield)
        self.fixtures.add(fixturedef)
        span = self.recorder.guarded(_begin_fixture, self.recorder, fixturedef, request, "setup")
        cover = self.recorder.cover
        entered = None if cover is None else cover.enter()
        try:
            return (yield)
        finally:
            if entered is not None:
                self.recorder.guarded(cover.leave, fixturedef, entered)
            self.recorder.guarded(self.recorder.end_span, span)


def _last_line(text):
    """Returns the line of a traceback that shows the exception."""
    lines = [line for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if line.startswith("E ")]
    return (raised or lines or [text])[-1].lstrip("E ").strip()


# Names of the fixtures that pytest creates from setup_module, setUpClass and the like.
_MADE = re.compile(r"_?(?:xunit|unittest)_(\w+?)_fixture_")


def _begin_fixture(recorder, fixturedef, request, step):
    node = getattr(request, "node", None)
    made = _MADE.match(fixturedef.argname)
    group = getattr(node, "nodeid", None) or fixturedef.baseid or None
    recorder.look_again()
    if made is not None:
        return recorder.begin_span("group_" + step, group, made.group(1), fixturedef.scope)
    kind = "fixture" if step == "setup" else "fixture_teardown"
    return recorder.begin_span(kind, group, fixturedef.argname, fixturedef.scope)


def _watch_finishing(recorder, fixtures):
    # There is a hook for the end of a fixture's teardown, but none for its start.
    from _pytest.fixtures import FixtureDef

    finish = FixtureDef.finish

    def finishing(self, request):
        if self not in fixtures:
            return finish(self, request)
        fixtures.discard(self)
        span = recorder.guarded(_begin_fixture, recorder, self, None, "teardown")
        try:
            return finish(self, request)
        finally:
            recorder.guarded(recorder.end_span, span)

    FixtureDef.finish = finishing
