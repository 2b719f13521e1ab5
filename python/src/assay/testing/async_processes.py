"""A fake for programs started by `asyncio`: `create_subprocess_exec` and `create_subprocess_shell`.
`processes.py` installs it together with that of `subprocess`."""

from __future__ import annotations

import asyncio
import asyncio.subprocess
import subprocess
from typing import Any, Iterable

from .children import number
from .ended import Ended, ended, in_form
from .fakes import Fake
from .replace import _StandIn

_PIPE = subprocess.PIPE


class FakeInput:
    """The standard input of a faked program: stores written data in `written`."""

    def __init__(self) -> None:
        self.written: bytes = b""
        self._closing = False

    def write(self, data: bytes) -> None:
        """Stores the data."""
        self.written += data

    def writelines(self, pieces: Iterable[bytes]) -> None:
        """Stores all items."""
        self.write(b"".join(pieces))

    def can_write_eof(self) -> bool:
        """Returns True."""
        return True

    def close(self) -> None:
        """Closes the stream."""
        self._closing = True

    write_eof = close

    def is_closing(self) -> bool:
        """Whether it was closed."""
        return self._closing

    async def drain(self) -> None:
        """Yields to other tasks."""
        await asyncio.sleep(0)

    async def wait_closed(self) -> None:
        """Yields to other tasks."""
        await asyncio.sleep(0)


class FakeAsyncProcess:
    """The result of `asyncio.create_subprocess_exec`: a program that has already ended. Its output
    is read like that of a real one."""

    def __init__(self, how: Ended, options: dict[str, Any]) -> None:
        out, err = in_form(how.stdout, False, "utf-8"), in_form(how.stderr, False, "utf-8")
        if options.get("stderr") == subprocess.STDOUT:
            out += err
        limit = options.get("limit", 2**16)
        self.pid: int = number()
        self.returncode: int | None = None
        self._status = how.returncode
        self.stdin: FakeInput | None = FakeInput() if options.get("stdin") == _PIPE else None
        self.stdout: asyncio.StreamReader | None = _reader(out, limit) if options.get("stdout") == _PIPE else None
        self.stderr: asyncio.StreamReader | None = _reader(err, limit) if options.get("stderr") == _PIPE else None

    async def wait(self) -> int:
        """Yields to other tasks, and returns the exit status."""
        await asyncio.sleep(0)
        self.returncode = self._status
        return self.returncode

    async def communicate(self, input: bytes | None = None) -> tuple[bytes | None, bytes | None]:
        """Returns the unread rest of both outputs."""
        if self.stdin is not None:
            self.stdin.write(input or b"")
            self.stdin.close()
        out = await self.stdout.read() if self.stdout else None
        err = await self.stderr.read() if self.stderr else None
        await self.wait()
        return out, err

    def send_signal(self, signal: int) -> None:
        """Does nothing: the program has ended."""

    def terminate(self) -> None:
        """Does nothing: the program has ended."""

    kill = terminate


def _reader(text: bytes, limit: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit)
    reader.feed_data(text)
    reader.feed_eof()
    return reader


def asyncio_members(fake: Fake) -> dict[str, dict[str, object]]:
    """Returns the replacements of the members of `asyncio` and `asyncio.subprocess`; calls are
    recorded by `fake`."""

    async def start(args: object, options: dict[str, Any]) -> FakeAsyncProcess:
        for name in ("text", "universal_newlines", "encoding", "errors"):
            if options.get(name):
                raise ValueError(f"programs that asyncio starts give bytes: it refuses `{name}={options[name]!r}`")
        process = FakeAsyncProcess(ended(fake.called(0, args, **options)), options)
        await asyncio.sleep(0)  # Other tasks get their turn, as with a real start.
        return process

    async def create_subprocess_exec(program: Any, *args: Any, **options: Any) -> FakeAsyncProcess:
        return await start([program, *args], options)

    async def create_subprocess_shell(cmd: Any, **options: Any) -> FakeAsyncProcess:
        return await start(cmd, options)

    starters: dict[str, object] = {
        "create_subprocess_exec": create_subprocess_exec,
        "create_subprocess_shell": create_subprocess_shell,
    }
    beneath = _StandIn(asyncio.subprocess, starters)
    return {"asyncio": {**starters, "subprocess": beneath}, "asyncio.subprocess": starters}
