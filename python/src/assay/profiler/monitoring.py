"""Watches functions in place, using `sys.monitoring` (Python 3.12 and later, with the accelerator),
without replacing anything.

So it covers cases that a wrapper cannot: functions that were taken out of their class or module
before, and classes that cannot be modified. It covers only Python code, and all calls of it, from
any class. This module decides which code is watched and when events are enabled; the events are
handled in `csrc/monitor.c`.

Exception events can only be enabled for the whole process. They stay enabled as long as anything is
patched in this way, since every change makes the interpreter instrument all code again.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import TYPE_CHECKING, Any, Mapping

from . import engine, patching, wrappers

if TYPE_CHECKING:
    from .._types import Function, Target

#: Numbers of tools for `sys.monitoring`. These are unassigned, and the last one is meant for
#: profilers: `cProfile` uses it.
TOOLS = (4, 3, 2)

_tool: int | None = None
_watches: set[Watch] = set()
#: By address, since codes with the same content are equal: the code, and how often it was
#: requested.
_held: dict[int, list[Any]] = {}
#: `sys.monitoring`, from Python 3.12 on.
_monitoring: Any = getattr(sys, "monitoring", None)


def check_available() -> None:
    """Raises RuntimeError if there is no `sys.monitoring`, or no accelerator to handle its
    events."""
    if engine.monitor is None:
        lacking = "is Python " + ".".join(map(str, sys.version_info[:3]))
        if sys.version_info >= (3, 12):
            lacking = "has no accelerator (ASSAY_PURE is set, or there was no C compiler when it was installed)"
        raise RuntimeError(
            f'by="monitoring" needs Python 3.12 or later and the accelerator, and this {lacking}: leave it out, and wrappers are used'
        )


def tool() -> int:
    """Returns the tool id of this package, acquiring one if necessary. Raises RuntimeError if all
    are taken."""
    global _tool
    if _tool is None:
        monitoring = _monitoring
        for number in TOOLS:
            if monitoring.get_tool(number) is None:
                monitoring.use_tool_id(number, "assay")
                break
        else:
            holders = ", ".join(f"{number}: {monitoring.get_tool(number)}" for number in TOOLS)
            raise RuntimeError(
                f"every number for tools of sys.monitoring that a profiler may use is taken ({holders}): end one of these tools, "
                'or patch without by="monitoring"'
            )
        _tool = number
        for event, callback in _callbacks():
            monitoring.register_callback(_tool, event, callback)
        events = monitoring.events
        monitoring.set_events(_tool, events.PY_UNWIND | events.PY_THROW)
    return _tool


def _callbacks() -> list[tuple[int, Function]]:
    events, c = _monitoring.events, engine.monitor
    return [
        (events.PY_START, c.on_start),
        (events.PY_RESUME, c.on_resume),
        (events.PY_THROW, c.on_resume),
        (events.PY_YIELD, c.on_yield),
        (events.PY_RETURN, c.on_return),
        (events.PY_UNWIND, c.on_unwind),
    ]


def _give_back() -> None:
    global _tool
    number, _tool = _tool, None
    if number is not None and _monitoring.get_tool(number) == "assay":
        _monitoring.set_events(number, 0)
        for event, _callback in _callbacks():
            _monitoring.register_callback(number, event, None)
        _monitoring.free_tool_id(number)


def watch(code: types.CodeType, label: int) -> None:
    """Counts calls of this code under the label of this number from now on."""
    number = tool()
    held = _held.setdefault(id(code), [code, 0])
    held[1] += 1
    if held[1] == 1:
        events = _monitoring.events
        wanted = events.PY_START | events.PY_RETURN
        if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            wanted |= events.PY_RESUME | events.PY_YIELD
        engine.monitor.watch(code, label)
        _monitoring.set_local_events(number, code, wanted)


def unwatch(code: types.CodeType) -> None:
    """Stops watching it. Open calls are abandoned."""
    held = _held[id(code)]
    held[1] -= 1
    if held[1] == 0:
        del _held[id(code)]
        _monitoring.set_local_events(tool(), code, 0)
        engine.monitor.unwatch(code)


def give_back_if_idle() -> None:
    """Disables exception events if nothing is patched in this way."""
    if not _watches and not _held:
        _give_back()


def functions_of(target: Target, name: str) -> list[types.FunctionType]:
    """Returns the Python functions under this name. Raises TypeError, with a suggestion, if it is
    something else."""
    found, own = patching.look_up(target, name)
    where = f"`{name}` of {patching.describe(target)}"
    if not own:
        owner = next(kind for kind in target.__mro__ if name in vars(kind))
        raise TypeError(
            f"{where} is inherited from `{owner.__qualname__}`, and sys.monitoring tells of a function for whichever class it is called: "
            f'patch it in `{owner.__qualname__}`, or here without by="monitoring"'
        )
    if isinstance(found, (staticmethod, classmethod)):
        parts = [found.__func__]
    elif type(found) is property:
        parts = [part for part in (found.fget, found.fset, found.fdel) if part]
    elif type(found) is functools.cached_property:
        parts = [found.func]
    else:
        parts = [found]
    functions = [wrappers.original_of(part) for part in parts]
    for function in functions:
        if not isinstance(function, types.FunctionType):
            raise TypeError(
                f"{where} is a `{type(function).__name__}` and no function of Python, of which alone sys.monitoring tells: "
                'patch it without by="monitoring"'
            )
    return functions


class Watch:
    """One name of one target, watched by `sys.monitoring`: the counterpart of `patching.Patch`."""

    by = "monitoring"
    own = True

    name: str
    functions: list[types.FunctionType]
    installed: bool

    def __init__(self, target: Target, name: str, label: str, index: int) -> None:
        check_available()
        self.target = target
        self.name = patching.mangled(target, name)
        self.label = label
        self.index = index
        self.installed = False
        #: Whether the last search for it failed.
        self.lost: bool = False
        #: The members of the target, and the expected object while it is watched.
        self.members: Mapping[str, Any] = vars(target)
        self.standing: Any = None
        self._codes: list[types.CodeType] = []
        self._shared: dict[types.FunctionType, tuple[types.CodeType, types.CodeType]] = {}
        self.functions = functions_of(target, self.name)

    def install(self) -> None:
        """Starts counting the current object under this name."""
        if self.installed:
            return
        _watches.add(self)
        self.functions = functions_of(self.target, self.name)
        self.standing = self.members.get(self.name)
        for function in self.functions:
            watch(self._own_code(function), self.index)
            self._codes.append(function.__code__)
        self.installed = True

    def settle(self) -> str | None:
        """Watches the current object under this name. Never raises: returns a message if it cannot
        be watched, None otherwise."""
        if self.installed and self.members.get(self.name) is self.standing:
            return None
        self.uninstall()
        try:
            self.install()
        except (AttributeError, TypeError, RuntimeError) as problem:
            known, self.lost = self.lost, True
            return None if known else f"not counted as {self.label!r} any more: {problem}"
        self.lost = False
        return None

    def uninstall(self) -> str | None:
        """Stops counting."""
        self.installed = False
        while self._codes:
            unwatch(self._codes.pop())
        return None

    def remove(self) -> None:
        """Restores the original state."""
        self.uninstall()
        for function, (before, own) in self._shared.items():
            if function.__code__ is own and id(own) not in _held:
                function.__code__ = before
        self._shared.clear()
        _watches.discard(self)
        give_back_if_idle()

    def _own_code(self, function: types.FunctionType) -> types.CodeType:
        # Functions created within another one, such as those of a decorator, share their code.
        code: Any = function.__code__
        if "<locals>" in code.co_qualname and id(code) not in _held and function not in self._shared:
            own = code.replace()
            function.__code__ = own
            self._shared[function] = code, own
        return function.__code__
