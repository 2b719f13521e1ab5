"""A fake for `subprocess`, and its counterpart in `asyncio`: no program is started, and its output
is scripted."""

from __future__ import annotations

import inspect
import io
import subprocess
from typing import Any

from .async_processes import asyncio_members
from .children import members_of_os, number
from .clock import Clock
from .ended import Ended, ended, in_form
from .fakes import _MANY, Fake, Results


class FakeProcess:
    """The result of `Popen`: a program that has already ended."""

    def __init__(self, args: Any, how: Ended, options: dict[str, Any]) -> None:
        self._text = bool(
            options.get("text") or options.get("universal_newlines") or options.get("encoding") or options.get("errors")
        )
        encoding = options.get("encoding") or "utf-8"
        both = options.get("stderr") == subprocess.STDOUT
        out = in_form(how.stdout, self._text, encoding)
        err = in_form(how.stderr, self._text, encoding)
        if both:
            out = out + err
        make: Any = io.StringIO if self._text else io.BytesIO
        piped = subprocess.PIPE
        self.args: Any = args
        self.pid: int = number()
        self.returncode: int | None = None
        self._status = how.returncode
        self.stdout: Any = make(out) if options.get("stdout") == piped else None
        self.stderr: Any = make(err) if options.get("stderr") == piped else None
        self.stdin: Any = make() if options.get("stdin") == piped else None

    def wait(self, timeout: float | None = None) -> int:
        """Returns the exit status."""
        self.returncode = self._status
        return self.returncode

    def poll(self) -> int:
        """Returns the exit status, since it has ended."""
        return self.wait()

    def communicate(self, input: object = None, timeout: float | None = None) -> tuple[Any, Any]:
        """Returns the unread rest of both outputs."""
        out = self.stdout.read() if self.stdout else None
        err = self.stderr.read() if self.stderr else None
        self.wait()
        return out, err

    def send_signal(self, signal: int) -> None:
        """Does nothing: the program has ended."""

    def terminate(self) -> None:
        """Does nothing: the program has ended."""

    kill = terminate

    def __enter__(self) -> FakeProcess:
        return self

    def __exit__(self, kind: object, problem: object, trace: object) -> None:
        for stream in (self.stdout, self.stderr, self.stdin):
            if stream:
                stream.close()
        self.wait()


def fake_run(target: object, *, results: Results = None, limit: int = _MANY, unused: str = "fail") -> Fake:
    """No program is started: `run`, `call`, `check_call`, `check_output`, `getoutput`,
    `getstatusoutput` and `Popen` of `subprocess`, `create_subprocess_exec` and
    `create_subprocess_shell` of `asyncio`, `popen`, `posix_spawn`, `spawnv`, `execv` and `fork` of
    `os` with the waits for them, and `fork` and `spawn` of `pty`, in a module; or the method `run`
    of a class or an object. All are recorded with their arguments as in `Popen`: a list, or the
    text for the shell; a fork as "fork", after which the code continues as the parent. `execv` and
    its variants raise SystemExit with the program's status.

    Each result of the script is an exit status, the program's output (with status 0), a tuple
    `(status, stdout, stderr)`, a `CompletedProcess`, or an exception such as `FileNotFoundError`;
    or `results` is a function of the call's arguments. Without a script programs succeed and print
    nothing. The arguments `check`, `capture_output` and `text` are respected.
    """
    fake = Fake("run", target, results, limit, Clock(), unused)

    def popen(args: Any, *positional: Any, **options: Any) -> FakeProcess:
        return FakeProcess(args, ended(fake.called(0, args, *positional, **options)), options)

    def run(
        args: Any,
        *positional: Any,
        input: Any = None,
        capture_output: bool = False,
        timeout: float | None = None,
        check: bool = False,
        **options: Any,
    ) -> subprocess.CompletedProcess[Any]:
        recorded = dict(options)
        for key, value, unset in (
            ("input", input, None),
            ("capture_output", capture_output, False),
            ("timeout", timeout, None),
            ("check", check, False),
        ):
            if value != unset:
                recorded[key] = value
        if capture_output:
            options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process = FakeProcess(args, ended(fake.called(0, args, *positional, **recorded)), options)
        out, err = process.communicate()
        status = process.wait()
        if check and status:
            raise subprocess.CalledProcessError(status, args, out, err)
        return subprocess.CompletedProcess(args, status, out, err)

    def call(args: Any, *positional: Any, **options: Any) -> int:
        return run(args, *positional, **options).returncode

    def check_call(args: Any, *positional: Any, **options: Any) -> int:
        return run(args, *positional, check=True, **options).returncode

    def check_output(args: Any, *positional: Any, **options: Any) -> Any:
        return run(args, *positional, stdout=subprocess.PIPE, check=True, **options).stdout

    def getstatusoutput(cmd: Any, **options: Any) -> tuple[int, str]:
        done = run(cmd, shell=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        return done.returncode, done.stdout[:-1] if done.stdout[-1:] == "\n" else done.stdout

    def getoutput(cmd: Any, **options: Any) -> str:
        return getstatusoutput(cmd, **options)[1]

    fake._members = {
        "subprocess": {
            "run": run,
            "call": call,
            "check_call": check_call,
            "check_output": check_output,
            "getoutput": getoutput,
            "getstatusoutput": getstatusoutput,
            "Popen": popen,
        },
        **members_of_os(fake),
        **asyncio_members(fake),
    }

    async def run_async(args: Any, *positional: Any, **options: Any) -> subprocess.CompletedProcess[Any]:
        return run(args, *positional, **options)

    own = inspect.getattr_static(target, "run", None)
    own = own.__func__ if isinstance(own, (staticmethod, classmethod)) else own
    fake._function = run_async if inspect.iscoroutinefunction(own) else run
    return fake
