"""Cases of both front ends: arguments and results of calls, and the ways in which calls end."""

import inspect
import signal
import sys
import textwrap
import threading
import traceback

import pytest
from cases import count, patched

from assay import MethodProfiler


# Arguments and results. ------------------------------------------------------------------------------------------------------


class Echo:
    def positional(self, a, b):
        return a, b

    def optional(self, a, b=2):
        return a, b

    def rest(self, *rest):
        return rest

    def keywords(self, *, a, b=2):
        return a, b

    def more(self, **more):
        return more

    def last(self, a, options=None):
        return options

    def back(self, function):
        return function

    def names(self, recording, _assay, original, _original=1, flow=2):
        return recording, _assay, original, _original, flow

    def same(self, value):
        return value

    def nothing(self):
        pass

    def itself(self):
        return self


@pytest.mark.parametrize("a, b", [(1, 2)])
def test_positional_arguments(a, b):
    patched(Echo, "positional")
    assert count(lambda: Echo().positional(a, b)) == ((a, b), 1)


def test_default_arguments():
    patched(Echo, "optional")
    assert count(lambda: (Echo().optional(1), Echo().optional(1, 3))) == (((1, 2), (1, 3)), 2)


def test_rest_arguments():
    patched(Echo, "rest")
    assert count(lambda: Echo().rest(1, *[2, 3])) == ((1, 2, 3), 1)


def test_keyword_arguments():
    patched(Echo, "positional")
    assert count(lambda: Echo().positional(b=1, a=2)) == ((2, 1), 1)


def test_required_keyword():
    patched(Echo, "keywords")
    assert count(lambda: Echo().keywords(a=1)) == ((1, 2), 1)


def test_rest_of_keywords():
    patched(Echo, "more")
    assert count(lambda: Echo().more(x=1, **{"odd name": 2})) == ({"x": 1, "odd name": 2}, 1)


def test_hash_as_last_argument():
    given = {"a": 1}
    patched(Echo, "last")
    assert count(lambda: Echo().last(1, given) is given) == (True, 1)


def test_block_or_callback_argument():
    def callback():
        pass

    patched(Echo, "back")
    assert count(lambda: Echo().back(callback) is callback) == (True, 1)


def test_arguments_named_like_internals():
    patched(Echo, "names")
    assert count(lambda: Echo().names(1, _assay=2, original=3)) == ((1, 2, 3, 1, 2), 1)


def test_default_that_is_computed():
    class Grows:
        def add(self, to=[]):  # noqa: B006
            to.append(1)
            return len(to)

    patched(Grows, "add")
    assert Grows().add() == 1
    with MethodProfiler.profile():
        assert Grows().add() == 2
    assert Grows().add() == 3


def test_arguments_are_not_copied():
    given = [1]
    patched(Echo, "same")
    with MethodProfiler.profile():
        assert Echo().same(given) is given and Echo().same(value=given) is given


@pytest.mark.parametrize("name", ["positional", "optional", "rest", "keywords", "more", "names"])
def test_signature_is_the_original(name):
    before = inspect.signature(getattr(Echo, name))
    patched(Echo, name)
    with MethodProfiler.profile():
        assert inspect.signature(getattr(Echo, name)) == before


def words(call):
    with pytest.raises(TypeError) as found:
        call()
    return str(found.value)


def same_words(call):
    before = words(call)
    with MethodProfiler.profile():
        return words(call) == before


def test_wrong_number_of_arguments_same_words():
    patched(Echo, "positional", "nothing")
    assert same_words(lambda: Echo().positional(1)) and same_words(lambda: Echo().nothing(1, 2))


def test_unknown_keyword_same_words():
    patched(Echo, "positional")
    assert same_words(lambda: Echo().positional(1, 2, c=3))


def test_missing_keyword_same_words():
    patched(Echo, "keywords")
    assert same_words(lambda: Echo().keywords())


def test_name_is_the_original():
    patched(Echo, "same")
    with MethodProfiler.profile():
        now = Echo.same
        assert (now.__name__, now.__qualname__, now.__module__) == ("same", "Echo.same", __name__)


def test_returned_object_is_the_same():
    thing = object()
    patched(Echo, "same")
    with MethodProfiler.profile():
        assert Echo().same(thing) is thing


def test_returns_nothing():
    patched(Echo, "nothing")
    assert count(lambda: Echo().nothing()) == (None, 1)


def test_returns_itself():
    patched(Echo, "itself")
    one = Echo()
    with MethodProfiler.profile() as profile:
        assert one.itself().itself() is one
    assert profile["it"]["calls"] == 2


# Ways out of a call. -----------------------------------------------------------------------------------------------------------


class Fails:
    problem = KeyError("no")

    def fail(self):
        raise self.problem

    def rescue(self):
        try:
            self.fail()
        except KeyError:
            return "rescued"

    def leave(self, items):
        for item in items:
            try:
                return item
            finally:
                self.left = getattr(self, "left", 0) + 1

    def down(self, n):
        return n and self.down(n - 1)

    def ping(self, n):
        return n and self.pong(n - 1)

    def pong(self, n):
        return n and self.ping(n - 1)

    def endless(self):
        return self.endless()

    def calls(self, function):
        return function()


def test_exception_passes_untouched():
    patched(Fails, "fail")
    with MethodProfiler.profile(), pytest.raises(KeyError) as found:
        Fails().fail()
    assert found.value is Fails.problem
    assert "raise self.problem" in "".join(traceback.format_tb(found.value.__traceback__))


def test_exception_is_counted_as_failed():
    patched(Fails, "fail")
    with MethodProfiler.profile() as profile, pytest.raises(KeyError):
        Fails().fail()
    it = profile.sections["it"]
    assert (it.calls, it.errors, it.unfinished) == (1, 1, 0)


def test_exception_rescued_inside_is_no_failure():
    patched(Fails, "rescue")
    with MethodProfiler.profile() as profile:
        assert Fails().rescue() == "rescued"
    assert profile.sections["it"].errors == 0


def test_exception_while_another_is_handled():
    patched(Fails, "fail", "calls")
    with MethodProfiler.profile() as profile:
        try:
            raise ValueError("first")
        except ValueError as first:
            Fails().calls(lambda: 1)
            with pytest.raises(KeyError) as found:
                Fails().fail()
            assert found.value.__context__ is first
    assert profile.sections["it"].errors == 1


def test_interrupt_passes():
    patched(Fails, "calls")

    def interrupted():
        raise KeyboardInterrupt

    with MethodProfiler.profile() as profile, pytest.raises(KeyboardInterrupt):
        Fails().calls(interrupted)
    assert profile.sections["it"].errors == 1


def test_exit_passes():
    patched(Fails, "calls")
    with MethodProfiler.profile(), pytest.raises(SystemExit) as found:
        Fails().calls(lambda: sys.exit(3))
    assert found.value.code == 3


def test_stop_iteration_passes():
    patched(Fails, "calls")
    with MethodProfiler.profile(), pytest.raises(StopIteration):
        Fails().calls(lambda: next(iter([])))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_timeout_leaves_no_call_open():
    patched(Fails, "calls")

    def over(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, over)
    try:
        with MethodProfiler.profile() as profile:
            with pytest.raises(TimeoutError):
                signal.setitimer(signal.ITIMER_REAL, 0.01)
                Fails().calls(threading.Event().wait)
            Fails().calls(lambda: 1)
    finally:
        signal.signal(signal.SIGALRM, before)
    it = profile.sections["it"]
    assert (it.calls, it.errors, it.unfinished) == (2, 1, 0)


def test_early_return_is_an_end():
    patched(Fails, "leave")
    one = Fails()
    with MethodProfiler.profile() as profile:
        assert one.leave([7, 8]) == 7
    assert one.left == 1 and profile.sections["it"].unfinished == 0


def test_recursion_counts_calls_and_time_once():
    patched(Fails, "down")
    with MethodProfiler.profile() as profile:
        Fails().down(50)
    it = profile.sections["it"]
    assert it.calls == 51 and it.duration <= profile.total_duration


def test_recursion_over_two_objects():
    class Node:
        def __init__(self, below=None):
            self.below = below

        def depth(self):
            return 1 + (self.below.depth() if self.below else 0)

    patched(Node, "depth")
    with MethodProfiler.profile() as profile:
        assert Node(Node(Node())).depth() == 3
    assert profile["it"]["calls"] == 3 and profile["it"]["duration"] <= profile.total_duration


def test_mutual_recursion_of_one_name():
    patched(Fails, "ping", "pong")
    with MethodProfiler.profile() as profile:
        Fails().ping(9)
    assert profile["it"]["calls"] == 10 and profile["it"]["duration"] <= profile.total_duration


def test_endless_recursion_is_survived():
    patched(Fails, "endless", "calls")
    with MethodProfiler.profile() as profile:
        with pytest.raises(RecursionError):
            Fails().endless()
    assert profile.sections["it"].unfinished == 0
    assert count(lambda: Fails().calls(lambda: 4)) == (4, 1)


def test_exclusive_time_is_without_others():
    class Two:
        def outer(self):
            return self.inner() + sum(range(1000))

        def inner(self):
            return sum(range(100_000))

    patched(Two, "outer", label="outer")
    patched(Two, "inner", label="inner")
    with MethodProfiler.profile() as profile:
        Two().outer()
    outer, inner = profile.sections["outer"], profile.sections["inner"]
    assert outer.exclusive <= outer.duration - inner.duration + 1e-6


def test_super_call_counts_where_both_are_patched():
    class Child(Fails):
        def calls(self, function):
            return super().calls(function)

    patched(Fails, "calls")
    patched(Child, "calls")
    assert count(lambda: Child().calls(lambda: 1)) == (1, 2)


def test_callback_within_a_call():
    patched(Fails, "calls")
    patched(Echo, "same", label="other")
    with MethodProfiler.profile() as profile:
        assert Fails().calls(lambda: Echo().same(5)) == 5
    assert profile["it"]["calls"] == profile["other"]["calls"] == 1


def test_retry_counts_every_attempt():
    class Flaky:
        left = 2

        def try_it(self):
            if self.left:
                self.left -= 1
                raise OSError
            return "done"

    patched(Flaky, "try_it")
    with MethodProfiler.profile() as profile:
        one = Flaky()
        while True:
            try:
                one.try_it()
                break
            except OSError:
                pass
    assert (profile.sections["it"].calls, profile.sections["it"].errors) == (3, 2)


def test_stop_within_a_call_is_unfinished():
    patched(Fails, "calls")
    MethodProfiler.start()
    profile = Fails().calls(MethodProfiler.stop)
    it = profile.sections["it"]
    assert (it.calls, it.unfinished, it.duration) == (1, 1, 0.0)


def test_start_within_a_call_counts_nothing_of_it():
    patched(Fails, "calls")
    MethodProfiler.keep_installed()
    Fails().calls(MethodProfiler.start)
    Fails().calls(lambda: 1)
    assert MethodProfiler.stop()["it"]["calls"] == 1


def test_source_can_be_read_while_profiled():
    patched(Echo, "itself")
    with MethodProfiler.profile():
        assert "return self" in textwrap.dedent(inspect.getsource(Echo.itself))
