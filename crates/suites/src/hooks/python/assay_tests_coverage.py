"""Records what each test executes, reads and starts of the project, if ASSAY_TESTS_COVERAGE is set:
the `covers` and `loaded` lines.

Entered functions come from assay_tests_calls.py, imports from assay_tests_imports.py, files,
directories and programs from assay_tests_files.py, and cached results of functions from
assay_tests_caches.py. Each event belongs to whatever is running: a test, a fixture shared by
several tests or a class's setup, or none of them (`outside`). Events of a fixture count for every
test that uses it.

This file is loaded only on request.
"""

import contextlib
import os
import sys
from importlib.machinery import SourceFileLoader

import assay_tests_calls
from assay_tests_caches import Caches, Searches
from assay_tests_events import _encode
from assay_tests_files import Files
from assay_tests_imports import Imports


class Seen:
    """The record of one test, of one fixture, or of the time outside of tests."""

    __slots__ = ("blocks", "loads", "opens", "lists", "spawns", "unseen", "uses")

    def __init__(self):
        self.blocks = set()  # (number of the file, line)
        self.loads = set()
        self.opens = set()
        self.lists = set()
        self.spawns = []
        self.unseen = None
        self.uses = set()  # Fixtures, and caches that gave a kept result.

    def add(self, other):
        """Includes the record of another one."""
        self.blocks |= other.blocks
        self.loads |= other.loads
        self.opens |= other.opens
        self.lists |= other.lists
        self.spawns += [spawn for spawn in other.spawns if spawn not in self.spawns]
        self.unseen = self.unseen or other.unseen


class Coverage:
    """The records of this process."""

    def __init__(self, recorder, top):
        self.recorder = recorder
        self.project = Files(self, top)
        self.path_of = self.project.path_of
        self.files = {}  # By the file name stored in code: number, kind and path.
        self.numbers = {}  # By path relative to the top.
        self.known = {}  # By address of code: (code, number, line).
        self.untold = []  # `source` lines.
        self.outside = self.now = Seen()
        self.told = Seen()
        self.of = {}  # By fixture, class, module or cache.
        self.running = []
        self.conftests = set()
        self.imports = Imports(self.path_of)
        self.news = True
        self.forks = 0
        self.pid = os.getpid()
        self.child = None
        self.exit, self.getpid = os._exit, os.getpid
        self.calls, why = assay_tests_calls.source()
        self.why = None if self.calls else "functions can't be watched: %s" % why
        before = sys.modules.pop("assay_tests_before", None)
        is_own = lambda name: self.file(name) is not None
        self.caches = Caches(is_own)
        self.searches = Searches(is_own, self.apart)
        is_known = before is not None and os.path.realpath(top) == os.path.realpath(before.root)
        self._loaded_before(before.modules if is_known else list(sys.modules))
        self._done_before(before)
        if self.outside.loads:
            self.caches.find()
        self.project.watch()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._fork, after_in_child=self._forked)

    # Files. -------------------------------------------------------------------------------------------------------------

    def number(self, path):
        number = self.numbers.get(path)
        if number is None:
            number = self.numbers[path] = len(self.numbers) + 1
            self.untold.append('{"source":%s,"number":%d}\n' % (_encode(path), number))
        return number

    def file(self, name):
        """Returns number, whether it is Python source, and path of a code object's file; None if it
        is not the project's."""
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
        """Assigns everything entered up to now to the running test or fixture."""
        if self.calls is not None:
            self._gather_calls()
        for cache, gave, computed in self.caches.news():
            if computed and self.now is not self.outside:
                self._hold(cache, self.now)
            if gave:
                self.now.uses.add(cache)

    def _gather_calls(self):
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
            # Code compiled from a template, which cannot be divided into blocks.
            self.now.opens.add(path)
            return
        if code.co_flags & 2:  # A function of any kind has variables of its own (CO_NEWLOCALS).
            place = (number, code.co_firstlineno)
            if code.co_name == "__subclasshook__":
                # ABCMeta keeps its answer for each class.
                self.outside.blocks.add(place)
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

    def _loaded_before(self, names):
        """Returns those of these project modules that were loaded before this file."""
        for name in names:
            file = getattr(sys.modules.get(name), "__file__", None)
            found = self.file(file) if isinstance(file, str) else None
            if found is None or not found[1]:
                continue
            if name == "__main__":
                self.imports.main = found[2]
            try:
                # Not by the module's own loader: pytest's returns no code.
                code = SourceFileLoader(name, file).get_code(name)
            except Exception:
                code = None
            self._load(found[2], found[0], code)

    def _done_before(self, before):
        """Records what a preloaded process did before it was forked."""
        if before is None:
            return
        for name, line in before.functions:
            file = self.file(name)
            if file is not None and file[1]:
                self.now.blocks.add((file[0], line))
        self.now.opens.update(path for path in map(self.path_of, before.opened) if path)
        self.imports.preloaded.update(path for path in map(self.path_of, before.preloaded) if path)

    # The running test. --------------------------------------------------------------------------------------------------

    def switch(self, seen):
        """Makes another record the running one, and returns the previous one."""
        self.gather()
        before, self.now = self.now, seen
        return before

    @contextlib.contextmanager
    def apart(self):
        """Events in the `with` block belong to all tests, whichever one runs."""
        before = self.switch(self.outside)
        try:
            yield
        finally:
            self.switch(before)

    def begin(self, test):
        """A test begins."""
        if self.running:
            # It overlaps with another test in a thread: the actions of both count for both.
            test.seen = self.running[0].seen
        else:
            self.gather()
            self.tell()
            test.seen = self.now = Seen()
            self.forks = 0
        self.running.append(test)

    def end(self, test):
        """A test ended. Returns its line."""
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
        loads = ',"loads":%s' % _numbers(seen.loads) if seen.loads else ""
        text = '{"covers":%s%s%s}\n' % (test.json, loads, self._members(seen))
        return "".join(self._sources()) + text

    def use(self, fixture):
        """The running test or fixture uses this fixture."""
        self.now.uses.add(fixture)

    def enter(self):
        """The setup of a class or of a fixture shared by several tests begins."""
        seen = Seen()
        return seen, self.switch(seen)

    def leave(self, of, entered):
        """That setup ended."""
        seen, before = entered
        self.switch(before)
        self._hold(of, seen)

    def _hold(self, of, seen):
        held = self.of.setdefault(of, Seen())
        held.add(seen)
        held.uses |= seen.uses

    def tests_are(self, files):
        """Returns the files that contain tests."""
        self.imports.tests.update(path for path in map(self.path_of, files) if path)
        self.news = True

    # Lines. -------------------------------------------------------------------------------------------------------------

    def _sources(self):
        untold, self.untold = self.untold, []
        return untold

    def _members(self, seen):
        more = ""
        if seen.blocks:
            by_file = {}
            for number, line in sorted(seen.blocks):
                by_file.setdefault(number, []).append(line)
            more += _by_number("blocks", by_file)
        for name, paths in (("opens", seen.opens), ("lists", seen.lists)):
            if paths:
                more += ',"%s":[%s]' % (name, ",".join(map(_encode, sorted(paths))))
        if seen.spawns:
            more += ',"spawns":[%s]' % ",".join(map(_spawned, seen.spawns))
        why = seen.unseen or self.why
        if why:
            more += ',"unseen":%s' % _encode(why)
        return more

    def tell(self):
        """Returns the lines about new events outside of tests."""
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
        # Reading the source of executed code (doctest, inspect) adds no information about it.
        new.opens.difference_update(self.numbers)
        more = self._members(new)
        if self.news:
            self.news = False
            pairs = {}
            for importer, path in sorted(self.imports.link(self.conftests)):
                pairs.setdefault(self.number(importer), []).append(self.number(path))
            if pairs:
                more += _by_number("imports", pairs)
        if more or new.loads:
            # Such a line is identified by its first member.
            self.recorder.emit("".join(self._sources()) + '{"loaded":%s%s}\n' % (_numbers(new.loads), more))

    def finish(self):
        """The process is exiting."""
        if self.child is not None:
            self._flush_child()
        elif not self.recorder._muted:
            self.gather()
            self.tell()

    # Processes forked by a test: each writes what it saw to a file for its parent. --------------------------------------

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
            spawns = map(tuple, found["spawns"])
            seen.spawns += [spawn for spawn in spawns if spawn not in seen.spawns]
            seen.unseen = seen.unseen or found["unseen"]


def _spawned(spawn):
    words, place, cut = spawn
    text = "[%s]" % ",".join(map(_encode, words))
    if place is None and not cut:
        return text
    return '{"words":%s%s%s}' % (text, "" if place is None else ',"in":%s' % _encode(place), ',"cut":true' if cut else "")


def _numbers(numbers):
    return str(sorted(numbers)).replace(" ", "")


def _by_number(name, lists):
    return ',"%s":{%s}' % (name, ",".join(['"%d":%s' % (number, _numbers(some)) for number, some in lists.items()]))


def watch(recorder, top):
    """Starts recording."""
    return Coverage(recorder, top)


def watch_fixtures(coverage):
    """Records which shared fixtures a pytest test uses, including those that were set up before
    it."""
    from _pytest.fixtures import FixtureDef

    execute = FixtureDef.execute

    def executed(self, request):
        if self.scope != "function":
            coverage.use(self)
        return execute(self, request)

    FixtureDef.execute = executed
