"""Compares `assay mutate` with real projects: in each project, forty changes are made one at a time
without assay, and the project's plain command shows whether its tests notice them. The fates must
agree.

    python3 bench/foreign/mutate.py ASSAY [--result DIRECTORY] [NAME ...]        (make foreign)

Findings are stored in the cache, so the result covers all projects examined with this program.
assay tries a sample of each project's changes, from which the forty are drawn. Changes that cannot
be compiled are excluded. The exit status is 1 if more than one fate in 120 is wrong, or if none was
examined."""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from install import Missing, install
from kept import HERE, Kept, cache
from result import Bar, Result, Share

# Projects by name, each with the files to mutate.
CHANGED = {
    "itsdangerous": ["src/itsdangerous/encoding.py", "src/itsdangerous/signer.py", "src/itsdangerous/timed.py"],
    "toolz": ["toolz/itertoolz.py"],
    "minimist": ["index.js"],
    "leejarvis/slop": ["lib/slop/option.rb", "lib/slop/options.rb", "lib/slop/parser.rb", "lib/slop/result.rb"],
    "janlelis/paint": ["lib/paint.rb", "lib/paint/pa.rb"],
    "github.com/google/uuid": [],
    "fnv": [],
}
DRAWN = 40
# Number of changes that assay tries, as a sample: some can't be compiled, or are known to be the same
# program. All changes of toolz alone would take a quarter of an hour.
TRIED = 60
NOTICED = {"killed", "timed_out"}
MISSED = {"survived", "implied", "uncovered", "equivalent"}
# Share of all fates that must agree.
AGREEING = 238 / 240
# The command that shows whether a change can be compiled, by kind of project. Changes of code that
# no test reaches are not compiled by assay.
COMPILED = {"go": ["go", "test", "-run", "^$", "./..."], "crate": ["cargo", "test", "--no-run"]}
# A mutant in an endless loop is stopped after this multiple of the tests' usual time plus this many
# seconds.
PATIENCE, MORE = 4, 20


def drawn(told):
    """Draws forty of the changes with known fates; the draw is the same whenever the same changes
    were tried."""
    known = [own for own in told["mutants"] if own["fate"] in NOTICED | MISSED]
    return sorted(known, key=lambda own: hashlib.sha256(own["id"].encode()).digest())[:DRAWN]


def offset(lines, place):
    """Returns the offset of a place in a text, in characters, given its lines with their ends."""
    return sum(map(len, lines[: place["line"] - 1])) + place["column"] - 1


def applied(text, own):
    """Returns a text with a change applied."""
    lines = text.splitlines(keepends=True)
    return text[: offset(lines, own["begin"])] + own["replacement"] + text[offset(lines, own["end"]) :]


def passes(words, directory, env, limit):
    """Returns whether the plain command passes. It must not use previously compiled code."""
    try:
        done = subprocess.run(words, cwd=directory, env=env, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return False
    except OSError as problem:
        raise Missing(problem) from None
    return done.returncode == 0


def compared(assay, project, cache):
    """Returns the number of fates examined, and a line for each wrong one."""
    directory, more = install(project, cache)
    env = {**os.environ, **more, "PYTHONDONTWRITEBYTECODE": "1"}
    words = project["command"]
    with tempfile.TemporaryDirectory() as room:
        copy = Path(room) / "copy"
        shutil.copytree(directory, copy, symlinks=True)
        # Packages of npm are above the project, where node does not find them from a copy.
        modules = next((own / "node_modules" for own in directory.parents if (own / "node_modules").is_dir()), None)
        if modules and not (copy / "node_modules").exists():
            (copy / "node_modules").symlink_to(modules)
        if (copy / "src").is_dir():
            env["PYTHONPATH"] = str(copy / "src")
        began = time.monotonic()
        if not passes(words, copy, env, 1800):
            raise Missing("its tests fail without a change")
        limit = PATIENCE * (time.monotonic() - began) + MORE
        call = [assay, "mutate", "--json", "--again", "--budget", str(TRIED), *CHANGED[project["name"]], "--", *words]
        done = subprocess.run(call, cwd=copy, env=env, capture_output=True, text=True, timeout=3600, check=False)
        try:
            told = json.loads(done.stdout)
        except ValueError:
            said = done.stderr.strip().splitlines()
            return 0, [f"no result: {said[-1] if said else done.returncode}"]
        wrong, count = [], 0
        for own in drawn(told):
            unit = told["units"][own["unit"]]
            path = copy / told["files"][unit["file"]]["path"]
            text = path.read_bytes().decode()
            path.write_bytes(applied(text, own).encode())
            is_missed = passes(words, copy, env, limit)
            compiles = COMPILED.get(project["kind"])
            is_change = is_missed or compiles is None or passes(compiles, copy, env, limit)
            count += is_change
            path.write_bytes(text.encode())
            if is_change and is_missed != (own["fate"] in MISSED):
                by_hand = "passes" if is_missed else "fails"
                wrong.append(f"{own['id']} {path.relative_to(copy)}:{own['begin']['line']} {own['operator']}: {own['fate']}, and by hand the command {by_hand}")
        return count, wrong


def result(found, about):
    """Returns a result like those of bench/results."""
    title = "Fates of changes by `assay mutate`, beside the project's plain command with the change made by hand"
    told = Result("foreign-mutate", title, ["project", "fates", "as by hand", "not"])
    for own in found:
        told.row(own["name"], own["count"], own["count"] - len(own["wrong"]), "; ".join(own["wrong"]))
    count = sum(own["count"] for own in found)
    told.bar(Bar.share_at_least("fates as by hand", Share(count - sum(len(own["wrong"]) for own in found), count), AGREEING))
    told.about = about
    return told


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay", type=Path)
    parser.add_argument("--result", type=Path, help="write the result into this directory")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_intermixed_args()
    projects = [project for project in json.loads((HERE / "projects.json").read_text()) if project["name"] in CHANGED]
    kept = Kept(asked.assay.resolve(), "mutate")
    broken = 0
    for project in projects:
        name = project["name"]
        if asked.names and name not in asked.names:
            continue
        load, began = os.getloadavg()[0], time.monotonic()
        try:
            count, wrong = compared(str(kept.assay), project, cache())
        except Missing as problem:
            print(f"missing  {name}: {problem}", flush=True)
            continue
        broken += count == 0
        print(f"{'WRONG' if wrong else 'ok':8} {name}: {count - len(wrong)} of {count} fates as by hand", flush=True)
        for line in wrong:
            print(f"         {line}", flush=True)
        if count:
            kept.keep(name, {"name": name, "count": count, "wrong": wrong}, (time.monotonic() - began) / 60, load)
    found = kept.all(projects)
    looked, faults = sum(own["count"] for own in found), sum(len(own["wrong"]) for own in found)
    print(f"{looked - faults} of {looked} fates as by hand")
    if asked.result:
        result(found, kept.about(found, projects)).save(asked.result)
    # If no project could be installed, nothing was tested.
    return 1 if broken or looked == 0 or faults > looked * (1 - AGREEING) else 0


if __name__ == "__main__":
    sys.exit(main())
