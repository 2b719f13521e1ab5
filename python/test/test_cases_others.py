"""Cases of both front ends: names that vanish or change, other code that wraps or replaces methods,
and patching itself. Each call counts once, and all installed code is called, whatever else is done
to the methods."""

import asyncio
import copy
import functools
import gc
import logging
import pickle
import subprocess
import sys
import textwrap
import types
import weakref
from unittest import mock

import pytest
import wrapt
from cases import counted as count, family, patched
from things import Slotted, Thing

from assay import MethodProfiler
from assay.profiler import inherited
from assay.wsgi import ProfileMiddleware

#: For wrappers; monitoring is tested in test_monitoring.py.
pytestmark = pytest.mark.wrappers


def lone():
    class Lone:
        def m(self):
            return ["m"]

    return Lone


def wrapping(kind, name="m", mark="w"):
    """Does what another library does: replaces the method by a function that calls the previous
    one."""
    before = getattr(kind, name)
    setattr(kind, name, lambda self: [mark, *before(self)])
    return before


# Names that vanish or change. ---------------------------------------------------------------------------------------------------------


def test_removed_while_profiled():
    Lone = lone()
    patched(Lone, "m")
    with MethodProfiler.profile() as profile:
        Lone().m()
        del Lone.m
    assert profile["it"]["calls"] == 1
    assert profile.notes == ["`m` of class `lone.<locals>.Lone` is gone: its calls are not counted as 'it' any more"]
    assert "note: `m` of class" in str(profile)


def test_removed_between_profiles():
    Lone = lone()
    patched(Lone, "m")
    del Lone.m
    with MethodProfiler.profile() as profile:
        pass
    assert "it" not in profile and len(profile.notes) == 1


def test_removed_name_leaves_other_rows():
    Lone, Other = lone(), lone()
    patched(Lone, "m")
    patched(Other, "m", label="other")
    del Lone.m
    for _ in range(3):
        assert count(lambda: Other().m(), "other") == (["m"], 1)


def test_removed_name_is_said_once(caplog):
    Lone = lone()
    patched(Lone, "m")
    del Lone.m
    with caplog.at_level(logging.INFO, "assay.profile"):
        notes = []
        for _ in range(5):
            with MethodProfiler.profile() as profile:
                pass
            notes += profile.notes
    assert len(notes) == len(caplog.records) == 1


def test_removed_and_added_again():
    Lone = lone()
    patched(Lone, "m")
    before = Lone.m
    del Lone.m
    count(lambda: None)
    Lone.m = before
    assert count(lambda: Lone().m()) == (["m"], 1)
    assert vars(Lone)["m"] is before


def test_removed_function_of_a_module():
    shop = types.ModuleType("shop")
    shop.buy = lambda: 1
    patched(shop, "buy")
    del shop.buy
    assert count(lambda: None) == (None, 0)
    shop.buy = lambda: 2
    assert count(lambda: shop.buy()) == (2, 1)


def test_a_name_that_is_gone_before_the_first_profile_is_in_its_notes():
    code = """
        from assay import MethodProfiler
        class Lone:
            def m(self): pass
        MethodProfiler.patch(Lone, ["m"], "it")
        MethodProfiler.keep_installed()
        del Lone.m
        MethodProfiler.start()
        print(len(MethodProfiler.stop().notes))
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert ended.stdout == "1\n", ended.stderr


def test_removed_name_is_unpatched_quietly():
    Lone = lone()
    patched(Lone, "m")
    MethodProfiler.keep_installed()
    del Lone.m
    MethodProfiler.unpatch(Lone)
    assert not hasattr(Lone, "m")


def test_removed_name_under_middleware():
    Lone = lone()
    patched(Lone, "m")
    lines = []
    application = ProfileMiddleware(lambda _, start: (start("200 OK", []), [b"ok"])[1], log=lines.append)
    del Lone.m
    for _ in range(2):
        assert b"".join(application({"REQUEST_METHOD": "GET"}, lambda *_: None)) == b"ok"
    assert [line["status"] for line in lines] == [200, 200]


def test_redefined_while_profiled():
    Lone = lone()
    patched(Lone, "m")
    with MethodProfiler.profile() as profile:
        Lone.m = lambda self: ["new"]
        assert Lone().m() == ["new"]
    assert "was replaced or wrapped by other code" in profile.notes[0]
    assert count(lambda: Lone().m()) == (["new"], 1)


def test_redefined_while_kept():
    Lone = lone()
    patched(Lone, "m")
    MethodProfiler.keep_installed()
    for n in range(3):
        Lone.m = lambda self, n=n: [n]
        assert count(lambda: Lone().m()) == ([n], 1)
        assert count(lambda: Lone().m()) == ([n], 1)


def test_redefined_between_profiles():
    Lone = lone()
    patched(Lone, "m")
    assert count(lambda: Lone().m()) == (["m"], 1)
    Lone.m = lambda self: ["new"]
    assert count(lambda: Lone().m()) == (["new"], 1)


def test_redefined_with_other_parameters():
    Lone = lone()
    patched(Lone, "m")
    MethodProfiler.keep_installed()
    Lone.m = lambda self, x, *, y=2: (x, y)
    assert Lone().m(1, y=3) == (1, 3) and count(lambda: Lone().m(1)) == ((1, 2), 1)


def test_redefined_as_another_kind():
    Lone = lone()
    patched(Lone, "m")
    MethodProfiler.keep_installed()
    Lone.m = classmethod(lambda cls: cls.__name__)
    assert count(lambda: Lone.m()) == ("Lone", 1)
    Lone.m = property(lambda self: 5)
    assert count(lambda: Lone().m) == (5, 1)
    Lone.m = 7  # It is not callable, so its row is omitted.
    assert count(lambda: Lone().m) == (7, 0)
    Lone.m = lambda self: 8
    assert count(lambda: Lone().m()) == (8, 1)


# Other code that wraps or replaces. ---------------------------------------------------------------


def test_wrapped_by_another_before():
    Lone = lone()
    wrapping(Lone)
    patched(Lone, "m")
    assert count(lambda: Lone().m()) == (["w", "m"], 1)


def test_wrapped_by_another_while_profiled():
    Lone = lone()
    patched(Lone, "m")
    with MethodProfiler.profile() as profile:
        wrapping(Lone)
        assert Lone().m() == ["w", "m"]
    assert profile["it"]["calls"] == 1
    assert [count(lambda: Lone().m()) for _ in range(3)] == [(["w", "m"], 1)] * 3
    assert Lone().m() == ["w", "m"]


def test_wrapped_by_another_while_kept():
    Lone = lone()
    patched(Lone, "m")
    MethodProfiler.keep_installed()
    wrapping(Lone)
    assert [count(lambda: Lone().m()) for _ in range(3)] == [(["w", "m"], 1)] * 3


def test_wrapped_by_another_under_its_name():
    for keep in (False, True):
        Lone = lone()
        patched(Lone, "m")
        MethodProfiler.keep_installed(keep)
        with MethodProfiler.profile():
            before = Lone.m

            @functools.wraps(before)
            def m(self, before=before):
                return ["w", *before(self)]

            Lone.m = m
        assert [count(lambda: Lone().m()) for _ in range(2)] == [(["w", "m"], 1)] * 2
        MethodProfiler.unpatch(Lone)
        assert Lone().m() == ["w", "m"]


def test_wrapped_by_two_others():
    Lone = lone()
    wrapping(Lone, mark="a")
    patched(Lone, "m")
    MethodProfiler.keep_installed()
    wrapping(Lone, mark="b")
    assert count(lambda: Lone().m()) == (["b", "a", "m"], 1)
    wrapping(Lone, mark="c")
    assert count(lambda: Lone().m()) == (["c", "b", "a", "m"], 1)


def test_wrapped_and_unwrapped_again():
    Lone = lone()
    patched(Lone, "m")
    MethodProfiler.keep_installed()
    for _ in range(3):
        before = wrapping(Lone)
        assert count(lambda: Lone().m()) == (["w", "m"], 1)
        Lone.m = before
        assert count(lambda: Lone().m()) == (["m"], 1)
    MethodProfiler.unpatch(Lone)
    assert type(vars(Lone)["m"]) is types.FunctionType and Lone().m() == ["m"]


def test_wrapped_without_calling_the_original():
    Lone = lone()
    patched(Lone, "m")
    with MethodProfiler.profile() as profile:
        before = Lone.m
        Lone.m = lambda self: ["cached"] if before else []
        assert Lone().m() == ["cached"]
    assert profile["it"]["calls"] == 0 and "was replaced or wrapped" in profile.notes[0]
    assert count(lambda: Lone().m()) == (["cached"], 1)


def test_wrapped_class_method():
    Parent, _ = family()
    patched(Parent, "make")
    MethodProfiler.keep_installed()
    before = Parent.make
    Parent.make = classmethod(lambda cls: [before()])
    assert count(lambda: Parent.make()) == ([Parent], 1)


def test_wrapped_function_of_a_module():
    shop = types.ModuleType("shop")
    shop.buy = lambda: 1
    patched(shop, "buy")
    with MethodProfiler.profile():
        before = shop.buy
        shop.buy = lambda: before() + 1
    assert [count(lambda: shop.buy()) for _ in range(2)] == [(2, 1)] * 2


def test_wrapped_parent_of_an_inherited_method():
    Parent, Child = family()
    patched(Child, "send")
    before = Parent.send
    Parent.send = lambda self: before(self) + "!"
    assert count(lambda: Child().send()) == ("real!", 1)


class Traced:
    """A class with methods of each kind, and a tracer that stores its arguments."""

    def __init__(self):
        class Kind:
            def m(self, x=1):
                return x

            @classmethod
            def k(cls, x=1):
                return cls, x

            @staticmethod
            def s(x=1):
                return x

            async def c(self, x=1):
                return x

        self.kind = Kind
        self.one = Kind()
        self.seen = []

    def trace(self, kind=None):
        for name in "mksc":
            wrapt.wrap_function_wrapper(kind or self.kind, name, self._traced)

    def _traced(self, wrapped, instance, args, kwargs):
        self.seen.append((instance, args, kwargs))
        return wrapped(*args, **kwargs)

    def call(self):
        self.seen.clear()
        return self.one.m(2), self.one.k(x=3), self.kind.s(4), asyncio.run(self.one.c(x=5))

    def check(self, kind=None):
        kind = kind or self.kind
        seen = [(self.one, (2,), {}), (kind, (), {"x": 3}), (None, (4,), {}), (self.one, (), {"x": 5})]
        for _ in range(2):
            assert count(self.call) == ((2, (kind, 3), 4, 5), 4)
            assert self.seen == seen
        self.call()
        assert self.seen == seen


def test_wrapped_by_another_that_sees_the_receiver():
    for state in ("before", "while profiled", "while kept", "parent"):
        traced = Traced()
        if state == "before":
            traced.trace()
        child = type("Child", (traced.kind,), {})
        if state == "parent":
            traced.kind, parent = child, traced.kind
            traced.one = child()
        patched(traced.kind, *"mksc")
        MethodProfiler.keep_installed(state in ("while kept", "parent"))
        if state == "while profiled":
            with MethodProfiler.profile() as profile:
                traced.trace()
                assert traced.call()[0] == 2
            assert profile["it"]["calls"] == 4
        elif state == "while kept":
            traced.trace()
        elif state == "parent":
            traced.trace(parent)
        traced.check()
        MethodProfiler.unpatch(traced.kind)
        MethodProfiler.keep_installed(False)


def test_a_tracer_of_an_inherited_method_by_its_name_is_called():
    Parent, Child = family()
    patched(Child, "send")
    MethodProfiler.keep_installed()
    before = Child.send

    @functools.wraps(before)
    def send(self):
        return f"traced({before(self)})"

    Child.send = send
    for _ in range(3):
        assert count(lambda: Child().send()) == ("traced(real)", 1)
    with mock.patch.object(Parent, "send", lambda self: "mock"):
        assert count(lambda: Child().send()) == ("traced(mock)", 1)


def test_the_address_of_a_wrapper_that_was_replaced_may_be_another_object_s():
    Parent, Child = family()
    patched(Child, "make")
    MethodProfiler.keep_installed()
    for number in range(3):
        Child.make = classmethod(lambda cls, number=number: number)
        assert count(lambda: Child.make()) == (number, 1)
    MethodProfiler.unpatch(Child)
    assert inherited.in_place == {}


def test_a_bound_method_in_a_class_is_counted():
    class Held:
        make = family()[1]().send

    patched(Held, "make")
    assert count(lambda: (Held().make(), Held.make())) == (("real", "real"), 2)


def test_what_is_no_method_stays_where_other_code_has_put_it():
    class Odd:
        def __get__(self, instance, kind):
            return "odd"

    Lone, Other = lone(), lone()
    patched(Lone, "m")
    patched(Other, "m", label="other")
    MethodProfiler.keep_installed()
    before = Lone.m
    for value, given in ((Odd(), "odd"), (5, 5)):
        Lone.m = value
        for _ in range(3):
            assert count(lambda: (Lone().m, Other().m()), "other") == ((given, ["m"]), 1)
    Lone.m = before
    for _ in range(2):
        assert count(lambda: Lone().m()) == (["m"], 1)


def test_replaced_by_another_while_profiled():
    Lone = lone()
    patched(Lone, "m")
    MethodProfiler.start()
    Lone.m = lambda self: ["new"]
    assert Lone().m() == ["new"]
    MethodProfiler.stop()
    assert count(lambda: Lone().m()) == (["new"], 1)


def test_replaced_by_another_while_kept():
    Lone = lone()
    patched(Lone, "m")
    MethodProfiler.keep_installed()
    Lone.m = lambda self: ["new"]
    assert [count(lambda: Lone().m()) for _ in range(3)] == [(["new"], 1)] * 3


def test_replaced_and_put_back():
    for keep in (False, True):
        Lone = lone()
        patched(Lone, "m")
        MethodProfiler.keep_installed(keep)
        MethodProfiler.start()
        before = Lone.m
        Lone.m = lambda self: ["new"]
        MethodProfiler.stop()
        count(lambda: Lone().m())
        Lone.m = before
        assert [count(lambda: Lone().m()) for _ in range(2)] == [(["m"], 1)] * 2
        MethodProfiler.unpatch(Lone)
        assert Lone().m() == ["m"]


def test_replaced_by_a_mock_and_put_back():
    for keep in (False, True):
        Lone = lone()
        original = Lone.m
        patched(Lone, "m")
        MethodProfiler.keep_installed(keep)
        with mock.patch.object(Lone, "m", autospec=True, return_value="mock") as double:
            assert count(lambda: Lone().m())[0] == "mock" and double.called
        assert [count(lambda: Lone().m()) for _ in range(2)] == [(["m"], 1)] * 2
        MethodProfiler.unpatch(Lone)
        assert vars(Lone)["m"] is original


def test_mock_begun_before_a_profile_and_ended_within():
    Lone = lone()
    original = Lone.m
    patched(Lone, "m")
    double = mock.patch.object(Lone, "m", lambda self: "mock")
    double.start()
    with MethodProfiler.profile():
        assert Lone().m() == "mock"
        double.stop()
        assert Lone().m() == ["m"]
    assert vars(Lone)["m"] is original
    assert count(lambda: Lone().m()) == (["m"], 1)


def test_mock_begun_within_a_profile_and_ended_after():
    Lone = lone()
    patched(Lone, "m")
    double = mock.patch.object(Lone, "m", lambda self: "mock")
    with MethodProfiler.profile():
        double.start()
    assert Lone().m() == "mock"
    double.stop()
    assert Lone().m() == ["m"]
    assert [count(lambda: Lone().m()) for _ in range(2)] == [(["m"], 1)] * 2


def test_mock_of_one_object():
    Lone = lone()
    patched(Lone, "m")
    one, other = Lone(), Lone()
    with mock.patch.object(one, "m", return_value="mock"):
        assert count(lambda: (one.m(), other.m())) == (("mock", ["m"]), 1)
    assert one.m() == ["m"]


def test_alias_made_before_the_patch():
    Lone = lone()
    Lone.again = Lone.m
    patched(Lone, "m")
    assert count(lambda: Lone().again()) == (["m"], 0)


def test_alias_made_while_profiled():
    Lone = lone()
    patched(Lone, "m")
    with MethodProfiler.profile():
        Lone.again = Lone.m
    assert Lone().again() == ["m"]
    MethodProfiler.unpatch(Lone)
    assert Lone().again() == ["m"]


def test_method_object_taken_before():
    Lone = lone()
    taken = Lone().m
    patched(Lone, "m")
    assert count(taken) == (["m"], 0)  # A method taken out before is the original: see the README.


def test_method_object_taken_while_profiled():
    Lone = lone()
    patched(Lone, "m")
    with MethodProfiler.profile():
        taken = Lone().m
    assert taken() == ["m"]
    MethodProfiler.unpatch(Lone)
    assert taken() == ["m"] and count(taken) == (["m"], 0)


# Patching itself. -----------------------------------------------------------------------------------------------------------------------


def test_patched_twice_counts_once():
    patched(Thing, "other")
    patched(Thing, "other", "other")
    assert count(lambda: Thing().other()) == (1, 1)


def test_patched_under_two_names_is_refused():
    patched(Thing, "other")
    with pytest.raises(ValueError, match="profiled as 'it' already"):
        patched(Thing, "other", label="else")


def test_patched_while_profiling():
    with MethodProfiler.profile() as profile:
        Thing().other()
        patched(Thing, "other")
        Thing().other()
    assert profile["it"]["calls"] == 1


def test_unpatched_while_profiling():
    patched(Thing, "other")
    with MethodProfiler.profile() as profile:
        Thing().other()
        MethodProfiler.unpatch(Thing)
        Thing().other()
    assert profile["it"]["calls"] == 1


def test_unpatched_method_is_the_very_one():
    before = vars(Thing)["other"]
    patched(Thing, "other")
    MethodProfiler.keep_installed()
    MethodProfiler.unpatch(Thing)
    assert vars(Thing)["other"] is before


def test_unpatching_what_is_not_patched_is_refused():
    with pytest.raises(KeyError, match="`other` of class `Thing` is not profiled"):
        MethodProfiler.unpatch(Thing, "other")


def test_unknown_name_is_refused_with_a_guess():
    with pytest.raises(AttributeError, match="did you mean `other`"):
        patched(Thing, "othr")


def test_all_names_or_none():
    with pytest.raises(AttributeError):
        patched(Thing, "other", "nonesuch")
    assert not MethodProfiler._patches


def test_frozen_class():
    class Frozen(type):
        def __setattr__(cls, name, value):
            raise AttributeError("frozen")

    class Stone(metaclass=Frozen):
        def weight(self):
            return 1

    with pytest.raises(AttributeError, match="frozen"):
        patched(Stone, "weight")
    patched(Slotted, "get")
    assert count(lambda: Slotted().get()) == (7, 1)


def test_built_in_class():
    with pytest.raises(TypeError, match="patch a subclass"):
        patched(list, "append")


def test_not_a_class_is_refused():
    for wrong in ("Thing", Thing(), Thing.other, 5):
        with pytest.raises(TypeError, match="patch takes a class or a module"):
            patched(wrong, "other")


def test_class_is_collected_after_unpatch():
    for make in (lone, lambda: family()[1]):
        kind = make()
        name = "m" if hasattr(kind, "m") else "send"
        patched(kind, name)
        count(lambda: getattr(kind(), name)())
        MethodProfiler.unpatch(kind)
        gone = weakref.ref(kind)
        del kind
        gc.collect()
        assert gone() is None


def test_object_is_serialised_while_profiled():
    patched(Thing, "other")
    with MethodProfiler.profile():
        assert pickle.loads(pickle.dumps(Thing())).value == 1
        assert pickle.loads(pickle.dumps(Thing().other))() == 1


def test_object_is_copied_while_profiled():
    patched(Thing, "other")
    with MethodProfiler.profile() as profile:
        assert copy.deepcopy(Thing()).other() == copy.copy(Thing()).other() == 1
    assert profile["it"]["calls"] == 2


def test_reflection_shows_the_method():
    patched(Thing, "other")
    with MethodProfiler.profile():
        assert hasattr(Thing(), "other") and "other" in dir(Thing) and callable(Thing.other)
        assert "other" in vars(Thing)
