"""Assertions about speed and growth, which use the program `assay`, and those about allocations and
calls, which count."""

import asyncio
import os
import subprocess
import sys
import threading
import unittest

import pytest

from assay import MethodProfiler, testing
from assay.profiler import engine
from assay.comparison.experiment import Experiment
from assay.comparison.plan import Plan, look_after
from assay.comparison.side import Side
from assay.testing import assertions


def short():
    return sum(range(100))


def long():
    return sum(range(1000))


@pytest.mark.usefixtures("program")
class TestSpeed:
    def test_what_is_faster_passes_and_gives_the_report(self):
        report = testing.assert_faster(short, long, clock="cpu")
        assert report["verdict"] == "faster"
        assert report["design"] == "blocks"
        only = report["comparisons"][0]
        assert (only["of"], only["against"]) == ("short", "long")
        testing.assert_faster(short, than=long, by="30%", clock="cpu")

    def test_what_is_slower_fails_with_the_sentence(self):
        with pytest.raises(
            AssertionError, match="expected that long is faster than short, but .*long .* short.*95 % confidence"
        ):
            testing.assert_faster(long, short, clock="cpu")
        with pytest.raises(AssertionError, match="expected that long takes at most 5 % more time than short"):
            testing.assert_no_slower(long, short, clock="cpu")

    def test_what_is_faster_but_not_by_as_much_fails(self):
        with pytest.raises(AssertionError, match="takes at least 99.9 % less time than"):
            testing.assert_faster(short, long, by="99.9%", clock="cpu")

    def test_the_same_function_is_no_slower_than_itself(self):
        testing.assert_no_slower(short, short, by="100%", clock="cpu")

    def test_what_is_not_known_is_skipped_unless_said_otherwise(self, monkeypatch):
        # There is time for only a few blocks, and fewer than ten give no answer.
        def ask(**how):
            return testing.assert_no_slower(short, short, seconds=1e-6, clock="cpu", **how)

        with pytest.raises(testing.Inconclusive, match="not known whether .* after 1e-06 s.*give it more time"):
            ask()
        with pytest.raises(AssertionError, match="not known whether"):
            ask(inconclusive="fail")
        assert ask(inconclusive="pass")["comparisons"]
        monkeypatch.setenv("ASSAY_INCONCLUSIVE", "fail")
        with pytest.raises(AssertionError):
            ask()
        with pytest.raises(ValueError, match="`inconclusive` is one of"):
            ask(inconclusive="maybe")
        assert issubclass(testing.Inconclusive, unittest.SkipTest)

    def test_linear_work_is_linear_and_not_constant(self):
        curve = testing.assert_complexity("linear", [3000, 6000, 12000, 24000], lambda n: sum(range(n)), clock="cpu")
        assert curve["exponent_interval"]["upper"] <= 1.25
        with pytest.raises(AssertionError, match=r"is constant, but it grows like n\^"):
            testing.assert_complexity("constant", [3000, 6000, 12000], lambda n: sum(range(n)), clock="cpu")

    def test_quadratic_work_is_not_linear(self):
        def pairs(items):
            return sum(1 for a in items for b in items if a == b)

        with pytest.raises(AssertionError, match="pairs is linear, but"):
            testing.assert_complexity("linear", [20, 40, 80], pairs, setup=lambda n: list(range(n)), clock="cpu")
        testing.assert_complexity("quadratic", [20, 40, 80], pairs, setup=lambda n: list(range(n)), clock="cpu")

    def test_a_file_of_blocks_is_read_as_blocks_with_its_seed(self):
        plan = Plan(time=5, warmup=0, threshold="1%", confidence="95%", clock="cpu", seed=None)
        experiment = Experiment([Side("a", short), Side("b", short)], plan, bare=True)
        experiment.run(lambda report: True)
        assert (experiment.analysis["blocks"], experiment.analysis["plan"]["seed"]) == (24, plan.seed)

    def test_assertions_look_where_assay_run_does_and_not_before_dependence_can_be_tested(self):
        looked = []
        for blocks in iter(lambda: look_after(looked[-1] if looked else 0), 1024):
            looked.append(blocks)
        assert looked[:5] == [24, 34, 48, 67, 95] and look_after(1000) == look_after(1024) == 1024
        report = testing.assert_faster(short, long, clock="cpu")
        assert report["blocks"] in (*looked, 1024) or report["stop"] == "budget"
        # The level of a planned look of the program, wider than the one that permits looking at any
        # moment.
        if report["blocks"] in looked:
            assert report["comparisons"][0]["level"] > 0.002


def test_the_missing_program_is_told_with_what_to_do(monkeypatch):
    from assay import binary

    monkeypatch.setenv("ASSAY", "/no/such/assay")
    with pytest.raises(binary.BinaryNotFound, match="`ASSAY` names `/no/such/assay`"):
        testing.assert_faster(short, long)
    monkeypatch.delenv("ASSAY")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(binary.BinaryNotFound, match="cargo install"):
        testing.assert_faster(short, long)


def test_the_program_that_fails_is_quoted(program, tmp_path):
    from assay import binary

    wrong = tmp_path / "wrong.assay"
    wrong.write_text('{"assay":99,"kind":"run"}\n')
    with pytest.raises(binary.BinaryFailed, match="ended with status 2"):
        binary.compare(str(wrong))


@pytest.mark.parametrize("by", ["5", "-1%", "five%", -0.1, float("nan")])
def test_what_is_no_share_is_refused(by):
    with pytest.raises(ValueError, match="`by` is a share"):
        testing.assert_no_slower(short, long, by=by)


def test_claims_that_can_not_be_shown_are_refused():
    with pytest.raises(ValueError, match="nothing at all"):
        testing.assert_no_slower(short, long, by=0)
    with pytest.raises(ValueError, match="100 %"):
        testing.assert_faster(short, long, by="100%")
    with pytest.raises(ValueError, match="`growth` is one of constant"):
        testing.assert_complexity("n2", [1, 2, 3], short)
    with pytest.raises(ValueError, match="at least three different sizes"):
        testing.assert_complexity("linear", [10, 10, 20], short)
    with pytest.raises(ValueError, match="'wall' or 'cpu'"):
        testing.assert_faster(short, long, clock="sun")


def test_an_interval_that_is_not_bounded_is_shown():
    assert assertions._bounds({"lower": None, "upper": 1.204}) == "[? … 1.20]"
    assert assertions._bounds({"lower": 0.5, "upper": None}) == "[0.50 … ?]"


def test_models_have_the_powers_that_they_look_like():
    sizes = [1000.0, 2000.0, 4000.0]
    powers = {name: assertions._exponent(model, sizes) for name, model in assertions.GROWTH.items()}
    assert powers["constant"] == pytest.approx(0) and powers["linear"] == pytest.approx(1)
    assert powers["quadratic"] == pytest.approx(2) and powers["cubic"] == pytest.approx(3)
    assert 0 < powers["logarithmic"] < 0.2 and 1 < powers["linearithmic"] < 1.2


# Allocations. ----------------------------------------------------------------------------------------------------------------


def test_what_allocates_nothing_passes_and_what_keeps_something_fails():
    pile = []
    testing.assert_allocations(lambda: None, kept=0, peak_bytes=0)
    for given in (lambda: list(range(10)), lambda: dict(a=1), lambda: (list("ab"), dict(b=2))):
        testing.assert_allocations(given, kept=0)  # Objects kept by Python for reuse do not count.
    with pytest.raises(AssertionError, match=r"allocates too much: kept are \d+, at most 0 were allowed"):
        testing.assert_allocations(lambda: pile.append([object() for _ in range(100)]), kept=0)
    with pytest.raises(AssertionError, match="peak_bytes are"):
        testing.assert_allocations(lambda: bytes(100_000) and None, peak_bytes=50_000)
    assert testing.assert_allocations(lambda: bytes(100_000) and None, peak_bytes=200_000, kept=0).peak_bytes > 100_000


def test_calls_of_the_allocator_are_counted_exactly():
    if engine.count_allocations is None:
        with pytest.raises(RuntimeError, match="by the accelerator"):
            testing.assert_allocations(lambda: None, calls=0)
        return
    few, many = (
        testing.allocations(lambda: [bytes(100) for _ in range(10)]),
        testing.allocations(lambda: [bytes(100) for _ in range(110)]),
    )
    assert many.calls - few.calls >= 100 and many.bytes - few.bytes >= 100 * 100
    assert testing.allocations(lambda: [bytes(100) for _ in range(110)]).calls == many.calls
    assert testing.allocations(lambda: None).calls == 0
    with pytest.raises(ZeroDivisionError):
        testing.allocations(lambda: 1 / 0)
    with pytest.raises(RuntimeError, match="one thing after the other"):
        engine.count_allocations(lambda: engine.count_allocations(short))


def test_a_bound_must_be_given():
    with pytest.raises(ValueError, match="say what may be allocated"):
        testing.assert_allocations(lambda: None)


# Calls. ----------------------------------------------------------------------------------------------------------------------


class Shop:
    def buy(self):
        return 1

    @classmethod
    def open(cls):
        return cls

    @staticmethod
    def close():
        return 0

    @property
    def name(self):
        return "shop"

    async def order(self):
        return 2


def test_calls_of_every_kind_are_counted_and_everything_is_put_back():
    before = dict(vars(Shop))
    with testing.assert_calls(Shop, "buy", 2) as count:
        assert Shop().buy() + Shop().buy() == 2
        assert count.count == 2
    for name, use in {
        "open": lambda: Shop.open() is Shop,
        "close": lambda: Shop.close() == 0,
        "name": lambda: Shop().name == "shop",
        "order": lambda: asyncio.run(Shop().order()) == 2,
    }.items():
        with testing.assert_calls(Shop, name, 1):
            assert use()
    assert dict(vars(Shop)) == before


def test_too_many_and_too_few_calls_fail():
    with pytest.raises(AssertionError, match="`buy` of class `Shop` was called 0 times, expected 1"):
        with testing.assert_calls(Shop, "buy", 1):
            pass
    with pytest.raises(AssertionError, match="called 2 times, at most 1 was allowed"):
        with testing.assert_calls(Shop, "buy", at_most=1):
            Shop().buy(), Shop().buy()
    with pytest.raises(AssertionError, match="called 1 time, expected 2"):
        with testing.assert_calls(Shop, "buy", 2):
            Shop().buy()
    with pytest.raises(ValueError, match="either how many"):
        with testing.assert_calls(Shop, "buy"):
            pass
    with pytest.raises(AttributeError, match="did you mean `buy`"):
        with testing.assert_calls(Shop, "bui", 1):
            pass
    with pytest.raises(KeyError):
        with testing.assert_calls(Shop, "buy", 1):
            raise KeyError("the test's own problem comes first")


def test_calls_of_one_object_and_of_all_threads_are_counted():
    mine, other = Shop(), Shop()
    with testing.assert_calls(mine, "buy", 3):
        threads = [threading.Thread(target=mine.buy) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        other.buy()
    assert vars(mine) == {}


def test_a_profiled_method_can_be_counted_too():
    MethodProfiler.patch(Shop, ["buy"], "it")
    before = vars(Shop)["buy"]
    with MethodProfiler.profile() as profile, testing.assert_calls(Shop, "buy", 1):
        Shop().buy()
    with testing.assert_calls(Shop, "buy", 1), MethodProfiler.profile() as second:
        Shop().buy()
    assert profile["it"]["calls"] == 1 and second["it"]["calls"] == 1
    assert vars(Shop)["buy"] is before


# pytest. ---------------------------------------------------------------------------------------------------------------------


def test_the_plugin_has_everything_as_fixtures(pytester, program):
    pytester.makepyfile(
        cron="import os, time\ndef run(command, every):\n    while os.system(command) == 0:\n        time.sleep(every)",
        test_it="""
            import subprocess, time
            import cron

            def test_fakes(fake_sleep, fake_system, fake_clock):
                sleeps, commands = fake_sleep(cron), fake_system(cron, results=[0, 1])
                clock = fake_clock(cron)
                before = cron.time.time()
                cron.run("x", 60)
                assert sleeps == [60] and commands == ["x", "x"]
                assert cron.time.time() - before == 60 == clock.elapsed

            def test_undone():
                assert cron.time is time

            def test_swallowed(fake_system):
                fake_system(cron, results=[])
                try:
                    cron.os.system("x")
                except AssertionError:
                    pass

            def test_run(fake_run):
                import test_it
                fake_run(test_it, results=["said"])
                assert subprocess.run(["x"], capture_output=True, text=True).stdout == "said"

            def test_speed(assert_faster, assert_no_slower):
                assert_faster(lambda: sum(range(10)), lambda: sum(range(1000)), clock="cpu")
                assert_no_slower(lambda: sum(range(10)), lambda: sum(range(1000)), by="5%", clock="cpu")

            def test_wrong(assert_faster):
                assert_faster(lambda: sum(range(1000)), lambda: sum(range(10)), clock="cpu")

            def test_unknown(assert_no_slower):
                assert_no_slower(lambda: 1, lambda: 1, seconds=1e-6, clock="cpu")

            def test_growth(assert_complexity):
                assert_complexity("linear", [2000, 4000, 8000], lambda n: sum(range(n)), clock="cpu")

            def test_counts(assert_allocations, assert_calls):
                assert_allocations(lambda: None, kept=0)
                with assert_calls(cron, "run", 0):
                    pass
        """,
    )
    result = pytester.runpytest_subprocess("-rs", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=7, failed=1, skipped=1, errors=1)
    result.stdout.fnmatch_lines(["*UnexpectedCall*", "*SKIPPED*not known whether*"])
    pytester.makeini("[pytest]\nassay_inconclusive = fail\n")
    result = pytester.runpytest_subprocess("-k", "test_unknown", "-p", "no:cacheprovider")
    result.assert_outcomes(failed=1, deselected=8)


def test_a_failure_shows_the_line_of_the_test_and_nothing_of_this_package(pytester):
    pytester.makepyfile(
        json_user="import json, time, subprocess",
        test_mine="""
            import json_user

            class Plain:
                pass

            def test_calls(assert_calls):
                with assert_calls(json_user.json, "loads", 1):
                    pass

            def test_nothing_to_fake(fake_sleep):
                fake_sleep(Plain)

            def test_nothing_there(fake_run):
                fake_run("test_mine")
        """,
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(["*called 0 times, expected 1", "*has no method `sleep`*", "*nothing to fake there*"])
    result.stdout.no_re_match_line(r".*(assertions|replace|fakes|pytest_plugin)\.py:\d+")


def test_the_plugin_loads_nothing_that_is_not_asked_for(pytester):
    pytester.makepyfile("import sys\ndef test(): assert 'assay.testing' not in sys.modules")
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_an_inconclusive_test_of_unittest_is_skipped(program, tmp_path):
    (tmp_path / "case.py").write_text(
        "from assay.testing import TestCase\n"
        "class Case(TestCase):\n"
        "    def test_unknown(self):\n"
        "        self.assert_no_slower(lambda: 1, lambda: 1, seconds=1e-6, clock='cpu')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "unittest", "-v", "case"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env=dict(os.environ),
    )
    assert done.returncode in (0, 5) and "skipped 'not known whether" in done.stderr


def test_tests_are_named_in_the_log_when_that_is_asked_for(pytester, monkeypatch):
    pytester.makepyfile(
        """
        import logging

        def test_a():
            logging.warning("work")

        def test_b():
            pass
        """
    )
    options = ("-p", "no:cacheprovider", "--log-file=test.log", "--log-file-level=INFO", "--log-file-format=%(message)s")
    pytester.runpytest_subprocess(*options).assert_outcomes(passed=2)
    assert (pytester.path / "test.log").read_text() == "work\n"
    monkeypatch.setenv("PROFILE_LOG", "1")
    pytester.runpytest_subprocess(*options).assert_outcomes(passed=2)
    file = next(path.name for path in pytester.path.glob("test_*.py"))
    expected = [f"RUNNING {file}::test_a", "work", f"RUNNING {file}::test_b"]
    assert (pytester.path / "test.log").read_text().splitlines() == expected
