"""The figures about options: how much each option that affects the timed region adds to a measured
time, the cost of a region mark, the effect of holding the machine still on the spread, and the
result of calibrating the machine."""

import json

from judge import median, spread
from machine import ASSAY, BUILD, spin_counts
from result import Bar, Result, milliseconds, percent

ECHO = ["/bin/echo", "1"]
NEIGHBOURS = 2


def options(bench):
    """Compares every option with a C loop that runs the same program under the same setting, in the
    same round."""
    runs = bench.size(1500, 40, 600)
    rounds = bench.size(9, 3)
    floor = [str(BUILD / "floor"), str(runs)]
    # The option, and the equivalent prefix for the plain loop.
    variants = {
        "(none)": ([], []),
        "--metric stdout": (["--metric", "stdout", "--primary", "wall"], []),
        "--samples": (["--samples"], []),
        "--samples=path": (["--samples=path"], []),
        "--counters page-faults,context-switches": (["--counters", "page-faults,context-switches"], []),
        "--pin 1": (["--pin", "1"], ["taskset", "-c", "1"]),
        "--fifo": (["--fifo"], ["chrt", "-f", "10"]),
        "--nice 5": (["--nice", "5"], ["nice", "-n", "5"]),
        "--no-aslr": (["--no-aslr"], ["setarch", "-R"]),
    }
    medians = {name: [] for name in variants}
    floors = {name: [] for name in variants}
    rates = {name: [] for name in variants}

    def step(_number, name):
        more, under = variants[name]
        command = "/bin/echo 1"
        argv = [ASSAY, "run", "--runs", runs, "--warmup", "1", "--no-save", "--json", *more, command]
        done = bench.run(argv, timeout=60 + runs * 0.05)
        told = json.loads(done.stdout)
        refused = [f["message"] for f in told["findings"] if f["code"] in ("NOT_CONTROLLED", "NOT_COUNTED")]
        if refused:
            floors[name], medians[name] = None, refused[0]
            return
        if floors[name] is None:
            return
        plain = bench.run([*under, *floor, *ECHO], timeout=60 + runs * 0.05)
        medians[name].append(told["descriptions"][0]["metrics"]["wall"]["median"])
        floors[name].append(median([int(line) / 1e9 for line in plain.stdout.split()]))
        rates[name].append(runs / done.seconds)

    bench.rounds(rounds, list(variants), step)
    result = Result(
        "options",
        f"Median wall time of `/bin/echo 1` under each option, above the loop of `posix_spawn` under the same setting: "
        f"{runs} runs a round, {rounds} rounds",
        ["option", "reported median", "above the floor (median of the rounds)", "smallest … largest", "runs/s"],
    )
    for name in variants:
        if floors[name] is None:
            result.row(name, "refused", medians[name], "", "")
            continue
        above = [value - plain for value, plain in zip(medians[name], floors[name])]
        low, high = spread(above)
        result.row(
            name,
            f"{median(medians[name]) * 1e6:.0f} µs",
            _signed(median(above)),
            f"{_signed(low)} … {_signed(high)}",
            f"{median(rates[name]):.0f}",
        )
        result.bar(Bar.at_most(f"bias with {name}", median(above), 15e-6, _signed))
    result.note("Settings of the loop: `taskset`, `chrt`, `nice` and `setarch`; where there is none, the loop is plain.")
    result.raw = {"median_seconds": medians, "floor_seconds": floors}
    return [result]


def marks(bench):
    """Measures the cost of a mark for the program that writes it, as seen by that program."""
    count = bench.size(200_000, 2_000)
    result = Result(
        "marks",
        f"A region mark, as seen by the program that makes it: {count} marks a run, 20 runs",
        ["how lines are written", "median a mark"],
    )
    for how in ["buffered", "plain"]:
        argv = [ASSAY, "run", "--runs", "20", "--no-save", "--json", "--samples", "--metric", "mark:ns=stdout"]
        done = bench.run([*argv, f"{BUILD / 'marks'} {how} {count}"], timeout=300)
        value = json.loads(done.stdout)["descriptions"][0]["metrics"]["mark"]["median"]
        result.row(how, f"{value * 1e9:.0f} ns")
        result.bar(Bar.at_most(f"a mark, {how}", value, 1e-6, lambda seconds: f"{seconds * 1e9:.0f} ns"))
    return [result]


def still(bench):
    """Measures the spread of a program as it is, and with the machine held still, in the same
    blocks."""
    blocks = bench.size(1000, 30)
    count, _ = spin_counts()
    spin = f"{BUILD / 'spin'} {count}"
    names = ["as it is", "pinned", "nice -20", "fifo", "pinned, fifo"]
    settings = ["--pin", "2:1", "--nice", "3:-20", "--fifo=4:10", "--pin", "5:1", "--fifo=5:10"]
    result = Result(
        "still",
        f"Spread of `spin` (about 2.05 ms) as it is and under each setting, taken in the same {blocks} blocks",
        ["condition", "real-time limit", "setting", "median", "IQR / median", "p99 / median"],
    )
    for condition, busy in [("idle", 0), (f"beside {NEIGHBOURS} busy", NEIGHBOURS)]:
        for limit, more in [("as it is", []), ("none", ["--rt-runtime", "unlimited"])]:
            argv = [ASSAY, "run", "--runs", blocks, "--no-save", "--json", *settings, *more]
            for name in names:
                argv += ["-n", name]
            patience = 120 + blocks * 1.0
            with bench.neighbours(busy, patience):
                done = bench.run([*argv, *[spin] * len(names)], timeout=patience)
            told = json.loads(done.stdout)
            result.raw.setdefault("findings", []).append([f["code"] for f in told["findings"]])
            for subject in told["descriptions"]:
                wall = subject["metrics"]["wall"]
                q = wall["quantiles"]
                result.row(
                    condition,
                    limit,
                    subject["name"],
                    milliseconds(wall["median"]),
                    percent((q["0.75"] - q["0.25"]) / wall["median"]),
                    f"{q['0.99'] / wall['median']:.2f}",
                )
    result.note(
        "The seeds' author held the frequency, lifted the limit on real-time programs and ran first in, first out. This "
        "machine shows no frequency to hold (no governor, no turbo); the rest is here."
    )
    return [result]


def calibrate(bench):
    """Shows the results of `assay calibrate` on this machine, idle and busy."""
    seconds = bench.size(60, 6)
    result = Result(
        "calibrate",
        f"`assay calibrate --time {seconds}` on this machine: false alarms of each way of measuring at 5 %, and the smallest "
        "difference that is found 9 times in 10",
        ["condition", "what", "found"],
    )
    for condition, busy in [("idle", 0), (f"beside {NEIGHBOURS} busy", NEIGHBOURS)]:
        with bench.neighbours(busy, 240 + seconds * 4):
            argv = [ASSAY, "calibrate", "--time", seconds, "--no-save", "--json"]
            told = json.loads(bench.run(argv, timeout=200 + seconds * 4).stdout)
        for method in told["methods"]:
            name = method["name"].replace("_", " ")
            result.row(condition, f"false alarms: {name} ({method['test']})", percent(method["rate"]["estimate"]))
        for detectable in told["detectable"]:
            found = detectable["difference"]
            mark = " (extrapolated)" if detectable["extrapolated"] else ""
            shown = "-" if found is None else f"{found * 100:.2f} %{mark}"
            result.row(condition, f"smallest {detectable['metric']} difference in {detectable['budget_seconds']:.0f} s", shown)
        layout = told.get("layout")
        if layout:
            result.row(condition, "byte-identical copy at another path", f"{(layout['ratio']['estimate'] - 1) * 100:+.2f} %")
        result.raw[condition] = told
    return [result]


def _signed(seconds):
    return f"{seconds * 1e6:+.1f} µs"
