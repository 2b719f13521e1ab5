"""A fake of `open`: no file is read or written; contents are kept in memory."""

from __future__ import annotations

import io
import os
import types
from typing import Any, Mapping

from .clock import Clock
from .fakes import _MANY, Fake
from .replace import Replacement

#: The content of a faked file, or the exception raised by opening it.
Content = Any


class FakeFiles(Fake):
    """The files of one module by their paths, in `files`. Comparing it with a list compares the
    opened paths."""

    def __init__(self, target: object, files: Mapping[Any, Content], unused: str) -> None:
        super().__init__("open", target, None, _MANY, Clock(), unused)
        self.files: dict[str, Content] = {os.fspath(path): content for path, content in files.items()}


def fake_open(target: object, files: Mapping[Any, Content] | None = None, *, unused: str = "fail") -> FakeFiles:
    """No file is opened: `open` and `io.open` in a module read from `files`, which maps paths to a
    text, bytes, or an exception to raise. Written data is in `files` of the result once the file is
    closed. Reading a path that is missing raises FileNotFoundError, as usual."""
    fake = FakeFiles(target, files or {}, unused)

    def opened(
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        if isinstance(file, int):
            return io.open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        path = os.fspath(file)
        fake.called(None, path, *([] if mode == "r" else [mode]))
        content = fake.files.get(path)
        if isinstance(content, BaseException) or (isinstance(content, type) and issubclass(content, BaseException)):
            raise content
        if path not in fake.files and not set(mode) & set("wax"):
            raise FileNotFoundError(2, "No such file or directory", path)
        if "x" in mode and path in fake.files:
            raise FileExistsError(17, "File exists", path)
        before: Any = b"" if content is None or "w" in mode else content
        if isinstance(before, str):
            before = before.encode(encoding or "utf-8")
        raw = _Kept(fake.files, path, before, text="b" not in mode, writes=bool(set(mode) & set("wax+")), encoding=encoding)
        if "a" in mode:
            raw.seek(0, io.SEEK_END)
        return raw if "b" in mode else io.TextIOWrapper(raw, encoding or "utf-8", errors, newline)

    fake._members = {"builtins": {"open": opened}, "io": {"open": opened}}
    fake._function = opened

    def also(replacement: Replacement, module: types.ModuleType) -> bool:
        if "open" not in vars(module):
            replacement.set(module, "open", opened)
        return True

    fake._also = also
    return fake


class _Kept(io.BytesIO):
    def __init__(self, files: dict[str, Content], path: str, before: bytes, text: bool, writes: bool, encoding: str | None) -> None:
        super().__init__(before)
        self.name = path
        self._kept = files
        self._text = text
        self._writes = writes
        self._encoding = encoding or "utf-8"
        if writes:
            self._keep()

    def _keep(self) -> None:
        value = self.getvalue()
        self._kept[self.name] = value.decode(self._encoding) if self._text else value

    def close(self) -> None:
        """Stores the written data."""
        if self._writes and not self.closed:
            self._keep()
        super().close()
