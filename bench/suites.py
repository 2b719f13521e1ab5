"""The figures about suites: how often a benchmark of 24 is called different from itself, by `assay
bench` and by the usual way, and how often a true 3 % is found; and how precise the results of a
suite are after a minute.

The usual way is that of Google Benchmark's compare.py and of benchstat: all repetitions of the one executable, then all of the other, each
in one process. Both judge the same files. assay and the peers run in the same minutes, in a random
order in each repetition.
"""

import csv
import io
import json
import subprocess

import peers
from judge import median
from machine import ASSAY, BUILD, HERE
from result import Bar, Result, Share

REPETITIONS = 9
LEVEL = 0.05
US, USUAL = "assay bench", "one executable after the other"


def _program(bench, more, one=0):
    program = BUILD / f"suite-{more}-{one}"
    source = HERE / "suite.cc"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        bench.run(["c++", "-O2", f"-DMORE={more}", f"-DONE={one}", "-o", program, source, "-lbenchmark", "-lpthread"], timeout=120)
    return program


def _ours(bench, old, new, *options):
    """Returns the JSON of one `assay bench`, its record, and its duration."""
    saved = bench.scratch / "suite.assay"
    argv = [ASSAY, "bench", old, new, "-n", "old", "-n", "new", "--quiet", "--save", saved, *options, "--json"]
    done = bench.run(argv, timeout=900)
    return json.loads(done.stdout), saved, done.seconds


def _directions(report, metric="wall"):
    table = next(table for table in report["means"] if table["metric"] == metric)
    return table["faster"] + table["slower"], table["compared"], table


def _by_compare_py(bench, files):
    """Returns the benchmarks for which compare.py reports a change in wall or CPU time, and the
    number of benchmarks."""
    told = bench.scratch / "compare.json"
    bench.run([peers.SCIPY, peers.COMPARE_PY, "--no-color", "-d", told, "benchmarks", *files], timeout=120)
    tests = [row["utest"] for row in json.loads(told.read_text()) if row.get("utest")]
    changed = lambda key: sum(test[key] < LEVEL for test in tests)  # noqa: E731
    return {"wall": changed("time_pvalue"), "cpu": changed("cpu_pvalue")}, len(tests)


def _by_benchstat(bench, files):
    """Returns the same for benchstat: rows whose change is not `~`."""
    converted = []
    for file in files:
        converted.append(file.with_suffix(".txt"))
        bench.run([ASSAY, "convert", file, "--to", "go", "-o", converted[-1]], timeout=60)
    text = bench.run([peers.BENCHSTAT, "-format", "csv", *converted], timeout=60).stdout
    changed, of, metric = {"wall": 0, "cpu": 0}, {"wall": 0, "cpu": 0}, None
    for row in csv.reader(io.StringIO(text)):
        if len(row) == 7 and row[5] == "vs base":
            metric = {"sec/op": "wall", "cpu-sec/op": "cpu"}[row[1]]
        elif len(row) == 7 and row[6].startswith("p="):
            of[metric] += 1
            changed[metric] += row[5] != "~"
    return changed, of["wall"]


def _usual(bench, old, new):
    """Runs all repetitions of one side, then all of the other; returns the verdicts of both
    peers."""
    files = []
    for side, program in (("a", old), ("b", new)):
        out = bench.scratch / f"{side}.json"
        options = [f"--benchmark_repetitions={REPETITIONS}", "--benchmark_min_time=0.002", "--benchmark_out_format=json"]
        bench.run([program, *options, f"--benchmark_out={out}"], timeout=300)
        files.append(out)
    return {"compare.py": _by_compare_py(bench, files), "benchstat": _by_benchstat(bench, files)}


def suites(bench):
    """Compares a suite with itself, and with itself doing 3 % more work."""
    same, more = _program(bench, 0), _program(bench, 3)
    repetitions, powers = bench.size(100, 1, 20), bench.size(10, 1, 2)
    blocks = bench.size(15, 3)
    false = {"one by one, wall": [0, 0], "one by one, cpu": [0, 0], "suites with any, Holm": [0, 0]}
    usual = {(peer, metric): [0, 0] for peer in ("compare.py", "benchstat") for metric in ("wall", "cpu")}
    seconds = []

    def step(_number, way):
        if way == USUAL:
            for peer, (changed, of) in _usual(bench, same, same).items():
                for metric, hits in changed.items():
                    usual[peer, metric][0] += hits
                    usual[peer, metric][1] += of
            return
        report, saved, took = _ours(bench, same, same, "--aa", "--runs", blocks, "--adjust", "none")
        seconds.append(took)
        for metric in ("wall", "cpu"):
            hits, of, _ = _directions(report, metric)
            false[f"one by one, {metric}"][0] += hits
            false[f"one by one, {metric}"][1] += of
        adjusted = json.loads(bench.run([ASSAY, "compare", saved, "--adjust", "holm", "--json"], timeout=120).stdout)
        false["suites with any, Holm"][0] += _directions(adjusted)[0] > 0
        false["suites with any, Holm"][1] += 1

    bench.rounds(repetitions, [US, USUAL], step)
    found, needed, ratios = [0, 0], [], []
    for _ in range(powers):
        report, _, took = _ours(bench, same, more)
        _, of, table = _directions(report)
        found[0] += table["slower"]
        found[1] += of
        needed.append(took)
        ratios.append(table["geometric_mean"])

    result = Result(
        "suites",
        f"24 benchmarks against themselves, {repetitions} times: how many are called different; and with 3 % more to do, {powers} times",
        ["way", "what", "share"],
    )
    for what, (hits, of) in false.items():
        share = Share(hits, of)
        result.row(f"{US}, {blocks} blocks", f"false, {what}", share)
        result.bar(Bar.share_at_most(f"false verdicts, {what}", share, LEVEL))
    for (peer, metric), (hits, of) in usual.items():
        result.row(f"{peer}: {USUAL}, {REPETITIONS} repetitions", f"false, {metric}", Share(hits, of))
    power = Share(*found)
    result.row(f"{US}, as it comes (60 s, Holm)", "a true 3 % found, wall", power)
    result.bar(Bar.share_at_least("a true 3 % found in a suite of 24 within 60 s", power, 0.9))
    result.note(
        f"A suite of {blocks} blocks took {median(seconds):.1f} s; those with 3 % more took {median(needed):.1f} s, trying out included, and gave a "
        f"geometric mean of {min(ratios):.3f} to {max(ratios):.3f}."
    )
    result.raw = {
        "false": false,
        "usual": {f"{peer}, {metric}": counts for (peer, metric), counts in usual.items()},
        "power": found,
        "seconds": seconds,
        "power_seconds": needed,
    }
    return [result]


# Eleven of the 24.
ELEVEN = "/^(Sum|Chain|Copy|Find)/ AND (/\\/8$/ OR /\\/512$/) OR /^Search.(8|32|512)$/"
BUSY = 2


def _half_widths(report):
    """Returns, for wall times, the median precision of the ratios in percent, the number of
    benchmarks with an answer, and the number of benchmarks."""
    rows = [row for row in report["comparisons"] if row["metric"] == "wall"]
    known = [row["ratio"] for row in rows if row["ratio"].get("upper") is not None]
    widths = [(ratio["upper"] - ratio["lower"]) / 2 * 100 for ratio in known] + [float("inf")] * (len(rows) - len(known))
    return median(widths), sum(row["verdict"] != "inconclusive" for row in rows), len(rows)


def answers(bench):
    """Measures how precise the results of a suite of 11 are after a minute, idle and next to two
    busy processes, and whether it finds 3 % in one benchmark."""
    same, one = _program(bench, 0), _program(bench, 0, one=3)
    idle, busy, powers = bench.size(3, 1, 1), bench.size(3, 1, 1), bench.size(12, 1, 4)
    chosen = ["--filter", ELEVEN]
    seconds = bench.size(60, 4)
    result = Result(
        "suite-answers",
        f"11 benchmarks in {seconds} s: against themselves, beside {BUSY} busy processes, and with 3 % more to do in one of them",
        ["what", "median half width", "answered"],
    )
    widths, answered = [], []
    for number in range(idle):
        report, _, _ = _ours(bench, same, same, "--aa", *chosen, "--time", f"{seconds}s")
        width, found, of = _half_widths(report)
        widths.append(width)
        answered.append(found)
        result.row(f"against itself, {number + 1}", f"{width:.2f} %", f"{found} of {of} at 1 %")
    result.bar(Bar.at_most("median half width against itself", median(widths), 0.7, lambda w: f"{w:.2f} %"))
    result.bar(Bar.at_least("answered at a threshold of 1 %", median(answered), 8, lambda n: f"{n:.0f} of 11"))
    spinners = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(BUSY)]
    try:
        for number in range(busy):
            options = [*chosen, "--threshold", "5%", "--time", f"{seconds / 3:.0f}s"]
            report, _, _ = _ours(bench, same, same, "--aa", *options)
            width, found, of = _half_widths(report)
            result.row(f"beside {BUSY} busy processes, {seconds / 3:.0f} s, {number + 1}", f"{width:.2f} %", f"{found} of {of} at 5 %")
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
    hits, wrong = 0, 0
    for _ in range(powers):
        report, _, _ = _ours(bench, same, one, *chosen, "--time", f"{seconds}s")
        rows = [row for row in report["comparisons"] if row["metric"] == "wall"]
        hits += any(row["row"] == "Find/512" and row["verdict"] == "slower" for row in rows)
        wrong += sum(row["row"] != "Find/512" and row["verdict"] in ("faster", "slower") for row in rows)
    found = Share(hits, powers)
    result.row("3 % more in Find/512: called slower", "", found)
    result.row("3 % more in Find/512: others called different", "", f"{wrong} of {10 * powers}")
    result.bar(Bar.share_at_least(f"a true 3 % in one of 11 found within {seconds} s", found, 0.95))
    result.raw = {"widths": widths, "answered": answered, "found": [hits, powers], "wrong": wrong}
    return [result]
