"""The figures about a history: how often a gate fails although nothing changed, whether it detects
real changes, whether changes are located correctly, and whether a store of a million results is
still fast. asv, Otava and the rules of other services judge the same runs.
"""

import itertools
import json
import math
import shutil
import statistics
import subprocess

import peers
from judge import median, prediction_p, spread
from machine import ASSAY, HERE, Failed, execute, say, version_of
from result import Bar, Result, Share, milliseconds, percent

PYTHON = peers.HOME / "changes/bin/python"
PACKAGES = ["apache-otava==0.8.0", "asv==0.6.6"]
# Number of runs before the first gate, which needs some to determine the normal range.
FIRST = 30
# The 24 benchmarks of a recorded run; each takes a few milliseconds.
PROGRAMS = {
    "sort": "sort {text}", "sort-n": "sort -n {text}", "sort-r": "sort -r {text}", "uniq": "uniq {text}", "wc": "wc {text}", "wc-l": "wc -l {text}",
    "cat": "cat {text}", "tac": "tac {text}", "rev": "rev {text}", "cut": "cut -c 1-20 {text}", "head": "head -n 4000 {text}",
    "nl": "nl {text}", "md5": "md5sum {text}", "sha1": "sha1sum {text}", "sha256": "sha256sum {text}", "sha512": "sha512sum {text}",
    "cksum": "cksum {text}", "base64": "base64 {text}", "od": "od -An -tx1 -N 40000 {text}", "grep": "grep -c a {text}", "sed": "sed s/a/b/g {text}",
    "awk": "awk {{n+=NF}} {text}", "gzip": "gzip -1 -c {text}", "seq": "seq 100000",
}  # fmt: skip


def install():
    """Installs asv and Otava in their own environment; returns (versions, missing)."""
    if not PYTHON.exists():
        say("installing asv and Otava")
        try:
            execute(["python3", "-m", "venv", str(PYTHON.parent.parent)], 120)
            execute([str(PYTHON), "-m", "pip", "install", "--quiet", *PACKAGES], 900)
        except Failed as error:
            shutil.rmtree(PYTHON.parent.parent, ignore_errors=True)
            return [], {"asv, otava": str(error)}
    return [package.replace("==", " ") for package in PACKAGES], {}


def with_peers(result):
    versions, missing = install()
    if versions:
        result.note(f"Peers: {', '.join(versions)}.")
    for name, why in missing.items():
        result.note(f"Missing: {name}: {why}.")
    return result


def ask_peers(series, prefixes_from=None):
    """Returns the verdicts of asv and Otava on series; nothing if they are not installed."""
    _, missing = install()
    if missing:
        return {}
    asked = json.dumps({"series": series, "prefixes_from": prefixes_from})
    try:
        done = subprocess.run(
            [str(PYTHON), str(HERE / "change_peers.py")], input=asked, capture_output=True, text=True, timeout=3600, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise Failed(f"asv and Otava: {error} {getattr(error, 'stderr', '') or ''}"[-400:]) from error
    return json.loads(done.stdout)


# Rules of other services. Each decides from the previous values, the newest last, and the new one
# whether to raise an alarm.


def beyond_ten_percent(before, new):
    """A fixed threshold relative to the previous run, the usual configuration of
    github-action-benchmark (its default is 200 %)."""
    return new > 1.10 * before[-1]


def beyond_five_percent(before, new):
    """The same with 5 %."""
    return new > 1.05 * before[-1]


def t_test_of_runs(before, new):
    """Bencher's t test since 0.6.3, with its tutorial's upper boundary of 0.99, over at most 64
    runs."""
    return prediction_p(before[-64:], new) < 0.01


RULES = {"+10 % to the run before": beyond_ten_percent, "+5 % to the run before": beyond_five_percent, "Bencher's t test, 0.99": t_test_of_runs}


def by_rules(series, begin):
    """Returns, for every rule and series, whether each run from `begin` on is an alarm."""
    return {
        name: [[rule(values[:i], values[i]) for i in range(begin, len(values))] for values in series] for name, rule in RULES.items()
    }


class Store:
    """A separate store, and queries of it."""

    def __init__(self, bench, name):
        self.bench = bench
        self.place = bench.scratch / name
        self.place.mkdir()
        self.options = ["--store", str(self.place / "history.db"), "--project", "bench"]

    def ask(self, *words, ok=(0,), timeout=600):
        """Starts assay. Of thousands of command lines that differ only in a number, records the
        first."""
        # For measuring, the project is named in `--keep`.
        options = self.options[:2] if words[0] == "run" else self.options
        argv = [str(part) for part in (ASSAY, *words, *options)]
        alike = self.bench.shown(argv[: 3 if words[0] == "history" else 2]) + " "
        if any(line.startswith(alike) for line in self.bench.commands):
            return execute(argv, timeout, ok)
        return self.bench.run(argv, timeout, ok)

    def add(self, number, values, within):
        """Returns a run of Google's harness: for each benchmark, this number of repetitions around
        its value."""
        path = self.place / f"run-{number:05}.json"
        path.write_text(json.dumps(google(number, values, within)))
        self.ask("history", "add", "--machine", "m", "-q", path)
        return path

    def add_all(self, levels):
        """Adds runs of one repetition each, many files at a time: `levels` has those of each
        run."""
        paths = []
        # The first file separately, since its command line is recorded.
        for number, values in enumerate(itertools.chain(levels, [None])):
            if len(paths) == 50 or number == 1 or values is None:
                self.ask("history", "add", "--machine", "m", "-q", *paths, timeout=3600)
                for path in paths:
                    path.unlink()
                paths = []
                say(f"\r  run {number} ", end="")
            if values is not None:
                paths.append(self.place / f"run-{number:05}.json")
                paths[-1].write_text(json.dumps(google(number, values, [[1.0]] * len(values))))
        say("")

    def gate(self):
        """Returns the standings of the last run, by benchmark."""
        done = self.ask("gate", "--machine", "m", "--json", "--all", "-q", ok=(0, 1, 3))
        return {judged["benchmark"]: judged["standing"] for judged in json.loads(done.stdout)["benchmarks"]}

    def changes(self, benchmark):
        done = self.ask("history", "trend", benchmark, "--json", "-q")
        return [change["index"] for change in json.loads(done.stdout)["trends"][0]["changes"]]


def google(number, values, within):
    """Returns the file of one run: `values[name]` is its level in ns, `within` has the repetitions
    as factors."""
    rows = [
        {
            "name": name, "run_name": name, "run_type": "iteration", "repetitions": len(factors), "repetition_index": i, "threads": 1,
            "iterations": 100, "real_time": level * factor, "cpu_time": level * factor, "time_unit": "ns",
        }
        for (name, level), factors in zip(values.items(), within)
        for i, factor in enumerate(factors)
    ]  # fmt: skip
    day, minute = divmod(number, 1440)
    month, day = divmod(day, 28)
    date = f"2024-{month + 1:02}-{day + 1:02}T{minute // 60:02}:{minute % 60:02}:00+00:00"
    return {"context": {"date": date, "host_name": "h", "executable": "bm", "num_cpus": 2, "mhz_per_cpu": 2000, "caches": []}, "benchmarks": rows}


def quiet(bench):
    """Measures runs of the same programs one after the other: any alarm is a false one."""
    runs = bench.size(200, FIRST + 3)
    text = bench.scratch / "text"
    text.write_text("".join(f"{bench.random.randrange(10**9)} {'lorem ipsum dolor sit amet'[: bench.random.randrange(26)]}\n" for _ in range(8000)))
    store = Store(bench, "quiet")
    names = list(PROGRAMS)
    words = []
    for name in names:
        words += ["-n", name]
    words += [PROGRAMS[name].format(text=text) for name in names]
    alarms, series, red = {name: 0 for name in names}, [[] for _ in names], 0
    for number in range(runs):
        done = store.ask("run", "--keep=bench", "--machine", "m", "--no-save", "--json", "-q", "--runs", 10, "--warmup", 1, *words, ok=(0, 1, 3))
        said = {of["name"]: of["metrics"]["wall"]["median"] for of in json.loads(done.stdout)["descriptions"]}
        for values, name in zip(series, names):
            values.append(said[name])
        if number >= FIRST:
            worse = [name for name, standing in store.gate().items() if standing == "worse"]
            red += bool(worse)
            for name in worse:
                alarms[name] += 1
        say(f"\r  run {number + 1} of {runs} ", end="")
    say("")
    judged = runs - FIRST
    result = Result(
        "history-quiet",
        f"{runs} recorded runs of {len(names)} commands, 10 times each, nothing changed; the last {judged} held against those before",
        ["rule", "runs with an alarm", "alarms per benchmark and run"],
    )
    of_runs = Share(red, judged)
    result.row("assay gate", of_runs, Share(sum(alarms.values()), judged * len(names)))
    others = {**by_rules(series, FIRST), **ask_peers(series, FIRST)}
    for name, said in others.items():
        with_any = sum(any(column) for column in zip(*said))
        result.row(name, Share(with_any, judged), Share(sum(map(sum, said)), judged * len(names)))
    result.bar(Bar.share_at_most("runs with an alarm", of_runs, 0.05))
    deviations = [statistics.stdev(map(math.log, values)) for values in series]
    low, high = spread(deviations)
    result.note(f"Standard deviation between runs: {percent(median(deviations))} (from {percent(low)} to {percent(high)}).")
    result.raw = {"series": dict(zip(names, series))}
    return [with_peers(result)]


def level(random, deviation):
    """Returns the deviation of a run: normal, and three times as large for every twentieth, as
    after a reboot or next to a busy process."""
    return random.gauss(0, deviation * (3 if random.random() < 0.05 else 1))


def steps(bench):
    """Simulates sets of 24 benchmarks, two of which become 5 % slower at some run."""
    count, benchmarks, before, after = 24, 24, 60, 10
    result = Result(
        "history-step",
        f"Simulated runs of {benchmarks} benchmarks of 5 repetitions; at run {before} two become 5 % slower. Every twentieth run of a benchmark "
        "differs three times as much as others",
        ["deviation between runs", "rule", "found within 3 runs", "false alarms per benchmark and run", "place within ± 2", "a place elsewhere"],
    )
    worlds = bench.size(100, 2, 10)
    for deviation in (0.01, 0.015, 0.02):
        found, false, placed, elsewhere = {}, {}, {}, {}
        series, moved = [], []
        for world in range(worlds):
            store = Store(bench, f"step-{deviation}-{world}")
            names = [f"BM_{i}" for i in range(count)]
            hit = set(bench.random.sample(range(count), 2))
            own = [[] for _ in names]
            seen = {i: False for i in hit}
            for number in range(before + after):
                levels = {}
                for i, name in enumerate(names):
                    moved_by = math.log(1.05) if i in hit and number >= before else 0.0
                    levels[name] = 1000 * (1 + i) * math.exp(moved_by + level(bench.random, deviation))
                within = [[math.exp(bench.random.gauss(0, 0.01)) for _ in range(5)] for _ in names]
                store.add(number, levels, within)
                for i, name in enumerate(names):
                    own[i].append(levels[name] * median(within[i]))
                if before - 10 <= number < before + 3:
                    for name, standing in store.gate().items():
                        i = names.index(name)
                        if standing != "worse":
                            continue
                        if i in hit and number >= before:
                            seen[i] = True
                        else:
                            false["assay gate"] = false.get("assay gate", 0) + 1
            found["assay gate"] = found.get("assay gate", 0) + sum(seen.values())
            for i in sorted(hit):
                places = store.changes(names[i])
                placed["assay trend"] = placed.get("assay trend", 0) + any(abs(p - before) <= 2 for p in places)
                elsewhere["assay trend"] = elsewhere.get("assay trend", 0) + any(abs(p - before) > 2 for p in places)
                series.append(own[i])
            moved += [(i in hit, values) for i, values in enumerate(own)]
            shutil.rmtree(store.place)
            say(f"\r  {percent(deviation)}: world {world + 1} of {worlds} ", end="")
        say("")
        changed = 2 * worlds
        quiet_looks = worlds * (benchmarks * 13 - 2 * 3)
        others = {**by_rules([values[: before + 3] for _, values in moved], before - 10)}
        others |= ask_peers([values[: before + 3] for _, values in moved], before - 10)
        for name, said in others.items():
            found[name] = sum(any(looks[10:13]) for looks, (is_hit, _) in zip(said, moved) if is_hit)
            false[name] = sum(sum(looks[:10] if is_hit else looks) for looks, (is_hit, _) in zip(said, moved))
        for name, said in ask_peers(series).items():
            placed[name] = sum(any(abs(p - before) <= 2 for p in places) for places in said)
            elsewhere[name] = sum(any(abs(p - before) > 2 for p in places) for places in said)
        for name in found:
            result.row(percent(deviation), name, Share(found[name], changed), Share(false.get(name, 0), quiet_looks), "", "")
        for name in placed:
            result.row(percent(deviation), name, "", "", Share(placed[name], changed), Share(elsewhere[name], changed))
        if deviation == 0.015:
            result.bar(Bar.share_at_least("found within 3 runs, at 1.5 %", Share(found["assay gate"], changed), 0.90))
            result.bar(Bar.share_at_most("false alarms per comparison, at 1.5 %", Share(false.get("assay gate", 0), quiet_looks), 0.01))
            result.bar(Bar.share_at_least("place within ± 2, at 1.5 %", Share(placed["assay trend"], changed), 0.90))
    return [with_peers(result)]


# The noise between runs of one level, as a share: each function receives the generator and the
# deviation of the previous run.
NOISE = {
    "normal": lambda random, last: random.gauss(0, 0.015),
    "two modes": lambda random, last: random.gauss(0, 0.008) + (0.03 if random.random() < 0.3 else 0),
    "outliers": lambda random, last: random.gauss(0, 0.012) + (random.expovariate(10) if random.random() < 0.04 else 0),
    "dependent": lambda random, last: 0.4 * last + random.gauss(0, 0.0137),
}
# Number of runs in a series with known changes.
LENGTH = 200


def planted(random, noise):
    """Returns a series around 1000 with such noise, and the positions of changes of 2 to 15 % in
    it: at least 20 runs apart, 50 on average."""
    places, place = [], 0
    while True:
        place += 20 + int(random.expovariate(1 / 30))
        if place > len(noise) - 20:
            break
        places.append(place)
    at, values = 0.0, []
    for run, differs in enumerate(noise):
        if run in places:
            at += random.choice((-1, 1)) * math.exp(random.uniform(math.log(0.02), math.log(0.15)))
        values.append(1000 * math.exp(at + differs))
    return values, places


def drawn(random, kind):
    """Returns the noise of a simulated series."""
    noise, last = [], 0.0
    for _ in range(LENGTH):
        last = NOISE[kind](random, last)
        noise.append(last)
    return noise


def recorded(results):
    """Returns the noise of the runs that `history-quiet` has recorded, if it was measured; nothing
    changed in these runs."""
    path = results / "history-quiet.json"
    series = Result.load(path).raw.get("series", {}).values() if path.exists() else []
    return [[math.log(value / median(values)) for value in values[:LENGTH]] for values in series if len(values) >= LENGTH]


def changes(bench):
    """Tests series with known changes, and counts what is found."""
    number = bench.size(300, 10)
    noises = [(kind, drawn(bench.random, kind)) for kind in itertools.islice(itertools.cycle(NOISE), number)]
    noises += [("recorded", noise) for noise in recorded(bench.results) for _ in range(3)]
    planted_in = [planted(bench.random, noise) for _, noise in noises]
    series, truths = [values for values, _ in planted_in], [places for _, places in planted_in]
    store = Store(bench, "changes")
    names = [f"S{i}" for i in range(len(series))]
    store.add_all({name: values[run] for name, values in zip(names, series)} for run in range(LENGTH))
    said = {"assay trend": [store.changes(name) for name in names], **ask_peers(series)}
    result = Result(
        "history-changes",
        f"{len(series)} series of {LENGTH} runs with planted changes of 2 to 15 %, by their noise, deviation 1.5 %; a place counts within ± 3 runs",
        ["program", "noise", "precision", "recall", "F1"],
    )
    scores = {}
    kinds = list(dict.fromkeys(kind for kind, _ in noises))
    for name, found in said.items():
        for kind in [*kinds, "all"]:
            chosen = [i for i, (own, _) in enumerate(noises) if kind in (own, "all")]
            hits = sum(matched(truths[i], found[i]) for i in chosen)
            told, true = sum(len(found[i]) for i in chosen), sum(len(truths[i]) for i in chosen)
            precision, recall = hits / max(1, told), hits / max(1, true)
            score = 2 * hits / max(1, told + true)
            result.row(name, kind, f"{precision:.3f}", f"{recall:.3f}", f"{score:.3f}")
            if kind == "all":
                scores[name] = score
    best = max((score for name, score in scores.items() if name != "assay trend"), default=0.0)
    result.bar(Bar.at_least("F1 beside the best peer's", scores["assay trend"], best, lambda value: f"{value:.3f}"))
    if "recorded" in kinds:
        result.note("Recorded: the runs of `history-quiet`, in which nothing changed, three times each with changes planted in them.")
    result.note("No published series of benchmarks with known truth, and a licence and size that let them be used here, were found.")
    return [with_peers(result)]


def matched(truth, found):
    """Returns the number of true positions that were found; each found position counts for one."""
    left, hits = list(found), 0
    for place in truth:
        near = min(left, key=lambda other: abs(other - place), default=None)
        if near is not None and abs(near - place) <= 3:
            left.remove(near)
            hits += 1
    return hits


def scale(bench):
    """Measures a store of a million results."""
    benchmarks, runs = 500, bench.size(1000, 10)
    store = Store(bench, "scale")
    names = [f"BM_{i}" for i in range(benchmarks)]
    store.add_all({name: 1000 * (1 + i) * math.exp(level(bench.random, 0.01)) for i, name in enumerate(names)} for _ in range(runs))
    results = runs * benchmarks * 2
    size = (store.place / "history.db").stat().st_size
    times = {"start": [], "add one": [], "add all": [], "log": [], "trend": [], "gate": []}

    def timed(name, words, ok=(0,)):
        times[name].append(store.ask(*words, ok=ok).seconds)

    for round_number in range(bench.size(21, 3)):
        number = runs + 2 * round_number
        one, all_ = store.place / "one.json", store.place / "all.json"
        one.write_text(json.dumps(google(number, {names[0]: 1000.0 + round_number}, [[1.0]])))
        all_.write_text(json.dumps(google(number + 1, {name: 1000.0 + round_number for name in names}, [[1.0]] * benchmarks)))
        timed("add one", ["history", "add", "--machine", "m", "-q", one])
        timed("add all", ["history", "add", "--machine", "m", "-q", all_])
        timed("log", ["history", "log", "--json"])
        timed("trend", ["history", "trend", names[7], "--metric", "wall", "--json", "-q"])
        timed("gate", ["gate", "--machine", "m", "--json", "-q"], ok=(0, 1, 3))
        began = execute([str(ASSAY), "--version"], 60).seconds
        times["start"].append(began)
    result = Result(
        "history-scale",
        f"A store of {results:,} results ({runs:,} runs of {benchmarks} benchmarks, 2 metrics; {size / 2**20:.0f} MiB), SQLite; each command from its start to its end",
        ["command", "median", "from", "to"],
    )
    for name, seconds in times.items():
        low, high = spread(seconds)
        result.row(name, milliseconds(median(seconds)), milliseconds(low), milliseconds(high))
    each = (median(times["add all"]) - median(times["add one"])) / (2 * (benchmarks - 1))
    result.bar(Bar.at_most("add one result", median(times["add one"]), 0.010, milliseconds))
    result.bar(Bar.at_most("append itself, for each result", each, 100e-6, lambda value: f"{value * 1e6:.1f} µs"))
    result.bar(Bar.at_most("log", median(times["log"]), 0.050, milliseconds))
    result.bar(Bar.at_most("trend", median(times["trend"]), 0.100, milliseconds))
    result.note("`add all` reads a file of 500 benchmarks as well; so does the time for each result.")
    return [result]
