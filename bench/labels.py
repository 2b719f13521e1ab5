"""The figures about verdicts: how often a program is called different from itself, and how often a true 2 % is found.

Assay's verdicts are read from its own JSON. They are compared with the tests that people apply to
the records of the peers, on the same series or in the same minutes.
"""

import csv
import json
import re
import shlex

from judge import mann_whitney_p, median, signed_rank_p, welch_p
from machine import ASSAY, BUILD, LABEL_SERIES, say, spin_counts
from peers import HYPERFINE_1, HYPERFINE_2, hyperfine_times, there
from result import Bar, Result, Share, percent

# The label of each condition, and its number of busy processes.
CONDITIONS = [("idle", 0), ("beside 2 busy", 2)]
DESIGNS = [("fixed 50 blocks", ["--runs", "50"]), ("default stop", [])]
LEVEL = 0.05
MOST_FALSE = 0.05
BLOCKS = 50


def _programs():
    count, _ = spin_counts()
    return {"spin": shlex.join([str(BUILD / "spin"), count]), "true": "/bin/true"}


def aa_recorded(bench):
    """Records long series of one program, then labels them many times as an experiment would
    have."""
    runs = bench.size(20_000, 2_500)
    fixed, default = bench.size(100_000, 200), bench.size(2_000, 40)
    result = Result(
        "aa-recorded",
        f"A program against itself: labels put on recorded series of {runs} successive runs; `faster` and `slower` are false, "
        "also where they are qualified",
        ["series", "how it is judged", "false `faster`/`slower`", "`equivalent`", "blocks, median"],
    )
    result.note(
        "The first two rows of every series are assay's own experiment. The others show what order costs: the peers' way "
        "(all of A, then all of B) and strict alternation, 50 runs each, tested at 5 %; their comparisons overlap, so they "
        "carry no interval."
    )
    programs = _programs()
    for condition, busy in CONDITIONS:
        for name, program in programs.items():
            where = bench.results / "series"
            where.mkdir(parents=True, exist_ok=True)
            path = where / f"{name}-{condition.replace(' ', '-')}.assay"
            path.unlink(missing_ok=True)
            say(f"  recording {name}, {condition}")
            limit = 60 + runs * 0.05
            with bench.neighbours(busy, limit):
                argv = [ASSAY, "run", "--runs", runs, "--quiet", "--save", path, program]
                bench.run(argv, timeout=limit)
            series = f"{name}, {condition}"
            _assays_way(bench, result, series, path, condition, [("fixed:50", fixed), ("default", default)])
            _peers_ways(bench, result, series, path)
    return [result]


def _assays_way(bench, result, series, path, condition, designs):
    for design, comparisons in designs:
        argv = [LABEL_SERIES, "--design", design, "--comparisons", comparisons, "--seed", bench.random.randrange(2**32), path]
        found = json.loads(bench.run(argv, timeout=1200).stdout)
        false = Share(found["faster"] + found["slower"], comparisons)
        equivalent = Share(found["equivalent"], comparisons)
        result.row(series, f"assay, {design}", false, percent(equivalent.value), found["median_blocks"])
        result.bar(Bar.share_at_most(f"false verdicts, {series}, {design}", false, MOST_FALSE))
        if design == "default" and condition == "idle":
            result.bar(Bar.share_at_least(f"ends in `equivalent`, {series}", equivalent, 0.90))
        result.raw.setdefault("assay", []).append({"series": series, **found})


def _peers_ways(bench, result, series, path):
    """Judges block order and strict alternation on the same series, as people judge them."""
    walls = _walls(path)
    comparisons = bench.size(1_000, 200)
    hits = {}
    for _ in range(comparisons):
        begin = bench.random.randrange(len(walls) - 2 * BLOCKS + 1)
        taken = walls[begin : begin + 2 * BLOCKS]
        halves, alternating = (taken[:BLOCKS], taken[BLOCKS:]), (taken[::2], taken[1::2])
        for how, p in [
            ("all A then all B, Welch", welch_p(*halves)),
            ("all A then all B, Mann-Whitney", mann_whitney_p(*halves)),
            ("strict ABAB, Welch", welch_p(*alternating)),
            ("strict ABAB, Mann-Whitney", mann_whitney_p(*alternating)),
            ("strict ABAB, signed rank", signed_rank_p(*alternating)),
        ]:
            hits[how] = hits.get(how, 0) + (p < LEVEL)
    for how, count in hits.items():
        result.row(series, how, percent(count / comparisons), "", "")
    result.raw.setdefault("order", []).append({"series": series, "comparisons": comparisons, "false": hits})


def _walls(path):
    with path.open() as lines:
        records = (json.loads(line) for line in lines if line.startswith('{"kind":"obs"'))
        return [record["values"]["wall"] for record in records]


def aa_live(bench):
    """Repeatedly compares a program with itself in real runs, alternately with hyperfine in the
    same minutes."""
    result = Result(
        "aa-live",
        "A program against itself, live: the whole tool is run anew each time, the order of the tools drawn for each round",
        ["program", "what is run", "says different", "`equivalent`", "Welch on its samples", "Mann-Whitney", "blocks, median"],
    )
    result.note(
        "\"Says different\" is `faster` or `slower`, qualified or not; for hyperfine 2.0 that it prints \"x faster\" or "
        "\"x slower\" (from 30 % on), for 1.15 that its printed ratio is farther from 1 than its own ±."
    )
    programs = _programs()
    for condition, busy in CONDITIONS:
        rounds = bench.size(40, 2, 12)
        for name, program in programs.items():
            series = f"{name}, {condition}"
            say(f"  live {series}")
            attempts = [Live(f"assay, {design}", options) for design, options in DESIGNS]
            attempts += [Live(f"hyperfine {v}, 50 runs each", None, path) for v, path in HYPERFINES if there(path)]
            with bench.neighbours(busy, 3600):
                bench.rounds(rounds, attempts, lambda _number, live: live.attempt(bench, program))
            for live in attempts:
                live.tell(result, series, condition)
    return [result]


HYPERFINES = [("2.0", HYPERFINE_2), ("1.15", HYPERFINE_1)]


class Live:
    """One way of comparing a program with itself, and its results so far."""

    def __init__(self, name, options, hyperfine=None):
        self.name, self.options, self.hyperfine = name, options, hyperfine
        self.verdicts, self.blocks, self.welch, self.mann_whitney = [], [], 0, 0

    def attempt(self, bench, program):
        if self.hyperfine:
            self._hyperfine(bench, program, bench.scratch / "times.json")
        else:
            self._assay(bench, program, bench.scratch / "live.samples.csv")

    def _assay(self, bench, program, samples):
        argv = [ASSAY, "run", "--json", "--no-save", "--export", samples, *self.options, program, program]
        found = json.loads(bench.run(argv, timeout=120).stdout)
        self.verdicts.append(found["verdict"])
        self.blocks.append(found["blocks"])
        self._test(*read_samples(samples).values())

    def _hyperfine(self, bench, program, out):
        argv = [self.hyperfine, "-N", "--runs", BLOCKS, "--export-json", out, program, program]
        done = bench.run(argv, timeout=120)
        self.verdicts.append("different" if claims_difference(done.stdout) else "")
        self.blocks.append(BLOCKS)
        self._test(*hyperfine_times(out))

    def _test(self, first, second):
        self.welch += welch_p(first, second) < LEVEL
        self.mann_whitney += mann_whitney_p(first, second) < LEVEL

    def tell(self, result, series, condition):
        of = len(self.verdicts)
        false = Share(sum(v in ("faster", "slower", "different") for v in self.verdicts), of)
        equivalent = Share(self.verdicts.count("equivalent"), of)
        tests = [percent(hits / of) for hits in (self.welch, self.mann_whitney)]
        # These tests are not part of assay: after a data-dependent stop they would not even be
        # valid.
        tests = tests if self.options != [] else ["", ""]
        cannot = "it has no such answer"
        result.row(
            series, self.name, false, cannot if self.hyperfine else percent(equivalent.value), *tests, f"{median(self.blocks):.0f}"
        )
        result.raw.setdefault("verdicts", []).append(
            {"series": series, "what": self.name, "verdicts": self.verdicts, "blocks": self.blocks}
        )
        if self.hyperfine:
            return
        result.bar(Bar.share_at_most(f"false verdicts, {series}, {self.name}", false, MOST_FALSE))
        if self.options == [] and condition == "idle":
            result.bar(Bar.share_at_least(f"ends in `equivalent`, {series}", equivalent, 0.90))


def claims_difference(text):
    """Returns whether hyperfine's screen says that two programs differ; 2.0 prints a factor, 1.15 a
    ratio with its ±."""
    if re.search(r"\d+(\.\d+)?x (faster|slower)", text):
        return True
    found = re.search(r"([\d.]+) ± ([\d.]+) times faster", text)
    return bool(found) and float(found[1]) - float(found[2]) > 1


def read_samples(path):
    """Returns wall times by subject from the table that `--export FILE.samples.csv` writes, whose
    rows follow the random order."""
    columns = {}
    with path.open() as lines:
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            columns.setdefault(row["subject"], []).append(float(row["wall_s"]))
    return columns


def power(bench):
    """Measures how often a program that does exactly 2 % more work is found slower within 100
    blocks."""
    blocks, experiments = 100, bench.size(200, 3, 80)
    base, more = spin_counts()
    result = Result(
        "power",
        f"A true +2 % of work on a CPU-bound program of about 2 ms, idle: {experiments} experiments of {blocks} blocks",
        ["judged by", "found slower", "of all, beyond the 1 % threshold too", "said faster"],
    )
    tally = {"assay": [], "welch": 0, "mann_whitney": 0}
    ratios, walls = [], []

    def step(_number, _experiment):
        samples = bench.scratch / "power.samples.csv"
        argv = [ASSAY, "run", "--json", "--no-save", "--runs", blocks, "--export", samples, "-n", "base", "-n", "more"]
        argv += [shlex.join([str(BUILD / "spin"), count]) for count in (base, more)]
        found = json.loads(bench.run(argv, timeout=120).stdout)
        comparison = found["comparisons"][0]
        tally["assay"].append((comparison["verdict"], comparison["possibly_below_threshold"]))
        ratios.append(comparison["ratio"]["estimate"])
        taken = read_samples(samples)
        first, second = taken["base"], taken["more"]
        walls.extend(first)
        slower = sum(second) > sum(first)
        tally["welch"] += slower and welch_p(first, second) < LEVEL
        tally["mann_whitney"] += slower and mann_whitney_p(first, second) < LEVEL

    bench.rounds(experiments, ["experiment"], step)
    verdicts = tally["assay"]
    found = Share(sum(v == "slower" for v, _ in verdicts), experiments)
    clear = sum(v == "slower" and not possibly for v, possibly in verdicts)
    wrong = sum(v == "faster" for v, _ in verdicts)
    result.row("assay", found, percent(clear / experiments), wrong)
    result.row("Welch's t on the same samples, 5 %", Share(tally["welch"], experiments), "", "")
    result.row("Mann-Whitney on the same samples, 5 %", Share(tally["mann_whitney"], experiments), "", "")
    result.note(
        f"The whole program takes {median(walls) * 1e3:.2f} ms, start and end included, so that 2 % more work showed as "
        f"{(median(ratios) - 1) * 100:+.2f} % of wall time (median of the estimates)."
    )
    result.bar(Bar.share_at_least("a true +2 % found within 100 blocks", found, 0.95))
    result.raw = {"verdicts": verdicts, "ratios": ratios, "welch": tally["welch"], "mann_whitney": tally["mann_whitney"]}
    return [result]
