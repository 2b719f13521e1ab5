"""What can be patched and what cannot; everything stays the same before, during and after
profiling."""

import abc
import copy
import enum
import functools
import inspect
import pickle
import sys
import types
import typing

import pytest
import things
from things import Child, Slotted, Thing, calls_of, profiled

from assay import MethodProfiler
from assay.profiler import engine


def test_several_methods_of_several_classes_share_one_name():
    MethodProfiler.patch(Thing, ["other", "static"], "it")
    MethodProfiler.patch(Slotted, "get", "it")
    assert calls_of(lambda: (Thing().other(), Thing.static(), Slotted().get())) == 3


def test_every_kind_of_method_works_as_before_and_is_counted():
    names = [
        "plain",
        "of_class",
        "static",
        "prop",
        "cached",
        "remembered",
        "__call__",
        "__getitem__",
        "__init__",
        "builtin",
    ]
    MethodProfiler.patch(Thing, names, "it")

    def use():
        thing = Thing()
        assert thing.plain(1, 5, 6, key="z", more=1) == (1, 5, (6,), "z", {"more": 1})
        assert Thing.plain(thing, 1) == (1, 2, (), "k", {})
        assert Thing.of_class(4) == (Thing, 4) and thing.of_class() == (Thing, 0)
        assert Child.of_class() == (Child, 0)
        assert thing.static(8) == 8 and Thing.static() == 0
        thing.prop = 5
        assert thing.prop == 5
        assert thing.cached is thing.cached
        assert thing.remembered(3) == 3
        assert Thing.remembered.cache_info().hits >= 0
        assert thing(1) == 2
        assert thing["a"] == "a"
        assert thing.builtin([1, 2]) == 2

    use()
    assert calls_of(use) == 1 + 2 + 3 + 2 + 2 + 1 + 1 + 1 + 1 + 1
    use()


def test_private_names_are_found_as_they_are_written_in_the_class():
    MethodProfiler.patch(Thing, ["__secret"], "it")
    assert calls_of(lambda: Thing().tell()) == 1


def test_functions_of_a_module_are_profiled():
    module = types.ModuleType("shop")
    exec(
        "import time\ndef buy(n=1):\n    return n\ndef twice():\n    return buy() + buy()\nsleep = time.sleep",
        vars(module),
    )
    MethodProfiler.patch(module, ["buy", "sleep"], "it")
    assert calls_of(lambda: (module.twice(), module.buy(n=3), module.sleep(0))) == 4
    assert isinstance(module.buy, types.FunctionType)


def test_an_inherited_method_is_profiled_for_that_class_only():
    MethodProfiler.patch(Child, ["other"], "it")
    assert calls_of(lambda: (Child().other(), Thing().other())) == 1
    assert "other" not in vars(Child)


def test_a_method_of_a_builtin_base_is_profiled_in_a_subclass():
    class Pile(list):
        pass

    MethodProfiler.patch(Pile, ["append", "__len__"], "it")
    pile = Pile()

    def use():
        pile.append(1)
        assert len(pile) == 1

    assert calls_of(use) == 2
    assert "append" not in vars(Pile)


@pytest.mark.wrappers
def test_a_subclass_and_its_base_are_profiled_at_once():
    MethodProfiler.patch(Thing, ["plain"], "it")
    MethodProfiler.patch(Child, ["plain", "other"], "it")
    section = profiled(lambda: Child().plain(1))
    assert section.calls == 2
    # Inherited, and patched on both classes: counted once, for the class that is used.
    MethodProfiler.patch(Thing, ["other"], "it")
    assert calls_of(lambda: Child().other()) == 1


@pytest.mark.wrappers
def test_original_functions_stand_in_their_places_while_nobody_profiles():
    before = {name: vars(Thing)[name] for name in ("plain", "of_class", "static", "prop", "cached")}
    MethodProfiler.patch(Thing, list(before), "it")
    assert all(vars(Thing)[name] is before[name] for name in before)
    with MethodProfiler.profile():
        assert all(vars(Thing)[name] is not before[name] for name in before)
    assert all(vars(Thing)[name] is before[name] for name in before)


@pytest.mark.wrappers
def test_wrappers_stay_in_where_it_is_asked_for_and_count_only_within_a_profile():
    before = vars(Thing)["other"]
    MethodProfiler.patch(Thing, ["other"], "it")
    MethodProfiler.keep_installed()
    assert vars(Thing)["other"] is not before
    assert Thing().other() == 1
    assert calls_of(lambda: Thing().other()) == 1
    MethodProfiler.keep_installed(False)
    assert vars(Thing)["other"] is before


@pytest.mark.wrappers
def test_wrappers_stay_in_after_many_profiles_since_every_swap_changes_the_class():
    before = vars(Thing)["other"]
    MethodProfiler.patch(Thing, ["other"], "it")
    for _ in range(120):
        assert calls_of(lambda: Thing().other()) == 1
    assert vars(Thing)["other"] is not before


@pytest.mark.wrappers
def test_unpatched_methods_are_the_ones_from_before():
    before = vars(Thing)["plain"], vars(Thing)["other"]
    MethodProfiler.patch(Thing, ["plain", "other"], "it")
    MethodProfiler.keep_installed()
    MethodProfiler.unpatch(Thing, ["plain"])
    assert vars(Thing)["plain"] is before[0] and vars(Thing)["other"] is not before[1]
    MethodProfiler.unpatch(Thing)
    assert vars(Thing)["other"] is before[1]
    with pytest.raises(KeyError, match="is not profiled"):
        MethodProfiler.unpatch(Thing, "plain")


def test_unpatching_while_a_profile_goes_on_keeps_what_was_counted():
    MethodProfiler.patch(Thing, ["other"], "it")

    def use():
        Thing().other()
        MethodProfiler.unpatch(Thing)
        Thing().other()

    assert calls_of(use) == 1


def test_patching_while_a_profile_goes_on_counts_from_then_on():
    def use():
        Thing().other()
        MethodProfiler.patch(Thing, ["other"], "it")
        Thing().other()

    assert calls_of(use) == 1


def test_patching_twice_counts_once():
    MethodProfiler.patch(Thing, ["other"], "it")
    MethodProfiler.patch(Thing, ["other", "other"], "it")
    MethodProfiler.patch(Slotted, ["get", "get"], "it")
    assert calls_of(lambda: Slotted().get()) == 1
    MethodProfiler.unpatch(Slotted)
    assert calls_of(lambda: Thing().other()) == 1


def test_one_method_can_not_have_two_names():
    MethodProfiler.patch(Thing, ["other"], "it")
    with pytest.raises(ValueError, match="`other` of class `Thing` is profiled as 'it' already"):
        MethodProfiler.patch(Thing, ["plain", "other"], "else")
    assert calls_of(lambda: Thing().plain(1), "else") == 0


def test_a_name_that_is_not_there_is_refused_with_a_guess_and_nothing_is_patched():
    with pytest.raises(AttributeError, match="class `Thing` has no `plane`; did you mean `plain`"):
        MethodProfiler.patch(Thing, ["other", "plane"], "it")
    assert calls_of(lambda: Thing().other()) == 0
    with pytest.raises(AttributeError, match="module `types` has no `nonesuch`"):
        MethodProfiler.patch(types, ["nonesuch"], "it")


def test_what_only_getattr_makes_up_is_refused():
    class Ghost:
        def __getattr__(self, name):
            return lambda: name

    with pytest.raises(AttributeError, match="`__getattr__`"):
        MethodProfiler.patch(Ghost, ["anything"], "it")


@pytest.mark.parametrize(
    "builtin, method", [(list, "append"), (dict, "get"), (int, "bit_length"), (types.FunctionType, "__call__")]
)
def test_builtin_classes_are_refused(builtin, method):
    with pytest.raises(TypeError, match="built in"):
        MethodProfiler.patch(builtin, [method], "it")


def test_an_instance_is_refused_and_its_class_named():
    with pytest.raises(TypeError, match="instance of `Thing`"):
        MethodProfiler.patch(Thing(), ["other"], "it")


def test_arguments_in_the_wrong_order_or_of_the_wrong_kind_are_refused():
    with pytest.raises(TypeError, match=r"as a list of names such as .*, not \[\]"):
        MethodProfiler.patch(Thing, [], "it")
    with pytest.raises(TypeError, match="as a list of names"):
        MethodProfiler.patch(Thing, [Thing.other], "it")
    with pytest.raises(ValueError, match="the third argument is the name of the totals"):
        MethodProfiler.patch(Thing, "it", ["other"])
    with pytest.raises(TypeError, match="import 'things.Thing', and give what it stands for"):
        MethodProfiler.patch("things.Thing", ["other"], "it")
    with pytest.raises(TypeError, match=r"give module `things` .* and \['function'\]"):
        MethodProfiler.patch(things.function, ["function"], "it")


def test_what_is_no_method_is_refused():
    class Bound:
        def __get__(self, instance, kind):
            return self

        def __call__(self):
            return 1

    with pytest.raises(TypeError, match="`factor` of class `Thing` is a `int`"):
        MethodProfiler.patch(Thing, ["factor"], "it")
    with pytest.raises(TypeError, match="`x` of class `Slotted`"):
        MethodProfiler.patch(Slotted, ["x"], "it")

    class Holder:
        Inner = Thing
        chosen = functools.singledispatchmethod(Thing.plain)
        bound = Bound()

    with pytest.raises(TypeError, match="is a class"):
        MethodProfiler.patch(Holder, ["Inner"], "it")
    with pytest.raises(TypeError, match="`chosen` .* is a `singledispatchmethod`"):
        MethodProfiler.patch(Holder, ["chosen"], "it")
    with pytest.raises(TypeError, match="decides by itself what it is bound to"):
        MethodProfiler.patch(Holder, ["bound"], "it")
    with pytest.raises(TypeError, match="is a class"):
        MethodProfiler.patch(things, ["Thing"], "it")


@pytest.mark.wrappers
def test_a_class_that_lets_nobody_set_attributes_is_refused_when_it_is_patched():
    class Frozen(type):
        def __setattr__(cls, name, value):
            raise AttributeError(f"{cls.__name__} is frozen")

    class Stone(metaclass=Frozen):
        def weight(self):
            return 1

    with pytest.raises(AttributeError, match="Stone is frozen"):
        MethodProfiler.patch(Stone, ["weight"], "it")
    assert calls_of(lambda: Stone().weight()) == 0


@pytest.mark.parametrize("name", ["", "total_duration", None])
def test_names_that_a_profile_has_no_place_for_are_refused(name):
    with pytest.raises(ValueError, match="no place"):
        MethodProfiler.patch(Thing, ["other"], name)


def test_abstract_methods_and_enums_are_patched_like_others():
    class Base(abc.ABC):
        @abc.abstractmethod
        def do(self):
            return 1

    class Colour(enum.Enum):
        RED = 1

        def shout(self):
            return self.name

    class Real(Base):
        def do(self):
            return super().do()

    MethodProfiler.patch(Base, ["do"], "it")
    MethodProfiler.patch(Colour, ["shout"], "it")
    assert calls_of(lambda: (Real().do(), Colour.RED.shout())) == 2
    with MethodProfiler.profile(), pytest.raises(TypeError):
        Base()


@pytest.mark.wrappers
def test_name_documentation_signature_and_hints_are_the_original_ones_while_profiled():
    MethodProfiler.patch(Thing, ["plain", "prop", "remembered"], "it")
    before = Thing.plain
    with MethodProfiler.profile():
        now = Thing.plain
        assert now is not before
        for what in (
            "__name__",
            "__qualname__",
            "__doc__",
            "__module__",
            "__annotations__",
            "__defaults__",
            "__kwdefaults__",
        ):
            assert getattr(now, what) == getattr(before, what)
        assert inspect.signature(now) == inspect.signature(before)
        assert inspect.signature(Thing().plain) == inspect.Signature(
            list(inspect.signature(before).parameters.values())[1:], return_annotation=tuple
        )
        assert inspect.unwrap(now) is before
        assert typing.get_type_hints(now) == typing.get_type_hints(before)
        assert inspect.getsource(now) == inspect.getsource(before)
        assert Thing.prop.__doc__ == "What prop is."
        assert callable(now) and inspect.isroutine(before)


def test_profiled_functions_are_pickled_and_copied_by_name():
    MethodProfiler.patch(things, ["function"], "it")
    MethodProfiler.patch(Thing, ["other"], "it")
    with MethodProfiler.profile():
        assert pickle.loads(pickle.dumps(things.function)) is things.function
        assert pickle.loads(pickle.dumps(Thing.other)) is Thing.other
        assert copy.deepcopy(things.function) is things.function
        assert pickle.loads(pickle.dumps(Thing().other))() == 1
    assert pickle.loads(pickle.dumps(things.function)) is things.function


@pytest.mark.wrappers
def test_attributes_of_a_profiled_function_are_read_and_set_on_the_original():
    def marked():
        return 1

    marked.tag = "red"
    module = types.ModuleType("shop")
    module.marked = marked
    MethodProfiler.patch(module, ["marked"], "it")
    with MethodProfiler.profile():
        assert module.marked.tag == "red"
        if engine.NAME == "c":
            module.marked.tag = "blue"
            assert marked.tag == "blue"
            del module.marked.tag
            assert not hasattr(marked, "tag")
            with pytest.raises(AttributeError):
                module.marked.__wrapped__ = 1


def test_wrong_arguments_fail_with_the_same_words_as_before():
    MethodProfiler.patch(Thing, ["plain", "other"], "it")

    def words():
        for call in (
            lambda: Thing().other(1, 2),
            lambda: Thing().plain(),
            lambda: Thing().plain(1, unknown=Thing, x=2, **{"y": 1}),
        ):
            try:
                call()
            except TypeError as problem:
                yield str(problem)

    before = list(words())
    with MethodProfiler.profile():
        assert list(words()) == before
    assert len(before) == 2


def test_another_library_may_wrap_a_profiled_method_while_it_is_profiled():
    class Shop:
        def buy(self):
            return "bought"

    original = vars(Shop)["buy"]
    MethodProfiler.patch(Shop, ["buy"], "it")

    def alias():
        ours = Shop.buy

        @functools.wraps(ours)
        def theirs(self):
            return ours(self) + "!"

        Shop.buy = theirs
        assert Shop().buy() == "bought!"

    assert calls_of(alias) == 1
    # The other replacement stays, with ours inside: neither is lost, and nothing is counted twice.
    assert Shop().buy() == "bought!"
    assert calls_of(lambda: Shop().buy()) == 1
    Shop.buy = original
    assert calls_of(lambda: Shop().buy()) == 1


def test_another_library_may_wrap_a_method_before_and_after():
    class Shop:
        def buy(self):
            return "bought"

    def theirs(function):
        @functools.wraps(function)
        def wrapper(self):
            return function(self) + "!"

        return wrapper

    Shop.buy = theirs(Shop.buy)
    MethodProfiler.patch(Shop, ["buy"], "it")
    assert calls_of(lambda: Shop().buy()) == 1
    Shop.buy = theirs(Shop.buy)
    assert Shop().buy() == "bought!!"
    assert calls_of(lambda: Shop().buy()) == 1
    assert Shop().buy() == "bought!!"


def test_a_way_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match='`by` is "wrapper" or "monitoring", not \'magic\''):
        MethodProfiler.patch(Thing, ["other"], "it", by="magic")


@pytest.mark.skipif(engine.NAME == "c" and sys.version_info >= (3, 12), reason="there is sys.monitoring")
def test_where_there_is_no_monitoring_it_says_so():
    with pytest.raises(RuntimeError, match="needs Python 3.12 or later and the accelerator"):
        MethodProfiler.patch(Thing, ["other"], "it", by="monitoring")
    assert not MethodProfiler._patches
