"""Finds the object to profile in a class or module, and installs and removes its wrapper.

Knows nothing of times and counts. Every refusal names the object found and a remedy, and changes
nothing.
"""

from __future__ import annotations

import difflib
import functools
import types
from typing import TYPE_CHECKING, Any, Callable, Mapping

from . import inherited, wrappers

if TYPE_CHECKING:
    from .._types import Function, Target

#: Creates the counting function from a function, or from a function and the one to call instead of
#: it.
Wrap = Callable[..., Any]

_HEAP_TYPE, _IMMUTABLE_TYPE = 1 << 9, 1 << 8
_missing: Any = object()


def describe(target: Target) -> str:
    """Returns the name of a class or module for messages."""
    if isinstance(target, types.ModuleType):
        return f"module `{target.__name__}`"
    return f"class `{target.__qualname__}`"


def check_target(target: object) -> None:
    """Refuses targets that cannot be patched at all."""
    if isinstance(target, types.ModuleType):
        return
    if isinstance(target, str):
        raise TypeError(
            f"patch takes a class or a module, not its name: import {target!r}, and give what it stands for"
        )
    if isinstance(target, types.FunctionType):
        raise TypeError(
            f"patch takes a class or a module, and the names of what is to be profiled in it: give module `{target.__module__}` "
            f"(sys.modules[{target.__module__!r}]) and ['{target.__name__}']"
        )
    if not isinstance(target, type):
        raise TypeError(
            f"patch takes a class or a module, and {target!r} is an instance of `{type(target).__name__}`: "
            "give its class; every instance is profiled then"
        )
    if not target.__flags__ & _HEAP_TYPE or target.__flags__ & _IMMUTABLE_TYPE:
        raise TypeError(
            f"`{target.__qualname__}` is built in, and Python lets nobody change the methods of such a class: "
            "patch a subclass of it that the program uses, or the function that calls it"
        )


def mangled(target: object, name: str) -> str:
    """Returns the mangled name: `__secret` of class C is `_C__secret`."""
    if isinstance(target, type) and name.startswith("__") and not name.endswith("__"):
        return f"_{target.__name__.lstrip('_')}{name}"
    return name


def find(target: Target, name: str, *, behind: bool = False) -> tuple[Any, bool]:
    """Returns the object under this name, unbound (`_missing` if there is none), and whether it is
    the target's own or inherited. With `behind`, skips the target's own."""
    if isinstance(target, types.ModuleType):
        return vars(target).get(name, _missing), True
    for owner in target.__mro__[1:] if behind else target.__mro__:
        found = vars(owner).get(name, _missing)
        if found is not _missing:
            return found, owner is target
    return _missing, False


def look_up(target: Target, name: str) -> tuple[Any, bool]:
    """Returns the object under this name, unbound, and whether it is the target's own or
    inherited."""
    if isinstance(target, types.ModuleType) and name not in vars(target):
        getattr(target, name, None)  # A module may load its members on first access.
    found, own = find(target, name)
    if found is _missing:
        close = difflib.get_close_matches(name, [n for n in dir(target) if callable(getattr(target, n, None))], 1)
        hint = f"; did you mean `{close[0]}`?" if close else ""
        if not hint and isinstance(target, type) and "__getattr__" in dir(target):
            hint = ": what `__getattr__` makes up is not there to be patched; patch `__getattr__`, or what it calls"
        raise AttributeError(f"{describe(target)} has no `{name}`{hint}")
    return found, own


def wrapped(target: Target, name: str, found: Any, wrap: Wrap) -> Any:
    """Returns the replacement for `found`: an object of the same kind, with `wrap` applied to the
    function in it, or to the function and the one to call instead of it. Raises TypeError if it is
    not a method or function."""
    where = f"`{name}` of {describe(target)}"
    make = functools.partial(_wrapped_function, where, wrap)
    if isinstance(target, types.ModuleType):
        if isinstance(found, type):
            raise TypeError(f"{where} is a class: patch its methods, `__init__` among them, by giving the class")
        return make(found)
    inner = found.__func__ if type(found) in (staticmethod, classmethod) else found
    if type(inner) is functools.partialmethod or (callable(inner) and wrappers.decides(inner)):
        return inherited.stand_in(target, name, found, wrap, own=True)
    if type(found) is staticmethod:
        return staticmethod(make(found.__func__))
    if type(found) is classmethod:
        return classmethod(make(found.__func__))
    if type(found) is property:
        fget, fset, fdel = (part and make(part) for part in (found.fget, found.fset, found.fdel))
        return property(fget, fset, fdel, found.__doc__)
    if type(found) is functools.cached_property:
        again = functools.cached_property(make(found.func))
        again.__set_name__(target, found.attrname or name)
        return again
    if isinstance(found, type):
        raise TypeError(f"{where} is a class: patch its methods, `__init__` among them, by giving that class")
    if callable(found) and not wrappers.binds(found):
        # A builtin, a partial or a callable object in a class does not receive the instance;
        # neither must its wrapper.
        return staticmethod(make(found))
    return make(found)


def _wrapped_function(where: str, wrap: Wrap, found: Any) -> Any:
    if not callable(found):
        raise TypeError(
            f"{where} is a `{type(found).__name__}` and nothing that is called: "
            "patch methods, functions, and properties"
        )
    return wrap(found)


#: Number of former wrappers that are recognized if other code restores them.
_REMEMBERED = 64


class Patch:
    """One name of one target. Exactly one wrapper counts: the installed one. If other code has
    replaced or wrapped it, a new one is created around the current object, and the old one from
    then on only passes calls on."""

    by = "wrapper"

    name: str
    found: Any
    own: bool
    installed: bool
    #: The wrapper: the object among the target's own members while this is installed. Read at every
    #: start and stop.
    standing: Any

    def __init__(self, target: Target, name: str, label: str, index: int) -> None:
        self.target = target
        self.name = mangled(target, name)
        self.label = label
        self.index = index
        self.installed = False
        #: Whether the last search for it failed.
        self.lost: bool = False
        #: The profiled object, without wrappers.
        self.functions: list[Any] = []
        #: The members of the target, and the expected object while the wrapper is installed.
        self.members: Mapping[str, Any] = vars(target)
        self._made: list[Any] = []
        self._former: list[tuple[Any, Any, bool]] = []
        found, own = look_up(target, self.name)
        wrapped(target, self.name, found, lambda function, call=None: function)  # Raises TypeError for what can't be.
        if found is not None and not own and getattr(found, "__func__", found) is object.__new__:
            raise TypeError(
                f"`{name}` of {describe(target)} is that of `object`, and Python does not make a class as it was when another one is "
                "taken away again: patch `__init__`"
            )
        self._make(found, own)

    def _make(self, found: Any, own: bool) -> None:
        functions, made = [], []

        def wrap(inner: Any, call: Any = None) -> Any:
            original = wrappers.original_of(inner)
            functions.append(original)
            made.append(wrappers.wrap(original, self.index, call))
            return made[-1]

        if own:
            self.standing = wrapped(self.target, self.name, found, wrap)
        else:
            self.standing = inherited.stand_in(self.target, self.name, found, wrap, self.index)
        self.found, self.own, self.functions, self._made = found, own, functions, made

    def install(self) -> None:
        """Installs the wrapper. Passes on Python's exception if that is impossible."""
        if not self.installed:
            self._put_in(*look_up(self.target, self.name))

    def settle(self) -> str | None:
        """Ensures that the wrapper is installed and of the right kind. Never raises: returns a
        message if an unexpected object was found, None otherwise."""
        place = f"`{self.name}` of {describe(self.target)}"
        found, own = find(self.target, self.name)
        if self.installed and found is self.standing:
            if self.own:
                return None
            found = inherited.find(self.target, self.target, self.name)
            if found is not inherited._missing and inherited.kind_of(found) == inherited.kind_of(self.found):
                return None
            self.uninstall()
            found, own = find(self.target, self.name)
        was, self.installed = self.installed, False
        inherited.in_place.pop(id(self.standing), None)  # Another object may get its address.
        if found is _missing:
            return self._lose(f"{place} is gone: its calls are not counted as {self.label!r} any more")
        try:
            self._put_in(found, own)
        except (AttributeError, TypeError) as problem:
            return self._lose(f"{place} can't be profiled as it is now, and is not counted as {self.label!r}: {problem}")
        self.lost = False
        return self._replaced(place) if was else None

    def _lose(self, note: str) -> str | None:
        known, self.lost = self.lost, True
        return None if known else note

    def _replaced(self, place: str) -> str:
        return f"{place} was replaced or wrapped by other code: calls that did not pass the wrapper until now are not counted"

    def _put_in(self, found: Any, own: bool) -> None:
        if own and found is not self.standing:
            # Other code may have restored a former wrapper.
            found, own = next(((f, o) for wrapper, f, o in self._former if wrapper is found), (found, own))
            if not own:
                found, _ = find(self.target, self.name, behind=True)
        if found is not self.standing and (found is not self.found or own is not self.own):
            old, before = self._made, (self.standing, self.found, self.own)
            self._make(found, own)
            for wrapper in old:
                wrappers.retire(wrapper)
            self._former = [*self._former[-_REMEMBERED:], before]
        inherited.in_place[id(self.standing)] = self.index, self.found if self.own else None
        try:
            setattr(self.target, self.name, self.standing)
        except BaseException:
            del inherited.in_place[id(self.standing)]
            raise
        self.installed = True

    def uninstall(self) -> str | None:
        """Restores the original. If other code has replaced the wrapper, the replacement stays: it
        may call the wrapper, which does nothing while nothing is recorded. Returns a message about
        that."""
        if not self.installed:
            return None
        self.installed = False
        inherited.in_place.pop(id(self.standing), None)
        now = self.members.get(self.name, _missing)
        if now is not self.standing:
            place = f"`{self.name}` of {describe(self.target)}"
            if now is not _missing or find(self.target, self.name)[0] is not _missing:
                return self._replaced(place)
            return self._lose(f"{place} is gone: its calls are not counted as {self.label!r} any more")
        if self.own:
            setattr(self.target, self.name, self.found)
        else:
            delattr(self.target, self.name)
        return None

    def remove(self) -> None:
        """Restores the original state. References to the wrapper call the original."""
        self.uninstall()
        for wrapper in self._made:
            wrappers.retire(wrapper)
