"""The frameworks' own reports on a project: numbers of tests, failures and skips, and the total
time if they report times."""

import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
import xml.etree.ElementTree as tree
from collections import namedtuple
from pathlib import Path

Counts = namedtuple("Counts", "tests failed skipped seconds")


def ended(words, directory, env, limit):
    """Returns the status of a command, and its output on both streams. All its processes end with
    it, or when its time is over."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([str(word) for word in words], cwd=directory, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        try:
            status = child.wait(limit)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
        return status, *texts


def printed(words, directory, env, limit):
    """Returns the output of a command on both streams."""
    return "".join(ended(words, directory, env, limit)[1:])


# A plugin for the sum of times: JUnit XML rounds each to a millisecond, which is more than most tests take.
DURATIONS = """
import os

seconds = 0.0


def pytest_runtest_logreport(report):
    global seconds
    seconds += report.duration


def pytest_unconfigure():
    with open(os.environ["FOREIGN_DURATIONS"], "w") as file:
        file.write(repr(seconds))
"""


def pytest(words, directory, env, limit):
    """JUnit XML."""
    with tempfile.TemporaryDirectory() as room:
        report, seconds = Path(room) / "report.xml", Path(room) / "seconds"
        (Path(room) / "foreign_durations.py").write_text(DURATIONS)
        path = os.pathsep.join(filter(None, [room, env.get("PYTHONPATH")]))
        env = {**env, "PYTHONPATH": path, "FOREIGN_DURATIONS": str(seconds)}
        printed([*words, f"--junit-xml={report}", "-p", "no:cacheprovider", "-p", "foreign_durations"], directory, env, limit)
        return junit(report)._replace(seconds=float(seconds.read_text()))


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


def unittest(words, directory, env, limit):
    """The last lines of the runner."""
    text = printed(words, directory, env, limit)
    number = lambda pattern: sum(map(int, re.findall(pattern, text)))
    ran = number(r"Ran (\d+) test")
    return Counts(ran, number(r"(?:failures|errors)=(\d+)"), number(r"skipped=(\d+)"), None)


def go(words, directory, env, limit):
    """Events of `go test -json`; a test with subtests does not count itself. Names may contain
    slashes, so a subtest is recognized by running during its parent. Times that go has cached from
    an earlier run do not count."""
    text = printed([*words[:2], "-json", "-count=1", *words[2:]], directory, env, limit)
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
            ended[key] = event
    own = [event for key, event in ended.items() if key not in holders]
    actions = [event["Action"] for event in own]
    return Counts(len(own), actions.count("fail"), actions.count("skip"), sum(event.get("Elapsed", 0) for event in own))


def cargo(words, directory, env, limit):
    """The last lines of each test program."""
    text = printed(words, directory, env, limit)
    found = [tuple(map(int, own)) for own in re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", text)]
    passed, failed, ignored = map(sum, zip(*found))
    return Counts(passed + failed + ignored, failed, ignored, None)


def tap(words, directory, env, limit):
    """TAP results."""
    lines = printed(words, directory, env, limit).splitlines()
    results = [line for line in lines if re.match(r"(not )?ok\b", line)]
    skipped = [line for line in results if re.search(r"# skip", line, re.IGNORECASE)]
    todo = [line for line in results if re.search(r"# todo", line, re.IGNORECASE)]
    failed = [line for line in results if line.startswith("not ok") and line not in skipped + todo]
    return Counts(len(results), len(failed), len(skipped), None)


def mocha(words, directory, env, limit):
    """The JSON reporter."""
    text = printed([*words, "--reporter", "json"], directory, env, limit)
    told = json.loads(text[text.index("{") : text.rindex("}") + 1])
    stats = told["stats"]
    return Counts(stats["tests"], stats["failures"], stats["pending"], sum(test.get("duration", 0) for test in told["tests"]) / 1e3)


def rspec(words, directory, env, limit):
    """The JSON formatter."""
    with tempfile.TemporaryDirectory() as room:
        report = Path(room) / "report.json"
        printed([*words, "--format", "json", "--out", report], directory, env, limit)
        return examples(report)


def examples(report):
    """JSON of rspec."""
    told = json.loads(report.read_text())
    summary = told["summary"]
    return Counts(summary["example_count"], summary["failure_count"], summary["pending_count"], sum(own["run_time"] for own in told["examples"]))


def minitest(words, directory, env, limit):
    """The last line; test-unit has the same, with other words."""
    text = printed(words, directory, env, limit)
    number = lambda words: int((re.findall(rf"(\d+) (?:{words})(?:,|$)", text, re.MULTILINE) or [0])[-1])
    return Counts(number("runs|tests"), number("failures") + number("errors"), number("skips|pendings") + number("omissions"), None)


def jest(words, directory, env, limit):
    """JSON of jest, which vitest also writes."""
    with tempfile.TemporaryDirectory() as room:
        report = Path(room) / "report.json"
        option = "--reporter=json" if "vitest" in words else "--json"
        printed([*words, option, f"--outputFile={report}"], directory, env, limit)
        told = json.loads(report.read_text())
    tests = [test for file in told["testResults"] for test in file["assertionResults"]]
    count = lambda *wanted: sum(test["status"] in wanted for test in tests)
    seconds = sum(test.get("duration") or 0 for test in tests) / 1e3
    return Counts(len(tests), count("failed"), count("pending", "skipped", "todo"), seconds)


def node(words, directory, env, limit):
    """The JUnit XML reporter, which writes a suite for each test that contains others."""
    text = printed([*words[:2], "--test-reporter=junit", *words[2:]], directory, env, limit)
    cases = list(tree.fromstring(text[text.index("<testsuites") :]).iter("testcase"))
    failed = sum(case.find("failure") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    return Counts(len(cases), failed, skipped, sum(float(case.get("time", 0)) for case in cases))


def ctest(words, directory, env, limit):
    """JUnit XML, which ctest writes on demand."""
    with tempfile.TemporaryDirectory() as room:
        report = Path(room) / "report.xml"
        printed([*words, "--output-junit", report], directory, env, limit)
        return junit(report)


def maven(words, directory, env, limit):
    """JUnit XML of each class, which surefire writes anyway."""
    reports = directory / "target/surefire-reports"
    for old in reports.glob("TEST-*.xml"):
        old.unlink()
    printed(words, directory, env, limit)
    found = [case for report in reports.glob("TEST-*.xml") for case in tree.parse(report).iter("testcase")]
    failed = sum(case.find("failure") is not None or case.find("error") is not None for case in found)
    return Counts(len(found), failed, sum(case.find("skipped") is not None for case in found), sum(float(case.get("time", 0).replace(",", "")) for case in found))


def nextest(words, directory, env, limit):
    """The line of its summary."""
    text = printed([*words, "--color=never", "--no-fail-fast"], directory, env, limit)
    number = lambda word: sum(map(int, re.findall(rf"(\d+) {word}", text[text.rindex("Summary [") :])))
    skipped = number("skipped")
    return Counts(number("tests? run") + skipped, number("failed"), skipped, None)


REPORTS = {
    "pytest": pytest,
    "unittest": unittest,
    "rspec": rspec,
    "minitest": minitest,
    "test-unit": minitest,
    "go": go,
    "cargo": cargo,
    "nextest": nextest,
    "tap": tap,
    "jest": jest,
    "vitest": jest,
    "mocha": mocha,
    "node": node,
    "ctest": ctest,
    "maven": maven,
}
