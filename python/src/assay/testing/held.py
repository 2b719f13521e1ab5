"""Finds functions that a module holds as values: in default arguments, closures, attributes of its
classes and objects, partial functions and containers. Replacing a function only under its name
would not affect these."""

from __future__ import annotations

import functools
import types
from typing import Any, Callable, Iterator

_missing: Any = object()
#: Maximum depth of nested containers that are searched.
_DEEPEST = 3

#: Returns the replacement of a value, or `_missing` to keep it.
Swap = Callable[[object], Any]
#: Calls the first function now, and the second when everything is undone.
Exchange = Callable[[Callable[[], object], Callable[[], object]], None]


class Held:
    """Replaces the values held by the functions, classes and objects of one module."""

    def __init__(self, module: types.ModuleType, swap: Swap, exchange: Exchange) -> None:
        self.changed: bool = False
        self._module = module
        self._swap = swap
        self._exchange = exchange
        self._seen: set[int] = set()

    def replace(self) -> bool:
        """Returns whether anything was replaced."""
        for name, value in list(vars(self._module).items()):
            new = self._again(value)
            if new is _missing:
                self._look(value, 0)
            else:
                self._put(functools.partial(setattr, self._module, name), new, value)
        return self.changed

    def _look(self, thing: Any, depth: int) -> None:
        if id(thing) in self._seen or depth > _DEEPEST:
            return
        self._seen.add(id(thing))
        kind = type(thing)
        if kind in (staticmethod, classmethod):
            self._look(thing.__func__, depth)
        elif kind is property:
            for part in (thing.fget, thing.fset, thing.fdel):
                self._look(part, depth)
        elif kind is types.FunctionType:
            self._function(thing, depth)
        elif kind is functools.partial:
            self._partial(thing, depth)
        elif kind in (dict, list):
            self._container(thing, depth + 1)
        elif kind is tuple:
            for value in thing:
                self._look(value, depth + 1)
        elif isinstance(thing, type):
            if thing.__module__ == self._module.__name__:
                self._attributes(thing, depth)
        elif kind.__module__ == self._module.__name__ and not issubclass(kind, tuple):
            self._attributes(thing, depth)

    def _function(self, function: types.FunctionType, depth: int) -> None:
        if function.__globals__ is not vars(self._module):
            inner = vars(function).get("__wrapped__")
            if inner is not None:
                self._look(inner, depth)
            return
        defaults = function.__defaults__
        if defaults and any(self._new(value) is not _missing for value in defaults):
            swapped = tuple(self._swapped(value) for value in defaults)
            self._put(lambda new: setattr(function, "__defaults__", new), swapped, defaults)
        by_name = function.__kwdefaults__
        if by_name:
            self._container(by_name, depth)
        for cell in function.__closure__ or ():
            try:
                held = cell.cell_contents
            except ValueError:  # It is empty yet.
                continue
            new = self._new(held)
            if new is _missing:
                self._look(held, depth + 1)
            else:
                self._put(functools.partial(setattr, cell, "cell_contents"), new, held)
        inner = vars(function).get("__wrapped__")
        if inner is not None:
            self._look(inner, depth)

    def _partial(self, partial: Any, depth: int) -> None:
        new = self._swap(partial.func)
        if new is _missing:
            self._look(partial.func, depth)
            return
        state = partial.args, partial.keywords, partial.__dict__

        def put(function: Any) -> None:
            partial.__setstate__((function, *state))

        self._put(put, new, partial.func)

    def _container(self, container: Any, depth: int) -> None:
        for key, value in list(container.items() if isinstance(container, dict) else enumerate(container)):
            new = self._new(value)
            if new is _missing:
                self._look(value, depth)
            else:
                self._put(functools.partial(container.__setitem__, key), new, value)

    def _attributes(self, owner: Any, depth: int) -> None:
        for name, value in _members(owner):
            new = self._new(getattr(value, "__func__", value) if isinstance(value, (staticmethod, classmethod)) else value)
            if new is _missing:
                self._look(value, depth + 1)
            else:
                # The originals are written in C and do not bind to an instance; neither must the fake.
                held = staticmethod(new) if isinstance(owner, type) and callable(new) else new
                self._put(functools.partial(setattr, owner, name), held, value)

    def _new(self, value: object) -> Any:
        new = self._swap(value)
        return self._again(value) if new is _missing else new

    def _again(self, value: Any) -> Any:
        """Returns a tuple with its values replaced, named or not."""
        if not isinstance(value, tuple) or type(value) is not tuple and not hasattr(value, "_make"):
            return _missing
        values = [self._swap(each) for each in value]
        if all(each is _missing for each in values):
            return _missing
        values = [old if each is _missing else each for old, each in zip(value, values)]
        made: Any = type(value)
        return tuple(values) if made is tuple else made._make(values)

    def _swapped(self, value: object) -> Any:
        new = self._new(value)
        return value if new is _missing else new

    def _put(self, put: Callable[[Any], object], new: Any, old: Any) -> None:
        self.changed = True
        self._exchange(lambda: put(new), lambda: put(old))


def _members(owner: Any) -> list[tuple[str, Any]]:
    """Returns the attributes of a class or an object, those in slots included."""
    found = dict(getattr(owner, "__dict__", {}))
    if not isinstance(owner, type):
        for kind in type(owner).__mro__:
            slots = vars(kind).get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if not name.startswith("__") and hasattr(owner, name):
                    found[name] = getattr(owner, name)
    return list(found.items())


def names_in_code(module: types.ModuleType) -> Iterator[str]:
    """Returns the names used by functions of this module, including those they import."""
    codes = [value.__code__ for value in vars(module).values() if isinstance(value, types.FunctionType)]
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == module.__name__:
            inside = (getattr(member, "__func__", member) for member in vars(value).values())
            codes += [member.__code__ for member in inside if isinstance(member, types.FunctionType)]
    while codes:
        code = codes.pop()
        yield from code.co_names
        yield from (constant for constant in code.co_consts if isinstance(constant, str))  # `__import__("time")`
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
