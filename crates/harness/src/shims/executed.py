# Notes which functions a Python process starts, except while a module is imported, and writes the
# file and first line of each when the process ends; line 0 stands for an imported file itself. If ASSAY_DELAYED names a function by its first
# line and file, its calls are delayed by ASSAY_DELAY nanoseconds instead. Found by Python as
# `sitecustomize`, before anything of the user runs.
import atexit
import importlib.machinery
import importlib.util
import json
import os
import sys
import threading
import time

_OWN = os.path.dirname(os.path.abspath(__file__))
# A function that is called more often than this while modules are imported counts as executed: to
# look at its callers each time would take too long.
_MOST_CALLS = 100


def _is_importing(frame):
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _watch(started):
    """Calls started(code, frame) when a function starts, until it returns true for its code."""
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None:
        tool = next((n for n in (4, 3) if monitoring.get_tool(n) is None), None)
        if tool is not None:

            def start(code, _offset):
                return monitoring.DISABLE if started(code, sys._getframe(1)) else None

            monitoring.use_tool_id(tool, "assay")
            monitoring.register_callback(tool, monitoring.events.PY_START, start)
            monitoring.set_events(tool, monitoring.events.PY_START)
            return
    done = set()

    def called(frame, event, _argument):
        if event == "call" and frame.f_code not in done and started(frame.f_code, frame):
            done.add(frame.f_code)

    def keep(function):
        set_profile(called if function is None else function)

    # pytest-benchmark would switch it off while it measures.
    set_profile, sys.setprofile = sys.setprofile, keep
    threading.setprofile(called)
    set_profile(called)
    atexit.register(set_profile, None)


def _note():
    found = set()
    imports = {}

    def started(code, frame):
        if imports.get(code, 0) < _MOST_CALLS and _is_importing(frame):
            imports[code] = imports.get(code, 0) + 1
            return False
        found.add(code)
        return True

    def write(benchmark=None):
        lines = {
            "%d\t%s\n" % (code.co_firstlineno, os.path.abspath(code.co_filename))
            for code in list(found)
            if code.co_filename[:1] != "<"
        }
        imported = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        lines.update("0\t%s\n" % os.path.abspath(file) for file in imported if file and file[-3:] == ".py")
        with open(os.path.join(_OWN, "%d.started" % os.getpid()), "w") as file:
            if benchmark is not None:
                file.write("= %s\n" % json.dumps(benchmark))
            file.writelines(sorted(lines))

    # Python calls these functions in reverse order.
    atexit.register(write)
    # For processes that each run one benchmark of a suite.
    sys.assay_write = write
    _watch(started)


def _delay(line, path, span):
    now = time.perf_counter_ns
    delayed = {}

    def started(code, _frame):
        is_it = delayed.get(code)
        if is_it is None:
            own = code.co_firstlineno == line and os.path.realpath(code.co_filename) == path
            is_it = delayed[code] = own
        if is_it:
            end = now() + span
            while now() < end:
                pass
        return not is_it

    _watch(started)


def _go_on():
    # This file hides another one of its name. Those before it were found first, and lead here.
    path = [os.path.abspath(entry or ".") for entry in sys.path]
    path = path[path.index(_OWN) + 1 :] if _OWN in path else []
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


_delayed = os.environ.get("ASSAY_DELAYED")
if _delayed is None:
    _note()
else:
    _line, _path = _delayed.split("\t", 1)
    _delay(int(_line), os.path.realpath(_path), int(os.environ["ASSAY_DELAY"]))
_go_on()
