"""Checks whether `assay bisect` finds the one of 100 commits that made a program 3 % slower,
although runs vary by three times as much. Uses real repositories, builds and processes.
"""

import json
import math
import os
import shutil
import subprocess

from machine import ASSAY, Failed, say
from result import Bar, Result, Share

COMMITS = 100
CHANGE = 0.03
NOISE = 3 * CHANGE
# The work varies from run to run, by a normally distributed factor drawn from the clock and the
# process id.
PROGRAM = r"""
#include <math.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include "work.h"
static uint64_t state;
static double uniform(void) {
    state += 0x9E3779B97F4A7C15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}
int main(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    state = (uint64_t)now.tv_nsec * 1000003u + (uint64_t)getpid();
    uniform();
    double normal = sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
    uint64_t links = (uint64_t)(LINKS * exp(NOISE * normal)), x = links;
    for (uint64_t i = 0; i < links; i++) x = x * 6364136223846793005u + 1442695040888963407u;
    return x == 1;
}
"""
ENVIRONMENT = {f"GIT_{role}_{what}": f"bench{'@example.org' if what == 'EMAIL' else ''}" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def git(directory, *words):
    subprocess.run(["git", *words], cwd=directory, check=True, capture_output=True, timeout=60, env={**os.environ, **ENVIRONMENT})


def repository(directory, commits, at, links):
    """Creates a repository with this number of commits after the first, one of which makes the
    program slower."""
    directory.mkdir(parents=True)
    git(directory, "init", "-q", "-b", "main")
    (directory / "work.c").write_text(PROGRAM)
    for number in range(commits + 1):
        own = round(links * (1 + CHANGE)) if number >= at else links
        (directory / "work.h").write_text(f"#define LINKS {own}.0\n#define NOISE {NOISE}\n#define COMMIT {number}\n")
        git(directory, "add", ".")
        git(directory, "commit", "-q", "-m", f"number {number}")
        if number == 0:
            git(directory, "tag", "good")


def bisect(bench):
    """Runs searches, each in its own repository."""
    searches = bench.size(20, 1, 5)
    commits = bench.size(COMMITS, 10)
    minutes = bench.size(10, 0.2)
    links, right, wrong, runs, built = 3_000_000, 0, 0, [], []
    found = []
    for number in range(searches):
        at = bench.random.randrange(1, commits + 1)
        directory = bench.scratch / f"repository-{number}"
        repository(directory, commits, at, links)
        cache = bench.scratch / "cache"
        words = [str(ASSAY), "bisect", "good..main", "--build", "cc -O1 -o work work.c -lm", "--time", f"{minutes * 60}s", "--no-save", "--json", "-q"]
        words += ["--seed", str(bench.random.randrange(2**32)), "--", "./work"]
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        done = subprocess.run(words, cwd=directory, capture_output=True, text=True, timeout=7200, env=environment)
        if done.returncode not in (0, 1, 3):
            raise Failed(done.stderr.strip()[-400:])
        said = json.loads(done.stdout)
        subject = said["commit"] and said["commit"]["subject"]
        is_right = said["outcome"] == "found" and subject == f"number {at}"
        right += is_right
        wrong += said["outcome"] == "found" and not is_right
        runs.append(said["runs"])
        built.append(said["built"])
        found.append({"at": at, "outcome": said["outcome"], "subject": subject, "probability": said["probability"], "ratio": said["ratio"], "runs": said["runs"]})
        say(f"\r  search {number + 1} of {searches}: {said['outcome']}, {right} right ", end="")
        shutil.rmtree(directory)
        shutil.rmtree(cache, ignore_errors=True)
    say("")
    result = Result(
        "bisect",
        f"{searches} searches for a change of {CHANGE:.0%} among {commits} commits; a run differs by {NOISE:.0%} (standard deviation), each search has {minutes} min",
        ["", "right commit", "wrong commit", "no answer", "runs (median)", "commits built (median)"],
    )
    middle = lambda values: sorted(values)[len(values) // 2]
    result.row("assay bisect", Share(right, searches), wrong, searches - right - wrong, middle(runs), middle(built))
    result.bar(Bar.at_least("right commits", right, math.ceil(0.95 * searches), lambda n: f"{n} of {searches}"))
    result.raw = {"searches": found}
    return [result]
