"""The figures about trust in HTTP load: whether two identical sides are called different, whether
the better of two servers is found, and whether the generator remains the same with many connections
and over a long time. Speed is in `load`.
"""

import json
import shutil
import time
from pathlib import Path

from machine import ASSAY, Failed, say
from result import Bar, Result, Share, percent
from servers import CLIENT_CPU, build_stall_server, nginx, stall_server, started

# The reference rates, with slices of five requests instead of 500.
RAMP = "10,40,80,160,320,500"
APP = """
require 'rack'
run ->(_) { sleep 0.02; [200, { 'content-type' => 'text/plain' }, ["ok\\n"]] }
"""


def _ours(*arguments):
    return [ASSAY, "load", *arguments, "--json", "--no-save"]


def false_verdicts(bench):
    """Compares a server with itself over the seed's ramp, with each request over a new TLS
    connection with a full handshake."""
    repeats = bench.size(60, 2, 15)
    called, steps, blocks = [], 0, 7
    with nginx(bench.scratch) as server:
        url = server.url("full")
        for number in range(repeats):
            argv = _ours("--rate", RAMP, "--requests-per-step", 5, "--settle", 0, "-r", blocks, "--timeout", "5s")
            argv += ["--new-connections", "--tls", "full", "--insecure", f"a={url}", f"b={url}"]
            document = json.loads(bench.run(["taskset", "-c", CLIENT_CPU, *argv], timeout=600).stdout)
            verdicts = [own["verdict"] for own in document["comparisons"] if own["metric"] == document["primary"]]
            steps += len(verdicts)
            called.append(any(verdict not in ("inconclusive", "equivalent") for verdict in verdicts))
            say(f"\r  {number + 1} of {repeats}, {sum(called)} with a verdict ", end="")
    say("")
    result = Result(
        "load-aa",
        f"One server against itself at {RAMP} requests/s, {blocks} blocks of slices of 5 requests: {repeats} repeats",
        ["", "runs", "with any verdict"],
    )
    share = Share(sum(called), repeats)
    result.row("a against itself", repeats, str(share))
    result.bar(Bar.share_at_most("runs with any false verdict", share, 0.05))
    result.note(f"A run has {steps // repeats} verdicts, at 95 % for all of them together.")
    result.raw = {"called": called}
    return [result]


def capacity(bench):
    """Compares a page that waits for 20 ms behind five workers and behind six: which sustains
    more?"""
    if not shutil.which("unicorn"):
        raise Failed("unicorn is missing: apt install unicorn ruby-rack")
    repeats = bench.size(20, 1, 4)
    app = Path(bench.scratch) / "app.ru"
    app.write_text(APP)
    found = []
    for number in range(repeats):
        sides = []
        for workers in (5, 6):
            settings = Path(bench.scratch) / f"{workers}.rb"
            settings.write_text(f"worker_processes {workers}\nlogger Logger.new(IO::NULL)\n")
            sides += ["--serve", f"{'five' if workers == 5 else 'six'}=unicorn -c {settings} -l 127.0.0.1:{{port}} {app}"]
        # The reference side alternates.
        if number % 2:
            sides = sides[2:] + sides[:2]
        argv = _ours("--find", "p90<100ms, errors<0.1%", "--rate", 200, "--slice", "500ms", "--timeout", "2s", "--time", "60s", *sides)
        document = json.loads(bench.run([*argv, "http://127.0.0.1:{port}/"], timeout=900).stdout)
        (own,) = [own for own in document["comparisons"] if own["metric"] == "capacity"]
        of = own["of"]
        found.append((of, own["verdict"], own["ratio"]["estimate"]))
        say(f"\r  {number + 1} of {repeats}: {of} {own['verdict']}      ", end="")
    say("")
    right = sum((of, verdict) in (("six", "faster"), ("five", "slower")) for of, verdict, _ in found)
    wrong = sum((of, verdict) in (("five", "faster"), ("six", "slower")) for of, verdict, _ in found)
    result = Result("load-capacity", f"A page of 20 ms behind five unicorns and behind six, --find: {repeats} repeats", ["", "runs"])
    result.row("six hold more", right)
    result.row("five hold more", wrong)
    result.row("not known yet, or no difference that matters", repeats - right - wrong)
    result.bar(Bar.at_least("right server named", right / repeats, 0.9, percent))
    result.bar(Bar.at_most("wrong server named", wrong / repeats, 0.0, percent))
    result.raw = {"found": found}
    return [result]


def connections(bench):
    """Opens ten thousand simultaneous connections, each with one request per second."""
    build_stall_server()
    count, seconds = bench.size(10_000, 500), bench.size(10, 2)
    result = Result(
        "load-connections",
        f"{count:,} requests/s of a server that takes 1 s for each: {seconds} s",
        ["requests", "answered", "most connections", "lateness p99", "peak memory"],
    )
    peak = Path(bench.scratch) / "peak"
    with stall_server(bench.scratch, "--answer-after", "1s") as (url, _log):
        argv = _ours("--rate", count, "-c", 2 * count, "--slice", f"{seconds}s", "--settle", "3s", "-r", 1, url)
        argv = ["taskset", "-c", CLIENT_CPU, "/usr/bin/time", "-f", "%M", "-o", str(peak), *argv]
        document = json.loads(bench.run(argv, timeout=120).stdout)
    counts = document["answers"][0]["counts"]
    late = document["descriptions"][0]["metrics"]["lateness_p99"]["median"]
    answered = counts["answered"] / counts["due"]
    kibibytes = int(peak.read_text().split()[-1])
    result.row(counts["due"], percent(answered), counts["most_open"], f"{late * 1e3:.2f} ms", f"{kibibytes / 1024:.1f} MiB")
    result.bar(Bar.at_least("connections open at once", counts["most_open"], count * 0.99, lambda number: f"{number:,.0f}"))
    result.bar(Bar.at_least("answered", answered, 1.0, percent))
    result.bar(Bar.at_most("lateness p99", late, 0.002, lambda value: f"{value * 1e3:.2f} ms"))
    return [result]


def soak(bench):
    """Runs for ten minutes at one rate: memory and lateness must not change."""
    minutes, rate = bench.size(10, 1), 2000
    seconds = bench.size(60, 3, 15)
    said = Path(bench.scratch) / "said"
    result = Result("load-soak", f"{rate} requests/s for {minutes} slices of {seconds} s", ["slice", "resident memory", "lateness p99", "latency p99"])
    with nginx(bench.scratch) as server:
        record = Path(bench.scratch) / "soak.assay"
        argv = [ASSAY, "load", "--rate", rate, "--slice", f"{seconds}s", "-r", minutes, "-q", "--save", record, server.url()]
        argv = ["taskset", "-c", CLIENT_CPU, *map(str, argv)]
        bench.commands[bench.shown(argv)] = True
        resident = []
        with said.open("w") as out, started(argv, stdout=out) as process:
            began = time.perf_counter()
            while process.poll() is None:
                time.sleep(seconds / 6)
                resident.append((time.perf_counter() - began, _resident(process.pid)))
        if process.returncode != 0:
            raise Failed(f"assay load: status {process.returncode}")
    document = json.loads(bench.run([ASSAY, "describe", record, "--all", "--json"], timeout=60).stdout)
    metrics = {series["metric"]: series["descriptives"] for series in document["series"]}
    halves = [[size for at, size in resident if size and low <= at < high] for low, high in ((seconds, minutes * seconds / 2), (minutes * seconds / 2, 1e9))]
    first, last = (max(half) if half else 0 for half in halves)
    result.row("first half", f"{first / 1024:.1f} MiB", "", "")
    result.row("second half", f"{last / 1024:.1f} MiB", "", "")
    late = metrics["lateness_p99"]
    result.row("all", "", f"{late['min'] * 1e6:.0f} … {late['max'] * 1e6:.0f} µs", f"{metrics['latency_p99']['median'] * 1e6:.0f} µs")
    result.bar(Bar.at_most("memory, second half to first", last / first if first else 1.0, 1.05, lambda value: f"{value:.3f}"))
    result.bar(Bar.at_most("largest lateness p99 of a slice, to their median", late["max"] / late["median"], 2.0, lambda value: f"{value:.2f}"))
    return [result]


def _resident(process):
    """Returns KiB; 0 after the end. `taskset` has become `assay`."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS:")), 0)
