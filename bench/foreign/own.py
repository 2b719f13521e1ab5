"""The frameworks' own reports on a project: numbers of tests, failures and skips, and the sum of times where they report times."""

import json
import re
import subprocess
import tempfile
import xml.etree.ElementTree as tree
from collections import namedtuple
from pathlib import Path

Counts = namedtuple("Counts", "tests failed skipped seconds")


def printed(words, directory, env):
    """What a command prints on both streams."""
    done = subprocess.run(words, cwd=directory, env=env, capture_output=True, text=True, errors="replace", timeout=1800, check=False)
    return done.stdout + done.stderr


def pytest(words, directory, env):
    """JUnit XML."""
    with tempfile.TemporaryDirectory() as room:
        report = Path(room) / "report.xml"
        printed([*words, *also_reported("pytest", report), "-p", "no:cacheprovider"], directory, env)
        return junit(report)


def also_reported(kind, report):
    """The words by which a framework writes its own report of a run that somebody else measures: times of two runs differ."""
    return [f"--junit-xml={report}"] if kind == "pytest" else []


def junit(report):
    """JUnit XML of pytest; a test that failed in two phases is one test."""
    cases = list(tree.parse(report).iter("testcase"))
    named = {}
    for case in cases:
        named.setdefault((case.get("classname"), case.get("name")), []).append(case)
    failed = sum(any(case.find("failure") is not None or case.find("error") is not None for case in own) for own in named.values())
    skips = [case.find("skipped") for case in cases]
    skipped = sum(skip is not None and skip.get("type") != "pytest.xfail" for skip in skips)
    return Counts(len(named), failed, skipped, sum(float(case.get("time", 0)) for case in cases))


def unittest(words, directory, env):
    """The last lines of the runner."""
    text = printed(words, directory, env)
    number = lambda pattern: sum(map(int, re.findall(pattern, text)))
    ran = number(r"Ran (\d+) test")
    return Counts(ran, number(r"(?:failures|errors)=(\d+)"), number(r"skipped=(\d+)"), None)


def go(words, directory, env):
    """Events of `go test -json`; a test with subtests is not one itself. Names may contain slashes: a subtest runs while its holder does."""
    text = printed([*words[:2], "-json", *words[2:]], directory, env)
    ended, running, holders = {}, set(), set()
    for line in text.splitlines():
        event = json.loads(line) if line.startswith("{") else {}
        if not event.get("Test"):
            continue
        key = event["Package"], event["Test"]
        if event["Action"] == "run":
            holders.update(own for own in running if own[0] == key[0] and key[1].startswith(own[1] + "/"))
            running.add(key)
        elif event["Action"] in ("pass", "fail", "skip"):
            running.discard(key)
            ended[key] = event["Action"]
    actions = [action for key, action in ended.items() if key not in holders]
    return Counts(len(actions), actions.count("fail"), actions.count("skip"), None)


def cargo(words, directory, env):
    """The last lines of each test program."""
    text = printed(words, directory, env)
    found = [tuple(map(int, own)) for own in re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", text)]
    passed, failed, ignored = map(sum, zip(*found))
    return Counts(passed + failed + ignored, failed, ignored, None)


def tap(words, directory, env):
    """Results of TAP."""
    lines = printed(words, directory, env).splitlines()
    results = [line for line in lines if re.match(r"(not )?ok\b", line)]
    skipped = [line for line in results if re.search(r"# skip", line, re.IGNORECASE)]
    todo = [line for line in results if re.search(r"# todo", line, re.IGNORECASE)]
    failed = [line for line in results if line.startswith("not ok") and line not in skipped + todo]
    return Counts(len(results), len(failed), len(skipped), None)


def mocha(words, directory, env):
    """The reporter of JSON."""
    text = printed([*words, "--reporter", "json"], directory, env)
    told = json.loads(text[text.index("{") : text.rindex("}") + 1])["stats"]
    return Counts(told["tests"], told["failures"], told["pending"], None)


REPORTS = {"pytest": pytest, "unittest": unittest, "go": go, "cargo": cargo, "tap": tap, "mocha": mocha}
