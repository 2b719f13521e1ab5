"""Replaces names and restores them: the mechanics beneath the fakes and `assert_calls`.

The scope is one module, one class or one object, never the process. In a module all references to
the real object are replaced: `time` after `import time`, `sleep` after `from time import sleep`,
under any name; values held by its functions and objects (`held.py`), and imports at run time
(`imports.py`).
"""

from __future__ import annotations

import functools
import importlib
import inspect
import types
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Iterator, Protocol

from ..profiler import patching
from . import held, imports

if TYPE_CHECKING:
    from .._types import Function

_missing = object()


class _StandIn(types.ModuleType):
    """A module as seen by one other module: some members are replaced, all others are real."""

    def __init__(self, real: types.ModuleType, members: dict[str, Any]) -> None:
        super().__init__(real.__name__, real.__doc__)
        self.__dict__.update(members)
        self.__dict__["_assay_real"] = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_assay_real"], name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.__dict__["_assay_real"], name, value)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_assay_real"])


def real(thing: Any) -> Any:
    """Returns the real object behind a stand-in of this module, or a fake. Inspects only modules,
    classes and functions: reading attributes of other objects may have side effects."""
    while issubclass(type(thing), (types.ModuleType, type, types.FunctionType)):
        behind = vars(thing).get("_assay_real")
        if behind is None:
            break
        thing = behind
    return thing


def describe(target: object) -> str:
    """Returns the name of a module, a class or an object for messages."""
    if isinstance(target, (types.ModuleType, type)):
        return patching.describe(target)
    return f"this `{type(target).__name__}`"


class Replacement:
    """Replacements that are undone together, in reverse order, even after an exception."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []

    def set(self, target: object, name: str, value: object) -> None:
        """Sets an attribute until `undo`."""
        own = vars(target).get(name, _missing) if hasattr(target, "__dict__") else getattr(target, name, _missing)
        setattr(target, name, value)
        if own is _missing:
            self._undo.append(lambda: delattr(target, name))
        else:
            self._undo.append(lambda: setattr(target, name, own))

    def exchange(self, put: Callable[[], object], back: Callable[[], object]) -> None:
        """Installs a replacement, which `back` undoes."""
        put()
        self._undo.append(back)

    def undo(self) -> None:
        """Restores everything."""
        while self._undo:
            self._undo.pop()()


#: Makes further replacements, such as a method for the calls of one module; returns whether there
#: is anything to replace.
Also = Callable[[Replacement, types.ModuleType], bool]


def put(
    target: object, members: dict[str, dict[str, object]], method: str, fake: Any, also: Also | None = None
) -> Replacement:
    """Installs fakes. `members` maps names of modules to their replaced members, such as `{"time":
    {"sleep": fake}}`; in an object or a class `fake` replaces the method named `method`. Raises
    LookupError if there is nothing to replace."""
    __tracebackhide__ = True
    if isinstance(target, str):
        target = importlib.import_module(target)
    replacement = Replacement()
    if isinstance(target, types.ModuleType):
        try:
            _put_in_module(replacement, target, members, also)
        except BaseException:
            replacement.undo()
            raise
        return replacement
    found = inspect.getattr_static(target, method, _missing)
    if found is _missing:
        kind = target if isinstance(target, type) else type(target)
        raise LookupError(
            f"{describe(target)} has no method `{method}`. If its code calls the function of that name, give the module that "
            f"it is written in: `{kind.__module__}`"
        )
    replacement.set(target, method, staticmethod(fake) if isinstance(target, type) else fake)
    return replacement


def _put_in_module(
    replacement: Replacement, target: types.ModuleType, members: dict[str, dict[str, object]], also: Also | None
) -> None:
    __tracebackhide__ = True

    def imported(module: types.ModuleType) -> Any:
        faked = stand_in(module)
        return module if faked is held._missing else faked

    def import_module(name: str, package: str | None = None) -> Any:
        return imported(importlib.import_module(name, package))

    which = ", ".join(f"`{module}`" for module in members)
    members = {**members, "importlib": {"import_module": import_module}}
    # The real functions by identity, since they may have any name in the module.
    functions: dict[int, Any] = {}
    for module, fakes in members.items():
        for name, fake in fakes.items():
            genuine = real(getattr(importlib.import_module(module), name, None))
            if genuine is not None:
                functions[id(genuine)] = fake
                if isinstance(fake, types.FunctionType):
                    vars(fake)["_assay_real"] = genuine  # So that fakes can be nested.

    def stand_in(module: Any) -> Any:
        name = real(module).__name__
        its_fakes = dict(members.get(name, {}))
        for other in members:
            package, _, inner = other.rpartition(".")
            if package == name and hasattr(module, inner):  # `import a.b` binds `a`.
                its_fakes[inner] = stand_in(getattr(module, inner))
        return _StandIn(module, its_fakes) if its_fakes else held._missing

    def swap(value: Any) -> Any:
        genuine = real(value)
        if issubclass(type(genuine), types.ModuleType):
            return stand_in(value)
        if type(genuine) is types.BuiltinMethodType and isinstance(genuine.__self__, type):
            # A method that was taken out of a class, such as `date.today`.
            owner = functions.get(id(genuine.__self__))
            return held._missing if owner is None else getattr(owner, genuine.__name__)
        return functions.get(id(genuine), held._missing)

    changed = held.Held(target, swap, replacement.exchange).replace()
    for name, value in list(vars(target).items()):
        new = swap(value)
        if new is not held._missing:
            replacement.set(target, name, new)
            changed = True

    end = imports.answer(target, imported)
    replacement.exchange(lambda: None, end)
    changed |= any(name in members for name in held.names_in_code(target))
    if also is not None:
        changed |= also(replacement, target)
    if not changed:
        raise LookupError(
            f"{describe(target)} has neither {which} nor functions of it among its names, so there is nothing to fake there: "
            "give the module whose code makes the call"
        )


class Counter(Protocol):
    """An object that counts calls."""

    count: int


@contextmanager
def counted(target: Any, name: str, counter: Counter) -> Iterator[None]:
    """Adds 1 to `counter.count` at every call of `name` of `target`, until the `with` block
    ends."""
    replacement = Replacement()
    count = functools.partial(_counting, counter)
    if isinstance(target, (type, types.ModuleType)):
        patching.check_target(target)
        name = patching.mangled(target, name)
        found, _own = patching.look_up(target, name)
        replacement.set(target, name, patching.wrapped(target, name, found, count))
    else:
        bound = getattr(target, name)
        try:
            replacement.set(target, name, count(bound))
        except AttributeError as problem:
            raise TypeError(f"{describe(target)} takes no attributes of its own: give its class") from problem
    try:
        yield
    finally:
        replacement.undo()


def _counting(counter: Counter, function: Function, call: Function | None = None) -> Function:
    function = call or function
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def counting_task(*args: Any, **kwargs: Any) -> Any:
            counter.count += 1
            return await function(*args, **kwargs)

        return counting_task

    @functools.wraps(function)
    def counting(*args: Any, **kwargs: Any) -> Any:
        counter.count += 1
        return function(*args, **kwargs)

    return counting
