"""Everything that the benches do on the machine: building, starting programs with a time limit,
keeping neighbor processes busy, recording facts.

No other file starts programs, so nothing can be left running, and no command can be missing from a
result.
"""

import contextlib
import json
import ctypes
import os
import platform
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = HERE / "build"
ASSAY = ROOT / "target/release/assay"
LABEL_SERIES = ROOT / "target/release/examples/label_series"

PROGRAMS = {
    "floor": ["-O2"],
    "vfork": ["-O2"],
    "busy": ["-O2"],
    "marks": ["-O2"],
    "allocate": ["-O2", "-fno-builtin"],
    "spin": ["-O2", "-static"],
    "tiny": ["-O2", "-static"],
    "peak": ["-O2", "-static"],
    "stamp": ["-O2", "-static"],
}


class Failed(Exception):
    """A program could not be started, took too long, or ended with an unexpected status."""


class Done:
    """How a program ended: its output and its duration."""

    def __init__(self, stdout, stderr, seconds):
        self.stdout, self.stderr, self.seconds = stdout, stderr, seconds


class Bench:
    """One run of a figure: its size, its random numbers, its directories, and the commands that it
    started."""

    def __init__(self, size, random, scratch, results, count=None, beside=()):
        # `quick`, `standard` or `full`.
        self.of_size, self.random, self.count = size, random, count
        # Results of earlier runs of the same figure with other seeds, to be included in the counts.
        self.beside = [json.loads(Path(path).read_text()) for path in beside]
        self.scratch, self.results = Path(scratch), results
        self.commands = {}

    @property
    def quick(self):
        return self.of_size == "quick"

    @property
    def full(self):
        return self.of_size == "full"

    def size(self, full, quick, standard=None):
        """Chooses a number by the size of the run: `full` (overnight), `quick` (only shows that it
        works), or `standard`, which is the full one if not given."""
        return {"full": full, "quick": quick, "standard": full if standard is None else standard}[self.of_size]

    def run(self, argv, timeout, ok=(0,), secret=None):
        """Starts a program, waits for its end, and records its command line, without secrets."""
        argv = [str(part) for part in argv]
        line = self.shown(argv)
        self.commands[line.replace(secret, "TOKEN") if secret else line] = True
        return execute(argv, timeout, ok)

    def shown(self, argv):
        """Returns a command line as a reader of the result can type it in the repository's root."""
        line = shlex.join(argv).replace(str(self.scratch), "$TMPDIR").replace(f"{ROOT}/", "").replace(sys.executable, "python3")
        return line

    @contextlib.contextmanager
    def neighbours(self, count, seconds):
        """Keeps this number of processes busy for at most this long. They end with this program,
        however it ends."""
        argv = [str(BUILD / "busy"), str(min(3600, int(seconds)))]
        processes = []
        try:
            for _ in range(count):
                self.commands[f"{self.shown(argv)} &  # {count} of these"] = True
                processes.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL))
            # Gives the scheduler time to spread them.
            time.sleep(0.2 if count else 0)
            yield
            if any(process.poll() is not None for process in processes):
                raise Failed(f"the busy processes ended before the measurement, after {argv[1]} s")
        finally:
            for process in processes:
                process.kill()
                process.wait()

    def rounds(self, count, things, step):
        """Calls `step(round, thing)` for everything in every round, in a new random order in each
        round."""
        for number in range(count):
            for thing in self.random.sample(things, len(things)):
                step(number, thing)
            say(f"\r  round {number + 1} of {count} ", end="")
        say("\r" + " " * 40 + "\r", end="")


def say(text, end="\n"):
    """Prints messages to standard error: standard output is for the tables."""
    print(text, end=end, file=sys.stderr, flush=True)


def child_of_ours():
    """To be called in a new process before it executes another program: makes the kernel end it
    when this program ends for any reason."""
    with contextlib.suppress(OSError):
        # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def ended_by_signals():
    """Makes a signal that ends this program leave all `with` blocks first, so that the processes
    started there end."""

    def leave(number, _):
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, leave)


def execute(argv, timeout, ok=(0,), cwd=None):
    """Starts a program in its own session, and ends that session if the program takes too long or
    this one is interrupted."""
    began = time.perf_counter()
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=cwd,
        )
    except OSError as error:
        raise Failed(f"{argv[0]}: {error.strerror}") from error
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{shlex.join(argv)}: not done after {timeout:.0f} s") from error
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    seconds = time.perf_counter() - began
    if process.returncode not in ok:
        last = (stderr.strip() or stdout.strip()).splitlines()[-5:]
        raise Failed(f"{shlex.join(argv)}: status {process.returncode}: " + " / ".join(last))
    return Done(stdout, stderr, seconds)


def build():
    """Builds assay, the labelling example and the C programs; cargo and file dates keep this
    quick."""
    say("building")
    execute(["cargo", "build", "--release", "-p", "assay", "-p", "assay-mutate", "--bins", "--example", "label_series"], 1800, cwd=ROOT)
    BUILD.mkdir(exist_ok=True)
    for name, flags in PROGRAMS.items():
        source, program = HERE / f"{name}.c", BUILD / name
        if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
            execute(["cc", *flags, "-o", str(program), str(source)], 60)


def spin_counts():
    """Returns counts for `spin` whose chain takes about 2.05 ms on this machine, and for 2 % more;
    both have the same number of digits."""

    def quickest(count):
        lines = execute([str(BUILD / "floor"), "60", str(BUILD / "spin"), f"{count:09}"], 60).stdout
        return min(map(int, lines.split()))

    trial = 4_000_000
    per_link = (quickest(trial) - quickest(0)) / trial
    # A multiple of 50, so that 2 % more is a whole number.
    count = max(50, round(2.05e6 / per_link / 50) * 50)
    return f"{count:09}", f"{count // 50 * 51:09}"


def facts():
    """Returns the properties of the machine that affect times, and its load at the start of the
    figure."""
    return {
        "cpu": _line_of("/proc/cpuinfo", "model name") or platform.processor(),
        "cpus": os.cpu_count(),
        "cpus_allowed": len(os.sched_getaffinity(0)),
        "scheduling": {os.SCHED_OTHER: "normal", os.SCHED_FIFO: "fifo", os.SCHED_RR: "rr"}.get(os.sched_getscheduler(0), "other"),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": _quoted("/etc/os-release", "PRETTY_NAME"),
        "kernel": platform.release(),
        "virtual": "hypervisor" in (_line_of("/proc/cpuinfo", "flags") or "").split(),
        "governor": _first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "load": round(os.getloadavg()[0], 2),
    }


def version_of(argv):
    """Returns the first line of a program's version output; None if it cannot be started."""
    try:
        done = execute([str(part) for part in argv], 60)
    except Failed:
        return None
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[0] if lines else None


def _first_line(path):
    try:
        return Path(path).read_text().splitlines()[0]
    except (OSError, IndexError):
        return None


def _line_of(path, key):
    with contextlib.suppress(OSError):
        for line in Path(path).read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    return None


def _quoted(path, key):
    with contextlib.suppress(OSError):
        for line in Path(path).read_text().splitlines():
            name, _, value = line.partition("=")
            if name == key:
                return value.strip('"')
    return None
