"""The figure about sampling: what a profile costs (a program alone, under its sampler, under `assay profile`), and how often the comparison of two
programs is right (equal ones called different, a function with a tenth more work found).

The CPU time of each run is the kernel's, including the sampler's and assay's. The order is random
in each round, and ratios are taken within a round. The verdicts are assay's own, read from its
JSON.
"""

import glob
import json
import os
import shutil
import sys

from judge import median, spread
from machine import ASSAY, ROOT, Failed, execute
from ministat import once
from result import Bar, Result, Share, milliseconds, ratio

ALONE, SAMPLER, US = "alone", "sampler", "assay profile"
# For equal programs, at most this share of comparisons may report any function as different, by the
# definition of 95 % confidence.
FALSE_ALARMS = 0.05
# Two functions; the second argument increases the work of one of them, in percent.
RUBY = """
def words(n) = Array.new(n) { |i| "item #{i}".upcase }.sort.size
def numbers(n)
  t = i = 0
  while i < n
    t += i * i % 7
    i += 1
  end
  t
end
rounds, percent = ARGV.map(&:to_i)
rounds.times { words(6_000); numbers(1_000 * (percent || 100)) }
"""
PYTHON = """
import sys

def words(n):
    return len(sorted([f"item {i}".upper() for i in range(n)]))

def numbers(n):
    t = 0
    for i in range(n):
        t += i * i % 7
    return t

for _ in range(int(sys.argv[1])):
    words(6000)
    numbers(100000)
"""
C = """
#include <stdlib.h>
static volatile unsigned sink;
#define WORK(name, step) __attribute__((noinline)) unsigned name(unsigned n) \\
    { unsigned t = 0; for (unsigned i = 0; i < n; i++) { t += i * step % 7; __asm__ volatile("" : "+r"(t)); } return t; }
WORK(squares, i)
WORK(triples, 3)
int main(int argc, char **argv)
{
    for (int r = argc > 1 ? atoi(argv[1]) : 1; r > 0; r--) {
        sink += squares(2000000);
        __asm__ volatile("");
        sink += triples(1000000);
    }
    return 0;
}
"""


def profiles(bench):
    """Measures both halves, each into its own table."""
    return [cost(bench), truth(bench)]


def cost(bench):
    result = Result(
        "profile-overhead",
        "CPU time of a program of two functions, and that of the same round's run alone; the sampler's start and end are in it",
        ["program", "way", "CPU", "× CPU of it alone", "× wall of it alone"],
    )
    result.raw = {}
    rounds = bench.size(10, 2, 4)
    for language, ways in programs(bench, result).items():
        taken = {way: [] for way in ways}
        bench.rounds(rounds, list(ways), lambda _number, way, ways=ways, taken=taken: taken[way].append(once(bench, ways[way])))
        for way, runs in taken.items():
            walls, cpus = ([mine[k] / alone[k] for mine, alone in zip(runs, taken[ALONE])] for k in (0, 1))
            told = ["", ""] if way == ALONE else [f"{ratio(median(of))} ({ratio(spread(of)[0])} … {ratio(spread(of)[1])})" for of in (cpus, walls)]
            result.row(language, way, milliseconds(median(run[1] for run in runs)), *told)
        result.raw[language] = taken
    return result


def programs(bench, result):
    """Returns, for every language whose sampler is installed, the commands alone, under the sampler
    as started by assay, and under assay."""
    scratch = bench.scratch
    found = {}
    script, out = scratch / "w.rb", scratch / "sampled"
    script.write_text(RUBY)
    if shutil.which("ruby") and works(["ruby", "-rstackprof", "-e", "exit"]):
        work = ["ruby", str(script), str(bench.size(60, 6))]
        load = f"ARGV.replace(%w[{work[2]}]); StackProf.run(mode: :wall, interval: 1003, raw: true, out: {str(out)!r}) {{ load {str(script)!r} }}"
        found["Ruby"] = {ALONE: work, f"{SAMPLER} (stackprof, 997 Hz)": ["ruby", "-rstackprof", "-e", load], US: ours(work)}
    else:
        result.note("stackprof is not installed here.")
    script = scratch / "w.py"
    script.write_text(PYTHON)
    py_spy = shutil.which("py-spy") or next(iter(glob.glob(str(ROOT / "target/runtimes/python/bin/py-spy"))), None)
    if py_spy:
        # assay searches for it in PATH.
        os.environ["PATH"] = os.path.dirname(py_spy) + os.pathsep + os.environ["PATH"]
        work = [sys.executable, str(script), str(bench.size(70, 10))]
        record = [py_spy, "record", "--format", "speedscope", "--rate", "101", "--output", str(out), "--"]
        found["Python"] = {ALONE: work, f"{SAMPLER} (py-spy, 101 Hz)": record + work, US: ours(work)}
    else:
        result.note("py-spy is not installed here.")
    if shutil.which("perf") and works(["perf", "record", "-q", "-e", "cpu-clock", "-o", str(out), "--", "true"]):
        source, program = scratch / "w.c", scratch / "w"
        source.write_text(C)
        execute(["cc", "-O1", "-g", "-fno-omit-frame-pointer", "-o", str(program), str(source)], 60)
        work = [str(program), str(bench.size(150, 20))]
        record = ["perf", "record", "-q", "--no-buildid", "--no-buildid-cache", "-e", "cpu-clock", "-F", "997", "--call-graph", "fp", "-o", str(out), "--"]
        found["C"] = {ALONE: work, f"{SAMPLER} (perf, 997 Hz)": record + work, US: ours(work)}
    else:
        result.note("perf is not installed, or may not sample here.")
    if not found:
        raise Failed("no sampler is installed: apt install ruby-stackprof linux-perf, pip install py-spy")
    return found


def works(argv):
    try:
        execute(argv, 60)
    except Failed:
        return False
    return True


def ours(work):
    return [str(ASSAY), "profile", "--quiet", "--", *work]


def truth(bench):
    """Compares two equal programs, and one with a tenth more work in one function, as `assay
    profile OLD NEW` does by default."""
    result = Result(
        "profile-truth",
        "Two Ruby programs compared by `assay profile OLD NEW` with its default of 12 blocks, so many times",
        ["programs", "comparisons", "with any function called different", "with `numbers` called slower"],
    )
    if not works(["ruby", "-rstackprof", "-e", "exit"]):
        raise Failed("stackprof is not installed: apt install ruby-stackprof")
    script = bench.scratch / "w.rb"
    script.write_text(RUBY)
    rounds = str(bench.size(12, 2))
    plain = f"ruby {script} {rounds} 100"
    shares = {}
    for name, percent, times in (("equal", 100, bench.size(40, 2, 10)), ("`numbers` has 10 % more to do", 110, bench.size(20, 1, 5))):
        different, slower = 0, 0
        for _ in range(times):
            command = [ASSAY, "profile", "--json", "--quiet", "--runs", bench.size(12, 6), plain, plain.replace(" 100", f" {percent}")]
            found = json.loads(bench.run(command, timeout=300).stdout)
            verdicts = {c["row"]: c["verdict"] for c in found["comparisons"] if c["family"] == "primary"}
            different += any(verdict in ("faster", "slower") for verdict in verdicts.values())
            slower += verdicts.get("Object#numbers") == "slower"
        shares[name] = Share(different, times)
        result.row(name, times, shares[name], Share(slower, times))
    result.bar(Bar.share_at_most("equal programs with any function called different", shares["equal"], FALSE_ALARMS))
    result.note("The whole run is one of the rows. So few comparisons tell no more than the interval beside the share.")
    return result
