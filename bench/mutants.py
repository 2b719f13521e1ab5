"""The figures about mutants: how long it takes to generate and to try them; what a sample reveals
about the whole; and what is left behind if `assay mutate` is killed.

Generating: 10 MB of real sources in all languages available on this machine, changed and validated
by `assay mutate --list`. The sources are those installed here: the libraries of Python, Ruby and
Go, cargo's crates, and Node's modules. They are copied in a fixed order until each language has its
share. The time is that of the whole process: reading, parsing, generating, validating, listing.

Trying: toolz with its own tests, compared with the peers on the same files; and the small Ruby
library in this directory (`kit`) with its specs.
"""

import contextlib
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sysconfig
import time
from pathlib import Path

from judge import median, spread
from kill import MARK, orphans
from machine import HERE, ROOT, Failed, say
from ministat import once
from peers import GREMLINS, MUTMUT, TOOLZ, there
from result import Bar, Result, Share

MUTATE = ROOT / "target/release/assay-mutate"
ENDINGS = ["py", "rb", "go", "rs", "js", "ts", "c", "cpp", "java"]


def answer(*argv):
    """Returns the output of a program, or nothing if the program is missing."""
    try:
        return subprocess.run(argv, capture_output=True, text=True, timeout=60).stdout.strip()
    except OSError:
        return ""


def places():
    """Returns the directories with sources."""
    found = [sysconfig.get_paths()["stdlib"], answer("ruby", "-e", "print RbConfig::CONFIG['rubylibdir']"), answer("go", "env", "GOROOT")]
    found += [str(Path.home() / ".cargo/registry/src"), "/usr/lib/node_modules", "/usr/share/nodejs", "/usr/include"]
    return [Path(place) for place in found if place and Path(place).is_dir()]


def collect(to, size):
    """Copies sources until each language has its share, and returns the number of bytes of each."""
    share = size // len(ENDINGS)
    taken = {}
    for place in places():
        for path in sorted(place.rglob("*")):
            ending = path.suffix[1:]
            if ending not in ENDINGS or taken.get(ending, 0) >= share or not path.is_file():
                continue
            length = path.stat().st_size
            names = set(path.parts)
            if 1000 < length < 1 << 20 and not names & {"test", "tests", "spec", "testdata"}:
                target = to / ending / f"{len(list((to / ending).glob('*'))) if (to / ending).is_dir() else 0:05}.{ending}"
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
                taken[ending] = taken.get(ending, 0) + length
    return taken


def generate(bench):
    """Runs the whole process several times."""
    if not MUTATE.exists():
        raise Failed(f"{MUTATE} is not built: cargo build --release -p assay-mutate")
    project = bench.scratch / "project"
    project.mkdir()
    taken = collect(project, bench.size(10_000_000, 300_000))
    size = sum(taken.values())
    if not size:
        raise Failed("no sources are installed here")
    argv = [str(MUTATE), "--list", str(project)]
    listed = subprocess.run(argv, capture_output=True, text=True, cwd=project, check=True).stdout
    count = len(listed.splitlines()) - 1
    rounds = bench.size(5, 2)
    taken_time = [subprocess_once(bench, argv, project) for _ in range(rounds)]
    result = Result(
        "mutate-generate",
        f"Mutants of {size / 1e6:.1f} MB of source: median of {rounds} runs",
        ["languages", "mutants", "wall", "mutants/s", "MB/s"],
    )
    wall = median(taken_time)
    low, high = spread(taken_time)
    result.row(
        ", ".join(f"{name} {length / 1e6:.1f} MB" for name, length in sorted(taken.items())),
        f"{count:,}",
        f"{wall:.2f} s ({low:.2f} … {high:.2f})",
        f"{count / wall:,.0f}",
        f"{size / 1e6 / wall:.2f}",
    )
    result.bar(Bar.at_most("time for 10 MB", wall * 1e7 / size, 10, lambda v: f"{v:.1f} s"))
    result.raw = {"wall": taken_time, "bytes": taken, "mutants": count}
    return [result]


def subprocess_once(bench, argv, project):
    """Returns the seconds of one run, which sees only the project."""
    return once(bench, ["sh", "-c", 'cd "$0" && exec "$@" >/dev/null', str(project), *argv])[0]


# --- Number of mutants tried per second.

# The mutated modules of toolz: those covered by its tests.
MODULES = ["dicttoolz", "functoolz", "itertoolz", "recipes", "utils"]
MUTMUT_ASKED = """
[mutmut]
source_paths=toolz
only_mutate=
    {files}
also_copy=
    tlz
    setup.py
    versioneer.py
    setup.cfg
tests_dir=toolz/tests
"""
# A peer with a larger share of errors is not considered to have tried its mutants.
MOST_ERRORS = 0.1
# Time limit of a tool for all mutants, in seconds.
LONGEST = 3600


def speed(bench):
    """Runs each tool several times, in a new random order each time; measures the wall time of the
    whole command."""
    if not MUTATE.exists():
        raise Failed(f"{MUTATE} is not built: cargo build --release -p assay-mutate")
    rounds = bench.size(3, 1, 1)
    result = Result(
        "mutate-speed",
        f"Mutants that were tried in a second of the whole command, its runs without a change among it: median of {rounds} runs",
        ["project", "tool", "mutants", "missed", "wall", "mutants/s", "CPU a mutant"],
    )
    tools = {("kit (rspec)", "assay mutate"): _assay_on_kit}
    if there(TOOLZ):
        tools[("toolz (pytest)", "assay mutate")] = _assay_on_toolz
        tools |= {("toolz (pytest)", "mutmut"): _mutmut} if there(MUTMUT) else {}
        tools |= {("toolz (pytest)", "pytest-gremlins"): _gremlins} if there(GREMLINS) else {}
    files = [f"toolz/{name}.py" for name in bench.size(MODULES, MODULES[:1])]
    found = {key: [] for key in tools}

    def step(number, key):
        home = bench.scratch / f"{number}-{key[1]}-{key[0]}".replace(" ", "-")
        shutil.copytree(HERE / "kit" if key[0].startswith("kit") else TOOLZ.parent.parent, home)
        try:
            found[key].append(tools[key](bench, home, files))
        except Failed as error:
            result.note(f"{key[1]} on {key[0]}: {error}.")
        shutil.rmtree(home)

    bench.rounds(rounds, list(tools), step)
    rates = {}
    for key, runs in found.items():
        if not runs:
            continue
        wall, cpu = median([run["wall"] for run in runs]), median([run["cpu"] for run in runs])
        tried = runs[0]["tried"]
        low, high = spread([run["wall"] for run in runs])
        result.row(*key, f"{tried:,}", runs[0]["missed"], f"{wall:.1f} s ({low:.1f} … {high:.1f})", f"{tried / wall:.1f}", f"{cpu / tried * 1e3:.1f} ms")
        if runs[0]["errors"] > MOST_ERRORS * tried:
            result.note(f"{key[1]} could not try {runs[0]['errors']} of its {tried} mutants of {key[0]}: it is no bar.")
        else:
            rates[key] = tried / wall
    peers = [rate for (_, tool), rate in rates.items() if tool != "assay mutate"]
    for project in ("toolz (pytest)", "kit (rspec)"):
        own = rates.get((project, "assay mutate"))
        if own:
            result.bar(Bar.at_least(f"{project}: mutants/s", own, 100, lambda v: f"{v:.1f}"))
        if own and project.startswith("toolz") and peers:
            result.bar(Bar.at_least(f"{project}: of the quicker peer's", own / max(peers), 2, lambda v: f"{v:.2f}"))
    result.note("All without a sandbox, which the peers have not. Mutants that no test uses are not tried, and not counted.")
    result.raw = {" on ".join(reversed(key)): runs for key, runs in found.items()}
    return [result]


def _timed(bench, argv, home, variables=None, ok=(0,)):
    """Returns the output of a command, its wall time, and the CPU time of all its processes."""
    bench.commands[bench.shown([str(part) for part in argv])] = True
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = os.environ | {"XDG_CACHE_HOME": str(home.parent / f"{home.name}-cache")} | (variables or {})
    began = time.monotonic()
    try:
        done = subprocess.run([str(part) for part in argv], cwd=home, env=own, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(str(error)) from error
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in ok:
        raise Failed(f"it ended with {done.returncode}: {(done.stderr or done.stdout)[-300:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, {"wall": wall, "cpu": cpu}


def _assay(bench, home, files, command):
    out, took = _timed(bench, [MUTATE, "--no-sandbox", "--json", *files, "--", *command], home)
    tried = [own for own in json.loads(out)["mutants"] if own.get("seconds") is not None]
    missed = sum(own["fate"] == "survived" for own in tried)
    return took | {"tried": len(tried), "missed": missed, "errors": 0}


def _assay_on_kit(bench, home, _files):
    return _assay(bench, home, ["lib"], ["rspec"])


def _assay_on_toolz(bench, home, files):
    return _assay(bench, home, files, [MUTMUT.with_name("python"), "-m", "pytest", "-q", "toolz/tests"])


def _mutmut(bench, home, files):
    with open(home / "setup.cfg", "a") as config:
        config.write(MUTMUT_ASKED.format(files="\n    ".join(files)))
    out, took = _timed(bench, [MUTMUT, "run"], home)
    last = list(re.finditer(r"(\d+)/(\d+)", out))[-1]
    tried, of = int(last[1]), int(last[2])
    # The counts by symbol: mutants without a test, and survivors.
    counts = {sign: int(number) for sign, number in re.findall(r"(\S+)\s+(\d+)", out[last.end() :])}
    return took | {"tried": tried - counts.get("🫥", 0), "missed": counts.get("🙁", 0), "errors": of - tried}


def _gremlins(bench, home, files):
    argv = [GREMLINS.with_name("python"), "-m", "pytest", "-q", "toolz/tests", "--gremlins", f"--gremlin-targets={','.join(files)}", "--gremlin-parallel", "--gremlin-report=json"]
    _, took = _timed(bench, argv, home, ok=(0, 1))
    results = json.loads((home / "coverage/gremlins/gremlins.json").read_text())["results"]
    count = {status: sum(own["status"] == status for own in results) for status in ("survived", "error")}
    return took | {"tried": len(results), "missed": count["survived"], "errors": count["error"]}


# --- Accuracy of a sample of a tenth.


def budget(bench):
    """The journal of the full run has the fate and duration of each mutant. Each draw keeps, in a
    random order, as many of the finer mutants as fit into a tenth of the time, like the journal of
    a run whose time is up; the program itself computes the interval."""
    if not MUTATE.exists():
        raise Failed(f"{MUTATE} is not built: cargo build --release -p assay-mutate")
    draws = bench.size(100, 3, 30)
    home = bench.scratch / "kit"
    shutil.copytree(HERE / "kit", home)
    files = ["lib"] if not bench.quick else ["lib/kit/words.rb"]
    ask = lambda budget: _timed(bench, [MUTATE, "--no-sandbox", "--json", "--budget", budget, *files, "--", "rspec"], home)[0]
    # With a budget every mutant is tried, even those weaker than a survivor.
    full = json.loads(ask("100h"))
    share = full["score"]["share"]
    journal = next((home.parent / "kit-cache").rglob("*.jsonl"))
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    extreme = {own["id"] for own in full["mutants"] if own["operator"] == "body"}
    finer = [own for own in entries if own["id"] not in extreme]
    total = sum(own["seconds"] for own in finer)
    held, widths, sizes = 0, [], []
    for number in range(draws):
        left, kept = total / 10, []
        for own in bench.random.sample(finer, len(finer)):
            left -= own["seconds"]
            if left < 0:
                break
            kept.append(own)
        lines = [own for own in entries if own["id"] in extreme] + kept
        journal.write_text("".join(json.dumps(own) + "\n" for own in lines))
        score = json.loads(ask("0.001s"))["score"]
        interval = score["interval"]
        held += interval["lower"] - 1e-9 <= share <= interval["upper"] + 1e-9
        widths.append(interval["upper"] - interval["lower"])
        sizes.append(len(kept))
        say(f"\r  draw {number + 1} of {draws} ", end="")
    say("\r" + " " * 40 + "\r", end="")
    result = Result(
        "mutate-budget",
        f"{draws} samples of a tenth of the time, of {len(finer)} finer mutants of `kit`: whether the interval of each holds the score of all",
        ["score of all", "mutants in a sample", "width of the interval", "holds it"],
    )
    result.row(f"{share * 100:.1f} %", f"{median(sizes):.0f}", f"{median(widths) * 100:.1f} points", f"{held} of {draws}")
    result.bar(Bar.share_at_least("intervals that hold the score", Share(held, draws), 0.95))
    result.raw = {"share": share, "widths": widths, "sizes": sizes}
    return [result]


# --- Leftovers after a kill.


def kills(bench):
    """Kills with SIGKILL at random moments a run that tries all mutants, in the sandbox if there is
    one."""
    if not MUTATE.exists():
        raise Failed(f"{MUTATE} is not built: cargo build --release -p assay-mutate")
    moments = bench.size(200, 4, 40)
    home = bench.scratch / "kit"
    shutil.copytree(HERE / "kit", home)
    variables = os.environ | {MARK: f"{os.getpid()}", "XDG_CACHE_HOME": str(bench.scratch / "cache")}
    argv = [str(MUTATE), "--again", "--json", "lib/kit/heap.rb", "lib/kit/recent.rb", "--", "rspec"]
    bench.commands[bench.shown(argv) + "  # killed"] = True
    rooms, before = _rooms(), _digest(home)
    took, walled = _whole(argv, home, variables)
    if took is None:
        argv.insert(1, "--no-sandbox")
        took, walled = _whole(argv, home, variables)[0], False
    if took is None:
        raise Failed("it ends with an error")
    beside, groups, mounts = _rooms() - rooms, _groups(), _mounts()
    found = {"changed": 0, "orphans": 0}
    for number in range(moments):
        process = subprocess.Popen(argv, cwd=home, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(bench.random.uniform(0, took))
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
        found["orphans"] += orphans(variables[MARK])
        found["changed"] += _digest(home) != before
        say(f"\r  {number + 1} of {moments} ", end="")
    say("\r" + " " * 40 + "\r", end="")
    # Recent directories are left alone by later runs, so their dates are changed.
    past = time.time() - 3600
    for path in _rooms() - rooms:
        with contextlib.suppress(OSError):
            os.utime(path, (past, past))
    if _whole(argv, home, variables)[0] is None:
        raise Failed("the last run ends with an error")
    left = {"copies": len(_rooms() - rooms - beside), "groups": len(_groups() - groups), "mounts": len(_mounts() - mounts)}
    result = Result(
        "mutate-kills",
        f"SIGKILL of `assay mutate` at {moments} random moments of a run of {took:.1f} s, {'in the sandbox' if walled else 'without a sandbox, which this machine has not'}",
        ["the project changed", "processes left", "copies left", "control groups left", "mounts left"],
    )
    result.row(found["changed"], found["orphans"], left["copies"], left["groups"], left["mounts"])
    for what, count in {"projects changed": found["changed"], "processes left": found["orphans"], "copies, control groups and mounts left after the next run": sum(left.values())}.items():
        result.bar(Bar.at_most(what, count, 0, str))
    return [result]


def _whole(argv, home, variables):
    """Returns the seconds of a run that is not killed (None if it fails), and whether it used the
    sandbox."""
    began = time.monotonic()
    done = subprocess.run(argv, cwd=home, env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=600, check=False)
    return time.monotonic() - began if done.returncode == 0 else None, "--no-sandbox" not in argv


def _rooms():
    return set(Path(os.environ.get("TMPDIR", "/tmp")).glob("assay-*"))


def _groups():
    return {str(path) for path in Path("/sys/fs/cgroup").rglob("*assay*")}


def _mounts():
    return set(Path("/proc/self/mountinfo").read_text().splitlines())


def _digest(home):
    """Returns all files with their names and times."""
    digest = hashlib.sha256()
    for path in sorted(home.rglob("*")):
        about = path.lstat()
        digest.update(f"{path.relative_to(home)} {about.st_mode} {about.st_mtime_ns}\n".encode())
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()
