"""Finds what is to be profiled in a class or module, and puts the wrapper in its place and takes it out again.

Knows nothing of time and counts. Every refusal says what was found and what to do instead, and leaves everything as it was.
"""

from __future__ import annotations

import difflib
import functools
import types
from typing import TYPE_CHECKING, Any, Callable

from . import wrappers

if TYPE_CHECKING:
    from .._types import Function, Target

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


def look_up(target: Target, name: str) -> tuple[Any, bool]:
    """What stands under this name, unbound, and whether it is the target's own or inherited."""
    if isinstance(target, types.ModuleType):
        if name not in vars(target):
            getattr(target, name, None)  # A module may load its members when they are first asked for.
        found = vars(target).get(name, _missing)
        own = True
    else:
        found, own = _missing, False
        for owner in target.__mro__:
            if name in vars(owner):
                found, own = vars(owner)[name], owner is target
                break
    if found is _missing:
        close = difflib.get_close_matches(name, [n for n in dir(target) if callable(getattr(target, n, None))], 1)
        hint = f"; did you mean `{close[0]}`?" if close else ""
        if not hint and isinstance(target, type) and "__getattr__" in dir(target):
            hint = ": what `__getattr__` makes up is not there to be patched; patch `__getattr__`, or what it calls"
        raise AttributeError(f"{describe(target)} has no `{name}`{hint}")
    return found, own


def wrapped(target: Target, name: str, found: Any, wrap: Callable[[Function], Any]) -> Any:
    """What stands in for `found`: something of the same kind, with `wrap` of the function in it. Raises TypeError for what is no
    method or function."""
    where = f"`{name}` of {describe(target)}"
    make = functools.partial(_wrapped_function, where, wrap)
    if isinstance(target, types.ModuleType):
        if isinstance(found, type):
            raise TypeError(f"{where} is a class: patch its methods, `__init__` among them, by giving the class")
        return make(found)
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
        if hasattr(type(found), "__get__"):
            raise TypeError(
                f"{where} is a `{type(found).__name__}`, which decides by itself what it is bound to: "
                "patch the function that it calls"
            )
        # A builtin, a partial or a callable object in a class gets no instance; nor may its wrapper.
        return staticmethod(make(found))
    return make(found)


def _wrapped_function(where: str, wrap: Callable[[Function], Any], found: Any) -> Any:
    if not callable(found):
        raise TypeError(
            f"{where} is a `{type(found).__name__}` and nothing that is called: "
            "patch methods, functions, and properties"
        )
    return wrap(found)


def leads_to(callable_: Any, wrapper: object) -> bool:
    """Whether the chain of `__wrapped__` from this callable comes to the wrapper: somebody wrapped it once more."""
    seen = 0
    while callable_ is not wrapper:
        callable_ = getattr(_function(callable_), "__wrapped__", None)
        seen += 1
        if callable_ is None or seen > 100:
            return False
    return True


def _function(found: Any) -> Any:
    return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found


class Patch:
    """One name of one target. `install` and `uninstall` may be called again and again; wrappers are made once."""

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
        #: What is profiled, without wrappers.
        self.functions: list[Any] = []
        self.found, self.own = look_up(target, self.name)
        self.wrapper = wrapped(target, self.name, self.found, self._wrap)

    def _wrap(self, found: Any) -> Any:
        original = wrappers.original_of(found)
        self.functions.append(original)
        return wrappers.wrap(original, self.index)

    def install(self) -> None:
        """Puts the wrapper in its place."""
        if self.installed:
            return
        found, own = look_up(self.target, self.name)
        if found is self.wrapper:
            # Somebody who had replaced ours has put it back.
            self.installed = True
            return
        if leads_to(_function(found), _function(self.wrapper)):
            # Another library wrapped ours while it was in, and still holds it: it counts already.
            return
        if found is not self.found:
            self.functions.clear()
            self.wrapper = wrapped(self.target, self.name, found, self._wrap)
        self.found, self.own = found, own
        setattr(self.target, self.name, self.wrapper)
        self.installed = True

    def uninstall(self) -> None:
        """Puts back what was there. Where somebody else has replaced the wrapper meanwhile, theirs stays: it may call ours,
        which does nothing while nobody records."""
        if not self.installed:
            return
        self.installed = False
        if vars(self.target).get(self.name, _missing) is not self.wrapper:
            return
        if self.own:
            setattr(self.target, self.name, self.found)
        else:
            delattr(self.target, self.name)

    def remove(self) -> None:
        """Leaves everything as it was before."""
        self.uninstall()
