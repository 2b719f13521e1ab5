"""The figure about other tools' files: a large Google Benchmark JSON, read and described, in two layouts of the same rows.

The floor is the time that other programs need just to read the file: `python3 -c 'json.load'` and
`wc -c`. Time and peak memory are those of the whole process; the order is random in each round.
"""

import sys

from judge import median, spread
from machine import ASSAY, HERE
from memory import peak
from ministat import once
from result import Bar, Result, ratio

US = "assay describe"
LOAD = "import json, sys; json.load(open(sys.argv[1]))"


def imports(bench):
    """Measures both layouts with every command, in every round."""
    rows, rounds = bench.size(185_000, 200), bench.size(7, 1)
    files = {form: bench.scratch / f"{form}.json" for form in ("pretty", "dense")}
    for form, path in files.items():
        done = bench.run([sys.executable, HERE / "google_json.py", rows, form], timeout=600)
        path.write_text(done.stdout)
    asked = {}
    for form, path in files.items():
        size = f"{form}, {path.stat().st_size / 1e6:.0f} MB"
        asked[size, US] = [ASSAY, "describe", path]
        asked[size, "assay convert --to csv"] = [ASSAY, "convert", "--to", "csv", path]
        asked[size, "python3, json.load"] = [sys.executable, "-c", LOAD, path]
    asked = {key: [str(part) for part in argv] for key, argv in asked.items()}
    wall = {key: [] for key in asked}
    bench.rounds(rounds, list(asked), lambda _number, key: wall[key].append(once(bench, asked[key])[0]))
    memory = {key: peak(bench, argv) for key, argv in asked.items()}
    result = Result(
        "imports",
        f"A file of {rows:,} rows of Google Benchmark, read and described: medians of {rounds} rounds",
        ["file", "command", "wall", "× assay describe", "peak memory"],
    )
    for (size, name), values in wall.items():
        low, high = spread(values)
        result.row(
            size,
            name,
            f"{median(values):.2f} s ({low:.2f} … {high:.2f})",
            ratio(median(values) / median(wall[size, US])),
            f"{memory[size, name] / 2**20:.0f} MiB",
        )
    (pretty, _), (dense, _) = (key for key in asked if key[1] == US)
    result.bar(Bar.at_most("a file of about 100 MB, whole process", median(wall[pretty, US]), 1.5, lambda v: f"{v:.2f} s"))
    grown = memory[pretty, US] / memory[dense, US]
    result.bar(Bar.at_most("peak memory, pretty against dense", grown, 1.1, lambda v: f"{v:.2f}"))
    result.raw = {f"{size}: {name}": values for (size, name), values in wall.items()}
    return [result]
