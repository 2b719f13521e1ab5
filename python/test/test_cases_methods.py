"""Cases of both front ends: kinds of methods."""

import abc
import collections
import dataclasses
import functools
import types

import pytest
from cases import count, patched

from assay import MethodProfiler


class Sum:
    total = 0

    def __init__(self, value=1):
        self.value = value

    def get(self, *rest, key=None, **more):
        return self.value, rest, key, more

    def __add__(self, other):
        return Sum(self.value + other.value)

    def __eq__(self, other):
        return self.value == other.value

    __hash__ = None

    def __str__(self):
        return f"<{self.value}>"

    def __call__(self, x):
        return x + self.value

    def __iter__(self):
        yield self.value

    def __getitem__(self, key):
        return key, self.value

    def __setitem__(self, key, value):
        self.value = key, value

    @classmethod
    def of_class(cls):
        return cls

    @staticmethod
    def static(x=3):
        return x

    @property
    def prop(self):
        return self.value

    @prop.setter
    def prop(self, value):
        self.value = value


# Kinds of methods. ---------------------------------------------------------------------------------------------------------


def test_plain_method():
    patched(Sum, "get")
    assert count(lambda: Sum(5).get()) == ((5, (), None, {}), 1)


def test_class_method():
    class Child(Sum):
        pass

    patched(Sum, "of_class")
    assert count(lambda: (Sum.of_class(), Child.of_class())) == ((Sum, Child), 2)


def test_static_method():
    patched(Sum, "static")
    assert count(lambda: (Sum.static(), Sum().static(4))) == ((3, 4), 2)


def test_function_of_a_module():
    shop = types.ModuleType("shop")
    exec("def buy(): return 1\ndef twice(): return buy() + buy()", vars(shop))
    patched(shop, "buy")
    assert count(lambda: shop.buy() + shop.twice()) == (3, 3)


def test_attribute_reader():
    patched(Sum, "prop")
    assert count(lambda: Sum(7).prop) == (7, 1)


def test_attribute_writer():
    def write():
        one = Sum()
        one.prop = 9
        return one.value

    patched(Sum, "prop")
    assert count(write) == (9, 1)


def test_constructor():
    patched(Sum, "__init__")
    assert count(lambda: Sum(4).value) == (4, 1)


def test_allocation_method():
    class Made:
        def __new__(cls, value):
            made = super().__new__(cls)
            made.value = value
            return made

    patched(Made, "__new__")
    assert count(lambda: Made(4).value) == (4, 1)
    MethodProfiler.unpatch(Made)
    assert Made(5).value == 5

    class Plain:
        def __init__(self, value):
            self.value = value

    with pytest.raises(TypeError, match="patch `__init__`"):
        patched(Plain, "__new__")
    assert Plain(1).value == 1


def test_operator_method():
    patched(Sum, "__add__")
    assert count(lambda: (Sum(1) + Sum(2)).value) == (3, 1)


def test_index_method():
    patched(Sum, "__getitem__")
    assert count(lambda: Sum(1)["a"]) == (("a", 1), 1)


def test_index_assignment():
    def assign():
        one = Sum()
        one["a"] = 2
        return one.value

    patched(Sum, "__setitem__")
    assert count(assign) == (("a", 2), 1)


def test_comparison_method():
    patched(Sum, "__eq__")
    assert count(lambda: Sum(1) == Sum(1)) == (True, 1)


def test_conversion_to_text():
    patched(Sum, "__str__")
    assert count(lambda: f"{Sum(2)}") == ("<2>", 1)


def test_call_operator():
    patched(Sum, "__call__")
    assert count(lambda: Sum(2)(3)) == (5, 1)


def test_iteration_method():
    patched(Sum, "__iter__")
    assert count(lambda: list(Sum(2))) == ([2], 1)


def test_private_method():
    class Safe:
        def __open(self):
            return "open"

        def ask(self):
            return self.__open()

    patched(Safe, "__open")
    assert count(lambda: Safe().ask()) == ("open", 1)


def test_method_written_in_c():
    class Pile(list):
        pass

    patched(Pile, "append", "__len__")
    assert count(lambda: (Pile().append(1), len(Pile()))) == ((None, 0), 2)


def test_method_with_an_odd_name():
    class Odd:
        def größe(self):
            return 1

    setattr(Odd, "is it?", lambda self: 2)
    setattr(Odd, "if", lambda self: 3)
    patched(Odd, "größe", "is it?", "if")
    assert count(lambda: (Odd().größe(), getattr(Odd(), "is it?")(), getattr(Odd(), "if")())) == ((1, 2, 3), 3)


def test_method_made_at_run_time():
    class Made:
        pass

    for n in range(3):
        setattr(Made, f"m{n}", lambda self, n=n: n)
    patched(Made, "m0", "m1", "m2")
    assert count(lambda: Made().m0() + Made().m1() + Made().m2()) == (3, 3)


def test_generated_member_of_a_record():
    @dataclasses.dataclass
    class Point:
        x: int

    Pair = collections.namedtuple("Pair", "a b")
    patched(Point, "__init__", "__eq__", "__repr__")
    patched(Pair, "_replace", "_asdict")
    assert count(lambda: (Point(1) == Point(1), Pair(1, 2)._replace(a=3).a)) == ((True, 3), 4)


def test_method_of_one_object():
    one = Sum()
    one.ask = lambda: 1
    with pytest.raises(TypeError, match="instance of `Sum`.*give its class"):
        patched(one, "ask")


def test_method_of_a_mixin():
    class Mixin:
        def mixed(self):
            return type(self).__name__

    class A(Mixin):
        pass

    class B(Mixin):
        pass

    patched(Mixin, "mixed")
    assert count(lambda: A().mixed() + B().mixed()) == ("AB", 2)


def test_abstract_method_and_its_implementation():
    class Base(abc.ABC):
        @abc.abstractmethod
        def do(self):
            return 1

    class Real(Base):
        def do(self):
            return super().do() + 1

    patched(Base, "do")
    patched(Real, "do")
    assert count(lambda: Real().do()) == (2, 2)
    with MethodProfiler.profile(), pytest.raises(TypeError):
        Base()


def test_memoised_method():
    class Known:
        @functools.cached_property
        def once(self):
            return object()

        @functools.lru_cache(maxsize=4)
        def kept(self, x):
            return x

    patched(Known, "once", "kept")
    one = Known()
    with MethodProfiler.profile() as profile:
        assert one.once is one.once and one.kept(1) == one.kept(1) == 1
    assert profile["it"]["calls"] == 3 and Known.kept.cache_info().hits == 1


def test_partially_applied_method():
    class Part:
        def both(self, x, y=0):
            return x, y

        @classmethod
        def made(cls, x):
            return cls, x

        five = functools.partialmethod(both, 5)
        one = functools.partialmethod(made, 1)

    class Child(Part):
        pass

    patched(Part, "five", "one")
    patched(Child, "five", label="child")
    assert count(lambda: (Part().five(y=2), Part.one(), Part().both(3))) == (((5, 2), (Part, 1), (3, 0)), 2)
    assert count(lambda: Child().five(), "child") == ((5, 0), 1)


def test_made_up_method_is_refused():
    class Ghost:
        def __getattr__(self, name):
            return lambda: name

    with pytest.raises(AttributeError, match="what `__getattr__` makes up is not there"):
        patched(Ghost, "boo")


def test_method_of_an_anonymous_class():
    made = type("", (), {"m": lambda self: 1})
    patched(made, "m")
    assert count(lambda: made().m()) == (1, 1)
