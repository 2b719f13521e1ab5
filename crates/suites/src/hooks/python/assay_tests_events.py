"""Writes the events of a process that runs tests: one file per process, lines of JSON, each written
as a whole (docs/reference/test-events.md).

It contains nothing specific to a framework. Lines go to a memory-mapped file (the tail), so that a
test costs no system call and the lines survive if the process is killed. The tail is flushed to the
events file when it is full, and at the end. If it cannot be mapped, the lines of a finished test
are written together with those of the next one, so that a test costs one write. Nothing here may
raise an exception into a suite: `guarded` records the problem. Functions that tests stub (clocks,
`os`) are captured beforehand, and stored where they are not replaced: not in a module's names.

It is loaded and compiled by every run, so its imports and its length are part of the overhead.
"""

import atexit
import gc
import os
import sys
import threading
import time

try:
    from _json import encode_basestring as _encode
except ImportError:
    from json.encoder import encode_basestring as _encode

# Maximum length of a message in characters, minimum duration of a span in nanoseconds, and maximum
# number of reported problems.
LONGEST_MESSAGE = 1000
SHORTEST_SPAN = 50_000
MOST_PROBLEMS = 20
# High descriptor numbers: a file that the suite opens after closing all descriptors must not be
# mistaken for the hooks' own file.
HIGH = (900, 200, 64)


# Sizes in bytes of the tail and of its head, and the position in the head of the running test's
# phase. The head begins with the offset of the tail's lines in the events file.
TAIL = 1 << 16
HEAD = 20
PHASE = 18


class Running:
    """A running test. The framework-specific part sets the ends of its phases."""

    overlapped = False
    groups = ()
    phase = before = inner_counts = None
    phase_begin = inner = inner_gc = phase_gc = earlier = retries = 0
    setup = body = teardown = status = message = took = None
    # Garbage collection time per phase in nanoseconds, if the collector ran.
    gc_of = None

    def __init__(self, name, group, place, thread):
        self.name = name
        self.json = _encode(name)
        self.group = group
        self.place = place
        self.thread = thread

    def end_phase(self, now, gc_time):
        """A phase ended, or may have ended: the last call counts. Time of other activities within
        it is subtracted."""
        phase = self.phase
        if phase is not None:
            setattr(self, phase, self.earlier + now - self.phase_begin - self.inner)
            self.end_gc(phase, gc_time)

    def end_gc(self, phase, gc_time):
        """Returns the garbage collector's time in a phase that ended."""
        collected = gc_time - self.inner_gc - self.phase_gc
        if collected > 0:
            self.gc_of = {**(self.gc_of or {}), phase: collected}


class Recorder:
    """The events of this process."""

    def __init__(self, folder, causes):
        # CLOCK_MONOTONIC; libraries that freeze time do not affect this reference.
        self.clock = time.perf_counter_ns
        self.loaded = self.clock()
        self.causes = causes
        # Runs calls beneath a frame that is visible to samplers; see assay_tests_frames.py.
        self.framed = None
        # Records what is executed, read and started; see assay_tests_coverage.py.
        self.cover = None
        self.counts = [0] * 10  # Counts of causes; see assay_tests_causes.py.
        self.gc_time = 0
        self.gc_runs = 0
        self.running = []
        self.framework = (None, None)
        self.worker = None
        self.look = None
        self.modules = sys.modules
        self._looked = -1
        self._blocks = sys.getallocatedblocks
        self._folder = folder
        self._root = os.getcwd() + os.sep
        self._os = (os.open, os.write, os.close, os.unlink)
        self._flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        self._pid = os.getpid()
        self._parent = os.getppid()
        self._forked = False
        self._muted = False
        self._within = False
        self._descriptor = None
        self._path = None
        self._pending = []
        self._tail = None
        self._tail_at = HEAD
        self._wants_tail = True
        self._written = 0
        self._places = {}
        self._groups = {}
        self._threads = {}
        self._problems = 0
        self._spans = []
        self._load_ended = False
        self._gc_begin = None
        self._lock = threading.Lock()
        self._only = None
        self._thread = threading.get_ident
        self._main = threading.main_thread().ident
        gc.callbacks.append(self._collected)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)
        atexit.register(self._finish)

    # Order and selection of the tests. ----------------------------------------------------------------------------------

    @property
    def order(self):
        """Returns the seed in ASSAY_TESTS_ORDER, or None."""
        text = os.environ.get("ASSAY_TESTS_ORDER", "")
        return int(text) if text.isascii() and text.isdigit() else None

    @property
    def only(self):
        """Returns the names in ASSAY_TESTS_ONLY, or None."""
        given = os.environ.get("ASSAY_TESTS_ONLY", "")
        if self._only is None and given.startswith("path:"):
            with open(given[len("path:") :], encoding="utf-8") as file:
                self._only = [line for line in file.read().split("\n") if line]
        return self._only

    def chosen(self, by_name, file_of):
        """Selects from these tests those that ASSAY_TESTS_ONLY names, in its order; for `file:PATH`
        all other tests in that file."""
        names = []
        for name in self.only:
            if name.startswith("file:"):
                file = os.path.join(self._root, name[len("file:") :])
                others = {own: test for own, test in by_name.items() if own not in self.only}
                names += [own for own, test in others.items() if os.path.join(self._root, file_of(test)) == file]
            else:
                names.append(name)
        missing = [name for name in names if name not in by_name]
        if missing:
            self.emit('{"missing":[%s]}\n' % ",".join(map(_encode, missing)))
        return [by_name[name] for name in names if name in by_name]

    # Events. ------------------------------------------------------------------------------------------------------------

    def guarded(self, function, *args):
        """Calls a part of the hooks; exceptions are recorded and do not reach the suite."""
        try:
            return function(*args)
        except Exception as problem:
            self.problem(problem)
            return None

    def problem(self, problem):
        """Records that a hook failed."""
        self._problems += 1
        if self._problems > MOST_PROBLEMS:
            return
        trace = problem.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = " (%s:%d)" % (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace is not None else ""
        text = "%s: %s%s" % (type(problem).__name__, problem, place)
        self.emit('{"problem":%s,"at":%de-9}\n' % (_encode(text), self.clock()))

    def run_begins(self, framework, version):
        """The framework begins to run, or to collect, the loaded tests."""
        self.framework = (framework, version)
        if not self._load_ended:
            self._load_ended = True
            self._span("load", None, self.loaded, self.clock(), "")
        self.look_again()

    def look_again(self):
        """Also counts libraries that were loaded since."""
        if self.look is not None:
            self.guarded(self.look)

    def begin_test(self, name, group, file, line):
        """A test begins. Returns None if it is within another test, and so not reported itself."""
        if self._muted:
            return None
        thread = self._thread()
        running = self.running
        for other in running:
            if other.thread == thread:
                return None
        if self.look is not None and len(self.modules) != self._looked:
            self._looked = len(self.modules)
            self.guarded(self.look)
        if not self._within:
            # Programs started by tests do not report: their time belongs to the test.
            self._within = True
            os.environ["ASSAY_TESTS_WITHIN"] = str(self._pid)
        if self._wants_tail:
            # Before the test's clock starts.
            self._wants_tail = False
            self._try(self._begin_tail)
        test = Running(name, group, self._place(file, line), thread)
        if running:
            for other in (*running, test):
                other.overlapped = True
        if self.cover is not None:
            self.guarded(self.cover.begin, test)
        running.append(test)
        if self.causes:
            test.before = [*self.counts, self.gc_runs, self._blocks()]
        test.gc = self.gc_time
        test.begin = begin = self.clock()
        self.emit(f'{{"start":{test.json},"at":{begin}e-9}}\n')
        if self._tail is None:
            self.flush()
        else:
            self._tail[PHASE] = 32
        return test

    def begin_phase(self, test, phase, letter):
        """Setup, body or teardown begins. The letter is the phase as visible to outside
        observers."""
        test.phase = phase
        test.inner = 0
        # Not the first attempt.
        test.earlier = getattr(test, phase) or 0 if test.retries else 0
        test.phase_gc = self.gc_time - test.inner_gc
        if self._tail is not None:
            self._tail[PHASE] = letter
        test.phase_begin = self.clock()

    def end_test(self, test, status, message):
        """A test ended. A child forked by the test that reaches this point writes nothing."""
        now = self.clock()
        running = self.running
        if test not in running:
            return
        running.remove(test)
        group = self._groups.get(test.group) or self._groups.setdefault(test.group, _encode(test.group))
        more = "" if message is None else f',"message":{_encode(_cut(str(message)))}'
        setup, body, teardown = test.setup, test.body, test.teardown
        if setup is not None and body is not None and teardown is not None:
            more += f',"setup":{setup}e-9,"body":{body}e-9,"teardown":{teardown}e-9'
        else:
            for phase, took in (("setup", setup), ("body", body), ("teardown", teardown)):
                if took is not None:
                    more += f',"{phase}":{took}e-9'
        if test.retries:
            more += f',"retries":{test.retries}'
        if test.took is not None:
            more += f',"took":{test.took + (body or 0) + (teardown or 0)}e-9'
        if not test.overlapped:
            more += f',"gc":{self.gc_time - test.gc - test.inner_gc}e-9'
            if test.gc_of:
                more += ',"gc_of":{%s}' % ",".join([f'"{phase}":{took}e-9' for phase, took in test.gc_of.items()])
            if test.before is not None:
                after = [*self.counts, self.gc_runs, self._blocks()]
                counted = [now - before for now, before in zip(after, test.before)]
                if test.inner_counts is not None:
                    counted[:-1] = [all_ - inner for all_, inner in zip(counted, test.inner_counts)]
                more += _causes(counted) + f',"kept":{counted[-1]}}}'
        elif test.thread != self._main:
            more += f',"thread":{self._threads.setdefault(test.thread, len(self._threads) + 1)}'
        self.emit(
            f'{{"test":{test.json},"group":{group},{test.place}"begin":{test.begin}e-9,"end":{now}e-9,"status":"{status}"{more}}}\n'
        )
        if self.cover is not None:
            self.emit(self.guarded(self.cover.end, test) or "")
        if self._forked and self._tail is None:
            self.flush()

    def beside(self, name, file, status, message):
        """Reports a failure outside of tests, of something shared by several of them."""
        if self._muted:
            return
        at = self.clock()
        said = "" if message is None else ',"message":%s' % _encode(_cut(str(message)))
        line = '{"test":%s,%s"begin":%de-9,"end":%de-9,"status":"%s"%s,"beside":true}\n'
        self.emit(line % (_encode(name), self._place(file, None), at, at, status, said))

    def fault(self, text):
        """Reports why the suite failed, other than by a test: a sentence without its end."""
        if not self._muted:
            self.emit('{"fault":%s,"at":%de-9}\n' % (_encode(_cut(text)), self.clock()))

    def begin_span(self, kind, group, name=None, scope=None, announce=True):
        """The suite begins something shared by several tests. Returns the argument for `end_span`,
        or None."""
        if self._muted:
            return None
        more = (',"name":%s' % _encode(name) if name else "") + (',"scope":%s' % _encode(scope) if scope else "")
        if announce:
            at = self.clock()
            self.emit('{"open":"%s","group":%s%s,"at":%de-9}\n' % (kind, _text(group), more, at))
            if self._tail is None:
                self.flush()
        counts = [*self.counts, self.gc_runs] if self.causes else None
        span = (kind, group, more, self.clock(), self.gc_time, counts, announce)
        self._spans.append(span)
        return span

    def end_span(self, span):
        """A span ended. Within a test, its time is not the test's."""
        if span is None or span not in self._spans:
            return
        now = self.clock()
        del self._spans[self._spans.index(span) :]
        kind, group, more, begin, gc_time, counts, announced = span
        # If the start was reported, the end must be reported as well.
        if now - begin < SHORTEST_SPAN and not announced:
            return
        collected = self.gc_time - gc_time
        rest = '%s,"gc":%de-9' % (more, collected)
        counted = None
        if counts is not None:
            counted = [after - before for after, before in zip([*self.counts, self.gc_runs], counts)]
            rest += _causes(counted) + "}"
        if not self._spans and len(self.running) == 1:
            test = self.running[0]
            test.inner += now - begin
            test.inner_gc += collected
            if counted is not None:
                test.inner_counts = [a + b for a, b in zip(test.inner_counts or [0] * len(counted), counted)]
        self._span(kind, group, begin, now, rest, 0)

    def span(self, kind, group, begin, end):
        """Reports a span of which only the start and the end are known."""
        if not self._muted:
            self._span(kind, group, begin, end, "")

    def _span(self, kind, group, begin, end, rest, shortest=SHORTEST_SPAN):
        if end - begin >= shortest:
            text = '{"span":"%s","group":%s,"begin":%de-9,"end":%de-9%s}\n'
            self.emit(text % (kind, _text(group), begin, end, rest))

    def _place(self, file, line):
        if not file:
            return ""
        known = self._places.get(file)
        if known is None:
            short = file[len(self._root) :] if file.startswith(self._root) else file
            known = self._places[file] = _encode(short)
        return '"file":%s,"line":%s,' % (known, "null" if line is None else line)

    # The file. ----------------------------------------------------------------------------------------------------------

    def emit(self, line):
        """Adds a line to the tail, or keeps it until the next `flush`."""
        if self._tail is None:
            self._pending.append(line)
            return
        data = line.encode("utf-8", "replace")
        with self._lock:
            begin = self._tail_at
            end = begin + len(data)
            if end > TAIL:
                self._empty()
                begin, end = HEAD, HEAD + len(data)
                if end > TAIL:
                    self._try(self._write, data)
                    self._place_tail()
                    return
            self._tail[begin:end] = data
            self._tail_at = end

    def flush(self):
        """Writes pending lines with one write."""
        if self._muted or not (self._pending or self._tail_at > HEAD):
            return
        with self._lock:
            lines, self._pending = self._pending, []
            if self._tail is not None:
                self._empty()
            if lines:
                self._try(self._write, "".join(lines).encode("utf-8", "replace"))

    def _try(self, function, *args):
        try:
            function(*args)
        except (OSError, ValueError, ImportError):
            pass

    # The lines are written to the file before they are removed from the tail, whose head contains
    # their offset in the file.
    def _empty(self):
        end = self._tail_at
        if end > HEAD:
            self._try(self._write, self._tail[HEAD:end])
            self._place_tail()
            self._tail[HEAD:end] = bytes(end - HEAD)
            self._tail_at = HEAD

    def _place_tail(self):
        self._tail[:PHASE] = b"%018d" % self._written

    def _begin_tail(self):
        import mmap

        lines, self._pending = self._pending, []
        self._write("".join(lines).encode("utf-8", "replace"))
        open_, write, close, _ = self._os
        path = self._path[: -len("jsonl")] + "tail"
        descriptor = open_(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            # All pages are allocated on disk before they are used: a missing one would kill the
            # process.
            head = b"%018d \n" % self._written
            if write(descriptor, head + bytes(TAIL - HEAD)) == TAIL:
                self._tail = mmap.mmap(descriptor, TAIL)
        finally:
            close(descriptor)

    def _write(self, data):
        open_, write = self._os[:2]
        if self._descriptor is None:
            self._descriptor = self._opened()
        try:
            self._written += write(self._descriptor, data)
        except OSError:  # The suite closed it.
            self._descriptor = self._high(open_(self._path, self._flags))
            self._written += write(self._descriptor, data)

    def _opened(self):
        open_, write = self._os[:2]
        number = 1
        while True:
            name = "%d%s.jsonl" % (self._pid, "-%d" % number if number > 1 else "")
            path = self._folder + "/" + name
            try:
                descriptor = self._high(open_(path, self._flags | os.O_CREAT | os.O_EXCL, 0o600))
                break
            except FileExistsError:
                # The file belongs to another process that had this number, or to this one before it
                # executed another program.
                number += 1
        self._path = path
        header = (
            '{"assay_tests":1,"framework":%s,"framework_version":%s,"language":"python","language_version":%s,'
            '"process":%d,"parent":%d,"worker":%s,"loaded":%de-9}\n'
        )
        version = "%d.%d.%d" % sys.version_info[:3]
        about = (*map(_text, self.framework), _encode(version), self._pid, self._parent)
        self._written = write(descriptor, (header % (*about, _text(self.worker), self.loaded)).encode("utf-8", "replace"))
        return descriptor

    def _high(self, descriptor):
        try:
            import fcntl
        except ImportError:
            return descriptor
        for least in HIGH:
            try:
                moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, least)
            except OSError:
                continue
            self._os[2](descriptor)
            return moved
        return descriptor

    def _after_fork(self):
        # The work of a process forked by a test belongs to the test.
        if self.running:
            self._muted = True
        self._pid = os.getpid()
        self._parent = os.getppid()
        self._forked = True
        self._descriptor = self._path = self._tail = None
        self._tail_at = HEAD
        self._wants_tail = True
        self._pending = []
        self._lock = threading.Lock()

    def _finish(self):
        if self.cover is not None:
            self.guarded(self.cover.finish)
        if self._path is not None and not self._muted:
            self.emit('{"end":%de-9}\n' % self.clock())
            self.flush()
            if self._tail is not None:
                self._tail = None
                self._try(self._os[3], self._path[: -len("jsonl")] + "tail")

    def _collected(self, phase, _info):
        if phase == "start":
            self._gc_begin = self.clock()
        elif self._gc_begin is not None:
            self.gc_time += self.clock() - self._gc_begin
            self.gc_runs += 1
            self._gc_begin = None


def _text(text):
    return "null" if text is None else _encode(str(text))


def _cut(message):
    return message if len(message) <= LONGEST_MESSAGE else message[:LONGEST_MESSAGE] + "…"


def _causes(counts):
    """Returns the JSON of an object without the closing brace."""
    log, sql, sql_time, redis, redis_time, sleeps, sleep_time, http, http_time, processes, gc_runs = counts[:11]
    return (
        f',"causes":{{"log_lines":{log},"sql":{sql},"sql_time":{sql_time}e-9,"redis":{redis},"redis_time":{redis_time}e-9,'
        f'"sleeps":{sleeps},"sleep_time":{sleep_time}e-9,"http":{http},"http_time":{http_time}e-9,"processes":{processes},"gc_runs":{gc_runs}'
    )


def start():
    """Returns the recorder of this process if `assay tests` requests one; otherwise None."""
    folder = os.environ.get("ASSAY_TESTS", "")
    within = os.environ.get("ASSAY_TESTS_WITHIN", "")
    if not folder.startswith("path:") or within not in ("", str(os.getpid())):
        return None
    recorder = Recorder(folder[len("path:") :], os.environ.get("ASSAY_TESTS_CAUSES") == "1")
    if os.environ.get("ASSAY_TESTS_FRAMES") == "1":
        import assay_tests_frames

        recorder.framed = assay_tests_frames.framed
    top = os.environ.get("ASSAY_TESTS_COVERAGE", "")
    if top.startswith("path:"):
        import assay_tests_coverage

        recorder.cover = recorder.guarded(assay_tests_coverage.watch, recorder, top[len("path:") :])
    if recorder.causes:
        import assay_tests_causes

        recorder.look = recorder.guarded(assay_tests_causes.watch, recorder)
    return recorder


def shuffled(tests, groups, seed):
    """Returns these tests in the random order of this seed. `groups` returns the groups that
    contain a test, outermost first. The tests of a group stay together, since the setup of a group
    runs once."""
    import random

    def arrange(some, depth, draw):
        held = {}
        for test in some:
            chain = groups(test)
            key = chain[depth] if depth < len(chain) else test
            held.setdefault(id(key), (depth < len(chain), []))[1].append(test)
        parts = list(held.values())
        draw.shuffle(parts)
        return [test for deeper, part in parts for test in (arrange(part, depth + 1, draw) if deeper else part)]

    return arrange(tests, 0, random.Random(seed))
