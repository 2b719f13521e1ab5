"""Compares `assay tests` with real projects: whether it recognizes their suites, agrees with the
counts and times of their frameworks, leaves the projects unchanged, and whether `--changed` runs
all tests that ten edits break.

    python3 bench/foreign/foreign.py ASSAY [--table FILE] [--result DIRECTORY] [--no-edits] [NAME ...]        (make foreign)

Projects are installed once, into FOREIGN_CACHE or the user's cache. A project that cannot be
installed is listed as missing, with the reason, and never counts as passed. Findings are also
stored there: the table and the result cover all projects examined with this program, in one call or
several. The exit status is 1 if any figure is wrong."""

import argparse
import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from statistics import mean

from edits import Found, looked_at
from install import Missing, install
from kept import HERE, Kept, cache
from own import REPORTS, Counts, ended
from result import Bar, Result

# Sums of times may differ by this share, or by this many seconds if they are short.
SHARE, SHORT = 0.02, 0.05
# Interference only adds time: the shortest of at least this many runs counts, alternately with and without
# assay. The framework's report of a watched run is not a reference: its clock includes the time of
# the hooks, which is .4 ms for a test of itsdangerous.
RUNS = 7
# Short suites run until this many seconds are over, at most this often: a scheduler's turn is long
# for them.
TIME, MOST_RUNS = 30, 40
# On a busy machine, the times of one suite differ by a factor of three: above this load they are
# shown but not judged.
MOST_LOAD = os.cpu_count()
# No part of a suite's time is negative, except by rounding: the smallest share that may be
# unaccounted for.
UNACCOUNTED = -0.01
# Directories that tests write in the project.
WRITTEN = {"__pycache__", ".pytest_cache", "target", "node_modules", ".hypothesis", "Testing", "coverage"}
# Frameworks for which `--changed` can determine the files used by tests; for others it reports that
# it cannot.
SEEN = {"pytest", "unittest", "rspec", "minitest", "test-unit", "go", "cargo", "node"}
# Time limit of a suite in seconds.
PATIENCE = 1800


def state(directory):
    """Returns a digest of a project's files, without caches of its tools."""
    found = hashlib.sha256()
    for path in sorted(directory.rglob("*")):
        if path.is_file() and WRITTEN.isdisjoint(path.relative_to(directory).parts):
            found.update(str(path.relative_to(directory)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def measured(assay, words, directory, env, options=()):
    """Returns the counts of `assay tests`, its exit status, and the share of the time that belongs
    to none of its parts; None for a run without selected tests."""
    counts, status, share, _, _ = named(assay, words, directory, env, options)
    return counts, status, share


def named(assay, words, directory, env, options=()):
    """Returns the same, with the names of the tests that ran, and of those that failed."""
    status, stdout, stderr = ended([assay, "tests", "--json", "--no-save", "-n", "0", *options, "--", *words], directory, env, PATIENCE)
    if not stdout.strip() and "no test runs" in stderr:
        return None, status, None, set(), set()
    try:
        told = json.loads(stdout)
    except ValueError:
        said = stderr.strip().splitlines()
        raise AssertionError(said[-1] if said else f"status {status}") from None
    (suite,) = told["suites"]
    skips = [finding["evidence"]["benchmarks"] for finding in told["findings"] if finding["code"] == "BENCHMARKS_MISSING"]
    skipped = int(sum(skips))
    failed = len([test for test in suite["failing"] if test["failed"]])
    unaccounted = (suite["parts"] or {}).get("unaccounted")
    # Reports without times have no parts.
    share = None if unaccounted is None or not suite["test_time"] else unaccounted / suite["wall"]
    counts = Counts(len(suite["tests"]) + len(suite["untimed"]) + skipped, failed, skipped, suite["test_time"])
    names = {test["name"] for test in suite["tests"]}.union(suite["untimed"])
    return counts, status, share, names, {test["name"] for test in suite["failing"] if test["failed"]}


def differs(mine, theirs):
    return abs(mine - theirs) > max(SHARE * theirs, SHORT)


def compared(assay, project, cache, has_edits):
    """Returns the framework's counts, assay's counts, the unaccounted share, whether times were
    compared, the results of the edits, and the faults."""
    directory, more = install(project, cache)
    env = {**os.environ, **more, "PYTHONDONTWRITEBYTECODE": "1"}
    words, kind = project["command"], project["report"]
    by_framework = lambda: REPORTS[kind](words, directory, env, PATIENCE)
    # Tests write files when they run for the first time.
    own = by_framework()
    before = state(directory)
    wrong = []
    is_timed = own.seconds is not None and os.getloadavg()[0] <= MOST_LOAD
    try:
        found, status, share = measured(assay, words, directory, env)
    except AssertionError as problem:
        return own, None, None, False, Found(), [f"not recognised: {problem}"]
    began = time.monotonic()
    for number in range(MOST_RUNS):
        if not is_timed or not differs(found.seconds, own.seconds) or number >= RUNS and time.monotonic() - began > TIME:
            break
        own = own._replace(seconds=min(own.seconds, by_framework().seconds))
        found = found._replace(seconds=min(found.seconds, measured(assay, words, directory, env)[0].seconds))
    for name in ("tests", "failed", "skipped"):
        mine, theirs = getattr(found, name), getattr(own, name)
        if mine != theirs:
            wrong.append(f"{name}: {mine} instead of {theirs}")
    if own.failed and status == 0:
        wrong.append("status 0 although tests failed")
    if is_timed and differs(found.seconds, own.seconds):
        wrong.append(f"sum of times: {found.seconds:.2f} s instead of {own.seconds:.2f} s")
    if share is not None and share < UNACCOUNTED:
        wrong.append(f"unaccounted: {100 * share:.1f} %")
    came = Found()
    if has_edits and kind in SEEN:
        came = looked_at(lambda options, env: named(assay, words, directory, env, options), project, directory, env, own)
        wrong += [f"--changed missed {miss}" for miss in came.missed]
    if state(directory) != before:
        wrong.append("the project was changed")
    return own, found, share, is_timed, came, wrong


def row(project, own, found, share, came, wrong):
    """Returns the cells of a project in the table."""
    seconds = "" if own.seconds is None else f"{own.seconds:.2f}"
    mine = "" if found is None or found.seconds is None else f"{found.seconds:.2f}"
    missed = f"{len(came.missed)} of {came.edits}" if came.edits else ""
    ran = f"{100 * mean(came.shares):.0f} %" if came.shares else ""
    unaccounted = "" if share is None else f"{100 * share:.1f} %"
    counts = f"{own.tests} / {own.failed} / {own.skipped}"
    same = "not recognised" if found is None else "yes" if found[:3] == own[:3] else f"{found.tests} / {found.failed} / {found.skipped}"
    return [f"{project['name']} {project['version'][:12]}", project["report"], counts, same, seconds, mine, unaccounted, missed, ran, "; ".join(wrong)]


HEAD = ["project", "framework", "tests / failed / skipped", "the same by assay", "sum of times, s", "by assay", "unaccounted", "edits of which a failing test was left out", "of the suite run", "wrong"]


def table(rows, missing):
    """Returns the table as Markdown."""
    lines = [f"| {' | '.join(cells)} |" for cells in [HEAD, ["---"] * len(HEAD), *rows]]
    return "\n".join(lines) + "\n" + "".join(f"\nMissing: {line}.\n" for line in missing)


def result(kept, about):
    """Returns a result like those of bench/results."""
    found = Result("foreign", "`assay tests` on suites of others, beside what their frameworks report", HEAD)
    for own in kept:
        found.row(*own["row"])

    def bar(what, right, of):
        found.bar(Bar(what, f"{of} of {of}", f"{right} of {of}", "yes" if right == of > 0 else "no"))

    timed = [own for own in kept if own["is_timed"]]
    without = lambda word, of: sum(not any(line.startswith(word) for line in own["wrong"]) for own in of)
    bar("suites recognised", without("not recognised", kept), len(kept))
    bar("counts equal", sum(own["row"][3] == "yes" for own in kept), len(kept))
    if timed:
        bar("sums of times within 2 %", without("sum of times", timed), len(timed))
    bar("projects unchanged", without("the project was changed", kept), len(kept))
    edits = sum(own["edits"] for own in kept)
    bar("edits of which `--changed` left out no failing test", edits - sum(own["missed"] for own in kept), edits)
    least = min((own["share"] for own in kept if own["share"] is not None), default=0)
    found.bar(Bar("smallest share unaccounted", f"≥ {100 * UNACCOUNTED:.0f} %", f"{100 * least:.1f} %", "yes" if least >= UNACCOUNTED else "no"))
    ran = [share for own in kept for share in own["shares"]]
    if ran:
        found.note(f"Of a suite, `--changed` ran {100 * mean(ran):.0f} % on average.")
    loads = [own["load"] for own in kept]
    found.note(f"Load of the machine at the start of a project: {min(loads):.0f} to {max(loads):.0f}.")
    found.note(f"Above {MOST_LOAD} times are not judged: those of {len(timed)} projects were.")
    found.about = about
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay", type=Path)
    parser.add_argument("--table", type=Path, help="write the table into this file")
    parser.add_argument("--result", type=Path, help="write the result into this directory")
    parser.add_argument("--no-edits", action="store_true", help="leave `--changed` out")
    parser.add_argument("--kept", action="store_true", help="measure nothing: only write the table and the result")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_intermixed_args()
    # An edit is also undone on termination.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    projects = json.loads((HERE / "projects.json").read_text())
    kept = Kept(asked.assay.resolve(), "tests")
    missing = []
    for project in projects:
        if not asked.kept and (not asked.names or project["name"] in asked.names):
            look(asked, project, kept, missing)
    found = kept.all(projects)
    red = sum(bool(own["wrong"]) for own in found)
    print(f"{len(found) - red} right, {red} wrong, {len(missing)} missing")
    if asked.table:
        asked.table.write_text(table([own["row"] for own in found], missing))
    if asked.result:
        result(found, kept.about(found, projects)).save(asked.result)
    return 1 if red or not found else 0


def look(asked, project, kept, missing):
    """Examines a project, prints the findings, and stores them."""
    title = f"{project['name']} {project['version'][:12]} ({project['report']})"
    load, began = os.getloadavg()[0], time.monotonic()
    try:
        own, found, share, is_timed, came, wrong = compared(str(kept.assay), project, cache(), not asked.no_edits)
    except Missing as problem:
        missing.append(f"{title}: {problem}")
        print(f"missing  {missing[-1]}", flush=True)
        return
    cells = row(project, own, found, share, came, wrong)
    print(f"{'WRONG' if wrong else 'ok':8} {title}: {', '.join(cell for cell in cells[2:9] if cell)}", flush=True)
    for line in wrong:
        print(f"         {line}", flush=True)
    found = {"row": cells, "wrong": wrong, "is_timed": is_timed, "share": share, "edits": came.edits, "missed": len(came.missed), "shares": came.shares}
    kept.keep(project["name"], with_earlier(found, kept.of(project["name"])), (time.monotonic() - began) / 60, load)


# Parts that a run may omit, by the field that shows whether it did: their cells in the row, and the
# beginning of their faults.
PARTS = [("is_timed", slice(4, 6), "sum of times"), ("edits", slice(7, 9), "--changed missed")]


def with_earlier(found, before):
    """Returns the findings, with earlier times of the same program if the new ones are not judged,
    and earlier edits if none were made."""
    if before is None:
        return found
    found = {**found, "row": found["row"][:]}
    for part, cells, fault in PARTS:
        if before[part] and not found[part]:
            found["row"][cells] = before["row"][cells]
            of_part = lambda lines, is_so: [line for line in lines if line.startswith(fault) == is_so]
            found["wrong"] = of_part(found["wrong"], False) + of_part(before["wrong"], True)
            for name in ["edits", "missed", "shares"] if part == "edits" else [part]:
                found[name] = before[name]
    found["row"][-1] = "; ".join(found["wrong"])
    return found


if __name__ == "__main__":
    sys.exit(main())
