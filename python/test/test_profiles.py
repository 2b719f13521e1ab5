"""Starting and stopping, the contents of a profile, and the assignment of calls to names."""

import re

import pytest
from things import Thing, profiled

from assay import MethodProfiler, NotRecording


def test_the_result_has_the_shape_of_the_article():
    MethodProfiler.patch(Thing, ["other"], "name")
    MethodProfiler.start()
    for _ in range(12):
        Thing().other()
    result = MethodProfiler.stop()
    assert set(result.to_dict()) == {"total_duration", "name"}
    assert set(result["name"]) == {"duration", "calls"}
    assert result["name"]["calls"] == 12
    assert 0 <= result["name"]["duration"] <= result["total_duration"] == result.total_duration
    assert dict(result) == result.to_dict()
    assert "name" in result and "nobody" not in result
    with pytest.raises(KeyError, match="nothing is profiled as 'nobody'; names given to `patch`: .*'name'"):
        result["nobody"]


def test_a_name_that_was_not_called_has_zeros():
    MethodProfiler.patch(Thing, ["other"], "it")
    with MethodProfiler.profile() as profile:
        pass
    assert profile["it"] == {"duration": 0.0, "calls": 0}
    assert "it" not in profile and "it" not in profile.to_dict()


def test_exceptions_pass_through_and_are_counted():
    MethodProfiler.patch(Thing, ["fails", "other"], "it")

    def use():
        with pytest.raises(KeyError, match="no"):
            Thing().fails()
        Thing().other()

    section = profiled(use)
    assert (section.calls, section.errors, section.unfinished) == (2, 1, 0)


def test_exceptions_of_the_interpreter_pass_through():
    MethodProfiler.patch(Thing, ["recurse"], "it")

    def use():
        with pytest.raises(RecursionError):
            Thing().recurse(10**9)

    section = profiled(use)
    assert section.calls > 10 and section.errors >= section.calls - 1 and section.unfinished == 0


def test_recursion_is_timed_once_and_counted_call_by_call():
    MethodProfiler.patch(Thing, ["recurse"], "it")
    with MethodProfiler.profile() as profile:
        Thing().recurse(200)
    section = profile.sections["it"]
    assert section.calls == 201
    assert section.exclusive <= section.duration <= profile.total_duration


def test_recursion_through_another_name_is_timed_once_too():
    class Pair:
        def even(self, n):
            return True if n == 0 else self.odd(n - 1)

        def odd(self, n):
            return False if n == 0 else self.even(n - 1)

    MethodProfiler.patch(Pair, ["even"], "even")
    MethodProfiler.patch(Pair, ["odd"], "odd")
    with MethodProfiler.profile() as profile:
        assert Pair().even(100)
    even, odd = profile.sections["even"], profile.sections["odd"]
    assert (even.calls, odd.calls) == (51, 50)
    assert odd.duration <= even.duration <= profile.total_duration
    assert even.exclusive + odd.exclusive <= profile.total_duration


def test_exclusive_time_leaves_out_other_names():
    import time

    class Work:
        def outer(self):
            self.inner()

        def inner(self):
            time.sleep(0.02)

    MethodProfiler.patch(Work, ["outer"], "outer")
    MethodProfiler.patch(Work, ["inner"], "inner")
    with MethodProfiler.profile() as profile:
        Work().outer()
    outer, inner = profile.sections["outer"], profile.sections["inner"]
    assert inner.duration >= 0.019 and outer.duration >= inner.duration
    assert outer.exclusive <= outer.duration - 0.019
    assert inner.exclusive == pytest.approx(inner.duration)


def test_stop_without_start_is_an_error_that_says_why():
    with pytest.raises(NotRecording, match="no profile goes on in this thread or task"):
        MethodProfiler.stop()
    profile = MethodProfiler.start()
    assert MethodProfiler.stop() is profile
    with pytest.raises(NotRecording, match="was stopped before"):
        profile.stop()


def test_a_nested_profile_counts_for_itself_and_then_for_the_outer_one():
    MethodProfiler.patch(Thing, ["other", "outer"], "it")
    outer = MethodProfiler.start()
    Thing().other()
    inner = MethodProfiler.start()
    assert MethodProfiler.current() is inner
    Thing().other()
    assert MethodProfiler.stop() is inner
    assert MethodProfiler.current() is outer
    Thing().other()
    assert MethodProfiler.stop() is outer
    assert inner["it"]["calls"] == 1 and outer["it"]["calls"] == 3
    assert inner["it"]["duration"] <= outer["it"]["duration"] <= outer.total_duration
    assert MethodProfiler.current() is None


def test_profiles_may_be_stopped_out_of_order():
    MethodProfiler.patch(Thing, ["other"], "it")
    outer, inner = MethodProfiler.start(), MethodProfiler.start()
    outer.stop()
    Thing().other()
    assert MethodProfiler.current() is inner
    inner.stop()
    assert (outer.sections.get("it"), inner["it"]["calls"]) == (None, 1)


def test_a_profile_that_is_stopped_within_a_call_says_that_it_was_not_finished():
    class Stopper:
        def stop(self):
            return MethodProfiler.stop()

    MethodProfiler.patch(Stopper, ["stop"], "it")
    MethodProfiler.start()
    profile = Stopper().stop()
    section = profile.sections["it"]
    assert (section.calls, section.unfinished, section.duration) == (1, 1, 0.0)


def test_a_profile_that_is_started_within_a_call_does_not_count_that_call():
    class Starter:
        def start(self):
            MethodProfiler.start()
            return Thing().other()

    MethodProfiler.patch(Starter, ["start"], "start")
    MethodProfiler.patch(Thing, ["other"], "it")
    with MethodProfiler.profile():
        Starter().start()
        inner = MethodProfiler.stop()
    assert list(inner.sections) == ["it"]


def test_reading_a_running_profile_gives_the_totals_so_far():
    MethodProfiler.patch(Thing, ["other"], "it")
    with MethodProfiler.profile() as profile:
        assert profile.running and profile.sections == {}
        Thing().other()
        assert profile["it"]["calls"] == 1
        assert "running" in repr(profile)
    assert not profile.running and "finished" in repr(profile)


def test_a_printed_profile_is_a_table():
    MethodProfiler.patch(Thing, ["other"], "it")
    MethodProfiler.patch(Thing, ["fails"], "failing")
    with MethodProfiler.profile() as profile:
        Thing().other(), Thing().other()
        with pytest.raises(KeyError):
            Thing().fails()
    patterns = [
        r"total    +\d+\.\d{3} ms",
        r"it       +\d+\.\d{3} ms        2 calls",
        r"failing  +\d+\.\d{3} ms        1 call  1 failed",
        r"own cost: \d+ ns a call \((accelerator|pure Python)\), \d+\.\d{3} ms in all; .*",
    ]
    lines = str(profile).splitlines()
    # Sorted by duration, whichever took longer here.
    assert len(lines) == 4 and all(any(re.fullmatch(pattern, line) for line in lines) for pattern in patterns), lines
    assert re.fullmatch(r"<Profile finished, [\d.]+ ms, it: [\d.]+ ms in 2 calls, failing: [\d.]+ ms in 1 call>", repr(profile))


def test_a_profile_ends_with_its_block_also_after_an_exception():
    with pytest.raises(ZeroDivisionError):
        with MethodProfiler.profile() as profile:
            1 / 0
    assert not profile.running and MethodProfiler.current() is None


def test_a_decorated_function_gives_a_profile_for_every_call():
    MethodProfiler.patch(Thing, ["other"], "it")
    profiles = []

    @MethodProfiler.profile(report=profiles.append)
    def handle(n):
        """Handles a request."""
        for _ in range(n):
            Thing().other()
        return n

    assert handle(2) == 2 and handle(n=3) == 3
    assert [profile["it"]["calls"] for profile in profiles] == [2, 3]
    assert handle.__doc__ == "Handles a request."


def test_a_decorated_function_may_be_recursive():
    profiles = []

    @MethodProfiler.profile(report=profiles.append)
    def down(n):
        return n and down(n - 1)

    down(3)
    assert len(profiles) == 4


def test_a_decorated_function_without_a_report_logs(caplog):
    @MethodProfiler.profile()
    def handle():
        pass

    with caplog.at_level("INFO", "assay.profile"):
        handle()
    assert "handle" in caplog.text and "Profile finished" in caplog.text


def test_a_function_is_decorated_without_parentheses_too(caplog):
    @MethodProfiler.profile
    def handle():
        return 3

    with caplog.at_level("INFO", "assay.profile"):
        assert handle() == 3
    assert "handle" in caplog.text
    with pytest.raises(TypeError, match="is a function, not 3"):
        MethodProfiler.profile(3)


def test_a_generator_can_not_be_decorated():
    with pytest.raises(TypeError, match="is a generator"):

        @MethodProfiler.profile()
        def items():
            yield 1


def test_what_profiling_costs_is_calibrated_and_told():
    MethodProfiler.patch(Thing, ["other"], "it")
    with MethodProfiler.profile() as profile:
        for _ in range(100):
            Thing().other()
    overhead = profile.overhead
    assert 0 <= overhead.between_clocks <= overhead.per_call
    assert overhead.per_call > 0
    assert overhead.total == pytest.approx(100 * overhead.per_call)


def test_a_profile_that_was_lost_is_given_up():
    import contextvars
    import gc

    MethodProfiler.patch(Thing, ["other"], "it")
    contextvars.copy_context().run(MethodProfiler.start)
    gc.collect()
    assert MethodProfiler._running == 0
