"""A fake for processes started by `os` and `pty`, and the waits for them: `popen`, `posix_spawn`,
`spawnv`, `fork`, `execv`, `waitpid`. `processes.py` installs it together with that of
`subprocess`."""

from __future__ import annotations

import io
import itertools
import os
import sys
import threading
from typing import Any, Callable, NoReturn

from .ended import ended, in_form
from .fakes import Fake

#: Above the largest process id of Linux, so that it never refers to a real process.
_numbers = itertools.count((1 << 22) + 1)


def number() -> int:
    """Returns the process id of a faked program."""
    return next(_numbers)


class FakePipe(io.StringIO):
    """The result of `os.popen`: the output of a program that has ended, or a sink for its input,
    which is stored in `written`."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self._status = status
        self.written: str = ""

    def close(self) -> int | None:  # type: ignore[override]
        """Returns None for success, otherwise the status as in `os.wait`."""
        if not self.closed:
            self.written = self.getvalue()
        super().close()
        return _encoded(self._status) or None


def _encoded(status: int) -> int:
    """Encodes an exit status as in `os.waitpid`; a negative one is a signal."""
    return -status if status < 0 else (status & 0xFF) << 8


def members_of_os(fake: Fake) -> dict[str, dict[str, object]]:
    """Returns the replacements of the members of `os`, and of `pty` if it is loaded; starts are
    recorded by `fake`, waits are not. A faked `exec` ends the code as its program would end the
    process, by SystemExit."""
    children: dict[int, int] = {}
    lock = threading.Lock()

    def child(*args: Any, **options: Any) -> int:
        status = ended(fake.called(0, *args, **options)).returncode
        with lock:
            pid = number()
            children[pid] = status
        return pid

    def popen(cmd: str, mode: str = "r", buffering: int = -1) -> FakePipe:
        if mode not in ("r", "w"):
            raise ValueError("invalid mode %r" % mode)
        how = ended(fake.called(0, cmd))
        return FakePipe(in_form(how.stdout, True, "utf-8") if mode == "r" else "", how.returncode)

    def posix_spawn(path: Any, argv: Any, env: Any, **options: Any) -> int:
        return child(list(argv), **options)

    def fork() -> int:
        return child("fork")

    def forkpty() -> tuple[int, int]:
        return child("fork"), os.open(os.devnull, os.O_RDWR)

    def collected(pid: int) -> tuple[int, int] | None:
        with lock:
            if pid in (-1, 0) and children:
                pid = next(iter(children))
            pid = abs(pid)  # A group, here that of one process.
            status = children.pop(pid, None)
        return None if status is None else (pid, _encoded(status))

    def waitpid(pid: int, options: int, /) -> tuple[int, int]:
        return collected(pid) or os.waitpid(pid, options)

    def wait() -> tuple[int, int]:
        return collected(-1) or os.wait()

    def wait3(options: int) -> Any:
        found = collected(-1)
        return os.wait3(options) if found is None else (*found, _usage())

    def wait4(pid: int, options: int) -> Any:
        found = collected(pid)
        return os.wait4(pid, options) if found is None else (*found, _usage())

    def kill(pid: int, signal: int, /) -> None:
        if pid <= 1 << 22:
            os.kill(pid, signal)

    def killpg(pgid: int, signal: int, /) -> None:
        if pgid <= 1 << 22:
            os.killpg(pgid, signal)

    def getpgid(pid: int) -> int:
        return os.getpgid(pid) if pid <= 1 << 22 else pid

    def spawnve(mode: int, file: Any, args: Any, env: Any = None) -> int:
        pid = child(list(args))
        return pid if mode == os.P_NOWAIT else children.pop(pid)

    def spawnv(mode: int, file: Any, args: Any) -> int:
        return spawnve(mode, file, args)

    def execv(file: Any, args: Any, env: Any = None) -> NoReturn:
        raise SystemExit(ended(fake.called(0, list(args))).returncode)

    def execl(file: Any, *args: Any) -> NoReturn:
        execv(file, args)

    def execle(file: Any, *args: Any) -> NoReturn:
        execv(file, args[:-1])

    def spawnl(mode: int, file: Any, *args: Any) -> int:
        return spawnve(mode, file, args)

    def spawnle(mode: int, file: Any, *args: Any) -> int:
        return spawnve(mode, file, args[:-1])

    made: dict[str, Callable[..., Any]] = {
        "popen": popen,
        "posix_spawn": posix_spawn,
        "posix_spawnp": posix_spawn,
        "fork": fork,
        "forkpty": forkpty,
        "waitpid": waitpid,
        "wait": wait,
        "wait3": wait3,
        "wait4": wait4,
        "kill": kill,
        "killpg": killpg,
        "getpgid": getpgid,
        "spawnv": spawnv,
        "spawnvp": spawnv,
        "spawnve": spawnve,
        "spawnvpe": spawnve,
        "spawnl": spawnl,
        "spawnlp": spawnl,
        "spawnle": spawnle,
        "spawnlpe": spawnle,
        "execv": execv,
        "execvp": execv,
        "execve": execv,
        "execvpe": execv,
        "execl": execl,
        "execlp": execl,
        "execle": execle,
        "execlpe": execle,
    }
    members: dict[str, object] = {name: member for name, member in made.items() if hasattr(os, name)}
    if "pty" in sys.modules:

        def spawn(argv: Any, *_copying: Any) -> int:
            return _encoded(children.pop(child(argv)))

        return {"os": members, "pty": {"fork": forkpty, "spawn": spawn}}
    return {"os": members}


def _usage() -> Any:
    import resource

    return resource.getrusage(resource.RUSAGE_CHILDREN)
