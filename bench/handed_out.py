"""The figure about released packages: how long a clean build takes, how large the programs are, and
how long each channel takes from installation to the first verdict in a clean system without a
network or a compiler.

The last commit is built, in a separate directory. The trials are those of `make dist-test`, three
times each, in a new random order in each round.
"""

import re
import sys
import time

from judge import median, spread
from machine import ROOT, Failed, execute
from result import Bar, Result

LONGEST = 7200
TRIAL = ROOT / "scripts/dist/trial.py"
CHANNELS = ["tarball", "installer", "deb", "wheel", "python", "gem", "gem-source", "npm"]
MACHINES = {"x86_64": "x86-64", "aarch64": "arm64"}
CORE, CORE_MUST, MINUTES_MUST, SECONDS_MUST = "assay", 12.0, 15.0, 30.0


def handed_out(bench):
    """Measures the build and every channel. In a quick run, uses existing results of `make dist`,
    and one channel."""
    results, place = [], ROOT
    if not bench.quick:
        place = bench.scratch / "assay"
        bench.commands["git clone . $TMPDIR/assay"] = True
        execute(["git", "clone", "--quiet", ROOT, place], 600)
        results.append(built(bench, place))
    results.append(installed(bench, place / "dist"))
    return results


def built(bench, place):
    """Measures a clean build, including all downloads, and the sizes of the results."""
    result = Result(
        "dist-build",
        "All that is handed out, built and packed from a fresh clone for both machines at once; programs in MB of a million bytes",
        ["step", "wall", *(f"{name}, MB" for name in ("assay", "assay-farm", "assay-mutate"))],
    )
    minutes = {}
    for step in ("build", "pack"):
        began = time.monotonic()
        argv = ["python3", "scripts/dist/" + step + ".py"]
        bench.commands[f"(cd $TMPDIR/assay && {' '.join(argv)})"] = True
        execute(argv, LONGEST, cwd=place)
        minutes[step] = (time.monotonic() - began) / 60
    for name, shown in MACHINES.items():
        sizes = {path.name: path.stat().st_size / 1e6 for path in (place / "target/handed-out" / name).iterdir()}
        result.row(f"programs for {shown}", "–", *(f"{sizes[program]:.2f}" for program in sorted(sizes)))
        result.bar(Bar.at_most(f"`assay` for {shown}", sizes[CORE], CORE_MUST, lambda size: f"{size:.2f} MB"))
        result.raw[name] = sizes
    empty = ["–"] * 4
    result.row("building", f"{minutes['build']:.1f} min", *empty)
    result.row("packing", f"{minutes['pack']:.1f} min", *empty)
    result.bar(Bar.at_most("`make dist`, clean", sum(minutes.values()), MINUTES_MUST, lambda value: f"{value:.1f} min"))
    result.raw["minutes"] = minutes
    return result


def installed(bench, dist):
    """Measures every channel in its clean system."""
    if not dist.is_dir():
        raise Failed(f"{dist} is not there: make dist")
    channels, rounds = bench.size(CHANNELS, CHANNELS[:1]), bench.size(3, 1)
    # Creating the systems is not included in the times.
    took = {channel: [] for channel in channels}

    def step(_number, channel):
        said = bench.run([sys.executable, TRIAL, "--dist", dist, channel], 1200).stdout
        found = re.search(r"^passed +\S+ +([\d.]+) s to the first verdict", said, re.M)
        if not found:
            raise Failed(f"{channel}: {said}")
        took[channel].append(float(found[1]))

    bench.rounds(rounds, channels, step)
    result = Result(
        "dist-install",
        f"From nothing to the first verdict in a clean Debian 12 without a network or a compiler: medians of {rounds} rounds",
        ["channel", "first verdict"],
    )
    for channel, values in took.items():
        low, high = spread(values)
        result.row(channel, f"{median(values):.1f} s ({low:.1f} … {high:.1f})")
    slowest = max(median(values) for values in took.values())
    result.bar(Bar.at_most("the slowest channel", slowest, SECONDS_MUST, lambda value: f"{value:.1f} s"))
    result.raw = took
    return result
