"""The figure about SIGKILL and the farm: what is lost, done twice or left over if the server, its
database, an agent or the controller of a cluster is killed at random moments while jobs run.

Simulated agents add versions, lease their jobs, submit the results, and repeat every request that
was not answered. Afterwards each version must have exactly one build, and each acknowledged result
must be stored. All started processes carry a variable; processes that still have it at the end are
orphans. The killed agents are real ones, in the sandbox; the controller is that of a real Slurm
cluster with two virtual nodes.
"""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

from farm import FARM, build, until
from kill import MARK, orphans
from machine import ROOT, Failed, child_of_ours, say
from result import Bar, Result
from servers import free_ports, started

# Starts a PostgreSQL and kills it on request; also used by the tests.
DATABASE = ROOT / "crates/history/src/tests/server.sh"
# The same for a cluster, and the simulated agent there.
CLUSTER = ROOT / "crates/farm/tests/it/support/slurm.sh"
SIMULATED = ROOT / "crates/farm/tests/it/support/agent.rb"
PROJECT = "/api/v1/owners/me/projects/p"
# A job whose assignment was lost is only handed out again after its lease.
LEASE = "5s"
# Time limit for all jobs to end, in seconds.
PATIENCE = 300


def kill(bench):
    """Runs this number of kills in total."""
    build()
    moments = bench.count or bench.size(1000, 20, 100)
    series = {
        "server (SQLite)": (_server_on_file, 0.25),
        "server (PostgreSQL)": (_server_on_database, 0.2),
        "PostgreSQL": (_database, 0.25),
        "agent": (_agent, 0.2),
        "slurmctld": (_controller, 0.1),
    }
    result = Result(
        "farm-kill",
        f"SIGKILL at {moments} random moments while jobs are done, and started again at once",
        ["killed", "moments", "jobs", "ended once", "ended more than once", "never ended", "said to be kept and not there", "processes left", "mounts and control groups left"],
    )
    totals = Found()
    # PostgreSQL and the sandbox run as other users; secrets have their own permissions.
    bench.scratch.chmod(0o755)
    for place, (name, (run, share)) in enumerate(series.items()):
        count = max(1, round(moments * share))
        home = bench.scratch / f"series-{place}"
        home.mkdir(mode=0o755)
        mark = f"{os.getpid()}-{name}"
        os.environ[MARK] = mark
        try:
            found = run(bench, home, count)
        finally:
            del os.environ[MARK]
        found.processes += orphans(mark)
        result.row(name, count, found.jobs, found.once, found.twice, found.lost, found.missing, found.processes, found.left)
        totals.add(found)
    for what, number in {
        "jobs that ended more than once": totals.twice,
        "jobs that never ended": totals.lost,
        "results that were said to be kept, and are not there": totals.missing,
        "processes left": totals.processes,
        "mounts and control groups left": totals.left,
    }.items():
        result.bar(Bar.at_most(what, number, 0, str))
    result.note("PostgreSQL runs with `fsync=off`: what a killed process had written is the system's, as a machine that loses its power is not tried here.")
    return [result]


class Found:
    """The findings of a series."""

    def __init__(self, jobs=0, once=0, twice=0, lost=0, missing=0):
        self.jobs, self.once, self.twice, self.lost, self.missing = jobs, once, twice, lost, missing
        self.processes = self.left = 0

    def add(self, other):
        for name, number in vars(other).items():
            setattr(self, name, getattr(self, name) + number)


class Server:
    """A server that always has the same address."""

    def __init__(self, home, store=None):
        port = free_ports(["farm"])["farm"]
        self.home, self.address, self.process = home / "farm", f"127.0.0.1:{port}", None
        self.words = [FARM, "serve", "--listen", self.address, "--log", "error", "--rate", 100_000, "--lease", LEASE, "--data", self.home]
        self.words += ["--store", store] if store else []

    def start(self):
        words = [str(word) for word in self.words]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True, preexec_fn=child_of_ours)
        if not (said := self.process.stdout.readline()).startswith("http://"):
            raise Failed(f"the server says {said!r}")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    @contextlib.contextmanager
    def running(self):
        self.start()
        try:
            self.admin = (self.home / "admin-token").read_text().strip()
            yield self
        finally:
            self.kill()

    def ask(self, method, path, body=None, token=None):
        """Returns the status and the answer; 0 and the reason if there was no answer."""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Authorization": f"Bearer {token or self.admin}"})
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        except (OSError, http.client.HTTPException, ValueError) as error:
            return 0, str(error)
        finally:
            connection.close()

    def must(self, method, path, body=None):
        """Returns the answer of a server that is not killed in the meantime."""
        status, answer = self.ask(method, path, body)
        if status not in (200, 201):
            raise Failed(f"{method} {path}: {status} {answer}")
        return answer

    def all(self, path):
        """Returns all pages of a list."""
        after = ""
        while after is not None:
            page = self.must("GET", f"{path}?limit=500&after={after}")
            yield from page["items"]
            after = page["next"]

    def begin(self, project):
        self.must("PUT", "/api/v1/owners/me", {})
        self.must("PUT", PROJECT, project)

    def agent_token(self, node):
        return self.must("POST", "/api/v1/tokens", {"name": node, "scope": "agent", "node": node})["secret"]

    def found(self, versions, kept=()):
        """Checks the results of these versions once all jobs have ended; `kept` are builds that
        were acknowledged as kept."""
        until(lambda: self.must("GET", "/api/v1/jobs")["items"] == [], PATIENCE)
        builds, ended = {}, {}
        for one in self.all("/api/v1/builds"):
            builds[one["id"]] = one
            if not one.get("is_evidence"):
                ended.setdefault(one["job"], []).append(one["version"])
        twice = sum(len(of) > 1 for of in ended.values())
        names = [of[0] for of in ended.values()]
        # Each version is requested for a single target, so a second job for it would be duplicate
        # work.
        twice += len(names) - len(set(names))
        lost = sum(name not in names for name in versions)
        missing = sum(builds.get(one["id"]) != one for one in kept)
        return Found(len(ended), len(ended) - twice, twice, lost, missing)


def _simulated(server, count, strike):
    """Runs two simulated agents while something is killed this number of times."""
    server.begin({})
    facts = {"os": "simulated"}
    tokens = {node: server.agent_token(node) for node in ("a", "b")}
    for node, token in tokens.items():
        hello = {"tool": "bench", "targets": [{"name": "simulated", "facts": facts}], "kinds": ["test"], "instance": node, "time": "2026-01-01T00:00:00Z"}
        if (said := server.ask("POST", f"/api/v1/nodes/{node}/hello", hello, token))[0] != 200:
            raise Failed(f"hello: {said}")
    target = server.must("GET", "/api/v1/targets")["items"][0]["digest"]
    over, ends, versions, kept, failed = threading.Event(), [0.0], [], [], []

    def work(node, token):
        try:
            asking = {"instance": node, "targets": [target], "kinds": ["test"]}
            number = 0
            while not (over.is_set() and (time.monotonic() > ends[0] or server.ask("GET", "/api/v1/jobs")[1] == {"items": [], "next": None})):
                number += 1
                name = f"{node}.{number}"
                if not over.is_set():
                    new = {"kind": "release", "ordinal": number}
                    if server.ask("PUT", f"{PROJECT}/versions/{name}", new)[0] in (200, 201):
                        versions.append(name)
                status, leased = server.ask("POST", f"/api/v1/nodes/{node}/lease", asking, token)
                if status != 200:
                    time.sleep(0.005)
                    continue
                outcome = {"state": "passed", "began": "2026-01-01T00:00:00Z", "seconds": 0.1, "evidence": {"tests": 1}}
                ending = {"nonce": leased["nonce"], "key": name, "outcome": outcome}
                while True:
                    status, ended = server.ask("PUT", f"/api/v1/jobs/{leased['job']['id']}/result", ending, token)
                    if 200 <= status < 500:
                        break
                    time.sleep(0.005)
                if status in (200, 201):
                    kept.append(ended)
                elif ended["error"]["code"] != "lease_lost":
                    raise Failed(f"a result: {ended}")
        except Exception as error:  # noqa: BLE001 whatever ends a thread has to be told by the other one
            failed.append(error)

    threads = [threading.Thread(target=work, args=pair) for pair in tokens.items()]
    for thread in threads:
        thread.start()
    try:
        for number in range(count):
            strike()
            say(f"\r  {number + 1} of {count} ", end="")
    finally:
        ends[0] = time.monotonic() + PATIENCE
        over.set()
        for thread in threads:
            thread.join()
        say("\r" + " " * 40 + "\r", end="")
    if failed:
        raise Failed(f"an agent: {failed[0]!r}")
    return server.found(versions, kept)


def _killed_server(bench, server, count):
    def strike():
        time.sleep(bench.random.uniform(0, 0.2))
        server.kill()
        server.start()

    with server.running():
        return _simulated(server, count, strike)


def _server_on_file(bench, home, count):
    return _killed_server(bench, Server(home), count)


def _server_on_database(bench, home, count):
    with _postgres(home) as (_, address):
        return _killed_server(bench, Server(home, address), count)


def _database(bench, home, count):
    with _postgres(home) as (database, address), Server(home, address).running() as server:

        def strike():
            time.sleep(bench.random.uniform(0, 0.3))
            database("kill", "killed")
            database("start", "started")

        return _simulated(server, count, strike)


@contextlib.contextmanager
def _told(argv):
    """A script that executes commands and ends when its input does. Sends it commands and checks
    its answers."""
    argv = [str(word) for word in argv]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/", start_new_session=True)

    def hears(answer):
        if (said := process.stdout.readline().strip()) != answer:
            raise Failed(f"{argv[1]}: {said!r} in place of {answer}")

    def tell(word, answer):
        process.stdin.write(f"{word}\n")
        process.stdin.flush()
        hears(answer)

    try:
        hears("started")
        yield tell
    finally:
        process.stdin.close()
        process.wait(timeout=60)
        process.stdout.close()


@contextlib.contextmanager
def _postgres(home):
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)
    if programs is None:
        raise Failed("there is no PostgreSQL: sh scripts/tools.sh installs it")
    directory = home / "postgres"
    directory.mkdir()
    with _told(["sh", DATABASE, programs, directory]) as tell:
        made = [programs / "createdb", "-h", directory, "-U", "postgres", "farm"]
        subprocess.run(made, check=True, cwd="/")
        yield tell, f"postgres:///farm?user=postgres&host={directory}"


def _agent(bench, home, count):
    """The real agent: its jobs install and test something that would keep running if nothing ended
    it."""
    with Server(home).running() as server:
        word = f"0.7{os.getpid()}"
        get = "printf 'echo 1..1; echo ok 1 - it runs\\n' > test.sh"
        server.begin({
            "origin": {"kind": "command", "list": "true", "get": get},
            "recipe": {"install": [f"setsid sleep {word} & sleep {word}"], "test": "sh test.sh"},
        })
        token, room = home / "token", home / "room"
        token.write_text(server.agent_token("node"))
        token.chmod(0o600)
        words = [FARM, "agent", "--calibrate", "0", "--name", "node", "--runtime", "python", "--server", f"http://{server.address}", "--token-file", token, "--directory", room]
        words = [str(part) for part in words]
        versions = [f"1.{number}" for number in range(count // 4 + 2)]
        makers, found = [], 0

        def begun():
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=child_of_ours)
            makers.append(process.pid)
            return process

        agent = begun()
        try:
            until(lambda: server.must("GET", "/api/v1/targets")["items"] != [])
            for name in versions:
                server.must("PUT", f"{PROJECT}/versions/{name}", {"kind": "release"})
            for number in range(count):
                time.sleep(bench.random.uniform(0.05, 1.5))
                agent.kill()
                agent.wait()
                with contextlib.suppress(Failed):
                    until(lambda: not _running(word), 5)
                found += _running(word)
                agent = begun()
                say(f"\r  {number + 1} of {count} ", end="")
            say("\r" + " " * 40 + "\r", end="")
            came = server.found(versions)
        finally:
            agent.terminate()
            agent.wait()
        came.processes = found
        came.left = Path("/proc/self/mountinfo").read_text().count(str(room)) + _groups(makers)
        return came


def _running(word):
    """Returns the processes whose command line contains this word."""
    found = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{entry.name}/cmdline", "rb") as line:
                found += word.encode() in line.read()
    return found


def _groups(makers):
    """Returns the existing control groups that these processes created."""
    places = (Path("/sys/fs/cgroup") / own for own in ("", "memory", "pids", "unified"))
    names = [path.name for place in places if place.is_dir() for path in place.iterdir()]
    return sum(name.startswith(tuple(f"assay-sandbox-{maker}-" for maker in makers)) for name in names)


def _controller(bench, home, count):
    """Kills Slurm's controller while the farm's jobs are placed on two virtual nodes."""
    directory = home / "slurm"
    directory.mkdir()
    ports = free_ports(["controller", "one", "two"]).values()
    with Server(home).running() as server, _told(["sh", CLUSTER, directory, *map(str, ports)]) as tell:
        # Only the explicitly requested jobs: the project itself matches no target.
        server.begin({"needs": {"os": "none"}})
        line = [FARM, "place", "--every", "1", "--server", f"http://{server.address}", "--token-file", server.home / "admin-token", "--directory", directory / "shared"]
        line = [str(word) for word in [*line, "--program", SIMULATED]]
        own = {"SLURM_CONF": str(directory / "slurm.conf"), "AGENT_LOG": str(directory / "agents"), "AGENT_SECONDS": "0.3"}
        versions = []
        with started(line, stdout=subprocess.DEVNULL, env=os.environ | own):
            for number in range(count):
                versions.append(f"1.{number}")
                server.must("PUT", f"{PROJECT}/versions/1.{number}", {"kind": "release"})
                server.must("POST", "/api/v1/jobs", {"owner": "me", "project": "p", "version": f"1.{number}", "kind": "test", "needs": {}})
                time.sleep(bench.random.uniform(0, 1.5))
                tell("kill", "kill")
                tell("start", "start")
                say(f"\r  {number + 1} of {count} ", end="")
            say("\r" + " " * 40 + "\r", end="")
            return server.found(versions)
