"""What the tests of cases of ruby/test/cases/README.md share."""

from assay import MethodProfiler


def patched(target, *names, label="it"):
    MethodProfiler.patch(target, list(names), label)
    return target


def count(work, label="it"):
    """What the work gives, and how often the row was called; outside of a profile it gives the same."""
    plain = work()
    with MethodProfiler.profile() as profile:
        value = work()
    assert type(value) is type(plain)
    return value, profile[label]["calls"]


def counted(work, label="it"):
    """What the work gives within a profile, and how often the row was called."""
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
