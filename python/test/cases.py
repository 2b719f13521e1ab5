"""Common code for the tests of the cases in ruby/test/cases/README.md."""

from assay import MethodProfiler


def patched(target, *names, label="it"):
    MethodProfiler.patch(target, list(names), label)
    return target


def count(work, label="it"):
    """Returns the result of the work, and the number of calls of the row; without a profile, the
    result is the same."""
    plain = work()
    with MethodProfiler.profile() as profile:
        value = work()
    assert type(value) is type(plain)
    return value, profile[label]["calls"]


def counted(work, label="it"):
    """Returns the result of the work within a profile, and the number of calls of the row."""
    with MethodProfiler.profile() as profile:
        value = work()
    return value, profile[label]["calls"]


def family():
    """A parent, and a child that inherits its method."""

    class Parent:
        def send(self):
            return "real"

        @classmethod
        def make(cls):
            return cls

        @property
        def size(self):
            return 1

    class Child(Parent):
        pass

    return Parent, Child
