"""Holds `assay tests` against real projects: whether it recognises their suites, counts as their frameworks do, agrees with their times, and leaves the
projects as they are.

    python3 bench/foreign/foreign.py ASSAY [NAME ...]        (make foreign)

Projects are installed once, into FOREIGN_CACHE or the user's cache. One that can't be installed is listed as missing, with the reason, and makes no
row green. The exit status is 1 if any figure is wrong."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from install import Missing, install
from own import REPORTS, Counts, also_reported, junit

HERE = Path(__file__).parent
# Sums of times may differ by this share, or by this many seconds where they are short.
SHARE, SHORT = 0.02, 0.05
# Directories that tests write into themselves.
WRITTEN = {"__pycache__", ".pytest_cache", "target", "node_modules", ".hypothesis"}


def state(directory):
    """A digest of the files of a project, without caches of its tools."""
    found = hashlib.sha256()
    for path in sorted(directory.rglob("*")):
        if path.is_file() and WRITTEN.isdisjoint(path.relative_to(directory).parts):
            found.update(str(path.relative_to(directory)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def measured(assay, words, directory, env):
    """The counts of `assay tests`, and the framework as it names it."""
    done = subprocess.run([assay, "tests", "--json", "-n", "0", "--", *words], cwd=directory, env=env, capture_output=True, text=True, timeout=1800, check=False)
    try:
        told = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip().splitlines()
        raise AssertionError(said[-1] if said else f"status {done.returncode}") from None
    (suite,) = told["suites"]
    skips = [finding["evidence"]["benchmarks"] for finding in told["findings"] if finding["code"] == "BENCHMARK_SKIPPED"]
    skipped = int(sum(skips))
    failed = len([test for test in suite["failing"] if test["failed"]])
    counts = Counts(len(suite["tests"]) + len(suite["untimed"]) + skipped, failed, skipped, suite["test_time"])
    return counts, done.returncode


def compared(assay, project, cache):
    """A row of the table: what was found, and what is wrong with it."""
    directory, more = install(project, cache)
    env = {**os.environ, **more, "PYTHONDONTWRITEBYTECODE": "1"}
    words = project["command"]
    # Tests write files when they run for the first time.
    own = REPORTS[project["report"]](words, directory, env)
    before = state(directory)
    wrong = []
    with tempfile.TemporaryDirectory() as room:
        report = Path(room) / "report.xml"
        try:
            found, status = measured(assay, [*words, *also_reported(project["report"], report)], directory, env)
        except AssertionError as problem:
            return own, None, [f"not recognised: {problem}"]
        if report.exists():
            own = own._replace(seconds=junit(report).seconds)
    for name in ("tests", "failed", "skipped"):
        mine, theirs = getattr(found, name), getattr(own, name)
        if mine != theirs:
            wrong.append(f"{name}: {mine} instead of {theirs}")
    if own.failed and status == 0:
        wrong.append("status 0 although tests failed")
    if own.seconds is not None and abs(found.seconds - own.seconds) > max(SHARE * own.seconds, SHORT):
        wrong.append(f"sum of times: {found.seconds:.2f} s instead of {own.seconds:.2f} s")
    if state(directory) != before:
        wrong.append("the project was changed")
    return own, found, wrong


def main():
    assay, names = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = Path(os.environ.get("FOREIGN_CACHE") or Path(home) / "assay-foreign")
    projects = json.loads((HERE / "projects.json").read_text())
    red = missing = 0
    for project in projects:
        if names and project["name"] not in names:
            continue
        title = f"{project['name']} {project['version']} ({project['report']})"
        try:
            own, found, wrong = compared(assay, project, cache)
        except Missing as problem:
            missing += 1
            print(f"missing  {title}: {problem}", flush=True)
            continue
        red += bool(wrong)
        times = "" if own.seconds is None or found is None else f", {found.seconds:.2f} s of {own.seconds:.2f} s"
        print(f"{'WRONG' if wrong else 'ok':8} {title}: {own.tests} tests, {own.failed} failed, {own.skipped} skipped{times}", flush=True)
        for line in wrong:
            print(f"         {line}", flush=True)
    print(f"{red} wrong, {missing} missing")
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
