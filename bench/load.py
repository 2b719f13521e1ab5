"""The figures about HTTP load: the cost of a request for its generator and the maximum rate,
compared with wrk, httperf, oha, hey, ab and h2load; and whether its reports about a stalled server,
and about its own pace, are true.

Servers run on one processor and generators on another. nginx counts the requests of every
generator, and the server timestamps arrivals: no tool's own report is trusted, unless the figure is
about that report.
"""

import csv
import functools
import io
import json
import math
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import pstdev
from typing import Callable

import peers
from judge import median, quantile, spread
from machine import ASSAY, Failed, execute, say, version_of
from result import Bar, Result, percent, ratio
from servers import CLIENT_CPU, SIZES, build_stall_server, nginx, stall_server, started

OHA = peers.HOME / "bin/oha"
US, WRK = "assay load", "wrk"
CONNECTIONS = 16
# The packages of the peers, except for the one that is built.
PACKAGES = {"nginx": "nginx", "wrk": "wrk", "httperf": "httperf", "hey": "hey", "ab": "apache2-utils", "h2load": "nghttp2-client"}


@functools.cache
def install():
    """Returns the available tools with their versions, and the missing ones with the reason, after
    an attempt to install them."""
    versions, missing = [], {}
    for name, package in PACKAGES.items():
        try:
            if not shutil.which(name) and not shutil.which(f"/usr/sbin/{name}"):
                peers._by_apt(package)
            versions.append(execute(["dpkg-query", "-W", "-f", "${Package} ${Version}", package], 60).stdout)
        except Failed as error:
            missing[name] = str(error)
    if not OHA.exists():
        try:
            peers.to_install()
            say("building oha")
            execute(["cargo", "install", "oha", "--version", "1.16.0", "--locked", "--root", str(peers.HOME)], 3600)
        except Failed as error:
            missing["oha"] = str(error)
    if OHA.exists():
        versions.append(version_of([OHA, "--version"]))
    return versions, missing


@dataclass
class Tool:
    """A generator, and a function that returns its command line for a URL, seconds and
    connections."""

    name: str
    program: object
    command: Callable

    def there(self):
        return shutil.which(str(self.program)) is not None


def _ours(*options):
    def command(url, seconds, connections):
        return [ASSAY, "load", "--connections", connections, "--slice", f"{seconds}s", "-r", 1, "--no-save", "--json", *options, url]

    return command


def _at_rate(url, rate, seconds):
    return [ASSAY, "load", "--rate", rate, "--slice", f"{seconds}s", "--settle", "0s", "-r", 1, "--no-save", "--json", url]


def _go(*argv):
    # A second processor would belong to the server.
    return ["env", "GOMAXPROCS=1", *argv]


KEEP_ALIVE = [
    Tool(US, ASSAY, _ours()),
    Tool(WRK, "wrk", lambda url, s, c: ["wrk", "-t1", f"-c{c}", f"-d{s}s", "--latency", url]),
    # It has no option for the duration; it reports when interrupted.
    Tool(
        "httperf",
        "httperf",
        lambda url, s, c: [
            "timeout", "--preserve-status", "-s", "INT", s,
            "httperf", "--hog", "--num-conns", c, "--rate", 1000, "--num-calls", 10**9, *_of_httperf(url),
        ],
    ),
    Tool("oha", OHA, lambda url, s, c: [OHA, "--no-tui", "-z", f"{s}s", "-c", c, url]),
    Tool("ab", "ab", lambda url, s, c: ["ab", "-q", "-k", "-t", s, "-n", 100_000_000, "-c", c, url]),
    Tool("h2load", "h2load", lambda url, s, c: ["h2load", "--h1", "-t1", "-c", c, "-D", s, url]),
    Tool("hey", "hey", lambda url, s, c: _go("hey", "-z", f"{s}s", "-c", c, url)),
]
NEW_TLS = [
    Tool(US, ASSAY, _ours("--new-connections", "--tls", "full", "--insecure")),
    Tool(WRK, "wrk", lambda url, s, c: ["wrk", "-t1", f"-c{c}", f"-d{s}s", "-H", "Connection: close", url]),
    Tool("oha", OHA, lambda url, s, c: [OHA, "--no-tui", "--insecure", "--disable-keepalive", "-z", f"{s}s", "-c", c, url]),
    Tool("ab", "ab", lambda url, s, c: ["ab", "-q", "-t", s, "-n", 100_000_000, "-c", c, url]),
    Tool("hey", "hey", lambda url, s, c: _go("hey", "-disable-keepalive", "-z", f"{s}s", "-c", c, url)),
]
# 64 streams in total.
HTTP2 = [
    Tool(US, ASSAY, _ours("--http2", "--streams", 16, "--insecure")),
    Tool("h2load", "h2load", lambda url, s, c: ["h2load", "-t1", "-c", c, "-m", 16, "-D", s, url]),
    Tool("oha", OHA, lambda url, s, c: [OHA, "--no-tui", "--insecure", "--http2", "-p", 16, "-z", f"{s}s", "-c", c, url]),
    Tool("hey", "hey", lambda url, s, c: _go("hey", "-h2", "-z", f"{s}s", "-c", 16 * c, url)),
]


def _of_httperf(url):
    host, _, path = url.removeprefix("http://").partition("/")
    name, _, port = host.partition(":")
    return ["--server", name, "--port", port, "--uri", f"/{path}"]


@dataclass
class Run:
    """The result of one run of a generator."""

    rate: float
    cpu: float  # seconds for 100,000 requests
    server_cpu: float
    memory: int


def drive(bench, server, argv, seconds):
    """Runs a generator together with the server. The rate is that of `seconds` in the middle of the
    run, or of the whole run if it ends earlier."""
    peak, said = bench.scratch / "peak", bench.scratch / "said"
    argv = [str(part) for part in argv]
    name = Path(argv[0]).name
    bench.commands[bench.shown(["taskset", "-c", CLIENT_CPU, *argv])] = True
    # The kernel's peak memory of a process starts at its parent's: GNU time is small.
    argv = ["taskset", "-c", CLIENT_CPU, "/usr/bin/time", "-f", "%M", "-o", str(peak), *argv]
    first, cpu, began = server.requests(), server.cpu(), time.perf_counter()
    with said.open("w") as errors, started(argv, stdout=subprocess.DEVNULL, stderr=errors) as process:
        marks = []
        for at in (0.8, 0.8 + seconds):
            time.sleep(max(0.0, began + at - time.perf_counter()))
            marks.append((time.perf_counter(), server.requests()))
        has_ended = is_done(process)
        while not is_done(process):
            if time.perf_counter() > began + 60 + seconds * 5:
                raise Failed(f"{name}: not done after {60 + seconds * 5:.0f} s")
            time.sleep(0.01)
        ended = time.perf_counter()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{name}: status {process.returncode}: {said.read_text(errors='replace').strip()[-300:]}")
    # This request and the two marks are included in the count, but are not the generator's.
    count = server.requests() - first - 3
    if count < 1:
        raise Failed(f"{name}: the server saw no request")
    (start, before), (end, after) = marks
    rate = count / (ended - began) if has_ended else (after - before - 1) / (end - start)
    used = (usage.ru_utime + usage.ru_stime) / count * 1e5
    return Run(rate, used, (server.cpu() - cpu) / count * 1e5, int(peak.read_text().split()[-1]) * 1024)


def is_done(process):
    """Returns whether it has ended; its resource usage can still be queried afterwards."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def compare(bench, name, title, tools, against, url, connections=CONNECTIONS):
    """Returns a table of all tools at one URL, in a random order in each round, and the ratios to
    the tool `against` within each round."""
    seconds, rounds = bench.size(3, 1), bench.size(5, 2, 3)
    result = Result(
        name,
        f"{title}: {rounds} rounds of {seconds} s, {connections} connections",
        ["tool", "requests/s", f"× {against}", "CPU s per 100,000", f"× {against}", "nginx CPU s", "peak memory"],
    )
    here = [tool for tool in tools if tool.there()]
    runs = {tool.name: [] for tool in here}
    with nginx(bench.scratch) as server:
        target = url(server)

        def step(_number, tool):
            # Runs slightly longer than the counted period, at both ends.
            runs[tool.name].append(drive(bench, server, tool.command(target, seconds + 2, connections), seconds))

        bench.rounds(rounds, here, step)
    for tool in here:
        mine = runs[tool.name]
        result.row(
            tool.name,
            f"{median([run.rate for run in mine]):,.0f}",
            _against([run.rate / base.rate for run, base in zip(mine, runs[against])]),
            f"{median([run.cpu for run in mine]):.3f}",
            _against([run.cpu / base.cpu for run, base in zip(mine, runs[against])]),
            f"{median([run.server_cpu for run in mine]):.3f}",
            f"{max(run.memory for run in mine) / 2**20:.1f} MiB",
        )
    result.raw = {tool: [vars(run) for run in all_runs] for tool, all_runs in runs.items()}
    return result, runs


def _against(ratios):
    low, high = spread(ratios)
    return f"{ratio(median(ratios))} ({ratio(low)} … {ratio(high)})"


def _ratio_of(runs, what, against):
    return median([getattr(mine, what) / getattr(base, what) for mine, base in zip(runs[US], runs[against])])


def best(runs, what, better):
    """Returns the peer with the best median."""
    others = [name for name in runs if name != US]
    return better(others, key=lambda name: median([getattr(run, what) for run in runs[name]]))


def with_peers(result):
    """Names the peers that were measured, and those that were missing."""
    versions, missing = install()
    result.note(f"Peers: {', '.join(versions)}.")
    for name, why in missing.items():
        result.note(f"{name} is missing: {why}.")
    return result


def keep_alive(bench):
    """Measures the cost of a request over a persistent connection, and the maximum rate."""
    install()
    result, runs = compare(
        bench, "load-keep-alive", "Keep-alive requests of 1 KiB, as fast as each tool can, plain HTTP/1.1", KEEP_ALIVE, WRK, lambda server: server.url()
    )
    result.bar(Bar.at_most("CPU per request against wrk", _ratio_of(runs, "cpu", WRK), 1.00, ratio))
    result.bar(Bar.at_least("requests per second against wrk", _ratio_of(runs, "rate", WRK), 0.97, ratio))
    result.note("Where all tools have one rate, it is nginx's: its processor is full.")
    return [with_peers(result)]


def new_tls(bench):
    """Measures the cost of a new connection with a full handshake, and the maximum rate."""
    install()
    result, runs = compare(
        bench, "load-tls", "A new TLS connection for each request, every handshake a full one (ECDSA P-256)", NEW_TLS, WRK, lambda server: server.url("full")
    )
    result.bar(Bar.at_least("connections per second against wrk", _ratio_of(runs, "rate", WRK), 1.6, ratio))
    result.bar(Bar.at_most("CPU per connection against wrk", _ratio_of(runs, "cpu", WRK), 0.45, ratio))
    return [with_peers(result)]


def http2(bench):
    """Measures the maximum rate over HTTP/2."""
    install()
    result, runs = compare(
        bench, "load-http2", "HTTP/2 over TLS, 16 streams a connection, 1 KiB", HTTP2, "h2load", lambda server: server.url("http2"), connections=4
    )
    result.bar(Bar.at_least("requests per second against h2load", _ratio_of(runs, "rate", "h2load"), 0.8, ratio))
    return [with_peers(result)]


def bodies(bench):
    """Measures requests with larger answers; rankings change with their size."""
    install()
    results = []
    for size in list(SIZES)[1:]:
        result, runs = compare(
            bench, f"load-{size}", f"Keep-alive requests of {SIZES[size] // 1024} KiB", KEEP_ALIVE, WRK, lambda server, size=size: server.url(size=size)
        )
        fastest, cheapest = best(runs, "rate", max), best(runs, "cpu", min)
        result.bar(Bar.at_least(f"requests per second against the best peer, {fastest}", _ratio_of(runs, "rate", fastest), 0.97, ratio))
        result.bar(Bar.at_most(f"CPU per request against the best peer, {cheapest}", _ratio_of(runs, "cpu", cheapest), 1.05, ratio))
        results.append(with_peers(result))
    return results


STALL_RATE, STALL_SECONDS, ANSWER = 500, 10, 0.001
QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}


def stalled(due, seconds=STALL_SECONDS):
    """Returns when a request due at `due` is answered by a server that stalls from the middle on
    for a tenth of the time."""
    begins = seconds / 2
    ends = begins + seconds / 10
    read = ends if begins <= due < ends else due
    answered = read + ANSWER
    return ends if begins <= answered < ends else answered


def truth(seconds):
    """Returns quantiles of latency over the plan, by name."""
    count = STALL_RATE * seconds
    latencies = sorted(stalled(number / STALL_RATE, seconds) - number / STALL_RATE for number in range(count))
    return {name: latencies[math.ceil(share * count) - 1] for name, share in QUANTILES.items()}


def _stall_tools(seconds):
    count = STALL_RATE * seconds
    return [
        Tool(US, ASSAY, lambda url, _out: _at_rate(url, STALL_RATE, seconds)),
        Tool(
            "oha, with latency correction",
            OHA,
            lambda url, out: [OHA, "--no-tui", "--output-format", "json", "-o", out, "-n", count, "-q", STALL_RATE, "-c", 50, "--latency-correction", url],
        ),
        Tool("oha", OHA, lambda url, out: [OHA, "--no-tui", "--output-format", "json", "-o", out, "-n", count, "-q", STALL_RATE, "-c", 50, url]),
        Tool("hey, 10 connections", "hey", lambda url, _out: _go("hey", "-n", count, "-c", 10, "-q", STALL_RATE // 10, url)),
        Tool("ab, closed loop", "ab", lambda url, _out: ["ab", "-q", "-k", "-t", seconds, "-n", 100_000_000, "-c", 10, url]),
        Tool("wrk, closed loop", "wrk", lambda url, _out: ["wrk", "-t1", "-c10", f"-d{seconds}s", "--latency", url]),
    ]


def stall(bench):
    """Shows what each tool reports about a server that stalls for a tenth of the time."""
    build_stall_server()
    install()
    seconds, rounds = bench.size(STALL_SECONDS, 4), bench.size(3, 1, 1)
    right = truth(seconds)
    result = Result(
        "load-stall",
        f"Latency in ms of a server that answers in 1 ms and stands still for {seconds / 10:g} s of {seconds} s, {STALL_RATE} requests/s asked for; medians of {rounds} rounds",
        ["tool", "requests", *[name.replace("_", ".") for name in QUANTILES]],
    )
    result.row("truth", STALL_RATE * seconds, *[f"{right[name] * 1e3:.1f}" for name in QUANTILES])
    tools = [tool for tool in _stall_tools(seconds) if tool.there()]
    said = {tool.name: [] for tool in tools}
    arguments = ["--answer-after", "1ms", "--stall-at", f"{seconds / 2}s", "--stall-for", f"{seconds / 10}s"]

    def step(_number, tool):
        out = bench.scratch / "said"
        out.unlink(missing_ok=True)
        with stall_server(bench.scratch, *arguments) as (url, _log):
            done = bench.run(["taskset", "-c", CLIENT_CPU, *tool.command(url, out)], timeout=60 + seconds * 3)
        if tool.name == US:
            said[US].append(_told_by_us(done.stdout))
        else:
            if not out.exists():
                out.write_text(done.stdout)
            said[tool.name].append(_told(bench, out))

    bench.rounds(rounds, tools, step)
    for tool in tools:
        cells = [_median_of(said[tool.name], f"latency_{name}") for name in QUANTILES]
        requests = _median_of(said[tool.name], "requests")
        result.row(tool.name, _shown(requests, "{:.0f}"), *[_shown(cell and cell * 1e3, "{:.1f}") for cell in cells])
        if tool.name == US:
            for name, cell in list(zip(QUANTILES, cells))[2:]:
                off = abs(cell / right[name] - 1) if cell else float("inf")
                result.bar(Bar.at_most(f"{name.replace('_', '.')} off the truth", off, 0.02, percent))
    result.note("wrk adds latencies that it did not measure. The others that wait for answers leave out what would have been sent meanwhile.")
    result.raw = said
    return [with_peers(result)]


def _told(bench, file):
    """Returns the metrics of one report, as imported by `assay`."""
    text = bench.run([ASSAY, "convert", file, "--to", "csv"], timeout=60).stdout
    row = next(csv.DictReader(io.StringIO(text)))
    return {name.rpartition("_")[0]: float(value) for name, value in row.items() if name.rpartition("_")[2] in ("s", "1", "1/s") and value}


def _told_by_us(text):
    """Returns the medians of assay's own document."""
    metrics = json.loads(text)["descriptions"][0]["metrics"]
    return {name: metric["median"] for name, metric in metrics.items()}


def _median_of(runs, metric):
    values = [run[metric] for run in runs if metric in run]
    return median(values) if values else None


def _shown(value, how):
    return "not told" if value is None else how.format(value)


def _pace_tools(rate, seconds):
    count = rate * seconds
    return [
        Tool(US, ASSAY, lambda url: _at_rate(url, rate, seconds)),
        Tool("httperf", "httperf", lambda url: ["httperf", "--hog", "--rate", rate, "--num-conns", count, *_of_httperf(url)]),
        Tool("oha", OHA, lambda url: [OHA, "--no-tui", "-n", count, "-q", rate, "-c", 50, url]),
        Tool("hey", "hey", lambda url: _go("hey", "-n", count, "-c", 10, "-q", rate // 10, url)),
        Tool("h2load", "h2load", lambda url: ["h2load", "--h1", "-c", 10, "-n", count, f"--rps={rate // 10}", url]),
    ]


def pace(bench):
    """Measures when requests really arrive."""
    build_stall_server()
    install()
    seconds, rounds = bench.size(5, 2), bench.size(3, 1, 1)
    result = Result(
        "load-pace",
        f"Arrivals as the server saw them, the first half second left out: {seconds} s, medians of {rounds} rounds",
        ["asked", "tool", "mean rate off", "gaps below a tenth", "deviation of the gaps, × their mean", "p99 gap, × the ideal one"],
    )
    for rate in (1000, 5000):
        tools = [tool for tool in _pace_tools(rate, seconds) if tool.there()]
        seen = {tool.name: [] for tool in tools}
        hung = {}

        def step(_number, tool):
            with stall_server(bench.scratch, "--answer-after", "1ms") as (url, log):
                try:
                    bench.run(["taskset", "-c", CLIENT_CPU, *tool.command(url)], timeout=15 + seconds * 3)
                except Failed:
                    if tool.name == US:
                        raise
                    # Peers may hang after the last request, which has been sent nevertheless.
                    hung[tool.name] = hung.get(tool.name, 0) + 1
                # The log is flushed every 20 ms.
                time.sleep(0.1)
                seen[tool.name].append(arrivals(log, rate))

        bench.rounds(rounds, tools, step)
        for tool in tools:
            off, bunched, deviation, late = (median(values) for values in zip(*seen[tool.name]))
            result.row(f"{rate}/s", tool.name, f"{off * 100:+.2f} %", percent(bunched), f"{deviation:.2f}", f"{late:.1f}")
            if tool.name == US:
                result.bar(Bar.at_most(f"mean rate off {rate}/s", abs(off), 0.001, lambda share: f"{share * 100:.2f} %"))
                result.bar(Bar.at_most(f"gaps below a tenth at {rate}/s", bunched, 0.05, percent))
        for name, times in hung.items():
            result.note(f"{name} did not end by itself in {times} of {rounds} rounds at {rate}/s.")
        result.raw[str(rate)] = seen
    return [with_peers(result)]


def arrivals(log, rate):
    """Returns the error of the mean rate, the share of gaps shorter than a tenth of the ideal one,
    and the deviation and 99th percentile of gaps relative to it."""
    times = [int(line) for line in log.read_text().split()]
    times = [at for at in times if at >= times[0] + 500_000_000]
    if len(times) < 100:
        raise Failed(f"only {len(times)} requests came")
    gaps = [later - earlier for earlier, later in zip(times, times[1:])]
    ideal, mean = 1e9 / rate, (times[-1] - times[0]) / len(gaps)
    bunched = sum(gap < ideal / 10 for gap in gaps) / len(gaps)
    return ideal / mean - 1, bunched, pstdev(gaps) / mean, quantile(gaps, 0.99) / ideal


def memory(bench):
    """Measures peak memory after increasing numbers of requests; for peers up to five million,
    which is enough to see it grow."""
    install()
    result = Result("load-memory", "Peak memory after so many requests, keep-alive, 1 KiB", ["about", "tool", "requests", "peak memory"])
    tools = [tool for tool in KEEP_ALIVE if tool.name in (US, WRK, "oha") and tool.there()]
    with nginx(bench.scratch) as server:
        steps = ((1, 16), (5, 80), (20, 320))
        for millions, seconds in bench.size(steps, steps, steps[:2]):
            seconds = bench.size(seconds, millions // 2 + 2)
            for tool in tools if millions < 20 else tools[:1]:
                before = server.requests()
                run = drive(bench, server, tool.command(server.url(), seconds, CONNECTIONS), seconds - 1.5)
                count = (server.requests() - before) / 1e6
                result.row(f"{millions} million", tool.name, f"{count:.1f} million", f"{run.memory / 2**20:.1f} MiB")
                if tool.name == US:
                    result.bar(Bar.at_most(f"peak memory after {count:.1f} million requests", run.memory / 2**20, 20, lambda size: f"{size:.1f} MiB"))
    return [with_peers(result)]
