"""Measures the fork itself: from the request to a preloaded process until the first line of the
run's program. Requests are those that `assay` sends (docs/internals/preloading.md); the time from a
save to the request, and everything after the fork, are measured by warm.py.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

from judge import median, quantile
from machine import ROOT, Failed, child_of_ours
from peers import PYTEST_WATCHER, there
from result import Bar, Result, milliseconds

HOOKS = ROOT / "crates/suites/src/hooks"
PATIENCE = 60
# The first line records when it is reached; the second loads the usual libraries of such programs.
RUBY = """File.write(ENV.fetch("STAMPS"), "#{Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)}\\n", mode: "a")
require "active_record"
"""
PYTHON = """import os, time; open(os.environ["STAMPS"], "a").write(f"{time.clock_gettime_ns(time.CLOCK_MONOTONIC)}\\n")
import sqlalchemy
"""


class Preloaded:
    """A process that waits to be forked for runs of a script."""

    def __init__(self, home, words, hook, text):
        home.mkdir(parents=True)
        self.home, self.words, self.socket, self.stamps = home, words, str(home / "socket"), home / "stamps"
        (home / "project").mkdir()
        (home / "project" / words[1]).write_text(text)
        life, self.life = os.pipe()
        self.env = os.environ | hook | {"STAMPS": str(self.stamps), "PYTHONDONTWRITEBYTECODE": "1"}
        warm = {"ASSAY_WARM": f"path:{self.socket}", "ASSAY_WARM_ROOT": f"path:{home / 'project'}", "ASSAY_WARM_SEEN": f"path:{home / 'seen'}"}
        self.process = subprocess.Popen(
            words,
            cwd=home / "project",
            env=self.env | warm | {"ASSAY_WARM_LIFE": str(life)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[life],
            start_new_session=True,
            preexec_fn=child_of_ours,
        )
        os.close(life)

    def asked(self, message, streams=()):
        """Yields the lines of an answer, each with the time at which it arrived."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(self.socket)
            for stream in streams:
                socket.send_fds(connection, [b"x"], [stream])
            connection.sendall(json.dumps(message).encode() + b"\n")
            for line in connection.makefile():
                yield json.loads(line), time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    def until_ready(self, stages=0):
        """Waits until everything is loaded, in stages other than these; returns the new stages."""
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE:
            with contextlib.suppress(OSError):
                state = next(self.asked({"state": True}))[0]
                now = [stage["pid"] for stage in state["stages"]]
                if state["ready"] and now != stages:
                    return now
            time.sleep(0.05)
        raise Failed("a preloaded process was not ready")

    def run(self):
        """Returns the nanoseconds from the request to the confirmation of the run, and to the run's
        first line."""
        with open(os.devnull, "r+") as nothing:
            began = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            request = {"argv": self.words[1:], "env": self.env, "cwd": str(self.home / "project")}
            answers = list(self.asked({"run": request}, [nothing.fileno()] * 3))
        if answers[-1][0] != {"exit": 0}:
            raise Failed(f"a run of a preloaded process: {answers[-1][0]}")
        return answers[0][1] - began, int(self.stamps.read_text().split()[-1]) - began

    def end(self):
        os.close(self.life)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def recipes():
    """Command, and the variable that makes its interpreter wait, by language."""
    python = str(PYTEST_WATCHER.with_name("python")) if there(str(PYTEST_WATCHER)) else sys.executable
    return {
        "Ruby": (["ruby", "script.rb"], {"RUBYOPT": f"-r{HOOKS}/ruby/assay_warm.rb"}, RUBY),
        "Python": ([python, "script.py"], {"PYTHONPATH": f"{HOOKS}/python/warm"}, PYTHON),
    }


def forks(bench):
    runs = bench.size(200, 5)
    result = Result(
        "watch-fork",
        f"From asking a preloaded process for a run to the run's first line, with the library of the table above loaded: {runs} runs",
        ["language", "p50", "p99", "of it, until its pid is told"],
    )
    for language, (words, hook, text) in recipes().items():
        process = Preloaded(bench.scratch / f"fork-{language}", words, hook, text)
        try:
            before = process.until_ready()
            # It records the files it loads, which are preloaded for subsequent runs.
            process.run()
            process.until_ready(before)
            took = []
            for _ in range(runs):
                took.append(process.run())
                time.sleep(bench.random.uniform(0.02, 0.06))
        except Failed as error:
            result.note(f"{language}: {error}.")
            continue
        finally:
            process.end()
        first = [line for _, line in took]
        found = {"p50": median(first) / 1e9, "p99": quantile(first, 0.99) / 1e9, "all": took}
        result.row(language, milliseconds(found["p50"]), milliseconds(found["p99"]), milliseconds(median([told for told, _ in took]) / 1e9))
        result.bar(Bar.at_most(f"{language}: the fork itself, p50", found["p50"], 0.007, milliseconds))
        result.raw[language] = found
    return result
