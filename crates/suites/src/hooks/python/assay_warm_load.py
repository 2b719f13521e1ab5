"""Determines what a preloaded process loads, handles state that a fork loses, and turns a fork into
a run. PYTEST_DONT_REWRITE

Runs record the modules that they had to load themselves, in order (`ASSAY_WARM_SEEN`, JSON): first
libraries from outside of the project, then project modules other than tests.
"""

import gc
import importlib
import importlib.machinery
import json
import os
import sys

SKIPPED = ("assay_", "sitecustomize", "usercustomize", "__main__", "__mp_main__")
# These modules replace functions of others. If they are loaded later than in a run, other modules
# have already taken references to the originals.
PATCHING = ("gevent.monkey", "eventlet.patcher")
MOST_MODULES = 5000
# If more modules than this print while they are loaded, none is loaded ahead.
MOST_LEFT = 8
# Classes of database connections, by module.
CONNECTIONS = (
    ("sqlite3", "Connection"),
    ("psycopg", "Connection"),
    ("psycopg2.extensions", "connection"),
    ("MySQLdb.connections", "Connection"),
    ("pymysql.connections", "Connection"),
    ("redis.connection", "Connection"),
)


# Loading. ---------------------------------------------------------------------------------------------------------------


_patched = []


def watch(warm):
    """From now on, the process waits before project files where it should, and records the
    functions that are entered: a test may depend on their effects."""
    warm.calls, _ = warm.sibling("assay_tests_calls").source()
    from importlib import _bootstrap_external

    _patch(warm, _bootstrap_external._LoaderBasics)


def _patch(warm, owner):
    original = owner.exec_module

    def exec_module(loader, module):
        _before(warm, module)
        original(loader, module)
        if module.__name__ == "_pytest.assertion.rewrite":
            _patch(warm, module.AssertionRewritingHook)

    owner.exec_module = exec_module
    _patched.append((owner, original))


def _before(warm, module):
    if not warm.loads:
        return
    spec = getattr(module, "__spec__", None)
    path = warm.of_project(getattr(spec, "origin", None))
    if path is None:
        return
    if warm.control is None and warm.pytest is not None:
        # No project code is loaded yet.
        warm.stage("framework")
        warm.phase = "helpers"
    elif path in warm.hot:
        warm.stage(warm.phase)
    if warm.loads:
        warm.note_file(path)


def gather(warm):
    """Returns the functions entered since the last call."""
    if warm.calls is not None:
        for code in warm.calls.take():
            if code.co_flags & 2:
                path = warm.of_project(code.co_filename)
                if path is not None:
                    warm.entered.add((path, code.co_firstlineno))


def known(warm):
    """Returns the records of earlier runs."""
    try:
        with open(warm.seen, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError, TypeError):
        found = {}
    return {name: found.get(name) or [] for name in ("paths", "libraries", "modules", "left")}


def _privately(path, flags):
    return os.open(path, flags, 0o600)


def write(warm, seen):
    """Writes the records atomically."""
    temporary = "%s.%d" % (warm.seen, os.getpid())
    with open(temporary, "w", encoding="utf-8", opener=_privately) as file:
        json.dump(seen, file)
    os.replace(temporary, warm.seen)


def load(warm):
    """For a program other than pytest: waits before it begins, with everything loaded that earlier
    runs loaded."""
    preload(warm, natural="framework")
    if warm.request is not None:
        start(warm)


def preload(warm, natural):
    """Creates the stages for modules that are only known from earlier runs. The first one exists
    before any of these is loaded."""
    seen = known(warm)
    if not seen["libraries"] and not seen["modules"]:
        # A list may exist next time.
        warm.stage(natural, last=True, natural=True)
        if warm.request is not None:
            return
        seen = known(warm)
    else:
        warm.stage(natural, natural=True)
    if warm.request is not None:
        return
    for path in reversed(seen["paths"]):
        if path not in sys.path and os.path.isdir(path):
            sys.path.insert(0, path)
    warm.left = frozenset(seen["left"])
    if warm.pytest is None and hasattr(os, "memfd_create"):
        # pytest shows no output printed during collection.
        warm.printed = os.memfd_create("printed")
        os.dup2(warm.printed, 1)
        os.dup2(warm.printed, 2)
    if not set(PATCHING).isdisjoint(seen["libraries"]):
        warm.notes.append("libraries are not loaded ahead: one of them patches others")
    else:
        for name in seen["libraries"]:
            _load(warm, name)
        warm.stage("framework", last=not seen["modules"])
    if seen["modules"] and warm.request is None:
        warm.phase = "application"
        for name, path, is_imported in seen["modules"]:
            if os.path.exists(path):
                if is_imported and path not in warm.known:
                    warm.preloaded.add(path)
                _load(warm, name)
                if warm.request is not None:
                    return
        warm.stage("application", last=True)


def _load(warm, name):
    if name in sys.modules or name in warm.left:
        return
    before = None if warm.printed is None else _said(warm)
    try:
        importlib.import_module(name)
    except (Exception, SystemExit) as problem:
        # Some modules can be loaded only after an action of the program (settings), which loads
        # them itself.
        warm.failures.append("%s: %s: %s" % (name, type(problem).__name__, problem))
    if warm.printed is not None and _said(warm) != before:
        _leave(warm, name)


def _said(warm):
    """Returns the size of the output so far."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass
    return os.fstat(warm.printed).st_size


def _leave(warm, name):
    """Handles a module that prints when it is loaded, which it would not do in runs if it were
    preloaded: it is left to runs, and loading is repeated without it."""
    seen = known(warm)
    seen["left"].append(name)
    if len(seen["left"]) > MOST_LEFT:
        seen["left"] = [*seen["libraries"], *(own for own, _, _ in seen["modules"])]
    write(warm, seen)
    warm.send({"again": True})
    os._exit(0)


def record(warm, tests=()):
    """Records what a run had to load itself. `tests` are the test files."""
    if warm.seen is None:
        return
    seen = known(warm)
    libraries, modules = seen["libraries"], seen["modules"]
    have = {*libraries, *(name for name, _, _ in modules), *warm.before}
    new = 0
    for name, module in list(sys.modules.items()):
        if name in have or name.startswith(SKIPPED) or name == "__main__":
            continue
        spec = getattr(module, "__spec__", None)
        if getattr(spec, "name", None) != name or not getattr(spec, "loader", None):
            continue
        # Modules without a location are built in.
        path = warm.of_project(spec.origin) if getattr(spec, "has_location", False) else None
        if path is None:
            libraries.append(name)
        elif path in tests or _is_test(path):
            continue
        else:
            modules.append([name, path, False])
        new += 1
    if not new or len(libraries) + len(modules) > MOST_MODULES:
        return
    _note_imported(warm, modules)
    # In the order in which they were loaded.
    order = {name: at for at, name in enumerate(sys.modules)}
    modules.sort(key=lambda one: order.get(one[0], -1))
    paths = [path for path in sys.path if path and path not in warm.paths_before]
    seen["paths"] = [*[path for path in paths if path not in seen["paths"]], *seen["paths"]]
    write(warm, seen)


def load_hooks(warm):
    """Loads the hooks that every recorded run needs. Those that read variables when they are loaded
    are only compiled."""
    for name in ("assay_tests_events", "assay_tests_calls", "assay_tests_imports", "assay_tests_files", "assay_tests_caches", "assay_tests_coverage"):
        warm.hooks[name] = warm.sibling(name, sys.modules)
    for name in warm.hooks:
        del sys.modules[name]
    own_modules(warm)
    warm.compiled = Compiled(os.path.dirname(warm.here))
    for name in ("assay_tests_pytest", "assay_tests_causes", "assay_tests_frames", *warm.hooks):
        warm.compiled.add(name)


class Compiled:
    """A finder for modules that have already been compiled; it loads each once."""

    def __init__(self, folder):
        self.folder = folder
        self.codes = {}

    def add(self, name):
        path = os.path.join(self.folder, name + ".py")
        with open(path, "rb") as file:
            self.codes[name] = compile(file.read(), path, "exec", dont_inherit=True)

    def find_spec(self, name, path=None, target=None):
        if name not in self.codes:
            return None
        spec = importlib.machinery.ModuleSpec(name, self, origin=os.path.join(self.folder, name + ".py"))
        spec.has_location = True
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(self.codes.pop(module.__name__), module.__dict__)


def _note_imported(warm, modules):
    """Records for each module whether another project file imports it. Modules that nothing imports
    were loaded for all tests."""
    from importlib.machinery import SourceFileLoader

    imports = warm.sibling("assay_tests_imports").Imports(warm.of_project)
    for name, module in list(sys.modules.items()):
        path = warm.of_project(getattr(module, "__file__", None))
        if path is not None and path.endswith(".py"):
            try:
                code = SourceFileLoader(name, path).get_code(name)
            except Exception:
                continue
            imports.load(path, code)
    imports.link()
    for module in modules:
        module[2] = module[2] or module[1] in imports.imported


def _is_test(path):
    name = os.path.basename(path)
    return name in ("conftest.py", "tests.py") or name.startswith("test_") or name.endswith("_test.py")


# State that is lost in a fork. ------------------------------------------------------------------------------------------


def notes(warm):
    """Returns notes about such state; handles what can be handled."""
    found = []
    if warm.failures:
        others = " and %d more" % (len(warm.failures) - 1) if warm.failures[1:] else ""
        found.append("not loaded ahead: %s%s" % (warm.failures[0], others))
    threading = sys.modules.get("threading")
    if threading is not None:
        for thread in threading.enumerate():
            if thread is not threading.main_thread():
                found.append("the thread %s is alive, and is not in runs" % thread.name)
    django, settings = sys.modules.get("django.db"), sys.modules.get("django.conf")
    if django is not None and settings is not None and settings.settings.configured:
        try:
            django.connections.close_all()
        except Exception as problem:
            found.append("connections of Django can't be closed: %s" % problem)
    kinds = []
    for module, name in CONNECTIONS:
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type):
            kinds.append(kind)
    engine = getattr(sys.modules.get("sqlalchemy.engine.base"), "Engine", None)
    if kinds or engine is not None:
        import weakref

        counts = {}
        for one in gc.get_objects():
            try:
                if engine is not None and isinstance(one, engine):
                    warm.engines.append(weakref.ref(one))
                elif isinstance(one, tuple(kinds)):
                    counts[type(one)] = counts.get(type(one), 0) + 1
            except Exception:
                continue
        for kind, number in counts.items():
            found.append("connections that are open, and that runs share: %d of %s" % (number, kind.__module__.partition(".")[0]))
    return found


# A run. -----------------------------------------------------------------------------------------------------------------


def become(warm, streams):
    """Makes this process a run, with the descriptors, environment, directory and arguments of a
    newly started program."""
    request = warm.request
    while _patched:
        owner, original = _patched.pop()
        owner.exec_module = original
    if warm.pytest is None or not warm.pytest.redirect(warm, streams):
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
    for descriptor in (*streams, *([] if warm.printed is None else [warm.printed])):
        os.close(descriptor)
    _set_environment(warm, request.get("env"))
    if request.get("cwd"):
        os.chdir(request["cwd"])
    for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        _reopen(stream)
    for reference in warm.engines:
        engine = reference()
        if engine is not None:
            try:
                engine.dispose(close=False)
            except Exception:
                pass
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        numpy.seed()
    if warm.calls is not None:
        warm.calls.stop()
    # Loaded objects are excluded from collections, which would copy all of their pages.
    gc.freeze()
    warm.before = set(sys.modules)
    warm.paths_before = set(sys.path)
    sys.modules.pop("assay_warm", None)
    for name in [name for name in sys.modules if name.startswith("assay_tests")]:
        del sys.modules[name]
    if os.environ.get("ASSAY_TESTS_COVERAGE"):
        # Only hooks that read no variables when they are loaded.
        sys.modules.update(warm.hooks)
        sys.modules["assay_tests_before"] = Before(warm)
    if warm.compiled is not None and warm.compiled.folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        sys.meta_path.insert(0, warm.compiled)


class Before:
    """Events before the run began."""

    def __init__(self, warm):
        self.functions = warm.entered
        self.preloaded = warm.preloaded
        self.opened = [path for path in warm.known if not path.endswith(".py")]
        self.root = warm.root
        self.modules = own_modules(warm)


def own_modules(warm):
    """Returns the names of loaded project modules. Stages have already determined the paths of
    their files."""
    return [name for name, module in list(sys.modules.items()) if warm.of_project(getattr(module, "__file__", None))]


def _set_environment(warm, environment):
    """Sets the whole environment to the client's, except for variables that were set or removed
    while loading."""
    if environment is None:
        return
    now = dict(os.environ)
    changed = {name: now.get(name) for name in {*now, *warm.given} if now.get(name) != warm.given.get(name)}
    wanted = {name: value for name, value in environment.items() if not name.startswith("ASSAY_WARM")}
    for name, value in changed.items():
        if value is None:
            wanted.pop(name, None)
        else:
            wanted[name] = value
    for name in now:
        if name not in wanted:
            del os.environ[name]
    for name, value in wanted.items():
        if now.get(name) != value:
            os.environ[name] = value
    if now.get("TZ") != wanted.get("TZ"):
        import time

        time.tzset()
    before = (warm.given.get("PYTHONPATH") or "").split(os.pathsep)
    paths = [path for path in (wanted.get("PYTHONPATH") or "").split(os.pathsep) if path and path not in before]
    # After the program's own directory, as in a new interpreter.
    at = 1 if warm.has_own_path else 0
    for path in reversed(paths):
        path = os.path.abspath(path)
        if path not in sys.path and path != warm.here:
            sys.path.insert(at, path)
    sys.dont_write_bytecode = bool(wanted.get("PYTHONDONTWRITEBYTECODE")) or sys.flags.dont_write_bytecode


def _reopen(stream):
    """Adapts a stream object, to which others may hold references, to the file that its descriptor
    now refers to."""
    try:
        is_error = stream is sys.__stderr__
        stream.reconfigure(line_buffering=is_error or stream.isatty())
    except (AttributeError, OSError, ValueError):
        pass


def is_same(warm, argv):
    """Returns whether these words name the program that was started."""
    kind, name = warm.main
    if kind == "module":
        return argv[:2] == ["-m", name] or argv[:1] == [name]
    if kind == "command":
        return argv[:2] == ["-c", name]
    return argv[:1] == [name] or os.path.basename(argv[0]) == os.path.basename(name) and (
        os.sep not in argv[0] or os.path.realpath(argv[0]) == os.path.realpath(name)
    )


def arguments(warm, argv):
    """Returns the words after the program's name."""
    return argv[2:] if argv[:1] in (["-m"], ["-c"]) else argv[1:]


def start(warm):
    """Begins a run of a program other than pytest. Returns to where the interpreter begins it, or
    runs another program."""
    import atexit

    atexit.register(record, warm)
    argv = warm.request.get("argv") or [warm.main[1]]
    if is_same(warm, argv):
        sys.argv[1:] = arguments(warm, argv)
        if warm.main[0] == "module" and warm.has_own_path:
            sys.path[0] = os.getcwd()
        return
    try:
        _other(argv)
    except Exception as problem:
        # Like the interpreter, without the frames below the program.
        trace = problem.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        problem.__traceback__ = trace
        sys.excepthook(type(problem), problem, trace)
        raise SystemExit(1)
    raise SystemExit(0)


def _other(argv):
    """Runs a program other than the one that was started."""
    if argv[0] == "-m":
        import runpy

        sys.path[0] = os.getcwd()
        sys.argv[:] = ["-m", *argv[2:]]
        runpy._run_module_as_main(argv[1])
    elif argv[0] == "-c":
        sys.path[0] = ""
        sys.argv[:] = ["-c", *argv[2:]]
        exec(compile(argv[1], "<string>", "exec"), sys.modules["__main__"].__dict__)
    else:
        path = argv[0]
        if os.sep not in path and not os.path.exists(path):
            import shutil

            path = shutil.which(path) or path
        sys.path[0] = os.path.dirname(os.path.realpath(path))
        sys.argv[:] = [path, *argv[1:]]
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        main = sys.modules["__main__"].__dict__
        main["__file__"] = path
        exec(code, main)
