"""Cases of both front ends: a class with a profiled inherited method continues to inherit it."""

from unittest import mock

import pytest
from cases import counted as count, family, patched

from assay import MethodProfiler

#: For wrappers; monitoring is tested in test_monitoring.py.
pytestmark = pytest.mark.wrappers


def test_inherited_method_counts_for_the_subclass():
    Parent, Child = family()
    patched(Child, "send")
    assert count(lambda: (Child().send(), Parent().send())) == (("real", "real"), 1)
    assert "send" not in vars(Child)


def test_inherited_method_follows_a_stub_of_the_parent():
    Parent, Child = family()
    patched(Child, "send")
    MethodProfiler.keep_installed()
    with mock.patch.object(Parent, "send", lambda self: "mock"):
        assert Child().send() == "mock" and count(lambda: Child().send()) == ("mock", 1)
    with mock.patch.object(Parent, "send", return_value="double") as double:
        assert Child().send() == "double" and double.call_args == mock.call()
    assert count(lambda: Child().send()) == ("real", 1)


def test_inherited_method_follows_a_stub_within_a_profile():
    Parent, Child = family()
    patched(Child, "send")
    with MethodProfiler.profile() as profile:
        with mock.patch.object(Parent, "send", lambda self: "mock"):
            assert Child().send() == "mock"
        assert Child().send() == "real"
    assert profile["it"]["calls"] == 2


def test_inherited_method_follows_a_stub_around_a_profile():
    Parent, Child = family()
    patched(Child, "send", "make")
    with mock.patch.object(Parent, "send", lambda self: "mock"):
        assert count(lambda: Child().send()) == ("mock", 1)
    assert Child().send() == "real"
    # A Mock, which does not bind, and is removed before the wrappers are installed again.
    MethodProfiler.keep_installed()
    with mock.patch.object(Parent, "send", return_value="double") as double, mock.patch.object(Parent, "make") as make:
        assert count(lambda: Child().send()) == ("double", 1)
        Child.send("all"), Child.make("one"), Child().send("two")
        assert double.call_args_list == [mock.call(), mock.call("all"), mock.call("two")] and make.call_args == mock.call("one")
    assert (Child().send(), Child.make()) == ("real", Child)
    stub = mock.patch.object(Parent, "send", return_value="double")
    stub.start()
    with MethodProfiler.profile() as profile:
        stub.stop()
        assert Child().send() == "real"
    assert profile["it"]["calls"] == 1


def test_inherited_method_follows_later_instrumentation():
    Parent, Child = family()
    patched(Child, "send")
    MethodProfiler.keep_installed()
    old = Parent.send
    Parent.send = lambda self: f"traced({old(self)})"
    assert Child().send() == "traced(real)" and count(lambda: Child().send()) == ("traced(real)", 1)


def test_inherited_method_follows_a_redefined_parent():
    Parent, Child = family()
    patched(Child, "send")
    MethodProfiler.keep_installed()

    def send(self, to="all", *, twice=False):
        return to, twice

    Parent.send = send
    assert Child().send("one", twice=True) == ("one", True)

    async def send_later(self):
        return "later"

    Parent.send = send_later
    with MethodProfiler.profile() as profile:
        sent = Child().send()
        with pytest.raises(StopIteration) as end:
            sent.send(None)
    assert end.value.value == "later" and profile["it"]["calls"] == 1


def test_inherited_method_follows_a_new_ancestor():
    class Parent:
        def send(self):
            return "real"

    class Middle(Parent):
        pass

    class Child(Middle):
        pass

    class Between(Parent):
        def send(self):
            return "between " + super().send()

    patched(Child, "send")
    MethodProfiler.keep_installed()
    Middle.__bases__ = (Between,)
    assert count(lambda: Child().send()) == ("between real", 1)


def test_inherited_class_method():
    Parent, Child = family()
    patched(Child, "make")
    MethodProfiler.keep_installed()
    assert count(lambda: (Child.make(), Child().make())) == ((Child, Child), 2)
    with mock.patch.object(Parent, "make", classmethod(lambda cls: cls.__name__)):
        assert Child.make() == "Child"


def test_inherited_attribute_reader():
    Parent, Child = family()
    patched(Child, "size")
    MethodProfiler.keep_installed()
    assert count(lambda: Child().size) == (1, 1)
    with mock.patch.object(Parent, "size", property(lambda self: 2)):
        assert Child().size == 2
    with mock.patch.object(Parent, "size", 3):
        assert Child().size == 3


def test_inherited_attribute_follows_a_stub():
    Parent, Child = family()
    patched(Child, "size")
    with mock.patch.object(Parent, "size", new_callable=mock.PropertyMock, return_value=5):
        for _ in range(2):  # Only the mock knows what it is bound to, so it is not counted.
            assert count(lambda: Child().size) == (5, 0)
    assert count(lambda: Child().size) == (1, 1)
    with MethodProfiler.profile():
        with mock.patch.object(Parent, "size", new_callable=mock.PropertyMock, return_value=5):
            assert Child().size == 5
    MethodProfiler.keep_installed()
    with mock.patch.object(Parent, "size", new_callable=mock.PropertyMock, return_value=5):
        assert Child().size == 5
        assert count(lambda: Child().size) == (5, 0)
    for _ in range(2):
        assert count(lambda: Child().size) == (1, 1)


def test_inherited_from_a_grandparent():
    Parent, Child = family()

    class Grandchild(Child):
        pass

    patched(Grandchild, "send")
    MethodProfiler.keep_installed()
    with mock.patch.object(Parent, "send", lambda self: "parent"):
        assert Grandchild().send() == "parent"
    with mock.patch.object(Child, "send", lambda self: "child", create=True):
        assert Grandchild().send() == "child"
    assert count(lambda: Grandchild().send()) == ("real", 1)


def test_inherited_in_a_diamond():
    class Root:
        def send(self):
            return "root"

    class Left(Root):
        pass

    class Right(Root):
        def send(self):
            return "right"

    class Both(Left, Right):
        pass

    patched(Left, "send")
    MethodProfiler.keep_installed()
    assert count(lambda: (Both().send(), Left().send())) == (("right", "root"), 2)


def test_inherited_method_calls_super():
    class Root:
        def send(self):
            return ["root"]

    class Parent(Root):
        def send(self):
            return ["parent", *super().send()]

    class Child(Parent):
        pass

    patched(Child, "send")
    assert count(lambda: Child().send()) == (["parent", "root"], 1)


def test_inherited_method_removed_from_the_parent():
    Parent, Child = family()
    patched(Child, "send")
    patched(Child, "size", label="other")
    MethodProfiler.keep_installed()
    del Parent.send
    with pytest.raises(AttributeError, match="'Child' object has no attribute 'send'"):
        Child().send()
    assert count(lambda: Child().size, "other") == (1, 1)
    assert not hasattr(Child, "send")


def test_subclass_defines_it_later():
    Parent, Child = family()
    patched(Child, "send")
    MethodProfiler.keep_installed()
    Child.send = lambda self: "own"
    assert count(lambda: Child().send()) == ("own", 1)
    MethodProfiler.unpatch(Child)
    assert Child().send() == "own"


def test_subclass_made_after_the_patch():
    Parent, Child = family()
    patched(Child, "send")

    class Later(Child):
        pass

    assert count(lambda: Later().send()) == ("real", 1)


def test_sibling_class_is_not_counted():
    Parent, Child = family()

    class Sibling(Parent):
        pass

    patched(Child, "send")
    assert count(lambda: Sibling().send()) == ("real", 0)


def test_parent_and_child_patched_once_each():
    class Parent:
        def send(self):
            return ["parent"]

    class Child(Parent):
        def send(self):
            return ["child", *super().send()]

    patched(Parent, "send")
    patched(Child, "send")
    assert count(lambda: Child().send()) == (["child", "parent"], 2)


def test_parent_and_child_patched_inherited_once():
    Parent, Child = family()
    patched(Child, "send")
    patched(Parent, "send")
    assert count(lambda: (Child().send(), Parent().send())) == (("real", "real"), 2)
    MethodProfiler.keep_installed()
    old = Parent.send
    Parent.send = lambda self: old(self) + "!"
    assert count(lambda: (Child().send(), Parent().send())) == (("real!", "real!"), 2)


def test_parent_and_child_patched_under_two_names():
    for kept in (False, True):
        Parent, Child = family()
        patched(Child, "send", "make", "size", label="child")
        patched(Parent, "send", "make", "size", label="parent")
        MethodProfiler.keep_installed(kept)
        for _ in range(2):
            with MethodProfiler.profile() as profile:
                assert (Child().send(), Child.make(), Child().size) == ("real", Child, 1)
            assert (profile["child"]["calls"], profile["parent"]["calls"]) == (3, 3)
        assert count(lambda: Parent().send(), "child") == ("real", 0)
        MethodProfiler.unpatch(Parent)
        assert count(lambda: Child().send(), "child") == ("real", 1)
        MethodProfiler.unpatch(Child)
