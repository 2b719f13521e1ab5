"""The figures about the farm's server: how long a thousand agents that each send a request every
second wait, and how quickly pages are served with many builds, both while nothing changes and while
builds arrive. Everything runs on this machine; the store is filled by an example of the crate
`farm`, with a few statements.
"""

import contextlib
import json
import os
import shutil
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

from machine import ASSAY, ROOT, Failed, execute, say
from result import Bar, Result, milliseconds
from servers import started

FARM = ROOT / "target/release/assay-farm"
FILL = ROOT / "target/release/examples/fill_farm"
CLIENTS = ROOT / "target/release/examples/lease_clients"
PAGES = {
    "home": "/",
    "project": "/owner0/project0",
    "matrix": "/owner0/project0/matrix",
    "home, JSON": "/api/v1/home",
    "project, JSON": "/api/v1/owners/owner0/projects/project0/page",
    "matrix, JSON": "/api/v1/owners/owner0/projects/project0/matrix",
}
# Requests per second to a page, during which builds are added.
RATE = 50
TICKS = os.sysconf("SC_CLK_TCK")


def build():
    execute(["cargo", "build", "--release", "-p", "assay-farm", "--features", "postgresql", "--bins", "--example", "lease_clients"], 1800, cwd=ROOT)
    execute(["cargo", "build", "--release", "-p", "assay-farm", "--features", "postgresql", "--example", "fill_farm"], 1800, cwd=ROOT)


@contextlib.contextmanager
def postgres(home):
    """Starts a PostgreSQL that is removed with its directory; yields the address of a database."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin/initdb"), default=None)
    if programs is None:
        raise Failed("there is no PostgreSQL: sh scripts/tools.sh installs it")
    programs, data = programs.parent, home / "postgres"
    data.mkdir()
    own = []
    if os.geteuid() == 0:
        shutil.chown(data, "postgres")
        os.chmod(home, 0o755)
        own = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    execute([*own, programs / "initdb", "-D", data / "data", "-A", "trust", "-U", "postgres", "--no-sync"], 300, cwd="/")
    # Memory as on a small server, and room for the writes of the setup; other settings are the
    # defaults.
    line = [*own, programs / "postgres", "-D", data / "data", "-c", "listen_addresses=", "-c", f"unix_socket_directories={data}", "-c", "shared_buffers=512MB", "-c", "max_wal_size=4GB"]
    with started([str(part) for part in line], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/"):
        until(lambda: subprocess.run([programs / "pg_isready", "-q", "-h", data, "-U", "postgres"], check=False).returncode == 0)
        execute([programs / "createdb", "-h", data, "-U", "postgres", "farm"], 60, cwd="/")
        yield f"postgres:///farm?user=postgres&host={data}"


def until(is_so, patience=60):
    ends = time.monotonic() + patience
    while not is_so():
        if time.monotonic() > ends:
            raise Failed(f"nothing came of {patience} s of waiting")
        time.sleep(0.05)


@contextlib.contextmanager
def server(home, store, *more):
    """A running server: yields its address, the first token, and the process."""
    words = [FARM, "serve", "--listen", "127.0.0.1:0", "--log", "error", "--data", home, "--rate", 10_000, *more]
    words += ["--store", store] if store else []
    with started([str(word) for word in words], stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().strip()
        if not address.startswith("http://"):
            raise Failed(f"the server says {address!r}")
        yield address, (home / "admin-token").read_text().strip(), process.pid


def cpu(pid):
    """Returns the seconds of CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def lease(bench):
    """Measures a thousand agents that each send a request every second, on both databases."""
    build()
    clients, seconds = bench.size((1000, 60), (50, 3), (1000, 20))
    result = Result(
        "farm-lease",
        f"{clients} simulated agents that ask for a job each second, evenly over it, {seconds} s; one in twenty gets one and hands in a result, as versions are added. The time counts from when a question was due",
        ["store", "questions", "p50", "p99", "longest", "CPU of the server per question", "jobs", "given", "given twice", "ended", "errors"],
    )
    for name, place in stores(bench):
        with place as (home, store):
            with server(home, store) as (address, _token, pid):
                before = cpu(pid)
                own = store or home / "farm.sqlite"
                told = bench.run([CLIENTS, address.removeprefix("http://"), own, clients, seconds], 600 + 10 * seconds)
                used = cpu(pid) - before
            found = json.loads(told.stdout)
            result.row(
                name, found["asked"], *[milliseconds(found[key]) for key in ("p50", "p99", "max")], milliseconds(used / found["asked"]),
                found["jobs"], found["leased"], found["twice"], found["ended"], found["errors"],
            )
            result.bar(Bar.at_most(f"p99, {name}", found["p99"], 0.05, milliseconds))
            result.bar(Bar.at_most(f"jobs given twice, {name}", found["twice"], 0, str))
            result.bar(Bar.at_most(f"jobs lost, {name}", found["jobs"] - found["ended"], 0, str))
    return [result]


def pages(bench):
    """Measures pages of many builds."""
    build()
    sizes = {"SQLite": bench.size(1_000_000, 100_000), "PostgreSQL": bench.size(10_000_000, 100_000, 1_000_000)}
    seconds = bench.size(20, 6, 6)
    result = Result(
        "farm-pages",
        f"Pages of a farm of 1,000 projects and 20 targets, {RATE} requests a second to each, {seconds} s: while nothing changes, so that the server has the page, "
        f"and while {RATE} builds a second are added to the project, so that it makes each anew. The latency counts from when a request was due",
        ["store", "page", "bytes", "p50", "p99", "CPU of the server", "p99, builds come in", "CPU with adding a build"],
    )
    for name, place in stores(bench):
        with place as (home, store):
            own = store or home / "farm.sqlite"
            began = time.monotonic()
            bench.run([FILL, own, sizes[name]], 7200)
            say(f"{name}: {sizes[name]:,} builds in {time.monotonic() - began:.0f} s")
            with server(home, store) as (address, token, pid):
                for page, path in PAGES.items():
                    ask = Page(bench, address, path, token, pid, seconds)
                    size = len(ask.read())
                    still = ask.measured()
                    with ask.builds_come_in():
                        changing = ask.measured()
                    of = f"{name}, {sizes[name]:,} builds"
                    result.row(of, page, f"{size:,}", *map(milliseconds, still), *map(milliseconds, changing[1:]))
                    for what, found in {"": still, ", builds come in": changing}.items():
                        result.bar(Bar.at_most(f"p99 of {page}, {of}{what}", found[1], 0.05, milliseconds))
                        result.bar(Bar.at_most(f"CPU of {page}, {of}{what}", found[2], 0.03, milliseconds))
    return [result]


class Page:
    """Measures one page of a server."""

    def __init__(self, bench, address, path, token, pid, seconds):
        self.bench, self.address, self.path, self.token, self.pid, self.seconds = bench, address, path, token, pid, seconds

    def ask(self, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data=data, headers=headers, method="GET" if data is None else "PUT")
        return urllib.request.urlopen(request, timeout=60).read()

    def read(self):
        return self.ask(self.path)

    def measured(self):
        """Returns the median, the 99 % quantile, and the server's CPU time per request, in
        seconds."""
        before = cpu(self.pid)
        line = [ASSAY, "load", "--rate", RATE, "--slice", f"{self.seconds}s", "-r", 1, "--no-save", "--json"]
        line += ["-H", f"Authorization: Bearer {self.token}", self.address + self.path]
        done = self.bench.run(line, 120 + 4 * self.seconds, secret=self.token)
        metrics = json.loads(done.stdout)["descriptions"][0]["metrics"]
        # Idle work of the server is included, so this is an upper bound.
        used = (cpu(self.pid) - before) / (metrics["rate_achieved"]["median"] * self.seconds)
        if metrics["answered"]["median"] < 1:
            raise Failed(f"{self.path}: not all requests were answered")
        return metrics["latency_p50"]["median"], metrics["latency_p99"]["median"], used

    @contextlib.contextmanager
    def builds_come_in(self):
        """Adds one build to the project per page request."""
        targets = json.loads(self.ask("/api/v1/targets"))["items"]
        over, failed = threading.Event(), []

        def add():
            number = 0
            while not over.wait(1 / RATE):
                number += 1
                outcome = {"state": "passed", "began": "2026-11-26T06:00:00Z", "seconds": 1.5, "evidence": {"tests": 3}}
                build = {"owner": "owner0", "project": "project0", "version": "1.0", "target": targets[number % len(targets)]["digest"], "node": "bench", "outcome": outcome}
                try:
                    self.ask(f"/api/v1/builds/{self.path.replace('/', '-')}-{number}", build)
                except OSError as error:
                    failed.append(error)

        adding = threading.Thread(target=add)
        adding.start()
        try:
            yield
        finally:
            over.set()
            adding.join()
        if failed:
            raise Failed(f"{len(failed)} builds could not be added: {failed[0]}")


def stores(bench):
    """Yields the places for a store, each with a directory for the server."""

    @contextlib.contextmanager
    def file():
        home = bench.scratch / "file"
        home.mkdir(mode=0o700)
        yield home, None

    @contextlib.contextmanager
    def database():
        home = bench.scratch / "database"
        home.mkdir(mode=0o700)
        with postgres(bench.scratch) as address:
            yield home, address

    return [("SQLite", file()), ("PostgreSQL", database())]
