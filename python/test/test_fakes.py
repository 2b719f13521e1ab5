"""Fakes of sleep, clock, shell and programs: they return immediately, are recorded, and affect
nothing else."""

import asyncio
import datetime
import os
import subprocess
import sys
import textwrap
import time
import types
import unittest

import pytest

from assay import testing
from assay.testing import Clock, Ended, UnexpectedCall


def module(text, name="under_test"):
    made = types.ModuleType(name)
    exec(textwrap.dedent(text), vars(made))
    return made


CRON = """
import os, time

class Cron:
    def run(self, command, every):
        while True:
            if os.system(command) != 0:
                raise RuntimeError(f"{command} failed")
            time.sleep(every)
"""


def test_the_cron_of_the_article_is_tested_without_waiting_thirty_four_years():
    cron = module(CRON)
    with testing.fake_sleep(cron) as sleeps, testing.fake_system(cron, results=[0, 1]) as commands:
        with pytest.raises(RuntimeError, match="any old command failed"):
            cron.Cron().run("any old command", 2**30)
    assert sleeps == [2**30]
    assert commands == ["any old command", "any old command"]
    assert sleeps.clock.elapsed == 2**30


def test_methods_of_one_object_are_faked_and_of_no_other():
    class Cron:
        def sleep(self, seconds):
            raise AssertionError("really slept")

        def system(self, command):
            raise AssertionError("really ran")

        def run(self, command, every):
            while self.system(command):
                self.sleep(every)

    cron, other = Cron(), Cron()
    with testing.fake_sleep(cron) as sleeps, testing.fake_system(cron, results=[True, False]) as commands:
        cron.run("ls", 5)
        with pytest.raises(AssertionError, match="really ran"):
            other.run("ls", 5)
    assert (sleeps, commands) == ([5], ["ls", "ls"])
    assert vars(cron) == {}


def test_a_class_is_faked_for_all_its_objects_and_restored():
    class Cron:
        @staticmethod
        def sleep(seconds):
            raise AssertionError

        async def wait(self):
            return None

    before = vars(Cron)["sleep"]
    with testing.fake_sleep(Cron) as sleeps:
        Cron().sleep(1)
        Cron.sleep(2)
    assert sleeps == [1, 2]
    assert vars(Cron)["sleep"] is before


def test_only_the_given_module_is_touched_and_everything_is_put_back():
    one, two = module("import time as t\nfrom time import sleep as nap"), module("import time as t")
    before = dict(vars(one))
    real_sleep = time.sleep
    with testing.fake_sleep(one) as sleeps:
        one.t.sleep(100)
        one.nap(200)
        assert two.t is time and time.sleep is real_sleep
        assert one.t.strptime is time.strptime and one.t.__name__ == "time"
    assert sleeps == [100, 200]
    assert vars(one) == before


def test_everything_is_put_back_after_an_exception():
    one = module("import time")
    with pytest.raises(ZeroDivisionError):
        with testing.fake_sleep(one):
            1 / 0
    assert one.time is time


def test_fakes_may_lie_over_each_other():
    one = module("from time import sleep\nimport time")
    with testing.fake_sleep(one) as outer, testing.fake_clock(one):
        one.sleep(1)
        with testing.fake_sleep(one) as inner:
            one.sleep(2)
            one.time.sleep(3)
        one.time.sleep(4)
        assert one.time.time() == one.time.time()
    assert outer == [1, 4] and inner == [2, 3]
    assert one.time is time and one.sleep is time.sleep


def test_a_module_can_be_named():
    sys.modules["assay_under_test"] = one = module("import time")
    try:
        with testing.fake_sleep("assay_under_test") as sleeps:
            one.time.sleep(3)
    finally:
        del sys.modules["assay_under_test"]
    assert sleeps == [3]


def test_where_there_is_nothing_to_fake_it_says_what_to_give():
    class Cron:
        pass

    with pytest.raises(
        LookupError, match=r"has no method `sleep`.*give the module that it is written in: `test_fakes`"
    ):
        testing.fake_sleep(Cron()).start()
    with pytest.raises(LookupError, match="has neither `time`, `asyncio`, .* nor functions of it"):
        testing.fake_sleep(module("x = 1")).start()


def test_scripted_results_may_be_exceptions_and_run_out_with_the_calls_so_far():
    cron = module(CRON)
    with testing.fake_system(cron, results=[0, OSError("no fork"), 3]) as commands:
        assert cron.os.system("a") == 0
        with pytest.raises(OSError, match="no fork"):
            cron.os.system("b")
        assert cron.os.system("c") == 3
        with pytest.raises(
            UnexpectedCall, match=r"unexpected `system\('d'\)`: all 3 .* system\('a'\), system\('b'\), system\('c'\)"
        ):
            cron.os.system("d")
        commands._unexpected = None
    assert commands == ["a", "b", "c"]


def test_an_unexpected_call_that_the_code_swallows_is_raised_where_the_fake_ends():
    cron = module("import os\ndef careless():\n    try:\n        os.system('x')\n    except Exception:\n        pass")
    with pytest.raises(UnexpectedCall):
        with testing.fake_system(cron, results=[]):
            cron.careless()


def test_a_text_is_no_list_of_results():
    with pytest.raises(TypeError, match=r"not a text: \['done'\]"):
        testing.fake_run(module("import subprocess"), results="done")


def test_an_unexpected_call_that_fails_the_test_is_reported_once(pytester):
    pytester.makepyfile("""
        import os

        def test_seen(fake_system):
            fake_system(__name__, results=[])
            os.system("ls")

        def test_wrapped(fake_system):
            fake_system(__name__, results=[])
            try:
                os.system("ls")
            except AssertionError as problem:
                raise ValueError("other words") from problem

        def test_swallowed(fake_system):
            fake_system(__name__, results=[])
            try:
                os.system("ls")
            except AssertionError:
                pass
    """)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(failed=2, passed=1, errors=1)


def test_results_may_be_worked_out():
    cron = module(CRON)
    with testing.fake_system(cron, results=lambda command: len(command)) as commands:
        assert cron.os.system("abc") == 3
    assert commands.calls == [(("abc",), {})]


def test_a_loop_that_sleeps_for_ever_ends():
    one = module("import time\ndef forever():\n    while True:\n        time.sleep(1)")
    with pytest.raises(UnexpectedCall, match="a loop without an end"):
        with testing.fake_sleep(one, limit=100):
            one.forever()


def test_a_sleep_that_would_fail_fails():
    one = module("import time")
    with testing.fake_sleep(one):
        with pytest.raises(ValueError):
            one.time.sleep(-1)
        with pytest.raises(TypeError):
            one.time.sleep("1")


def test_asynchronous_sleep_lets_others_run():
    one = module(
        """
        import asyncio
        order = []
        async def walk(name, seconds):
            for _ in range(2):
                order.append(name)
                await asyncio.sleep(seconds)
            return await asyncio.sleep(0, name)
        """
    )

    async def use():
        return await asyncio.gather(one.walk("a", 1000), one.walk("b", 1000))

    with testing.fake_sleep(one) as sleeps:
        assert asyncio.run(use()) == ["a", "b"]
    assert one.order == ["a", "b", "a", "b"]
    assert sleeps.clock.elapsed == 4000


def test_a_clock_stands_still_until_it_is_advanced_and_everybody_in_the_module_reads_it():
    one = module("import time, datetime\nfrom time import monotonic\nfrom datetime import datetime as dt, date")
    clock = Clock(datetime.datetime(2030, 1, 2, 3, 4, 5))
    with testing.fake_clock(one, clock=clock), testing.fake_sleep(one, clock=clock):
        first = one.time.time(), one.monotonic(), one.time.perf_counter_ns(), one.time.time_ns()
        assert first == (one.time.time(), one.monotonic(), one.time.perf_counter_ns(), one.time.time_ns())
        assert one.dt.now() == one.datetime.datetime.now() == datetime.datetime(2030, 1, 2, 3, 4, 5)
        one.time.sleep(3600)
        assert one.time.time() - first[0] == 3600 and one.monotonic() - first[1] == pytest.approx(3600)
        assert one.time.localtime().tm_hour == 4 and one.time.strftime("%H:%M") == "04:04"
        assert one.date.today() == datetime.date(2030, 1, 2)
        assert one.dt.now(datetime.timezone.utc).tzinfo is datetime.timezone.utc
        assert isinstance(one.dt.now(), one.dt) and isinstance(one.dt(2020, 1, 1), datetime.datetime)
        assert one.dt.fromisoformat("2020-01-01T00:00:00").year == 2020
        assert one.time.localtime(0) == time.localtime(0)
    assert one.dt is datetime.datetime and one.monotonic is time.monotonic
    with pytest.raises(ValueError, match="does not go back"):
        clock.advance(-1)


def test_a_deadline_of_whole_seconds_is_met_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    rounded_apart = [began for began in range(10**12, 10**14, 10**10 + 7) if (began + 3600 * 10**9) / 1e9 < began / 1e9 + 3600]
    assert rounded_apart
    for began in rounded_apart[:10]:
        with monkeypatch.context() as patch:
            patch.setattr(time, "monotonic_ns", lambda began=began: began)
            clock = Clock()
        start = clock.monotonic_ns()
        assert start >= began
        clock.advance(3600)
        assert clock.monotonic_ns() / 1e9 == start / 1e9 + 3600



def test_the_measuring_clock_is_never_faked():
    from assay.comparison import stopwatch
    from assay.comparison.side import Side

    with testing.fake_clock(time):
        assert time.perf_counter_ns() == time.perf_counter_ns()
        assert stopwatch.read(Side("some", sum_of_many), 10).nanoseconds > 0


def sum_of_many():
    return sum(range(1000))


def test_programs_are_not_started_and_answer_as_scripted():
    one = module("import subprocess\nfrom subprocess import check_output")
    script = ["printed\n", 3, (1, "out", "err"), Ended(0, b"bytes"), FileNotFoundError("no such program"), 0, "both\n"]
    with testing.fake_run(one, results=script) as runs:
        assert one.check_output(["a"], text=True) == "printed\n"
        assert one.subprocess.call(["b"]) == 3
        done = one.subprocess.run(["c"], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (1, "out", "err")
        assert one.subprocess.run(["d"], stdout=subprocess.PIPE).stdout == b"bytes"
        with pytest.raises(FileNotFoundError):
            one.subprocess.run(["e"])
        with one.subprocess.Popen(["f"], stdout=subprocess.PIPE) as process:
            assert process.communicate() == (b"", None) and process.returncode == 0
        assert one.subprocess.getstatusoutput("g | h") == (0, "both")
    assert runs == [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], "g | h"]
    assert one.subprocess is subprocess and one.check_output is subprocess.check_output


def test_a_checked_program_that_fails_raises_what_the_real_one_raises():
    one = module("import subprocess")
    with testing.fake_run(one, results=[(2, "", "bad\n")]):
        with pytest.raises(subprocess.CalledProcessError) as problem:
            one.subprocess.run(["x", "-y"], check=True, capture_output=True, text=True)
    assert (problem.value.returncode, problem.value.stderr) == (2, "bad\n")
    with testing.fake_run(one, results=[object()]), pytest.raises(TypeError, match="can't end as"):
        one.subprocess.run(["x"])


def unittest_case():
    """A test case, defined where pytest does not find it."""
    one = module(CRON)

    class UsesTheMixin(testing.TestCase):
        def test_cron(self):
            sleeps = self.fake_sleep(one)
            self.fake_system(one, results=[0, 1])
            self.fake_clock(one)
            before = one.time.time()
            with self.assertRaises(RuntimeError):
                one.Cron().run("x", 7)
            self.assertEqual(sleeps, [7])
            self.assertEqual(one.time.time() - before, 7)
            with self.assert_calls(self, "helper", 1):
                self.helper()

        def helper(self):
            """Records the call."""

        def test_sandbox(self):
            place = self.sandbox()
            os.environ["ASSAY_OF_A_TEST"] = "1"
            self.assertEqual(os.path.realpath(os.getcwd()), os.path.realpath(place))
            self.assertEqual(os.listdir(), [])

        def test_careless(self):
            self.fake_system(one, results=[])
            try:
                one.os.system("x")
            except AssertionError:
                pass

    return UsesTheMixin, one


def test_unittest_has_the_same_as_methods_and_undoes_it_after_each_test():
    case, one = unittest_case()
    where = os.getcwd()
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert result.testsRun == 3
    failed = [str(test) for test, _ in result.failures]
    assert len(failed) == 1 and "test_careless" in failed[0] and not result.errors
    assert one.time is time and one.os is os
    assert os.getcwd() == where and "ASSAY_OF_A_TEST" not in os.environ
