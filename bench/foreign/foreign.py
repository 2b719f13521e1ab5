"""Holds `assay tests` against real projects: whether it recognises their suites, counts as their frameworks do, agrees with their times, leaves the projects as
they are, and whether `--changed` runs all that ten edits break.

    python3 bench/foreign/foreign.py ASSAY [--table FILE] [--no-edits] [NAME ...]        (make foreign)

Projects are installed once, into FOREIGN_CACHE or the user's cache. One that can't be installed is listed as missing, with the reason, and makes no
row green. The exit status is 1 if any figure is wrong."""

import argparse
import hashlib
import json
import os
import signal
import sys
from pathlib import Path
from statistics import mean

from edits import Found, looked_at
from install import Missing, install
from own import REPORTS, Counts, ended

HERE = Path(__file__).parent
# Sums of times may differ by this share, or by this many seconds if they are short.
SHARE, SHORT = 0.02, 0.05
# Interference only adds time: the shortest of this many runs counts, alternately with and without
# assay. The framework's report of a watched run is not a reference: its clock includes the time of
# the hooks, which is .4 ms for a test of itsdangerous.
RUNS = 7
# Directories that tests write in the project.
WRITTEN = {"__pycache__", ".pytest_cache", "target", "node_modules", ".hypothesis", "Testing", "coverage"}
# Frameworks for which `--changed` can determine the files used by tests; for others it reports that
# it cannot.
SEEN = {"pytest", "unittest", "rspec", "minitest", "test-unit", "go", "cargo", "node"}
# Time limit of a suite in seconds.
PATIENCE = 1800


def state(directory):
    """A digest of the files of a project, without caches of its tools."""
    found = hashlib.sha256()
    for path in sorted(directory.rglob("*")):
        if path.is_file() and WRITTEN.isdisjoint(path.relative_to(directory).parts):
            found.update(str(path.relative_to(directory)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def measured(assay, words, directory, env, options=()):
    """The counts of `assay tests`, and its exit status; None of a run for which no test was chosen."""
    status, stdout, stderr = ended([assay, "tests", "--json", "--no-save", "-n", "0", *options, "--", *words], directory, env, PATIENCE)
    if not stdout.strip() and "no test runs" in stderr:
        return None, status
    try:
        told = json.loads(stdout)
    except ValueError:
        said = stderr.strip().splitlines()
        raise AssertionError(said[-1] if said else f"status {status}") from None
    (suite,) = told["suites"]
    skips = [finding["evidence"]["benchmarks"] for finding in told["findings"] if finding["code"] == "BENCHMARK_SKIPPED"]
    skipped = int(sum(skips))
    failed = len([test for test in suite["failing"] if test["failed"]])
    return Counts(len(suite["tests"]) + len(suite["untimed"]) + skipped, failed, skipped, suite["test_time"]), status


def differs(mine, theirs):
    return abs(mine - theirs) > max(SHARE * theirs, SHORT)


def compared(assay, project, cache, has_edits):
    """A row of the table: the framework's counts, ours, what came of edits, and what is wrong."""
    directory, more = install(project, cache)
    env = {**os.environ, **more, "PYTHONDONTWRITEBYTECODE": "1"}
    words, kind = project["command"], project["report"]
    by_framework = lambda: REPORTS[kind](words, directory, env, PATIENCE)
    # Tests write files when they run for the first time.
    own = by_framework()
    before = state(directory)
    wrong = []
    try:
        found, status = measured(assay, words, directory, env)
    except AssertionError as problem:
        return own, None, Found(), [f"not recognised: {problem}"]
    for _ in range(RUNS - 1):
        if own.seconds is None or not differs(found.seconds, own.seconds):
            break
        own = own._replace(seconds=min(own.seconds, by_framework().seconds))
        found = found._replace(seconds=min(found.seconds, measured(assay, words, directory, env)[0].seconds))
    for name in ("tests", "failed", "skipped"):
        mine, theirs = getattr(found, name), getattr(own, name)
        if mine != theirs:
            wrong.append(f"{name}: {mine} instead of {theirs}")
    if own.failed and status == 0:
        wrong.append("status 0 although tests failed")
    if own.seconds is not None and differs(found.seconds, own.seconds):
        wrong.append(f"sum of times: {found.seconds:.2f} s instead of {own.seconds:.2f} s")
    came = Found()
    if has_edits and kind in SEEN:
        came = looked_at(lambda options, env: measured(assay, words, directory, env, options)[0], project, directory, env, own)
        wrong += [f"--changed missed {miss}" for miss in came.missed]
    if state(directory) != before:
        wrong.append("the project was changed")
    return own, found, came, wrong


def row(project, own, found, came, wrong):
    """The cells of a project in the table."""
    seconds = "" if own.seconds is None else f"{own.seconds:.2f}"
    mine = "" if found is None or found.seconds is None else f"{found.seconds:.2f}"
    missed = f"{len(came.missed)} of {came.edits}" if came.edits else ""
    share = f"{100 * mean(came.shares):.0f} %" if came.shares else ""
    counts = f"{own.tests} / {own.failed} / {own.skipped}"
    same = "not recognised" if found is None else "yes" if found[:3] == own[:3] else f"{found.tests} / {found.failed} / {found.skipped}"
    return [f"{project['name']} {project['version'][:12]}", project["report"], counts, same, seconds, mine, missed, share, "; ".join(wrong)]


HEAD = ["project", "framework", "tests / failed / skipped", "the same by assay", "sum of times, s", "by assay", "edits of which a failing test was left out", "of the suite run", "wrong"]


def table(rows, missing):
    """The table as Markdown."""
    lines = [f"| {' | '.join(cells)} |" for cells in [HEAD, ["---"] * len(HEAD), *rows]]
    return "\n".join(lines) + "\n" + "".join(f"\nMissing: {line}.\n" for line in missing)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay", type=Path)
    parser.add_argument("--table", type=Path, help="write the table into this file")
    parser.add_argument("--no-edits", action="store_true", help="leave `--changed` out")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_intermixed_args()
    # An edit is also undone on termination.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = Path(os.environ.get("FOREIGN_CACHE") or Path(home) / "assay-foreign")
    projects = json.loads((HERE / "projects.json").read_text())
    rows, missing, red = [], [], 0
    for project in projects:
        if asked.names and project["name"] not in asked.names:
            continue
        title = f"{project['name']} {project['version'][:12]} ({project['report']})"
        try:
            own, found, came, wrong = compared(str(asked.assay.resolve()), project, cache, not asked.no_edits)
        except Missing as problem:
            missing.append(f"{title}: {problem}")
            print(f"missing  {missing[-1]}", flush=True)
            continue
        red += bool(wrong)
        rows.append(row(project, own, found, came, wrong))
        print(f"{'WRONG' if wrong else 'ok':8} {title}: {', '.join(cell for cell in rows[-1][2:8] if cell)}", flush=True)
        for line in wrong:
            print(f"         {line}", flush=True)
    print(f"{len(rows) - red} right, {red} wrong, {len(missing)} missing")
    if asked.table:
        asked.table.write_text(table(rows, missing))
    return 1 if red or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
