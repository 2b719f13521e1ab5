"""The package is fully typed: its sources, its exports, and every example of the documents,
according to mypy and pyright in their strictest modes."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_documents import GUIDES, ROOT, blocks

PYRIGHT = ROOT / "target/runtimes/pyright/node_modules/pyright/index.js"
#: These tests need not be repeated in the same environment.
pytestmark = pytest.mark.once

WHAT_TYPES_SAY = """
import asyncio
from typing_extensions import assert_type

from assay import MethodProfiler, Profile, Section, Totals


@MethodProfiler.profile(report=print)
def handle(x: int, *, name: str = "") -> str:
    return name * x


@MethodProfiler.profile
async def task(x: int) -> str:
    return str(x)


assert_type(handle(1, name="a"), str)
assert_type(asyncio.run(task(1)), str)
with MethodProfiler.profile() as profile:
    assert_type(profile, Profile)
assert_type(profile["redis"], Totals)
assert_type(profile["redis"]["calls"], int)
assert_type(profile["total_duration"], float)
assert_type(profile.sections, dict[str, Section])
assert_type(profile.bind(handle)(2, name="b"), str)
assert_type(MethodProfiler.stop(), Profile)
"""
WRONG = ['handle("1")', "handle(1, nam='a')", 'profile.bind(handle)("2")', 'profile["redis"]["call"]']


def examples(place):
    """Returns the examples of the documents as files, and the expected types of the decorator and
    of profiles."""
    readme = blocks("python/README.md")
    tests = [block for block in readme if "def test_" in block]
    (place / "readme.py").write_text("\n".join(block for block in readme if block not in tests), encoding="utf-8")
    for number, block in enumerate(tests):
        (place / f"test_readme_{number}.py").write_text(block, encoding="utf-8")
    for block in [block for guide in GUIDES for block in blocks(guide)]:
        (place / re.match(r"# (\w+\.py)\n", block).group(1)).write_text(block, encoding="utf-8")
    (place / "said.py").write_text(WHAT_TYPES_SAY, encoding="utf-8")
    wrong = "from said import handle, profile\n" + "".join(f"{line}\n" for line in WRONG)
    (place / "wrong.py").write_text(wrong, encoding="utf-8")
    return sorted(path.name for path in place.iterdir())


def problems(printed, found):
    """Returns the lines of wrong.py that are rejected, and all other errors."""
    refused = {int(line) for name, line, _ in found if name == "wrong.py"}
    others = [entry for entry in found if entry[0] != "wrong.py"]
    assert not others, printed
    return refused


def mypy(place, *what):
    pytest.importorskip("mypy", reason="mypy is not installed")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-error-summary",
        "--cache-dir",
        os.path.join(sys.prefix, "mypy"),
        *what,
    ]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=300)
    return done.stdout + done.stderr


def test_mypy_finds_nothing_in_the_sources():
    assert mypy(ROOT / "python/src", "-p", "assay") == ""


def test_mypy_finds_nothing_in_the_examples(tmp_path):
    printed = mypy(tmp_path, *examples(tmp_path))
    found = re.findall(r"^(?:\S*/)?(\S+\.py):(\d+): error: (.*)$", printed, re.MULTILINE)
    assert problems(printed, found) == {2, 3, 4, 5}


@pytest.fixture
def pyright():
    node = shutil.which("node")
    if not node or not PYRIGHT.exists():
        pytest.skip("pyright is not there: scripts/runtimes.sh installs it where npm is")
    environment = {**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]}

    def run(place, *arguments):
        command = [node, str(PYRIGHT), "--outputjson", *arguments]
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=300)
        return json.loads(done.stdout)

    return run


def test_pyright_finds_nothing_in_the_examples(tmp_path, pyright):
    examples(tmp_path)
    # The guide uses `os.system` because there is a fake of it; advice against it is off topic here.
    (tmp_path / "pyrightconfig.json").write_text(
        '{"typeCheckingMode": "strict", "reportDeprecated": false}', encoding="utf-8"
    )
    said = pyright(tmp_path)["generalDiagnostics"]
    found = [
        (Path(one["file"]).name, one["range"]["start"]["line"] + 1, one["message"])
        for one in said
        if one["severity"] == "error"
    ]
    assert problems(said, found) == {2, 3, 4, 5}


def test_pyright_knows_the_type_of_everything_that_is_exported(tmp_path, pyright):
    said = pyright(tmp_path, "--verifytypes", "assay", "--ignoreexternal")["typeCompleteness"]
    unknown = [one["name"] for one in said["symbols"] if one["isExported"] and not one["isTypeKnown"]]
    assert said["completenessScore"] == 1, unknown
