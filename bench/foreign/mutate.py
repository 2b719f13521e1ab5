"""Holds `assay mutate` against real projects: of each, forty changes are made by hand, one at a time, and the project's plain command says whether its tests
notice. The fates must agree.

    python3 bench/foreign/mutate.py ASSAY [NAME ...]        (make foreign)

The same forty are drawn every time. A change that can't be compiled is in none of them. The exit status is 1 if more than one fate in a hundred and twenty is
wrong, or if none was looked at."""

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

HERE = Path(__file__).parent
# Projects by name, each with the files to mutate.
CHANGED = {
    "itsdangerous": ["src/itsdangerous/encoding.py", "src/itsdangerous/signer.py", "src/itsdangerous/timed.py"],
    "toolz": ["toolz/itertoolz.py"],
    "minimist": ["index.js"],
    "leejarvis/slop": ["lib/slop/option.rb", "lib/slop/options.rb", "lib/slop/parser.rb", "lib/slop/result.rb"],
    "github.com/google/uuid": [],
    "fnv": [],
}
DRAWN = 40
NOTICED = {"killed", "timed_out"}
MISSED = {"survived", "implied", "uncovered", "equivalent"}
# A mutant in an endless loop is stopped after this multiple of the tests' usual time plus this many
# seconds.
PATIENCE, MORE = 4, 20


def drawn(told):
    """Changes whose fate is known, in an order that is random and the same every time."""
    known = [own for own in told["mutants"] if own["fate"] in NOTICED | MISSED]
    return sorted(known, key=lambda own: hashlib.sha256(own["id"].encode()).digest())[:DRAWN]


def offset(lines, place):
    """The character of a text at which a place is, by its lines with their ends."""
    return sum(map(len, lines[: place["line"] - 1])) + place["column"] - 1


def applied(text, own):
    """A text with a change."""
    lines = text.splitlines(keepends=True)
    return text[: offset(lines, own["begin"])] + own["replacement"] + text[offset(lines, own["end"]) :]


def passes(words, directory, env, limit):
    """Whether the plain command passes. It must not go by what was compiled before."""
    try:
        done = subprocess.run(words, cwd=directory, env=env, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return False
    except OSError as problem:
        raise Missing(problem) from None
    return done.returncode == 0


def compared(assay, project, cache):
    """How many fates were looked at, and a line for each that is wrong."""
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
        call = [assay, "mutate", "--json", "--again", *CHANGED[project["name"]], "--", *words]
        done = subprocess.run(call, cwd=copy, env=env, capture_output=True, text=True, timeout=3600, check=False)
        try:
            told = json.loads(done.stdout)
        except ValueError:
            said = done.stderr.strip().splitlines()
            return 0, [f"no result: {said[-1] if said else done.returncode}"]
        wrong = []
        all_drawn = drawn(told)
        for own in all_drawn:
            unit = told["units"][own["unit"]]
            path = copy / told["files"][unit["file"]]["path"]
            text = path.read_bytes().decode()
            path.write_bytes(applied(text, own).encode())
            is_missed = passes(words, copy, env, limit)
            path.write_bytes(text.encode())
            if is_missed != (own["fate"] in MISSED):
                by_hand = "passes" if is_missed else "fails"
                wrong.append(f"{own['id']} {path.relative_to(copy)}:{own['begin']['line']} {own['operator']}: {own['fate']}, and by hand the command {by_hand}")
        return len(all_drawn), wrong


def main():
    assay, names = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = Path(os.environ.get("FOREIGN_CACHE") or Path(home) / "assay-foreign")
    projects = json.loads((HERE / "projects.json").read_text())
    looked = faults = broken = 0
    for project in projects:
        name = project["name"]
        if name not in CHANGED or names and name not in names:
            continue
        try:
            count, wrong = compared(assay, project, cache)
        except Missing as problem:
            print(f"missing  {name}: {problem}", flush=True)
            continue
        looked, faults, broken = looked + count, faults + len(wrong), broken + (count == 0)
        print(f"{'WRONG' if wrong else 'ok':8} {name}: {count - len(wrong)} of {count} fates as by hand", flush=True)
        for line in wrong:
            print(f"         {line}", flush=True)
    print(f"{looked - faults} of {looked} fates as by hand")
    # If no project could be installed, nothing was shown.
    return 1 if broken or looked == 0 or faults * 120 > looked else 0


if __name__ == "__main__":
    sys.exit(main())
