"""The figure about layout: how often links of one source are called different, and how often a true
3 % is found, with one build per side and with five (`assay bench --builds`).

Five programs, each with one kind of work among a hundred small functions, are compiled once without
function alignment, and linked with a seeded random order of sections. The first links of a pair of
sides are not those of any other pair of that program.
"""

import json
import shutil
import time

from judge import median
from machine import ASSAY, BUILD, HERE, Failed, execute
from result import Bar, Result, Share

KINDS = ["loop", "branches", "calls", "search", "mix"]
LINKS = 30
A_SIDE = 5
LEVEL = 0.05
# The difference between the sources.
SOUGHT = 0.03
# Time in minutes after which no further comparison is started.
MINUTES = 7.5


def linker(directory):
    """Creates a directory with an `ld` that shuffles by LAYOUT_SEED, like the one that `assay bench
    --rev … --builds` puts before the compiler."""
    mold, lld = shutil.which("mold"), shutil.which("ld.lld")
    if not mold and not lld:
        raise Failed("mold or lld is needed: apt install mold")
    option = f'{mold} "--shuffle-sections=$LAYOUT_SEED"' if mold else f'{lld} "--shuffle-sections=*=$LAYOUT_SEED"'
    directory.mkdir(parents=True, exist_ok=True)
    script = directory / "ld"
    script.write_text(f'#!/bin/sh\nexec {option} "$@"\n')
    script.chmod(0o755)
    return directory


def _run(bench, argv, timeout, of):
    """Starts a program; of hundreds of command lines that differ only in a number, records the
    first."""
    if of in bench.layout_told:
        return execute([str(part) for part in argv], timeout)
    bench.layout_told.add(of)
    return bench.run(argv, timeout)


def _links(bench, kind, more):
    """Links one program with different seeds."""
    place = BUILD / "layout"
    linker = linker(place / "linker")
    number, source = KINDS.index(kind), HERE / "layout.cc"
    thing = place / f"{kind}-{more}.o"
    flags = ["-O2", "-ffunction-sections", "-fno-align-functions", "-fno-align-loops", f"-DKIND={number}", f"-DMORE={more}"]
    _run(bench, ["c++", *flags, "-c", source, "-o", thing], 120, "compiled")
    made = []
    for seed in range(1, LINKS + 1):
        program = place / f"{kind}-{more}-{seed}"
        link = ["c++", thing, "-o", program, "-lbenchmark", "-lpthread"]
        _run(bench, ["env", f"LAYOUT_SEED={seed}", f"COMPILER_PATH={linker}", *link], 60, "linked")
        made.append(program)
    return made


def _verdict(bench, old, new, seconds):
    """Returns the result of one `assay bench` for a pair of sides: the verdict, the effect of
    layout, and the duration."""
    words = ["--quiet", "--no-save", "--time", f"{seconds}s", "--primary", "cpu", "--json"]
    if len(old) == 1:
        sides = [old[0], new[0]]
    else:
        sides = ["--builds", ",".join(" ".join(map(str, side)) for side in (old, new))]
    done = _run(bench, [ASSAY, "bench", *sides, "-n", "old", "-n", "new", *words], 300, len(old))
    comparison = next(c for c in json.loads(done.stdout)["comparisons"] if c["metric"] == "cpu")
    return comparison["verdict"], comparison["layout"], done.seconds


def layout(bench):
    """Compares links of one source with each other, and with links that do 3 % more work."""
    end = time.monotonic() + MINUTES * 60
    bench.layout_told = set()
    pairs, powers = bench.size(10, 1, 4), bench.size(5, 1, 2)
    links = {(kind, more): _links(bench, kind, more) for kind in KINDS for more in (0, 3)}
    one, several = "one build a side", f"--builds {A_SIDE}"
    ways = {one: (1, 2), several: (A_SIDE, bench.size(4, 2))}
    called = {(kind, way): [0, 0] for kind in KINDS for way in ways}
    found = {kind: [0, 0] for kind in KINDS}
    spreads, took = {kind: [] for kind in KINDS}, {way: [] for way in ways}

    def step(number, thing):
        kind, way = thing
        if time.monotonic() > end:
            return
        count, seconds = ways[way]
        drawn = bench.random.sample(range(LINKS), 2 * count)
        same = links[kind, 0]
        sides = [[same[i] for i in drawn[:count]], [same[i] for i in drawn[count:]]]
        verdict, spread, lasted = _verdict(bench, *sides, seconds)
        called[kind, way][0] += verdict in ("faster", "slower")
        called[kind, way][1] += 1
        took[way].append(lasted)
        if spread is not None:
            spreads[kind].append(spread)
        if way == several and number < powers:
            other = links[kind, 3]
            verdict, _, _ = _verdict(bench, sides[0], [other[i] for i in drawn[count:]], seconds)
            found[kind][0] += verdict == "slower"
            found[kind][1] += 1

    bench.rounds(pairs, [(kind, way) for kind in KINDS for way in ways], step)
    lasting = ", ".join(f"{seconds} s {way}" for way, (_, seconds) in ways.items())
    result = Result(
        "layout",
        f"Links of one source against each other, {pairs} pairs of each of {len(KINDS)} programs ({lasting}), by CPU time: how many are called different",
        ["program", *ways, "layout alone (median sd)", f"a true 3 % found, {several}"],
    )
    spread = {kind: median(own) if own else None for kind, own in spreads.items()}
    for kind in KINDS:
        own = [Share(*called[kind, way]) for way in ways]
        told = "not known" if spread[kind] is None else f"± {spread[kind] * 100:.2f} %"
        result.row(kind, *own, told, Share(*found[kind]))
    for way in ways:
        hits = [sum(called[kind, way][i] for kind in KINDS) for i in (0, 1)]
        result.note(f"{way}: {hits[0]} of {hits[1]} links called different; one comparison took {median(took[way]):.1f} s at the median.")
        if way == several:
            result.bar(Bar.share_at_most(f"links of one source called different, {way}", Share(*hits), LEVEL))
    # Five links cannot detect 3 % if layout alone moves one link by more: such programs are in the
    # table, and marked.
    within = [kind for kind in KINDS if spread[kind] is not None and spread[kind] <= SOUGHT]
    hits = [sum(found[kind][i] for kind in within) for i in (0, 1)]
    if hits[1]:
        result.bar(Bar.share_at_least(f"a true 3 % found, {several}, where layout alone moves by 3 % at most", Share(*hits), 0.8))
    beyond = [kind for kind in KINDS if kind not in within]
    if beyond:
        result.note(f"Layout alone moves {' and '.join(beyond)} by more than the 3 % that are sought: not part of that bar.")
    result.raw = {
        "called": {f"{kind}, {way}": counts for (kind, way), counts in called.items()},
        "found": found,
        "spreads": spreads,
        "seconds": took,
    }
    return [result]
