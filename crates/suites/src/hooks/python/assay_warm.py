"""A Python process that has loaded everything, and is forked for every run
(docs/internals/preloading.md). PYTEST_DONT_REWRITE

The process loads what the user's command loads, in that order, and stops at certain points: before
the first project file, before a file that changes often, and when pytest has read its options. A
process that waits at such a point is a stage. It is forked to continue loading up to the next
point, or to become a run, in which the same stack continues and ends as the command would.

The first stage is the root: it listens on the socket, keeps track of all stages, and passes runs to
the last one. This file defines stages and their messages; assay_warm_server.py is the root;
assay_warm_load.py determines what to load, and assay_warm_pytest.py where pytest waits.
"""

import _socket
import gc
import json
import os
import select
import signal
import struct
import sys
import time

VARIABLES = ("ASSAY_WARM", "ASSAY_WARM_ROOT", "ASSAY_WARM_SEEN", "ASSAY_WARM_LIFE")
FOREIGN = frozenset(
    ("site-packages", "dist-packages", "node_modules", ".venv", "venv", "gems", ".git", "__pycache__", ".pytest_cache")
)
# Programs that replace themselves with the actual program.
LAUNCHERS = ("poetry", "pipenv", "pdm", "hatch", "tox", "nox", "uv")
SENT = struct.Struct("i")

# The state of this process, if it is kept warm.
warm = None


class Warm:
    """This process: it loads, waits as a stage, or is a run."""

    def __init__(self, here):
        value = {name: os.environ.get(name, "") for name in VARIABLES}
        self.here = here
        self.socket = value["ASSAY_WARM"][len("path:") :]
        root = value["ASSAY_WARM_ROOT"]
        self.root = os.path.abspath(root[len("path:") :] if root.startswith("path:") else ".")
        self.roots = tuple({self.root + os.sep: None, os.path.realpath(self.root) + os.sep: None})
        seen = value["ASSAY_WARM_SEEN"]
        self.seen = seen[len("path:") :] if seen.startswith("path:") else None
        self.life = int(value["ASSAY_WARM_LIFE"]) if value["ASSAY_WARM_LIFE"].isdigit() else None
        if self.life is not None:
            os.set_inheritable(self.life, False)
        # Needed to restart the process in place.
        self.environment = dict(os.environ)
        self.saved = [_high(number) for number in (0, 1, 2)]
        self.directory = os.getcwd()
        self.begun = time.monotonic()
        self.control = None  # The socket to the root; None in the root itself.
        self.server = None
        self.request = None  # Only in a run.
        self.children = {}  # By process id: the connection that waits for its end.
        self.loads = True
        self.files = []  # Project files loaded or opened since the last stage.
        self.known = set()  # Those of all stages.
        self.hot = frozenset()
        self.phase = "framework"
        self.pytest = None
        self.main = None
        self.notes = []
        self.failures = []
        self.siblings = {}
        self.engines = []
        self.given = {}
        self.plugins = []
        self.calls = None
        self.left = frozenset()  # Modules that must not be preloaded.
        self.printed = None
        self.hooks = {}
        self.compiled = None
        self.entered = set()  # Functions of the project that were entered while loading.
        self.preloaded = set()  # Files that were loaded only because an earlier run did so.
        self.paths = {}
        self.run_ended = False

    # Files of the project. ----------------------------------------------------------------------------------------------

    def of_project(self, name):
        """Returns the path of a project file, otherwise None."""
        try:
            return self.paths[name]
        except KeyError:
            found = self.paths[name] = self._of_project(name)
            return found

    def _of_project(self, name):
        if not isinstance(name, str) or not name or name[0] == "<" or "/site-packages/" in name:
            return None
        path = os.path.normpath(os.path.join(self.directory, name))
        if not path.startswith(self.roots):
            if not FOREIGN.isdisjoint(path.split(os.sep)):
                return None
            path = os.path.realpath(path)
        for root in self.roots:
            if path.startswith(root):
                below = path[len(root) :]
                # One name per file, whichever path it was reached by.
                return os.path.join(self.root, below) if FOREIGN.isdisjoint(below.split(os.sep)) else None
        return None

    def note_file(self, path):
        if path is not None and path not in self.known:
            self.known.add(path)
            self.files.append(path)

    # The beginning of the process. --------------------------------------------------------------------------------------

    def audit(self, event, args):
        """Handles audit events. Before the program starts, processes other than pytest's wait
        here."""
        if not self.loads:
            return
        if event == "open":
            name, _, flags = args
            if isinstance(name, str) and not flags & os.O_WRONLY and not name.endswith(".pyc"):
                self.note_file(self.of_project(name))
        elif event in ("cpython.run_file", "cpython.run_module", "cpython.run_command") and self.main is None:
            self.main = (event[len("cpython.run_") :], str(args[0]))
            try:
                self.begin()
            except Exception as problem:
                if self.request is not None:
                    raise
                self.loads = False
                print("assay: this process can't be preloaded: %s" % problem, file=sys.stderr)

    def begin(self):
        kind, name = self.main
        base = os.path.basename(name)
        if kind == "file" and base in LAUNCHERS or kind == "module" and name in LAUNCHERS:
            self.loads = False
            return
        # Programs that are started while loading must not wait.
        for variable in VARIABLES:
            os.environ.pop(variable, None)
        paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.abspath(path) != self.here]
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
        if not os.environ["PYTHONPATH"]:
            del os.environ["PYTHONPATH"]
        # The program itself runs again in each run.
        self.files.clear()
        self.known.clear()
        self.given = dict(os.environ)
        self.has_own_path = not getattr(sys.flags, "safe_path", False)
        if self.life is not None:
            self._end_with_life()
        loading = self.sibling("assay_warm_load")
        loading.watch(self)
        if kind == "module" and name in ("pytest", "py.test") or kind == "file" and base in ("pytest", "py.test"):
            self.pytest = self.sibling("assay_warm_pytest")
            self.pytest.prepare(self)
            return
        loading.load(self)

    def _end_with_life(self):
        """Ensures that a process that is stuck while loading ends when `assay` does, by a signal
        from the kernel."""
        import fcntl

        try:
            if os.getpgrp() != os.getpid():
                os.setpgid(0, 0)
            fcntl.fcntl(self.life, fcntl.F_SETOWN, -os.getpgrp())
            fcntl.fcntl(self.life, fcntl.F_SETFL, fcntl.fcntl(self.life, fcntl.F_GETFL) | os.O_ASYNC)
        except OSError:
            pass

    def sibling(self, name, modules=None):
        """Loads another of these files, without making it importable by the program. `modules` is
        where other files of this directory find it."""
        module = self.siblings.get(name)
        if module is None:
            from importlib.util import module_from_spec, spec_from_file_location

            spec = spec_from_file_location(name, os.path.join(os.path.dirname(self.here), name + ".py"))
            module = self.siblings[name] = module_from_spec(spec)
            if modules is not None:
                modules[name] = module
            spec.loader.exec_module(module)
        elif modules is not None:
            modules[name] = module
        return module

    # Stages. ------------------------------------------------------------------------------------------------------------

    def stage(self, name, last=False, natural=False):
        """Waits here as a stage. Returns in a process that continues loading, and in a run. `last`
        marks the stage from which runs are forked, `natural` the last one before modules that are
        only known from earlier runs."""
        if self.request is not None or not self.loads:
            return
        about = {
            "name": name,
            "pid": os.getpid(),
            "files": self.files,
            "seconds": round(time.monotonic() - self.begun, 4),
            "last": last,
            "natural": natural,
            "notes": self.notes + self.sibling("assay_warm_load").notes(self),
        }
        loading = self.sibling("assay_warm_load")
        loading.gather(self)
        if natural:
            # Only once: later stages are remade more often.
            loading.load_hooks(self)
        # Collections in processes that load further examine only new objects, and collections in
        # runs do not copy the pages of loaded objects.
        gc.freeze()
        self.loads = False
        # A waiting process ends by itself, after ending its runs.
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                pass
        try:
            if self.control is None:
                self.server = self.sibling("assay_warm_server").Server(self, about)
                self.server.serve()
            else:
                self.send(about)
                self.wait()
        except BrokenPipeError:
            os._exit(0)  # It was abandoned in the meantime.
        except Exception:
            # The error must not propagate to the callers below, which are unrelated and would
            # handle it as their own.
            import traceback

            traceback.print_exc(file=sys.__stderr__)
            sys.__stderr__.flush()
            os._exit(70)
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        if self.request is None:
            if self.life is not None and select.select([self.life], [], [], 0)[0]:
                os._exit(0)
            self.loads = True
            self.begun = time.monotonic()
            self.files, self.notes, self.failures = [], [], []

    def send(self, message):
        """Sends a message to the root."""
        self.control.sendall(json.dumps(message).encode() + b"\n")

    def wait(self):
        """Called in a stage other than the root: follows the root's instructions."""
        control = Lines(self.control)
        # A replaced stage waits for the end of its runs and begins no more.
        retired = False
        while True:
            readable = self.poll([self.control.fileno()])
            if retired and not any(connection is not None for connection in self.children.values()):
                os._exit(0)
            if self.run_ended:
                self.run_ended = False
                self.send({"ended": True})
            if self.life in readable:
                self.end_runs()
                os._exit(0)
            if self.control.fileno() not in readable:
                continue
            if not control.read():
                self.end_runs()
                os._exit(0)
            for message in control.lines():
                if "go" in message:
                    if self.go_on(message, *control.take(1)):
                        return
                elif "retire" in message:
                    retired = True
                    if not any(connection is not None for connection in self.children.values()):
                        os._exit(0)
                else:
                    self.send({"run": True})
                    *streams, connection = control.take(4)
                    if self.run(message["run"], streams, connection):
                        return

    def poll(self, descriptors, waits=None):
        """Waits for one of these descriptors, the end of `assay`, or the end of a child, which is
        reported."""
        poll = select.poll()
        if self.life is not None:
            poll.register(self.life, select.POLLIN)
        for descriptor in descriptors:
            poll.register(descriptor, select.POLLIN)
        asking = {}
        for number, connection in self.children.items():
            handle = _pidfd(number)
            if handle is not None:
                poll.register(handle, select.POLLIN)
            if connection is not None:
                # Watched only for being closed.
                poll.register(connection, 0)
                asking[connection] = number
        if self.children and not _PIDFD:
            waits = 5
        found = dict(poll.poll(waits))
        for connection in asking.keys() & found:
            # The client is gone.
            self.end_run(asking[connection])
        readable = found.keys() - asking.keys()
        for number in list(self.children):
            self.reap(number)
        return readable

    def reap(self, number):
        try:
            ended, status = os.waitpid(number, os.WNOHANG)
        except ChildProcessError:
            ended, status = number, 0
        if ended == 0:
            return
        connection = self.children.pop(number)
        handle = _handles.pop(number, None)
        if handle is not None:
            os.close(handle)
        if connection is not None:
            if os.WIFSIGNALED(status):
                answer(connection, {"signal": os.WTERMSIG(status)})
            else:
                answer(connection, {"exit": os.WEXITSTATUS(status)})
            os.close(connection)
            self.run_ended = True

    def end_runs(self):
        for number, connection in self.children.items():
            if connection is not None:
                self.end_run(number)

    def end_run(self, number):
        for kill in (os.killpg, os.kill):
            try:
                kill(number, signal.SIGKILL)
            except OSError:
                pass

    def forked(self):
        """Called in a child: closes the descriptors that its parent listens on, except those to
        keep."""
        for number, connection in self.children.items():
            if connection is not None:
                os.close(connection)
            handle = _handles.get(number)
            if handle is not None:
                os.close(handle)
        _handles.clear()
        self.children = {}
        if self.server is not None:
            self.server.forget()
            self.server = None
        elif self.control is not None:
            self.control.close()

    def go_on(self, message, descriptor):
        """Forks a child that continues loading. Returns true in the child."""
        number = os.fork()
        if number:
            self.children[number] = None
            os.close(descriptor)
            return False
        self.forked()
        self.control = _socket.socket(fileno=descriptor)
        self.control.settimeout(None)
        self.hot = frozenset(message.get("hot", ()))
        self.send({"pid": os.getpid()})
        return True

    def run(self, request, streams, connection):
        """Forks a child that becomes a run. Returns true in the child."""
        why = self.pytest.refusal(self, request) if self.pytest is not None else None
        try:
            number = os.fork() if why is None else None
        except OSError as problem:
            why = "it can't be forked: %s" % problem
        if why is not None:
            answer(connection, {"refused": why})
            for descriptor in (*streams, connection):
                os.close(descriptor)
            return False
        if number:
            self.children[number] = connection
            for descriptor in streams:
                os.close(descriptor)
            return False
        self.request = request
        os.setsid()
        # From now on it can be killed by its process group.
        answer(connection, {"pid": os.getpid()})
        self.forked()
        self.control = None
        os.close(connection)
        if self.life is not None:
            os.close(self.life)
        for descriptor in self.saved:
            os.close(descriptor)
        self.sibling("assay_warm_load").become(self, streams)
        return True


class Lines:
    """Lines of a stream, and the descriptors sent with them."""

    def __init__(self, socket):
        self.socket = socket
        self.data = b""
        self.descriptors = []

    def read(self):
        """Reads the available data; returns False at the end."""
        try:
            data, more, _, _ = self.socket.recvmsg(1 << 16, _socket.CMSG_SPACE(8 * SENT.size), _socket.MSG_CMSG_CLOEXEC)
        except OSError:
            return False
        for level, kind, content in more:
            if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
                whole = len(content) - len(content) % SENT.size
                self.descriptors += [number for (number,) in SENT.iter_unpack(content[:whole])]
        self.data += data
        return bool(data)

    def lines(self):
        """Returns the complete lines. Bytes sent with descriptors may precede a line."""
        while b"\n" in self.data:
            line, _, self.data = self.data.partition(b"\n")
            yield json.loads(line[max(line.find(b"{"), 0) :].decode("utf-8", "surrogateescape"))

    def take(self, number):
        """Returns this number of descriptors, in the order in which they arrived."""
        taken, self.descriptors = self.descriptors[:number], self.descriptors[number:]
        return taken


def send_with(socket, message, descriptors):
    """Sends a line with descriptors to a stage."""
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, b"".join(map(SENT.pack, descriptors)))]
    data = json.dumps(message).encode() + b"\n"
    sent = socket.sendmsg([data], rights)
    socket.sendall(data[sent:])


def answer(connection, message):
    """Sends a line to the client, if it is still there."""
    try:
        os.write(connection, json.dumps(message).encode() + b"\n")
    except OSError:
        pass


def _high(descriptor):
    import fcntl

    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 100)
    except OSError:
        return os.open(os.devnull, os.O_RDWR)


# Process file descriptors, which report the end of children.
_handles = {}
_PIDFD = hasattr(os, "pidfd_open")


def _pidfd(number):
    global _PIDFD
    if number not in _handles and _PIDFD:
        try:
            _handles[number] = os.pidfd_open(number)
        except ProcessLookupError:
            return None
        except OSError:
            _PIDFD = False
    return _handles.get(number)


def start(here):
    """`here` is the directory of the file that loads this one."""
    global warm
    warm = Warm(here)

    def hook(event, args):
        if warm.loads:
            warm.audit(event, args)

    hook.__cantrace__ = True
    sys.addaudithook(hook)
