"""Stand-ins for inherited methods. A class with a profiled inherited method must go on inheriting
it, so that a mock of the parent's method, a library that wraps it later, or a new definition still
takes effect. So the stand-in looks up the method in the classes after its own at every call, as
`super()` would."""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any, Callable

from . import engine, wrappers

if TYPE_CHECKING:
    from .._types import Function, Target

_missing: Any = object()

#: The currently installed wrappers, by address: the number of the label, and the wrapped function,
#: or None for an inherited method.
in_place: dict[int, tuple[int, Any]] = {}

#: Creates the counting function from the original and the function to call instead of it.
Wrap = Callable[["Function", "Function"], Any]


def find(owner: Target, kind: Target, name: str, label: int | None = None) -> Any:
    """Returns what `super(owner, kind)` finds under this name, unbound and without wrappers of this
    package; `_missing` if there is nothing. With the number of a label, removes only wrappers of
    this label, which would count the call twice."""
    if isinstance(owner, types.ModuleType) or isinstance(kind, types.ModuleType):
        return _missing
    order = kind.__mro__
    if owner not in order:
        order = owner.__mro__
    for each in order[order.index(owner) + 1 :]:
        found = each.__dict__.get(name, _missing)
        if found is _missing:
            continue
        its_label, behind = in_place.get(id(found), (None, None))
        if its_label is None or (label is not None and label != its_label):
            return found
        if behind is not None:
            return behind
    return _missing


class Behind:
    """The inherited member of a class under one name, looked up at every call."""

    def __init__(self, owner: type, name: str, label: int | None) -> None:
        self._owner = owner
        self._name = name
        self._label = label

    def _found(self, kind: type) -> Any:
        found = find(self._owner, kind, self._name, self._label)
        if found is _missing:
            raise AttributeError(f"{kind.__name__!r} object has no attribute {self._name!r}")
        return found

    def _bound(self, instance: Any, kind: type) -> Any:
        found = self._found(kind)
        bind = getattr(type(found), "__get__", None)
        return found if bind is None else bind(found, instance, kind)

    def method(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it as a method of its first argument, if that is an instance."""
        if not args or not isinstance(args[0], self._owner):
            return self._bound(None, self._owner)(*args, **kwargs)
        kind = type(args[0])
        if self._found(kind) is object.__init__ and getattr(kind, "__new__", None) is not object.__new__:
            return None  # It takes any arguments as long as no class overrides it, which the stand-in does.
        return self._bound(args[0], kind)(*args[1:], **kwargs)

    def of_class(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it as a method of the class that is its first argument."""
        return self._bound(None, args[0])(*args[1:], **kwargs)

    def static(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it as a static method."""
        return self._bound(None, self._owner)(*args, **kwargs)

    def get(self, instance: Any) -> Any:
        """Reads it as an attribute of the instance."""
        found = self._found(type(instance))
        if not hasattr(type(found), "__set__"):
            # The parent's property was replaced by an object that the instance's attributes hide.
            own = getattr(instance, "__dict__", {}).get(self._name, _missing)
            if own is not _missing:
                return own
        return self._bound(instance, type(instance))

    def set(self, instance: Any, value: Any) -> None:
        """Sets it as an attribute of the instance."""
        found = self._found(type(instance))
        if hasattr(type(found), "__set__"):
            type(found).__set__(found, instance, value)
        else:
            instance.__dict__[self._name] = value

    def delete(self, instance: Any) -> None:
        """Deletes it as an attribute of the instance."""
        found = self._found(type(instance))
        if hasattr(type(found), "__delete__"):
            type(found).__delete__(found, instance)
        else:
            del instance.__dict__[self._name]


class Itself(Behind):
    """A descriptor of other code among the class's own members, bound again at every call."""

    def __init__(self, owner: type, name: str, descriptor: Any) -> None:
        super().__init__(owner, name, None)
        self._descriptor = descriptor

    def _found(self, kind: type) -> Any:
        return self._descriptor


def stand_in(owner: Any, name: str, found: Any, wrap: Wrap, label: int | None = None, *, own: bool = False) -> Any:
    """Returns an object of the same kind as `found`, which `owner` inherits, that calls the
    currently inherited method; `label` is the number under which it counts. With `own`, `found` is
    a descriptor of the owner itself. Raises TypeError for objects whose binding is unknown, and for
    those that are not called."""
    behind = Itself(owner, name, found) if own else Behind(owner, name, label)
    found = wrappers.wrapped_by(found)
    if type(found) is staticmethod:
        return staticmethod(_wrapped(found.__func__, behind.static, wrap))
    if type(found) is classmethod:
        return classmethod(_wrapped(found.__func__, behind.of_class, wrap))
    if type(found) is property:
        fget, fset, fdel = (
            part and _wrapped(part, call, wrap)
            for part, call in ((found.fget, behind.get), (found.fset, behind.set), (found.fdel, behind.delete))
        )
        return property(fget, fset, fdel, found.__doc__)
    if type(found) is functools.cached_property:
        again = functools.cached_property(_wrapped(found.func, behind.get, wrap))
        again.__set_name__(owner, found.attrname or name)
        return again
    if wrappers.binds(found):
        return _wrapped(found, behind.method, wrap)
    where = f"`{name}` of class `{owner.__qualname__}` is a `{type(found).__name__}`"
    if not callable(found):
        raise TypeError(f"{where} and nothing that is called: patch methods, functions, and properties")
    if wrappers.decides(found):
        raise TypeError(f"{where}, which decides by itself what it is bound to: patch the function that it calls")
    # A builtin, a partial or a callable object in a class does not receive the instance. The
    # stand-in does, since a mock may be replaced by the method at any time.
    return _wrapped(found, behind.method, wrap)


def _wrapped(original: Any, call: Any, wrap: Wrap) -> Any:
    quick = call.__name__ == "method" and type(call.__self__) is Behind and original is not object.__init__
    through = _quick(call) if quick else _slow(call)
    wrappers.look_like(through, original)
    wrappers.THROUGH.add(through)
    return wrap(original, through)


_ours: dict[str, Any] = engine.wrapper_globals


def _slow(call: Function) -> Function:
    def through(*args: Any, **kwargs: Any) -> Any:
        return call(*args, **kwargs)

    return through


def _quick(call: Any) -> Function:
    """The same for methods, using `super` itself, unless that finds a wrapper of this package."""
    owner, name = call.__self__._owner, call.__self__._name
    method, function = types.MethodType, types.FunctionType
    written_in_c = (types.BuiltinMethodType, types.MethodWrapperType)

    def through(*args: Any, **kwargs: Any) -> Any:
        try:
            bound: Any = getattr(super(owner, args[0]), name)
        except (AttributeError, IndexError, TypeError):
            return call(*args, **kwargs)
        kind = type(bound)
        if kind is method:
            behind = bound.__func__
            if type(behind) is function and behind.__globals__ is not _ours:
                return bound(*args[1:], **kwargs)
        elif kind in written_in_c:
            return bound(*args[1:], **kwargs)
        return call(*args, **kwargs)

    return through


def kind_of(found: Any) -> tuple[type, int]:
    """Returns what determines the kind of a stand-in: the type, and for a function whether it is a
    coroutine or a generator function."""
    function = wrappers.original_of(getattr(found, "__func__", found))
    return type(found), getattr(getattr(function, "__code__", None), "co_flags", 0) & wrappers.STEPWISE
