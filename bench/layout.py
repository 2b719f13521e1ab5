"""The figure about layout: how often links of one source are called different, and how often a true 3 % is found, by one build a side and by
five (`assay bench --builds`).

Five programs of one kind of work each, made of a hundred small functions around it, compiled once without alignment of functions and
linked with the linker's order of sections drawn by a seed. A pair of sides takes links that no other pair of that program takes first.
"""

import json
import shutil

from judge import median
from machine import ASSAY, BUILD, HERE, Failed, execute
from result import Bar, Result, Share

KINDS = ["loop", "branches", "calls", "search", "mix"]
LINKS = 30
A_SIDE = 5
LEVEL = 0.05


def _linker(directory):
    """A directory with an `ld` that shuffles by LAYOUT_SEED: what `assay bench --rev … --builds` puts before the compiler."""
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
    """Starts a program; of hundreds that differ in a number the first command line is taken down."""
    if of in bench.layout_told:
        return execute([str(part) for part in argv], timeout)
    bench.layout_told.add(of)
    return bench.run(argv, timeout)


def _links(bench, kind, more):
    """Links of one program, by their seeds."""
    place = BUILD / "layout"
    linker = _linker(place / "linker")
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
    """What one `assay bench` says of a pair of sides: its verdict, how far layout moves it, and how long it took."""
    words = ["--allow-debug", "--quiet", "--no-save", "--time", f"{seconds}s", "--primary", "cpu", "--json"]
    if len(old) == 1:
        sides = [old[0], new[0]]
    else:
        sides = ["--builds", ",".join(" ".join(map(str, side)) for side in (old, new))]
    done = _run(bench, [ASSAY, "bench", *sides, "-n", "old", "-n", "new", *words], 300, len(old))
    comparison = next(c for c in json.loads(done.stdout)["comparisons"] if c["metric"] == "cpu")
    return comparison["verdict"], comparison["layout"], done.seconds


def layout(bench):
    """Links of one source against each other, and against links of 3 % more work."""
    bench.layout_told = set()
    pairs, powers, seconds = bench.size(20, 1), bench.size(8, 1), bench.size(6, 1)
    links = {(kind, more): _links(bench, kind, more) for kind in KINDS for more in (0, 3)}
    ways = [("one build a side", 1), (f"--builds {A_SIDE}", A_SIDE)]
    called = {(kind, way): [0, 0] for kind in KINDS for way, _ in ways}
    found = {way: [0, 0] for way, _ in ways}
    spreads, took = {kind: [] for kind in KINDS}, []

    def step(number, thing):
        kind, (way, count) = thing
        drawn = bench.random.sample(range(LINKS), 2 * count)
        same = links[kind, 0]
        sides = [[same[i] for i in drawn[:count]], [same[i] for i in drawn[count:]]]
        verdict, spread, lasted = _verdict(bench, *sides, seconds)
        called[kind, way][0] += verdict in ("faster", "slower")
        called[kind, way][1] += 1
        took.append(lasted)
        if spread is not None:
            spreads[kind].append(spread)
        if number < powers:
            other = links[kind, 3]
            verdict, _, _ = _verdict(bench, sides[0], [other[i] for i in drawn[count:]], seconds)
            found[way][0] += verdict == "slower"
            found[way][1] += 1

    bench.rounds(pairs, [(kind, way) for kind in KINDS for way in ways], step)
    result = Result(
        "layout",
        f"Links of one source against each other, {pairs} pairs of each of {len(KINDS)} programs, {seconds} s each, by CPU time: how many are called different",
        ["program", *(way for way, _ in ways), "layout alone (median)"],
    )
    for kind in KINDS:
        own = [Share(*called[kind, way]) for way, _ in ways]
        result.row(kind, *own, f"± {median(spreads[kind]) * 100:.2f} %" if spreads[kind] else "not known")
    for way, _ in ways:
        hits = [sum(called[kind, way][i] for kind in KINDS) for i in (0, 1)]
        share = Share(*hits)
        if way != ways[0][0]:
            result.bar(Bar.share_at_most(f"links of one source called different, {way}", share, LEVEL))
            result.bar(Bar.share_at_least(f"a true 3 % found, {way}", Share(*found[way]), 0.8))
        result.note(f"{way}: {hits[0]} of {hits[1]} links called different; {found[way][0]} of {found[way][1]} true 3 % found.")
    result.note(f"One comparison took {median(took):.1f} s at the median.")
    result.raw = {
        "called": {f"{kind}, {way}": counts for (kind, way), counts in called.items()},
        "found": found,
        "spreads": spreads,
        "seconds": took,
    }
    return [result]
