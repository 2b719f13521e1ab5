"""The figures about watching files: the time from a save to the start of the first process, the
cost of watching many files, and whether a save is ever missed. Every tool has the same project and
the same editor; the program that they run records when it was started, and what it found.
"""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

from judge import median, quantile
from machine import ASSAY, BUILD, Failed, child_of_ours
from peers import WATCHFILES, there
from result import Bar, Result, mebibytes, milliseconds

STAMP = BUILD / "stamp"
# Events that do not happen within this many seconds are considered missing.
PATIENCE = 10


def tools(log, file):
    """Returns name and command line of every available tool."""
    words = [str(STAMP), str(log), str(file)]
    line = shlex.join(words)
    top = str(file.parent)
    loop = f"while inotifywait -qq -e close_write -e moved_to {shlex.quote(top)}; do {line}; done"
    all_of_them = {
        "assay watch": [str(ASSAY), "watch", "--any", "--quiet", "--", *words],
        "watchexec, debounce 0": ["watchexec", "-n", "-q", "--debounce", "0ms", "-w", top, "--", *words],
        "watchexec": ["watchexec", "-q", "-w", top, "--", line],
        "entr": ["sh", "-c", f"echo {shlex.quote(str(file))} | entr -n {line}"],
        "watchfiles": [str(WATCHFILES), "--filter", "all", line, top],
        "inotifywait in a loop": ["sh", "-c", f"{line}; {loop}"],
    }
    needs = {"entr": "entr", "inotifywait in a loop": "inotifywait"}
    return {name: argv for name, argv in all_of_them.items() if there(needs.get(name, argv[0]))}


@contextlib.contextmanager
def watched(bench, argv, cwd, env=None):
    """Runs a tool, and ends everything that it started."""
    bench.commands[bench.shown(argv)] = True
    nothing = subprocess.DEVNULL
    process = subprocess.Popen(
        argv, cwd=cwd, env=env, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True, preexec_fn=child_of_ours
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def stamps(log):
    """Returns time and word of every start."""
    if not log.exists():
        return []
    lines = log.read_text().splitlines()
    return [(int(line.split()[0]), line.split()[1] if " " in line.strip() else "") for line in lines]


def until(is_so, patience=PATIENCE):
    began = time.monotonic()
    while time.monotonic() - began < patience:
        if is_so():
            return True
        time.sleep(0.0005)
    return False


def last_is(log, word):
    found = stamps(log)
    return bool(found) and found[-1][1] == word


def begin(bench, name):
    """Creates a directory with a file to be saved, and a log next to it."""
    home = bench.scratch / name.replace(" ", "-").replace(",", "")
    project = home / "project"
    project.mkdir(parents=True)
    file = project / "file.txt"
    file.write_text("0")
    return home, file, home / "log"


def settle(bench, file, log):
    """Saves until the tool is known to be watching; its initial runs have ended by then."""
    for word in range(1, 40):
        time.sleep(0.25)
        file.write_text(f"settle{word}")
        if until(lambda: any(own == f"settle{word}" for _, own in stamps(log)), 1):
            time.sleep(0.5)
            return
    raise Failed("it never ran anything")


def each(bench, result, furnish=lambda project: None, without=()):
    """Runs every tool in its own directory until it is known to be watching; yields its name, its
    process, the watched file, and its log."""
    _, file, log = begin(bench, "tools")
    for name in tools(log, file):
        if name in without:
            continue
        home, file, log = begin(bench, name)
        furnish(file.parent)
        with watched(bench, tools(log, file)[name], file.parent) as process:
            try:
                settle(bench, file, log)
            except Failed as error:
                result.note(f"{name}: {error}.")
                continue
            yield name, process, file, log
        shutil.rmtree(home)


def save_by_rename(file, word):
    beside = file.with_name(f".{file.name}.new")
    beside.write_text(word)
    beside.rename(file)


def start(bench):
    saves = bench.size(300, 5, 60)
    result = Result(
        "watch-start",
        f"From a save to the start of the first process: {saves} saves of one file, one after the other, some by renaming as editors do",
        ["tool", "p50", "p99", "not run within 10 s"],
    )
    found = {}
    if not there("watchexec"):
        result.note("watchexec is not installed here: `cargo install --locked watchexec-cli` compiles it in half an hour.")
    for name, _, file, log in each(bench, result):
        took, missed = [], 0
        for number in range(saves):
            word = f"save{number}"
            by_renaming = number % 4 == 3 and name != "entr"
            began = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            save_by_rename(file, word) if by_renaming else file.write_text(word)
            if until(lambda: last_is(log, word)):
                took.append(next(at for at, own in stamps(log) if own == word) - began)
            else:
                missed += 1
            time.sleep(bench.random.uniform(0.1, 0.3))
        if not took:
            result.note(f"{name}: no save was seen.")
            continue
        p99 = quantile(took, 0.99) / 1e9
        found[name] = {"p50": median(took) / 1e9, "p99": p99, "all": took}
        result.row(name, milliseconds(found[name]["p50"]), milliseconds(p99), missed)
    own = found.get("assay watch")
    if own:
        result.bar(Bar.at_most("p50", own["p50"], 0.003, milliseconds))
        result.bar(Bar.at_most("p99", own["p99"], 0.020, milliseconds))
    result.raw = found
    return [result]


def processes(pid):
    """Returns a process and its descendants."""
    found = [pid]
    for own in found:
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
            found += [int(child) for child in children]
    return found


def memory_of(pid):
    """Returns their memory in bytes, counting shared pages once, and their CPU time in seconds."""
    kilobytes, ticks = 0, 0
    for own in processes(pid):
        with contextlib.suppress(OSError):
            rollup = Path(f"/proc/{own}/smaps_rollup").read_text()
            kilobytes += int(rollup.split("Pss:")[1].split()[0])
            fields = Path(f"/proc/{own}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
    return kilobytes * 1024, ticks / os.sysconf("SC_CLK_TCK")


def files(bench):
    count, idle = bench.size(10_000, 200), bench.size(60, 2, 15)
    result = Result(
        "watch-files",
        f"{count} files in {count // 50} directories watched: memory, and processor time in {idle} s in which nothing happens",
        ["tool", "memory", "processor time"],
    )
    def furnish(project):
        for number in range(count):
            directory = project / f"d{number // 50}"
            directory.mkdir(exist_ok=True)
            (directory / f"f{number}.py").write_text("x = 1\n")

    own = None
    for name, process, _, _ in each(bench, result, furnish):
        time.sleep(1)
        before = memory_of(process.pid)[1]
        time.sleep(idle)
        held, after = memory_of(process.pid)
        result.row(name, mebibytes(held), milliseconds(after - before))
        result.raw[name] = {"bytes": held, "seconds": after - before}
        own = result.raw[name] if name == "assay watch" else own
    if own:
        result.bar(Bar.at_most("memory of assay watch", own["bytes"], 20 * 2**20, mebibytes))
        result.bar(Bar.at_most("its processor time when idle", own["seconds"], 0.0, milliseconds))
    return [result]


def saves(bench):
    """Makes bursts of saves in place, by renaming, and after deleting; the last run must see the
    last content of each burst."""
    count = bench.size(1000, 40, 300)
    result = Result(
        "watch-saves",
        f"{count} saves of one file in bursts, in place, by renaming, and by deleting and writing anew: bursts whose last content never ran",
        ["tool", "bursts", "last content missed", "runs"],
    )
    # entr exits when a file is deleted, or is replaced.
    for name, _, file, log in each(bench, result, without=["entr"]):
        before, bursts, missed, number = len(stamps(log)), 0, 0, 0
        while number < count:
            for _ in range(bench.random.choice([1, 2, 5, 20, 50])):
                word = f"burst{number}"
                way = bench.random.randrange(3)
                if way == 1:
                    save_by_rename(file, word)
                else:
                    if way == 2:
                        file.unlink()
                    file.write_text(word)
                number += 1
                time.sleep(bench.random.choice([0, 0, 0.001, 0.02]))
            bursts += 1
            missed += not until(lambda: last_is(log, word))
        runs = len(stamps(log)) - before
        result.row(name, bursts, missed, runs)
        result.raw[name] = {"bursts": bursts, "missed": missed, "runs": runs}
        if name == "assay watch":
            result.bar(Bar.at_most("bursts missed by assay watch", missed, 0, str))
    return [result]
