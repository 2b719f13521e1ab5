"""Defines which numbers of which results are shown in BENCHMARKS.md and in the README's table.

A row refers to cells of one result, so no number is entered by hand. Every bar of a result must be
in a row, alone or as the worst of several; a missed target cannot be omitted.
"""

import html
import re
from dataclasses import dataclass, field


# Lines of BENCHMARKS.md, and bytes of bench/results.
MOST_LINES = 300
MOST_BYTES = 5_000_000
# Peers in a row, and rows in a chart.
MOST_PEERS, MOST_DRAWN = 4, 6


class Unknown(Exception):
    """A row refers to something that a result does not have."""


@dataclass
class Row:
    """One question. `us` and `peers` identify rows of the result by their first cell or cells; a
    number identifies another column of assay's row."""

    question: str
    figure: str
    # A column by its name or number.
    column: object = None
    us: object = None
    # Names as shown, and the rows.
    peers: dict = field(default_factory=dict)
    # A pattern of the bars that belong to the row. If there are several, the one nearest to its
    # limit, or furthest beyond it, is shown.
    bars: str = None
    # A column with our ratio, and the tool that it is relative to.
    ratio: tuple = None
    # `lower` or `higher`, if no bar determines it.
    better: str = None
    # False if dividing our number by theirs, or drawing both, has no meaning.
    comparable: bool = True
    # Its position and its question in the README; `others`: the README says that others are better.
    front: tuple = None
    others: bool = False

    def shown(self, result):
        """Returns the cells: question, us, others, ours ÷ best, must reach, reached."""
        mine, others, ratio = "", "", ""
        if self.us is not None:
            mine = short(self.cell(result, self.us))
            found = self.found(result)
            others = ", ".join(f"{name}: {short(value)}" for name, value in found.items())
            ratio = self._ratio(result, mine, found)
        bars = self.bars_of(result)
        must = reached = ""
        if bars:
            worst = max(bars, key=strain)
            mine = mine or short(worst.found)
            known = any(same(worst.found, cell) for cell in (mine, ratio))
            must = worst.must + ("" if known else f" ({'worst' if len(bars) > 1 else 'found'} {plain(worst.found)})")
            reached = verdict(bars)
        return [self.question, mine, others, ratio, must, reached]

    def bars_of(self, result):
        bars = [bar for bar in result.bars if self.bars and re.match(self.bars, bar.what)]
        if self.bars and not bars:
            raise Unknown(f"{self.figure} has no bar {self.bars!r}")
        return bars

    def found(self, result):
        """Returns the best peers in the result, the best first if there are several. Peers that
        were not installed are not in it."""
        cells = {name: self.cell(result, self.us, column=key) if isinstance(key, int) else self.cell(result, key, required=False) for name, key in self.peers.items()}
        cells = {name: cell for name, cell in cells.items() if cell is not None}
        if len(cells) <= MOST_PEERS or any(amount(cell) is None for cell in cells.values()):
            return cells
        ordered = sorted(cells.items(), key=lambda own: amount(own[1]), reverse=self.is_higher_better(result))
        return dict(ordered[:MOST_PEERS])

    def cell(self, result, key, required=True, column=None):
        parts = key if isinstance(key, tuple) else (key,)
        rows = [row for row in result.rows if tuple(row[: len(parts)]) == parts]
        if not rows:
            # Counts may be part of a name; they differ with the size of the run.
            rows = [row for row in result.rows if all(cell.startswith(part) for cell, part in zip(row, parts))]
        column = self.column if column is None else column
        if isinstance(column, str):
            column = result.columns.index(column)
        if len(rows) != 1:
            if required or rows:
                raise Unknown(f"{self.figure} has {len(rows)} rows {key!r} instead of one")
            return None
        return rows[0][column]

    def _ratio(self, result, mine, found):
        if self.ratio:
            column, to = self.ratio
            return f"{self.cell(result, self.us, column=column)} × {to}"
        values = [value for value in map(amount, found.values()) if value is not None]
        own = amount(mine)
        if own is None or not values or not self.comparable:
            return ""
        best = (max if self.is_higher_better(result) else min)(values)
        if best <= 0 or own < 0:
            return ""
        return f"{own / best:.2f}" if own / best >= 0.1 else f"{own / best:.2g}"

    def is_higher_better(self, result):
        if self.better:
            return self.better == "higher"
        return any(bar.must.startswith("≥") for bar in self.bars_of(result))


@dataclass
class Area:
    title: str
    # Paths of the measured code: a table is older than the code if one of these changed after its commit.
    code: list
    rows: list

    @property
    def anchor(self):
        return re.sub(r"[^\w\- ]", "", self.title.lower()).replace(" ", "-")

    @property
    def picture(self):
        return f"docs/images/bench-{self.anchor}.svg"

    @property
    def figures(self):
        return list(dict.fromkeys(row.figure for row in self.rows))


UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "MB": 1e6, "%": 0.01}


def amount(text):
    """Returns the number that a cell begins with, in the base unit; None for words."""
    found = re.match(r"[±+]? ?(-?\d[\d,]*(?:\.\d+)?)(?: (\S+))?", text)
    return float(found[1].replace(",", "")) * UNITS.get(found[2], 1) if found else None


def short(cell):
    """Returns a share without its counts, which its interval makes unnecessary."""
    return re.sub(r"\(\d+ of \d+; ", "(", cell)


def plain(cell):
    """Returns a cell without its interval."""
    return re.sub(r" [(\[].*", "", cell)


def same(one, other):
    """Returns whether two cells show the same number, one perhaps with fewer digits or without its
    unit."""
    numbers = [re.match(r"[±+]? ?(-?\d[\d,]*(?:\.\d+)?)", cell) for cell in (one, other)]
    if not all(numbers):
        return one == other
    first, second = (float(number[1].replace(",", "")) for number in numbers)
    return abs(first - second) <= 0.006 * abs(first)


def strain(bar):
    """Returns how near a bar is to its limit, to find the worst of several; above 1, the bar is
    missed."""
    limit, found = amount(bar.must[2:]), amount(bar.found)
    if limit is None or found is None:
        return bar.reached != "yes"
    beyond = found - limit if bar.must.startswith("≤") else limit - found
    return (bar.reached == "no") * 1e6 + 1 + beyond / (abs(limit) or 1)


def verdict(bars):
    """Returns `yes`, `no` or `not beyond chance`; for several bars, also how many."""
    worst = next((word for word in ("no", "not beyond chance") if any(bar.reached == word for bar in bars)), "yes")
    if len(bars) == 1:
        return worst
    return f"{worst}: {sum(bar.reached == 'yes' for bar in bars)} of {len(bars)}"


def stats_row(task, *peers, bars=True):
    return Row(task, "stats", "median", (task, "assay"), {name: (task, name) for name in peers}, re.escape(task) + "$" if bars else None, better="lower")


def load_row(question, figure, column, key, bars, front=None, others=False, better="lower", to="wrk", peers=("wrk", "oha", "ab", "h2load", "httperf", "hey")):
    """Returns a row for load. Rates are in the second column, CPU times in the fourth; each is
    followed by its ratio."""
    return Row(question, figure, column, key, {name: name for name in peers}, bars, (column + 1, to), better, front=front, others=others)


# Before release 0.6.3, Bencher judged a new value without the error of the mean, and so did the
# tables that have the old name.
BENCHER = {"Bencher's t test": "Bencher's t test", "Bencher's t test before 0.6.3": "t test 0.99, as Bencher"}
MEASURE = ["crates/measure/src", "crates/analysis/src/engine", "crates/assay/src/bench", "crates/data/src"]
AREAS = [
    Area("Measuring a program", MEASURE, [
        Row("runs per second, relative to a loop in C", "overhead", 2, "assay", {"hyperfine 2.0": "hyperfine 2.0 (no shell)", "perf stat": "perf stat", "pyperf": "pyperf command"}, "runs per second",
            front=(4, "runs per second, relative to a loop in C")),
        Row("reported time of `/bin/true`, excess over the loop", "bias", 2, "assay", {"hyperfine 2.0": "hyperfine 2.0 (no shell)", "perf stat": "perf stat", "pyperf": "pyperf command"}, "bias", comparable=False),
        Row("peak memory reported for a program that needs about half a MiB", "memory", "reported", "assay", {"hyperfine 2.0": "hyperfine 2.0", "pyperf": "pyperf command", "GNU time": "GNU time"}, "peak memory",
            front=(5, "peak memory reported for a program that needs about half a MiB")),
        Row("total time for one run of `/bin/true`", "startup", 3, "assay", {"hyperfine 2.0": "hyperfine 2.0", "perf": "perf", "pyperf": "pyperf"}, "one run", front=(8, "total time for one run of `/bin/true`"), others=True),
        Row("time of `--version`, relative to `/bin/true`", "startup", 2, "assay", {"hyperfine 2.0": "hyperfine 2.0", "perf": "perf", "pyperf": "pyperf"}, "`assay --version`"),
        Row("memory for 10,000 runs", "scale", 2, "assay", {"hyperfine 2.0": "hyperfine 2.0", "hyperfine 1.15": "hyperfine 1.15"}, "peak memory", front=(9, "memory for 10,000 runs"), others=True),
        Row("change of the program's reported peak over those runs", "scale", bars="change of"),
        Row("bias with each option that affects a run: the worst", "options", bars="bias with"),
        Row("time of a region mark: the slower way of writing it", "marks", bars="a mark"),
        Row("spread (IQR ÷ median) next to 2 busy processes, pinned and real-time", "still", 4, ("beside 2 busy", "as it is", "pinned, fifo"), {"as it is": ("beside 2 busy", "as it is", "as it is")}, better="lower"),
        Row("false alarms at 5 % on this machine (`calibrate`), idle", "calibrate", 2, ("idle", "false alarms: assay fixed"), {"all of A, then all of B, Mann-Whitney": ("idle", "false alarms: block order (Mann-Whitney)"), "alternating": ("idle", "false alarms: alternating")}, better="lower"),
        Row("smallest difference found in 10 s on this machine, idle", "calibrate", 2, ("idle", "smallest wall difference in 10 s")),
    ]),
    Area("False and true verdicts", ["crates/analysis/src", "crates/stats/src"], [
        Row("a program compared with itself, `spin`, idle, 50 blocks: called different", "aa-recorded", 2, ("spin, idle", "assay, fixed:50"),
            {"all of A, then all of B, Welch's t": ("spin, idle", "all A then all B, Welch"), "Mann-Whitney": ("spin, idle", "all A then all B, Mann-Whitney")}, "false verdicts, spin, idle, fixed",
            front=(1, "how often is a program called different from itself (a loop of 2 ms, idle, 50 runs per side, tests at 5 %)?")),
        Row("the same, idle and busy, two programs: the worst", "aa-recorded", bars="false verdicts, .*fixed"),
        Row("the same with the default design: the worst", "aa-recorded", bars="false verdicts, .*default"),
        Row("ends with `equivalent`: the worst", "aa-recorded", bars="ends in"),
        Row("measured live, `/bin/true`, idle: called different", "aa-live", 2, ("true, idle", "assay, default"), {"hyperfine 2.0": ("true, idle", "hyperfine 2.0"), "hyperfine 1.15": ("true, idle", "hyperfine 1.15")}, "false verdicts, .*default"),
        Row("measured live, 50 blocks: the worst", "aa-live", bars="false verdicts, .*fixed"),
        Row("measured live, ends with `equivalent`: the worst", "aa-live", bars="ends in"),
        Row("a true difference of 2 % found within 100 blocks", "power", "found slower", "assay", {"on the same samples Welch's t": "Welch's t on", "Mann-Whitney": "Mann-Whitney on"}, "a true",
            front=(3, "how often is a true difference of 2 % found within 100 blocks?")),
        Row("a suite of 24 benchmarks compared with itself: called different", "suites", "share", ("assay bench, ", "false, one by one, wall"),
            {"compare.py, one executable after the other": ("compare.py: ", "false, wall"), "benchstat": ("benchstat: ", "false, wall")}, "false verdicts, one by one",
            front=(2, "the same for suites of 24 benchmarks")),
        Row("suites with any false verdict, Holm", "suites", bars="false verdicts, suites"),
        Row("a true difference of 3 % in such a suite, found within 60 s", "suites", bars="a true"),
        Row("11 benchmarks after a minute: half-width, and number answered", "suite-answers", bars="median half|answered"),
        Row("a true difference of 3 % in one of the 11, found", "suite-answers", bars="a true"),
        Row("differently linked builds of one source, called different, `--builds 5`", "layout", bars="links of"),
        Row("a true difference of 3 % found, `--builds 5`", "layout", bars="a true"),
        Row("suites of 24 linked in another order, one build per side, with a false direction: the worst", "relinked", bars="suites with"),
        Row("benchmarks that execute changed code: named", "reach", bars="benchmarks that execute"),
        Row("benchmarks that don't: named", "reach", bars="benchmarks that don't"),
        Row("planted causes that `why` names first", "why", bars="planted"),
        Row("wrong causes that it names as certain", "why", bars="wrong"),
        Row("`assay check` on libraries from registries: slowdowns by about 10 % found, and the benchmark named", "trials", bars="slowdowns"),
        Row("changes that cost nothing: alarms", "trials", bars="changes that cost"),
        Row("changes that no benchmark reaches: `not measured` said", "trials", bars="changes that no"),
        Row("from a checkout to the answer, without builds: the longest", "trials", bars="longest"),
    ]),
    Area("Statistics and files", ["crates/stats/src", "crates/ministat/src", "crates/data/src"], [
        stats_row("Hodges-Lehmann, 95 % interval, Mann-Whitney, 35,000 a side", "R"),
        stats_row("Hodges-Lehmann, 95 % interval, Mann-Whitney, 1,000,000 a side"),
        stats_row("Mann-Whitney, 1,000,000 a side", "scipy"),
        stats_row("Mann-Whitney, 10,000,000 a side", "scipy"),
        stats_row("bootstrap of the sd of 35,000, 10,000 resamples, one core", "scipy", "R"),
        stats_row("autocorrelation, 30 lags, 1,000,000 values", "R"),
        stats_row("whole process, two files of 50", "R", "scipy"),
        stats_row("whole process, report of 2 × 35,000"),
        Row("memory of the shift for 1,000,000 values per side, relative to the data", "stats", bars="peak memory"),
        Row("bootstrap with one thread and with two threads", "stats", bars="bootstrap with"),
        Row("page for the report of 2 × 35,000 values", "stats", bars="page of"),
        Row("`ministat`, 2 × 1,000,000 numbers, CPU", "ministat", "CPU", ("1,000,000", "assay ministat"), {"ministat": ("1,000,000", "ministat"), "awk, a sum": ("1,000,000", "awk, a sum")}, "CPU time"),
        Row("wall time, relative to the original `ministat`: the worst", "ministat", bars="wall time"),
        Row("peak memory, relative to the original `ministat`: the worst", "ministat", bars="peak memory"),
        Row("reading and describing a Google Benchmark file of about 100 MB", "imports", "wall", ("pretty", "assay describe"), {"python3, json.load": ("pretty", "python3")}, "a file of"),
        Row("peak memory, pretty-printed relative to compact JSON", "imports", bars="peak memory"),
        Row("CPU time of a free and a malloc while they are counted, relative to uncounted ones", "allocations", 3, ("16 … 216 B", "assay run"), {"libmemusage": ("16 … 216 B", "libmemusage"), "heaptrack": ("16 … 216 B", "heaptrack"), "valgrind --tool=dhat": ("16 … 216 B", "valgrind --tool=dhat")}, "CPU time"),
    ]),
    Area("HTTP load", ["crates/load/src", "crates/assay/src/load"], [
        load_row("CPU seconds for 100,000 requests, keep-alive, 1 KiB", "load-keep-alive", 3, "assay load", "CPU", (6, "CPU seconds for 100,000 HTTP requests")),
        load_row("requests per second over 16 connections", "load-keep-alive", 1, "assay load", "requests", (10, "maximum requests per second over 16 connections"), True, "higher"),
        load_row("connections per second, full TLS handshakes", "load-tls", 1, "assay load", "connections", better="higher", peers=("wrk", "oha", "ab", "hey")),
        load_row("CPU seconds for 100,000 such connections", "load-tls", 3, "assay load", "CPU", peers=("wrk", "oha", "ab", "hey")),
        load_row("requests per second, HTTP/2", "load-http2", 1, "assay load", "requests", better="higher", to="h2load", peers=("h2load", "oha", "hey")),
        load_row("requests per second, 16 KiB", "load-16k", 1, "assay load", "requests", better="higher", peers=("ab", "wrk", "h2load", "oha")),
        load_row("CPU seconds for 100,000 requests, 16 KiB", "load-16k", 3, "assay load", "CPU", peers=("ab", "wrk", "h2load", "oha")),
        load_row("requests per second, 1 MiB", "load-1m", 1, "assay load", "requests", better="higher", peers=("oha", "ab", "h2load", "wrk")),
        load_row("CPU seconds for 100,000 requests, 1 MiB", "load-1m", 3, "assay load", "CPU", peers=("oha", "h2load", "wrk", "ab")),
        Row("p95 in ms of a server that stalls for 1 s in every 10 s", "load-stall", "p95", "assay load", {"truth": "truth", "oha, corrected": "oha, with", "oha": "oha", "hey": "hey"}, "p95 off", comparable=False),
        Row("error of p99 and p99.9: the worst", "load-stall", bars=r"p99"),
        Row("gaps between arrivals below a tenth of the ideal gap, 5000/s", "load-pace", "gaps below a tenth", ("5000/s", "assay load"), {name: ("5000/s", name) for name in ("httperf", "oha", "hey", "h2load")}, "gaps below"),
        Row("error of the mean rate: the worst", "load-pace", bars="mean rate"),
        Row("peak memory after about 5 million requests", "load-memory", "peak memory", ("5 million", "assay load"), {"wrk": ("5 million", "wrk"), "oha": ("5 million", "oha")}, "peak memory"),
        Row("memory over 10 slices, second half relative to the first", "load-soak", bars="memory"),
        Row("p99 of lateness, worst slice relative to the median slice", "load-soak", bars="largest lateness"),
        Row("simultaneously open connections", "load-connections", bars="connections"),
        Row("share of those that were answered", "load-connections", bars="answered"),
        Row("p99 of lateness with that many", "load-connections", bars="lateness"),
        Row("a server compared with itself: runs with any false verdict", "load-aa", bars="runs with"),
        Row("five workers compared with six: right server named", "load-capacity", bars="right"),
        Row("wrong server named", "load-capacity", bars="wrong"),
    ]),
    Area("History", ["crates/history/src", "crates/analysis/src/history"], [
        Row("runs with an alarm, nothing changed", "history-quiet", 1, "assay gate", {"asv": "asv publish", **BENCHER, "+10 % to the run before": "+10 %", "otava": "otava"}, "runs with"),
        Row("a change of 5 % in 2 of 24 benchmarks, found within 3 runs, deviation 1.5 %", "history-step", 2, ("1.5 %", "assay gate"), {**{name: ("1.5 %", key) for name, key in BENCHER.items()}, "+5 % to the run before": ("1.5 %", "+5 %")}, "found within"),
        Row("false alarms per comparison in the same series", "history-step", 3, ("1.5 %", "assay gate"), {**{name: ("1.5 %", key) for name, key in BENCHER.items()}, "+5 % to the run before": ("1.5 %", "+5 %")}, "false alarms"),
        Row("position of the change within ± 2 runs", "history-step", bars="place within"),
        Row("planted changes found, F1", "history-changes", "F1", ("assay trend", "all"), {"otava": ("otava", "all"), "asv": ("asv", "all")}, "F1"),
        Row("right commit found among 100 (`bisect`)", "bisect", bars="right"),
        Row("adding one result to a store of a million", "history-scale", bars="add one"),
        Row("the append itself, per result", "history-scale", bars="append"),
        Row("`log`", "history-scale", bars="log"),
        Row("`trend`", "history-scale", bars="trend"),
        Row("size of a site of 10,000 runs of 500 benchmarks", "history-site", bars="size"),
        Row("time to first paint: the slower page", "history-site", bars="first paint"),
    ]),
    Area("Test suites", ["crates/suites/src"], [
        Row("time unaccounted for: the worst of six suites", "tests-parts", bars="unaccounted"),
        Row("sum of the parts, relative to the wall time", "tests-parts", bars="sum"),
        Row("wall time under `assay tests`, relative to the suite alone: the worst", "tests-cost", bars="without"),
        Row("the same with all causes counted", "tests-cost", bars="with all"),
        Row("a suite compared with itself: any false verdict on a test", "tests-itself", bars="suites"),
        Row("polluters named", "tests-polluter", bars="polluters"),
        Row("suite runs per search", "tests-polluter", bars="suite runs"),
        Row("`fsync` and hash cost: faster with both lengths", "tests-toggles", bars="fsync"),
        Row("verdicts that contradict the long run", "tests-toggles", bars="verdicts"),
        Row("reading JUnit XML of 100,000 tests", "tests-report", bars="wall"),
        Row("peak memory of that", "tests-report", bars="peak"),
        Row("counting lines by test in a log of 1 GB, MB/s", "tests-log", 2, "assay tests log", {"wc -l": "wc -l", "the article's script, ruby": "the article"}, "speed"),
        Row("peak memory of that", "tests-log", bars="peak"),
        Row("real projects: suites recognized", "foreign", bars="suites"),
        Row("tests, failures and skips counted as by the frameworks", "foreign", bars="counts"),
        Row("projects left unchanged; sums of times within 2 %, if judged: the worst", "foreign", bars="projects|sums"),
        Row("smallest share unaccounted for", "foreign", bars="smallest"),
        Row("edits for which `--changed` left out no failing test", "foreign", bars="edits"),
    ]),
    Area("Watching", ["crates/suites/src", "crates/assay/src/verbs/watch.rs"], [
        Row("from a save to the start of the command, p50", "watch-start", "p50", "assay watch", {name: name for name in ("inotifywait in a loop", "entr", "watchfiles")}, "p50",
            front=(7, "from a save to the start of the command, p50")),
        Row("p99", "watch-start", "p99", "assay watch", {name: name for name in ("inotifywait in a loop", "entr", "watchfiles")}, "p99"),
        Row("memory with 10,000 files", "watch-files", "memory", "assay watch", {name: name for name in ("inotifywait in a loop", "entr", "watchfiles")}, "memory"),
        Row("processor time when idle", "watch-files", bars="its processor"),
        Row("bursts of saves of which the last content was missed", "watch-saves", "last content missed", "assay watch", {name: name for name in ("watchfiles", "inotifywait in a loop")}, "bursts"),
        Row("from a save to the test's first line, Ruby", "watch-warm", "p50", ("Ruby", "assay watch"), {"guard": ("Ruby", "guard"), "cold": ("Ruby", "assay watch --cold")}, "Ruby: warm, p50"),
        Row("Rails", "watch-warm", "p50", ("Rails", "assay watch"), {"inotifywait and spring": ("Rails", "inotifywait and spring"), "cold": ("Rails", "assay watch --cold")}, "Rails: warm, p50"),
        Row("Python", "watch-warm", "p50", ("Python", "assay watch"), {"pytest-watcher": ("Python", "pytest-watcher"), "cold": ("Python", "assay watch --cold")}, "Python: warm, p50"),
        Row("warm relative to cold: the worst of the three", "watch-warm", bars=".*warm, of cold"),
        Row("the fork itself, p50: the slower language", "watch-fork", bars=".*fork itself"),
        Row("from a save to the report of a syntax error, p50: the slower language", "watch-syntax", bars=".*p50"),
        Row("failing tests found by `--changed`, lower bound", "change-recall", bars="failing"),
        Row("the same for tests that also fail alone", "change-recall", bars="the same"),
        Row("share of the suite that was run, median", "change-recall", bars="of the suite"),
        Row("cost of a first `--changed`, relative to the suite alone (Python 3.13)", "watch-recording", 3, "unittest: more-itertools, Python 3.13", {"coverage.py": 4}, "unittest: more-itertools, Python 3.13"),
        Row("the same: the worst of three", "watch-recording", bars="rspec|unittest"),
    ]),
    Area("Mutation", ["crates/mutate/src"], [
        Row("mutants per second, pytest (toolz)", "mutate-speed", "mutants/s", ("toolz (pytest)", "assay mutate"), {"mutmut": ("toolz (pytest)", "mutmut"), "pytest-gremlins": ("toolz (pytest)", "pytest-gremlins")}, r"toolz \(pytest\): mutants"),
        Row("the same, as a multiple of the faster peer", "mutate-speed", bars=".*quicker peer"),
        Row("mutants per second, rspec (kit)", "mutate-speed", bars="kit"),
        Row("mutants per second, Rust (strsim)", "mutate-compiled", "mutants/s", ("strsim (Rust)", "assay"), {"cargo-mutants": ("strsim (Rust)", "cargo-mutants"), "a build each": ("strsim (Rust)", "assay --separate-builds")}, r"strsim \(Rust\): mutants"),
        Row("the same, as a multiple of cargo-mutants", "mutate-compiled", bars="strsim.*times"),
        Row("mutants per second, C", "mutate-compiled", "mutants/s", ("text (C)", "assay"), {"a build each": ("text (C)", "assay --separate-builds")}, r"text \(C\): mutants"),
        Row("the same, as a multiple of cargo-mutants with Rust", "mutate-compiled", bars="text.*times"),
        Row("finding the mutants of 10 MB of source code", "mutate-generate", bars="time"),
        Row("a tenth of the time: intervals that contain the score", "mutate-budget", bars="intervals"),
        Row("agreement with peers", "mutate-agreement", bars="."),
        Row("results for changes to real projects, compared with running them by hand", "foreign-mutate", bars="fates"),
        Row("left behind after SIGKILL: changed projects, processes, copies, mounts", "mutate-kills", bars="."),
    ]),
    Area("Ruby, Python and profiles", ["ruby", "python", "crates/mutate/src/blocks", "crates/profiles/src"], [
        Row("a patched Ruby method, active, additional time per call", "ruby-methods", 1, "active, kept", {"the article's": "article, active"}, better="lower"),
        Row("Ruby, idle, relative to the article's active one: the worst", "ruby-methods", bars="idle"),
        Row("Ruby, active, relative to the same: the worst", "ruby-methods", bars="active"),
        Row("a patched method of Python 3.13, active, relative to an unpatched one", "python-methods", 5, "assay, active", {"cProfile": "cProfile", "decorator": "decorator, active"}, "assay, active"),
        Row("Python, idle, relative to an unpatched one: the worst version", "python-methods", bars="assay, idle"),
        Row("Ruby: 2 % more time, found (`Assay.compare`)", "ruby-blocks", "right", ("1.02 ×", "Assay.compare"), {"benchmark-ips": ("1.02 ×", "benchmark-ips")}, better="higher"),
        Row("Ruby: false differences", "ruby-blocks", bars="false"),
        Row("Python: equal loops called equal (`assay.compare`)", "python-blocks", "right", ("the same", "assay.compare"), {"pyperf's t test": ("the same", "pyperf"), "timeit, best of 5": ("the same", "timeit")}, better="higher"),
        Row("Python: 3 % less time, found", "python-blocks", "right", ("3 % less", "assay.compare"), {"timeit, best of 5": ("3 % less", "timeit"), "pyperf's t test": ("3 % less", "pyperf")}, better="higher"),
        Row("Python: false verdicts, the worst", "python-blocks", bars="false"),
        Row("assertions in the gem", "ruby-assertions", bars="."),
        Row("assertions in the package", "python-assertions", bars="."),
        Row("CPU time under `assay profile`, Ruby, relative to the program alone", "profile-overhead", 3, ("Ruby", "assay profile"), {"stackprof": ("Ruby", "sampler")}, better="lower"),
        Row("Python", "profile-overhead", 3, ("Python", "assay profile"), {"py-spy, at a tenth of the rate": ("Python", "sampler")}, better="lower"),
        Row("C", "profile-overhead", 3, ("C", "assay profile"), {"perf": ("C", "sampler")}, better="lower"),
        Row("profiles of two equal programs: any function called different", "profile-truth", bars="equal"),
        Row("a function with 10 % more work, found", "profile-truth", 3, "`numbers` has 10 % more"),
    ]),
    Area("Kills and damaged files", ["crates/analysis/src/engine", "crates/assay/src/bench", "crates/history/src", "crates/data/src"], [
        Row("SIGKILL of each verb: runs lost, processes and files left, unreadable records, panics", "kill", bars="."),
        Row("SIGKILL of a writer of the history: the same", "kill-history", bars="."),
        Row("damaged files read: panics, signals, hangs, other statuses", "damaged", bars="panics|ends|longer|other"),
        Row("largest peak memory with a damaged file", "damaged", bars="largest"),
    ]),
    Area("A farm", ["crates/farm/src"], [
        Row("many agents that each ask once per second, p99: the worse store", "farm-lease", bars="p99"),
        Row("jobs leased twice or lost", "farm-lease", bars="jobs"),
        Row("p99 of a page with millions of builds in the store: the worst", "farm-pages", bars="p99"),
        Row("CPU time of the server for a page: the worst", "farm-pages", bars="CPU"),
        Row("after SIGKILLs: jobs ended twice or never, results lost, things left", "farm-kill", bars="."),
    ]),
    Area("Packages", ["scripts/dist", "Cargo.lock"], [
        Row("size of `assay` for x86-64", "dist-build", bars="`assay` for x86"),
        Row("size of `assay` for arm64", "dist-build", bars="`assay` for arm"),
        Row("time of `make dist`, clean", "dist-build", bars="`make dist`"),
        Row("installation and first verdict, from nothing: the slowest of 8 channels", "dist-install", bars="the slowest"),
    ]),
]  # fmt: skip


def area_of(figure):
    return next(area for area in AREAS if figure in area.figures)


def forgotten(results):
    """Returns the bars that no row shows."""
    rows = [row for area in AREAS for row in area.rows]
    return [
        f"{name}: {bar.what}"
        for name, result in results.items()
        for bar in result.bars
        if not any(row.figure == name and row.bars and re.match(row.bars, bar.what) for row in rows)
    ]


HEAD = """# Benchmarks

The performance and error rates that `assay` promises, next to the tools that people use for the same question. `bench/run.py report` wrote this page from
`bench/results`, which has all peers, rounds, commands and versions; no number is typed in.

    bench/run.py show overhead       all that was measured, with the commands (the name in the last column)
    bench/run.py overhead            measures it again, on an idle machine
    make judge-yourself              five figures of the front page on your machine, with the peers that you have
    make bench                       all figures, in the standard size

`bench/run.py all` has three sizes: `--quick` only shows that everything works, the standard one is planned to take at most 90 minutes,
and `--full` takes a night. {minutes}

Tools are measured in rounds, in an order drawn anew for each round. A ratio with an interval is the median over the rounds, with the smallest and the largest;
"ours ÷ best" without an interval divides the two numbers of the row. A share has its 95 % interval; "not beyond chance" means that it missed its target by no
more than that. "The worst": of several targets, the one nearest to its limit. {missed}

The programs under test are in C (`bench/*.c`): `spin` computes for about 2.05 ms; the loop in C is `posix_spawn` and `wait4`. "Next to 2 busy processes": they
take all the processor time they get. The bench installs peers under `bench/.peers` (some by `apt-get`), and names those that it cannot get.
"""


def page(results, origins, minutes):
    """Returns BENCHMARKS.md. `origins`: for each area, the line with the origin of its numbers."""
    bars = [bar for result in results.values() for bar in result.bars]
    missed = sum(bar.reached == "no" for bar in bars)
    missed = f"Of {len(bars)} targets {missed} were missed."
    parts = [HEAD.format(minutes=minutes, missed=missed)]
    for area in AREAS:
        rows = [(row, results[row.figure]) for row in area.rows if row.figure in results]
        parts.append(f"## {area.title}\n")
        if not rows:
            parts.append("Not measured yet.\n")
            continue
        parts.append(f"![Bar chart of the figures that have peers: {area.title}]({area.picture})\n" if chart(area, results) else "")
        cells = [[*row.shown(result), f"[{row.figure}](bench/results/{row.figure}.json)"] for row, result in rows]
        parts.append(tight(["question", "assay", "others", "ours ÷ best", "must reach", "reached", "figure"], cells))
        parts.append(f"\n{origins[area.title]}\n")
    absent = [name for area in AREAS for name in area.figures if name not in results]
    if absent:
        parts.append(f"Not measured on an idle machine yet: {', '.join(absent)}.\n")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts))


def tight(columns, rows):
    """Returns a table without padding, since cells are long here."""
    head, *lines = ["| " + " | ".join(line) + " |" for line in [columns, *rows]]
    return "\n".join([head, "|" + "---|" * len(columns), *lines])


def machine(facts):
    """Returns the properties of a machine that matter for comparing figures."""
    return ", ".join([facts["cpu"], f"{facts['cpus_allowed']} CPUs", facts["memory"], *(["virtual"] if facts["virtual"] else []), facts["system"]])


def front_cells(results):
    """Returns the rows of the README by their question, if they were measured."""
    rows = sorted((row for area in AREAS for row in area.rows if row.front and row.figure in results), key=lambda row: row.front[0])
    cells = {}
    for row in rows:
        area, result = area_of(row.figure), results[row.figure]
        question = ("*others are better:* " if row.others else "") + row.front[1]
        found = {name: plain(cell) for name, cell in row.found(result).items()}
        if row.others:
            # Only those that are.
            own, higher = amount(row.cell(result, row.us)), row.is_higher_better(result)
            found = {name: cell for name, cell in found.items() if (amount(cell) > own) == higher}
        others = ", ".join(f"{name}: {cell}" for name, cell in found.items())
        cells[question] = [question, plain(row.cell(result, row.us)), others, f"[{area.title}](BENCHMARKS.md#{area.anchor})"]
    return cells


def front(results):
    """Returns the table of the README."""
    return tight(["question", "assay", "others", "measured in"], front_cells(results).values())


# Charts.

WIDTH, LABEL, VALUE, LINE = 760, 250, 130, 17
STYLE = """.page{fill:#ffffff}text{font:12px system-ui,sans-serif;fill:#1f2328}.q{font-weight:600}.us{fill:#0550ae}.peer{fill:#afb8c1}
@media (prefers-color-scheme:dark){.page{fill:#0d1117}text{fill:#e6edf3}.us{fill:#58a6ff}.peer{fill:#484f58}}"""


def chart(area, results):
    """Returns a bar chart of the first rows of an area that have peers, each row in its own scale;
    None if there are none."""
    groups = []
    for row in area.rows:
        if row.figure not in results or not row.peers or not row.comparable:
            continue
        result = results[row.figure]
        cells = {"assay": row.cell(result, row.us), **row.found(result)}
        values = {name: (amount(cell), plain(cell)) for name, cell in cells.items() if amount(cell) is not None}
        if "assay" in values and len(values) > 1:
            better = "more is better" if row.is_higher_better(result) else "less is better"
            groups.append((f"{row.question} ({better})", values))
    if not groups:
        return None
    groups = groups[:MOST_DRAWN]
    parts, y = [], 12
    for question, values in groups:
        parts.append(f'<text class="q" x="12" y="{y + 12}">{html.escape(question.replace("`", ""))}</text>')
        y += LINE + 3
        largest = max(abs(value) for value, _ in values.values()) or 1
        for name, (value, text) in values.items():
            width = max(1, abs(value) / largest * (WIDTH - LABEL - VALUE))
            kind = "us" if name == "assay" else "peer"
            parts.append(f'<text x="{LABEL - 8}" y="{y + 11}" text-anchor="end">{html.escape(name)}</text>')
            parts.append(f'<rect class="{kind}" x="{LABEL}" y="{y + 1}" width="{width:.1f}" height="{LINE - 5}"/>')
            parts.append(f'<text x="{LABEL + width + 6:.1f}" y="{y + 11}">{html.escape(text)}</text>')
            y += LINE
        y += 10
    title = f"<title>{html.escape(area.title)}: assay and its peers</title>"
    size = f'viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">', title, f"<style>{STYLE}</style>", f'<rect class="page" width="{WIDTH}" height="{y}"/>', *parts, "</svg>\n"])
