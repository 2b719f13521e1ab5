"""Finds what is to be profiled in a class or module, and puts the wrapper in its place and takes it out again.

Knows nothing of time and counts. Every refusal says what was found and what to do instead, and leaves everything as it was.
"""

from __future__ import annotations

import difflib
import functools
import types
from typing import TYPE_CHECKING, Any, Callable, Mapping

from . import inherited, wrappers

if TYPE_CHECKING:
    from .._types import Function, Target

#: Makes of a function the one that counts: of that function alone, or also of what is called instead of it.
Wrap = Callable[..., Any]

_HEAP_TYPE, _IMMUTABLE_TYPE = 1 << 9, 1 << 8
_missing: Any = object()


def describe(target: Target) -> str:
    """How messages name a class or module."""
    if isinstance(target, types.ModuleType):
        return f"module `{target.__name__}`"
    return f"class `{target.__qualname__}`"


def check_target(target: object) -> None:
    """Refuses what can't be patched at all."""
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
    """The name as it stands in the class: `__secret` of class C is `_C__secret` there."""
    if isinstance(target, type) and name.startswith("__") and not name.endswith("__"):
        return f"_{target.__name__.lstrip('_')}{name}"
    return name


def find(target: Target, name: str, *, behind: bool = False) -> tuple[Any, bool]:
    """What stands under this name, unbound (`_missing` where there is nothing), and whether it is the target's own or inherited. With
    `behind` the target's own is passed over."""
    if isinstance(target, types.ModuleType):
        return vars(target).get(name, _missing), True
    for owner in target.__mro__[1:] if behind else target.__mro__:
        found = vars(owner).get(name, _missing)
        if found is not _missing:
            return found, owner is target
    return _missing, False


def look_up(target: Target, name: str) -> tuple[Any, bool]:
    """What stands under this name, unbound, and whether it is the target's own or inherited."""
    if isinstance(target, types.ModuleType) and name not in vars(target):
        getattr(target, name, None)  # A module may load its members when they are first asked for.
    found, own = find(target, name)
    if found is _missing:
        close = difflib.get_close_matches(name, [n for n in dir(target) if callable(getattr(target, n, None))], 1)
        hint = f"; did you mean `{close[0]}`?" if close else ""
        if not hint and isinstance(target, type) and "__getattr__" in dir(target):
            hint = ": what `__getattr__` makes up is not there to be patched; patch `__getattr__`, or what it calls"
        raise AttributeError(f"{describe(target)} has no `{name}`{hint}")
    return found, own


def wrapped(target: Target, name: str, found: Any, wrap: Wrap) -> Any:
    """What stands in for `found`: something of the same kind, with `wrap` of the function in it, or of the function and of what is to be
    called instead of it. Raises TypeError for what is no method or function."""
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
        # A builtin, a partial or a callable object in a class gets no instance; nor may its wrapper.
        return staticmethod(make(found))
    return make(found)


def _wrapped_function(where: str, wrap: Wrap, found: Any) -> Any:
    if not callable(found):
        raise TypeError(
            f"{where} is a `{type(found).__name__}` and nothing that is called: "
            "patch methods, functions, and properties"
        )
    return wrap(found)


#: Number of former wrappers that are recognised if other code puts them back.
_REMEMBERED = 64


class Patch:
    """One name of one target. Exactly one wrapper counts: the one that is in place. Where other code has replaced it or wrapped it, a
    new one is made around what is there now, and the old one only passes calls on from then on."""

    by = "wrapper"

    name: str
    found: Any
    own: bool
    installed: bool
    wrapper: Any

    def __init__(self, target: Target, name: str, label: str, index: int) -> None:
        self.target = target
        self.name = mangled(target, name)
        self.label = label
        self.index = index
        self.installed = False
        #: Whether the last search for it failed.
        self.lost: bool = False
        #: What is profiled, without wrappers.
        self.functions: list[Any] = []
        #: The members of the target, and what is expected there while the wrapper is in place.
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

    @property
    def standing(self) -> Any:
        """What is among the target's own members while this is installed."""
        return self.wrapper

    def _make(self, found: Any, own: bool) -> None:
        functions, made = [], []

        def wrap(inner: Any, call: Any = None) -> Any:
            original = wrappers.original_of(inner)
            functions.append(original)
            made.append(wrappers.wrap(original, self.index, call))
            return made[-1]

        if own:
            self.wrapper = wrapped(self.target, self.name, found, wrap)
        else:
            self.wrapper = inherited.stand_in(self.target, self.name, found, wrap, self.index)
        self.found, self.own, self.functions, self._made = found, own, functions, made

    def install(self) -> None:
        """Puts the wrapper in its place. Raises what Python raises where that can't be."""
        if not self.installed:
            self._put_in(*look_up(self.target, self.name))

    def settle(self) -> str | None:
        """Sees to it that the wrapper is in its place, and that it is of the right kind. Never raises: gives a sentence where something
        other than expected was there, None otherwise."""
        place = f"`{self.name}` of {describe(self.target)}"
        found, own = find(self.target, self.name)
        if self.installed and found is self.wrapper:
            if self.own:
                return None
            found = inherited.find(self.target, self.target, self.name)
            if found is not inherited._missing and inherited.kind_of(found) == inherited.kind_of(self.found):
                return None
            self.uninstall()
            found, own = find(self.target, self.name)
        was, self.installed = self.installed, False
        inherited.in_place.pop(id(self.wrapper), None)  # Another object may get its address.
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
        if own and found is not self.wrapper:
            # Other code may have put back a former wrapper.
            found, own = next(((f, o) for wrapper, f, o in self._former if wrapper is found), (found, own))
            if not own:
                found, _ = find(self.target, self.name, behind=True)
        if found is not self.wrapper and (found is not self.found or own is not self.own):
            old, before = self._made, (self.wrapper, self.found, self.own)
            self._make(found, own)
            for wrapper in old:
                wrappers.retire(wrapper)
            self._former = [*self._former[-_REMEMBERED:], before]
        inherited.in_place[id(self.wrapper)] = self.index, self.found if self.own else None
        try:
            setattr(self.target, self.name, self.wrapper)
        except BaseException:
            del inherited.in_place[id(self.wrapper)]
            raise
        self.installed = True

    def uninstall(self) -> str | None:
        """Puts back what was there. Where somebody else has replaced the wrapper meanwhile, theirs stays: it may call ours, which does
        nothing while nobody records. Gives a sentence about that."""
        if not self.installed:
            return None
        self.installed = False
        inherited.in_place.pop(id(self.wrapper), None)
        now = self.members.get(self.name, _missing)
        if now is not self.wrapper:
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
        """Leaves everything as it was before. Whoever still holds the wrapper calls the original by it."""
        self.uninstall()
        for wrapper in self._made:
            wrappers.retire(wrapper)
