"""The root of a preloaded process: it listens on the socket, has stages created and recreated, and
passes runs to the last one. PYTEST_DONT_REWRITE

It is itself the first stage. It does not wait for processes that are loading, so requests are
answered at any time.
"""

import _socket
import os
import signal
import sys
import time

import assay_warm

# Variables that an interpreter reads at startup, or that determine encodings: a fork cannot adopt
# other values.
OF_INTERPRETER = (
    *("PYTHONHASHSEED", "PYTHONOPTIMIZE", "PYTHONWARNINGS", "PYTHONDEVMODE", "PYTHONUTF8", "PYTHONMALLOC", "PYTHONTRACEMALLOC"),
    *("PYTHONSAFEPATH", "PYTHONDEBUG", "PYTHONFAULTHANDLER", "PYTHONIOENCODING", "PYTHONHOME", "PYTHONINSPECT", "PYTHONUNBUFFERED"),
    *("LD_PRELOAD", "LD_LIBRARY_PATH", "LC_ALL", "LC_CTYPE", "LANG", "VIRTUAL_ENV"),
)
# Maximum number of frequently changed files that get a separate stage before them.
MOST_HOT = 4
# Time within which a stage must begin a requested run, in seconds; otherwise it is considered
# stuck.
ANSWERS_WITHIN = 10.0
# Time within which a loading process reports its process ID, in seconds.
KNOWN_WITHIN = 1.0
# Maximum time to wait for loading, in seconds and as a multiple of the longest so far.
LOADS_WITHIN, LOADS_TIMES = 20.0, 5.0


class Stage:
    """A process that waits or loads."""

    def __init__(self, socket):
        self.socket = socket
        self.lines = assay_warm.Lines(socket) if socket is not None else None
        self.pid = None
        self.about = None
        self.again = False
        self.begun = time.monotonic()

    def retire(self):
        """Makes the process end when its runs have ended. Returns whether there is something to
        wait for."""
        if self.about is None:
            self.kill()
            self.socket.close()
            return False
        try:
            assay_warm.send_with(self.socket, {"retire": True}, [])
        except OSError:
            self.socket.close()
            return False
        return True

    def kill(self):
        if self.pid is None:
            # It reports its process ID first.
            self.socket.settimeout(KNOWN_WITHIN)
            if self.lines.read():
                self.pid = next((message["pid"] for message in self.lines.lines() if "pid" in message), None)
        if self.pid is not None:
            try:
                os.kill(self.pid, signal.SIGKILL)
            except OSError:
                pass


class Server:
    def __init__(self, warm, about):
        self.warm = warm
        first = Stage(None)
        first.pid, first.about = os.getpid(), about
        self.stages = [first]
        self.loading = None
        self.listener = None
        self.connections = {}  # By descriptor: the request read so far.
        self.waiting = []  # Runs that wait: request, streams, connection, start of the wait.
        self.asked = []  # Runs passed to a stage, not begun: stage, connection, start of wait.
        self.broken = {}  # By path: the error in a file.
        self.failed = False
        self.retired = []
        self.spare = None  # Stages that are used until better ones are ready.
        self.hot = []
        self.longest = 0.0
        self.seen_at = self._seen_at()
        self.outdated = False

    def forget(self):
        """Called in a child, which must not use the server's state."""
        for stage in self.others():
            stage.socket.close()
        if self.listener is not None:
            self.listener.close()
        for connection in self.connections.values():
            connection.socket.close()
            for descriptor in connection.descriptors:
                os.close(descriptor)
        for _, streams, connection, _ in self.waiting:
            for descriptor in (*streams, connection):
                os.close(descriptor)
        for _, connection, _ in self.asked:
            os.close(connection)

    def others(self):
        """Returns all processes that wait or load, except this one."""
        stages = [*self.stages, *(self.spare or ()), *self.retired, *([self.loading] if self.loading is not None else ())]
        return [stage for stage in dict.fromkeys(stages) if stage.socket is not None]

    # The loop. ----------------------------------------------------------------------------------------------------------

    def serve(self):
        """The main loop. Returns only in children."""
        if not self.stages[0].about["last"] and self.load():
            return
        while True:
            if self.stages[-1].about["last"] or self.failed:
                if self.ready():
                    return
            descriptors = {}
            for stage in self.others():
                descriptors[stage.socket.fileno()] = stage
            listening = [] if self.listener is None else [self.listener.fileno()]
            readable = self.warm.poll([*descriptors, *listening, *self.connections], self.pause())
            if self.warm.life is not None and self.warm.life in readable:
                self.stop()
            for descriptor, stage in descriptors.items():
                if descriptor in readable and self.hear(stage):
                    return
            if self.listener is not None and self.listener.fileno() in readable:
                self.accept()
            for descriptor in [number for number in self.connections if number in readable]:
                if self.question(descriptor):
                    return
            if self.warm.run_ended:
                self.warm.run_ended = False
                if self.improve():
                    return
            self.late()

    def pause(self):
        """Returns the milliseconds until something may be overdue."""
        return 200 if self.asked or self.waiting or self.loading else None

    def ready(self):
        """Called when all stages exist, or as many as possible. Returns true in a child."""
        if self.listener is None:
            self.listen()
        if self.spare is not None:
            self.end_spare()
        # Each leaves the list only when its turn has come: a run is a fork, which closes the descriptors of those in it.
        return any(self.give(*self.waiting.pop(0)) for _ in range(len(self.waiting)))

    def end_spare(self):
        spare, self.spare = self.spare, None
        for stage in spare or ():
            if stage not in self.stages:
                self.retire(stage)

    def retire(self, stage):
        if stage.retire():
            self.retired.append(stage)

    def listen(self):
        path = self.warm.socket + ".new"
        try:
            os.unlink(path)
        except OSError:
            pass
        self.listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
        mask = os.umask(0o177)
        try:
            self.listener.bind(path)
        finally:
            os.umask(mask)
        self.listener.listen(16)
        # The socket appears only once it accepts connections.
        os.rename(path, self.warm.socket)

    def accept(self):
        descriptor, _ = self.listener._accept()
        os.set_inheritable(descriptor, False)
        self.connections[descriptor] = assay_warm.Lines(_socket.socket(fileno=descriptor))

    def question(self, descriptor):
        """Handles a request. Returns true in a child."""
        lines = self.connections[descriptor]
        more = lines.read()
        for message in lines.lines():
            del self.connections[descriptor]
            lines.socket.detach()
            if "run" in message:
                streams = lines.take(3)
                if len(streams) < 3:
                    self.refuse(streams, descriptor, "it came without three descriptors")
                    return False
                return self.give(message["run"], streams, descriptor, time.monotonic())
            if "stop" in message:
                self.stop()
            if "changed" in message:
                stage = self.change(message["changed"])
                assay_warm.answer(descriptor, {"stage": stage})
                if self.outdated:
                    self.again()
                # The client continues in the meantime.
                os.close(descriptor)
                return stage is not None and self.load()
            elif "state" in message:
                assay_warm.answer(descriptor, self.state(message["state"] == "quick"))
            os.close(descriptor)
            return False
        if not more:
            del self.connections[descriptor]
            lines.socket.close()
        return False

    # Runs. --------------------------------------------------------------------------------------------------------------

    def refuse(self, streams, connection, why):
        assay_warm.answer(connection, {"refused": why})
        for descriptor in (*streams, connection):
            os.close(descriptor)

    def refuse_waiting(self, why):
        waiting, self.waiting = self.waiting, []
        for _, streams, connection, _ in waiting:
            self.refuse(streams, connection, why)

    def give(self, request, streams, connection, since):
        """Begins a run, now or when everything is loaded. Returns true in a child."""
        why = self.refusal(request)
        if why is not None:
            self.refuse(streams, connection, why)
            return False
        stages = self.spare if self.spare is not None else self.stages
        if self.spare is None and not (stages[-1].about["last"] or self.failed):
            self.waiting.append((request, streams, connection, since))
            return False
        stage = stages[-1]
        if stage.socket is None:
            return self.warm.run(request, streams, connection)
        try:
            assay_warm.send_with(stage.socket, {"run": request}, [*streams, connection])
        except OSError:
            # Noted before the stage is replaced: the new one is a fork, which closes the descriptors of waiting runs. If it
            # kept this connection, the client would wait for its end.
            self.waiting.append((request, streams, connection, since))
            return self.lost(stage)
        for descriptor in streams:
            os.close(descriptor)
        self.asked.append((stage, connection, time.monotonic()))
        return False

    def refusal(self, request):
        """Returns the reason why a run is impossible, or None."""
        if self.broken:
            return next(iter(self.broken.values()))
        environment, given = request.get("env") or {}, self.warm.given
        for name in OF_INTERPRETER:
            if environment.get(name) != given.get(name):
                return "%s has another value than when the process was started" % name
        if self.warm.pytest is not None and os.path.realpath(request.get("cwd") or ".") != os.path.realpath(self.warm.directory):
            return "pytest was started in %s" % self.warm.directory
        return None

    def late(self):
        """Handles runs that have waited too long."""
        now = time.monotonic()
        for stage, connection, since in list(self.asked):
            if now - since > ANSWERS_WITHIN:
                self.asked = [one for one in self.asked if one[0] is not stage]
                self.refuse([], connection, "the preloaded process does not answer")
                stage.kill()
        if self.loading is not None and self.waiting:
            if now - self.loading.begun > max(LOADS_WITHIN, LOADS_TIMES * self.longest):
                self.refuse_waiting("the preloaded process is still loading")

    # Stages. ------------------------------------------------------------------------------------------------------------

    def load(self):
        """Makes the last stage continue loading. Returns true in the child."""
        if self.broken or self.loading is not None:
            return False
        self.failed = False
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
        stage = self.stages[-1]
        message = {"go": True, "hot": self.hot}
        self.seen_at = self._seen_at()
        if stage.socket is None:
            if self.warm.go_on(message, theirs.detach()):
                ours.close()
                return True
        else:
            try:
                assay_warm.send_with(stage.socket, message, [theirs.fileno()])
            except OSError:
                ours.close()
                theirs.close()
                return self.lost(stage)
            theirs.close()
        self.loading = Stage(ours)
        return False

    def hear(self, stage):
        """Handles messages of a stage. Returns true in a child."""
        if stage not in self.others():
            return False
        if not stage.lines.read():
            return self.lost(stage)
        for message in stage.lines.lines():
            if "name" in message:
                stage.about = message
                self.longest = max(self.longest, message["seconds"])
                self.stages.append(stage)
                self.loading = None
                if not message["last"] and self.load():
                    return True
            elif "run" in message:
                given = next((one for one in self.asked if one[0] is stage), None)
                if given is not None:
                    self.asked.remove(given)
                    os.close(given[1])
            elif "again" in message:
                stage.again = True
            elif "pid" in message:
                stage.pid = message["pid"]
            elif "ended" in message and self.improve():
                return True
        return False

    def lost(self, stage):
        """Handles the end of a process. Returns true in a child."""
        for one in [one for one in self.asked if one[0] is stage]:
            self.asked.remove(one)
            self.refuse([], one[1], "the preloaded process has died")
        if stage is self.loading:
            # It could not load: runs begin at an earlier stage and report the error themselves.
            self.loading = None
            stage.socket.close()
            if stage.again:
                # From the stage at which the list is read.
                self.drop(self.natural() + 1)
                return self.load()
            self.failed = True
            return False
        if stage in self.retired:
            self.retired.remove(stage)
            stage.socket.close()
            return False
        if self.spare is not None and stage in self.spare:
            self.end_spare()
        if stage in self.stages:
            self.drop(self.stages.index(stage))
            return self.load()
        stage.socket.close()
        return False

    def drop(self, first):
        """Discards all stages from this one on."""
        for stage in (*self.stages[first:], self.loading):
            if stage is not None:
                self.retire(stage)
        del self.stages[first:]
        self.loading = None

    def change(self, paths):
        """Handles changed files. Returns the name of the first stage that is recreated, or None."""
        changed = [path for path in map(self.warm.of_project, paths) if path is not None]
        for path in changed:
            _forget_bytecode(path)
        holding = [
            index for index, stage in enumerate(self.stages) if not set(stage.about["files"]).isdisjoint(changed)
        ]
        of_python = any(path.endswith(".py") for path in changed)
        repaired = [path for path in changed if self.broken.pop(path, None) is not None]
        first = holding[0] if holding else None
        if first is None and not repaired and not ((self.failed or self.loading is not None) and of_python):
            return None
        for path in changed:
            wrong = _wrong(path)
            if wrong is not None:
                self.broken[path] = wrong
        if self.broken:
            # Nothing is loaded until a file changes again.
            self.refuse_waiting(next(iter(self.broken.values())))
        self.hot = list(dict.fromkeys([path for path in changed if path.endswith(".py")] + self.hot))[:MOST_HOT]
        if first == 0:
            self.outdated = True
            # Removed before the answer is sent, so that clients that look for it wait.
            self.unlink()
            return self.stages[0].about["name"]
        if first is None:
            first = len(self.stages)
        name = self.stages[first].about["name"] if first < len(self.stages) else "application"
        self.end_spare()
        self.drop(first)
        return name

    def improve(self):
        """A run has recorded what it loaded: stages with more modules take over as soon as they are
        ready. Returns true in a child."""
        if self._seen_at() == self.seen_at or self.loading is not None or self.broken or self.spare is not None:
            return False
        self.seen_at = self._seen_at()
        natural = self.natural()
        if natural is None:
            return False
        # Requests in the meantime go to the old stages.
        self.spare = list(self.stages)
        del self.stages[natural + 1 :]
        self.stages[-1].about["last"] = False
        return self.load()

    def natural(self):
        """Returns the index of the stage after which the modules of earlier runs are loaded."""
        return next((at for at, stage in enumerate(self.stages) if stage.about["natural"]), None)

    def _seen_at(self):
        try:
            return os.stat(self.warm.seen).st_mtime_ns if self.warm.seen else None
        except OSError:
            return None

    def state(self, is_quick):
        used = self.spare if self.spare is not None else self.stages
        stages = []
        for stage in used:
            about = stage.about
            stages.append(
                {
                    "name": about["name"],
                    "pid": stage.pid,
                    "files": len(about["files"]),
                    "seconds": about["seconds"],
                }
            )
            if not is_quick:
                stages[-1]["memory"] = _memory(stage.pid)
        notes = list(dict.fromkeys(note for stage in used for note in stage.about["notes"]))
        notes += self.broken.values()
        if self.failed:
            notes.append("not everything could be loaded: runs load the rest themselves")
        loaded = [path for stage in used for path in stage.about["files"]]
        ready = used is self.spare or used[-1].about["last"] or self.failed
        return {"version": 1, "ready": bool(ready and not self.broken), "stages": stages, "notes": notes, "loaded": loaded}

    # The end. -----------------------------------------------------------------------------------------------------------

    def _end_all(self):
        self.warm.end_runs()
        # Loading processes are killed; waiting ones end their runs and then themselves.
        if self.loading is not None:
            self.loading.kill()
        for stage in self.others():
            stage.socket.close()

    def unlink(self):
        try:
            os.unlink(self.warm.socket)
        except OSError:
            pass

    def stop(self):
        self.unlink()
        self._end_all()
        os._exit(0)

    def again(self):
        """A file loaded before the first stage has changed: this process restarts itself."""
        self.refuse_waiting("the process is started anew")
        self._end_all()
        for number, descriptor in enumerate(self.warm.saved):
            os.dup2(descriptor, number)
        if self.warm.life is not None:
            os.set_inheritable(self.warm.life, True)
        words = getattr(sys, "orig_argv", None)
        if not words:
            with open("/proc/self/cmdline", "rb") as file:
                words = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
        os.chdir(self.warm.directory)
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        os.execve(sys.executable, words, self.warm.environment)


def _forget_bytecode(path):
    """Deletes the bytecode of a file. Python identifies it by size and whole seconds, so after two
    saves within one second it may be that of the first."""
    folder, name = os.path.split(path)
    stem, extension = os.path.splitext(name)
    if extension != ".py":
        return
    cache = os.path.join(folder, "__pycache__")
    try:
        for found in os.listdir(cache):
            if found.startswith(stem + ".") and found.endswith(".pyc"):
                os.unlink(os.path.join(cache, found))
    except OSError:
        pass


def _wrong(path):
    """Returns the error in a changed file, if it is visible without running it."""
    if not path.endswith(".py"):
        return None
    try:
        with open(path, "rb") as file:
            compile(file.read(), path, "exec", dont_inherit=True)
    except OSError:
        return None
    except (SyntaxError, ValueError) as problem:
        return "%s, line %s: %s" % (path, getattr(problem, "lineno", "?"), getattr(problem, "msg", problem))
    return None


def _memory(pid):
    """Returns the memory of a process in bytes, with its proportional share of shared pages."""
    try:
        with open("/proc/%d/smaps_rollup" % pid, encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


