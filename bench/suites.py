"""The figures about suites: how often a benchmark of 24 is called different from itself, by `assay bench` and by the usual way, and how
often a true 3 % is found.

The usual way is that of Google Benchmark's compare.py (and, with the same test on the same kind of file, of benchstat): all repetitions of
the one executable, then all of the other, each in one process, and Mann-Whitney's test at 5 %. Both ways stand in the same minutes, in an
order drawn anew for each repetition.
"""

import json

from judge import mann_whitney_p, median
from machine import ASSAY, BUILD, HERE
from result import Bar, Result, Share

REPETITIONS = 9
LEVEL = 0.05
US, USUAL = "assay bench", "one after the other, U test"


def _program(bench, more):
    program = BUILD / f"suite-{more}"
    source = HERE / "suite.cc"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        bench.run(["c++", "-O2", f"-DMORE={more}", "-o", program, source, "-lbenchmark", "-lpthread"], timeout=120)
    return program


def _ours(bench, old, new, *options):
    """The verdicts on wall time of one `assay bench`, and how long it took."""
    saved = bench.scratch / "suite.assay"
    argv = [ASSAY, "bench", old, new, "-N", "old", "-N", "new", "--allow-debug", "--quiet", "--save", saved, *options, "--json"]
    done = bench.run(argv, timeout=900)
    return json.loads(done.stdout), saved, done.seconds


def _directions(report, metric="wall"):
    table = next(table for table in report["tables"] if table["metric"] == metric)
    return table["faster"] + table["slower"], table["compared"], table


def _usual(bench, old, new):
    """How many benchmarks the usual way calls changed, by wall and by CPU time, of how many."""
    times = []
    for side, program in (("a", old), ("b", new)):
        out = bench.scratch / f"{side}.json"
        bench.run(
            [
                program, f"--benchmark_repetitions={REPETITIONS}", "--benchmark_min_time=0.002",
                f"--benchmark_out={out}", "--benchmark_out_format=json",
            ],
            timeout=300,
        )  # fmt: skip
        found = {}
        for row in json.loads(out.read_text())["benchmarks"]:
            if row["run_type"] == "iteration":
                own = found.setdefault(row["run_name"], {"wall": [], "cpu": []})
                own["wall"].append(row["real_time"])
                own["cpu"].append(row["cpu_time"])
        times.append(found)
    old_times, new_times = times
    changed = {"wall": 0, "cpu": 0}
    for name, values in old_times.items():
        for metric in changed:
            changed[metric] += mann_whitney_p(values[metric], new_times[name][metric]) < LEVEL
    return changed, len(old_times)


def suites(bench):
    """A suite against itself, and against itself with 3 % more to do."""
    same, more = _program(bench, 0), _program(bench, 3)
    repetitions, powers = bench.size(100, 1), bench.size(20, 1)
    blocks = bench.size(15, 3)
    false = {"one by one, wall": [0, 0], "one by one, cpu": [0, 0], "suites with any, Holm": [0, 0]}
    usual = {"wall": [0, 0], "cpu": [0, 0]}
    seconds = {US: [], USUAL: []}

    def step(_number, way):
        if way == USUAL:
            changed, of = _usual(bench, same, same)
            for metric, hits in changed.items():
                usual[metric][0] += hits
                usual[metric][1] += of
            return
        report, saved, took = _ours(bench, same, same, "--aa", "--runs", blocks, "--run-time", "2ms", "--adjust", "none")
        seconds[US].append(took)
        for metric in ("wall", "cpu"):
            hits, of, _ = _directions(report, metric)
            false[f"one by one, {metric}"][0] += hits
            false[f"one by one, {metric}"][1] += of
        adjusted = json.loads(bench.run([ASSAY, "compare", saved, "--adjust", "holm", "--json"], timeout=120).stdout)
        false["suites with any, Holm"][0] += _directions(adjusted)[0] > 0
        false["suites with any, Holm"][1] += 1

    bench.rounds(repetitions, [US, USUAL], step)
    found, took = [0, 0], []
    for _ in range(powers):
        report, _, needed = _ours(bench, same, more, "--time", "60s", "--primary", "cpu")
        _, of, table = _directions(report, "cpu")
        found[0] += table["slower"]
        found[1] += of
        took.append(needed)

    result = Result(
        "suites",
        f"24 benchmarks against themselves, {repetitions} times: how many are called different; and with 3 % more to do, {powers} times",
        ["way", "what", "share"],
    )
    for what, (hits, of) in false.items():
        share = Share(hits, of)
        result.row(f"{US}, {blocks} blocks", f"false, {what}", share)
        result.bar(Bar.share_at_most(f"false verdicts, {what}", share, LEVEL))
    for metric, (hits, of) in usual.items():
        result.row(f"{USUAL}, {REPETITIONS} repetitions", f"false, {metric}", Share(hits, of))
    power = Share(*found)
    result.row(f"{US}, 60 s, Holm", "a true 3 % found, cpu", power)
    result.bar(Bar.share_at_least("a true 3 % found in a suite of 24 within 60 s", power, 0.9))
    result.note(f"A suite of {blocks} blocks took {median(seconds[US]):.1f} s; those with 3 % more took {median(took):.1f} s, trying out included.")
    result.raw = {"false": false, "usual": usual, "power": found, "seconds": seconds[US], "power_seconds": took}
    return [result]
