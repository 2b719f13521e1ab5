"""A fake of `subprocess`, and of its like in `asyncio`: no program is started, and what it would have said is scripted."""

from __future__ import annotations

import inspect
import io
import subprocess

from .async_processes import asyncio_members
from .clock import Clock
from .ended import Ended, ended, in_form
from .fakes import _MANY, Fake


class FakeProcess:
    """What `Popen` gives: a program that has ended already."""

    def __init__(self, args, how: Ended, options: dict) -> None:
        self._text = bool(
            options.get("text") or options.get("universal_newlines") or options.get("encoding") or options.get("errors")
        )
        encoding = options.get("encoding") or "utf-8"
        both = options.get("stderr") == subprocess.STDOUT
        out = in_form(how.stdout, self._text, encoding)
        err = in_form(how.stderr, self._text, encoding)
        if both:
            out = out + err
        make = io.StringIO if self._text else io.BytesIO
        piped = subprocess.PIPE
        self.args = args
        self.pid = 0
        self.returncode: int | None = None
        self._status = how.returncode
        self.stdout = make(out) if options.get("stdout") == piped else None
        self.stderr = make(err) if options.get("stderr") == piped else None
        self.stdin = make() if options.get("stdin") == piped else None

    def wait(self, timeout=None) -> int:
        self.returncode = self._status
        return self.returncode

    poll = wait

    def communicate(self, input=None, timeout=None):
        out = self.stdout.read() if self.stdout else None
        err = self.stderr.read() if self.stderr else None
        self.wait()
        return out, err

    def send_signal(self, signal) -> None:
        """Does nothing: the program has ended."""

    def terminate(self) -> None:
        """Does nothing: the program has ended."""

    kill = terminate

    def __enter__(self) -> FakeProcess:
        return self

    def __exit__(self, kind, problem, trace) -> None:
        for stream in (self.stdout, self.stderr, self.stdin):
            if stream:
                stream.close()
        self.wait()


def fake_run(target, *, results=None, limit: int = _MANY) -> Fake:
    """No program is started: `run`, `call`, `check_call`, `check_output`, `getoutput`, `getstatusoutput` and `Popen` of `subprocess`, and
    `create_subprocess_exec` and `create_subprocess_shell` of `asyncio`, in a module; or the method `run` of a class or an object. All are
    recorded with their arguments as `Popen` gets them: a list, or the text for the shell.

    Each result of the script is an exit status, what the program prints (status 0), a tuple `(status, stdout, stderr)`, a
    `CompletedProcess`, or an exception such as `FileNotFoundError`; or `results` is a function of the call's arguments. Without a
    script programs succeed and print nothing. What the arguments ask for holds: `check`, `capture_output`, `text`.
    """
    fake = Fake("run", target, results, limit, Clock())

    def popen(args, *positional, **options):
        return FakeProcess(args, ended(fake.called(0, args, *positional, **options)), options)

    def run(args, *positional, input=None, capture_output=False, timeout=None, check=False, **options):
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
        if check and process.returncode:
            raise subprocess.CalledProcessError(process.returncode, args, out, err)
        return subprocess.CompletedProcess(args, process.returncode, out, err)

    def call(args, *positional, **options):
        return run(args, *positional, **options).returncode

    def check_call(args, *positional, **options):
        return run(args, *positional, check=True, **options).returncode

    def check_output(args, *positional, **options):
        return run(args, *positional, stdout=subprocess.PIPE, check=True, **options).stdout

    def getstatusoutput(cmd, **options):
        done = run(cmd, shell=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        return done.returncode, done.stdout[:-1] if done.stdout[-1:] == "\n" else done.stdout

    def getoutput(cmd, **options):
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
        **asyncio_members(fake),
    }

    async def run_async(args, *positional, **options):
        return run(args, *positional, **options)

    own = inspect.getattr_static(target, "run", None)
    own = own.__func__ if isinstance(own, (staticmethod, classmethod)) else own
    fake._function = run_async if inspect.iscoroutinefunction(own) else run
    return fake
