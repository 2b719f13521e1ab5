"""Objects profiled by the tests of the profiler: classes with methods of every kind."""

import functools

from assay import MethodProfiler


class Thing:
    """A class with a method of every kind."""

    factor = 3

    def __init__(self):
        self.value = 1

    def plain(self, x: int, /, y: int = 2, *rest, key: str = "k", **more) -> tuple:
        """What plain does."""
        return x, y, rest, key, more

    @classmethod
    def of_class(cls, x=0):
        return cls, x

    @staticmethod
    def static(x=0):
        return x

    @property
    def prop(self):
        """What prop is."""
        return self.value

    @prop.setter
    def prop(self, value):
        self.value = value

    @functools.cached_property
    def cached(self):
        return object()

    @functools.lru_cache(maxsize=8)
    def remembered(self, x=0):
        return x

    def fails(self):
        raise KeyError("no")

    def recurse(self, n):
        return n and self.recurse(n - 1)

    def other(self):
        return 1

    def outer(self):
        return self.other()

    def __secret(self):
        return "secret"

    def tell(self):
        return self.__secret()

    def __call__(self, x):
        return x + 1

    def __getitem__(self, key):
        return key

    builtin = len


class Child(Thing):
    def plain(self, *args, **kwargs):
        return super().plain(*args, **kwargs)


class Slotted:
    __slots__ = ("x",)

    def get(self):
        return 7


def function(a, b=2):
    return a, b


def profiled(action, name="it"):
    with MethodProfiler.profile() as profile:
        action()
    return profile.sections.get(name)


def calls_of(action, name="it"):
    section = profiled(action, name)
    return section.calls if section else 0
