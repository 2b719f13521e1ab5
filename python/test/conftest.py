"""What all tests share: which engine counts, a clean profiler after every test, and the program that decides."""

import os
import shutil

import pytest

from assay import MethodProfiler
from assay.profiler import engine

pytest_plugins = ["pytester"]


def pytest_report_header():
    return f"assay: calls are counted in {engine.NAME}"


@pytest.fixture(autouse=True)
def clean_profiler():
    yield
    left_running = MethodProfiler._running
    while MethodProfiler.current() is not None:
        MethodProfiler.stop()
    for target in [patch.target for patch in MethodProfiler._patches.values()]:
        MethodProfiler.unpatch(target)
    MethodProfiler._swaps = 0
    MethodProfiler.keep_installed(False)
    assert left_running == 0, "a test left a profile running"


@pytest.fixture
def program():
    """The program `assay`; tests that need it say that they were skipped."""
    found = shutil.which(os.environ.get("ASSAY", "assay"))
    if not found:
        pytest.skip("the program assay is not there (build it, and name it in ASSAY)")
    return found
