"""The figures about SIGKILL: what is lost, and what is left behind, if `assay` is killed at a
random moment.

Each verb measures a program that leaves a mark at the end of every run. A mark without its
observation is a lost run; the interrupted run does not count. All started processes carry a
variable; processes that still have it after five seconds are orphans. Directories are counted after
the next start of the same verb. They are made to look old before that, since it ignores directories
younger than a minute.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time

from machine import ASSAY, ROOT, Failed
from result import Bar, Result

MARK = "ASSAY_BENCH_MARK"
# Time to wait for processes to be gone, in seconds.
PATIENCE = 5.0
# Latest moment of a kill in seconds: starting and trial runs take a large part of it.
LATEST = 1.5
HARNESS = ROOT / "crates/assay/tests/bench/fake-harness.sh"


def kill(bench):
    """Runs this number of kills for each verb."""
    moments = bench.size(60, 4, 20)
    result = Result(
        "kill",
        f"SIGKILL of `assay` at {moments} random moments of each verb, from 0 to {LATEST} s after its start",
        ["verb", "with runs on disk", "runs lost", "in flight", "unreadable records", "orphans", "panics", "left over"],
    )
    totals = {"lost": 0, "orphans": 0, "left": 0, "unreadable": 0, "panics": 0}
    for verb, asked in _verbs(bench).items():
        found = _series(bench, verb, asked, moments)
        result.row(
            f"`{verb}`",
            f"{found['recorded']} of {moments}" if asked["records"] else "records at its end only",
            found["lost"] if asked["records"] else "",
            found["flight"] if asked["records"] else "",
            found["unreadable"],
            found["orphans"],
            found["panics"],
            found["left"],
        )
        totals = {name: total + found[name] for name, total in totals.items()}
    for name, what in {
        "lost": "runs lost beyond the one in flight",
        "orphans": "processes left",
        "left": "directories and files left after the next start",
        "unreadable": "records that can't be read",
        "panics": "panics",
    }.items():
        result.bar(Bar.at_most(what, totals[name], 0, str))
    result.note(
        "`doctor` is that without `--fix`: its guard, which restores the machine, is killed in the tests "
        "(`crates/measure/tests/it/guard.rs`), on files of their own."
    )
    return [result]


def _verbs(bench):
    """Returns the command line of each verb, in the directory of its series."""
    marking = 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; echo >> "$MARKS"'
    program = bench.scratch / "program"
    program.write_text(f"#!/bin/sh\n{marking}\n")
    sampled = bench.scratch / "sampled"
    sampled.write_text('#!/bin/sh\ni=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; echo >> "$MARKS"\n')
    for side, speed in {"old": 100, "new": 110}.items():
        home = bench.scratch / side
        home.mkdir()
        (home / "speed").write_text(f"{speed}\n")
        harness = HARNESS.read_text().replace("speed=$(cat speed)", f"speed=$(cat {home}/speed)")
        (home / "bm").write_text(harness + 'echo >> "$MARKS"\n')
    for path in (program, sampled, bench.scratch / "old/bm", bench.scratch / "new/bm"):
        path.chmod(0o755)
    two = [bench.scratch / "old/bm", bench.scratch / "new/bm"]
    return {
        "run": {
            "records": True,
            "line": ["--runs", "100000", "--warmup", "0", "--save", "s.assay", "-n", "a", "-n", "b", program, program],
            "end": ["--runs", "2", "--no-save", "--samples", "true"],
        },
        "bench": {
            "records": True,
            "line": ["--runs", "100000", "--run-time", "1ms", "--save", "s.assay", *two],
            "end": ["--runs", "2", "--run-time", "1ms", "--no-save", *two],
        },
        "profile": {
            "records": False,
            "line": ["--sampler", "perf", "--runs", "1000", "-o", "result.json", sampled, sampled],
            "end": ["--sampler", "perf", "--runs", "2", sampled, sampled],
        },
        "doctor": {"records": False, "line": [], "end": []},
    }


def _series(bench, verb, asked, moments):
    """Starts and kills a verb, and counts what is found."""
    room = bench.scratch / f"room-{verb}"
    temporary = room / "tmp"
    temporary.mkdir(parents=True)
    marks = room / "marks"
    token = f"{os.getpid()}-{verb}"
    variables = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    variables |= {MARK: token, "MARKS": str(marks), "TMPDIR": str(temporary), "XDG_STATE_HOME": str(room / "state")}
    line = [str(part) for part in [ASSAY, verb, *asked["line"]]]
    bench.commands[bench.shown(line) + "  # killed"] = True
    found = dict.fromkeys(["recorded", "lost", "flight", "unreadable", "orphans", "panics", "left"], 0)
    for number in range(moments):
        for path in (marks, room / "s.assay"):
            path.unlink(missing_ok=True)
        moment = bench.random.uniform(0, LATEST)
        with open(room / "said", "w+b") as said:
            process = subprocess.Popen(
                line, cwd=room, env=variables, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
            )
            before = _watched(process, moment, marks, room / "s.assay")
            process.send_signal(signal.SIGKILL)
            process.wait()
            found["orphans"] += orphans(token)
            said.seek(0)
            found["panics"] += b"panicked" in said.read()
        if asked["records"] and (observed := _observations(room / "s.assay")):
            found["recorded"] += 1
            # Trial runs also leave marks, which do not count.
            missing = _lines(marks) - observed - before if before is not None else 0
            found["flight"] += missing >= 1
            found["lost"] += max(0, missing - 1)
            found["unreadable"] += not _readable(room, variables)
        print(f"\r  {verb} {number + 1} of {moments} ", end="", file=os.sys.stderr, flush=True)
    print("\r" + " " * 40 + "\r", end="", file=os.sys.stderr)
    _made_old(temporary)
    last = subprocess.run(
        [str(part) for part in [ASSAY, verb, *asked["end"]]], cwd=room, env=variables, capture_output=True, timeout=120, check=False
    )
    if last.returncode != 0:
        raise Failed(f"{verb}: the last start ended with {last.returncode}: {last.stderr.decode()[-300:]}")
    found["left"] = len(list(temporary.iterdir()))
    shutil.rmtree(room)
    return found


def _watched(process, seconds, marks, record):
    """Waits for the moment of the kill. Returns by how many the marks at least exceeded the
    observations since the first observation."""
    end, fewest = time.monotonic() + seconds, None
    while (left := end - time.monotonic()) > 0:
        if process.poll() is not None:
            raise Failed(f"it ended by itself with {process.returncode}")
        # In this order, a run that ends in between makes the count too large, never too small.
        if observed := _observations(record):
            more = _lines(marks) - observed
            fewest = more if fewest is None else min(fewest, more)
        time.sleep(min(0.02, max(left, 0)))
    return fewest


def _lines(path):
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes().count(b"\n")
    return 0


def _observations(path):
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes().count(b'\n{"kind":"obs"')
    return 0


def _readable(room, variables):
    argv = [str(ASSAY), "convert", "s.assay", "--to", "csv", "-o", "s.csv"]
    return subprocess.run(argv, cwd=room, env=variables, capture_output=True, timeout=60, check=False).returncode == 0


def orphans(token):
    """Returns the number of processes that still carry the variable after a while, and ends
    them."""
    end = time.monotonic() + PATIENCE
    while (left := _carrying(token)) and time.monotonic() < end:
        time.sleep(0.02)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(left)


def _carrying(token):
    wanted, found = f"{MARK}={token}".encode(), []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{entry.name}/environ", "rb") as variables:
                if wanted in variables.read().split(b"\0"):
                    found.append(int(entry.name))
    return found


def _made_old(directory):
    past = time.time() - 3600
    for path in directory.iterdir():
        os.utime(path, (past, past), follow_symlinks=False)
