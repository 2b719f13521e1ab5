"""The figures about time: how fast assay runs a program, how far its times are above the floor, how
quickly it starts."""

import re
import shutil

from judge import median, spread
from machine import ASSAY, BUILD
from peers import FLOOR, HYPERFINE_1, HYPERFINE_2, PYPERF, TIMERS, there
from result import Bar, Result, microseconds, milliseconds, ratio

TRUE = ["/bin/true"]


def overhead(bench):
    """Measures rate and bias in the same runs, so that both describe the same minute."""
    runs = bench.size(3000, 60, 1500)
    rounds = bench.size(9, 3, 5)
    timers = [timer for timer in TIMERS if there(timer)]
    seconds = {timer.name: [] for timer in timers}
    medians = {timer.name: [] for timer in timers}

    def step(_number, timer):
        out = bench.scratch / re.sub(r"\W+", "-", timer.name).strip("-")
        out.unlink(missing_ok=True)
        count = min(runs, timer.most)
        done = bench.run(timer.command(TRUE, count, out), timeout=30 + count * 0.1)
        seconds[timer.name].append(done.seconds / count)
        medians[timer.name].append(timer.median(done.stdout, done.stderr, out))

    bench.rounds(rounds, timers, step)
    return [_rate(runs, rounds, seconds), _bias(runs, rounds, medians)]


def _rate(runs, rounds, seconds):
    result = Result(
        "overhead",
        f"Runs per second of `/bin/true`: {runs} runs a round, {rounds} rounds, the order of the tools drawn again for each",
        ["tool", "runs/s", "× floor (median of the rounds)", "smallest … largest"],
    )
    result.note(
        "The whole invocation counts, from its start to its end; `assay` records every run, as it does by default. "
        "pyperf gets 300 runs at most."
    )
    for name, values in seconds.items():
        against = [floor / value for floor, value in zip(seconds[FLOOR], values)]
        low, high = spread(against)
        result.row(name, f"{1 / median(values):.0f}", ratio(median(against)), f"{ratio(low)} … {ratio(high)}")
        if name == "assay":
            result.bar(Bar.at_least("runs per second against the C loop", median(against), 1.0, lambda r: f"{r:.3f}"))
    result.raw = {"seconds_per_run": seconds}
    return result


def _bias(runs, rounds, medians):
    result = Result(
        "bias",
        f"Median wall time of `/bin/true` as each tool reports it: the same {rounds} rounds of {runs} runs as above",
        ["tool", "reported median", "above the floor (median of the rounds)", "smallest … largest"],
    )
    result.note(
        "The loop by hand shows how far below zero an honest value can lie, because `posix_spawn` itself costs time; "
        "further below, time was left out."
    )
    for name, values in medians.items():
        above = [value - floor for floor, value in zip(medians[FLOOR], values)]
        low, high = spread(above)
        result.row(name, microseconds(median(values)), _signed(median(above)), f"{_signed(low)} … {_signed(high)}")
        if name == "assay":
            result.bar(Bar.at_most("bias of the median against the C loop", median(above), 15e-6, _signed))
    result.raw = {"median_seconds": medians}
    return result


def _signed(seconds):
    return f"{seconds * 1e6:+.0f} µs"


def startup(bench):
    """Measures the tool's own start, timed by the floor program, and its shortest complete use."""
    rounds = bench.size(21, 3)
    # The floor program does not search the PATH.
    perf = shutil.which("perf") or "perf"
    one = {
        "assay": [ASSAY, "run", "--runs", "1", "--warmup", "0", "--no-save", "/bin/true"],
        "hyperfine 2.0": [HYPERFINE_2, "--runs", "1", "/bin/true"],
        "hyperfine 1.15": [HYPERFINE_1, "-N", "--runs", "1", "/bin/true"],
        "perf": [perf, "stat", "-r", "1", "/bin/true"],
        "pyperf": [PYPERF, "-m", "pyperf", "command", "-q", "-p1", "-n1", "-w0", "-l1", "/bin/true"],
    }
    version = {
        "/bin/true": (TRUE, 200),
        "assay": ([ASSAY, "--version"], 200),
        "hyperfine 2.0": ([HYPERFINE_2, "--version"], 200),
        "hyperfine 1.15": ([HYPERFINE_1, "--version"], 200),
        "perf": ([perf, "--version"], 50),
        "pyperf": ([PYPERF, "-m", "pyperf", "--help"], 5),
    }
    tools = [name for name, (argv, _) in version.items() if there(argv[0])]
    starts = {name: [] for name in tools}
    wholes = {name: [] for name in tools if name in one}

    def timed(argv, count):
        lines = bench.run([BUILD / "floor", count, *argv], timeout=30 + count).stdout.split()
        return median([int(line) / 1e9 for line in lines])

    def step(_number, name):
        argv, count = version[name]
        count = bench.size(count, min(count, 20))
        starts[name].append(timed(argv, count))
        if name in one:
            wholes[name].append(timed(one[name], max(1, count // 10)))

    bench.rounds(rounds, tools, step)
    result = Result(
        "startup",
        f"The tool's own start: `--version` (pyperf: `--help`), median of {rounds} rounds",
        ["program", "median", "× `/bin/true`", "one run of `/bin/true` in all"],
    )
    for name in tools:
        against = median([value / base for base, value in zip(starts["/bin/true"], starts[name])])
        whole = milliseconds(median(wholes[name])) if name in wholes else ""
        result.row(name, milliseconds(median(starts[name])), ratio(against), whole)
        if name == "assay":
            result.bar(Bar.at_most("`assay --version` against `/bin/true`", against, 1.7, ratio))
            whole = median(wholes[name])
            result.bar(Bar.at_most("one run of `/bin/true` in all", whole, 0.004, milliseconds))
    result.raw = {"version_seconds": starts, "one_run_seconds": wholes}
    return [result]
