"""Records which functions were entered, for assay_tests_coverage.py. Each function costs one call
of this code per test, not one per call of its own.

From Python 3.12 on it uses `sys.monitoring`, with unused tool ids. In earlier versions it uses a
profile function: in C if its library (c/python_calls.c) is next to this file, otherwise in Python.
It does not replace an active profiler; then nothing is recorded, and this is reported.

A source has these methods: `take()` returns the code objects entered since the last call, each at
least once; `again(code)` reports this code again; `ignore(code)` never reports it; `trouble()`
returns the reason why something may have been missed since the last call, or None; `stop()`.
"""

import os
import sys
import threading

LIBRARY = "assay_python_calls.so"

# Functions of the interpreter that the library needs, in the order of its struct.
_FUNCTIONS = (
    "PyEval_SetProfile",
    "PyFrame_GetCode",
    "Py_IncRef",
    "Py_DecRef",
    "PyList_New",
    "PyList_Append",
    "PyErr_Clear",
    "PyMem_Calloc",
    "PyMem_Free",
)

# The IDs of debuggers, coverage.py, profilers and optimizers are left to them.
_IDS = (3, 4)
_NAME = "assay tests"


class Monitoring:
    """Uses two tool ids: one receives each code object once, ever; the other receives the relevant
    ones once per test."""

    def __init__(self):
        monitoring = self.monitoring = sys.monitoring
        taken = []
        for number in _IDS:
            try:
                monitoring.use_tool_id(number, _NAME)
                taken.append(number)
            except ValueError:
                pass
        if not taken:
            raise RuntimeError("all ids of sys.monitoring are taken")
        self.ids = taken
        self.first = taken[0]
        # With a single ID, restarting events also re-enables those of irrelevant code.
        self.each = taken[1] if len(taken) > 1 else None
        self.entered = entered = []
        self.events = events = monitoring.events.PY_START | monitoring.events.PY_RESUME
        append, disable, set_local = entered.append, monitoring.DISABLE, monitoring.set_local_events
        each = self.each

        def on_first(code, _offset):
            append(code)
            return disable

        def on_each(code, _offset):
            append(code)
            set_local(each, code, 0)

        for event in (monitoring.events.PY_START, monitoring.events.PY_RESUME):
            monitoring.register_callback(self.first, event, on_first)
            if each is not None:
                monitoring.register_callback(each, event, on_each)
        monitoring.set_events(self.first, events)

    def take(self):
        entered = self.entered
        taken = entered[:]
        del entered[: len(taken)]
        if self.each is None and taken:
            self.monitoring.restart_events()
        return taken

    def again(self, code):
        if self.each is not None:
            self.monitoring.set_local_events(self.each, code, self.events)

    def ignore(self, _code):
        pass

    def trouble(self):
        return None

    def stop(self):
        for number in self.ids:
            self.monitoring.set_events(number, 0)
            self.monitoring.free_tool_id(number)


class _Profile:
    """Common code of both profile functions: ownership of the thread's profile function, and
    threads that begin."""

    def __init__(self):
        self.main = threading.get_ident()
        self.displaced = False
        if sys.getprofile() is not None or getattr(threading, "_profile_hook", None) is not None:
            raise RuntimeError("a profiler is active")

    def begin(self):
        self.watch()
        threading.setprofile(self.mark)

    def trouble(self):
        """Called in the thread of the tests, at the start and the end of each."""
        if sys.getprofile() is not self.mark:
            self.displaced = True
            if sys.getprofile() is None:
                self.watch()
        if self.displaced:
            self.displaced = False
            return "a profiler was active"
        return None

    def stop(self):
        if sys.getprofile() is self.mark:
            sys.setprofile(None)
        if getattr(threading, "_profile_hook", None) is self.mark:
            threading.setprofile(None)


class Library(_Profile):
    """The profile function in C."""

    def __init__(self):
        import ctypes

        super().__init__()
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), LIBRARY)
        library = self.library = ctypes.PyDLL(path)
        functions = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in _FUNCTIONS]
        for name, arguments, result in (
            ("calls_begin", [ctypes.c_void_p * len(functions)], ctypes.c_int),
            ("calls_watch", [ctypes.py_object], None),
            ("calls_note", [ctypes.py_object], None),
            ("calls_ignore", [ctypes.py_object], None),
            ("calls_taken", [], ctypes.py_object),
            ("calls_lost", [], ctypes.c_int),
        ):
            function = getattr(library, name)
            function.argtypes, function.restype = arguments, result
        if not library.calls_begin((ctypes.c_void_p * len(functions))(*functions)):
            raise MemoryError("no table of code objects")
        self.take = library.calls_taken
        self.ignore = library.calls_ignore
        watch, note = library.calls_watch, library.calls_note
        main = self.main

        def mark(frame, event, _arg):
            # Either the first event of a new thread, or someone restored what `sys.getprofile`
            # returned.
            if threading.get_ident() == main:
                self.displaced = True
            if event == "call":
                note(frame.f_code)
            watch(mark)

        self.mark = mark
        self.watch = lambda: watch(mark)
        self.begin()

    def again(self, _code):
        pass

    def trouble(self):
        return super().trouble() or ("no memory was left" if self.library.calls_lost() else None)


class Profile(_Profile):
    """The profile function in Python."""

    def __init__(self):
        super().__init__()
        # Keyed by address: equal code objects would be merged by a set, and hashing them is slow.
        self.seen = seen = {}
        self.ignored = {}
        ignored = self.ignored

        def mark(frame, event, _arg):
            if event == "call":
                code = frame.f_code
                key = id(code)
                if key not in ignored and key not in seen:
                    seen[key] = code

        self.mark = mark
        self.watch = lambda: sys.setprofile(mark)
        self.begin()

    def take(self):
        taken = list(self.seen.values())
        self.seen.clear()
        return taken

    def again(self, _code):
        pass

    def ignore(self, code):
        self.ignored[id(code)] = code


def source():
    """Returns the best source available here, or None and the reason."""
    kinds = [Library, Profile] if hasattr(sys, "setprofile") else []
    if hasattr(sys, "monitoring"):
        kinds.insert(0, Monitoring)
    why = None
    for kind in kinds:
        try:
            return kind(), None
        except Exception as problem:
            why = why or str(problem)
    return None, why
