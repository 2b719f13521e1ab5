"""The frames visible to samplers in suites of pytest and unittest: the running test, and setup
shared by several tests; they change nothing else."""

import re

import pytest
import suites

pytestmark = pytest.mark.once

SEEN = """
import sys

def seen(what):
    frames, frame = [], sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith("assay-frame:"):
            frames.append(frame.f_code.co_filename[len("assay-frame:"):])
        frame = frame.f_back
    with open("seen", "a") as file:
        print(what, " ".join(frames), sep=" = ", file=file)
"""

PYTEST = (
    SEEN
    + """
import pytest

seen("collecting")

@pytest.fixture(scope="session")
def base():
    seen("base")
    yield
    seen("end of base")

@pytest.fixture
def own(base): seen("own")

def setup_module(): seen("setup_module")

def test_one(own): seen("one")
def test_fails(): assert 1 == 2

@pytest.mark.parametrize("name", ["a; (b)"])
def test_each(name): seen("each")
"""
)

UNITTEST = (
    SEEN
    + """
import unittest

seen("loading")
def setUpModule(): seen("module")

class Alpha(unittest.TestCase):
    @classmethod
    def setUpClass(cls): seen("class")
    @classmethod
    def tearDownClass(cls): seen("end of class")
    def setUp(self): seen("setup")
    def test_one(self): seen("one")
    def test_fails(self): self.assertEqual(1, 2)

class Beta(unittest.IsolatedAsyncioTestCase):
    async def test_awaits(self): seen("awaits")
"""
)


def both(tmp_path, source, command):
    """Returns the frames that were seen. The rest of the suite's output, including tracebacks, is
    the same without them."""
    runs, found = [], []
    for variables in ({"ASSAY_TESTS_FRAMES": "1"}, {}):
        runs.append(suites.watched(tmp_path, {"test_suite.py": source}, command, **variables))
        seen = tmp_path / "project/seen"
        found.append(dict(line.split(" = ") for line in seen.read_text().splitlines()))
        seen.unlink()
    framed, alone = runs
    without_times = [re.sub(r"\d+\.\d+s", "N s", run.out) for run in runs]
    assert without_times[0] == without_times[1]
    assert (framed.status, framed.names, framed.of("problem")) == (alone.status, alone.names, [])
    assert set(found[1].values()) == {""}
    return found[0]


def test_pytest(tmp_path):
    seen = both(tmp_path, PYTEST, ["-m", "pytest"])
    one = "test:test_suite.py%3A%3Atest_one run:"
    assert seen == {
        "collecting": "collect:",
        "setup_module": f"fixture:test_suite.py%3A%20setup_module {one}",
        "base": f"fixture:test_suite.py%3A%20base {one}",
        "own": one,
        "one": one,
        "each": "test:test_suite.py%3A%3Atest_each%5Ba%3B%20%28b%29%5D run:",
        # During the teardown of its last test.
        "end of base": "fixture_teardown:test_suite.py%3A%20base test:test_suite.py%3A%3Atest_each%5Ba%3B%20%28b%29%5D run:",
    }


def test_unittest(tmp_path):
    seen = both(tmp_path, UNITTEST, [str(suites.HOOKS / "assay_unittest.py"), "test_suite"])
    one = "test:test_suite.Alpha%3A%20test_one run:"
    assert seen.pop("setup") in (one, one.replace("one", "fails"))
    assert seen == {
        "loading": "",
        "module": "group_setup:test_suite run:",
        "class": "group_setup:test_suite.Alpha run:",
        "end of class": "group_teardown:test_suite.Alpha run:",
        "one": one,
        "awaits": "test:test_suite.Beta%3A%20test_awaits run:",
    }
