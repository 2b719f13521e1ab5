"""Intercepts imports by the code of one module while it runs (`from time import sleep` within a
function). Import statements identify the importing code, so that one module can get a stand-in, and
all others the real module."""

from __future__ import annotations

import builtins
import sys
import threading
import types
from typing import Any, Callable

#: Maps a module to the one that the importing module receives.
Answer = Callable[[types.ModuleType], Any]

_lock = threading.RLock()
#: The answers for each importing module, by the address of its globals, in order.
_answers: dict[int, list[Answer]] = {}
_genuine: Any = None


def _import(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> Any:
    module = (_genuine or _original)(name, globals, locals, fromlist, level)
    if globals is None:
        globals = sys._getframe(1).f_globals  # `__import__("time")`, as a call.
    for answer in _answers.get(id(globals), ()):
        module = answer(module)
    return module


_original = builtins.__import__


def answer(module: types.ModuleType, how: Answer) -> Callable[[], None]:
    """From now on imports by the code of this module return the result of `how`. Returns a function
    that ends it."""
    global _genuine
    place = id(vars(module))
    with _lock:
        _answers.setdefault(place, []).append(how)
        if builtins.__import__ is not _import:
            _genuine = builtins.__import__
            builtins.__import__ = _import

    def end() -> None:
        with _lock:
            _answers[place].remove(how)
            if not _answers[place]:
                del _answers[place]
            # If other code has replaced it in the meantime, theirs stays; without answers ours does nothing.
            if not _answers and builtins.__import__ is _import:
                builtins.__import__ = _genuine

    return end
