"""What each test was seen to execute, read and start of the project, with ASSAY_TESTS_COVERAGE: the `covers` and `loaded` lines.

Which functions were entered comes from assay_tests_calls.py, who imports whom from assay_tests_imports.py; files, directories and programs from
audit hooks. What happens belongs to whoever runs: a test, a fixture of several tests or a class's set-up, or none of them (`outside`). What a
fixture did counts for every test that has it.

Nothing of this is loaded unless it is asked for.
"""

import os
import sys
from importlib.machinery import SourceFileLoader

import assay_tests_calls
from assay_tests_events import _encode
from assay_tests_imports import Imports

# Below a directory of such a name nothing is the project's.
FOREIGN = frozenset(
    (
        *("site-packages", "dist-packages", "node_modules", ".venv", "venv", "gems", ".git", "__pycache__", ".pytest_cache"),
        *(".hypothesis", ".mypy_cache", ".ruff_cache", ".tox", ".nox"),
    )
)
MOST_WORDS = 8
# So many names of files are known, and no more.
MOST_PATHS = 50_000
# Where a call comes from, when a file is opened: from one that counts, from machinery, from what is between them, or from what imports: that
# also reads data of packages.
_COUNTS, _MACHINERY, _BETWEEN, _IMPORTER = range(4)
_LIBRARIES = (os.path.dirname(os.__file__) + os.sep, "/proc/", "/dev/")
_IMPORTABLE = (".py", ".so", ".pyd", ".pth")
_MACHINES = ("_pytest", "pluggy", "xdist", "execnet", "coverage", "pytest_cov")
_MACHINE_FILES = ("traceback.py", "warnings.py", "loader.py")


class Seen:
    """What was seen of one test, of one fixture, or outside."""

    __slots__ = ("blocks", "loads", "opens", "lists", "spawns", "unseen", "uses")

    def __init__(self):
        self.blocks = set()  # (number of the file, line)
        self.loads = set()
        self.opens = set()
        self.lists = set()
        self.spawns = []
        self.unseen = None
        self.uses = set()  # Fixtures.

    def add(self, other):
        """What another one saw counts here, too."""
        self.blocks |= other.blocks
        self.loads |= other.loads
        self.opens |= other.opens
        self.lists |= other.lists
        self.spawns += [spawn for spawn in other.spawns if spawn not in self.spawns]
        self.unseen = self.unseen or other.unseen


class Coverage:
    """What is seen in this process."""

    def __init__(self, recorder, top):
        self.recorder = recorder
        top = os.path.abspath(top)
        self.tops = tuple({top + os.sep: None, os.path.realpath(top) + os.sep: None})
        self.paths = {}  # By what a path is called: the path from the top, or None.
        self.files = {}  # By what code says that its file is: number, kind and path.
        self.numbers = {}  # By path from the top.
        self.known = {}  # By address of code: (code, number, line).
        self.untold = []  # `source` lines.
        self.outside = self.now = Seen()
        self.told = Seen()
        self.of = {}  # By fixture, class or module.
        self.running = []
        self.conftests = set()
        self.imports = Imports(self.path_of)
        self.news = True
        self.written = set()
        self.frames = {}
        self.forks = 0
        self.pid = os.getpid()
        self.child = None
        self.getcwd, self.getframe, self.fspath, self.exit = os.getcwd, sys._getframe, os.fsdecode, os._exit
        self.getpid = os.getpid
        self.calls, why = assay_tests_calls.source()
        self.why = None if self.calls else "functions can't be watched: %s" % why
        self._loaded_before()
        self._done_before(sys.modules.pop("assay_tests_before", None))
        self._watch_programs()
        if hasattr(sys, "addaudithook"):
            sys.addaudithook(self._audit())
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._fork, after_in_child=self._forked)

    # Files. -------------------------------------------------------------------------------------------------------------

    def path_of(self, name):
        """The path from the top, where a file is the project's."""
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

    def number(self, path):
        number = self.numbers.get(path)
        if number is None:
            number = self.numbers[path] = len(self.numbers) + 1
            self.untold.append('{"source":%s,"number":%d}\n' % (_encode(path), number))
        return number

    def file(self, name):
        """Of code's file: its number, whether it is Python's own source, and its path; None if it is not the project's."""
        try:
            return self.files[name]
        except KeyError:
            path = self.path_of(name)
            found = None
            if path is not None:
                is_source = os.path.splitext(path)[1] in ("", ".py", ".pyw", ".pyx")
                found = (self.number(path) if is_source else 0, is_source, path)
            self.files[name] = found
            return found

    # Code. --------------------------------------------------------------------------------------------------------------

    def gather(self):
        """What was entered until now belongs to whoever runs."""
        if self.calls is None:
            return
        known, blocks = self.known, self.now.blocks
        for code in self.calls.take():
            place = known.get(id(code))
            if place is not None:
                self.calls.again(code)
                blocks.add(place[1])
            else:
                self._meet(code)
        why = self.calls.trouble()
        if why is not None:
            self.now.unseen = why

    def _meet(self, code):
        file = self.file(code.co_filename)
        if file is None:
            self.calls.ignore(code)
            return
        number, is_source, path = file
        if not is_source:
            # What a template was made into: it is no source that could be cut into blocks.
            self.now.opens.add(path)
            return
        if code.co_flags & 2:  # A function of any kind has variables of its own (CO_NEWLOCALS).
            place = (number, code.co_firstlineno)
            self.known[id(code)] = (code, place)
            self.calls.again(code)
            self.now.blocks.add(place)
        elif code.co_name == "<module>":
            self._load(path, number, code)

    def _load(self, path, number, code):
        self.news = True
        self.now.loads.add(number)
        if os.path.basename(path) == "conftest.py":
            self.conftests.add(path)
        self.imports.load(path, code)

    def _loaded_before(self):
        """Modules of the project that were there before us."""
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            found = self.file(file) if isinstance(file, str) else None
            if found is None or not found[1]:
                continue
            if name == "__main__":
                self.imports.main = found[2]
            try:
                # Not by its own loader: pytest's gives no code.
                code = SourceFileLoader(name, file).get_code(name)
            except Exception:
                code = None
            self._load(found[2], found[0], code)

    def _done_before(self, before):
        """What a preloaded process did before it was forked."""
        if before is None:
            return
        for name, line in before.functions:
            file = self.file(name)
            if file is not None and file[1]:
                self.now.blocks.add((file[0], line))
        self.now.opens.update(path for path in map(self.path_of, before.opened) if path)
        self.imports.preloaded.update(path for path in map(self.path_of, before.preloaded) if path)

    # Who runs. ----------------------------------------------------------------------------------------------------------

    def switch(self, seen):
        """Another one runs now. Gives the one until now."""
        self.gather()
        before, self.now = self.now, seen
        return before

    def begin(self, test):
        """A test begins."""
        if self.running:
            # At once with another one, in a thread: what both do counts for both.
            test.seen = self.running[0].seen
        else:
            self.gather()
            self.tell()
            test.seen = self.now = Seen()
            self.forks = 0
        self.running.append(test)

    def end(self, test):
        """It ended: the line of it."""
        if test not in self.running:
            return ""
        self.gather()
        self.running.remove(test)
        seen = test.seen
        if self.forks:
            self._children(seen)
        if not self.running:
            self.now = self.outside
        uses = seen.uses.union(test.groups)
        if uses:
            whole = Seen()
            whole.add(seen)
            done = set()
            while uses:
                use = uses.pop()
                done.add(use)
                held = self.of.get(use)
                if held is not None:
                    whole.add(held)
                    uses |= held.uses - done
            seen = whole
        text = '{"covers":%s%s}\n' % (test.json, self._members(seen, "loads"))
        return "".join(self._sources()) + text

    def use(self, fixture):
        """The test, or fixture, that runs has this fixture."""
        self.now.uses.add(fixture)

    def enter(self):
        """A fixture of several tests, or a class, is set up."""
        seen = Seen()
        return seen, self.switch(seen)

    def leave(self, of, entered):
        """It was."""
        seen, before = entered
        self.switch(before)
        held = self.of.get(of)
        if held is None:
            self.of[of] = seen
        else:
            held.add(seen)
            held.uses |= seen.uses

    def tests_are(self, files):
        """The files in which tests stand."""
        self.imports.tests.update(path for path in map(self.path_of, files) if path)
        self.news = True

    # Lines. -------------------------------------------------------------------------------------------------------------

    def _sources(self):
        untold, self.untold = self.untold, []
        return untold

    def _members(self, seen, loads):
        more = ""
        if seen.loads:
            # First, since lines that begin with `loaded` are known by it.
            more += ',"%s":%s' % (loads, str(sorted(seen.loads)).replace(" ", ""))
        if seen.blocks:
            by_file = {}
            for number, line in sorted(seen.blocks):
                by_file.setdefault(number, []).append(line)
            more += ',"blocks":{%s}' % ",".join(
                ['"%d":%s' % (number, str(lines).replace(" ", "")) for number, lines in by_file.items()]
            )
        for name, paths in (("opens", seen.opens), ("lists", seen.lists)):
            if paths:
                more += ',"%s":[%s]' % (name, ",".join(map(_encode, sorted(paths))))
        if seen.spawns:
            more += ',"spawns":[%s]' % ",".join(["[%s]" % ",".join(map(_encode, words)) for words in seen.spawns])
        why = seen.unseen or self.why
        if why:
            more += ',"unseen":%s' % _encode(why)
        return more

    def tell(self):
        """What is new outside of tests."""
        seen, told = self.outside, self.told
        new = Seen()
        for name in ("blocks", "loads", "opens", "lists"):
            found, before = getattr(seen, name), getattr(told, name)
            if len(found) != len(before):
                getattr(new, name).update(found - before)
                before |= found
        for spawn in seen.spawns:
            if spawn not in told.spawns:
                new.spawns.append(spawn)
        told.spawns += new.spawns
        more = self._members(new, "loaded")
        if self.news:
            self.news = False
            pairs = {}
            for importer, path in sorted(self.imports.link(self.conftests)):
                pairs.setdefault(self.number(importer), []).append(self.number(path))
            if pairs:
                texts = ['"%d":%s' % (number, str(sorted(paths)).replace(" ", "")) for number, paths in pairs.items()]
                more += ',"imports":{%s}' % ",".join(texts)
        if more:
            lines = self._sources()
            if '"loaded":' not in more:
                more = ',"loaded":[]' + more
            self.recorder.emit("".join(lines) + "{" + more[1:] + "}\n")

    def finish(self):
        """The process ends."""
        if self.child is not None:
            self._flush_child()
        elif not self.recorder._muted:
            self.gather()
            self.tell()

    # Files, directories, programs. --------------------------------------------------------------------------------------

    def _audit(self):
        handlers = {
            "open": self._opened,
            "exec": self._executed,
            "os.listdir": self._listed,
            "os.scandir": self._listed,
            "sqlite3.connect": self._connected,
            "subprocess.Popen": self._started,
            "os.exec": self._became,
            "os.posix_spawn": self._started,
            "os.system": self._ran,
        }
        find = handlers.get

        def audit(event, args):
            handler = find(event)
            if handler is not None:
                try:
                    handler(*args)
                except Exception as problem:
                    self.recorder.problem(problem)

        return audit

    def _path(self, name):
        """The path from the top of what was opened or listed, where it is the project's."""
        if not isinstance(name, str):
            if name is None:
                name = "."
            elif isinstance(name, int):
                return None
            else:
                name = self.fspath(name)
        if name[:1] != os.sep:
            name = os.path.join(self.getcwd(), name)
        if len(self.paths) > MOST_PATHS:
            self.paths.clear()
        return self.path_of(name)

    def _opened(self, name, _mode, flags):
        path = self._path(name)
        if path is None or path.endswith(".pyc"):
            return
        access = flags & (os.O_WRONLY | os.O_RDWR)
        if access == os.O_WRONLY or flags & os.O_TRUNC:
            self.written.add(path)
        elif path not in self.now.opens and path not in self.written and self._matters(path.endswith(_IMPORTABLE)):
            self.now.opens.add(path)

    def _listed(self, name=None, *_):
        path = self._path(name)
        if path is not None and path not in self.now.lists and self._matters(True):
            self.now.lists.add(path)

    def _connected(self, name, *_):
        if name != ":memory:" and not (isinstance(name, str) and name.startswith("file:")):
            self._opened(name, None, os.O_RDONLY)

    def _executed(self, code):
        if getattr(code, "co_name", None) != "<module>":
            return
        file = self.file(code.co_filename)
        if file is None or not file[1]:
            return
        frame = self.getframe(2)
        while frame is not None:
            importer = self.file(frame.f_code.co_filename)
            if importer is not None and importer[2] != file[2]:
                self.imports.from_frame(importer[2], file[2])
                break
            frame = frame.f_back
        else:
            if sys.modules["__main__"].__dict__.get("__file__") and self.imports.main is None:
                self.imports.main = self.path_of(sys.modules["__main__"].__file__)
        if self.calls is None:
            self._load(file[2], file[0], code)

    def _started(self, program, args, *_):
        if isinstance(args, (str, bytes)):
            args = self.fspath(args).split()
        words = [self.fspath(word) for word in list(args)[:MOST_WORDS]] or [self.fspath(program)]
        if words not in self.now.spawns:
            self.now.spawns.append(words)

    def _ran(self, command):
        self._started("sh", ["/bin/sh", "-c", command])

    def _became(self, program, args, *_):
        self._started(program, args)
        self._flush_child()

    def _matters(self, importable):
        """Whether a file is opened for the project or a library of it; not by what imports, collects or reports."""
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
        if self.path_of(name) is not None:
            return _COUNTS
        folder, base = os.path.split(name)
        if folder == os.path.dirname(__file__):
            return _BETWEEN
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
        """Interpreters that multiprocessing starts: no event tells of them."""
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
                self.recorder.problem(problem)
            return fork_exec(args, executables, *others)

        _posixsubprocess.fork_exec = watched

    # Processes that a test forks: each leaves what it saw in a file, for its parent. ------------------------------------

    def _fork(self):
        self.pid = self.getpid()
        if self.child is not None:
            self.now.unseen = "a process that it forked did so, too"
        elif self.running:
            self.forks += 1

    def _forked(self):
        if not self.running:
            self.untold = ['{"source":%s,"number":%d}\n' % (_encode(path), number) for path, number in self.numbers.items()]
            self.told = Seen()
            self.news = True
            self.imports.forget()
            return
        if self.child is not None:
            self.child = None
            self.running = []
            os._exit = self.exit
            return
        folder = self.recorder._folder
        self.child = os.path.join(folder, "%d-%d.forked" % (self.pid, self.forks))
        self.gather()
        self.now = self.running[0].seen = Seen()

        def leave(status):
            self._flush_child()
            self.exit(status)

        os._exit = leave

    def _flush_child(self):
        if self.child is None:
            return
        self.gather()
        seen = self.now
        paths = {number: path for path, number in self.numbers.items()}
        import json

        found = {
            "blocks": sorted([paths[number], line] for number, line in seen.blocks),
            "loads": sorted(paths[number] for number in seen.loads),
            "opens": sorted(seen.opens),
            "lists": sorted(seen.lists),
            "spawns": seen.spawns,
            "unseen": seen.unseen,
        }
        with open(self.child + "-", "w", encoding="utf-8", errors="replace") as file:
            json.dump(found, file)
        os.replace(self.child + "-", self.child)

    def _children(self, seen):
        forks, self.forks = self.forks, 0
        folder = self.recorder._folder
        for number in range(1, forks + 1):
            path = os.path.join(folder, "%d-%d.forked" % (self.pid, number))
            try:
                import json

                with open(path, encoding="utf-8") as file:
                    found = json.load(file)
                os.unlink(path)
            except (OSError, ValueError):
                seen.unseen = seen.unseen or "a process that it forked did not say what it did"
                continue
            seen.blocks.update((self.number(path), line) for path, line in found["blocks"])
            seen.loads.update(map(self.number, found["loads"]))
            seen.opens.update(found["opens"])
            seen.lists.update(found["lists"])
            seen.spawns += [words for words in found["spawns"] if words not in seen.spawns]
            seen.unseen = seen.unseen or found["unseen"]


def watch(recorder, top):
    """What is seen from now on."""
    return Coverage(recorder, top)


def watch_fixtures(coverage):
    """Notes which fixtures of more than one test a test of pytest has, also those that were set up before it."""
    from _pytest.fixtures import FixtureDef

    execute = FixtureDef.execute

    def executed(self, request):
        if self.scope != "function":
            coverage.use(self)
        return execute(self, request)

    FixtureDef.execute = executed
