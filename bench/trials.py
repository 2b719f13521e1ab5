"""The figure about `assay check` without options: ten libraries from registries, four changes each.

    bench/trials.py --at DIR                               all trials; finished ones are not repeated
    bench/trials.py --at DIR --only toolz --change slow    some of them
    bench/trials.py --at DIR --prepare                     only makes the repositories

The libraries, their benchmarks and the changes are in bench/trials. A change is a list of texts to
replace. A trial is a fresh clone with one commit on a branch, and an empty cache of revisions; the
clients of the registries keep their own caches. bench/run.py measures the same in its directory.
"""

import argparse
import datetime
import hashlib
import json
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from bisect_commits import git
from machine import ASSAY, HERE, ROOT, Failed, ended_by_signals, say
from result import Bar, Result

sys.path.append(str(HERE / "foreign"))
from install import Missing, install  # noqa: E402

TABLE = HERE / "trials/projects.toml"
# The one that must be found, and those that cost nothing.
CHANGES = ["slow", "refactor", "unmeasured", "none"]
# The longest time from a checkout to the answer, without builds; and the one after which a trial
# has failed.
MOST_SECONDS, PATIENCE = 360, 3600
# Programs that only build. Their times are recorded by scripts in front of them in PATH, since
# `assay check` does not report on builds that confirm an alarm.
BUILDERS = ["cargo", "go"]
RECORDER = """#!/bin/sh
began=$(date +%s.%N)
'{program}' "$@"
status=$?
echo "$began $(date +%s.%N)" >> '{log}'
exit $status
"""
NOT_MEASURED = re.compile(r"[Nn]ot measured|nothing was measured|not reached by the change")


def projects():
    """Returns the table of libraries."""
    return tomllib.loads(TABLE.read_text())["project"]


def label(project):
    """Returns the last part of a library's name."""
    return project["name"].rsplit("/", 1)[-1]


def replace(directory, edits):
    """Applies a change; every text to be replaced must occur exactly once."""
    for edit in edits:
        path = directory / edit["file"]
        text = path.read_text()
        if text.count(edit["old"]) != 1:
            raise Failed(f"{path}: contains {text.count(edit['old'])} times instead of once: {edit['old']!r}")
        path.write_text(text.replace(edit["old"], edit["new"]))


def repository(project, at):
    """Creates the repository with the base of all trials of a library. Returns its directory, and
    the variables for the library."""
    directory = at / label(project) / "repository"
    try:
        source, variables = install(project, at / "installed")
    except Missing as missing:
        raise Failed(f"{label(project)} could not be installed: {missing}") from missing
    # Otherwise the installed files would be imported.
    variables.pop("PYTHONPATH", None)
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(source, directory, symlinks=True)
    for path in [directory, *directory.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | stat.S_IWUSR)
    for name in project.get("remove", []):
        (shutil.rmtree if (directory / name).is_dir() else os.remove)(directory / name)
    added = TABLE.parent / label(project)
    if added.exists():
        shutil.copytree(added, directory, dirs_exist_ok=True)
    replace(directory, project.get("base", []))
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", ".")
    git(directory, "commit", "-q", "-m", "base")
    for change in CHANGES:
        changed(project, change, directory, at / label(project) / change)
    return variables


def changed(project, change, base, clone):
    """Clones the base, and commits the change on a branch."""
    shutil.rmtree(clone, ignore_errors=True)
    git(base.parent, "clone", "-q", str(base), str(clone))
    git(clone, "checkout", "-q", "-b", "change")
    replace(clone, project.get(change, []))
    git(clone, "commit", "-q", "--allow-empty", "-a", "-m", change)


def recorders(directory):
    """Creates the scripts that record when builders run. Returns their directory and the log."""
    log = directory / "built"
    log.write_text("")
    for name in BUILDERS:
        program = shutil.which(name)
        if program:
            (directory / name).write_text(RECORDER.format(program=program, log=log))
            (directory / name).chmod(0o755)
    return directory, log


def total(spans):
    """Returns the seconds that are in any of these spans."""
    seconds, until = 0, 0
    for began, ended in sorted(spans):
        seconds += max(ended - max(began, until), 0)
        until = max(until, ended)
    return seconds


def check(project, change, variables, at, assay):
    """Runs one trial and returns its record."""
    clone, cache = at / label(project) / change, at / label(project) / f"{change}-cache"
    shutil.rmtree(cache, ignore_errors=True)
    (cache / "builders").mkdir(parents=True)
    builders, log = recorders(cache / "builders")
    own = {**os.environ, **variables}
    # The caches of registries' clients would be in XDG_CACHE_HOME, too.
    environment = {
        **own,
        "PATH": f"{builders}:{own['PATH']}",
        "XDG_CACHE_HOME": str(cache),
        "GOCACHE": str(at / "go"),
        "PIP_CACHE_DIR": str(at / "pip"),
    }
    began = time.time()
    process = subprocess.Popen([assay, "check"], cwd=clone, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = []
    try:
        for line in process.stderr:
            said.append((time.time(), line.rstrip()))
        screen = process.stdout.read()
        status = process.wait(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    ended = time.time()
    # A line of this form is followed by another one, or by the end, when the build has ended.
    ends = [when for when, _ in said[1:]] + [ended]
    building = [(when, end) for (when, line), end in zip(said, ends) if re.search(r": building", line)]
    building += [tuple(map(float, line.split())) for line in log.read_text().splitlines()]
    shutil.rmtree(cache, ignore_errors=True)
    return record(project, change, status, screen, said, ended - began, total(building))


def record(project, change, status, screen, said, seconds, building):
    """Returns what a trial shows."""
    paragraph, _, rest = screen.partition("\n\n")
    paragraph = " ".join(paragraph.split())
    alarms = re.findall(r"^  (\S.*?)  +\S.*  slower, (?:not )?confirmed$", rest, re.MULTILINE)
    return {
        "project": label(project),
        "change": change,
        "status": status,
        "paragraph": paragraph,
        "alarms": alarms,
        # The program's name may precede that of the benchmark.
        "planted": any(re.search(f"(?:^|: )(?:{project['planted']})$", name) for name in alarms),
        "not measured": bool(NOT_MEASURED.search(paragraph)),
        "seconds": round(seconds, 1),
        "building": round(building, 1),
        "screen": screen,
        "messages": [line for _, line in said],
    }


def trial(project, change, variables, at, assay):
    """Returns the record of a trial, which a former call may have written with the same program
    and the same files."""
    trees = subprocess.run(["git", "rev-parse", "main^{tree}", "HEAD^{tree}"], cwd=at / label(project) / change, check=True, capture_output=True).stdout
    version = hashlib.sha256(Path(assay).read_bytes() + trees).hexdigest()[:16]
    path = at / "records" / f"{label(project)}-{change}.json"
    if path.exists() and json.loads(path.read_text())["version"] == version:
        return json.loads(path.read_text())
    found = {"version": version, **check(project, change, variables, at, assay)}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return found


def line(found):
    """Returns a trial in a line."""
    return (
        f"{found['project']}, {found['change']}: status {found['status']}, {found['seconds']:.0f} s, of which {found['building']:.0f} s builds; "
        f"{len(found['alarms'])} alarms{', planted one named' if found['planted'] else ''}: {found['paragraph']}"
    )


def result(found):
    """Returns the figure from the records of all trials."""
    shown = Result(
        "trials",
        f"`assay check` without options on {len({own['project'] for own in found})} libraries, each with four changes",
        ["library", "change", "status", "alarms", "slowdown named", "not measured", "seconds", "of which building"],
    )
    for own in found:
        yes = lambda key: "yes" if own[key] else ""
        shown.row(own["project"], own["change"], own["status"], len(own["alarms"]), yes("planted"), yes("not measured"), f"{own['seconds']:.0f}", f"{own['building']:.0f}")
    of = lambda *changes: [own for own in found if own["change"] in changes]
    slow, costless, unmeasured = of("slow"), of("refactor", "unmeasured", "none"), of("unmeasured")


    def all_of(what, hits, count):
        if count:
            shown.bar(Bar(what, f"{count} of {count}", f"{hits} of {count}", "yes" if hits == count else "no"))

    all_of("slowdowns by about 10 %: found, and the benchmark named", sum(own["planted"] and own["status"] == 1 for own in slow), len(slow))
    alarmed = sum(bool(own["alarms"]) or own["status"] != 0 for own in costless)
    shown.bar(Bar("changes that cost nothing: alarms", "0", f"{alarmed} of {len(costless)}", "no" if alarmed else "yes"))
    all_of("changes that no benchmark reaches: `not measured` said", sum(own["not measured"] for own in unmeasured), len(unmeasured))
    longest = max(own["seconds"] - own["building"] for own in found)
    shown.bar(Bar("longest time to the answer, without builds", f"≤ {MOST_SECONDS} s", f"{longest:.0f} s", "yes" if longest <= MOST_SECONDS else "no"))
    shown.note("The libraries' packages have few or no benchmarks: a first commit, the base of every change, adds some (bench/trials).")
    shown.raw = {"trials": [{key: value for key, value in own.items() if key not in ("screen", "messages")} for own in found]}
    return shown


def trials(bench):
    chosen = projects()[: bench.size(len(projects()), 1)]
    changes = CHANGES if not bench.quick else ["unmeasured", "none"]
    found = []
    for project in chosen:
        variables = repository(project, bench.scratch)
        for change in changes:
            say(f"\r  {label(project)}, {change}   ", end="")
            found.append(trial(project, change, variables, bench.scratch, ASSAY))
    bench.commands["git clone REPOSITORY trial; cd trial; git checkout -b change; git commit -a; assay check"] = True
    return [result(found)]


def main():
    names = [label(project) for project in projects()]
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--at", type=Path, required=True, metavar="DIR", help="directory of repositories, caches and records")
    arguments.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    arguments.add_argument("--change", nargs="+", choices=CHANGES, default=CHANGES, help="only these changes")
    arguments.add_argument("--assay", type=Path, default=ASSAY, metavar="FILE", help="the program [default: %(default)s]")
    arguments.add_argument("--prepare", action="store_true", help="measure nothing")
    given = arguments.parse_args()
    ended_by_signals()
    at, assay = given.at.resolve(), given.assay.resolve()
    if at.is_relative_to(ROOT):
        raise Failed(f"--at {at} is in this repository, whose workspace the crates would join")
    at.mkdir(parents=True, exist_ok=True)
    found = []
    for project in projects():
        if label(project) not in given.only:
            continue
        variables = repository(project, at)
        for change in [] if given.prepare else given.change:
            found.append(trial(project, change, variables, at, assay))
            say(f"{datetime.datetime.now():%H:%M:%S} {line(found[-1])}")
    if found:
        shown = result(found)
        print(f"{shown.title}.\n\n" + "\n".join(" | ".join(row) for row in [shown.columns, *shown.rows]) + "\n")
        for bar in shown.bars:
            print(f"{bar.what}: must be {bar.must}; found {bar.found}: {bar.reached}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        say(f"error: {error}")
        sys.exit(1)
