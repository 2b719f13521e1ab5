"""Records which project files are opened, which directories are listed and which programs are
started, for assay_tests_coverage.py. Also determines which files belong to the project.

It uses audit hooks. Importing, collecting and reporting also open files, which does not count; the
stack shows where a call comes from.
"""

import functools
import os
import re
import sys
import threading
from stat import S_ISDIR

# Directories with these names contain no project files.
FOREIGN = frozenset(
    (
        *("site-packages", "dist-packages", "node_modules", ".venv", "venv", "gems", ".git", "__pycache__", ".pytest_cache"),
        *(".hypothesis", ".mypy_cache", ".ruff_cache", ".tox", ".nox"),
    )
)
MOST_WORDS = 64
# Maximum number of file names that are cached.
MOST_PATHS = 50_000
# Origin of the call that opens a file: code that counts, machinery, code in between, or an
# importer, which also reads data of packages.
_COUNTS, _MACHINERY, _BETWEEN, _IMPORTER = range(4)
_LIBRARIES = (os.path.dirname(os.__file__) + os.sep, "/proc/", "/dev/")
# Functions that resolve paths examine each part of a path, and modules that show sources examine
# the file of each source.
_RESOLVERS = ("realpath", "_joinrealpath", "resolve")
_PATHS = re.compile(r"\b(posixpath|pathlib)\b")
_SHOWERS = ("linecache.py", "inspect.py")
_IMPORTABLE = (".py", ".so", ".pyd", ".pth")
_MACHINES = ("_pytest", "pluggy", "xdist", "execnet", "coverage", "pytest_cov")
_MACHINE_FILES = ("traceback.py", "warnings.py", "loader.py")


class _Wrapped:
    """Replaces a function of `os`. It is not a Python function, which would become a method if a
    class has it as an attribute (pathlib up to 3.10)."""

    def __init__(self, real, watching):
        functools.update_wrapper(self, real)
        self.__module__ = "os"  # pickle finds it by this name.
        self._call = watching(real)

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)

    def __repr__(self):
        return repr(self.__wrapped__)

    def __reduce__(self):
        return self.__name__


class _Entries:
    """Result of `os.scandir` for a directory of the project."""

    def __init__(self, entries, folder, files):
        self._entries, self._folder, self._files = entries, folder, files

    def __iter__(self):
        return self

    def __next__(self):
        return _Entry(next(self._entries), self._folder, self._files)

    def close(self):
        self._entries.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._entries.close()


class _Entry:
    """An `os.DirEntry`, of which `stat` is a use of the file. Its name and kind belong to the listed directory."""

    def __init__(self, entry, folder, files):
        self._entry, self._folder, self._files = entry, folder, files

    def __getattr__(self, name):
        return getattr(self._entry, name)

    def __fspath__(self):
        return self._entry.path

    def __repr__(self):
        return repr(self._entry)

    def stat(self, **options):
        files = self._files
        try:
            files._looked(os.path.join(self._folder, files.fspath(self._entry.name)))
        except Exception as problem:
            files.coverage.recorder.problem(problem)
        return self._entry.stat(**options)


class Files:
    """The files of the project below `top`, and what happens to them."""

    def __init__(self, coverage, top):
        self.coverage = coverage
        top = os.path.abspath(top)
        self.tops = tuple({top + os.sep: None, os.path.realpath(top) + os.sep: None})
        self.paths = {}  # By path as used in a call: the path relative to the top, or None.
        self.written = set()
        self.frames = {}  # By file name of code: the origin of calls from it.
        # The original functions: tests may replace them.
        self.getcwd, self.getframe, self.fspath = os.getcwd, sys._getframe, os.fsdecode
        self.stat, self.readlink = os.stat, os.readlink

    def watch(self):
        """Starts recording."""
        self._watch_programs()
        self._watch_looks()
        if hasattr(sys, "addaudithook"):
            sys.addaudithook(self._audit())

    def path_of(self, name):
        """Returns the path relative to the top if a file is the project's."""
        try:
            return self.paths[name]
        except KeyError:
            found = self.paths[name] = self._path_of(name)
            return found

    def _path_of(self, name):
        if not name or name[0] == "<" or name.startswith(_LIBRARIES) or "/site-packages/" in name:
            return None
        path = os.path.normpath(name if name[0] == "/" else os.path.join(self.getcwd(), name))
        for top in self.tops:
            if path.startswith(top):
                short = path[len(top) :]
                break
            if path + os.sep == top:
                return "."
        else:
            if not FOREIGN.isdisjoint(path.split(os.sep)):
                return None
            real = os.path.realpath(path)
            if real == path or not real.startswith(self.tops):
                return None
            short = next(real[len(top) :] for top in self.tops if real.startswith(top))
        parts = short.split(os.sep)
        if not FOREIGN.isdisjoint(parts) or "vendor" + os.sep + "bundle" in short:
            return None
        return short

    # Events. -----------------------------------------------------------------------------------------------------------

    def _audit(self):
        handlers = {
            "open": self._opened,
            "exec": self._executed,
            "os.listdir": self._listed,
            "os.scandir": self._listed,
            "sqlite3.connect": self._connected,
            "ctypes.dlopen": self._linked,
            "subprocess.Popen": self._started,
            "os.exec": self._became,
            "os.posix_spawn": self._spawned,
            "os.system": self._ran,
        }
        find = handlers.get

        def audit(event, args):
            handler = find(event)
            if handler is not None:
                try:
                    handler(*args)
                except Exception as problem:
                    self.coverage.recorder.problem(problem)

        return audit

    def _path(self, name):
        """Returns the path relative to the top of an opened or listed path if it is the
        project's."""
        if not isinstance(name, str):
            if name is None:
                name = "."
            elif isinstance(name, int):
                name = self._folder_of(name)
                if name is None:
                    return None
            else:
                name = self.fspath(name)
        if name[:1] != os.sep:
            name = os.path.join(self.getcwd(), name)
        if len(self.paths) > MOST_PATHS:
            self.paths.clear()
        return self.path_of(name)

    def _folder_of(self, descriptor):
        """Returns the path of an open directory; None if the system has no names for
        descriptors."""
        try:
            path = self.readlink("/proc/self/fd/%d" % descriptor)
        except (OSError, ValueError):
            return None
        return path if path[:1] == os.sep else None  # Not that of a pipe or a socket.

    def _note(self, kind, path):
        """Records a path for the running test. A module is loaded once, and later tests depend on the data that it read
        at that time: such a path is also recorded outside of tests."""
        getattr(self.coverage.now, kind).add(path)
        outside = getattr(self.coverage.outside, kind)
        if self.coverage.now is not self.coverage.outside and path not in outside and self._loads():
            outside.add(path)

    def _loads(self):
        """Returns whether a module of the project is being loaded, other than the main program."""
        frame = self.getframe(3)
        while frame is not None:
            if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") != "__main__":
                if self.path_of(frame.f_code.co_filename) is not None:
                    return True
            frame = frame.f_back
        return False

    def _opened(self, name, _mode, flags):
        path = self._path(name)
        if path is None or path.endswith(".pyc"):
            return
        access = flags & (os.O_WRONLY | os.O_RDWR)
        if access == os.O_WRONLY or flags & os.O_TRUNC:
            self.written.add(path)
        elif path not in self.coverage.now.opens and path not in self.written and self._matters(path.endswith(_IMPORTABLE)):
            self._note("opens", path)

    def isdir(self, name):
        try:
            return S_ISDIR(self.stat(name).st_mode)
        except (OSError, ValueError, TypeError):
            return False

    def _listed(self, name=None, *_):
        path = self._path(name)
        if path is not None and path not in self.coverage.now.lists and self._matters(True):
            self._note("lists", path)

    def _connected(self, name, *_):
        name = self.fspath(name)
        if name.startswith("file:"):
            name = _unquoted(name[len("file:") :].partition("?")[0].partition("#")[0])
            if name.startswith("//"):
                name = "/" + name[2:].partition("/")[2]
        if name and name != ":memory:":
            self._opened(name, None, os.O_RDONLY)

    def _linked(self, name):
        if name is not None and os.sep in self.fspath(name):
            path = self._path(name)
            if path is not None and self._matters(False):
                self._note("opens", path)

    def _executed(self, code):
        if getattr(code, "co_name", None) != "<module>":
            return
        file = self.coverage.file(code.co_filename)
        if file is None or not file[1]:
            return
        frame = self.getframe(2)
        while frame is not None:
            importer = self.coverage.file(frame.f_code.co_filename)
            if importer is not None and importer[2] != file[2]:
                self.coverage.imports.from_frame(importer[2], file[2])
                break
            frame = frame.f_back
        else:
            if sys.modules["__main__"].__dict__.get("__file__") and self.coverage.imports.main is None:
                self.coverage.imports.main = self.path_of(sys.modules["__main__"].__file__)
        if self.coverage.calls is None:
            self.coverage._load(file[2], file[0], code)

    def _started(self, program, args, place=None, *_):
        if isinstance(args, (str, bytes)):
            args = self.fspath(args).split()
        args = list(args)
        words = [self.fspath(word) for word in args[:MOST_WORDS]] or [self.fspath(program)]
        # The first word may differ from the name of the executed file.
        real = words[0] if program is None else self.fspath(program)
        if os.path.basename(real) != os.path.basename(words[0]):
            words[0] = real
        spawn = (words, self._place(place), len(args) > MOST_WORDS)
        if spawn not in self.coverage.now.spawns:
            self.coverage.now.spawns.append(spawn)

    def _place(self, place):
        """Returns the directory of a program; None for the top of the project."""
        here = self.getcwd()
        here = here if place is None else os.path.normpath(os.path.join(here, self.fspath(place)))
        return None if here + os.sep in self.tops else here

    def _spawned(self, program, args, *_):
        self._started(program, args)

    def _ran(self, command):
        self._started("sh", ["/bin/sh", "-c", command])

    def _became(self, program, args, *_):
        self._started(program, args)
        self.coverage._flush_child()

    # Queries of existence, size and times of files, and paths relative to descriptors. There are no
    # audit events for these, so the functions are wrapped.
    def _watch_looks(self):
        wrapped = {name: _Wrapped(getattr(os, name), self._looking) for name in ("stat", "lstat", "access", "readlink")}
        wrapped["scandir"] = _Wrapped(os.scandir, self._scanning)
        wrapped["open"] = _Wrapped(os.open, self._opening)
        for name, ours in wrapped.items():
            real = ours.__wrapped__
            setattr(os, name, ours)
            # Libraries look a function up in these sets to find out whether it accepts descriptors.
            for known in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
                if real in known:
                    known.add(ours)
        # Up to Python 3.10 a class of pathlib holds these functions.
        held = getattr(sys.modules.get("pathlib"), "_NormalAccessor", None)
        for name, value in list(vars(held).items()) if held is not None else ():
            for ours in wrapped.values():
                if getattr(value, "__func__", value) is ours.__wrapped__:
                    setattr(held, name, ours)

    def _looking(self, real):
        looked, problem = self._looked, self.coverage.recorder.problem
        thread, busy, getframe = threading.get_ident, set(), self.getframe

        def look(path, *args, **kwargs):
            caller = getframe(2)
            if caller.f_code.co_name == "stat":
                caller = caller.f_back
            if caller is not None and caller.f_code.co_name in _RESOLVERS and _PATHS.search(caller.f_code.co_filename):
                return real(path, *args, **kwargs)
            own = thread()
            if type(path) is not int and own not in busy:
                busy.add(own)
                try:
                    below = kwargs.get("dir_fd")
                    if below is None:
                        looked(path)
                    else:
                        folder = self._folder_of(below)
                        if folder is not None:
                            looked(os.path.join(folder, self.fspath(path)))
                except Exception as raised:
                    problem(raised)
                finally:
                    busy.discard(own)
            return real(path, *args, **kwargs)

        return look

    def _scanning(self, real):
        def scandir(path=None):
            entries = real() if path is None else real(path)
            try:
                folder = self._folder_of(path) if isinstance(path, int) else self.fspath("." if path is None else path)
                if folder is None or not self._follows(folder):
                    return entries
                return _Entries(entries, os.path.join(self.getcwd(), folder), self)
            except Exception as raised:
                self.coverage.recorder.problem(raised)
                return entries

        return scandir

    def _opening(self, real):
        """The audit event of `os.open` lacks the directory that a path is relative to."""

        def opens(path, flags, mode=0o777, *, dir_fd=None):
            if dir_fd is not None:
                try:
                    folder = self._folder_of(dir_fd)
                    if folder is not None:
                        self._opened(os.path.join(folder, self.fspath(path)), None, flags)
                except Exception as raised:
                    self.coverage.recorder.problem(raised)
            return real(path, flags, mode, dir_fd=dir_fd)

        return opens

    def _follows(self, folder):
        """Returns whether queries about the entries of this directory count."""
        return self._path(folder) is not None and self._matters(True)

    def _looked(self, name):
        path = self._path(name)
        if path is None or path == "." or path.endswith(".pyc"):
            return
        now = self.coverage.now
        if path in now.opens or path in now.lists or path in self.written:
            return
        if not self._matters(True) or path.endswith(_IMPORTABLE) and self._shows():
            return
        # A directory exists as long as it contains anything, so it counts as listed.
        self._note("lists" if self.isdir(name) else "opens", path)

    def _shows(self):
        """Returns whether a source is read in order to display it."""
        frame = self.getframe(3)
        while frame is not None and self.frames.get(frame.f_code.co_filename) == _BETWEEN:
            if frame.f_code.co_filename.endswith(_SHOWERS):
                return True
            frame = frame.f_back
        return False

    def _matters(self, importable):
        """Returns whether a file is opened by the project or one of its libraries, rather than by
        importing, collecting or reporting."""
        frame = self.getframe(3)
        frames = self.frames
        while frame is not None:
            name = frame.f_code.co_filename
            kind = frames.get(name)
            if kind is None:
                kind = frames[name] = self._kind(name)
            if kind == _IMPORTER:
                if importable:
                    return False
            elif kind != _BETWEEN:
                return kind == _COUNTS
            frame = frame.f_back
        return True

    def _kind(self, name):
        if name.startswith("<frozen importlib") or name.startswith("<frozen zipimport"):
            return _IMPORTER
        if name.startswith("<") or name.startswith("assay-frame:"):
            return _BETWEEN
        folder, base = os.path.split(name)
        if folder == os.path.dirname(__file__):  # Also if the directory for temporary files is in the project.
            return _BETWEEN
        if self.path_of(name) is not None:
            return _COUNTS
        parts = folder.split(os.sep)
        if not {"site-packages", "dist-packages"}.isdisjoint(parts):
            return _MACHINERY if not set(_MACHINES).isdisjoint(parts) else _COUNTS
        if not set(_MACHINES).isdisjoint(parts):
            return _MACHINERY
        library = os.path.dirname(os.__file__)
        if folder.startswith(library):
            within = folder[len(library) + 1 :]
            is_machine = base in _MACHINE_FILES and within in ("", "unittest") or within == os.path.join("importlib", "metadata")
            return _MACHINERY if is_machine else _BETWEEN
        return _COUNTS

    def _watch_programs(self):
        """Interpreters started by multiprocessing, for which there is no event."""
        try:
            import _posixsubprocess
        except ImportError:
            return
        fork_exec = _posixsubprocess.fork_exec
        started = self._started

        def watched(args, executables, *others):
            try:
                started(executables[0], args)
            except Exception as problem:
                self.coverage.recorder.problem(problem)
            return fork_exec(args, executables, *others)

        _posixsubprocess.fork_exec = watched


def _unquoted(text):
    """Decodes the text of a URI; the library is loaded on first use."""
    from urllib.parse import unquote

    return unquote(text)
