"""The figure about counting allocations: a loop of only malloc and free, run plain, under the
counter of `assay run --alloc`, under glibc's libmemusage, and under valgrind and heaptrack if they
are installed.

The CPU time of each run is the kernel's, less that of a run without iterations (start-up). The
order of the tools is random in each round, and ratios are taken within a round. `assay` itself
never measures time under the counter, so its cost only makes users wait.
"""

import glob
import os
import shutil

from judge import median, spread
from machine import ASSAY, BUILD, Failed
from ministat import once
from result import Bar, Result, ratio

PLAIN, US, MEMUSAGE = "plain", "assay run --alloc", "libmemusage"
# For each loop: maximum size of a block above 16 bytes, and number of live blocks.
LOOPS = {
    "16 … 216 B, 1,024 live": (200, 1024),
    "16 … 4,016 B, 64 live": (4000, 64),
    "16 … 1,016 B, one at a time": (1000, 1),
}
BAR = 1.10


def allocations(bench):
    """Measures every loop under every tool, in every round."""
    result = Result(
        "allocations",
        "CPU time of one free and one malloc in a loop of nothing else, and that of the same round's plain run",
        ["blocks", "tool", "a free and a malloc", "× plain"],
    )
    result.raw = {}
    tools = tools_here(bench)
    for name, (size, live) in LOOPS.items():
        of_loop(bench, result, tools, name, size, live)
    if MEMUSAGE not in tools:
        result.note("libmemusage.so, which comes with glibc's programs, is not installed here.")
    return [result]


def tools_here(bench):
    """Returns the commands that precede the program, each with its share of the iterations: slow
    tools get fewer."""
    found = {PLAIN: ([], 1), US: (preloading(unpacked(bench)) + [f"ASSAY_ALLOC={counts(bench)}"], 1)}
    memusage = libmemusage()
    if memusage:
        found[MEMUSAGE] = (preloading(memusage), 1)
    if shutil.which("valgrind"):
        found["valgrind --tool=none"] = (["valgrind", "--tool=none", "-q"], 5)
        found["valgrind --tool=dhat"] = (["valgrind", "--tool=dhat", "-q", f"--dhat-out-file={bench.scratch / 'dhat'}"], 20)
    if shutil.which("heaptrack"):
        found["heaptrack"] = (["heaptrack", "-o", str(bench.scratch / "heaptrack")], 50)
    return found


def preloading(library):
    return ["env", f"LD_PRELOAD={library}"]


def counts(bench):
    """A directory for the counts, with one file per run."""
    directory = bench.scratch / "counts"
    directory.mkdir(exist_ok=True)
    return directory


def unpacked(bench):
    """Returns the library as `assay` unpacks it."""
    os.environ["XDG_CACHE_HOME"] = str(bench.scratch / "cache")
    bench.run([ASSAY, "run", "--alloc", "--no-save", "-r", 1, "true"], timeout=60)
    found = glob.glob(str(bench.scratch / "cache/assay/alloc-*.so"))
    if len(found) != 1:
        raise Failed(f"assay run --alloc left {len(found)} libraries in its cache instead of one")
    return found[0]


def libmemusage():
    """Searches next to the C library."""
    places = glob.glob("/usr/lib/*/libmemusage.so") + glob.glob("/usr/lib*/libmemusage.so")
    return places[0] if places else None


def of_loop(bench, result, tools, blocks, size, live):
    iterations, rounds = bench.size(10_000_000, 200_000), bench.size(11, 2, 5)
    taken = {name: [] for name in tools}

    def cpu(before, times):
        return once(bench, [*before, str(BUILD / "allocate"), str(times), str(size), str(live)])[1]

    def step(_number, name):
        before, share = tools[name]
        times = iterations // share
        taken[name].append((cpu(before, times) - cpu(before, 0)) / times)

    bench.rounds(rounds, list(tools), step)
    for name in tools:
        low, high = spread(taken[name])
        of_plain = [mine / plain for mine, plain in zip(taken[name], taken[PLAIN]) if plain > 0]
        lowest, highest = spread(of_plain)
        result.row(
            blocks,
            name,
            f"{median(taken[name]) * 1e9:.1f} ns ({low * 1e9:.1f} … {high * 1e9:.1f})",
            "" if name == PLAIN else f"{ratio(median(of_plain))} ({ratio(lowest)} … {ratio(highest)})",
        )
        if name == US:
            result.bar(Bar.at_most(f"CPU time under the counter against plain, {blocks}", median(of_plain), BAR, ratio))
    result.raw[blocks] = taken
