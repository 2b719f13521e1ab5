"""A preloaded process and its client: a plain client of the protocol
(docs/internals/preloading.md)."""

import array
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

import suites

WITHIN = 60


class Run:
    """A requested run."""

    def __init__(self, connection, out):
        self.connection = connection
        self.lines = connection.makefile()
        self.out = out
        self.answers = []

    def answer(self):
        """Returns the next line, or None at the end."""
        line = self.lines.readline()
        if line:
            self.answers.append(json.loads(line))
        return self.answers[-1] if line else None

    def close(self):
        self.lines.close()
        self.connection.close()

    @property
    def pid(self):
        return (self.answers[0] if self.answers else self.answer())["pid"]

    def end(self):
        """Returns how the run ended, and its output."""
        while self.answer() is not None:
            pass
        self.out.seek(0)
        return self.answers[-1] if self.answers else None, self.out.read().decode()


class Preloaded:
    """A process that was started in order to be forked. `command` follows `python` on its command
    line."""

    def __init__(self, folder, command, project, **variables):
        self.folder, self.project, self.variables = folder, project, variables
        self.path = str(folder / "socket")
        self.log = folder / "log"
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "PYTEST_", "COV"))}
        self.env.update(variables, PYTHONDONTWRITEBYTECODE="1")
        life, self.life = os.pipe()
        env = {
            **self.env,
            "PYTHONPATH": os.pathsep.join([str(suites.HOOKS / "warm"), *filter(None, [variables.get("PYTHONPATH")])]),
            "ASSAY_WARM": "path:" + self.path,
            "ASSAY_WARM_ROOT": "path:%s" % project,
            "ASSAY_WARM_SEEN": "path:%s" % (folder / "seen"),
            "ASSAY_WARM_LIFE": str(life),
        }
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, *command],
                cwd=project,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[life],
                # Tests may run in the background of a shell, where this signal is ignored, also by
                # all child processes.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
        os.close(life)

    def until(self, condition, what):
        end = time.monotonic() + WITHIN
        while True:
            found = condition()
            if found:
                return found
            assert time.monotonic() < end, f"{what}: {self.log.read_text()}"
            time.sleep(0.005)

    def ready(self):
        self.until(lambda: os.path.exists(self.path) or self.process.poll() is not None, "is never ready")
        assert self.process.poll() is None, self.log.read_text()
        return self

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(WITHIN)
        connection.connect(self.path)
        return connection

    def ask(self, **message):
        with self.connect() as connection:
            connection.sendall(json.dumps(message).encode() + b"\n")
            line = connection.makefile().readline()
        return json.loads(line) if line else None

    def state(self):
        return self.ask(state=True)

    def loaded(self):
        return {os.path.relpath(path, self.project) for path in self.state()["loaded"]}

    def begin(self, argv=None, *, only=None, cwd=None, env=None, streams=None):
        out = tempfile.TemporaryFile()
        connection = self.connect()
        with open(os.devnull) as empty:
            for stream in streams or (empty, out, out):
                number = stream if isinstance(stream, int) else stream.fileno()
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [number]))]
                connection.sendmsg([b"x"], rights)
        request = {"env": {**self.env, **(env or {})}, "cwd": str(cwd or self.project)}
        if argv is not None:
            request["argv"] = argv
        if only is not None:
            request["only"] = only
        connection.sendall(json.dumps({"run": request}).encode() + b"\n")
        return Run(connection, out)

    def run(self, *args, **options):
        return self.begin(*args, **options).end()

    def change(self, name, text):
        (self.project / name).write_text(text)
        return self.ask(changed=[str(self.project / name)])["stage"]

    def improved(self, what):
        """Waits until the recorded modules of earlier runs are loaded as well."""
        self.until(lambda: what in self.loaded(), f"{what} is never loaded")

    def alive(self):
        """Returns the remaining processes of it."""
        found = []
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError):
                with open(f"/proc/{int(name)}/environ", "rb") as file:
                    if self.path.encode() in file.read():
                        found.append(int(name))
        return [number for number in found if state_of(number) != "Z"]

    def end(self):
        with contextlib.suppress(OSError):
            os.close(self.life)
        self.process.wait(WITHIN)


def state_of(number):
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"
