"""The figure about one build per side: how often a benchmark of a suite of 24, linked twice in
different orders, is called different, without any change and with a change that costs nothing.

The benchmarks that do not execute the change are controls: their differences show the effect of the
order of linking.
"""

import json

from layout import linker
from machine import ASSAY, BUILD, HERE
from result import Bar, Result, Share

LEVEL = 0.05
# The effect of `-DOTHER`: none, or changed code in the four benchmarks of `Find`.
CHANGES = {"nothing": 0, "code of 4 of 24, with no more to do": 1}


def _linked(bench, place, other, seed):
    """Builds a program whose order of sections is determined by this seed."""
    place.mkdir(parents=True, exist_ok=True)
    thing, program = place / f"suite-{other}.o", place / f"suite-{other}-{seed}"
    if not thing.exists():
        flags = ["-O2", "-ffunction-sections", "-fno-align-functions", "-fno-align-loops", f"-DOTHER={other}"]
        bench.run(["c++", *flags, "-c", HERE / "suite.cc", "-o", thing], timeout=120)
    shuffling = [f"LAYOUT_SEED={seed}", f"COMPILER_PATH={linker(place / 'linker')}"]
    bench.run(["env", *shuffling, "c++", thing, "-o", program, "-lbenchmark", "-lpthread"], timeout=60)
    return program


def relinked(bench):
    suites, blocks = bench.size(30, 1, 10), bench.size(12, 3)
    place = BUILD / "relinked"
    found = {change: [0, 0] for change in CHANGES}
    moved = {change: [] for change in CHANGES}

    def step(number, change):
        sides = [_linked(bench, place, own, 2 * number + side) for side, own in enumerate((0, CHANGES[change]))]
        argv = [ASSAY, "bench", *sides, "-n", "old", "-n", "new", "--runs", blocks, "--quiet", "--no-save", "--json"]
        comparisons = json.loads(bench.run(argv, timeout=600).stdout)["comparisons"]
        own = [c for c in comparisons if c["metric"] == "wall"]
        found[change][0] += any(c["verdict"] in ("faster", "slower") for c in own)
        found[change][1] += 1
        moved[change].append(max(abs(c["ratio"]["estimate"] - 1) for c in own))

    bench.rounds(suites, list(CHANGES), step)
    result = Result(
        "relinked",
        f"A suite of 24 benchmarks in two orders of linking, one build a side, {blocks} blocks, {suites} suites: how many have a benchmark called different",
        ["changed", "suites with a false direction", "largest movement of a benchmark, median of the suites"],
    )
    for change, (hits, of) in found.items():
        result.row(change, Share(hits, of), f"{sorted(moved[change])[of // 2] * 100:.1f} %")
        result.bar(Bar.share_at_most(f"suites with a false direction, changed: {change}", Share(hits, of), LEVEL))
    result.raw = {"found": found, "moved": moved}
    return [result]
