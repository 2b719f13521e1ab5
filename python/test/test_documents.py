"""Runs the examples of the documents: those of the guide as test files, those of the README as one
program."""

import re
from pathlib import Path

import pytest

from assay import MethodProfiler

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(path):
    found = BLOCK.findall((ROOT / path).read_text(encoding="utf-8"))
    assert found, f"{path} has no examples"
    return found


#: Guides whose examples are test files, and the number of their tests.
GUIDES = {
    "docs/guides/testing-with-python.md": 9,
    "docs/guides/from-freezegun.md": 3,
    "docs/guides/from-pytest-benchmark.md": 2,
}


@pytest.mark.parametrize("guide, least", GUIDES.items())
def test_the_guide_is_a_directory_of_passing_tests(pytester, program, guide, least):
    tests = 0
    for block in blocks(guide):
        name = re.match(r"# (\w+)\.py\n", block)
        assert name, f"an example does not say which file it is: {block[:50]}"
        (pytester.path / f"{name.group(1)}.py").write_text(block, encoding="utf-8")
        tests += len(re.findall(r"^ *def test_", block, re.MULTILINE))
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-rs")
    outcomes = result.parseoutcomes()
    # On a busy machine a test may be inconclusive, which is not the guide's fault.
    assert outcomes.get("passed", 0) + outcomes.get("skipped", 0) == tests >= least
    assert outcomes.get("skipped", 0) <= 2 and "failed" not in outcomes and "errors" not in outcomes


def test_the_readme_is_a_program_that_runs(capsys, program):
    text = "\n".join(block for block in blocks("python/README.md") if "def test_" not in block)
    # A second of measuring may be too short for a verdict on a busy machine.
    text = text.replace("time=1,", "time=5,")
    exec(compile(text, "README.md", "exec"), {"__name__": "readme"})
    assert "redis" in capsys.readouterr().out
    assert MethodProfiler.current() is None


@pytest.mark.parametrize("document", ["python/README.md", *GUIDES])
def test_links_lead_somewhere(document):
    place = ROOT / document
    for link in re.findall(r"\]\(([^)#]+)", place.read_text(encoding="utf-8")):
        assert link.startswith("http") or (place.parent / link).exists(), f"{document} links to {link}"
