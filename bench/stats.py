"""The figure about statistics: assay compared with R and scipy, with the same tasks in one run.

Every tool generates its own data from the same distribution (lognormal, in thousandths, so that
there are ties) and times the task within its process; whole processes are timed from outside. The
order of tasks and tools is random in each round.
"""

import json
import shutil
from dataclasses import dataclass, field

from judge import median, spread
from machine import ASSAY, BUILD, HERE, ROOT, Failed, execute, say
from memory import peak
from peers import RSCRIPT, SCIPY, install_boot, there
from result import Bar, Result, ratio

EXAMPLES = ROOT / "target/release/examples"
SPEED = EXAMPLES / "speed"
PEER_R, PEER_PY = HERE / "peer_stats.R", HERE / "peer_stats.py"
US = "assay"


def seconds(value):
    """Formats with three digits, in the most readable unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= factor:
            break
    return f"{value / factor:.3g} {unit}"


@dataclass
class Task:
    """A task for every tool."""

    name: str
    # The command of each tool, and the function that reads the seconds from its output.
    commands: dict
    read: callable
    # The limit for assay, in seconds.
    bar: float
    timeout: float = 1800
    # The seconds of every tool in every round, and the reasons for failures.
    found: dict = field(default_factory=dict)
    failed: dict = field(default_factory=dict)


# A tool whose rounds of a task took more than this many seconds in total is not run again.
ENOUGH = 4


def own_seconds(stdout):
    """Returns the seconds that a tool prints on its first line."""
    return json.loads(stdout.splitlines()[0])["seconds"]


def of_floor(stdout):
    """Parses the floor program's output: the nanoseconds of every run."""
    return median([int(line) / 1e9 for line in stdout.split()])


def build():
    execute(["cargo", "build", "--release", "-p", "assay-stats", "--example", "speed"], 1800, cwd=ROOT)


def stats(bench):
    """Runs all tasks with all available tools."""
    build()
    if bench.full:
        install_boot()
    tasks = [task for make in (shifts, tests, bootstraps, correlations, processes, reports) for task in make(bench)]
    rounds = bench.size(3, 1)
    pairs = [(task, tool) for task in tasks for tool in task.commands]

    def step(_number, pair):
        task, tool = pair
        # The variation of long tasks is small compared to how much slower they are.
        if tool in task.failed or sum(task.found.get(tool, [])) > ENOUGH:
            return
        try:
            done = bench.run(task.commands[tool], timeout=task.timeout)
            taken = done.seconds if task.read is None else task.read(done.stdout)
        except (Failed, ValueError, KeyError, IndexError) as error:
            task.failed[tool] = str(error) or "it printed no time"
            say(f"failed: {task.name}: {tool}: {task.failed[tool]}")
            return
        task.found.setdefault(tool, []).append(taken)

    bench.rounds(rounds, pairs, step)
    result = Result(
        "stats",
        f"Statistics beside the peers: median of {rounds} rounds (fewer for what took over {ENOUGH} s), the order of all tasks and tools drawn again for each",
        ["task", "tool", "median", "× assay", "smallest … largest"],
    )
    for task in tasks:
        rows(result, task)
    memory(bench, result)
    threads(bench, result)
    pages(bench, result)
    result.note(
        "Times within the process, data made beforehand, sorting included; `whole process` is from its start to its end. "
        "R's `wilcox.test` gives interval and test together. "
        + ("" if bench.full else "Where R takes many minutes it is left out; `--full` asks it all the same.")
    )
    result.raw = {task.name: {"seconds": task.found, "failed": task.failed} for task in tasks}
    return [result]


def rows(result, task):
    ours = median(task.found[US]) if task.found.get(US) else None
    for tool in task.commands:
        values = task.found.get(tool)
        if not values:
            result.row(task.name, tool, "failed", "", task.failed.get(tool, ""))
            continue
        against = ratio(median(values) / ours) if ours else ""
        low, high = spread(values)
        result.row(task.name, tool, seconds(median(values)), against, f"{seconds(low)} … {seconds(high)}")
    if ours is None:
        result.bar(Bar(task.name, f"≤ {seconds(task.bar)}", "failed", "no"))
    else:
        result.bar(Bar.at_most(task.name, ours, task.bar, seconds))


def peers(ours, r=None, scipy=None):
    """Returns the commands of the requested tools that are available."""
    commands = {US: ours}
    if r is not None and there(RSCRIPT):
        commands["R"] = [RSCRIPT, "--vanilla", PEER_R, *r]
    if scipy is not None and there(SCIPY):
        commands["scipy"] = [SCIPY, PEER_PY, *scipy]
    return commands


def shifts(bench):
    """Hodges-Lehmann with its interval, and the Mann-Whitney test."""
    few, many = bench.size(35_000, 500), bench.size(1_000_000, 2_000)
    what = "Hodges-Lehmann, 95 % interval, Mann-Whitney"
    yield Task(f"{what}, {few:,} a side", peers([SPEED, "shift", few, 11], r=["shift", few]), own_seconds, 0.015)
    r = ["shift", many] if bench.full else None
    yield Task(f"{what}, {many:,} a side", peers([SPEED, "shift", many, 3], r=r), own_seconds, 0.7)


def tests(bench):
    """The Mann-Whitney test alone."""
    for count, bar in ((bench.size(1_000_000, 1_000), 0.3), (bench.size(10_000_000, 3_000), 2.5)):
        commands = peers([SPEED, "test", count], scipy=["test", count])
        yield Task(f"Mann-Whitney, {count:,} a side", commands, own_seconds, bar)


def bootstraps(bench):
    values, resamples = bench.size(35_000, 200), bench.size(10_000, 100)
    size = [values, resamples]
    commands = peers([SPEED, "bootstrap", *size, 1], r=["bootstrap", *size] if bench.full else None, scipy=["bootstrap", *size])
    yield Task(f"bootstrap of the sd of {values:,}, {resamples:,} resamples, one core", commands, own_seconds, 1.0)


def correlations(bench):
    count = bench.size(1_000_000, 1_000)
    commands = peers([SPEED, "acf", count, 5], r=["acf", count])
    yield Task(f"autocorrelation, 30 lags, {count:,} values", commands, own_seconds, 0.02)


def made_up(bench, name, count, shift):
    """Creates a file of synthetic data, the same every time."""
    path = bench.scratch / name
    if not path.exists():
        distribution = f"{shift} + lognormal(5, 0.2)"
        bench.run([ASSAY, "simulate", "-n", count, "--distribution", distribution, "--step", "0.001", "--seed", shift, "--out", path], timeout=60)
    return path


def processes(bench):
    """Compares two small files, timed from the start of the process to its end."""
    count = bench.size(20, 2)
    a, b = made_up(bench, "a.txt", 50, 1), made_up(bench, "b.txt", 50, 2)

    def timed(argv):
        return [BUILD / "floor", count, *argv]

    commands = {US: timed([ASSAY, "compare", a, b])}
    if there(RSCRIPT):
        code = f"x <- scan('{a}', quiet = TRUE, comment.char = '#'); y <- scan('{b}', quiet = TRUE, comment.char = '#'); print(wilcox.test(y, x, conf.int = TRUE))"
        commands["R"] = timed([shutil.which(RSCRIPT), "--vanilla", "-e", code])
    if there(SCIPY):
        code = f"import numpy, scipy.stats; print(scipy.stats.mannwhitneyu(numpy.loadtxt('{b}'), numpy.loadtxt('{a}')))"
        commands["scipy"] = timed([SCIPY, "-c", code])
    yield Task("whole process, two files of 50", commands, of_floor, 0.005)


def report_command(bench):
    count = bench.size(35_000, 300)
    a, b = made_up(bench, "long-a.txt", count, 1), made_up(bench, "long-b.txt", count, 2)
    return count, [ASSAY, "compare", "--quiet", "--report", bench.scratch / "out.html", a, b]


def reports(bench):
    count, command = report_command(bench)
    yield Task(f"whole process, report of 2 × {count:,}", {US: command}, None, 1.0)


def pages(bench, result):
    """Checks the size of the page that the report's task wrote."""
    page = bench.scratch / "out.html"
    if page.exists():
        result.bar(Bar.at_most("page of that report", page.stat().st_size, 2e6, lambda size: f"{size / 1e6:.2f} MB"))
    else:
        result.bar(Bar("page of that report", "≤ 2.00 MB", "not written", "no"))


def memory(bench, result):
    """Compares peak memory of the largest shift with the size of its data."""
    count = bench.size(1_000_000, 2_000)
    data = 2 * 8 * count
    used = peak(bench, [SPEED, "shift", count])
    what = f"peak memory of the shift at {count:,} a side, process and data, against the data's {data / 1e6:.0f} MB"
    result.bar(Bar.at_most(what, used / data, 3.0, ratio))


def threads(bench, result):
    """Checks that one core and two give the same digits."""
    size = [bench.size(35_000, 200), bench.size(10_000, 100)]

    def error(threads):
        printed = bench.run([SPEED, "bootstrap", *size, threads], timeout=600).stdout
        return json.loads(printed)["result"]

    same = error(1) == error(2)
    result.bar(Bar("bootstrap with one thread and with two", "same digits", "same" if same else "different", "yes" if same else "no"))
