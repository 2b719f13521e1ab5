# Notes which functions a Python process starts, except while a module is imported, and writes the
# file and first line of each when the process ends. Found by Python as `sitecustomize`, before anything of the user runs.
import atexit
import importlib.machinery
import importlib.util
import os
import sys
import threading

_OWN = os.path.dirname(os.path.abspath(__file__))
_started = set()


def _is_importing(frame):
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _watch():
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None:
        tool = next((n for n in (4, 3) if monitoring.get_tool(n) is None), None)
        if tool is not None:

            def started(code, _offset):
                if _is_importing(sys._getframe(1)):
                    return None
                _started.add(code)
                # Once is enough.
                return monitoring.DISABLE

            monitoring.use_tool_id(tool, "assay")
            monitoring.register_callback(tool, monitoring.events.PY_START, started)
            monitoring.set_events(tool, monitoring.events.PY_START)
            return

    def called(frame, event, _argument):
        if event == "call" and frame.f_code not in _started and not _is_importing(frame):
            _started.add(frame.f_code)

    threading.setprofile(called)
    sys.setprofile(called)


def _write():
    sys.setprofile(None)
    lines = {
        "%d\t%s\n" % (code.co_firstlineno, os.path.abspath(code.co_filename))
        for code in list(_started)
        if code.co_filename[:1] != "<"
    }
    with open(os.path.join(_OWN, "%d.started" % os.getpid()), "w") as file:
        file.writelines(sorted(lines))


def _go_on():
    # This file hides another one of its name.
    path = [entry for entry in sys.path if os.path.abspath(entry or ".") != _OWN]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


atexit.register(_write)
_watch()
_go_on()
