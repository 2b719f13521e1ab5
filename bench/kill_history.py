"""The figure about SIGKILL and the history: what a store loses, and whether it is intact, if its
writer is killed at a random moment.

Each kill is tried on a copy of the same store. Afterwards SQLite checks every page, every run is
exported, which unpacks and checks its samples, and everything that the program reported as done
must be present.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time

from machine import ASSAY, Failed, say
from normal import google
from result import Bar, Result

SEEDED = 20
FILES = 30
BENCHMARKS = 40


def kill(bench):
    """Runs this number of kills for each way of writing."""
    ways = {
        "history add": (_add, bench.size(300, 4)),
        "run --keep": (_keep, bench.size(300, 4)),
        "history prune": (_prune, bench.size(100, 4)),
        "history bless": (_bless, bench.size(100, 4)),
        "a store of version 1": (_migrate, bench.size(100, 4)),
    }
    result = Result(
        "kill-history",
        f"SIGKILL of a writer of the history at random moments between its start and its end; the store has {SEEDED} runs of {BENCHMARKS} benchmarks before",
        ["writer", "moments", "while it wrote", "runs lost", "said to be done and not there", "stores not whole", "runs that can't be read"],
    )
    place = _Place(bench)
    totals = [0, 0, 0, 0]
    for name, (way, moments) in ways.items():
        found = way(place, moments)
        result.row(f"`{name}`" if not name.startswith("a ") else name, moments, *found)
        totals = [total + number for total, number in zip(totals, found[1:])]
    for what, number in zip(["runs lost beyond the one in flight", "said to be done and not there", "stores not whole", "runs that can't be read"], totals):
        result.bar(Bar.at_most(what, number, 0, str))
    result.note(
        "`while it wrote`: the store had changed, and the writer had not ended. `a store of version 1` is brought to the present version by the "
        "first writer, which adds a run as well."
    )
    return [result]


class _Place:
    """Creates a store, a copy of it for each kill, and files to add."""

    def __init__(self, bench):
        self.bench = bench
        self.home = bench.scratch / "seed"
        self.home.mkdir()
        self.copy = bench.scratch / "copy"
        self.files = [self._file(number) for number in range(SEEDED + FILES)]
        self.asked(self.home, "history", "add", "-q", *self.files[:SEEDED])
        self.before = self.runs(self.home)

    def _file(self, number):
        path = self.bench.scratch / f"run-{number:03}.json"
        values = {f"BM_{i}": 1000.0 * (1 + i) + number for i in range(BENCHMARKS)}
        path.write_text(json.dumps(google(number, values, [[1.0, 1.01, 0.99]] * BENCHMARKS)))
        return path

    def _options(self, home):
        return ["--store", home / "history.db"]

    def line(self, home, *words):
        own = ["--project", "p"] if words[0] == "history" else ["--keep=p"]
        return [str(word) for word in [ASSAY, *words, *own, *self._options(home)]]

    def asked(self, home, *words):
        return self.bench.run(self.line(home, *words), 300)

    def runs(self, home):
        """Returns the existing runs by their digests."""
        listed = json.loads(self.asked(home, "history", "log", "-n", "0", "--json").stdout)
        return {run["run"] for run in listed["runs"]}

    def series(self, moments, words, check, prepare=None):
        """Kills the writer at this number of moments. From the runs before and after, and from the
        program's output, `check` returns how many runs are lost, and how many are missing although
        they were reported as stored."""
        found = [0, 0, 0, 0, 0]
        longest = self._longest(words, prepare)
        for number in range(moments):
            self._fresh(prepare)
            store = self.copy / "history.db"
            stamps = self._stamps()
            with open(self.copy / "said", "w+b") as said:
                process = subprocess.Popen(
                    self.line(self.copy, *words), stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True, env=self._variables()
                )
                time.sleep(self.bench.random.uniform(0, longest))
                ended = process.poll() is not None
                process.send_signal(signal.SIGKILL)
                process.wait()
                said.seek(0)
                text = said.read().decode(errors="replace")
            found[0] += not ended and self._stamps() != stamps
            found[3] += not _is_whole(store)
            after = self.runs(self.copy)
            lost, missing = check(after, text)
            found[1] += lost
            found[2] += missing
            found[4] += len(after) - self._readable()
            say(f"\r  {' '.join(map(str, words[:2]))} {number + 1} of {moments} ", end="")
        say("\r" + " " * 40 + "\r", end="")
        return found

    def _longest(self, words, prepare):
        """Returns the duration without a kill, in seconds."""
        times = []
        for _ in range(3):
            self._fresh(prepare)
            began = time.monotonic()
            process = subprocess.run(self.line(self.copy, *words), capture_output=True, timeout=300, check=False, env=self._variables())
            times.append(time.monotonic() - began)
            if process.returncode != 0:
                raise Failed(f"{words}: {process.returncode}: {process.stderr.decode()[-300:]}")
        return 1.05 * max(times)

    def _variables(self):
        return os.environ | {"XDG_STATE_HOME": str(self.copy / "state")}

    def _fresh(self, prepare):
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.home, self.copy)
        if prepare:
            prepare(self.copy / "history.db")

    def _stamps(self):
        entries = (path for path in self.copy.iterdir() if path.name.startswith("history.db"))
        return {(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in entries if not path.name.endswith("-shm")}

    def _readable(self):
        """Returns the number of runs that can be exported to separate files."""
        out = self.copy / "out"
        self.asked(self.copy, "history", "export", "--all", "--out", out)
        return sum(1 for _ in out.glob("*.assay"))


def _is_whole(store):
    """Returns whether SQLite finds every page and every index intact."""
    db = sqlite3.connect(store)
    try:
        return db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    except sqlite3.DatabaseError:
        return False
    finally:
        db.close()


def _add(place, moments):
    def check(after, said):
        told = sum(line.startswith("added ") for line in said.splitlines())
        return len(place.before - after), max(0, told - len(after - place.before))

    return place.series(moments, ["history", "add", *place.files[SEEDED:]], check)


def _keep(place, moments):
    def check(after, said):
        told = said.count("kept as ")
        return len(place.before - after), max(0, told - len(after - place.before))

    return place.series(moments, ["run", "true", "-r", "5", "--warmup", "0"], check)


def _prune(place, moments):
    listed = json.loads(place.asked(place.home, "history", "log", "-n", "1", "--json").stdout)
    keeps = listed["runs"][0]["run"]

    def check(after, said):
        done = "removed" in said
        return int(keeps not in after), int(done and len(after) != 1)

    return place.series(moments, ["history", "prune", "--keep", "1", "--remove"], check)


def _bless(place, moments):
    def check(after, said):
        listed = json.loads(place.asked(place.copy, "history", "bless", "--list", "--json").stdout)
        missing = int("normal since" in said and not listed["blessings"])
        return len(place.before - after), missing

    return place.series(moments, ["history", "bless", "BM_1", "--reason", "meant"], check)


def _migrate(place, moments):
    def check(after, said):
        told = sum(line.startswith("added ") for line in said.splitlines())
        return len(place.before - after), max(0, told - len(after - place.before))

    return place.series(moments, ["history", "add", place.files[SEEDED]], check, _to_version_1)


def _to_version_1(store):
    db = sqlite3.connect(store)
    db.executescript(
        "DROP TABLE machine_state; DROP INDEX result_by_recording; CREATE INDEX result_by_recording ON result (recording); PRAGMA user_version = 1"
    )
    db.close()
