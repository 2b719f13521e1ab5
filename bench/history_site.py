"""The figures about the pages of a history: the size of ten thousand runs of five hundred
benchmarks, the cost of writing them, and how soon a browser shows something.

The store is filled with synthetic results by SQL, since measuring them would take weeks; `assay`
itself creates it, so it has the schema of this version. To run it by hand, for any size and binary:

    python3 bench/history_site.py --assay target/release/assay --runs 1000 --benchmarks 50 --out /tmp/site
"""

import argparse
import contextlib
import json
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import ASSAY, Failed, say
from result import Bar, Result

# A script for the page that reports the time of its first paint, and of its plot.
PAINT = """
const said = (name, ms) => console.log(`assay-bench ${name} ${ms}`);
new PerformanceObserver((list) => list.getEntries().forEach((e) => said(e.name, e.startTime))).observe({ type: "paint", buffered: true });
if (document.body.dataset.page !== "overview") {
  const timer = setInterval(() => { if (document.body.dataset.drawn) { clearInterval(timer); said("drawn", performance.now()); } }, 5);
}
"""


def site(bench):
    """10,000 runs of 500 benchmarks."""
    runs, benchmarks = bench.size((10_000, 500), (300, 20))
    found = measured(ASSAY, runs, benchmarks, bench.scratch, bench.random)
    result = Result(
        "history-site",
        f"`assay history site` of a made-up history of {runs:,} runs of {benchmarks} benchmarks, a change in every fifth",
        ["", "found"],
    )
    for name, value in found["rows"]:
        result.row(name, value)
    result.bar(Bar.at_most("size of all pages", found["bytes"] / 1e6, 200.0, lambda mb: f"{mb:.0f} MB"))
    for name, seconds in found["paint"].items():
        result.bar(Bar.at_most(f"first paint, {name}", seconds, 1.0, lambda s: f"{s:.2f} s"))
    if not found["paint"]:
        result.note("Chromium is missing: nothing is known of the first paint.")
    return [result]


def measured(assay, runs, benchmarks, scratch, draw, out=None):
    store, out = Path(scratch) / "history.db", Path(out or Path(scratch) / "site")
    fill(assay, store, runs, benchmarks, draw)
    seconds, peak = written(assay, store, out)
    files = [path for path in out.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    largest = max((out / "benchmarks").iterdir(), key=lambda path: path.stat().st_size)
    paint = {}
    drawn = None
    browser = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
    if browser:
        paint["overview"], _ = painted(browser, out, out / "index.html", scratch)
        paint["a benchmark"], drawn = painted(browser, out, largest, scratch)
    rows = [
        ("files", f"{len(files):,}"),
        ("bytes", f"{size / 1e6:.1f} MB"),
        ("bytes for each result", f"{size / (runs * benchmarks):.1f}"),
        ("time to write", f"{seconds:.1f} s"),
        ("peak memory", f"{peak / 2**20:.0f} MiB"),
        ("the store", f"{store.stat().st_size / 1e6:.0f} MB"),
    ]
    rows += [(f"first paint, {name}", f"{value:.2f} s") for name, value in paint.items()]
    rows += [("plot of a benchmark drawn", f"{drawn:.2f} s")] if drawn is not None else []
    return {"rows": rows, "bytes": size, "paint": paint, "peak": peak, "seconds": seconds}


def written(assay, store, out):
    """Writes the pages; returns the duration in seconds and the peak memory in bytes. The kernel's
    total for children would include the size of their spawner."""
    before = time.perf_counter()
    argv = [assay, "history", "site", out, "--store", store, "--project", "bench"]
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    peak = 0
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status")
        with contextlib.suppress(OSError):
            peak = max([peak, *(int(kib) * 1024 for kib in re.findall(r"VmHWM:\s+(\d+)", status.read_text()))])
        time.sleep(0.02)
    seconds = time.perf_counter() - before
    if process.returncode:
        raise Failed(process.stderr.read())
    return seconds, peak


def fill(assay, store, runs, benchmarks, draw):
    """Creates a store of this version with synthetic results."""
    first = store.with_name("first.json")
    rows = [
        {"name": "b", "run_name": "b", "run_type": "iteration", "iterations": 1, "real_time": 1.0 + i / 100, "cpu_time": 1.0, "time_unit": "ns"}
        for i in range(6)
    ]
    first.write_text(json.dumps({"context": {"date": "2020-01-01T00:00:00+00:00", "host_name": "bench"}, "benchmarks": rows}))
    subprocess.run([assay, "history", "add", "-q", first, "--rev", "first", "--store", store, "--project", "bench"], check=True)
    db = sqlite3.connect(store)
    db.execute("PRAGMA synchronous = OFF")
    ((project,),) = db.execute("SELECT id FROM project")
    machine, metric, tool = db.execute("SELECT machine, metric, tool FROM recording").fetchone()
    now = 1_600_000_000_000
    with db:
        names = [f"BM_Parser{i % 25}/case_{i:03}/{2 ** (i % 12)}" for i in range(benchmarks)]
        ids = []
        for name in names:
            ids.append(db.execute("INSERT INTO benchmark (project, name, parameters, role) VALUES (?, ?, '[]', 0)", (project, name)).lastrowid)
        revisions, recordings = [], []
        for run in range(runs):
            commit = f"{draw.getrandbits(160):040x}"
            revisions.append(
                db.execute(
                    "INSERT INTO revision (project, commit_name, parent, ordinal, committed) VALUES (?, ?, NULL, ?, ?)",
                    (project, commit, 10 + run, now // 1000 + run * 3600),
                ).lastrowid
            )
            recordings.append(
                db.execute(
                    "INSERT INTO recording (project, machine, revision, digest, started, added, changed, source, argv, tool, results, metric, verdict)"
                    " VALUES (?, ?, ?, ?, ?, ?, 0, 'made up', '[]', ?, ?, ?, NULL)",
                    (project, machine, revisions[-1], f"{draw.getrandbits(256):064x}", now + run * 3_600_000, now, tool, benchmarks, metric),
                ).lastrowid
            )
            db.executemany(
                "INSERT INTO machine_state (recording, name, value) VALUES (?, ?, ?)",
                [(recordings[-1], "load_1m", round(draw.random(), 2)), (recordings[-1], "cpu_share", 1 - draw.random() / 50)],
            )
        say(f"  filling a store with {runs * benchmarks:,} results")
        for place, benchmark in enumerate(ids):
            level = 10 ** draw.uniform(-8, 0)
            at = runs // 2 if place % 5 == 0 else runs
            db.executemany(
                "INSERT INTO result (benchmark, metric, machine, started, recording, place, revision, n, units, centre, lower, upper)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, 10, 10, ?, ?, ?)",
                (
                    (benchmark, metric, machine, now + run * 3_600_000, recordings[run], place, revisions[run], value, value * low, value * high)
                    for run in range(runs)
                    for value in [level * (1.05 if run >= at else 1.0) * draw.lognormvariate(0, 0.015)]
                    for low, high in [(1 - draw.uniform(0.002, 0.02), 1 + draw.uniform(0.002, 0.02))]
                ),
            )
    db.close()


def painted(browser, out, page, scratch):
    """Returns when a page first showed something, and when its plot was complete, in seconds: the
    best of three, since the first start of a browser reads its files."""
    script = out / "data" / "paint.js"
    script.write_text(PAINT)
    copy = page.with_name("paint.html")
    up = "" if page.parent == out else "../"
    copy.write_text(page.read_text().replace("</body>", f'<script src="{up}data/paint.js" defer></script></body>'))
    found = []
    for _ in range(3):
        with tempfile.TemporaryDirectory(dir=scratch) as profile:
            done = subprocess.run(
                [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--enable-logging=stderr", "--timeout=8000",
                 f"--user-data-dir={profile}", "--window-size=1200,900", f"--screenshot={profile}/page.png", f"file://{copy.resolve()}"],
                capture_output=True, text=True, timeout=120, check=False,
            )
        said = dict(re.findall(r"assay-bench (\S+) ([\d.]+)", done.stderr))
        if "first-contentful-paint" not in said:
            raise Failed(f"{page.name}: the browser did not say when it painted: {done.stderr[-500:]}")
        found.append((float(said["first-contentful-paint"]) / 1e3, float(said["drawn"]) / 1e3 if "drawn" in said else None))
    copy.unlink()
    script.unlink()
    return min(found, key=lambda one: one[0])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--assay", default=ASSAY)
    arguments.add_argument("--runs", type=int, default=10_000)
    arguments.add_argument("--benchmarks", type=int, default=500)
    arguments.add_argument("--out", help="directory of the pages [default: they are removed]")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as scratch:
        found = measured(given.assay, given.runs, given.benchmarks, scratch, random.Random(20), given.out)
    for name, value in found["rows"]:
        print(f"{name:28} {value}")


if __name__ == "__main__":
    sys.exit(main())
