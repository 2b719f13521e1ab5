"""The figures about test suites: whether the parts of their time sum to the wall time, the cost of
observing them, whether a suite compared with itself is ever called different, whether a polluting
test is found, the gains from settings of a suite, and how quickly a large report is read.

The suites are real: from PyPI, the registries of Go and Rust, and Debian's Ruby. Missing ones are
named.
"""

import json
import random
import shlex
import shutil
import subprocess
import tarfile
from pathlib import Path

from judge import median
from machine import ASSAY, HERE, Failed, execute, say
from memory import peak
from result import Bar, Result, Share, percent, ratio

RUBY_GEMS = "/usr/lib/ruby/gems/*/gems"
PARTS_SUM = 0.01
UNACCOUNTED = 0.03


def sdist(home, package, version, needs, words, installed=True):
    """Returns an unpacked source distribution from PyPI, and the command of its tests in a separate
    environment, in which it is also installed if its tests require that."""
    python = home / f"{package}-python"
    execute(["python3", "-m", "venv", str(python)], 120)
    if needs:
        execute([str(python / "bin/pip"), "install", "--quiet", *needs], 600)
    execute([str(python / "bin/pip"), "download", "--quiet", "--no-deps", "--no-binary", ":all:", "-d", str(home), f"{package}=={version}"], 600)
    archive = next(home.glob(f"{package.replace('-', '?')}-{version}.tar.gz"))
    with tarfile.open(archive) as packed:
        packed.extractall(home, filter="data")
    directory = archive.with_name(archive.name.removesuffix(".tar.gz"))
    if installed:
        execute([str(python / "bin/pip"), "install", "--quiet", str(directory)], 600)
    return directory, [str(python / "bin/python"), "-m", *words]


def ruby_gem(name, words):
    """Returns a copy of an installed gem."""
    return sorted(Path("/").glob(f"{RUBY_GEMS[1:]}/{name}-*"))[-1], words


def go_module(home, path, version):
    """Returns a Go module in its own directory."""
    said = json.loads(execute(["go", "mod", "download", "-json", f"{path}@{version}"], 600).stdout)
    directory = home / path.replace("/", "-")
    shutil.copytree(said["Dir"], directory)
    execute(["chmod", "-R", "u+w", str(directory)], 60)
    return directory, ["go", "test", "-count=1", "./..."]


def suites(bench):
    """Returns name, directory and command of each real suite, and the missing ones."""
    home = bench.scratch / "suites"
    home.mkdir()
    found, missing = {}, {}

    def add(name, make):
        try:
            found[name] = make()
        except (Failed, OSError, IndexError, subprocess.SubprocessError) as error:
            missing[name] = str(error).strip()[-200:]

    def crate(name, version):
        parent = home / "of-crates"
        execute(["cargo", "new", "--quiet", "--lib", "--vcs", "none", str(parent)], 60)
        execute(["cargo", "add", "--quiet", f"{name}@={version}"], 120, cwd=parent)
        execute(["cargo", "fetch", "--quiet"], 300, cwd=parent)
        source = next(Path.home().glob(f".cargo/registry/src/*/{name}-{version}"))
        directory = home / name
        shutil.copytree(source, directory)
        (directory / "Cargo.toml").write_text((directory / "Cargo.toml").read_text() + "\n[workspace]\n")
        # Compiling is not part of the suite.
        execute(["cargo", "test", "--quiet"], 600, cwd=directory)
        return directory, ["cargo", "test"]

    load_all = 'Dir["test/minitest/test_*.rb"].sort.each { |file| require "./" + file }'
    add("pytest: itsdangerous", lambda: sdist(home, "itsdangerous", "2.2.0", ["pytest", "freezegun"], ["pytest", "-q"]))
    add("unittest: more-itertools", lambda: sdist(home, "more-itertools", "10.5.0", [], ["unittest", "-q"]))
    add("minitest: its own", lambda: ruby_gem("minitest", ["ruby", "-Ilib:test", "-e", load_all]))
    add("test-unit: rss", lambda: ruby_gem("rss", ["ruby", "-Ilib:test", "test/run-test.rb"]))
    add("go test: uuid", lambda: go_module(home, "github.com/google/uuid", "v1.6.0"))
    add("cargo test: strsim", lambda: crate("strsim", "0.11.1"))
    return found, missing


def framework(name):
    return ["--framework", "minitest"] if name.startswith("minitest") else []


def asked(bench, directory, words, options=(), ok=(0, 4)):
    """Returns the output of `assay tests` for a suite."""
    argv = [str(word) for word in [ASSAY, "tests", "--json", "-q", "--no-save", *options, "--", *words]]
    bench.commands[f"cd {directory.name}; {bench.shown(argv)}"] = True
    done = execute(argv, 1800, ok, cwd=directory)
    if not done.stdout:
        raise Failed(f"{bench.shown(argv)}: {done.stderr.strip()[-400:]}")
    return json.loads(done.stdout)


def parts(bench):
    """Shows the parts of the time of six suites, and the cost of observing them."""
    found, missing = suites(bench)
    rounds = bench.size(11, 2, 5)
    sums = Result(
        "tests-parts",
        f"Parts of the time of real suites, medians of {rounds} runs",
        ["suite", "tests", "wall", "sum of its parts / wall", "unaccounted"],
    )
    cost = Result(
        "tests-cost",
        f"Suites under `assay tests` against themselves alone, interleaved, medians of the ratios of {rounds} rounds",
        ["suite", "without causes", "with all causes"],
    )
    worst_sum, worst_open, plain, counted = 0.0, 0.0, [], []
    for name, (directory, words) in found.items():
        walls = {"alone": [], "times": [], "causes": []}
        seen = []

        def step(_number, way, directory=directory, words=words, name=name, walls=walls, seen=seen):
            if way == "alone":
                argv = [str(word) for word in [ASSAY, "run", "--json", "-q", "--no-save", "--runs", 1, "--warmup", 0]]
                done = execute([*argv, shlex.join(words)], 1800, (0, 1, 3), cwd=directory)
                walls[way].append(json.loads(done.stdout)["descriptions"][0]["metrics"]["wall"]["median"])
                return
            options = [*framework(name), *(["--causes"] if way == "causes" else [])]
            said = asked(bench, directory, words, options)["suites"][0]
            walls[way].append(said["wall"])
            if way == "times":
                seen.append(said)

        bench.rounds(rounds, list(walls), step)
        shares = [sum(said["parts"].values()) / said["wall"] for said in seen]
        open_ = median([said["parts"].get("unaccounted", 0.0) / said["wall"] for said in seen])
        sums.row(name, len(seen[0]["tests"]), f"{median(walls['times']):.2f} s", f"{median(shares):.4f}", percent(open_))
        worst_sum = max(worst_sum, *(abs(share - 1) for share in shares))
        worst_open = max(worst_open, open_)
        plain.append(median([a / b for a, b in zip(walls["times"], walls["alone"])]))
        counted.append(median([a / b for a, b in zip(walls["causes"], walls["alone"])]))
        cost.row(name, ratio(plain[-1]), ratio(counted[-1]))
    for name, why in missing.items():
        sums.note(f"Missing: {name}: {why}.")
    sums.bar(Bar.at_most("sum against the wall", worst_sum, PARTS_SUM, percent))
    sums.bar(Bar.at_most("unaccounted", worst_open, UNACCOUNTED, percent))
    cost.bar(Bar.at_most("without causes, the worst suite", max(plain), 1.02, ratio))
    cost.bar(Bar.at_most("with all causes, the worst suite", max(counted), 1.15, ratio))
    return [sums, cost]


def itself(bench):
    """Compares suites with themselves: runs of one suite are recorded one after the other, and
    labelled afterwards."""
    found, missing = suites(bench)
    name = "pytest: itsdangerous"
    if name not in found:
        raise Failed(f"{name}: {missing[name]}")
    directory, words = found[name]
    runs, blocks, draws = bench.size(80, 44, 48), 20, bench.size(400, 4)
    record = bench.scratch / "recorded.assay"
    argv = [str(word) for word in [ASSAY, "tests", "--save", record, "-q", "--order", "given", "--runs", runs, "--", *words]]
    bench.commands[bench.shown(argv)] = True
    execute(argv, 3600, cwd=directory)
    records = [json.loads(line) for line in record.read_text().splitlines()]
    rows = [one for one in records if one["kind"] == "row"][: 200 + 1]
    values = {}
    for one in records:
        if one["kind"] == "obs" and one["subject"] < len(rows):
            values.setdefault(one["block"], {})[one["subject"]] = one["values"]["wall"]
    whole = [values[block] for block in sorted(values) if len(values[block]) == len(rows)]
    wrong, wholes, statements = 0, 0, 0
    drawn = random.Random(bench.random.randrange(2**32))
    for number in range(draws):
        places = drawn.sample(range(len(whole) // 2), blocks)
        path = bench.scratch / "drawn.assay"
        path.write_text(blocks_of(rows, [(whole[2 * place], whole[2 * place + 1]) for place in places], drawn))
        done = bench.run([ASSAY, "compare", "--json", "-q", path], 600, (0, 1, 3))
        said = json.loads(done.stdout)["comparisons"]
        # The whole suite is a separate family from the tests.
        false = {one["row"] for one in said if one["metric"] == "wall" and one["verdict"] in ("faster", "slower")}
        wrong += bool(false - {rows[0]["name"]})
        wholes += rows[0]["name"] in false
        statements += len(said)
        say(f"\r  {number + 1} of {draws} ", end="")
    say("")
    result = Result(
        "tests-itself",
        f"A suite against itself: {draws} times {blocks} blocks of {len(rows) - 1} tests, drawn from {len(whole)} recorded runs of {name}",
        ["", "a false verdict on any test", "on the whole"],
    )
    share = Share(wrong, draws)
    result.row("assay compare", share, Share(wholes, draws))
    result.bar(Bar.share_at_most("suites with any false per-test verdict", share, 0.05))
    result.raw = {"statements": statements}
    return [result]


def blocks_of(rows, pairs, drawn):
    """Returns blocks of two runs of every test, as recorded by `assay tests`; which of the two is
    `new` is drawn for each block."""
    plan = {
        "confidence": 0.95, "threshold": {"relative": 0.01}, "stop": {"rule": "fixed", "blocks": len(pairs)}, "warmup": 0, "primary": "wall", "seed": 1,
    }  # fmt: skip
    records = [{"assay": 1, "kind": "run", "plan": plan}, {"kind": "side", "name": "old"}, {"kind": "side", "name": "new"}, *rows]
    for side, name in enumerate(("old", "new")):
        for place, row in enumerate(rows):
            records.append({"kind": "subject", "side": side, "row": place, "name": f"{name}: {row['name']}", "against": place})
    records.append({"kind": "metric", "name": "wall", "unit": "s"})
    for block, pair in enumerate(pairs):
        for position, side in enumerate(drawn.sample([0, 1], 2)):
            for place, value in pair[position].items():
                subject = side * len(rows) + place
                records.append({"kind": "obs", "subject": subject, "block": block, "pos": position, "values": {"wall": value}})
    records.append({"kind": "stop", "reason": "blocks", "blocks": len(pairs)})
    return "".join(json.dumps(record) + "\n" for record in records)


SUITE = """
import pytest
SEEN = {{}}
with open({log!r}, "a") as log:
    log.write("x")
@pytest.mark.parametrize("number", range({tests}))
def test_of_many(number):
    if number == {polluter}:
        SEEN["polluted"] = True
    if number == {victim}:
        assert "polluted" not in SEEN
"""


def polluter(bench):
    """Searches suites of 500 tests for the one test that makes another one fail."""
    searches, tests, runs = bench.size(20, 2, 8), bench.size(500, 30), 6
    python = bench.scratch / "python"
    execute(["python3", "-m", "venv", str(python)], 120)
    execute([str(python / "bin/pip"), "install", "--quiet", "pytest"], 600)
    right, took, unseen = 0, [], 0
    for number in range(searches):
        directory = bench.scratch / f"polluted-{number}"
        directory.mkdir()
        one, other = bench.random.sample(range(tests), 2)
        log = directory / "log"
        (directory / "test_many.py").write_text(SUITE.format(log=str(log), tests=tests, polluter=one, victim=other))
        words = [str(python / "bin/python"), "-m", "pytest", "-q"]
        said = asked(bench, directory, words, ["--runs", runs, "--seed", bench.random.randrange(2**32)])
        messages = [finding["message"] for finding in said["findings"] if finding["code"] == "ORDER_DEPENDENT"]
        if not said["suites"][0]["failing"]:
            unseen += 1
            continue
        right += any(f"test_of_many[{one}]" in message and f"test_of_many[{other}]" in message for message in messages)
        took.append(log.stat().st_size - runs)
        say(f"\r  {number + 1} of {searches} ", end="")
    say("")
    result = Result(
        "tests-polluter",
        f"{searches} suites of {tests} tests, of which one makes another one fail behind it; {runs} runs in random orders, then the search",
        ["", "polluter named", "suite runs of the search (median)", "most"],
    )
    result.row("assay tests", Share(right, len(took)), f"{median(took):.0f}", max(took))
    result.bar(Bar.at_least("polluters named", right, len(took), str))
    result.bar(Bar.at_most("suite runs of a search", max(took), 12, str))
    if unseen:
        result.note(f"In {unseen} of them the test failed in no run, so there was nothing to search for.")
    return [result]


def report(bench):
    """Measures JUnit XML of 100,000 tests."""
    tests = bench.size(100_000, 1000)
    path = bench.scratch / "report.xml"
    with open(path, "w") as out:
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')
        for number in range(tests // 100):
            out.write(f'<testsuite name="pkg.Class{number}" tests="100" failures="0" time="1.0">\n')
            for test in range(100):
                out.write(
                    f'  <testcase classname="pkg.Class{number}" name="test_{test}" file="tests/test_{number}.py" time="{bench.random.random() / 10:.6f}"/>\n'
                )
            out.write("</testsuite>\n")
        out.write("</testsuites>\n")
    argv = [str(word) for word in [ASSAY, "convert", path, "-o", bench.scratch / "report.assay"]]
    times = []
    for _ in range(bench.size(9, 2)):
        (bench.scratch / "report.assay").unlink(missing_ok=True)
        times.append(bench.run(argv, 600).seconds)
    (bench.scratch / "report.assay").unlink(missing_ok=True)
    memory = peak(bench, argv)
    result = Result(
        "tests-report", f"A JUnit XML of {tests:,} tests ({path.stat().st_size / 1e6:.0f} MB) read, and written as `.assay`", ["", "wall", "peak memory"]
    )
    result.row("assay convert", f"{median(times):.3f} s", f"{memory / 2**20:.1f} MiB")
    result.bar(Bar.at_most("wall", median(times), 0.3, lambda value: f"{value:.3f} s"))
    result.bar(Bar.at_most("peak memory", memory / 2**20, 100, lambda value: f"{value:.1f} MiB"))
    return [result]


TOGGLES = ["gc=off", "hash-cost=min", "pg.fsync=off", "pg.synchronous_commit=off"]
WHOLE = "(whole suite)"


def toggles(bench):
    """Measures the settings of a well-known experiment on 35 specs that commit to a real
    PostgreSQL: in a usual run, and in a long one."""
    settings = [word for toggle in TOGGLES for word in ("--toggle", toggle)]
    directory = HERE.parent / "examples/fast-specs"
    execute(["sh", str(directory / "run.sh"), str(ASSAY), "--smoke"], 900)

    def compared(runs):
        said = asked(bench, directory, ["rspec"], ["--with", "postgres", *settings, "--runs", runs, "--seed", bench.random.randrange(2**32)], (0, 1, 3))
        whole = [one for one in said["comparisons"] if one["row"] == WHOLE and one["metric"] == "wall"]
        return {one["of"]: one for one in whole}

    runs, long_runs = bench.size(16, 2), bench.size(48, 2, 24)
    usual, long = compared(runs), compared(long_runs)
    result = Result(
        "tests-toggles",
        f"Settings against none, 35 specs that commit to PostgreSQL (`examples/fast-specs`): verdicts on the whole suite after {runs} and {long_runs} runs",
        ["setting", f"{runs} runs", "verdict", f"{long_runs} runs", "verdict"],
    )

    def shown(one):
        lower, upper = (one["ratio"][end] for end in ("lower", "upper"))
        interval = "" if lower is None else f" [{ratio(lower)} … {ratio(upper)}]"
        return f"{ratio(one['ratio']['estimate'])}{interval}", one["verdict"]

    for name, one in usual.items():
        result.row(name, *shown(one), *shown(long[name]))
    wanted = ["hash-cost=min", "pg.fsync=off"]
    faster = sum(found[name]["verdict"] == "faster" for name in wanted for found in (usual, long))
    result.bar(Bar.at_least("fsync and hash cost: faster, in both", faster, 2 * len(wanted), str))
    # A relevant error: one run reports as faster what the other reports as slower.
    opposed = sum({usual[name]["verdict"], long[name]["verdict"]} == {"faster", "slower"} for name in usual)
    result.bar(Bar.at_most("verdicts that contradict the long run", opposed, 0, str))
    result.raw = {"usual": usual, "long": long}
    return [result]
