"""The figures about the gem and the package: the cost of a patched method, compared with
handwritten profilers and those of the language; and how often Assay.compare and assay.compare are
right about blocks whose difference is known, compared with benchmark-ips, timeit and pyperf.

The measuring programs belong to the front ends (ruby/bench, python/bench), since only code in the
same language can measure; this file runs them and presents their results. Each runs its variants
alternately in random order in one process, by the CPU time of that process or thread.
"""

import json
import os
import shutil
import sys

import peers
from machine import ASSAY, ROOT, Failed, version_of
from result import Bar, Result, Share, ratio

# Additional cost of a call under the article's profiler, and the limits for ours: nanoseconds that
# were determined together on one machine. The bars are ratios, since the article's profiler is
# measured in the same rounds, and the speed of a machine varies from hour to hour.
ARTICLE = {"interpreter": 319, "YJIT": 279}
ACTIVE, ELSEWHERE, IDLE = "active, kept", "idle, another thread profiles", "idle"
RUBY_BARS = {
    ("C", "interpreter"): {IDLE: 1, ELSEWHERE: 30},
    ("C", "YJIT"): {IDLE: 1, ELSEWHERE: 10},
    ("C, OS clock", "interpreter"): {ACTIVE: 100},
    ("C, OS clock", "YJIT"): {ACTIVE: 60},
    ("Ruby", "interpreter"): {ACTIVE: 250},
    ("Ruby", "YJIT"): {ACTIVE: 110},
}
PYTHON_BARS = {"assay, idle": 1.05, "assay, active": 2.6}
PYTHONS = ["python3", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13"]


def nanoseconds(value):
    return f"{value:.1f} ns"


def thousandths(value):
    return f"{value:.3f}"


def ruby_methods(bench):
    """Measures every design with each recorder, interpreted and under YJIT, against the plain
    method of the same round."""
    bench.run(["sh", str(ROOT / "ruby/build.sh")], 300)
    rounds = bench.size(40, 2)
    said, done = answer(bench, ["ruby", str(ROOT / "ruby/bench/method_profiler.rb"), "--rounds", str(rounds)], 1800)
    result = Result(
        "ruby-methods",
        "What a patched method of Ruby takes more than the plain one, and against it (median of the rounds)",
        ["variant", *(f"{run['recorder']}, {run['way']}" for run in said["runs"])],
    )
    for name in said["runs"][0]["results"]:
        cells = [run["results"][name] for run in said["runs"]]
        if name in ("plain", "empty loop"):
            result.row(name, *(nanoseconds(cell["median"]) for cell in cells))
        else:
            result.row(name, *(f"{nanoseconds(cell['added'])} ({ratio(cell['ratio'])})" for cell in cells))
    for kept in ("swapped", "kept"):
        result.row(f"start and stop, {kept}", *(f"{run['start_and_stop'][kept] / 1e3:.1f} µs" for run in said["runs"]))
    for run in said["runs"]:
        article = run["results"]["article, active"]["added"]
        for name, most in RUBY_BARS[run["recorder"], run["way"]].items():
            what = f"{name}: recorder in {run['recorder']}, {run['way']} ({most} ns for {ARTICLE[run['way']]})"
            result.bar(Bar.at_most(what, run["results"][name]["added"] / article, most / ARTICLE[run["way"]], thousandths))
    result.note(
        "What must be reached was set in nanoseconds where the active profiler of the article took 319 ns more a call, and 279 under YJIT; "
        "here it is a share of what that takes in the same run."
    )
    result.note(
        f"{said['ruby']}; {rounds} rounds of 20,000 calls a variant. \"article\" is the profiler that this one comes from, told again: an alias "
        "chain, the clock as a Float, a hash in a fiber-local variable. \"kept\": the wrappers stay in, as under a server; without, they are "
        "put in by start and taken out by stop. The clock of the recorder in C is the processor's counter where Linux keeps time by it."
    )
    result.raw = {"program": said, "printed": done.stdout}
    return [result]


def python_methods(bench):
    """Measures the same in Python, for every version on the PATH."""
    rounds = bench.size(80, 3, 30)
    answers, versions = {}, set()
    for name in PYTHONS:
        version = version_of([name, "-V"])
        if version is None or version in versions:
            continue
        versions.add(version)
        python = environment(bench, name)
        said, _ = answer(bench, [str(python), str(ROOT / "python/bench/method_profiler.py"), "--rounds", str(rounds)], 900)
        answers[said["python"]] = said
    versions = sorted(answers, key=lambda text: [int(part) for part in text.split(".")])
    result = Result(
        "python-methods",
        "A patched method of Python against the plain one, with the loop that calls both (median of the rounds), and what is added to a call",
        ["variant", *(f"Python {version}" for version in versions)],
    )
    rows = {version: {row["variant"]: row for row in answers[version]["rows"]} for version in versions}
    for variant in {name: None for version in versions for name in rows[version]}:
        cells = [rows[version].get(variant) for version in versions]
        result.row(variant, *(f"{ratio(cell['ratio'])} ({cell['added_ns']:.0f} ns)" if cell else "" for cell in cells))
    for version in versions:
        for variant, most in PYTHON_BARS.items():
            result.bar(Bar.at_most(f"{variant}: Python {version}", rows[version][variant]["ratio"], most, ratio))
    result.note(f"{rounds} rounds; calls are counted in {', '.join(sorted({said['engine'] for said in answers.values()}))}.")
    result.raw = answers
    return [result]


def blocks(bench):
    """Compares loops of known length with Assay.compare and benchmark-ips, with the same time for
    each."""
    if not shutil.which("ruby"):
        raise Failed("there is no ruby")
    peers.install_benchmark_ips()
    os.environ["ASSAY"] = str(ASSAY)
    rounds, seconds = bench.size(20, 1, 6), bench.size(0.5, 0.2)
    command = ["ruby", "-I", str(ROOT / "ruby/lib"), str(ROOT / "ruby/bench/compare.rb"), "--rounds", str(rounds), "--time", str(seconds)]
    said, done = answer(bench, command, 3600)
    result = Result(
        "ruby-blocks",
        "Two loops of Ruby, one longer by a known factor: how often each tool is right",
        ["longer by", "tool", "right", "wrong", "not known yet"],
    )
    truths = {}
    for row in said["answers"]:
        right = "longer" if row["factor"] > 1 else "same"
        counts = {"longer": 0, "shorter": 0, "same": 0, "unknown": 0, **row["said"]}
        unknown = counts["unknown"]
        # For equal loops, a result is right if no difference is claimed.
        hits = counts[right] + (unknown if right == "same" else 0)
        truths[row["tool"], row["factor"]] = Share(rounds - hits - (unknown if right != "same" else 0), rounds)
        result.row(f"{row['factor']} ×", row["tool"], Share(hits, rounds), rounds - hits - (unknown if right != "same" else 0), unknown)
    for tool in ("Assay.compare", "Assay.compare, cpu"):
        result.bar(Bar.share_at_most(f"false differences of equal loops, {tool}", truths[tool, 1.0], 0.05))
    result.note(
        f"{said['ruby']}; {seconds} s a side and {rounds} times for each row. Of equal loops, what claims no difference is right; of others, what "
        "names the longer one. benchmark-ips says \"same-ish\" where two bars of one standard deviation touch: of a true difference that is wrong."
    )
    result.raw = {"program": said, "printed": done.stdout}
    return [result]


def python_blocks(bench):
    """Compares loops of known length with assay.compare, timeit and pyperf's test, with the same
    time for each."""
    os.environ["ASSAY"] = str(ASSAY)
    python = environment(bench, "python3")
    bench.run([python, "-m", "pip", "install", "--quiet", "pyperf==2.10.0"], 300)
    rounds, seconds = bench.size(30, 1, 8), bench.size(0.6, 0.2)
    command = [python, str(ROOT / "python/bench/compare.py"), "--rounds", str(rounds), "--time", str(seconds)]
    said, done = answer(bench, command, 3600)
    result = Result(
        "python-blocks",
        "A loop of 1000 additions of Python, against itself and against one that is 3 % shorter: how often each tool is right",
        ["the other takes", "tool", "right", "wrong", "not known yet", "s each"],
    )
    for row in said["answers"]:
        factor, tool = row["factor"], row["tool"]
        wrong = rounds - row["right"] - row["unknown"]
        what = "the same" if factor == 1 else f"{(1 - factor) * 100:.0f} % less"
        result.row(what, tool, Share(row["right"], rounds), wrong, row["unknown"], f"{row['seconds']:.1f}")
        if tool.startswith("assay"):
            result.bar(Bar.share_at_most(f"false verdicts where it takes {what}, {tool}", Share(wrong, rounds), 0.05))
    low, high = said["loads"]
    result.note(
        f"{said['python']}; {seconds} s a side and {rounds} times for each row, the load from {low:.1f} to {high:.1f}. Of equal loops, what claims no "
        "difference is right; of the others, what names the shorter one. timeit is read as its documentation has it: the best of five "
        "repetitions, one side after the other; more than 1 % is a difference. pyperf's t test has 20 values a side, one side after the other."
    )
    result.raw = {"program": said, "printed": done.stdout}
    return [result]


def ruby_assertions(bench):
    """Checks every assertion of the gem against known facts."""
    bench.run(["sh", str(ROOT / "ruby/build.sh")], 300)
    command = ["ruby", "-I", str(ROOT / "ruby/lib"), "-I", str(ROOT / "ruby/tmp"), str(ROOT / "ruby/bench/assertions.rb")]
    return assertions(bench, "ruby-assertions", "Assertions of the gem about what is known", command, 0.5)


def python_assertions(bench):
    """Checks every assertion of the package against known facts."""
    command = [environment(bench, "python3"), str(ROOT / "python/bench/assertions.py")]
    return assertions(bench, "python-assertions", "Assertions of the package about what is known", command, 1)


def assertions(bench, name, title, command, seconds):
    """Returns one language's table: how often each assertion was wrong."""
    os.environ["ASSAY"] = str(ASSAY)
    rounds, seconds = bench.size(120, 1, 20), bench.size(seconds, 0.2)
    said, done = answer(bench, [*command, "--rounds", str(rounds), "--time", str(seconds)], 7200)
    result = Result(name, f"{title}: how often each was wrong", ["assertion", "it holds", "passed", "failed", "not known yet", "wrong"])
    for row in said["answers"]:
        wrong = Share(row["wrong"], rounds)
        result.row(row["assertion"], "yes" if row["holds"] else "no", row["passed"], row["failed"], row["inconclusive"], wrong)
        # Counts are deterministic.
        measured = row["assertion"].startswith(("assert_faster", "assert_no_slower", "assert_complexity"))
        result.bar(Bar.share_at_most(row["assertion"], wrong, 0.05 if measured else 0))
    low, high = said["loads"]
    result.note(f"{said['language']}; {rounds} times each, in random order, {seconds} s at most, the load from {low:.1f} to {high:.1f}.")
    result.raw = {"program": said, "printed": done.stdout}
    return [result]


def answer(bench, command, timeout):
    """Runs a program that writes its result as JSON; returns that result, and the output."""
    path = bench.scratch / "answer.json"
    done = bench.run([*command, "--json", path], timeout=timeout)
    return json.loads(path.read_text()), done


def environment(bench, name):
    """Returns a Python of this name with the package from this checkout, built if there is a
    compiler."""
    home = bench.scratch / name
    bench.run([sys.executable if name == "python3" else name, "-m", "venv", home], 120)
    python = home / "bin/python"
    bench.run([python, "-m", "pip", "install", "--quiet", "--no-cache-dir", ROOT / "python"], 600)
    return python
