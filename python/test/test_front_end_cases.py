"""The cases of ruby/test/cases/README.md: each has a test of its name here, or a line there that
says why it is impossible."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "ruby/test/cases/README.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.once


def cases():
    part, _, excused = PAGE.partition("## Cases that one language does not have")
    names = re.findall(r"^\| `(\w+)` \| (?!Ruby \||Python \|)", part, re.MULTILINE)  # Not those in the table of differences.
    without = re.findall(r"^\| `(\w+)` \| Python \|", excused, re.MULTILINE)
    return names, without


def test_every_case_has_a_test_or_a_reason():
    names, without = cases()
    tests = set()
    for file in HERE.glob("test_*.py"):
        tests |= set(re.findall(r"^(?:async )?def test_(\w+)\(", file.read_text(encoding="utf-8"), re.MULTILINE))
    assert [name for name in names if name not in tests and name not in without] == []
    assert [name for name in without if name in tests] == []
    assert len(names) == len(set(names)) >= 150
