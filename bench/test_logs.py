"""The figure about logs of test runs: `assay tests log` on a large log, compared with the script
that it is based on and `wc -l`.

The log is generated from a seed: sections of statements with varying values, as written by Rails.
Wall time and peak memory are those of the whole process, the order is random in each round, and the
counts must equal those of the script.
"""

import json
import random
import shutil

from judge import median, spread
from machine import ASSAY, HERE, Failed
from memory import peak
from ministat import once
from result import Bar, Result, ratio

US = "assay tests log"
SCRIPT = "the article's script, ruby"


def write(path, size, seed):
    """Generates a log of about this number of bytes: blocks of sections, repeated with a new test
    name each time."""
    draw = random.Random(seed)
    tables = ["users", "projects", "versions", "builds", "targets", "owners"]

    def statement():
        table = draw.choice(tables)
        kind = draw.randrange(4)
        time = f"{draw.random() * 3:.1f}ms"
        if kind == 0:
            return f'  \x1b[1m\x1b[36m{table.title()} Load ({time})\x1b[0m  \x1b[1m\x1b[34mSELECT "{table}".* FROM "{table}" WHERE "{table}"."id" = {draw.randrange(10**6)} LIMIT 1\x1b[0m'
        if kind == 1:
            return f"  SQL ({time})  INSERT INTO {table} (name, created_at) VALUES ('{draw.getrandbits(40):x}', '2026-01-{draw.randrange(10, 29)} 10:11:12')"
        if kind == 2:
            return f"  Rendered {table}/_row.html.erb ({time})"
        return f'D, [2026-01-31T10:00:{draw.randrange(10, 60)}.{draw.randrange(10**6):06} #4242] DEBUG -- : Started GET "/{table}/{draw.randrange(10**5)}" for 127.0.0.1'

    sections = ["".join(statement() + "\n" for _ in range(draw.randrange(5, 120))) for _ in range(200)]
    written = 0
    with open(path, "w") as log:
        while written < size:
            written += log.write(f"RUNNING Test{draw.randrange(60)} test_{draw.randrange(100)}\n{draw.choice(sections)}")


def test_logs(bench):
    """Measures every command in every round, on one file."""
    log = bench.scratch / "test.log"
    write(log, bench.size(1_000_000_000, 2_000_000), 7)
    size = log.stat().st_size
    rounds = bench.size(5, 2)
    asked = {US: [ASSAY, "tests", "log", log], "wc -l": ["wc", "-l", log]}
    if shutil.which("ruby"):
        asked[SCRIPT] = ["ruby", HERE / "count_logs.rb", log]
    asked = {name: [str(part) for part in argv] for name, argv in asked.items()}
    taken = {name: [] for name in asked}
    bench.rounds(rounds, list(asked), lambda _number, name: taken[name].append(once(bench, asked[name])))
    memory = {name: peak(bench, argv) for name, argv in asked.items()}
    wall = {name: [run[0] for run in runs] for name, runs in taken.items()}
    result = Result(
        "tests-log",
        f"Lines by test of a log of {size / 1e6:,.0f} MB: medians of {rounds} rounds",
        ["command", "wall", "MB/s", "× assay", "peak memory"],
    )
    for name, values in wall.items():
        low, high = spread(values)
        result.row(
            name,
            f"{median(values):.2f} s ({low:.2f} … {high:.2f})",
            f"{size / 1e6 / median(values):,.0f}",
            ratio(median(values) / median(wall[US])),
            f"{memory[name] / 2**20:.1f} MiB",
        )
    if SCRIPT in asked:
        check(bench, log)
    else:
        result.note("Ruby is not installed here (`apt install ruby`), so the script is missing.")
    result.bar(Bar.at_least("speed", size / 1e6 / median(wall[US]), 500, lambda v: f"{v:,.0f} MB/s"))
    result.bar(Bar.at_most("peak memory", memory[US] / 2**20, 20, lambda v: f"{v:.1f} MiB"))
    result.raw = taken
    return [result]


def check(bench, log):
    """Checks that both count the same."""
    ours = json.loads(bench.run([ASSAY, "tests", "log", "--json", log], timeout=600).stdout)
    found = {test["name"]: test["lines"] for test in ours["tests"]}
    script = bench.run(["ruby", HERE / "count_logs.rb", log], timeout=600).stdout
    expected = {line[6:]: int(line[:6]) for line in script.splitlines()}
    if found != expected:
        raise Failed("the script counts otherwise")
